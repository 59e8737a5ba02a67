"""Archives made from data, hostile ones among them: the same bytes each time.

{zip: [members]}, {tar.gz: [members]}, or {zip: {members: […], cut: 20, trailing: text, format: gnu}}: so many bytes
less at the end, bytes after it, tar's dialect. A member is {name: …, content: text} or {name: …, size: bytes} or
{name: …, is: folder | symlink | hardlink | fifo | device, target: …}.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Member = Mapping[str, Any]
_TYPES = {
    "folder": tarfile.DIRTYPE,
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "fifo": tarfile.FIFOTYPE,
    "device": tarfile.CHRTYPE,
}
_FORMATS = {"gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT, "ustar": tarfile.USTAR_FORMAT}


def build(kind: str, given: Any) -> bytes:
    """Return the bytes of an archive of kind `zip` or `tar.gz`."""
    described: Mapping[str, Any] = given if isinstance(given, Mapping) else {"members": given}
    data = BUILDERS[kind](described["members"], str(described.get("format", "gnu")))
    data = data[: len(data) - int(described.get("cut", 0))]
    return data + str(described.get("trailing", "")).encode()


def _content(member: Member) -> bytes:
    if "size" in member:
        return (b"0123456789abcdef" * (int(member["size"]) // 16 + 1))[: int(member["size"])]
    return str(member.get("content", "")).encode()


def plain(kind: str, members: Sequence[Member]) -> bytes:
    """Return an archive without the compression around it, where it has one."""
    data = build(kind, members)
    return gzip.decompress(data) if kind == "tar.gz" else data


def packed(kind: str, data: bytes) -> bytes:
    """Return an archive with the compression around it."""
    return gzip.compress(data, mtime=0) if kind == "tar.gz" else data


def _tar(members: Sequence[Member], dialect: str) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=_FORMATS[dialect]) as archive:
        for member in members:
            info = tarfile.TarInfo(str(member["name"]))
            info.type = _TYPES.get(str(member.get("is")), tarfile.REGTYPE)
            info.linkname = str(member.get("target", ""))
            data = _content(member)
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=0)


def _zip(members: Sequence[Member], _: str) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            folder = member.get("is") == "folder"
            info = zipfile.ZipInfo("placeholder", (2026, 1, 1, 0, 0, 0))
            info.filename = str(member["name"]) + ("/" if folder else "")
            info.compress_type = zipfile.ZIP_STORED if folder else zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (stat.S_IFDIR if folder else stat.S_IFREG) << 16
            data = _content(member)
            if member.get("is") == "symlink":
                info.external_attr, data = stat.S_IFLNK << 16, str(member["target"]).encode()
            archive.writestr(info, data)
    return raw.getvalue()


BUILDERS: Mapping[str, Callable[[Sequence[Member], str], bytes]] = {"tar.gz": _tar, "zip": _zip}
