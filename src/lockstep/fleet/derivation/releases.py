"""The pools' containerd and Kubernetes releases: known, fit for each other, for the host, and for one cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from lockstep.catalog.builds import Build
from lockstep.catalog.containerd import Series, UnknownSeries, known_series, series
from lockstep.catalog.data import known_until
from lockstep.catalog.kubernetes import Minor, UnknownMinor, handlers_listed_from, minor
from lockstep.catalog.versions import Version, VersionError
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.model import Fleet, Pool

UNKNOWN_RELEASE = "LW260"
UNSUPPORTED_PAIR = "LW261"
TOO_FAR_APART = "LW262"
UNSUPPORTED_HOST = "LW263"
UNLISTED_MINOR = "LW265"
CONTAINERD_ENDED = "LW267"
HANDLERS_UNSEEN = "LW268"


def release_findings(fleet: Fleet) -> Iterator[Finding]:
    """Yield what is wrong with the pools' containerd and Kubernetes releases, once for each release or pair."""
    yield from _release_by_release(fleet)
    minors: dict[Minor, Pool] = {}
    seen: set[tuple[str, ...]] = set()
    for pool in fleet.pools.values():
        try:
            found, containerd = minor(pool.kubernetes), Version.parse(pool.containerd)
        except (UnknownMinor, VersionError):
            continue
        minors.setdefault(found, pool)
        if (pair := (found.name, pool.containerd)) not in seen:
            seen.add(pair)
            yield from _pair_findings(pool, found, containerd, _release_path(fleet, pool, "containerd"))
        if (on := (found.name, pool.host.label)) not in seen:
            seen.add(on)
            yield from _host_findings(pool, found)
    yield from _skew_findings(minors)


def _release_by_release(fleet: Fleet) -> Iterator[Finding]:
    pools = list(fleet.pools.values())[::-1]
    for pool in {pool.containerd: pool for pool in pools}.values():
        path = _release_path(fleet, pool, "containerd")
        try:
            yield from _ended(series(pool.containerd), path)
        except (UnknownSeries, VersionError) as error:
            yield _unknown_release(error, path)
    for pool in {pool.kubernetes: pool for pool in pools}.values():
        path = _release_path(fleet, pool, "kubernetes")
        try:
            if not minor(pool.kubernetes).known:
                message = f"Kubernetes {pool.kubernetes} is newer than the catalogue"
                hint = "it is treated as the newest that is known; what it removed or added is not seen"
                yield Finding(UNLISTED_MINOR, Severity.WARNING, path, message, hint)
        except UnknownMinor as error:
            yield _unknown_release(error, path)


def _unknown_release(error: ValueError, path: DataPath) -> Finding:
    what, _, expected = str(error).partition(": ")
    return Finding(UNKNOWN_RELEASE, Severity.ERROR, path, what, expected or None)


def _ended(found: Series, path: DataPath) -> Iterator[Finding]:
    if not _supported(found):
        message = f"support of containerd {found.name} ended on {found.ends}"
        supported = [name for name in known_series() if _supported(series(f"{name}.0"))]
        fix = f"upgrade to {' or '.join(supported)}" if supported else None
        yield Finding(CONTAINERD_ENDED, Severity.WARNING, path, message, fix=fix)


def _supported(found: Series) -> bool:
    return found.ends is None or found.ends >= known_until()


def _pair_findings(pool: Pool, found: Minor, containerd: Version, path: DataPath) -> Iterator[Finding]:
    """Yield a warning where containerd's own table leaves the pair out; a series newer than all of it passes."""
    listed = [Version.parse(release) for release in found.containerd]
    if not listed or containerd.minor_text not in {entry.minor_text for entry in listed}:
        works = not listed or containerd > max(listed)
    else:
        works = any(entry.minor_text == containerd.minor_text and entry <= containerd for entry in listed)
    if not works:
        message = f"containerd {pool.containerd} is not supported with Kubernetes {found.name}"
        hint = f"expected {', '.join(f'{entry.minor_text} from {entry}' for entry in listed)}"
        yield Finding(UNSUPPORTED_PAIR, Severity.WARNING, path, message, hint)


def _host_findings(pool: Pool, found: Minor) -> Iterator[Finding]:
    if found.windows_server and pool.host.facts and pool.host.number not in found.windows_server:
        message = f"Kubernetes {found.name} does not support nodes on {pool.host}"
        hint = f"expected {' or '.join(Build(number).product for number in found.windows_server)}"
        yield Finding(UNSUPPORTED_HOST, Severity.WARNING, ("pools", pool.name, "host"), message, hint)


def _skew_findings(minors: Mapping[Minor, Pool]) -> Iterator[Finding]:
    if not minors:
        return
    newest = max(minors, key=lambda found: found.number)
    for found, pool in minors.items():
        if newest.number[1] - found.number[1] > found.older_than_server:
            message = f"no kube-apiserver supports kubelets of {newest.name} and of {found.name}"
            most = f"a kubelet of {found.name} may be {found.older_than_server} minors older at most"
            hint = f"pool {minors[newest].name} has {newest.name}; {most}"
            yield Finding(TOO_FAR_APART, Severity.WARNING, ("pools", pool.name, "kubernetes"), message, hint)


def unseen_handlers(fleet: Fleet, names: Collection[str]) -> Iterator[Finding]:
    """Yield a warning for each pair of releases whose nodes do not say which handlers they have.

    `names` are the pools that can be planned for and have more than containerd's default handler.
    """
    seen: set[tuple[str, str]] = set()
    for name in sorted(names):
        pool = fleet.pools[name]
        found, containerd = minor(pool.kubernetes), Version.parse(pool.containerd)
        pair = (found.name, containerd.minor_text)
        if found.lists_handlers(containerd) or pair in seen:
            continue
        seen.add(pair)
        since, first = handlers_listed_from()
        message = f"nodes with Kubernetes {found.name} and containerd {pair[1]} do not list their handlers"
        hint = f"a Node's status has them from Kubernetes {since} with containerd {first}"
        key: Literal["kubernetes", "containerd"] = "containerd" if containerd < first else "kubernetes"
        fix = "upgrade, or ask each node: containerd config dump"
        yield Finding(HANDLERS_UNSEEN, Severity.WARNING, _release_path(fleet, pool, key), message, hint, fix)


def _release_path(fleet: Fleet, pool: Pool, key: Literal["kubernetes", "containerd"]) -> DataPath:
    """Return where a pool's release is written: for the whole fleet, or on the pool."""
    return (key,) if getattr(pool, key) == getattr(fleet, key) else ("pools", pool.name, key)
