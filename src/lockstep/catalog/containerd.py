"""containerd by series: config versions, table paths, its own Windows handlers and pause image, a handler's keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Literal

from lockstep.catalog.data import load
from lockstep.catalog.versions import Version

Path = tuple[str, ...]
ValueType = Literal["bool", "int", "string", "strings", "table"]
OptionSpelling = Literal["exact", "any case"]


class UnknownSeries(ValueError):  # noqa: N818 - the name says it
    """A containerd release whose series the catalogue does not describe; `known` are those it does, oldest first."""

    def __init__(self, version: str, known: tuple[str, ...]) -> None:
        super().__init__(f"containerd {version} is of no known series: expected one of {', '.join(known)}")
        self.known = known


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are in a config.toml of one config version, as keys from the root.

    `handlers` and `handler_platforms` are tables with a key a handler; `handler_platforms` is None where the version
    has no such table.
    """

    config_version: int
    handlers: Path
    default_handler: Path
    pause_image: Path
    snapshotter: Path
    cni: Path
    registry: Path
    handler_platforms: Path | None
    log_level: Path
    metrics_address: Path


@dataclass(frozen=True, slots=True)
class HandlerFacts:
    """A handler as one containerd release has it by itself; `sandboxer` is None where the series has no such key."""

    runtime_type: str
    pod_annotations: tuple[str, ...]
    container_annotations: tuple[str, ...]
    options: Mapping[str, bool | int | str]
    sandboxer: str | None


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What a handler's key or a shim's option takes.

    `values` are the only ones that work, `minimum` the least number, or None where anything of the type goes. `refused`
    says why a value that looks valid is not among them. `effect` is False where nothing reads the option.
    """

    type: ValueType
    values: tuple[Any, ...] | None = None
    minimum: int | None = None
    refused: str | None = None
    effect: bool = True


@dataclass(frozen=True, slots=True)
class Series:
    """What is true of one containerd release, most of it of its whole series.

    `ends` is the last day of its support, None where none was announced. `default_handlers` are the release's own on
    Windows by name. `planned` is what lockstep writes for an isolation (`process`, `hyperv`): the release's own handler
    plus SandboxPlatform and SandboxIsolation, which are always stated. `merges_handlers` says whether a handler in the
    file adds to the release's own of that name, or replaces them all.
    """

    name: str
    version: str
    config_version_for_new_file: int
    max_config_version: int
    ends: date | None
    default_handler: str
    default_handlers: Mapping[str, HandlerFacts]
    default_pause: str
    handler_keys: Mapping[str, KeyFacts]
    option_spelling: OptionSpelling
    merges_handlers: bool
    reads_byte_order_mark: bool
    cni_bin_key: str
    planned: Mapping[str, HandlerFacts]

    @property
    def layout(self) -> Layout:
        """Where things are in a file that is written new for this release."""
        return layout(self.config_version_for_new_file)

    def reads(self, spelling: str, key: str) -> bool:
        """Tell whether this release reads `spelling` as the handler's key or shim's option that is named `key`.

        Source: pelletier/go-toml, v1 marshal.go for containerd 1.x (the field's name, all lower, all upper, or with a
        small first letter); v2 unmarshaler.go for 2.x (any case).
        """
        if self.option_spelling == "any case":
            return spelling.lower() == key.lower()
        return spelling in (key, key.lower(), key.upper(), key[:1].lower() + key[1:])


@cache
def known_series() -> tuple[str, ...]:
    """Return the names of the series that the catalogue describes (`2.3`), oldest first."""
    return tuple(sorted(load("containerd")["series"], key=_order))


@cache
def linux_handlers() -> frozenset[str]:
    """Return the names of handlers that nodes with Linux have."""
    return frozenset(load("containerd")["linux_handlers"])


@cache
def layouts() -> Mapping[int, Layout]:
    """Return every layout by config version; the versions that the project reads and edits."""
    return MappingProxyType({number: _layout(number, paths) for number, paths in load("containerd")["layouts"].items()})


def layout(config_version: int) -> Layout:
    """Return where things are in a file of this config version. Raises KeyError for one that is not in `layouts()`."""
    return layouts()[config_version]


@lru_cache(maxsize=256)
def series(version: str) -> Series:
    """Return what is true of this containerd release (`2.3.4`).

    Raises VersionError where the text is no full version, UnknownSeries where the catalogue lacks its series.
    """
    parsed = Version.parse(version)
    data = load("containerd")
    facts = data["series"].get(parsed.minor_text)
    if facts is None:
        raise UnknownSeries(version, known_series())
    sandboxer = facts.get("sandboxer")
    forms = _at(parsed, facts["builtin_handlers"])
    own = {isolation: _handler(isolation, form, sandboxer) for isolation, form in forms.items() if isolation != "from"}
    full = {isolation: own.get(isolation) or _handler(isolation, "bare", sandboxer) for isolation in data["handlers"]}
    return Series(
        name=parsed.minor_text,
        version=str(parsed),
        config_version_for_new_file=facts["config"]["new_file"],
        max_config_version=facts["config"]["max"],
        ends=facts.get("ends"),
        default_handler=data["default_handler"],
        default_handlers=MappingProxyType(
            {data["handlers"][isolation]["name"]: handler for isolation, handler in own.items()}
        ),
        default_pause=_at(parsed, facts["default_pause"])["image"],
        handler_keys=_keys_of(parsed.minor_text, "handler_keys"),
        option_spelling=facts["options"],
        merges_handlers=facts["handlers"] == "merge",
        reads_byte_order_mark=facts["byte_order_mark"],
        cni_bin_key=facts["cni_bin_key"],
        planned=MappingProxyType({isolation: _in_full(isolation, handler) for isolation, handler in full.items()}),
    )


def option_types(version: str) -> Mapping[str, KeyFacts]:
    """Return the options that this release's runhcs shim has, by their own spelling. Raises as `series` does."""
    return _keys_of(series(version).name, "options")


def _at(version: Version, ranges: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the last entry that starts at or before this version's release; a pre-release counts as its release."""
    first, *later = ranges
    found = first
    for entry in later:
        if Version.parse(entry["from"]).release <= version.release:
            found = entry
    return found


def _handler(isolation: str, form: str, sandboxer: str | None) -> HandlerFacts:
    facts = load("containerd")["handlers"][isolation]
    shape = facts["forms"][form]
    return HandlerFacts(
        runtime_type=facts["runtime_type"],
        pod_annotations=tuple(shape.get("pod_annotations", ())),
        container_annotations=tuple(shape.get("container_annotations", ())),
        options=MappingProxyType(dict(shape.get("options", {}))),
        sandboxer=sandboxer,
    )


def _in_full(isolation: str, handler: HandlerFacts) -> HandlerFacts:
    data = load("containerd")
    always = {
        "SandboxPlatform": data["sandbox_platform"],
        "SandboxIsolation": data["handlers"][isolation]["isolation_option"],
    }
    return replace(handler, options=MappingProxyType({**always, **handler.options}))


@cache
def _keys_of(series_name: str, table: str) -> Mapping[str, KeyFacts]:
    now = _order(series_name)
    return MappingProxyType(
        {
            name: KeyFacts(
                type=facts["type"],
                values=tuple(facts["values"]) if "values" in facts else None,
                minimum=facts.get("minimum"),
                refused=facts.get("refused"),
                effect=facts.get("effect") != "none",
            )
            for name, facts in load("containerd")[table].items()
            if _order(facts.get("since", "0.0")) <= now < _order(facts.get("until", "99.0"))
        }
    )


def _layout(number: int, paths: Mapping[str, list[str]]) -> Layout:
    keys = {name: tuple(path) for name, path in paths.items()}
    return Layout(config_version=number, handler_platforms=keys.pop("handler_platforms", None), **keys)


def _order(series_name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series_name.split("."))
