"""Rules of Windows' firewall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.node.operations import Operation, Result, read_firewall, remove_firewall, write_firewall
from lockstep.windows.aspect import Aspect, Change, Line, Observed

TITLE = "firewall rules"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that is to be there for all profiles, or, `present` False, is not to be there. No ports: any."""

    name: str
    display_name: str
    protocol: str
    ports: tuple[str, ...] = ()
    direction: str = "inbound"
    action: str = "allow"
    present: bool = True

    @property
    def writing(self) -> Operation:
        """What makes it so."""
        if not self.present:
            return remove_firewall(self.name)
        return write_firewall(
            self.name,
            self.display_name,
            protocol=self.protocol,
            local_ports=self.ports,
            direction=self.direction,
            action=self.action,
        )


def reading(rules: Sequence[Rule]) -> list[Operation]:
    """Return what asks for these rules; nothing for none."""
    return [read_firewall([rule.name for rule in rules])] if rules else []


def compare(rules: Sequence[Rule], observed: Observed) -> Aspect:
    """Return what is to be written or removed.

    A rule that somebody narrowed, to addresses for example, stays narrowed as long as the rest is as described.
    """
    if not rules:
        return Aspect(TITLE)
    found = observed(*reading(rules))["rules"]
    lines = [Line(rule.name, _shown(found[rule.name]), _shown(_wanted(rule))) for rule in rules]
    changes = [
        Change(f"{'write' if rule.present else 'remove'} firewall rule {rule.name}", rule.writing)
        for rule, line in zip(rules, lines, strict=True)
        if not line.same
    ]
    return Aspect(TITLE, lines, changes)


def _wanted(rule: Rule) -> Result | None:
    return {**rule.writing, "enabled": True} if rule.present else None


def _shown(rule: Result | None) -> str | None:
    """Return a rule as text; two are the same where their texts are."""
    if rule is None:
        return None
    ports = ", ".join(sorted(rule["local_ports"], key=_port)) or "any port"
    state = "" if rule["enabled"] else ", off"
    return f"{rule['action']} {rule['direction']} {rule['protocol']} {ports}{state} ({rule['display_name']})"


def _port(text: str) -> tuple[int, str]:
    first = text.partition("-")[0]
    return (int(first) if first.isdigit() else 0, text)
