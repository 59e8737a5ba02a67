"""A description, wherever it stands: loaded, validated, located, derived."""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lockstep.finding import Finding, Severity
from lockstep.fleet.bare import bare_content, bare_description
from lockstep.fleet.inventory.contents import Inventory, check_hosts, chosen
from lockstep.fleet.model import Fleet, KubeletFields
from lockstep.fleet.plan import Plan
from lockstep.fleet.shape.assemble import assemble
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.construct import REPEATED_KEY
from lockstep.fleet.text.description import NO_FLEET, Description
from lockstep.fleet.text.document import Document
from lockstep.fleet.text.locate import Locator, Nowhere


@dataclass(frozen=True, slots=True)
class Loaded:
    """A description and what is wrong with it.

    `fleet` and `plan` are None as long as there is an error; `certain` is what the findings leave of the fleet, and
    `kubelet` has each pool's own KubeletConfiguration fields. `hosts` has each pool's inventory hosts (none for a bare
    file), `sources` the text of each file that findings are shown in, and `pools` and `classes` say how many of each
    are described.
    """

    fleet: Fleet | None = None
    findings: tuple[Finding, ...] = ()
    hosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    locator: Locator = field(default_factory=Nowhere)
    certain: Fleet | None = None
    kubelet: Mapping[str, KubeletFields] = field(default_factory=dict)
    plan: Plan | None = None
    pools: int = 0
    classes: int = 0

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def adding(self, findings: list[Finding]) -> Loaded:
        """Return the same with more findings, each at the place of its path."""
        placed = tuple(
            finding if finding.place else replace(finding, place=self.locator.value(finding.path))
            for finding in findings
        )
        different = {_said(finding): finding for finding in (*self.findings, *placed)}
        added = replace(self, findings=tuple(sorted(different.values(), key=order)))
        return replace(added, fleet=None, plan=None) if added.failed else added


def order(finding: Finding) -> tuple[str, int, int, str, str]:
    """Return what findings are sorted by: file, line, column, rule."""
    place = finding.place
    if place is None:
        return ("", 0, 0, finding.rule, finding.message)
    return (place.file, place.line, place.column, finding.rule, finding.message)


def _said(finding: Finding) -> Any:
    """Return what makes a finding another one for its reader: pools that share one text share its findings."""
    return (finding.rule, finding.place, finding.message) if finding.place else finding


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let Python look for no garbage meanwhile: in large trees without cycles that makes reading slower than linear."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def check(path: Path | str, *, vault_password_file: Path | None = None) -> Loaded:
    """Return the description in an inventory or a bare file with its plan, or with everything that is wrong with it."""
    return derived(load_fleet(path, vault_password_file=vault_password_file))


def check_content(content: bytes, shown: str) -> Loaded:
    """Return the same for the content of a bare file that cannot be read twice, such as standard input."""
    return derived(_loaded(bare_content(content, shown), Inventory(), []))


def check_data(data: Any) -> Loaded:
    """Return the same for a value of `lockstep_fleet` that Ansible has already evaluated, made of plain types."""
    return derived(_loaded(Description(data, Nowhere()), Inventory(), []))


@_without_collection()
def derived(loaded: Loaded) -> Loaded:
    """Return a loaded description with its plan and what derivation finds."""
    if loaded.certain is None:
        return loaded
    from lockstep.fleet.derivation.derive import derive  # noqa: PLC0415 - not needed for a description that cannot be read

    derivation = derive(loaded.certain)
    return replace(loaded, plan=derivation.plan if loaded.fleet else None).adding(list(derivation.findings))


@_without_collection()
def load_fleet(path: Path | str, *, vault_password_file: Path | None = None) -> Loaded:
    """Return the description in an inventory (a file or folder) or in a bare YAML file, validated but not derived.

    Variables beside a playbook, extra variables and `vars_files` are no part of an inventory and are not seen.
    """
    shown = os.fspath(path)
    path = Path(path)
    try:
        folder = _is_folder(path)
    except OSError as error:
        return _loaded(None, Inventory(findings=source.unreadable(shown, error).findings), [])
    bare = None if folder else bare_description(path, shown)
    if bare:
        return _loaded(bare, Inventory(), [])
    inventory = read_inventory(path, shown, vault_password_file)
    description, findings = chosen(inventory)
    if description is None and not inventory.findings:
        message = f"no host of {shown} sees {VARIABLE}"
        fix = f"describe the fleet as {VARIABLE} in group_vars of a group that holds all Windows nodes"
        findings.append(Finding(NO_FLEET, Severity.ERROR, (), message, None, fix))
    return _loaded(description, inventory, findings)


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder and not a file. Raises OSError for what is not there or cannot be looked at."""
    folder = stat.S_ISDIR(path.stat().st_mode)
    if folder:
        os.listdir(path)  # noqa: PTH208 - pathlib's iterdir only fails when its first item is asked for
    return folder


def read_inventory(path: Path, shown: str, vault_password_file: Path | None = None) -> Inventory:
    """Return what an inventory says: read without Ansible where that is certain to be the same."""
    from lockstep.fleet.inventory.groups import Uncertain  # noqa: PLC0415
    from lockstep.fleet.inventory.settings import ansible_decides  # noqa: PLC0415 - a bare file needs none of these
    from lockstep.fleet.inventory.static import read_static  # noqa: PLC0415

    if not ansible_decides(path):
        with suppress(Uncertain):
            return read_static(path, shown)
    from lockstep.fleet.inventory.through_ansible import read_with_ansible  # noqa: PLC0415 - Ansible takes half a second to start

    return read_with_ansible(path, shown, vault_password_file)


def _loaded(description: Description | None, inventory: Inventory, findings: list[Finding]) -> Loaded:
    findings = [*inventory.findings, *findings]
    documents: tuple[Document, ...] = inventory.documents
    if description is None:
        return Loaded(sources=_texts(documents)).adding(findings)
    repeated = [finding.path for finding in description.findings if finding.rule == REPEATED_KEY]
    assembled = assemble(description.data, description.locator, repeated)
    certain = assembled.fleet
    findings += [*description.findings, *assembled.findings]
    hosts: Mapping[str, tuple[str, ...]] = {}
    if certain and inventory.groups:
        groups = {name: pool.group for name, pool in certain.pools.items()}
        hosts, more = check_hosts(groups, inventory, description.locator)
        findings += more
    counts = [len(_mapping(_mapping(description.data).get(key))) for key in ("pools", "runtime_classes")]
    return Loaded(
        fleet=certain,
        hosts=hosts,
        sources=_texts((*documents, *_documents([description, *inventory.seen.values()]))),
        locator=description.locator,
        certain=certain,
        kubelet=assembled.kubelet,
        pools=counts[0],
        classes=counts[1],
    ).adding(findings)


def _documents(descriptions: list[Description]) -> tuple[Document, ...]:
    """Return the documents of the descriptions that hosts see, each once."""
    different = {id(description): description for description in descriptions}
    return tuple(document for description in different.values() for document in description.documents)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(documents: tuple[Document, ...]) -> dict[str, str]:
    return {document.file: document.text for document in documents if document.text}
