"""How a request travels to a node and a reply back: one command line, one line of ASCII JSON each way.

The command line holds a constant bootstrap only; the agent and its request go to standard input, because WinRM's
command line ends at about 8,000 characters. Source for the form of the command: ansible-core's winrm, psrp and ssh
connections start exactly this without wrapping it again (plugins/connection/psrp.py runs the encoded script in its own
runspace and gives it standard input as $input).

The agent is sent anew with every request: its 110 KB take a quarter of a second beside PowerShell's start (medians of
7: 1.04 s with them, 0.79 s without), while a copy on the node would have to be found, compared and guarded.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from lockstep.node import script
from lockstep.node.contract import ContractError, check_response, contract
from lockstep.node.errors import ProtocolError

_CLIXML = re.compile(r"#< CLIXML\s*(<Objs.*?</Objs>)", re.DOTALL)
_CLIXML_ERROR = re.compile(r'<S S="Error">(.*?)</S>', re.DOTALL)
_CLIXML_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")
_SEEN_LINES = 12
_SEEN_WIDTH = 300


@functools.cache
def command_line() -> str:
    """Return the command that starts the agent: always the same text."""
    bootstrap = files(__package__).joinpath("bootstrap.ps1").read_text("ascii")
    encoded = base64.b64encode(bootstrap.encode("utf-16-le")).decode("ascii")
    return f"PowerShell -NoProfile -NonInteractive -ExecutionPolicy Unrestricted -EncodedCommand {encoded}"


def standard_input(request: Mapping[str, Any]) -> bytes:
    """Return what the bootstrap reads: the agent and the request as one line of ASCII JSON."""
    return envelope(script.agent(), request)


def envelope(text: str, request: Mapping[str, Any]) -> bytes:
    """Return the line that makes the bootstrap run a script with a request; `end` tells it that the line is whole."""
    return (json.dumps({"script": text.splitlines(), "request": request, "end": True}) + "\n").encode("ascii")


def parse_reply(request: Mapping[str, Any], returncode: int, stdout: str, stderr: str) -> dict[str, Any]:
    """Return the agent's response to `request`, checked against the contract.

    Raises ProtocolError with what was seen where there is none, or one that is cut off or not of the contract.
    """
    markers = contract()["markers"]
    _, begin, rest = stdout.partition(markers["begin"])
    body, end, _ = rest.partition(markers["end"])
    if not begin:
        raise ProtocolError(_unheard("the node did not answer as the agent does", returncode, stdout, stderr))
    if not end:
        raise ProtocolError(
            _unheard("the agent's answer is cut off: its end marker is missing", returncode, "", stderr)
        )
    try:
        # A console may have wrapped the line; JSON has no line break of its own, so nothing is lost by joining.
        response: dict[str, Any] = json.loads("".join(body.splitlines()))
        check_response(request, response)
    except json.JSONDecodeError as error:
        raise ProtocolError(
            f"the agent's answer is no JSON ({error.msg} at character {error.pos} of {len(body)})"
        ) from None
    except ContractError as error:
        raise ProtocolError(
            f"the agent's answer is not of contract {contract()['version']}: {error}. "
            "Is another version of lockstep in the way on the controller?"
        ) from None
    return response


def clixml_text(stderr: str) -> str:
    """Return standard error as PowerShell meant it: error records in CLIXML become their text, other text stays."""

    def decode(match: re.Match[str]) -> str:
        records = "".join(_CLIXML_ERROR.findall(match[1]))
        plain = _CLIXML_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), html.unescape(records))
        return _TERMINAL_CODE.sub("", plain)

    return _CLIXML.sub(decode, stderr).replace("\r\n", "\n").strip()


def _unheard(what: str, returncode: int, stdout: str, stderr: str) -> str:
    """Say what came instead of an answer. Standard input, which may hold secrets, is never part of it."""
    lines = [f"{what} (exit status {returncode})"]
    for name, text in (("standard error", clixml_text(stderr)), ("standard output", stdout.strip())):
        seen = [line.rstrip()[:_SEEN_WIDTH] for line in text.splitlines() if line.strip()]
        if seen:
            lines += [f"{name}:", *(f"  {line}" for line in seen[:_SEEN_LINES])]
            if len(seen) > _SEEN_LINES:
                lines.append(f"  … and {len(seen) - _SEEN_LINES} more lines")
    if len(lines) == 1:
        lines.append("Nothing was printed at all: was the connection dropped, or PowerShell kept from starting?")
    lines.append("Check that this host is Windows with PowerShell 5.1, and that the connection is winrm, psrp or ssh.")
    return "\n".join(lines)
