"""Every id that the code can raise has a page, whose wrong example gives that id and whose right one gives no error."""

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockstep.catalog.builds import resolve
from lockstep.catalog.kubernetes import known_minors
from lockstep.finding import Severity
from lockstep.knowledge import errors, rules
from lockstep.knowledge.rules import Example, Page
from lockstep.kubelet.check import check_command_line, check_configuration
from lockstep.kubelet.problem import Problem
from lockstep.rules.beside import UNREADABLE_KUBELET, UNREADABLE_LINE
from lockstep.rules.check import check_data
from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lockstep"
ID = re.compile(r"LW\d{3}")
SAID = re.compile(r"^# (Kubernetes|containerd|Windows) (\S+)$", re.MULTILINE)
"""What a user says with --kubernetes, --containerd and --host: comments in an example's first lines."""
FILES = {
    "the description": "fleet.yml",
    "an inventory": "inventory/hosts.yml",
    "a file that was named": "file.yaml",
    "config.toml": "config.toml",
    "kubelet's configuration file": "kubelet.yaml",
    "kubelet's command line": None,
    "RuntimeClass manifests": "classes.yaml",
    "files together": None,
}
"""What a rule looks at, and the name of an example's file that has no name of its own."""
COMMAND_LINE = "text"
"""The kind of fence that a command line stands in."""
MOVING = {"LW265": re.compile(r"1\.\d+\.0")}
"""Examples that name a release which the catalogue does not have yet."""


def constants() -> Iterator[str]:
    """Yield the ids in the code: every constant string that is one."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.fullmatch(node.value):
                yield node.value


IDS = sorted(set(constants()))


def found_in(page: Page, examples: tuple[Example, ...], folder: Path) -> list[tuple[str, Severity]]:
    """Return the ids and severities of what `lockstep check` finds in an example, and what the domains do."""
    context = {"Kubernetes": "1.36.1", "containerd": None, "Windows": None}
    context |= {name: value for item in examples for name, value in SAID.findall(item.text)}
    line = next((item.text.strip() for item in examples if item.kind == COMMAND_LINE), None)
    kubernetes, host = str(context["Kubernetes"]), context["Windows"]
    paths = written(page, [item for item in examples if item.kind != COMMAND_LINE], folder)
    said = Context(context["containerd"], kubernetes, resolve(host) if host else None)
    if page.checked in ("the description", "an inventory"):
        found = check_all(Inputs(inventory=paths[0])).findings
    else:
        found = check_all(Inputs(paths, command_line=line, context=said)).findings
    problems: list[Problem] = []
    if page.checked == "kubelet's command line" and line and not any(item.rule == UNREADABLE_LINE for item in found):
        problems = check_command_line(line, kubernetes, planned())
    elif page.checked == "kubelet's configuration file" and not any(item.rule == UNREADABLE_KUBELET for item in found):
        problems = check_configuration(examples[0].text.encode(), kubernetes)
    return [(item.rule, item.severity) for item in found] + [(item.rule, item.severity) for item in problems]


def planned() -> Mapping[str, Any]:
    """Return the KubeletConfiguration fields of a plain pool."""
    data = {"kubernetes": "1.36.1", "containerd": "2.3.4", "pools": {"win2022": {"host": "ltsc2022"}}}
    plan = check_data(data).plan
    assert plan is not None
    return plan.pools["win2022"].kubelet.configuration


def current(rule: str, examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """Return the examples with the release that comes after the catalogue's newest where they name such a one."""
    if rule not in MOVING:
        return examples
    major, _, minor = known_minors()[-1].partition(".")
    return tuple(replace(item, text=MOVING[rule].sub(f"{major}.{int(minor) + 1}.0", item.text)) for item in examples)


def written(page: Page, examples: list[Example], folder: Path) -> tuple[Path, ...]:
    """Write an example's files, or run the commands that make them; return what is to be checked."""
    for example in examples:
        if example.kind == "sh":
            subprocess.run(["sh", "-e", "-c", example.text], cwd=folder, check=True)
            continue
        name = example.file or FILES[page.checked]
        assert name is not None, "the example's file needs a name"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example.text, encoding="utf-8")
    return tuple(sorted(folder.iterdir()))


def test_every_id_has_a_page_and_every_page_an_id() -> None:
    assert rules.rules() == IDS


@pytest.mark.parametrize("rule", IDS)
def test_page(rule: str, tmp_path: Path) -> None:
    page = rules.page(rule)
    assert page is not None
    assert page.rule == rule
    assert page.checked in FILES
    assert page.sources
    wrong, right = page.examples
    (tmp_path / "wrong").mkdir()
    (tmp_path / "right").mkdir()
    assert rule in {found for found, _ in found_in(page, current(rule, wrong), tmp_path / "wrong")}
    found = found_in(page, right, tmp_path / "right")
    assert [item for item in found if item[1] is Severity.ERROR] == []
    assert rule not in {rule for rule, _ in found}


@pytest.mark.parametrize("rule", IDS)
def test_page_is_short_and_reads_in_a_terminal(rule: str) -> None:
    page = rules.page(rule)
    assert page is not None
    assert len(page.meaning) <= 500
    assert page.title[0].isupper()
    assert not page.title.endswith(".")


def test_ids_are_found_in_any_letter_case() -> None:
    assert rules.page("lw210") == rules.page("LW210")
    assert rules.page("LW999") is None
    assert rules.page("../LW210") is None


def test_a_page_without_its_sections_is_refused() -> None:
    with pytest.raises(ValueError, match="needs its heading"):
        rules.parse("# LW999: Something\n\nMeaning.\n")


@pytest.mark.parametrize("minor", known_minors())
def test_lw311_says_of_every_minor_what_the_finding_does(minor: str) -> None:
    """Source: kubernetes/kubernetes pkg/kubelet/apis/config/validation/validation_windows.go v1.30.14, v1.31.14."""
    page = rules.page("LW311")
    error = next(error for error in errors.errors() if error.key == "cgroups-on-windows")
    assert page is not None
    old = int(minor.partition(".")[2]) <= 30
    linux = b"cgroupsPerQOS: true\nenforceNodeAllocatable: [pods]\n"
    head = b"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
    found = [item for item in check_configuration(head + linux, f"{minor}.1") if item.rule == "LW311"]
    assert {item.severity for item in found} == {Severity.ERROR if old else Severity.WARNING}
    meaning = " ".join(page.meaning.split())
    assert "Up to 1.30 kubelet does not start" in meaning
    assert "From 1.31 it starts" in meaning
    written = '[] up to 1.30, and with ["none"] from 1.31'
    assert written in error.causes[0].change
    assert written.replace(", and", " and") in meaning.replace("`", "")
    right = b"cgroupsPerQOS: false\nenforceNodeAllocatable: " + (b"[]\n" if old else b"[none]\n")
    assert "LW311" not in {item.rule for item in check_configuration(head + right, f"{minor}.1")}
