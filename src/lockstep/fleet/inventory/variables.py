"""Single variables of an inventory's hosts, read through Ansible."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.fleet.inventory.origins import plain
from lockstep.fleet.inventory.through_ansible import opened


@dataclass(frozen=True, slots=True)
class Unevaluated:
    """The value of a variable that cannot be told here, because it needs what only a role or a play has."""

    said: str


def variables_of(
    path: Path, names: Collection[str], vault_password_file: Path | None = None
) -> dict[str, dict[str, Any]]:
    """Return those of these variables that each host has, by host; an inventory that Ansible cannot read has none."""
    from ansible.template import Templar  # noqa: PLC0415 - Ansible takes half a second to start

    found: dict[str, dict[str, Any]] = {}
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            loader, inventory, variables = opened(path, vault_password_file)
            visible = {name: variables.get_vars(host=host) for name, host in inventory.hosts.items()}
        except (Exception, SystemExit):  # noqa: BLE001 - plugins and scripts of all kinds run in there
            return {}
        for host, all_of_them in visible.items():
            templar = Templar(loader=loader, variables=all_of_them)
            found[host] = {name: _value(templar, all_of_them[name]) for name in names if name in all_of_them}
    return found


def _value(templar: Any, written: Any) -> Any:
    try:
        return plain(templar.template(written))
    except Exception as error:  # noqa: BLE001 - templates fail in all kinds of ways
        return Unevaluated(str(getattr(error, "message", None) or error))
