"""Words on the command line that name a build, an isolation or a release: read, or refused with the nearest one."""

from __future__ import annotations

import argparse

from lockstep.catalog.builds import Build, UnknownBuild, resolve
from lockstep.catalog.compatibility import Isolation
from lockstep.catalog.containerd import UnknownSeries, known_series, series
from lockstep.catalog.versions import Version, VersionError
from lockstep.words import nearest, shortened

_ISOLATIONS: tuple[Isolation, ...] = ("process", "hyperv")


def build(text: str) -> Build:
    """Return the build that a word means. Raises ArgumentTypeError, with the word that was probably meant."""
    try:
        return resolve(text)
    except UnknownBuild as error:
        meant = f"; did you mean '{error.suggestion}'?" if error.suggestion else ""
        expected = "" if meant else "; expected an alias (ltsc2022), a build number (20348) or a full version"
        raise argparse.ArgumentTypeError(f"{shortened(error.message, 120)}{meant or expected}") from None


def isolation(text: str) -> Isolation:
    """Return the isolation that a word means. Raises ArgumentTypeError likewise."""
    for word in _ISOLATIONS:
        if text == word:
            return word
    near = nearest(text.replace("-", ""), _ISOLATIONS)
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
