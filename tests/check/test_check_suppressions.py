"""Comments that silence findings, and what a user weighs otherwise."""

from pathlib import Path

import pytest

from lockstep.catalog.builds import resolve
from lockstep.finding import Severity
from lockstep.rules.checked import Checked
from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context

HEAD = "version = 3\n"
TABLE = "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.Vendor]"
REST = "\nruntime_type = 'io.containerd.runhcs.v1'\n"
FLEET = 'kubernetes: "1.36.1"\ncontainerd: "2.3.4"\npools:\n  win2022: {host: ltcs2022}\n'
IN_FULL = Context("2.3.7", None, resolve("ltsc2022"))


def found(folder: Path, text: str, *, context: Context = IN_FULL, **weights: Severity | None) -> Checked:
    file = folder / "config.toml"
    file.write_text(text, encoding="utf-8")
    return check_all(Inputs((file,), context=context, weights=weights))


def rules(checked: Checked) -> list[str]:
    return [finding.rule for finding in checked.findings]


@pytest.mark.parametrize(
    "text",
    [
        f"# lockstep: ignore LW433 because of a vendor\n{TABLE}{REST}",
        f"# lockstep: ignore LW433 because of a vendor\n\n# another word\n{TABLE}{REST}",
        f"{TABLE}  # lockstep: ignore LW433 because of a vendor{REST}",
        f"#lockstep: ignore LW433, LW434 because of a vendor\n{TABLE}{REST}",
        f"{TABLE}{REST}# lockstep: severity LW433=ignore because of a vendor\n",
        f"# lockstep: ignore lw433 because of a vendor\n{TABLE}{REST}",
        f"{TABLE}{REST}# lockstep: severity lw433=ignore because of a vendor\n",
    ],
)
def test_a_reason_silences_the_line_or_the_file(tmp_path: Path, text: str) -> None:
    checked = found(tmp_path, HEAD + text)
    assert (rules(checked), checked.suppressed) == ([], 1)


def test_without_a_reason_nothing_is_silenced(tmp_path: Path) -> None:
    checked = found(tmp_path, f"{HEAD}{TABLE} # lockstep: ignore LW433{REST}")
    assert rules(checked) == ["LW433", "LW701"]
    assert checked.suppressed == 0


def test_only_the_line_that_it_speaks_of_is_silenced(tmp_path: Path) -> None:
    text = f"{HEAD}# lockstep: ignore LW433 because of a vendor\nroot = 'C:\\x'\n{TABLE}{REST}"
    assert rules(found(tmp_path, text)) == ["LW702", "LW433"]


def test_unused_is_said_only_where_everything_was_checked(tmp_path: Path) -> None:
    text = f"{HEAD}root = 'C:\\x' # lockstep: ignore LW422 because it is pinned\n"
    assert rules(found(tmp_path, text)) == ["LW702"]
    assert rules(found(tmp_path, text, context=Context("2.3.7"))) == []


def test_a_comment_about_the_file_weighs_a_rule(tmp_path: Path) -> None:
    text = f"{HEAD}# lockstep: severity LW433=error because we had that outage\n{TABLE}{REST}"
    checked = found(tmp_path, text)
    assert [(finding.rule, finding.severity) for finding in checked.findings] == [("LW433", Severity.ERROR)]


def test_an_option_weighs_a_rule_in_all_files(tmp_path: Path) -> None:
    text = f"{HEAD}{TABLE}{REST}"
    assert found(tmp_path, text, LW433=Severity.ERROR).errors == 1
    assert rules(found(tmp_path, text, LW433=None)) == []


def test_what_cannot_be_planned_stays(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yml"
    file.write_text(FLEET.replace("}", "}  # lockstep: ignore LW104 because we try it"))
    assert rules(check_all(Inputs((file,)))) == ["LW104", "LW703"]
    assert sorted(rules(check_all(Inputs((file,), weights={"LW104": None})))) == ["LW104", "LW703"]


def test_a_word_in_a_text_is_no_comment(tmp_path: Path) -> None:
    assert rules(found(tmp_path, f"{HEAD}root = 'C:\\a#lockstep: nothing'\n")) == []


def test_an_id_that_no_rule_has_is_said_to_be_none(tmp_path: Path) -> None:
    checked = found(tmp_path, f"{HEAD}{TABLE} # lockstep: ignore LW433, lw999 because of a vendor{REST}")
    assert rules(checked) == ["LW433", "LW701"]
    assert checked.findings[1].message == "there is no rule LW999"
