"""A path in single quotes whose backslashes are doubled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lockstep.finding import Finding, Severity
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW426"

_DOUBLED = re.compile(r"'[A-Za-z]:\\\\[^']*'|'\\\\\\\\\.\\\\pipe[^']*'")


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each literal string with a doubled path. Source: toml.io v1.0.0: literal strings have no escaping."""
    for entry in config.entries():
        for match in _DOUBLED.finditer(config.text, entry.start, entry.end):
            message = "in single quotes nothing is escaped: this path has two backslashes each time"
            single = match[0].replace("\\\\", "\\")
            place = config.at(match.start(), len(match[0]))
            yield Finding(RULE, Severity.WARNING, entry.path, message, None, f"write {single}", place, single)
