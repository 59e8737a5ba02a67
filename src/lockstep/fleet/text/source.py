"""YAML text to data, and every value's node, so that what is wrong can be shown where it is written.

YAML is read as Ansible reads it: PyYAML, version 1.1. But a repeated key is an error, and all errors are told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from lockstep.finding import Finding, Place, Severity, lines
from lockstep.fleet.text.construct import ENDLESS_ALIAS, Build, Endless, Loader
from lockstep.fleet.text.document import Document, span

if TYPE_CHECKING:
    from pathlib import Path

UNREADABLE_FILE = "LW001"
NOT_UTF8 = "LW002"
NOT_YAML = "LW003"
SEVERAL_DOCUMENTS = "LW004"
EMPTY_FILE = "LW005"


def read(path: Path, file: str) -> Document:
    """Return the document in a file, which findings name as `file`; a file that cannot be read is a finding too."""
    try:
        content = path.read_bytes()
    except OSError as error:
        return unreadable(file, error)
    return decode(content, file)


def unreadable(file: str, error: OSError) -> Document:
    """Return the document of a file, or folder, that the system does not let us read."""
    reason = (error.strerror or str(error)).lower()
    return _broken(file, UNREADABLE_FILE, f"{file} cannot be read: {reason}", None)


def decode(content: bytes, file: str) -> Document:
    """Return the document in a file's content."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _at(file, content[: error.start].decode("utf-8", "replace"))
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            shown, hint = "", "it looks like UTF-16"
        else:
            shown, hint = content.decode("utf-8", "replace"), f"byte 0x{content[error.start]:02x} is not UTF-8"
        fix = "save the file as UTF-8"
        return _broken(file, NOT_UTF8, "the file is not UTF-8 text", place, hint=hint, fix=fix, text=shown)
    return parse(text, file)


def parse(text: str, file: str) -> Document:
    """Return the document in a text."""
    try:
        loader = Loader(text)
        root = loader.get_single_node()
    except (yaml.YAMLError, RecursionError, UnicodeEncodeError) as error:
        return _not_yaml(text, file, error)
    if root is None:
        return _broken(file, EMPTY_FILE, "the file is empty", Place(file, 1, 1), text=text)
    build = Build(loader, file)
    try:
        data = build.value(root, ())
    except Endless as endless:
        finding = Finding(ENDLESS_ALIAS, Severity.ERROR, endless.path, str(endless), place=span(file, endless.node))
        return Document(file, text, root, findings=(finding,))
    return Document(file, text, root, data, build.entries, tuple(build.findings), tuple(build.ansible_only))


def _not_yaml(text: str, file: str, error: Exception) -> Document:
    if isinstance(error, yaml.MarkedYAMLError):
        several = error.context == "expected a single document in the stream"
        return _second_document(text, file, error) if several else _syntax(text, file, error)
    if isinstance(error, yaml.reader.ReaderError):
        position = error.position
        place = _at(file, text[:position])
        hint = f"U+{ord(text[position]):04X} may not stand in YAML" if position < len(text) else None
        message = "the file holds a control character"
        return _broken(file, NOT_YAML, message, place, hint=hint, fix="remove it", text=text)
    return _broken(file, NOT_YAML, "the file is not YAML that Ansible could read", Place(file, 1, 1), text=text)


def _broken(
    file: str,
    rule: str,
    message: str,
    place: Place | None,
    *,
    hint: str | None = None,
    fix: str | None = None,
    text: str = "",
) -> Document:
    return Document(file, text, findings=(Finding(rule, Severity.ERROR, (), message, hint, fix, place),))


def _at(file: str, before: str) -> Place:
    """Return the place that comes after a text."""
    read = lines(before)
    return Place(file, len(read), len(read[-1]) + 1)


def _mark(file: str, mark: Any) -> Place:
    return Place(file, mark.line + 1, mark.column + 1) if mark is not None else Place(file, 1, 1)


def _second_document(text: str, file: str, error: yaml.MarkedYAMLError) -> Document:
    return _broken(
        file,
        SEVERAL_DOCUMENTS,
        "the file holds more than one YAML document",
        _mark(file, error.problem_mark),
        hint="Ansible reads files with one document only",
        fix="remove the '---' line, or make it two files",
        text=text,
    )


def _syntax(text: str, file: str, error: yaml.MarkedYAMLError) -> Document:
    mark = error.problem_mark or error.context_mark
    place = _mark(file, mark)
    problem = error.problem or "the text ends too early"
    every = lines(text)
    line = every[place.line - 1] if place.line <= len(every) else ""
    indentation = line[: len(line) - len(line.lstrip())]
    hint = None
    if "\t" in indentation:
        place = Place(file, place.line, indentation.index("\t") + 1)
        problem, hint = "a tab cannot indent YAML", "indent with spaces"
    elif re.search(r"\"[^\"]*\{[{%]", line):
        hint = "a template in double quotes has single quotes within: \"{{ f('x') }}\""
    elif "{{" in line or "{%" in line:
        hint = 'a value that starts with {{ needs quotes: "{{ … }}"'
    elif error.context and error.context_mark and error.context_mark.line != place.line - 1:
        hint = f"{error.context} that starts in line {error.context_mark.line + 1}"
    if not line and place.line >= len(every) and place.line > 1:
        last = max((number for number, content in enumerate(every, 1) if content.strip()), default=1)
        place = Place(file, last, max(len(every[last - 1].rstrip()), 1))
    return _broken(file, NOT_YAML, f"this is not YAML: {problem}", place, hint=hint, text=text)
