"""WS-Management messages: reading requests, writing replies and faults.

Sources: MS-WSMV (Web Services Management Protocol Extensions), DMTF DSP0226, and the replies that pywinrm and
pypsrp read.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4
from xml.sax.saxutils import escape, quoteattr

SHELL_RESOURCE = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell/cmd"
CREATE = "http://schemas.xmlsoap.org/ws/2004/09/transfer/Create"
DELETE = "http://schemas.xmlsoap.org/ws/2004/09/transfer/Delete"
SHELL = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell"
COMMAND = f"{SHELL}/Command"
SEND = f"{SHELL}/Send"
RECEIVE = f"{SHELL}/Receive"
SIGNAL = f"{SHELL}/Signal"
FAULT = "http://schemas.dmtf.org/wbem/wsman/1/wsman/fault"

NAMESPACES = {
    "s": "http://www.w3.org/2003/05/soap-envelope",
    "a": "http://schemas.xmlsoap.org/ws/2004/08/addressing",
    "w": "http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd",
    "x": "http://schemas.xmlsoap.org/ws/2004/09/transfer",
    "p": "http://schemas.microsoft.com/wbem/wsman/1/wsman.xsd",
    "rsp": SHELL,
}
_DECLARATIONS = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
_WSMAN_FAULT = "http://schemas.microsoft.com/wbem/wsman/1/wsmanfault"
_DURATION = re.compile(r"^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$")
_DEFAULT_TIMEOUT_SECONDS = 60.0
_DEFAULT_MAX_ENVELOPE = 153600


class MalformedError(Exception):
    """The bytes are not a WS-Management request; the text says why."""


class Fault(Exception):  # noqa: N818 - SOAP's own word
    """A SOAP fault to answer with: HTTP 500, WS-Management's own fault number where it is known."""

    def __init__(
        self, reason: str, *, subcode: str = "w:InternalError", number: int | None = None, sender: bool = True
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.subcode = subcode
        self.number = number
        self.sender = sender


@dataclass(frozen=True, slots=True)
class Message:
    """One request.

    `timeout` is OperationTimeout in seconds, `max_envelope` the largest reply in bytes that the client takes.
    """

    action: str
    message_id: str
    resource: str
    shell_id: str | None
    timeout: float
    max_envelope: int
    options: Mapping[str, str]
    body: ET.Element


def parse(data: bytes) -> Message:
    """Read a request; raises MalformedError."""
    if b"<!DOCTYPE" in data:
        raise MalformedError("a SOAP message holds no document type declaration")
    try:
        # The declaration that entity attacks need was refused above (SOAP 1.2 forbids it too).
        root = ET.fromstring(data)  # noqa: S314
    except ET.ParseError as error:
        raise MalformedError(f"not XML: {error}") from None
    body = root.find("s:Body", NAMESPACES)
    action = root.findtext("s:Header/a:Action", None, NAMESPACES)
    if body is None or action is None:
        raise MalformedError("no SOAP 1.2 envelope with a:Action and a body")
    options = {
        option.get("Name", ""): option.text or ""
        for option in root.findall("s:Header/w:OptionSet/w:Option", NAMESPACES)
    }
    selectors = root.findall("s:Header/w:SelectorSet/w:Selector", NAMESPACES)
    envelope = root.findtext("s:Header/w:MaxEnvelopeSize", "", NAMESPACES).strip()
    return Message(
        action=action.strip(),
        message_id=root.findtext("s:Header/a:MessageID", "", NAMESPACES).strip(),
        resource=root.findtext("s:Header/w:ResourceURI", "", NAMESPACES).strip(),
        shell_id=next((selector.text for selector in selectors if selector.get("Name") == "ShellId"), None),
        timeout=_seconds(root.findtext("s:Header/w:OperationTimeout", "", NAMESPACES).strip()),
        max_envelope=int(envelope) if envelope.isdigit() else _DEFAULT_MAX_ENVELOPE,
        options=options,
        body=body,
    )


def _seconds(duration: str) -> float:
    match = _DURATION.match(duration)
    if match is None:
        return _DEFAULT_TIMEOUT_SECONDS
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def reply(message: Message, action: str, body: str) -> bytes:
    """Return the envelope of a reply: `body` is XML text that uses the prefixes of NAMESPACES."""
    return _envelope(action, message.message_id, body)


def fault(message_id: str, problem: Fault) -> bytes:
    """Return the envelope of a fault."""
    number = (
        f'<s:Detail><f:WSManFault xmlns:f="{_WSMAN_FAULT}" Code="{problem.number}" Machine="localhost">'
        f"<f:Message>{escape(problem.reason)}</f:Message></f:WSManFault></s:Detail>"
        if problem.number is not None
        else ""
    )
    body = (
        f"<s:Fault><s:Code><s:Value>s:{'Sender' if problem.sender else 'Receiver'}</s:Value>"
        f"<s:Subcode><s:Value>{problem.subcode}</s:Value></s:Subcode></s:Code>"
        f'<s:Reason><s:Text xml:lang="en-US">{escape(problem.reason)}</s:Text></s:Reason>{number}</s:Fault>'
    )
    return _envelope(FAULT, message_id, body)


def _envelope(action: str, relates_to: str, body: str) -> bytes:
    return (
        f'<s:Envelope xml:lang="en-US" {_DECLARATIONS}><s:Header>'
        f"<a:Action>{action}</a:Action><a:MessageID>uuid:{str(uuid4()).upper()}</a:MessageID>"
        "<a:To>http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous</a:To>"
        f"<a:RelatesTo>{escape(relates_to)}</a:RelatesTo></s:Header><s:Body>{body}</s:Body></s:Envelope>"
    ).encode()


def attribute(value: str) -> str:
    """Return a value as a quoted XML attribute."""
    return quoteattr(value)
