"""What a node's containerd is to have, and the check of what a person wrote for it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, get_args

from lockstep.catalog.containerd import KeyFacts, option_types, series
from lockstep.catalog.containerd_files import snapshotters_of, works_with_hyperv
from lockstep.containerd.errors import SettingsError
from lockstep.fleet.model import Isolation
from lockstep.fleet.plan import Handler
from lockstep.k8s.names import dns_label_problem

_ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)
_KEYS = ("name", "isolation", "runtime_type", "pod_annotations", "container_annotations", "options", "sandboxer")
_SETTINGS = (
    "handlers",
    "default_handler",
    "pause_image",
    "exclusive_handlers",
    "snapshotters",
    "shim_log_level",
    "log_level",
    "metrics_address",
    "registry_path",
    "imports",
)
_RUNTIME_TYPE = "io.containerd.runhcs.v1"
# Source: containerd log/context.go (2.x github.com/containerd/log), Level.
LOG_LEVELS = ("trace", "debug", "info", "warn", "error", "fatal", "panic")
_ADDRESS = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^:\s\[\]]*):(?P<port>[0-9]{1,5})")
_MAX_PORT = 65535
_FULL_PATH = re.compile(r"[A-Za-z]:\\[^\"<>|?]*")
_INT32 = 2**31
_KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "string": "text",
    "strings": "a list of texts",
    "table": "a mapping of names to texts",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The managed part of a config.toml; None, an empty tuple and an empty mapping leave what is there.

    With `exclusive_handlers` every handler that is not among `handlers` is removed. `snapshotters` are by handler. A
    `metrics_address` that is empty takes the setting away. `registry_path` is the folder with a hosts.toml a registry.
    `imports` are patterns of files; an empty tuple is none at all.
    """

    handlers: tuple[Handler, ...] = ()
    default_handler: str | None = None
    pause_image: str | None = None
    exclusive_handlers: bool = False
    snapshotters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    log_level: str | None = None
    metrics_address: str | None = None
    registry_path: str | None = None
    imports: tuple[str, ...] | None = None


def settings_from_data(data: Mapping[str, Any], version: str) -> Settings:
    """Return settings from plain data, as an Ansible task gives them, checked for this containerd release.

    Keys: those of Settings, `handlers` as a list of mappings with the fields of a planned handler (`name` alone is
    required), and `shim_log_level`, which each of them gets as its option LogLevel; a key that is None counts as
    absent. Raises SettingsError with all problems at once.
    """
    checker = _Checker(version)
    given = {key: value for key, value in data.items() if value is not None}
    checker.unknown("", given, _SETTINGS)
    handlers = given.get("handlers", [])
    if not isinstance(handlers, list | tuple):
        checker.problem("handlers", handlers, "a list of handlers")
        handlers = []
    built = [checker.handler(f"handlers[{index}]", item) for index, item in enumerate(handlers)]
    names = [handler.name for handler in built if handler]
    checker.problems += [f"handlers: '{name}' is there twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    default = checker.text("default_handler", given.get("default_handler"))
    pause = checker.text("pause_image", given.get("pause_image"))
    if pause and pause.split() != [pause]:
        checker.problem("pause_image", pause, "an image reference, which has no spaces")
    exclusive = given.get("exclusive_handlers", False)
    if not isinstance(exclusive, bool):
        checker.problem("exclusive_handlers", exclusive, _KINDS["bool"])
    level = checker.one_of("shim_log_level", given.get("shim_log_level"), LOG_LEVELS)
    planned = [_with_log_level(handler, level) for handler in built if handler]
    settings = Settings(
        handlers=tuple(planned),
        default_handler=default,
        pause_image=pause,
        exclusive_handlers=exclusive,
        snapshotters=checker.snapshotters(given.get("snapshotters", {}), planned),
        log_level=checker.one_of("log_level", given.get("log_level"), LOG_LEVELS),
        metrics_address=checker.address("metrics_address", given.get("metrics_address")),
        registry_path=checker.folder("registry_path", given.get("registry_path")),
        imports=checker.patterns("imports", given.get("imports")),
    )
    if checker.problems:
        raise SettingsError(tuple(checker.problems))
    return settings


def value_problem(value: Any, facts: KeyFacts) -> str | None:
    """Return what was expected of a handler's key or a shim's option, or None where the value will do."""
    if not _is_type(value, facts):
        return _KINDS[facts.type]
    if facts.values is not None and value not in facts.values:
        allowed = " or ".join(str(allowed) for allowed in facts.values)
        return f"{allowed}; not {facts.refused}" if facts.refused else allowed
    if facts.minimum is not None and value < facts.minimum:
        return f"a whole number of at least {facts.minimum}"
    return None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for the known word nearest to this one, empty where none is near."""
    words = {name.replace("_", "").lower(): name for name in known}
    found = difflib.get_close_matches(word.replace("_", "").lower(), words, n=1, cutoff=0.75)
    return f" (did you mean '{words[found[0]]}'?)" if found else ""


def _is_type(value: Any, facts: KeyFacts) -> bool:
    match facts.type:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and -_INT32 <= value < _INT32
        case "string":
            return isinstance(value, str)
        case "strings":
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        case "table":
            return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())


def _with_log_level(handler: Handler, level: str | None) -> Handler:
    """Return the handler with its shim's log level, where it does not state one itself."""
    if level is None or handler.runtime_type != _RUNTIME_TYPE or "LogLevel" in handler.options:
        return handler
    return replace(handler, options={**handler.options, "LogLevel": level})


class _Checker:
    """Collects every problem of one set of settings."""

    def __init__(self, version: str) -> None:
        self.problems: list[str] = []
        self._series = series(version)
        self._options = option_types(version)

    def problem(self, where: str, value: Any, expected: str) -> None:
        self.problems.append(f"{where}: {_shown(value)} is not {expected}")

    def unknown(self, where: str, given: Mapping[Any, Any], known: Iterable[str]) -> None:
        known = tuple(known)
        prefix = f"{where}." if where else ""
        self.problems += [
            f"{prefix}{key}: no such key{nearest(str(key), known)}; expected one of {', '.join(known)}"
            for key in given
            if key not in known
        ]

    def text(self, where: str, value: Any) -> str | None:
        if value is not None and (not isinstance(value, str) or not value):
            self.problem(where, value, "text")
            return None
        return value

    def one_of(self, where: str, value: Any, known: tuple[str, ...]) -> str | None:
        if value is not None and value not in known:
            self.problem(where, value, " or ".join(known))
            return None
        return None if value is None else str(value)

    def address(self, where: str, value: Any) -> str | None:
        """Return where to listen, `127.0.0.1:1338`; empty is nowhere."""
        if value is None or value == "":
            return None if value is None else ""
        found = _ADDRESS.fullmatch(value) if isinstance(value, str) else None
        if found is None or not 0 < int(found["port"]) <= _MAX_PORT:
            self.problem(where, value, "an address and a port, such as 127.0.0.1:1338")
            return None
        return str(value)

    def folder(self, where: str, value: Any) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str) or not _FULL_PATH.fullmatch(value) or ";" in value:
            self.problem(where, value, r"the full path of one folder, such as C:\ProgramData\containerd\certs.d")
            return None
        return value.rstrip("\\")

    def patterns(self, where: str, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
            self.problem(where, value, "a list of files or patterns of them")
            return None
        return tuple(value)

    def snapshotters(self, value: Any, handlers: Iterable[Handler]) -> Mapping[str, str]:
        """Return the snapshotter by handler; each handler has to be among those that are planned."""
        planned = {handler.name: handler for handler in handlers}
        known = sorted(snapshotters_of(self._series.version))
        if not isinstance(value, Mapping):
            self.problem("snapshotters", value, "a mapping of handlers to snapshotters")
            return {}
        if value and "snapshotter" not in self._series.handler_keys:
            self.problems.append(f"snapshotters: containerd {self._series.name} has one for all handlers; leave it out")
            return {}
        for name, snapshotter in value.items():
            where = f"snapshotters.{name}"
            if name not in planned:
                self.problems.append(f"{where}: no handler of that name is stated{nearest(str(name), planned)}")
            elif snapshotter not in known:
                self.problem(where, snapshotter, f"{' or '.join(known)}, which containerd {self._series.name} has")
            elif planned[name].isolation == _ISOLATIONS[1] and not works_with_hyperv(snapshotter):
                self.problems.append(
                    f"{where}: a utility VM cannot use the layers of {snapshotter}; use it for handlers with process "
                    "isolation"
                )
        return dict(value)

    def handler(self, where: str, data: Any) -> Handler | None:
        """Return one handler, or None where it has no name; problems are noted."""
        if not isinstance(data, Mapping):
            self.problem(where, data, "a mapping with a handler's keys")
            return None
        given = {key: value for key, value in data.items() if value is not None}
        self.unknown(where, given, _KEYS)
        name = self.text(f"{where}.name", given.get("name"))
        if name is None:
            if "name" not in given:
                self.problems.append(f"{where}: a handler needs a name")
            return None
        if problem := dns_label_problem(name):
            self.problems.append(f"{where}.name: {problem}")
        options = given.get("options", {})
        if not isinstance(options, Mapping):
            self.problem(f"{where}.options", options, "a mapping of the shim's options")
            options = {}
        runtime_type = self.text(f"{where}.runtime_type", given.get("runtime_type", _RUNTIME_TYPE)) or _RUNTIME_TYPE
        if runtime_type == _RUNTIME_TYPE:
            self.problems += self._option_problems(f"{where}.options", options)
        sandboxer = self.text(f"{where}.sandboxer", given.get("sandboxer"))
        if sandboxer and "sandboxer" not in self._series.handler_keys:
            self.problems.append(f"{where}.sandboxer: containerd {self._series.name} has no such key; leave it out")
        return Handler(
            name=name,
            isolation=self._isolation(where, given.get("isolation"), options),
            runtime_type=runtime_type,
            pod_annotations=self._texts(f"{where}.pod_annotations", given.get("pod_annotations", ())),
            container_annotations=self._texts(f"{where}.container_annotations", given.get("container_annotations", ())),
            options=dict(options),
            sandboxer=sandboxer,
        )

    def _isolation(self, where: str, stated: Any, options: Mapping[str, Any]) -> Isolation:
        meant = _ISOLATIONS[1] if options.get("SandboxIsolation") == 1 else _ISOLATIONS[0]
        if stated is None:
            return meant
        if stated not in _ISOLATIONS:
            self.problem(f"{where}.isolation", stated, " or ".join(_ISOLATIONS))
        elif stated != meant:
            self.problems.append(
                f"{where}: isolation {stated} needs the option SandboxIsolation = {_ISOLATIONS.index(stated)}"
            )
        return meant

    def _texts(self, where: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            self.problem(where, value, _KINDS["strings"])
            return ()
        return tuple(value)

    def _option_problems(self, where: str, options: Mapping[Any, Any]) -> Iterator[str]:
        for name, value in options.items():
            if name not in self._options:
                known = nearest(str(name), self._options)
                yield f"{where}.{name}: the shim of containerd {self._series.name} has no such option{known}"
            elif expected := value_problem(value, self._options[name]):
                yield f"{where}.{name}: {_shown(value)} is not {expected}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}'" if isinstance(value, str) else str(value)
