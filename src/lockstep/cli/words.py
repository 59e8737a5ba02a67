"""Words on the command line that name a build, an isolation or a release: read, or refused with the nearest one."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

from lockstep.catalog.builds import Build, UnknownBuild, known, resolve
from lockstep.catalog.compatibility import Isolation
from lockstep.catalog.containerd import UnknownSeries, known_series, series
from lockstep.catalog.versions import Version, VersionError
from lockstep.words import nearest, shortened

_ISOLATIONS: tuple[Isolation, ...] = ("process", "hyperv")


_TAG = re.compile(r"(?:[^@]*/)?[^/:@]+:(?P<tag>[\w.-]+)(?:@.*)?", re.ASCII)
_UNTAGGED = re.compile(r"[^@:]*/[^@:]*|[^@]+@.*")
_SHORTER = ("windowsserver", "windows", "server", "version")
"""What people leave out of a product's name: `Windows Server, version 23H2` is `Server 23H2` too."""


def build(text: str) -> Build:
    """Return the build that a word, a product's name or an image's tag means.

    Raises ArgumentTypeError where it means none, with the word that was probably meant, or several, with all of them.
    """
    asked = text.strip()
    if match := _TAG.fullmatch(asked):
        return _of_tag(match["tag"], asked)
    if _UNTAGGED.fullmatch(asked):
        raise argparse.ArgumentTypeError(
            f"'{shortened(asked)}' has no tag that names a Windows build; expected one such as servercore:ltsc2022"
        )
    try:
        return resolve(asked)
    except UnknownBuild as error:
        if named := _named(asked):
            return _only(named, asked)
        meant = f"; did you mean '{error.suggestion}'?" if error.suggestion else ""
        expected = "" if meant else "; expected an alias (ltsc2022), a build number (20348) or a full version"
        raise argparse.ArgumentTypeError(f"{shortened(error.message, 120)}{meant or expected}") from None


def _of_tag(tag: str, asked: str) -> Build:
    """Return the build in an image's tag: `ltsc2022-amd64`, `10.0.20348.2582`, `8.0-nanoserver-1809`."""
    found = [named for part in (tag, *tag.split("-")) if (named := _in_catalogue(part))]
    if not found:
        raise argparse.ArgumentTypeError(
            f"the tag of '{shortened(asked)}' names no Windows build; expected one such as ltsc2022 or 10.0.20348.2582"
        )
    return _only(found, asked)


def _in_catalogue(word: str) -> Build | None:
    try:
        found = resolve(word)
    except UnknownBuild:
        return None
    return found if found.facts or word.startswith(found.label) else None


def _named(asked: str) -> list[Build]:
    """Return the builds whose product or version somebody may call so: `2022`, `Windows Server 2022`, `21H2`."""
    plain = _compact(asked)
    return [
        Build(facts.number)
        for facts in known().values()
        if plain and plain in {_compact(facts.product), *_endings(facts.product), facts.version.lower()}
    ]


def _endings(product: str) -> Iterator[str]:
    whole = _compact(product)
    for words in _SHORTER:
        if whole.startswith(words) or words == "version":
            yield whole.removeprefix(words).replace("version", "")
    yield whole.replace("version", "")


def _only(found: Sequence[Build], asked: str) -> Build:
    first, *others = dict.fromkeys(found)
    if others:
        *before, last = map(str, (first, *others))
        raise argparse.ArgumentTypeError(f"'{shortened(asked)}' is {', '.join(before)} or {last}: say which")
    return first


def _compact(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def isolation(text: str) -> Isolation:
    """Return the isolation that a word means, as `Hyper-V` too. Raises ArgumentTypeError likewise."""
    plain = _compact(text)
    for word in _ISOLATIONS:
        if plain == word:
            return word
    near = nearest(plain, _ISOLATIONS)
    meant = f"did you mean '{near}'?" if near else "expected process or hyperv"
    raise argparse.ArgumentTypeError(f"'{shortened(text)}' is no isolation; {meant}")


def containerd(text: str) -> str:
    """Return a containerd release of a series that the catalogue knows. Raises ArgumentTypeError for another."""
    try:
        series(text)
    except UnknownSeries as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except VersionError as error:
        found = [name for name in known_series() if text.removeprefix("v") == name]
        raise argparse.ArgumentTypeError(f"{error}; did you mean '{found[0]}.0'?" if found else str(error)) from None
    return str(Version.parse(text))


def newest_containerd() -> str:
    """Return the first release of the newest series that the catalogue knows."""
    return f"{known_series()[-1]}.0"
