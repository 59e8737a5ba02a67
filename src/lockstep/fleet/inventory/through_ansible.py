"""Any inventory, read through Ansible itself: templates, vaults, plugins, scripts and settings included.

Source: ansible-core 2.19 - 2.21, lib/ansible/cli (`_play_prereqs`), inventory/manager, vars/manager, template.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from lockstep.finding import Finding, Place, Severity
from lockstep.fleet.inventory.contents import Inventory
from lockstep.fleet.inventory.origins import Origins, plain
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.description import Description
from lockstep.fleet.text.document import Document
from lockstep.words import shortened

UNREADABLE_INVENTORY = "LW024"
UNREADABLE_TEMPLATE = "LW025"

_LONGEST = 400
_FAILED = re.compile(
    r"Failed to parse inventory with '(?P<plugin>[\w.]+)' plugin: (?P<reason>.*?)(?: Failed to parse| <<<|$)"
)
_NO_PLUGIN = "no root 'plugin' key found"
"""What the plugin for configured plugins says to every other inventory."""
_UNREAD = re.compile(r"Unable to parse (?P<source>/.*?) as an inventory source")


def read_with_ansible(path: Path, shown: str, vault_password_file: Path | None = None) -> Inventory:
    """Return the inventory in a file or folder as Ansible sees it; what Ansible cannot read is a finding."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace", write_through=True)
    files = Files(path, shown)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            inventory = _read(path, files, vault_password_file)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - plugins, templates and scripts of all kinds run in there
        finding = _refused(error, files)
        return Inventory(findings=(finding,), documents=files.named_by(finding))
    said.seek(0)
    warnings = tuple(_warnings(said.read(), files))
    if not inventory.groups:
        return Inventory(
            findings=warnings or (_finding(UNREADABLE_INVENTORY, f"Ansible reads no inventory in {shown}"),)
        )
    return Inventory(inventory.groups, inventory.seen, inventory.idle, inventory.findings + warnings)


class Files:
    """The files that Ansible names, by the names that the user knows; each is read once."""

    def __init__(self, path: Path, shown: str) -> None:
        folder, folder_shown = (path, Path(shown)) if path.is_dir() else (path.parent, Path(shown).parent)
        self._roots = [(folder.resolve(), folder_shown), (folder.absolute(), folder_shown), (Path.cwd(), Path())]
        self._documents: dict[str, Document] = {}

    def shown(self, path: str) -> str:
        """Return the name to show for an absolute path."""
        for root, name in self._roots:
            if Path(path).is_relative_to(root):
                return str(name / Path(path).relative_to(root))
        return path

    def document(self, path: str) -> Document | None:
        """Return a file's document; None where it is encrypted or cannot be read, so that nothing of it is shown."""
        if path not in self._documents:
            self._documents[path] = source.read(Path(path), self.shown(path))
        document = self._documents[path]
        return None if document.root is None or document.text.startswith("$ANSIBLE_VAULT") else document

    def named_by(self, finding: Finding) -> tuple[Document, ...]:
        """Return the document that a finding is in, if it may be shown."""
        paths = [path for path in self._documents if finding.place and self.shown(path) == finding.place.file]
        return tuple(filter(None, map(self.document, paths)))

    def in_text(self, text: str) -> str:
        """Return a message with the names that the user knows instead of absolute ones."""
        for root, name in self._roots:
            text = text.replace(f"{root}/", "" if str(name) == "." else f"{name}/")
        return text


def opened(path: Path, vault_password_file: Path | None) -> tuple[Any, Any, Any]:
    """Return Ansible's own loader, inventory and variables of an inventory."""
    from ansible.inventory.manager import InventoryManager  # noqa: PLC0415
    from ansible.parsing.dataloader import DataLoader  # noqa: PLC0415
    from ansible.vars.hostvars import HostVars  # noqa: PLC0415
    from ansible.vars.manager import VariableManager  # noqa: PLC0415

    _find_collections()
    loader = DataLoader()
    loader.set_basedir(str((path if path.is_dir() else path.parent).absolute()))
    _unlock(loader, vault_password_file)
    inventory = InventoryManager(loader=loader, sources=[str(path.absolute())])
    variables = VariableManager(loader=loader, inventory=inventory)
    HostVars(inventory=inventory, variable_manager=variables, loader=loader)
    return loader, inventory, variables


def _read(path: Path, files: Files, vault_password_file: Path | None) -> Inventory:
    loader, inventory, variables = opened(path, vault_password_file)
    if not inventory._inventory.processed_sources:  # noqa: SLF001 - nothing public tells a source that failed
        return Inventory()
    templates = _Templates(loader, variables, files)
    groups = {
        name: tuple(host for host in inventory.hosts if host in members)
        for name, members in ((name, set(hosts)) for name, hosts in inventory.get_groups_dict().items())
    }
    seen = dict(templates.described(inventory.hosts.values()))
    idle = {} if seen else dict(templates.described(_probes(inventory.groups.values())))
    return Inventory(groups, seen, idle)


@cache
def _find_collections() -> None:
    """Let Ansible find plugins of installed collections; once for a process is all that it takes."""
    from ansible.plugins.loader import init_plugin_loader  # noqa: PLC0415 - as above

    init_plugin_loader()


def _unlock(loader: Any, vault_password_file: Path | None) -> None:
    """Give Ansible the vault passwords that its settings and the caller name, instead of any it had before."""
    from ansible.cli import CLI  # noqa: PLC0415
    from ansible.parsing.vault import VaultSecretsContext  # noqa: PLC0415

    from ansible import constants  # noqa: PLC0415 - as above

    files = [str(vault_password_file)] if vault_password_file else []
    identities = list(constants.DEFAULT_VAULT_IDENTITY_LIST)
    secrets = CLI.setup_vault_secrets(loader, identities, files, auto_prompt=False, initialize_context=False)
    context = VaultSecretsContext.current(optional=True)
    if context is None:
        VaultSecretsContext.initialize(VaultSecretsContext(secrets))
    else:
        context.secrets = secrets


def _probes(groups: Any) -> Iterator[Any]:
    """Yield a host for each group that is a member of that group alone and not of the inventory."""
    from ansible.inventory.host import Host  # noqa: PLC0415 - as above

    for group in groups:
        probe = Host(group.name)
        probe.add_group(group)
        yield probe


class _Templates:
    """Evaluates what hosts see; equal values are one description."""

    def __init__(self, loader: Any, variables: Any, files: Files) -> None:
        self._loader = loader
        self._variables = variables
        self._files = files
        self._known: list[Description] = []

    def described(self, hosts: Any) -> Iterator[tuple[str, Description]]:
        from ansible.template import Templar  # noqa: PLC0415 - as above

        for host in hosts:
            visible = self._variables.get_vars(host=host)
            if VARIABLE not in visible:
                continue
            value = visible[VARIABLE]
            try:
                evaluated = Templar(loader=self._loader, variables=visible).template(value)
                data = plain(evaluated)
            except Exception as error:
                raise TemplateError(host.name, value, error) from error
            origins = Origins(evaluated, value, self._files.document, self._files.shown)
            yield host.name, self._same(data, origins)

    def _same(self, data: Any, origins: Origins) -> Description:
        for known in self._known:
            if known.data == data and known.locator.key(()) == origins.key(()):
                return known
        description = Description(data, origins, origins.findings(), origins.documents())
        self._known.append(description)
        return description


class TemplateError(Exception):
    """A description that Ansible cannot evaluate for a host."""

    def __init__(self, host: str, value: Any, error: Exception) -> None:
        super().__init__(str(error))
        self.host = host
        self.value = value
        self.error = error


def _refused(error: BaseException, files: Files) -> Finding:
    if isinstance(error, TemplateError):
        origins = Origins(error.value, error.value, files.document, files.shown)
        message = f"Ansible cannot evaluate {VARIABLE} for '{error.host}': {_message(error.error, files)}"
        return Finding(UNREADABLE_TEMPLATE, Severity.ERROR, (), message, place=origins.failing(error.error))
    if isinstance(error, ImportError):
        return _finding(UNREADABLE_INVENTORY, f"this inventory needs ansible-core: {error}")
    finding = _finding(UNREADABLE_INVENTORY, f"Ansible cannot read the inventory: {_message(error, files)}")
    place = Origins(None, None, files.document, files.shown).failing(error)
    return Finding(finding.rule, finding.severity, (), finding.message, place=place)


def _message(error: BaseException, files: Files) -> str:
    """Return an Ansible error's own words, without the file excerpt that it adds."""
    text = str(getattr(error, "message", None) or error)
    return shortened(files.in_text(text).strip().rstrip("."), _LONGEST)


def _warnings(said: str, files: Files) -> Iterator[Finding]:
    """Yield a finding for each part of the inventory that Ansible could not parse and left out, with its reason."""
    reasons: dict[str, str] = {}
    unread: list[Path] = []
    for warning in said.split("[WARNING]: "):
        words = " ".join(warning.split())
        if failed := _FAILED.match(words):
            if _NO_PLUGIN not in failed["reason"]:
                reasons[failed["plugin"]] = failed["reason"].removeprefix("Failed to parse inventory: ")
        elif (match := _UNREAD.match(words)) and not any(Path(match["source"]) in path.parents for path in unread):
            unread.append(Path(match["source"]))
            name = files.shown(match["source"])
            order = ("script", "auto", "yaml", "ini") if name.endswith((".yml", ".yaml")) else ("script", "ini", "toml")
            reason = next((reasons[plugin] for plugin in order if plugin in reasons), "no plugin wants it")
            shown = shortened(files.in_text(reason), _LONGEST).rstrip(".")
            message = f"Ansible cannot read {name} as an inventory: {shown}"
            yield Finding(UNREADABLE_INVENTORY, Severity.ERROR, (), message, place=Place(name, 1, 1))
            reasons = {}


def _finding(rule: str, message: str) -> Finding:
    return Finding(rule, Severity.ERROR, (), message)
