"""A module's argument spec, read from its DOCUMENTATION: what `ansible-doc` shows is what is accepted."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from lockstep.catalog.data import read_yaml

# The keys of an option's documentation that mean the same in an argument spec.
# Source: ansible-core lib/ansible/module_utils/common/arg_spec.py and the developer guide's "argument spec".
_SHARED_KEYS = ("type", "elements", "required", "default", "choices", "aliases", "no_log")
_MODULE_FOLDERS = ("library", "modules")


def module_file(action_plugin: str) -> Path:
    """Return the module beside an action plugin's file: in `library/` of a checkout, in `modules/` of a collection.

    Raises FileNotFoundError where the installation lacks it.
    """
    plugin = Path(action_plugin)
    for folder in _MODULE_FOLDERS:
        candidate = plugin.parent.parent / folder / plugin.name
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"no module belongs to {plugin}: neither library/ nor modules/ beside it has {plugin.name}")


def documentation(module: Path, name: str = "DOCUMENTATION") -> Any:
    """Return a documentation block of a module (DOCUMENTATION, EXAMPLES or RETURN) as data, without running the module.

    Raises KeyError if the module has no such block.
    """
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            return read_yaml(ast.literal_eval(node.value))
    raise KeyError(f"{module} has no {name}")


def argument_spec(module: Path) -> dict[str, Any]:
    """Return the argument spec that a module's DOCUMENTATION describes, suboptions included."""
    return _spec(documentation(module)["options"])


def _spec(options: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    for name, described in options.items():
        spec[name] = {key: described[key] for key in _SHARED_KEYS if key in described}
        if "suboptions" in described:
            spec[name]["options"] = _spec(described["suboptions"])
    return spec
