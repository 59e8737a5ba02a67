"""A config.toml's bytes: opened, or refused with the place and what to do."""

from __future__ import annotations

import re
import tomllib

from lockstep.finding import Finding, Place, Severity
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.context import Context
from lockstep.rules.given.text_places import TextPlaces

NOT_TOML = "LW401"
NOT_UTF8 = "LW402"

_BOM = "\ufeff"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_AT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_PATH_IN_QUOTES = re.compile(r'"[^"\n]*(?:[A-Za-z]:|\\)\\[^"\n]*"')


def open_toml(content: bytes, file: str, context: Context) -> tuple[ConfigToml | None, list[Finding]]:
    """Return the file's data and text, or the one finding that says why there are none."""
    if content.startswith(_UTF16):
        message = "the file is UTF-16, which `>` writes in Windows PowerShell: containerd does not start with it"
        return None, [_error(NOT_UTF8, message, "save it as UTF-8: Out-File -Encoding ascii", Place(file, 1, 1))]
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        place = TextPlaces(file, before + " ").at(len(before))
        message = f"byte 0x{content[error.start]:02x} is not UTF-8: containerd does not start with it"
        return None, [_error(NOT_UTF8, message, "save the file as UTF-8", place)]
    bom, text = text.startswith(_BOM), text.removeprefix(_BOM)
    try:
        data = tomllib.loads(text)
    except RecursionError:
        message = "the values of the file are nested too deeply to be read"
        return None, [_error(NOT_TOML, message, "write tables under [headers] of their own", Place(file, 1, 1))]
    except ValueError as error:
        return None, [_not_toml(str(error), text, file)]
    return ConfigToml(file, text, data, context, bom), []


def _not_toml(said: str, text: str, file: str) -> Finding:
    places = TextPlaces(file, text)
    found = _AT.fullmatch(said)
    problem = found[1] if found else said
    end = len(text.rstrip())
    index = places.index(int(found[2]), int(found[3])) if found and found[2] else max(end - 1, 0)
    if problem.startswith("Unescaped"):
        index = max(text.rfind("\\", 0, index), 0)
    start = text.rfind("\n", 0, index) + 1
    line = text[start:].partition("\n")[0]
    match = _PATH_IN_QUOTES.search(line)
    hint = fix = None
    if match and match.start() <= index - start <= match.end():
        hint = "in double quotes a backslash starts an escape sequence"
        fix = "write Windows paths in single quotes: 'C:\\Program Files\\containerd'"
    message = f"this is not TOML, and containerd does not start with it: {problem[:1].lower()}{problem[1:]}"
    return Finding(NOT_TOML, Severity.ERROR, (), message, hint, fix, places.at(index))


def _error(rule: str, message: str, fix: str, place: Place) -> Finding:
    return Finding(rule, Severity.ERROR, (), message, None, fix, place)
