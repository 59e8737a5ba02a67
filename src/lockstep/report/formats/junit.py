"""JUnit XML: a test case for each finding, a passing one for each file without any; warnings do not fail.

Source: the schema that Jenkins' xUnit plugin publishes (`junit-10.xsd`), of which GitLab and Azure read a part.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from lockstep.finding import Finding, Severity
from lockstep.report.formats.said import said
from lockstep.rules.checked import Checked

# What XML 1.0 has no way to write, not even as a reference. Source: w3.org/TR/xml, 2.2 "Characters".
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(checked: Checked) -> str:
    """Return one XML document."""
    named = {finding.place.file for finding in checked.findings if finding.place}
    clean = sorted(checked.sources.keys() - named)
    tests, failures = len(checked.findings) + len(clean), checked.errors
    counts = {"tests": str(tests), "failures": str(failures), "errors": "0"}
    root = ET.Element("testsuites", {"name": "lockstep", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": "lockstep check", **counts, "skipped": "0"})
    for finding in checked.findings:
        _add(suite, finding)
    for file in clean:
        ET.SubElement(suite, "testcase", {"name": "no findings", "classname": _xml(file)})
    if checked.notes:
        ET.SubElement(suite, "system-out").text = _xml("\n".join(checked.notes))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(('<?xml version="1.0"?>\n', "\n"))


def _add(suite: ET.Element, finding: Finding) -> None:
    place = finding.place
    name = f"{finding.rule} at line {place.line}, column {place.column}" if place else finding.rule
    case = ET.SubElement(suite, "testcase", {"name": name, "classname": _xml(place.file if place else "lockstep")})
    where = f"{place.file}:{place.line}:{place.column}: " if place else ""
    text = _xml(where + said(finding))
    if finding.severity is Severity.ERROR:
        failure = ET.SubElement(case, "failure", {"type": finding.rule, "message": _xml(finding.message)})
        failure.text = text
    else:
        ET.SubElement(case, "system-out").text = f"{finding.severity.value} {text}"


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
