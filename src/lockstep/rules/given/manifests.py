"""Kubernetes objects in a YAML stream or JSON text: the RuntimeClasses among them, and what cannot be read.

Plain scalars are read as kubectl reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from lockstep.finding import Finding, Place, Severity
from lockstep.fleet.text.construct import ENDLESS_ALIAS, Build, Endless
from lockstep.fleet.text.document import Document, span
from lockstep.fleet.text.locate import NodeLocator
from lockstep.fleet.text.source import NOT_YAML
from lockstep.kubelet.yaml_loader import GoLoader
from lockstep.rules.given.context import Context
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.rules.given.text_places import within

KIND = "RuntimeClass"


@dataclass(frozen=True, slots=True)
class Stream:
    """The RuntimeClasses of one text, how many objects of other kinds are beside them, and what cannot be read."""

    classes: tuple[RuntimeClassManifest, ...]
    others: int
    findings: tuple[Finding, ...]


def read_stream(text: str, file: str, context: Context) -> Stream:
    """Return what a text holds; what comes before an error in it is there."""
    classes: list[RuntimeClassManifest] = []
    findings: list[Finding] = []
    others = 0
    try:
        for document in _documents(text, file):
            findings += document.findings
            for data, locator in _objects(document):
                if data.get("kind") == KIND:
                    classes.append(RuntimeClassManifest(file, data, locator, context))
                else:
                    others += 1
    except (yaml.YAMLError, RecursionError, UnicodeEncodeError) as error:
        findings.append(_unreadable(text, file, error))
    return Stream(tuple(classes), others, tuple(findings))


def _documents(text: str, file: str) -> Iterator[Document]:
    loader: Any = GoLoader(text)
    while loader.check_node():
        root = loader.get_node()
        build = Build(loader, file)
        try:
            data = build.value(root, ())
        except Endless as endless:
            found = Finding(ENDLESS_ALIAS, Severity.ERROR, endless.path, str(endless), place=span(file, endless.node))
            yield Document(file, text, root, findings=(found,))
        else:
            yield Document(file, text, root, data, build.entries, tuple(build.findings))


def _objects(document: Document) -> Iterator[tuple[Mapping[str, Any], NodeLocator]]:
    data = document.data
    if not isinstance(data, dict):
        return
    items = data.get("items")
    if str(data.get("kind")).endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield {"kind": str(data["kind"]).removesuffix("List"), **item}, NodeLocator(document, ("items", index))
    else:
        yield data, NodeLocator(document)


def _unreadable(text: str, file: str, error: Exception) -> Finding:
    mark = None
    problem = "it is nested too deeply"
    if isinstance(error, yaml.MarkedYAMLError):
        mark, problem = error.problem_mark or error.context_mark, error.problem or "the text ends too early"
    elif isinstance(error, yaml.reader.ReaderError):
        problem = "it holds a control character"
    elif isinstance(error, UnicodeEncodeError):
        problem = "it holds half a character"
    place = within(text, file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)
    template = "{{" in text
    hint = "it looks like a template, of Helm perhaps" if template else None
    fix = "check what is rendered: helm template ... | lockstep check -" if template else None
    return Finding(NOT_YAML, Severity.ERROR, (), f"this is not YAML: {problem}", hint, fix, place)
