"""WinRM's message encryption: SOAP sealed by the NTLM session, in a multipart/encrypted body.

Source: MS-WSMV 2.2.9.1 (Encrypted Message Types).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spnego import ContextProxy

BOUNDARY = b"--Encrypted Boundary"
PROTOCOL = "application/HTTP-SPNEGO-session-encrypted"
CONTENT_TYPE = f'multipart/encrypted;protocol="{PROTOCOL}";boundary="Encrypted Boundary"'
_OCTETS = b"\tContent-Type: application/octet-stream\r\n"
_SIGNATURE_LENGTH = struct.Struct("<i")


class SealError(Exception):
    """The body is not a message that this session has sealed; the text says why."""


def unseal(context: ContextProxy | None, body: bytes) -> bytes:
    """Return the SOAP message in an encrypted body; raises SealError."""
    if context is None:
        raise SealError("an encrypted message outside an NTLM session")
    parts = [part for part in body.removesuffix(BOUNDARY + b"--\r\n").split(BOUNDARY + b"\r\n") if part]
    if len(parts) != 2 or b"Length=" not in parts[0] or not parts[1].startswith(_OCTETS):  # noqa: PLR2004 (header and payload)
        raise SealError("not a multipart/encrypted body of two parts")
    sealed = parts[1].removeprefix(_OCTETS)
    (length,) = _SIGNATURE_LENGTH.unpack_from(sealed)
    start = _SIGNATURE_LENGTH.size
    signature, data = sealed[start : start + length], sealed[start + length :]
    try:
        message: bytes = context.unwrap_winrm(signature, data)
    except Exception as error:
        # spnego raises several kinds of error for one thing: the signature does not fit this session.
        raise SealError(f"the signature does not fit: {error}") from error
    if len(message) != int(parts[0].split(b"Length=")[1].strip()):
        raise SealError("the message is not as long as its header says")
    return message


def seal(context: ContextProxy, message: bytes) -> bytes:
    """Return an encrypted body that holds `message`."""
    wrapped = context.wrap_winrm(message)
    return b"".join(
        (
            BOUNDARY,
            b"\r\n\tContent-Type: ",
            PROTOCOL.encode(),
            b"\r\n\tOriginalContent: type=application/soap+xml;charset=UTF-8;Length=",
            str(len(message)).encode(),
            b"\r\n",
            BOUNDARY,
            b"\r\n",
            _OCTETS,
            _SIGNATURE_LENGTH.pack(len(wrapped.header)),
            wrapped.header,
            wrapped.data,
            BOUNDARY,
            b"--\r\n",
        )
    )
