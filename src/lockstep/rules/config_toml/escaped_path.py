"""A path in double quotes that an escape sequence has broken."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lockstep.finding import Finding, Severity
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW427"

_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_BROKEN = re.compile(r'"(?:[A-Za-z]:|\\\\\\\\)(?:[^"\\]|\\[\\"uU])*?\\[btnfre]')


def find(config: ConfigToml) -> Iterator[Finding]:
    r"""Yield each path in which `\t`, `\b` and the like became one character. Source: toml.io v1.0.0, "String"."""
    for entry in config.entries():
        for match in _BASIC.finditer(config.text, entry.start, entry.end):
            if _BROKEN.match(match[0]):
                message = "in double quotes a backslash starts an escape sequence: this path holds a control character"
                literal = f"'{match[0][1:-1]}'"
                # With other escapes beside the broken one, what was meant is not certain.
                certain = literal if "\\\\" not in literal and literal.count("'") == 2 else None  # noqa: PLR2004 - its own two
                place = config.at(match.start(), len(match[0]))
                yield Finding(
                    RULE,
                    Severity.ERROR,
                    entry.path,
                    message,
                    None,
                    f"write it in single quotes: {literal}",
                    place,
                    certain,
                )
