"""What a host's variables say in place of its pool's plan, as the roles would evaluate them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError

from lockstep.ansible.plain import to_plain
from lockstep.ansible.text import masked_fields

_OF_THE_PLAN = {
    "windows_host": ("windows_host_build", "windows_host_features"),
    "containerd": ("containerd_version", "containerd_handlers", "containerd_default_handler", "containerd_pause_image"),
    "kubelet": ("kubelet_version", "kubelet_configuration", "kubelet_node_labels"),
}
"""The variables of each role whose defaults are the plan."""
_MASKED = "kubelet_configuration"


def overrides(variables: Mapping[str, Any], templar: Any, loader: Any, library: Path) -> dict[str, Any]:
    """Return the values of variables that are not the plan's; `library` is the folder of the modules, near the roles.

    What cannot be evaluated is left out: the role that needs it says why.
    """
    found: dict[str, Any] = {}
    for role, names in _OF_THE_PLAN.items():
        own = names if f"{role}_pool" in variables else [name for name in names if name in variables]
        path = next((above / "roles" / role / "defaults" / "main.yml" for above in _around(library, role)), None)
        if not own or path is None:
            continue
        defaults = loader.load_from_file(str(path), trusted_as_template=True)
        visible = templar.copy_with_new_env(available_variables={**defaults, **variables})
        for name in own:
            try:
                found[name] = to_plain(visible.template(variables.get(name, defaults.get(name))))
            except (AnsibleError, TypeError):
                continue
    if isinstance(found.get(_MASKED), Mapping):
        found[_MASKED] = masked_fields(found[_MASKED])
    return found


def _around(library: Path, role: str) -> list[Path]:
    return [above for above in library.parents[:2] if (above / "roles" / role).is_dir()]
