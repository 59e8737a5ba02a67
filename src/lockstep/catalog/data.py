"""The catalogue's facts: YAML and JSON files beside this module, each entry with the source it was read from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml reads the same, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]  # the two loaders share no base class in typeshed

_FOLDER = Path(__file__).with_name("data")


@cache
def load(name: str) -> Any:
    """Return the parsed content of `data/<name>.json` or `.yaml`; the same object each time, so only to be read.

    Raises FileNotFoundError where the catalogue has no such file.
    """
    as_json = _FOLDER / f"{name}.json"
    if as_json.is_file():
        return json.loads(as_json.read_bytes())
    return read_yaml((_FOLDER / f"{name}.yaml").read_bytes())


def read_yaml(content: bytes | str) -> Any:
    """Return what YAML of the project's own says, read with libyaml where PyYAML was built with it."""
    return yaml.load(content, Loader=_Loader)


@cache
def known_until() -> date:
    """Return the day up to which the catalogue knows the world: the newest `read` among its releases.

    It stands where another program would ask the clock, so that the same description always gives the same findings.
    """
    return max(_read_dates())


def _read_dates() -> Iterator[date]:
    builds, minors, series = load("windows-builds"), load("kubernetes"), load("containerd")
    for file, entries in (
        (builds, builds["builds"]),
        (minors, minors["minors"].values()),
        (series, series["series"].values()),
    ):
        yield from (date.fromisoformat(str(entry["read"])) for entry in (file, *entries) if "read" in entry)
