"""Every id that the code can raise has a page, whose wrong example gives that id and whose right one gives no error."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lockstep.catalog.kubernetes import known_minors
from lockstep.finding import Severity
from lockstep.knowledge import rules
from lockstep.knowledge.rules import Example, Page
from lockstep.kubelet.check import check_command_line, check_configuration
from lockstep.rules.check import check, check_data

SOURCE = Path(__file__).resolve().parents[2] / "src" / "lockstep"
ID = re.compile(r"LW\d{3}")
CHECKED = {"the description", "an inventory", "kubelet's configuration file", "kubelet's command line"}
SAID_AS = {"LW202": "LW115"}
"""What the description's check says before the derivation could."""
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
    """Return the ids and severities of what is found in an example."""
    first = examples[0]
    if page.checked == "kubelet's command line":
        plan = check_data(
            {"kubernetes": "1.36.1", "containerd": "2.3.4", "pools": {"win2022": {"host": "ltsc2022"}}}
        ).plan
        assert plan is not None
        planned = plan.pools["win2022"].kubelet.configuration
        problems = check_command_line(first.text.strip(), "1.36.1", planned)
    elif page.checked == "kubelet's configuration file":
        version = re.match(r"# Kubernetes ([\d.]+)\n", first.text)
        assert version is not None, "the example's first line names its release"
        problems = check_configuration(first.text.encode(), version[1])
    else:
        return [(finding.rule, finding.severity) for finding in check(written(examples, folder)).findings]
    return [(problem.rule, problem.severity) for problem in problems]


def current(rule: str, examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """Return the examples with the release that comes after the catalogue's newest where they name such a one."""
    if rule not in MOVING:
        return examples
    major, _, minor = known_minors()[-1].partition(".")
    return tuple(replace(item, text=MOVING[rule].sub(f"{major}.{int(minor) + 1}.0", item.text)) for item in examples)


def written(examples: tuple[Example, ...], folder: Path) -> Path:
    """Write an example's files, or run the commands that make them; return what is to be checked."""
    for example in examples:
        if example.kind == "sh":
            subprocess.run(["sh", "-e", "-c", example.text], cwd=folder, check=True)
            continue
        path = folder / (example.file or "fleet.yml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example.text, encoding="utf-8")
    inventory = folder / "inventory"
    return inventory if inventory.is_dir() else folder / "fleet.yml"


def test_every_id_has_a_page_and_every_page_an_id() -> None:
    assert rules.rules() == IDS


@pytest.mark.parametrize("rule", IDS)
def test_page(rule: str, tmp_path: Path) -> None:
    page = rules.page(rule)
    assert page is not None
    assert page.rule == rule
    assert page.checked in CHECKED
    assert page.sources
    wrong, right = page.examples
    (tmp_path / "wrong").mkdir()
    (tmp_path / "right").mkdir()
    assert SAID_AS.get(rule, rule) in {found for found, _ in found_in(page, current(rule, wrong), tmp_path / "wrong")}
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
