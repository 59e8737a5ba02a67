"""What a check says, in each format, read again as the programs read it that it is for."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.finding import Finding, Place, Severity
from lockstep.report.formats import as_json, github, junit, sarif
from lockstep.rules.checked import Checked

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-subset.json").read_text())
FILE = "group vars/windows.yml"
ERROR = Finding(
    "LW104",
    Severity.ERROR,
    ("pools", "a", "host"),
    "50% of it, is wrong",
    "did you mean 'b'?",
    "put it right",
    Place(FILE, 3, 5, 4),
)
WARNING = Finding("LW314", Severity.WARNING, (), "it does: nothing")
CHECKED = Checked((ERROR, WARNING), {FILE: "a\nb\nc: d", "fine.toml": ""}, ("host is not known",), pools=1)

text = st.text(max_size=20)
findings = st.builds(
    Finding,
    st.sampled_from(["LW104", "LW314"]),
    st.sampled_from(Severity),
    st.lists(text | st.integers(), max_size=3).map(tuple),
    text,
    st.none() | text,
    st.none() | text,
    st.none() | st.builds(Place, text, st.integers(1, 99), st.integers(1, 99), st.integers(1, 9)),
)
everything = st.builds(Checked, st.lists(findings, max_size=4).map(tuple), st.just({}), st.lists(text).map(tuple))


def test_json_has_all_that_a_finding_has() -> None:
    document = json.loads(as_json.render(CHECKED))
    assert (document["errors"], document["warnings"], document["notes"]) == (1, 1, ["host is not known"])
    first, second = document["findings"]
    assert (first["file"], first["line"], first["column"], first["length"]) == (FILE, 3, 5, 4)
    assert (first["path"], first["fix"]) == (["pools", "a", "host"], "put it right")
    assert second["file"] is None


def test_sarif_places_results_as_editors_expect() -> None:
    (run,) = json.loads(sarif.render(CHECKED))["runs"]
    first, second = run["results"]
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "group%20vars/windows.yml"
    assert physical["region"] == {"startLine": 3, "startColumn": 5, "endColumn": 9}
    assert (first["level"], second["level"]) == ("error", "warning")
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == "LW104"
    assert "locations" not in second


def test_sarif_tells_findings_apart_when_lines_move() -> None:
    moved = Finding(ERROR.rule, ERROR.severity, ERROR.path, "another text", place=Place(FILE, 30, 5))
    other = Finding(ERROR.rule, ERROR.severity, ("pools", "b", "host"), ERROR.message, place=ERROR.place)
    prints = [
        result["partialFingerprints"]["lockstep/v1"]
        for found in (ERROR, moved, other)
        for result in json.loads(sarif.render(Checked((found,))))["runs"][0]["results"]
    ]
    assert prints[0] == prints[1] != prints[2]


def test_junit_fails_errors_alone_and_counts_clean_files() -> None:
    root = ET.fromstring(junit.render(CHECKED))  # noqa: S314 - written a line above
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert len(suite.findall("testcase/failure")) == 1
    assert {case.get("classname") for case in suite.findall("testcase")} == {FILE, "lockstep", "fine.toml"}


def test_github_escapes_what_would_end_a_command() -> None:
    error, warning, note = github.render(CHECKED).splitlines()
    assert error == (
        f"::error file={FILE},line=3,col=5,endColumn=9,title=lockstep LW104"
        "::50%25 of it, is wrong%0Adid you mean 'b'?%0Afix: put it right"
    )
    assert warning == "::warning title=lockstep LW314::it does: nothing"
    assert note == "::notice title=lockstep::host is not known"
    comma = Finding("LW104", Severity.ERROR, (), "x", place=Place("a,b:c.yml", 1, 1))
    assert "file=a%2Cb%3Ac.yml,line=1" in github.render(Checked((comma,)))


@given(everything)
def test_every_format_is_well_formed_whatever_is_found(found: Checked) -> None:
    assert len(json.loads(as_json.render(found))["findings"]) == len(found.findings)
    jsonschema.validate(json.loads(sarif.render(found)), SCHEMA)
    assert len(ET.fromstring(junit.render(found)).findall("testsuite/testcase")) == len(found.findings)  # noqa: S314
    assert len(github.render(found).split("\n")) == len(found.findings) + len(found.notes) + 1


@pytest.mark.parametrize("broken", ["runs", "version"])
def test_the_schema_refuses_what_is_no_sarif(broken: str) -> None:
    document = json.loads(sarif.render(CHECKED))
    del document[broken]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)
