"""A case: a node's state before, a request, the answer, the state after. One YAML file each, in tests/node/cases.

    title: what holds
    let: {tool: content}                      content with a name: {let: tool} stands for it, $tool64 for its SHA-256,
                                              $tool12 for the first 12 digits
    not_on: {linux: why that engine cannot show it}
    before:
      files: {'C:\\$case\\a.toml': text}      a text, {base64: …}, {size: bytes}, {json: data},
                                              or an archive; see support/archives.py
      folders: ['C:\\$case\\folder']
      programs: ['C:\\$case\\other.exe']      copies of the test program, beside C:\\testservice.exe
      services: {$case-web: {config: path, binary_path: …, running: true, depends_on: [other]}}
      served: {/a.zip: {content: …}}          what a web server has at $url; see support/served.py
      registry: {'HKLM\\\\SOFTWARE\\\\$case': {a: {kind: dword, value: 1}}}; that key is the case's own
      windows: {features: …}                  what Windows itself has, a part of WINDOWS each; see support/server.py
    faults: [{kind: in_use, path: …}]         or denied, of a key of the registry too
    emulated: {faults: […]}                   what that engine's services do, which have no test program to decide it,
                                              or {faults_before_start: […]}, before the services of `before` are started
    request: {mode: …, operations: […]}       {content_of: text} and {sha256_of: text} stand for base64 and SHA-256
    response: …                               {matches: pattern}, {any: integer}, {any: positive}, {any: list},
                                              {between: [a, b]}, {one_of: [a, b]},
                                              {length: n} and {json: data} stand for what is not known to the letter
    then: [{request: …, response: …}]         asked of the node afterwards
    after:
      files: …                                all files; as before where not given. {time} in a name: a UTC time;
                                              {json: data}: any text that says this
      services: {$case-web: {state: running, binary_path: …, new_process: true}}

`$case` is the case's name: its folder under C:, its transaction, the beginning of its services' names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.node.support import archives

FOLDER = Path(__file__).parent.parent / "cases"
PROGRAM = "C:\\testservice.exe"
WINDOWS = ("features", "firewall", "firewall_text", "defender", "power")
SERVER = "http://server.invalid"
KEYS = {"title", "let", "not_on", "before", "faults", "emulated", "request", "response", "then", "after"}
TRANSACTIONS = "C:\\ProgramData\\lockstep\\transactions"


@dataclass(frozen=True, slots=True)
class ServiceBefore:
    """A service to be made; `config` is the file that tells it how to behave."""

    name: str
    binary_path: str
    running: bool = False
    depends_on: tuple[str, ...] = ()
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class ServiceNow:
    """What the service manager says of a service."""

    state: str
    binary_path: str
    process_id: int


class SameJson:
    """A file that says this, in whatever order and with whatever blanks."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bytes) and json.loads(other) == self.data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return json.dumps(self.data)


@dataclass(frozen=True, slots=True)
class Case:
    """One case, its placeholders filled in."""

    name: str
    title: str
    not_on: Mapping[str, str]
    files: Mapping[str, bytes]
    folders: tuple[str, ...]
    programs: tuple[str, ...]
    services: tuple[ServiceBefore, ...]
    faults: tuple[Mapping[str, str], ...]
    emulated: Mapping[str, Sequence[Mapping[str, Any]]]
    registry: Mapping[str, Mapping[str, Mapping[str, Any]]]
    windows: Mapping[str, Any]
    served: Mapping[str, Sequence[Mapping[str, Any]]]
    request: Mapping[str, Any]
    response: Mapping[str, Any]
    then: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    files_after: Mapping[str, bytes | SameJson]
    services_after: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder that holds all of the case's files but the journal."""
        return f"C:\\{self.name}"

    @property
    def key(self) -> str:
        """The key that holds the case's values of the registry."""
        return f"HKLM\\SOFTWARE\\{self.name}"

    def owns(self, path: str) -> bool:
        """Whether a file belongs to this case: it lies in its folder, or is its journal."""
        return path.startswith((f"{self.folder}\\", f"{TRANSACTIONS}\\{self.name}"))


def names(engine: str) -> list[str]:
    """Return the names of the cases that this engine can show; each of the others says in `not_on` why it cannot."""
    return [name for name in all_names() if engine not in load(name).not_on]


def all_names() -> list[str]:
    """Return the names of all cases."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str) -> Case:
    """Read a case."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").replace("$case", name).replace("$url", SERVER)
    data = yaml.safe_load(text)
    unknown = set(data) - KEYS
    assert not unknown, f"{name}: unknown keys {unknown}"
    if "let" in data:
        named = {key: content(value) for key, value in data["let"].items()}
        for key, value in named.items():
            digest = hashlib.sha256(value).hexdigest()
            text = text.replace(f"${key}64", digest).replace(f"${key}12", digest[:12])
        data = _let(yaml.safe_load(text), named)
    before, after = data.get("before", {}), data.get("after", {})
    windows = before.get("windows", {})
    assert set(windows) <= set(WINDOWS), f"{name}: windows has {', '.join(WINDOWS)} only"
    files = _files(before.get("files", {}))
    return Case(
        name=name,
        title=data["title"],
        not_on=data.get("not_on", {}),
        files=files,
        folders=tuple(before.get("folders", ())),
        programs=tuple(before.get("programs", ())),
        services=tuple(_service(key, value) for key, value in before.get("services", {}).items()),
        faults=tuple(data.get("faults", ())),
        emulated=data.get("emulated", {}),
        registry=before.get("registry", {}),
        windows=windows,
        served={path: _answers(given) for path, given in before.get("served", {}).items()},
        request=_fill(data["request"]),
        response=_fill(data["response"]),
        then=tuple((_fill(one["request"]), _fill(one["response"])) for one in data.get("then", ())),
        files_after=_files_after(after["files"]) if "files" in after else files,
        services_after=after.get("services", {}),
    )


def content(given: Any) -> bytes:
    """Return the bytes that a case means."""
    if isinstance(given, bytes):
        return given
    if isinstance(given, str):
        return given.encode()
    [(kind, value)] = given.items()
    if kind in archives.BUILDERS:
        return archives.build(kind, value)
    if kind == "base64":
        return base64.b64decode(str(value))
    if kind == "json":
        return json.dumps(_fill(value)).encode("ascii")
    assert kind == "size", f"no such content: {given}"
    pattern = bytes(range(256)) * 257 + b"\r\n"
    size = int(value)
    return (pattern * (size // len(pattern) + 1))[:size]


def differences(expected: Any, found: Any, where: str = "response") -> list[str]:
    """Return where an answer is not what the case expects, one line each."""
    if isinstance(expected, dict) and len(expected) == 1 and (how := next(iter(expected))) in _LOOSE:
        return [] if _LOOSE[how](expected[how], found) else [f"{where}: {_short(found)} is not {expected}"]
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{where}: lacks {key}" for key in expected if key not in found]
        extra = [f"{where}: has {key}: {_short(found[key])}" for key in found if key not in expected]
        inner = [differences(expected[key], found[key], f"{where}.{key}") for key in expected if key in found]
        return missing + extra + [line for lines in inner for line in lines]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for i, (one, two) in pairs for line in differences(one, two, f"{where}[{i}]")]
    same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
    return [] if same else [f"{where}: {_short(found)} is not {_short(expected)}"]


def file_differences(expected: Mapping[str, bytes | SameJson], found: Mapping[str, bytes]) -> list[str]:
    """Return which files are not as expected; `{time}` in an expected name stands for a UTC time."""
    lines, left = [], dict(found)
    # A name to the letter before one with a pattern, which might fit it too.
    for name, data in sorted(expected.items(), key=lambda item: "{time}" in item[0]):
        pattern = re.escape(name).replace(re.escape("{time}"), r"\d{8}T\d{6}Z")
        match = next((path for path in left if re.fullmatch(pattern, path)), None)
        if match is None:
            lines.append(f"{name}: is not there")
        elif data != left.pop(match):
            lines.append(f"{name}: holds {_short(found[match])}, not {_short(data)}")
    return lines + [f"{path}: should not be there, holds {_short(left[path])}" for path in left]


def _service(name: str, given: Mapping[str, Any]) -> ServiceBefore:
    binary_path = given.get("binary_path") or f"{PROGRAM} service {name} {given['config']}"
    return ServiceBefore(name, binary_path, given.get("running", False), tuple(given.get("depends_on", ())))


def _files(given: Mapping[str, Any]) -> dict[str, bytes]:
    return {path: content(value) for path, value in given.items()}


def addressed(value: Any, url: str) -> Any:
    """Return a request with the address of the server that runs."""
    if isinstance(value, list):
        return [addressed(item, url) for item in value]
    if isinstance(value, dict):
        return {key: addressed(item, url) for key, item in value.items()}
    return value.replace(SERVER, url) if isinstance(value, str) else value


def _answers(given: Any) -> list[dict[str, Any]]:
    answers = given if isinstance(given, list) else [given]
    return [{**one, "content": content(one["content"])} if "content" in one else dict(one) for one in answers]


def _files_after(given: Mapping[str, Any]) -> dict[str, bytes | SameJson]:
    return {
        path: SameJson(_fill(value["json"])) if isinstance(value, dict) and "json" in value else content(value)
        for path, value in given.items()
    }


def _let(value: Any, named: Mapping[str, bytes]) -> Any:
    """Put what has a name in the place of its name."""
    if isinstance(value, list):
        return [_let(item, named) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"let"} and isinstance(value["let"], str):
        return named[value["let"]]
    return {key: _let(item, named) for key, item in value.items()}


def _fill(value: Any) -> Any:
    if isinstance(value, list):
        return [_fill(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"content_of"}:
        return base64.b64encode(content(value["content_of"])).decode("ascii")
    if set(value) == {"sha256_of"}:
        return hashlib.sha256(content(value["sha256_of"])).hexdigest()
    return {key: _fill(item) for key, item in value.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _any(kind: str, found: Any) -> bool:
    assert kind in ("integer", "positive", "list"), kind
    if kind == "list":
        return isinstance(found, list)
    return _is_number(found) and isinstance(found, int) and (kind == "integer" or found > 0)


_LOOSE: Mapping[str, Any] = {
    "any": _any,
    "matches": lambda pattern, found: isinstance(found, str) and re.search(pattern, found) is not None,
    "one_of": lambda values, found: found in values,
    "between": lambda limits, found: _is_number(found) and limits[0] <= found <= limits[1],
    "length": lambda length, found: isinstance(found, str) and len(found) == length,
    "json": lambda data, found: json.loads(found) == data,
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"
