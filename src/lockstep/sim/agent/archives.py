"""Reading archives as the agent does: plain files with plain names, all of it looked at before anything counts."""

from __future__ import annotations

import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lockstep.sim.agent.failure import OperationError

# A node takes four times as much; here it is all in memory.
MOST_UNPACKED = 1 << 30
MOST_MEMBERS = 100_000
_SHOWN = 10
_LONGEST = 200
_BLOCK = 512
_END_OF_ZIP = b"PK\x05\x06"
# Source: Microsoft Learn, "Naming Files, Paths, and Namespaces".
_DEVICE = re.compile(r"^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[\x00-\x1f<>"|?*\\/:]')


def name_problem(name: str) -> str | None:
    """Return what keeps a file of this name from being no more than a file of its folder on Windows."""
    if name == "..":
        return "leads out of the archive's folder"
    if _FORBIDDEN.search(name):
        return "has a character that no file name has on Windows"
    if not name or name[-1] in ". ":
        return "has a part that Windows takes for another name"
    return "has the name of a device of Windows" if _DEVICE.match(name) else None


def unsafe(message: str) -> OperationError:
    """Return the error for an archive that is refused."""
    return OperationError("unsafe_archive", f"{message} Nothing of it was unpacked.")


def unpack(data: bytes, form: str, members: Sequence[Mapping[str, str]]) -> dict[str, bytes]:
    """Return the wanted members by the names that they get, all of them where none is named; raises OperationError."""
    selection = _Selection(members)
    if form == "zip":
        _unzip(data, selection)
    else:
        _untar(data, selection)
    selection.check_all_found()
    return selection.files


@dataclass(slots=True)
class _Selection:
    members: Sequence[Mapping[str, str]]
    files: dict[str, bytes] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    seen: list[str] = field(default_factory=list)
    count: int = 0
    size: int = 0

    def target(self, name: str, size: int, *, folder: bool) -> str | None:
        """Count a member; the name that it gets, None where nobody wants it."""
        path = _path(name)
        self.count += 1
        self.size += 0 if folder else size
        if self.count > MOST_MEMBERS:
            raise unsafe(f"It has more than {MOST_MEMBERS} members.")
        if self.size > MOST_UNPACKED:
            raise unsafe(f"It unpacks to more than {MOST_UNPACKED} bytes.")
        if folder or not path:
            return None
        self.seen.append(_shown(path))
        wanted = [one["to"] for one in self.members if one["from"] == path]
        if not self.members:
            wanted = [path.rpartition("/")[2]]
        if not wanted:
            return None
        if wanted[0].lower() in self.taken:
            raise unsafe(f"Its member {_shown(path)} would overwrite another of the name {wanted[0]}.")
        self.taken.add(wanted[0].lower())
        return wanted[0]

    def check_all_found(self) -> None:
        for one in self.members:
            if one["to"] not in self.files:
                more = ", ..." if self.count > len(self.seen[:_SHOWN]) else ""
                has = ", ".join(self.seen[:_SHOWN])
                raise OperationError("missing", f"The archive has no {one['from']}. It has {has}{more}")
        if not self.files:
            raise OperationError("missing", "The archive has no files.")


def _shown(name: str) -> str:
    text = re.sub(r"[^\x20-\x7e]", "?", name)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _path(name: str) -> str:
    path = re.sub(r"^(\./)+", "", name).removesuffix("/")
    if path in ("", "."):
        return ""
    absolute = path.startswith("/") or re.match("[A-Za-z]:", path)
    for part in path.split("/"):
        problem = "is a full path" if absolute else name_problem(part)
        if problem:
            raise unsafe(f"Its member {_shown(name)} {problem}.")
    return path


def _untar(data: bytes, selection: _Selection) -> None:
    raw = _gunzip(data)
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
            for member in archive:
                _take(archive, member, selection)
            end = archive.offset
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise unsafe(f"It is damaged: {error}") from None
    # The reader stops where no header can be read: before the block of zeros that ends an archive, if all is well.
    if len(raw) < end + _BLOCK:
        raise unsafe("It is cut off.")
    if raw[end:].strip(b"\0"):
        raise unsafe("Something comes after its end.")


def _gunzip(data: bytes) -> bytes:
    reader = zlib.decompressobj(wbits=31)
    try:
        raw = reader.decompress(data, MOST_UNPACKED + 1)
    except zlib.error:
        raise unsafe("It is no tar.gz.") from None
    if len(raw) > MOST_UNPACKED:
        raise unsafe(f"It unpacks to more than {MOST_UNPACKED} bytes.")
    if not reader.eof:
        raise unsafe("It is cut off.")
    if reader.unused_data:
        raise unsafe("It is cut off, or something comes after its end.")
    return raw


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, selection: _Selection) -> None:
    # tarfile takes a slash off the end of a folder's name only.
    target = selection.target(member.name, member.size, folder=member.isdir())
    if not member.isreg() and not member.isdir():
        raise unsafe(f"Its member {_shown(member.name)} is a link or a device.")
    if member.issparse():
        raise unsafe(f"Its member {_shown(member.name)} is a sparse file.")
    stream = archive.extractfile(member) if target is not None else None
    if stream is None or target is None:
        return
    content = stream.read()
    if len(content) != member.size:
        raise unsafe(f"It ends within {target}, after {len(content)} of {member.size} bytes.")
    selection.files[target] = content


def _unzip(data: bytes, selection: _Selection) -> None:
    end = data.rfind(_END_OF_ZIP)
    if end < 0:
        raise unsafe("It is no zip, or it is cut off.")
    if end + 22 + int.from_bytes(data[end + 20 : end + 22], "little") != len(data):
        raise unsafe("It is cut off, or something comes after its end.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            wanted = list(_listed(archive, selection))
            for member, target in wanted:
                selection.files[target] = archive.read(member)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error) as error:
        raise unsafe(f"It is damaged: {error}") from None


def _listed(archive: zipfile.ZipFile, selection: _Selection) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """Yield the members that are wanted, each with its name, and look at all of them."""
    for member in archive.infolist():
        shown = f"Its member {_shown(member.orig_filename)}"
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or member.external_attr & 0x400:
            raise unsafe(f"{shown} is a link or a device.")
        if member.flag_bits & 0x2041:
            raise unsafe(f"{shown} is encrypted.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise unsafe(f"{shown} is packed by method {member.compress_type}, which is not read.")
        name = member.orig_filename
        target = selection.target(name, member.file_size, folder=name.endswith("/"))
        if target is not None:
            yield member, target
