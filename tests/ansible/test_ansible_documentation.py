"""What the modules document, what they accept and what the roles give them are one thing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from lockstep.ansible.spec import argument_spec, documentation

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "library").glob("*.py"))
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
MODULE_OF_ROLE = {
    "artifacts": "node_artifacts",
    "containerd": "containerd_config",
    "kubelet": "kubelet_config",
    "runtime_classes": "runtimeclass_manifests",
    "windows_host": "windows_host",
}

OTHER_DEFAULTS = {
    "containerd_manage_service",
    "containerd_prune_registries",
    "kubelet_prune_node_labels",
    "kubelet_reserved",
}
"""A role gives all that is planned and knows the pool's machines, a task of one's own need not."""

OTHER_NAMES = {"artifacts_artifacts": "artifacts_list", "windows_host_host": "windows_host_build"}
"""A variable that would be called after its role twice."""

TOLD_BY_THE_MODULE = {"windows_host_reboot"}
"""A variable whose choices the role leaves to its module, which tells what is wrong in a line."""

modules = pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
roles = pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def task_of(role: Path) -> dict[str, Any]:
    [task] = [task for task in load(role / "tasks" / "main.yml") if MODULE_OF_ROLE[role.name] in task]
    arguments: dict[str, Any] = task[MODULE_OF_ROLE[role.name]]
    return arguments


def test_every_module_has_its_action_plugin_and_every_action_plugin_its_module() -> None:
    assert [path.name for path in MODULES] == sorted(path.name for path in (ROOT / "action_plugins").glob("*.py"))


def test_every_role_is_compared() -> None:
    assert [role.name for role in ROLES] == sorted(MODULE_OF_ROLE)


@modules
def test_documentation_names_its_module(module: Path) -> None:
    assert documentation(module)["module"] == module.stem


@modules
def test_examples_are_tasks_with_arguments_that_the_spec_accepts(module: Path) -> None:
    """Values that are Jinja expressions are left to the test that runs the examples; all others are checked here."""
    options = documentation(module)["options"]
    validator = ArgumentSpecValidator(argument_spec(module))
    name = f"lockstep.windows.{module.stem}"
    tasks = [task for task in documentation(module, "EXAMPLES") if name in task]
    assert tasks
    for task in tasks:
        arguments = task[name] or {}
        assert set(arguments) <= set(options)
        if "{{" not in str(arguments):
            assert validator.validate(arguments).error_messages == []


@modules
@pytest.mark.parametrize("wrong", [{"no_such_option": 1}, {"timeout": "soon"}, {"prune": "perhaps"}], ids=str)
def test_the_spec_refuses_what_is_not_documented(module: Path, wrong: dict[str, Any]) -> None:
    needed = {name: spec["type"] for name, spec in argument_spec(module).items() if spec.get("required")}
    values: dict[str, Any] = {"dict": {}, "list": []}
    required = {name: values.get(kind, "x") for name, kind in needed.items()}
    validator = ArgumentSpecValidator(argument_spec(module))
    assert validator.validate(required).error_messages == []
    assert validator.validate({**required, **wrong}).error_messages != []


@modules
def test_both_modes_are_declared(module: Path) -> None:
    assert set(documentation(module)["attributes"]) == {"check_mode", "diff_mode"}


@roles
def test_a_role_gives_its_module_every_option_and_no_other(role: Path) -> None:
    assert set(task_of(role)) == set(documentation(ROOT / "library" / f"{MODULE_OF_ROLE[role.name]}.py")["options"])


@roles
def test_a_role_documents_the_variables_that_have_defaults(role: Path) -> None:
    options = load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    defaults = load(role / "defaults" / "main.yml")
    assert list(options) == list(defaults)
    for name, option in options.items():
        if "default" in option:
            assert option["default"] == defaults[name], name
        else:
            assert "{{" in defaults[name], f"{name} has a fixed default that the documentation does not show"


@roles
def test_a_role_agrees_with_its_module_on_types_choices_and_defaults(role: Path) -> None:
    options = load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    module = documentation(ROOT / "library" / f"{MODULE_OF_ROLE[role.name]}.py")["options"]
    for name, described in module.items():
        variable = options[OTHER_NAMES.get(f"{role.name}_{name}", f"{role.name}_{name}")]
        alike = ("type", "elements", *(() if f"{role.name}_{name}" in TOLD_BY_THE_MODULE else ("choices",)))
        assert {key: variable.get(key) for key in alike} == {key: described.get(key) for key in alike}, name
        own = f"{role.name}_{name}" in OTHER_DEFAULTS or "{{" in str(variable.get("default", "{{"))
        if not own and "default" in described:
            assert variable["default"] == described["default"], name


@roles
def test_a_role_uses_every_variable_that_it_documents(role: Path) -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for folder in ("tasks", "defaults") for path in (role / folder).glob("*.yml")
    )
    for name in load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]:
        assert text.replace(f"{name}:", "").count(name) >= 1, name


@modules
def test_what_modules_share_is_said_once(module: Path) -> None:
    """Every module that speaks to a node takes it from the fragment, and none repeats it."""
    speaks = "runtimeclass" not in module.stem
    assert documentation(module).get("extends_documentation_fragment", []) == ["lockstep.windows.node"] * speaks
    assert "C(become)" not in module.read_text(encoding="utf-8")


def test_a_fragment_is_there_in_a_checkout_and_in_the_collection() -> None:
    shown = subprocess.run(
        [Path(sys.executable).with_name("ansible-doc"), "--json", "lockstep.windows.lockstep_node_info"],
        capture_output=True, text=True, check=True, cwd="/",
    )  # fmt: skip
    [module] = json.loads(shown.stdout).values()
    assert any("become" in note for note in module["doc"]["notes"])
    assert module["doc"]["author"] == ["The Lockstep authors"]
    assert any("Secrets" in note for note in module["doc"]["notes"])
