"""The grid itself: containers down, hosts across, and for each pair what runs in which isolation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lockstep.catalog.builds import Build, known, resolve
from lockstep.catalog.compatibility import Isolation, can_run
from lockstep.fleet.plan import ClassPlan, Plan, PoolPlan

How = Literal["runs", "pinned", "elsewhere", "no"]
"""`pinned`: only in a pool whose pause image is of the guest. `elsewhere`: it would, but its class goes to others."""

ISOLATIONS: tuple[Isolation, ...] = ("process", "hyperv")
LETTERS: Mapping[Isolation, str] = {"process": "P", "hyperv": "H"}
_SERVERS = ("LTSC", "AC")


@dataclass(frozen=True, slots=True)
class Head:
    """What stands at the head of a row or column: a name, and below it what tells more."""

    name: str
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """Whether one container runs on one host in one isolation; the reason is a sentence without a full stop."""

    isolation: Isolation
    guest: Build
    host: Build
    pool_guest: Build | None
    containerd: str
    how: How
    reason: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of containers over columns of hosts; `cells[row][column]` has a cell for each isolation that was asked."""

    title: str
    corner: tuple[str, str]
    rows: tuple[Head, ...]
    columns: tuple[Head, ...]
    cells: tuple[tuple[tuple[Cell, ...], ...], ...]

    @property
    def hows(self) -> set[tuple[Isolation, How]]:
        """What occurs, for a legend that explains no more than that."""
        return {(cell.isolation, cell.how) for row in self.cells for cells in row for cell in cells}


def of_catalogue(containerd: str, isolations: Sequence[Isolation] = ISOLATIONS, *, every: bool = False) -> Grid:
    """Return the grid of the catalogue's builds: long-term releases, or with `every` all of them.

    Raises VersionError where `containerd` is no full version.
    """
    facts = known().values()
    guests = [Build(item.number) for item in facts if item.base_images and (every or item.channel == "LTSC")]
    hosts = [Build(item.number) for item in facts if every or item.channel in _SERVERS]
    cells = tuple(
        tuple(tuple(_build_cell(host, guest, isolation, containerd) for isolation in isolations) for host in hosts)
        for guest in guests
    )
    title = f"Which container runs on which host under containerd {containerd}"
    heads = (tuple(map(_build_head, guests)), tuple(map(_build_head, hosts)))
    return Grid(title, ("container", "host"), *heads, cells)


def of_fleet(plan: Plan, isolations: Sequence[Isolation] = ISOLATIONS) -> Grid:
    """Return the grid of a fleet: its classes over its pools; pools that are alike for this share a column."""
    classes = [item for item in plan.classes.values() if item.isolation in isolations]
    pools = list(_alike(plan.pools.values(), classes))
    cells = tuple(tuple((_class_cell(item, members[0]),) for members in pools) for item in classes)
    rows = tuple(Head(item.name, (resolve(item.guest).alias,)) for item in classes)
    return Grid("Which class runs in which pool", ("class", "pool"), rows, tuple(map(_pool_head, pools)), cells)


def to_data(grid: Grid) -> dict[str, Any]:
    """Return the grid as plain data, one entry a combination; builds are `10.0.<build>`."""
    row_key, column_key = grid.corner
    return {
        "title": grid.title,
        "combinations": [
            {
                row_key: row.name,
                column_key: column.name,
                "guest_build": cell.guest.label,
                "host_build": cell.host.label,
                "pool_guest_build": cell.pool_guest.label if cell.pool_guest else None,
                "isolation": cell.isolation,
                "containerd": cell.containerd,
                "result": cell.how,
                "reason": cell.reason,
            }
            for row, line in zip(grid.rows, grid.cells, strict=True)
            for column, cells in zip(grid.columns, line, strict=True)
            for cell in cells
        ],
    }


def mark(cells: Iterable[Cell]) -> str:
    """Return the letters of one place in the grid: `P H`, `h`, `could`, or `-`."""
    letters = []
    for cell in cells:
        if cell.how == "runs":
            letters.append(LETTERS[cell.isolation])
        elif cell.how == "pinned":
            letters.append(LETTERS[cell.isolation].lower())
        elif cell.how == "elsewhere":
            letters.append("could")
    return " ".join(letters) or "-"


def legend(grid: Grid) -> list[tuple[str, str]]:
    """Return what the marks of a grid mean."""
    meanings: Mapping[tuple[Isolation, How], tuple[str, str]] = {
        ("process", "runs"): ("P", "process isolation"),
        ("hyperv", "runs"): ("H", "Hyper-V isolation"),
        ("hyperv", "pinned"): ("h", "Hyper-V isolation, only in a pool whose pause image is of that guest"),
        ("process", "elsewhere"): ("could", "it would run there, but the class selects other pools"),
        ("hyperv", "elsewhere"): ("could", "it would run there, but the class selects other pools"),
    }
    found = {meaning: None for key, meaning in meanings.items() if key in grid.hows}
    return [*found, ("-", "does not run")]


def _build_cell(host: Build, guest: Build, isolation: Isolation, containerd: str) -> Cell:
    verdict = can_run(host, guest, isolation, containerd)
    how: How = "runs" if verdict.ok else "no"
    pool_guest = None
    if not verdict.ok and isolation == "hyperv":
        pinned = can_run(host, guest, isolation, containerd, guest)
        if pinned.ok:
            how, pool_guest, verdict = "pinned", guest, pinned
    return Cell(isolation, guest, host, pool_guest, containerd, how, verdict.reason)


def _class_cell(item: ClassPlan, pool: PoolPlan) -> Cell:
    host, guest, pool_guest = resolve(pool.host), resolve(item.guest), resolve(pool.guest)
    pinned = None if pool_guest == host else pool_guest
    verdict = can_run(host, guest, item.isolation, pool.containerd.version, pinned)
    how: How = "no"
    if verdict.ok:
        how = "runs" if pool.name in item.pools else "elsewhere"
    return Cell(item.isolation, guest, host, pinned, pool.containerd.version, how, verdict.reason)


def _alike(pools: Iterable[PoolPlan], classes: Sequence[ClassPlan]) -> Iterable[list[PoolPlan]]:
    groups: dict[tuple[object, ...], list[PoolPlan]] = {}
    members = [(item.name, frozenset(item.pools)) for item in classes]
    for pool in pools:
        selected = tuple(name for name, names in members if pool.name in names)
        groups.setdefault((pool.host, pool.guest, pool.containerd.version, selected), []).append(pool)
    return groups.values()


def _build_head(build: Build) -> Head:
    facts = build.facts
    name = build.alias if facts is None or facts.words else facts.version
    return Head(name, (str(build.number),))


def _pool_head(members: Sequence[PoolPlan]) -> Head:
    first = members[0]
    more = f" +{len(members) - 1}" if len(members) > 1 else ""
    guest = (f"guest {resolve(first.guest).alias}",) if first.guest != first.host else ()
    below = (resolve(first.host).alias, *guest, f"containerd {first.containerd.version}")
    return Head(f"{first.name}{more}", below)
