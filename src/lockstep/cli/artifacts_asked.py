"""Which releases `lockstep artifacts` is to tell of: the description's, as the inventory's variables have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lockstep.artifacts.request import at_mirror
from lockstep.artifacts.sums import sums_problem
from lockstep.catalog.artifacts import SumsForm, artifact, default_version, known_artifacts
from lockstep.cli.command import InputError
from lockstep.fleet.inventory.variables import Unevaluated
from lockstep.fleet.plan import Plan

_VERSIONS = {
    "artifacts_containerd_version": "containerd",
    "artifacts_cni_plugins_version": "cni-plugins",
    "artifacts_crictl_version": "crictl",
    "artifacts_kubernetes_version": "kubelet",
    "artifacts_nssm_version": "nssm",
}
_LIST, _EXTRA, _MIRROR = "artifacts_list", "artifacts_extra", "artifacts_mirror"
VARIABLES = (*_VERSIONS, _LIST, _EXTRA, _MIRROR)
"""The variables of the role artifacts that say which releases there are, and where they come from."""


@dataclass(frozen=True, slots=True)
class Release:
    """One release: where its file is at its project, and its checksum, None where nobody publishes one."""

    name: str
    version: str
    url: str
    sums: str | None
    form: SumsForm | None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(slots=True)
class Asked:
    """The releases, each once; `problems` is what cannot be told, `notes` what somebody should know."""

    releases: dict[tuple[str, str], Release] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def ordered(self) -> list[Release]:
        """Return the releases in the order in which they are installed, others after them."""
        order = known_artifacts()
        return sorted(
            self.releases.values(),
            key=lambda each: (order.index(each.name) if each.name in order else len(order), each.name),
        )


def asked(
    plan: Plan | None,
    hosts: Mapping[str, Sequence[str]],
    variables: Mapping[str, Mapping[str, Any]],
    named: Mapping[str, str],
    mirror: str | None,
) -> Asked:
    """Return what is asked for. `named` are the artifacts of --artifact, with their versions or empty ones.

    `mirror` is that of --mirror: None takes the inventory's, empty the projects. Raises InputError.
    """
    found = Asked()
    for versions, own in _hosts(plan, hosts, variables):
        at = _mirror(own, found) if mirror is None else mirror or None
        for entry in _entries(versions, own, named, found):
            release = _release(entry, at, found)
            if release is not None:
                found.releases.setdefault((release.name, release.version), release)
    return found


def _hosts(
    plan: Plan | None, hosts: Mapping[str, Sequence[str]], variables: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[dict[str, str], Mapping[str, Any]]]:
    """Yield the versions of each pool's plan, with the variables of its hosts: those that are alike, once."""
    if plan is None:
        yield {}, {}
        return
    for name, pool in plan.pools.items():
        different = {repr(own): own for own in (variables.get(host, {}) for host in hosts.get(name, ()))}
        for own in different.values() or [{}]:
            yield {"containerd": pool.containerd.version, "kubelet": pool.kubelet.version}, own


def _entries(
    versions: dict[str, str], own: Mapping[str, Any], named: Mapping[str, str], found: Asked
) -> Iterator[dict[str, Any]]:
    """Yield the artifacts of a host, as the module node_artifacts takes them."""
    chosen = {name: version for name, version in named.items() if version}
    said = {name: own[variable] for variable, name in _VERSIONS.items() if variable in own and name not in chosen}
    for variable, name in _VERSIONS.items():
        if isinstance(said.get(name), Unevaluated):
            found.problems[_untold(variable, f"give it with --artifact {name}=VERSION")] = None
    known = {name: str(value) for name, value in said.items() if value and not isinstance(value, Unevaluated)}
    planned, versions = bool(versions), {**versions, **known, **chosen}
    items = own.get(_LIST)
    if isinstance(items, Unevaluated):
        found.problems[_untold(_LIST, "give what differs from the role's own list with --artifact NAME=VERSION")] = None
    if isinstance(items, list):
        yield from (entry for entry in items if isinstance(entry, dict) and entry.get("name") not in named)
    for name in known_artifacts():
        of_role = planned and not isinstance(items, list) and (name != "nssm" or name in known)
        if name in named or (of_role and (name not in said or name in known)):
            version = versions.get(name) or default_version(name, versions)
            if not version:
                raise InputError(f"--artifact {name}: say which version, {name}=VERSION")
            yield {"name": name, "version": version}
    extra = own.get(_EXTRA) if not isinstance(items, list) else None
    if isinstance(extra, Unevaluated):
        found.problems[_untold(_EXTRA, "give those that the catalogue knows with --artifact NAME=VERSION")] = None
    elif isinstance(extra, list):
        yield from (entry for entry in extra if isinstance(entry, dict))


def _release(entry: Mapping[str, Any], mirror: str | None, found: Asked) -> Release | None:
    """Return the release of an entry; None for one that has its SHA-256 with it, or of which too little is known."""
    name, version = str(entry.get("name", "")), str(entry.get("version") or "").removeprefix("v")
    if entry.get("sha256"):
        return None
    own = next((str(entry[key]) for key in ("url", "path", "src") if entry.get(key)), "")
    if name not in known_artifacts():
        if not version or not own:
            found.problems[f"{name or 'an artifact without a name'}: expected a version, and one of url, path, src"] = (
                None
            )
            return None
        return Release(name, version, own, entry.get("sha256_url"), None)
    version = version or default_version(name, {}) or ""
    if not version:
        found.problems[f"{name}: say which version, with --artifact {name}=VERSION"] = None
        return None
    facts = artifact(name, version)
    if entry.get("sha256_url"):
        return Release(name, facts.version, own or facts.url, str(entry["sha256_url"]), None)
    sums = at_mirror(facts.sums.url, mirror) if facts.sums else None
    return Release(name, facts.version, facts.url, sums, facts.sums.form if facts.sums else None)


def _mirror(own: Mapping[str, Any], found: Asked) -> str | None:
    mirror = own.get(_MIRROR)
    if isinstance(mirror, Unevaluated):
        found.problems[_untold(_MIRROR, "give it with --mirror URL, or --mirror '' for the projects themselves")] = None
    if not mirror or not isinstance(mirror, str):
        return None
    if sums_problem(mirror):
        found.notes[f"{_MIRROR} {mirror} is not https, so the projects themselves were asked for checksums"] = None
        return None
    return mirror


def _untold(variable: str, advice: str) -> str:
    return f"{variable} is a template that cannot be evaluated without a play: {advice}"


def file_of(release: Release) -> tuple[str, str]:
    """Return the path of a release's file at its project, and its name."""
    path = urlsplit(release.url).path if "://" in release.url else release.url.replace("\\", "/")
    return path.lstrip("/"), path.rpartition("/")[2]
