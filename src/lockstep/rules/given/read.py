"""Files and folders that were named, read: descriptions apart, nothing else of a check touches a disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.finding import Finding
from lockstep.fleet.text import source

STANDARD_INPUT = "-"
STANDARD_INPUT_SHOWN = "<stdin>"
_SUFFIXES = frozenset((".yaml", ".yml", ".json", ".toml"))
_OF_AN_INVENTORY = ("group_vars", "host_vars")


class GivenError(Exception):
    """Something that was named is not there."""


@dataclass(frozen=True, slots=True)
class Given:
    """A file's content under the name that findings show; `path` is None for standard input.

    `found` tells a file that was found in a folder, among what may be anything, from one that was named.
    """

    file: str
    content: bytes
    path: Path | None
    found: bool = False


@dataclass(frozen=True, slots=True)
class Files:
    """What was read: files, folders that are inventories, and what could not be read."""

    files: tuple[Given, ...]
    inventories: tuple[Path, ...]
    findings: tuple[Finding, ...]


def read(paths: Sequence[Path], standard_input: bytes | None = None) -> Files:
    """Return the content of every file that is named or stands in a folder that is named.

    Raises GivenError for a path that does not exist.
    """
    files: dict[str, Given] = {}
    inventories: list[Path] = []
    findings: list[Finding] = []
    for path in paths:
        if str(path) == STANDARD_INPUT:
            given = Given(STANDARD_INPUT_SHOWN, standard_input or b"", None)
            files[given.file] = given
            continue
        try:
            if not path.exists():
                raise GivenError(f"{path} does not exist")
            if path.is_dir() and _is_inventory(path):
                inventories.append(path)
                continue
            for file, found in _within(path):
                files.setdefault(str(file), Given(str(file), b"", file, found))
        except OSError as error:
            findings += source.unreadable(str(path), error).findings
    read_files = [_read(given, findings) for given in files.values()]
    return Files(tuple(given for given in read_files if given), tuple(inventories), tuple(findings))


def _read(given: Given, findings: list[Finding]) -> Given | None:
    if given.path is None:
        return given
    try:
        return Given(given.file, given.path.read_bytes(), given.path, given.found)
    except OSError as error:
        findings += source.unreadable(given.file, error).findings
        return None


def _is_inventory(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in _OF_AN_INVENTORY)


def _within(path: Path) -> Iterator[tuple[Path, bool]]:
    if not path.is_dir():
        yield path, False
        return
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.suffix in _SUFFIXES and not hidden and file.is_file():
            yield file, True
