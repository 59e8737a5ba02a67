"""SHA-256 sums as projects publish them, read strictly: what is none is a sign that something is wrong."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from lockstep.catalog.artifacts import SumsForm
from lockstep.words import shortened

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LINE = re.compile(r"([0-9A-Fa-f]{64})(?:[ \t]+\*?(\S.*?))?[ \t]*", re.ASCII)
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class SumsError(ValueError):
    """What should be published sums is something else; the text says what."""


def digest_in(content: bytes, file: str, form: SumsForm | None) -> str:
    """Return the SHA-256 of `file` that published sums tell, as 64 lower-case hex digits.

    `form` None takes either form. Raises SumsError for anything else, for sums of other files, and for more than one.
    """
    text = content.decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if text.lstrip()[:1] == "<":
        raise SumsError("it is a web page, not a checksum: a proxy or a login stands in between")
    matches = [_LINE.fullmatch(line) for line in lines]
    if not lines or not all(matches):
        wrong = next((line for line, match in zip(lines, matches, strict=True) if not match), "nothing")
        raise SumsError(f"it is no SHA-256 checksum: expected 64 hex digits, got '{shortened(wrong.strip())}'")
    found = [(match[1].lower(), match[2]) for match in matches if match]
    bare = [digest for digest, name in found if name is None]
    if form != "line" and len(bare) == len(found) == 1:
        return bare[0]
    if form == "digest" or bare:
        raise SumsError(f"it is not in the form that was expected: {_FORMS[form]}")
    of_file = {digest for digest, name in found if name and name.replace("\\", "/").rpartition("/")[2] == file}
    if len(of_file) != 1:
        names = ", ".join(shortened(name or "") for _, name in found[:3])
        raise SumsError(f"it {'has two checksums' if of_file else 'has no checksum'} of {file}; it lists {names}")
    return of_file.pop()


_FORMS: dict[SumsForm | None, str] = {
    "digest": "64 hex digits and nothing else",
    "line": "64 hex digits and the file's name",
    None: "64 hex digits, or lines of them with files' names",
}


def sums_problem(url: str) -> str | None:
    """Return why checksums from this address prove nothing, or None: they have to come over https.

    Loopback may be http: nobody stands between a machine and itself.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return None
    return "checksums have to come over https: whoever can change the download could change them too"
