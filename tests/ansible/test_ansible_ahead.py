"""What a play's later tasks will ask is known before they come, as far as it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.site import NODES, ROOT, Site

from lockstep.ansible.node_info.ahead import MODULES, asked_ahead, specs
from lockstep.ansible.spec import argument_spec
from lockstep.sim import SimulatedNodes

READ = 6
INFO: dict[str, Any] = {"lockstep_node_info": {}}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with SimulatedNodes(tmp_path / "nodes", NODES) as nodes:
        yield Site(tmp_path, nodes)


def each(requests: int) -> dict[str, int]:
    return {spec.name: requests for spec in NODES}


def test_every_module_that_configures_a_node_is_known() -> None:
    actions = {path.stem for path in (ROOT / "action_plugins").glob("*.py") if "NodeAction" in path.read_text()}
    assert set(MODULES) == {name for name in actions if not name.endswith("_info")}


@pytest.mark.parametrize("module", MODULES)
def test_what_is_asked_for_a_task_is_what_the_task_asks(module: str, arguments: Callable[..., dict[str, Any]]) -> None:
    library = ROOT / "library"
    needed = {name for name, option in argument_spec(library / f"{module}.py").items() if option.get("required")}
    given: dict[str, Any] = {name: [] if name == "artifacts" else "1.36.1" for name in needed}
    asked = asked_ahead([(module, given)], specs(library))
    assert asked == MODULES[module](arguments(module, given))
    # What decides nothing of it is not evaluated for it.
    assert asked == asked_ahead(
        [(module, {name: value for name, value in given.items() if name != "version"})], specs(library)
    )


def test_a_task_that_cannot_be_as_it_is_given_asks_for_nothing() -> None:
    known = specs(ROOT / "library")
    wrong = [
        ("containerd_config", {"no_such": 1}),
        ("containerd_config", {"registries": 3}),
        ("kubelet_config", {"path": 1}),
    ]
    assert asked_ahead(wrong[:2], known) == []
    assert isinstance(asked_ahead(wrong[2:], known), list)


CONTAINERD: dict[str, Any] = {
    "containerd_config": {"version": "2.3.4", "path": "{{ own_path }}", "crictl": "{{ no | default(omit) }}"}
}
PATH = "C:\\other\\config.toml"


ALWAYS = {"block": [{"ansible.builtin.meta": "noop"}], "always": [CONTAINERD]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "play",
    [
        {"tasks": [INFO, CONTAINERD], "vars": {"own_path": PATH}},
        {"tasks": [INFO, {**CONTAINERD, "vars": {"own_path": PATH}}]},
        {"tasks": [INFO, {"block": [CONTAINERD], "vars": {"own_path": "{{ other }}"}}], "vars": {"other": PATH}},
        {"pre_tasks": [INFO], "tasks": [ALWAYS], "vars": {"own_path": PATH}},
    ],
    ids=["play", "task", "block", "always"],
)
def test_arguments_are_evaluated_with_the_variables_that_the_task_will_see(site: Site, play: dict[str, Any]) -> None:
    play = {"check_mode": True, **play}
    # The service loads another file, so the task fails on what it knows, and looks once more.
    site.play(play.pop("tasks"), status=2, **play)
    assert site.requests() == each(READ + READ)


@pytest.mark.slow
def test_what_cannot_be_known_yet_asks_for_itself(site: Site) -> None:
    included = {"ansible.builtin.include_role": {"name": "kubelet"}}
    site.play([INFO, included], check_mode=True)
    assert site.requests() == each(READ + READ)


@pytest.mark.slow
def test_secrets_are_not_evaluated_for_it(site: Site, tmp_path: Path) -> None:
    """A lookup that makes a token makes one, not two."""
    counted = tmp_path / "counted"
    token = f"{{{{ lookup('pipe', 'echo x >> {counted}; echo kind: Config') }}}}"
    task = {"kubelet_config": {"version": "1.36.1", "bootstrap_kubeconfig": token}, "check_mode": True}
    site.play([INFO, {**task, "ignore_errors": True}])
    assert counted.read_text() == "x\n" * len(NODES)
