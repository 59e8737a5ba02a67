"""The catalogue's facts: YAML files beside this module, each entry with the source it was read from."""

from __future__ import annotations

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
    """Return the parsed content of `data/<name>.yaml`; the same object each time, so callers must not change it.

    Raises FileNotFoundError where the catalogue has no such file.
    """
    return yaml.load((_FOLDER / f"{name}.yaml").read_bytes(), Loader=_Loader)
