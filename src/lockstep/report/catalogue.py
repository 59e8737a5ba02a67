"""docs/catalogue.md: the tables of what Lockstep knows, from the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lockstep.catalog.annotations import known_annotations
from lockstep.catalog.builds import known
from lockstep.catalog.containerd import HandlerFacts, known_series, option_types, series
from lockstep.catalog.data import known_until
from lockstep.catalog.kubernetes import known_minors, minor
from lockstep.catalog.pods import pod_fields


def catalogue_page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# What Lockstep knows"
    yield ""
    yield "Made from `src/lockstep/catalog/data/` by `tools/pages.py`; each entry there names its source. How to add a"
    yield "release: [adding-a-release.md](adding-a-release.md). Which container runs where: [matrix.md](matrix.md)."
    yield f"Read up to {known_until()}: what has ended by then is what LW266 and LW267 warn of."
    yield from _table(
        "Windows builds",
        ("build", "product", "channel", "released", "support ends", "tags", "base images"),
        (
            (
                facts.number,
                facts.product,
                facts.channel,
                facts.released,
                facts.end,
                ", ".join(facts.aliases),
                ", ".join(facts.base_images),
            )
            for facts in known().values()
        ),
    )
    yield from _table(
        "Kubernetes minors",
        (
            "minor",
            "pause",
            "enforceNodeAllocatable",
            "containerd, from",
            "Windows builds",
            "kubelet's flags gone by then",
        ),
        (
            (
                name,
                facts.pause,
                f"`[{', '.join(facts.enforce_node_allocatable)}]`",
                ", ".join(facts.containerd),
                ", ".join(map(str, facts.windows_server)),
                len(facts.removed_flags),
            )
            for name in known_minors()
            for facts in [minor(name)]
        ),
    )
    yield from _table(
        "containerd series",
        (
            "series",
            "support ends",
            "config version",
            "handlers in a file",
            "its own handlers, at first and now",
            "pause",
        ),
        (
            (
                name,
                first.ends,
                f"{first.config_version_for_new_file}, up to {first.max_config_version}",
                "add to its own" if first.merges_handlers else "replace its own",
                _handlers(name),
                f"`{last.default_pause}`",
            )
            for name in known_series()
            for first, last in [(series(f"{name}.0"), series(f"{name}.99"))]
        ),
    )
    newest = f"{known_series()[-1]}.0"
    yield from _table(
        "Options of the shim",
        ("option", "type", "values", "read"),
        (
            (f"`{name}`", facts.type, ", ".join(map(str, facts.values or ())), "yes" if facts.effect else "by nothing")
            for name, facts in option_types(newest).items()
        ),
    )
    yield from _table(
        "Annotations of pods",
        ("annotation", "type", "from", "to", "without it", "is"),
        (
            (
                f"`{name}`",
                each.type,
                each.minimum,
                each.maximum,
                None if each.default is None else str(each.default).lower(),
                each.meaning,
            )
            for name, each in known_annotations().items()
        ),
    )
    fields = pod_fields()
    yield from _table(
        "What a Windows pod may not set",
        ("field", "of", "refused when"),
        (
            (f"`{name}`", where, when)
            for where, refused in (("the pod", fields.refused_in_pod), ("a container", fields.refused_in_container))
            for name, when in refused.items()
        ),
    )
    yield from _table(
        "What is different in a Windows pod",
        ("field", "on Windows"),
        ((f"`{name}`", works or "does nothing, or is not possible") for name, works in fields.different.items()),
    )


def _handlers(name: str) -> str:
    first, last = (series(f"{name}.{patch}").default_handlers for patch in (0, 99))
    gained = sorted(_options(last) - _options(first))
    return ", ".join(f"`{handler}`" for handler in last) + (f"; later also {', '.join(gained)}" if gained else "")


def _options(handlers: Mapping[str, HandlerFacts]) -> set[str]:
    return {option for handler in handlers.values() for option in handler.options}


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield from ("", f"## {title}", "", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for row in rows:
        yield f"| {' | '.join('' if cell is None else str(cell).replace('|', chr(92) + '|') for cell in row)} |"
