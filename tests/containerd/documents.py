"""config.toml files as nobody would write them: data in every style that TOML has, and which of the lines are whose."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from lockstep.catalog.containerd import Layout, layout, layouts, series
from lockstep.containerd import Settings
from lockstep.fleet.model import Isolation
from lockstep.fleet.plan import Handler

Path = tuple[str, ...]
Draw = Callable[[st.SearchStrategy[Any]], Any]

# A release for every config version it reads: what it runs and what its file may be.
FILES = [
    ("1.7.35", 2),
    ("2.0.14", 2),
    ("2.0.14", 3),
    ("2.2.6", 3),
    ("2.3.7", 2),
    ("2.3.7", 3),
    ("2.3.7", 4),
    ("2.4.2", 4),
]
NAMES: dict[Isolation, str] = {"process": "runhcs-wcow-process", "hyperv": "runhcs-wcow-hypervisor"}
# All that a plan says of a handler's options, or says by leaving them out.
DECIDED = {
    "sandboxisolation",
    "sandboxplatform",
    "scrublogs",
    "scalecpulimitstosandbox",
    "vmmemorysizeinmb",
    "vmprocessorcount",
}
OTHERS = ["gpu", "runhcs-wcow-legacy", "kata.qemu", "mit Leerzeichen", "ünïcode"]


def planned(version: str, isolation: Isolation, **options: int) -> Handler:
    facts = series(version).planned[isolation]
    return Handler(
        NAMES[isolation],
        isolation,
        facts.runtime_type,
        facts.pod_annotations,
        facts.container_annotations,
        {**facts.options, **options},
        facts.sandboxer,
    )


@dataclass(frozen=True)
class Case:
    """A file, what is planned for it, and its lines that nothing planned may touch, in order."""

    version: str
    settings: Settings
    data: bytes
    untouched: tuple[str, ...]


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12) | st.sampled_from(
    [r"C:\Program Files\containerd", "it's", 'say "so"', "# no comment", "a = 1", "[x]", "", "\t", "{", "''''", '"""']
)
VALUES = st.recursive(
    TEXTS
    | st.integers(-(2**40), 2**40)
    | st.booleans()
    | st.floats(allow_nan=True)
    | st.dates(min_value=date(1000, 1, 1)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "io.containerd.x.v1.y", "mit Leerzeichen", "ü", "a-b", "2"])
TABLES = st.recursive(
    st.dictionaries(WORDS, VALUES, max_size=3),
    lambda inner: st.dictionaries(WORDS, VALUES | inner, max_size=3),
    max_leaves=4,
)


ROOT: dict[str, st.SearchStrategy[Any]] = {
    "root": TEXTS,
    "state": TEXTS,
    "oom_score": st.integers(-999, 999),
    "imports": st.lists(st.sampled_from([r"C:\none\*.toml", "none/*.toml"]), max_size=2),
    "timeouts": st.fixed_dictionaries({}, optional={"io.containerd.timeout.task.state": st.just("2s")}),
}


def files(release: str) -> list[tuple[str, int]]:
    return [(release, number) for number in layouts() if number <= series(release).max_config_version]


@st.composite
def cases(draw: Draw, release: str | None = None) -> Case:
    """Draw a file for one release, or for any."""
    version, config_version = draw(st.sampled_from(FILES if release is None else files(release)))
    where = layout(config_version)
    handlers = [planned(version, "process")]
    if draw(st.booleans()):
        handlers.append(planned(version, "hyperv", **draw(st.sampled_from([{}, {"VmMemorySizeInMb": 2048}]))))
    plan = Settings(
        handlers=tuple(handlers),
        default_handler=draw(st.sampled_from([None, "runhcs-wcow-process"])),
        pause_image=draw(st.sampled_from([None, "registry.k8s.io/pause:3.10.2"])),
        exclusive_handlers=draw(st.booleans()),
    )
    if plan.default_handler is None:
        # The file's own default may be a handler that goes, which is refused: not what is looked at here.
        assume(not plan.exclusive_handlers)
    data = draw(documents(version, where))
    writer = Writer(draw, Managed(where, plan))
    writer.document(data)
    text = writer.text()
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)  # some mixtures of dotted keys and sections are no TOML
    assert repr(sort(read)) == repr(sort(data)), "the generator writes what it means"
    mark = "\ufeff" if draw(st.booleans()) else ""
    return Case(version, plan, (mark + text).encode(), tuple(writer.untouched))


@st.composite
def documents(draw: Draw, version: str, where: Layout) -> dict[str, Any]:
    """Draw a file's data: a CRI plugin in any state, and things around it that are nobody's business."""
    data: dict[str, Any] = {"version": where.config_version}
    data |= draw(st.fixed_dictionaries({}, optional=ROOT))
    if draw(st.booleans()):
        put(data, where.pause_image, draw(st.sampled_from(["registry.k8s.io/pause:3.10.2", "example.org/pause:1"])))
    if draw(st.booleans()):
        put(data, where.default_handler, "runhcs-wcow-process")
    names = draw(st.lists(st.sampled_from([*NAMES.values(), *OTHERS]), unique=True, max_size=4))
    for name in names:
        put(data, (*where.handlers, name), draw(handler_tables(version)))
    if where.handler_platforms and draw(st.booleans()):
        put(
            data,
            (*where.handler_platforms, draw(st.sampled_from([*NAMES.values(), *OTHERS]))),
            {"snapshotter": "windows"},
        )
    for name, table in draw(st.dictionaries(WORDS, TABLES, max_size=2)).items():
        put(data, ("plugins", f"io.containerd.{name}.v1.x"), table)
        put(data, (*where.cni, name), draw(VALUES))
    return data


@st.composite
def handler_tables(draw: Draw, version: str) -> dict[str, Any]:
    exact = series(version).option_spelling == "exact"
    isolation = st.sampled_from(
        ["SandboxIsolation", "sandboxisolation", "sandboxIsolation"] + ([] if exact else ["sandboxISOLATION"])
    )
    table = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "runtime_type": st.sampled_from(["io.containerd.runhcs.v1", "io.containerd.runc.v2"]),
                "pod_annotations": st.lists(TEXTS, max_size=2),
                "container_annotations": st.just(["io.microsoft.container.*"]),
                "snapshotter": TEXTS,
                "my own": VALUES,
            },
        )
    )
    options = draw(
        st.dictionaries(st.sampled_from(["VmMemorySizeInMb", "ScrubLogs", "SandboxPlatform"]), st.just(1), max_size=2)
        | st.dictionaries(isolation, st.sampled_from([0, 1]), max_size=1)
    )
    options |= draw(st.dictionaries(st.sampled_from(["Debug", "log_level", "my own"]), VALUES, max_size=2))
    if options or draw(st.booleans()):
        table["options"] = options
    return dict(table)


@dataclass(frozen=True)
class Managed:
    """Which keys a plan may change, said apart from the code that is tested."""

    where: Layout
    plan: Settings
    whole: bool = False

    def __call__(self, path: Path) -> bool:
        """Tell whether the key at this path, or a table there as a whole, is the plan's."""
        platforms = self.where.handler_platforms or ("no such table",)
        if path[: len(platforms)] == platforms:
            return self.plan.exclusive_handlers
        depth = len(self.where.handlers)
        if path[:depth] != self.where.handlers or len(path) == depth:
            return path in (self.where.pause_image, self.where.default_handler)
        if path[depth] not in [handler.name for handler in self.plan.handlers]:
            return self.plan.exclusive_handlers
        rest = path[depth + 1 :]
        if rest[:1] == ("options",) and len(rest) > 1:
            return self.whole or rest[1].lower() in DECIDED
        return self.whole or rest[:1] in [
            ("runtime_type",),
            ("pod_annotations",),
            ("container_annotations",),
            ("sandboxer",),
        ]


class Writer:
    """Writes data as TOML in every style that drawing comes up with, and notes the lines that are nobody's business."""

    def __init__(self, draw: Draw, managed: Managed) -> None:
        self.draw = draw
        self.managed = managed
        self.sections: list[list[tuple[str, bool]]] = [[]]
        self.untouched: list[str] = []

    def document(self, data: Mapping[str, Any]) -> None:
        self.table((), (), data, self.sections[0])

    def text(self) -> str:
        root, *others = self.sections
        newlines = st.sampled_from(self.draw(st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"]])))
        lines = [
            (line + self.draw(newlines), managed)
            for section in [root, *self.draw(st.permutations(others))]
            for line, managed in section
        ]
        if self.draw(st.booleans()) and lines:
            lines[-1] = (lines[-1][0].rstrip("\r\n"), lines[-1][1])
        # A value over several lines is one entry here and several lines in the file.
        self.untouched = [part for line, managed in lines if not managed for part in split(line)]
        return "".join(line for line, _ in lines)

    def table(self, path: Path, prefix: Path, table: Mapping[str, Any], section: list[tuple[str, bool]]) -> None:
        """Write a table's keys into a section, each key behind `prefix`; tables in it in one style or another."""
        for key, value in table.items():
            inner = (*path, key)
            if not isinstance(value, Mapping):
                self.line(
                    section,
                    f"{self.key((*prefix, key))}{self.equals()}{self.value(value, multiline=True)}",
                    managed=self.managed(inner),
                )
                continue
            style = self.draw(st.sampled_from(["section", "section", "section", "inline", "dotted"]))
            if style == "inline":
                managed = any(self.managed(leaf) for leaf in leaves(inner, value)) or self.grows(inner)
                self.line(section, f"{self.key((*prefix, key))}{self.equals()}{self.value(value)}", managed=managed)
            elif style == "dotted" and value:
                self.table(inner, (*prefix, key), value, section)
            else:
                new: list[tuple[str, bool]] = []
                self.sections.append(new)
                self.table(inner, (), value, new)
                if new or not value or self.draw(st.booleans()):
                    new.insert(0, (f"{self.indent()}[{self.key(inner)}]{self.comment()}", self.managed(inner)))
                    self.noise(new, 0, managed=self.managed(inner))

    def grows(self, path: Path) -> bool:
        """Tell whether planned keys belong into the table at this path: written inline, its line is the plan's."""
        paths = [self.managed.where.pause_image, self.managed.where.default_handler]
        paths += [
            (*self.managed.where.handlers, handler.name, "options", "x") for handler in self.managed.plan.handlers
        ]
        return any(other[: len(path)] == path for other in paths)

    def line(self, section: list[tuple[str, bool]], text: str, *, managed: bool) -> None:
        self.noise(section, len(section), managed=managed)
        section.append((f"{self.indent()}{text}{self.comment()}", managed))

    def noise(self, section: list[tuple[str, bool]], at: int, *, managed: bool) -> None:
        """Put a comment or an empty line into a section; inside what may be removed as a whole it makes no claim."""
        text = self.draw(
            st.sampled_from([None, None, None, "# a comment", "  # x = 1", "", "   ", "#[plugins]", "# ü"])
        )
        removed = managed and self.managed.plan.exclusive_handlers
        if text is not None:
            section.insert(at, (text, removed or not text.strip()))

    def indent(self) -> str:
        return str(self.draw(st.sampled_from(["", "", "  ", "\t", "      "])))

    def comment(self) -> str:
        return str(self.draw(st.sampled_from(["", "", "", "  # why", " #", "# 'x' \"y\" = [1]"])))

    def equals(self) -> str:
        return str(self.draw(st.sampled_from([" = ", "=", "   =\t"])))

    def key(self, path: Path) -> str:
        return str(self.draw(st.sampled_from([".", ".", " . "]))).join(self.part(part) for part in path)

    def part(self, name: str) -> str:
        forms = [json.dumps(name), json.dumps(name, ensure_ascii=False), f"'{name}'"]
        if name.isascii() and name.replace("-", "").replace("_", "").isalnum():
            forms += [name] * 5
        return str(self.draw(st.sampled_from(forms)))

    def value(self, value: Any, *, multiline: bool = False) -> str:
        if isinstance(value, Mapping):
            pairs = [f"{self.part(key)}{self.equals()}{self.value(item)}" for key, item in value.items()]
            return f"{{{self.draw(st.sampled_from(['', ' ']))}{', '.join(pairs)}}}"
        if isinstance(value, list):
            items = [self.value(item, multiline=multiline) for item in value]
            if multiline and items and self.draw(st.booleans()):
                return "[\n  " + ",\n  ".join(items) + (", # ], }\n" if self.draw(st.booleans()) else "\n") + "]"
            return "[" + ", ".join(items) + "]"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            return self.quoted(value, multiline=multiline)
        return repr(value) if isinstance(value, int | float) else str(value)

    def quoted(self, value: str, *, multiline: bool) -> str:
        basic = json.dumps(value, ensure_ascii=False)
        forms = [json.dumps(value) if value.isascii() else basic, basic]
        if "'" not in value:
            forms.append(f"'{value}'")
        if multiline:
            forms.append(f'""{basic}""')
            if "'''" not in value and not value.startswith("'"):
                forms.append(f"'''\n{value}'''" if not value.endswith("'") else basic)
            forms.append(f'""{basic[:-1]}\\\n   """')
        return str(self.draw(st.sampled_from(forms)))


def put(data: dict[str, Any], path: Path, value: Any) -> None:
    for part in path[:-1]:
        data = data.setdefault(part, {})
    data[path[-1]] = value


def leaves(path: Path, value: Any) -> list[Path]:
    if isinstance(value, Mapping):
        return [path, *(leaf for key, item in value.items() for leaf in leaves((*path, key), item))]
    return [path]


def split(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def sort(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: sort(value[key]) for key in sorted(value)}
    return [sort(item) for item in value] if isinstance(value, list) else value


def unmanaged(data: Mapping[str, Any], managed: Managed, path: Path = ()) -> dict[str, Any]:
    """Return the data without what the plan may change, and without tables that are then empty."""
    kept: dict[str, Any] = {}
    for key, value in data.items():
        if managed((*path, key)):
            continue
        if isinstance(value, Mapping):
            value = unmanaged(value, managed, (*path, key))  # noqa: PLW2901
            if not value:
                continue
        kept[key] = value
    return kept
