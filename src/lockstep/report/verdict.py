"""The answer to whether a container runs on a host."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.catalog import pause
from lockstep.catalog.builds import Build
from lockstep.catalog.compatibility import Combination, Verdict

_WORDS = {"process": "process isolation", "hyperv": "Hyper-V isolation"}
_LABEL = 9


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that may go wrong although the container runs: the rule, what, and what to change."""

    rule: str
    message: str
    fix: str


def text(verdict: Verdict, containerd: str, width: int, warnings: Sequence[Warned] = ()) -> str:
    """Return the answer with its reason, what it takes or warns of, and what comes nearest, in `width` columns."""
    asked = verdict.asked
    answer, runs = ("yes", "runs") if verdict.ok else ("no", "does not run")
    said = (
        f"a container of {_named(asked.guest)} {runs} in {_WORDS[asked.isolation]} on {_named(asked.host)},"
        f" {_pool(asked.pool_guest)}containerd {containerd}"
    )
    lines = [*_labelled(answer, said, width), *_labelled("why", verdict.reason, width)]
    for warned in warnings:
        lines += _labelled("warning", f"{warned.rule}: {warned.message}; {warned.fix}", width)
    for need in _needs(asked) if verdict.ok else ():
        lines += _labelled("needs", need, width)
    for other in verdict.nearest:
        lines += _labelled("nearest", _described(other), width)
    return "\n".join(lines) + "\n"


def to_data(verdict: Verdict, containerd: str, warnings: Sequence[Warned] = ()) -> dict[str, Any]:
    """Return the answer as plain data; builds are `10.0.<build>`, with the revision where one was asked for."""
    return {
        "runs": verdict.ok,
        "reason": verdict.reason,
        "asked": _combination(verdict.asked),
        "containerd": containerd,
        "warnings": [asdict(warned) for warned in warnings],
        "needs": list(_needs(verdict.asked)) if verdict.ok else [],
        "nearest": [_combination(other) for other in verdict.nearest],
    }


def _named(build: Build) -> str:
    """Return the build as messages name it, with its revision where that was given."""
    return str(build).replace(build.label, build.full)


def _combination(combination: Combination) -> dict[str, Any]:
    return {
        "guest": combination.guest.full,
        "host": combination.host.full,
        "isolation": combination.isolation,
        "pool_guest": combination.pool_guest.full if combination.pool_guest else None,
    }


def _described(other: Combination) -> str:
    guest = f"guest {other.guest.alias} on a pool with host {other.host.alias}"
    pinned = f" and guest {other.pool_guest.alias}" if other.pool_guest else ""
    return f"{guest}{pinned}, {_WORDS[other.isolation]}"


def _needs(combination: Combination) -> Iterator[str]:
    """Yield what somebody has to do so that it runs, beyond an ordinary node.

    Sources: hcsshim internal/uvm (a utility VM boots the pause image's layers); Microsoft's hyperv-container.md.
    """
    if combination.isolation == "process":
        return
    yield "the Hyper-V role on the node, and nested virtualization where the node is a virtual machine itself"
    if combination.pool_guest is None:
        return
    image = pause.single_platform_image(combination.pool_guest) or "named by digest"
    yield f"a pause image of that guest alone: {image}"
    yield "workload images named by digest or by a tag of one platform, which containerd takes as they are"


def _pool(pool_guest: Build | None) -> str:
    return f"in a pool with guest {pool_guest.alias}, " if pool_guest else ""


def _labelled(label: str, said: str, width: int) -> list[str]:
    first, rest = label.ljust(_LABEL), " " * _LABEL
    return textwrap.wrap(said, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
