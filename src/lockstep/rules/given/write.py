"""Fixed files written back: as a whole, or not at all."""

from __future__ import annotations

import codecs
import shutil
from contextlib import suppress
from pathlib import Path

from lockstep.rules.given.read import GivenError


def write(file: str, before: str, after: str) -> None:
    """Replace a file's text; a byte order mark and the file's mode stay.

    Raises GivenError where the file no longer has the text `before`, or cannot be written.
    """
    target = Path(file).resolve()
    temporary = target.with_name(f".{target.name}.lockstep-new")
    try:
        content = target.read_bytes()
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        if content != mark + before.encode():
            raise GivenError(f"{file} was not fixed: it is not UTF-8, or has changed since it was read")
        temporary.write_bytes(mark + after.encode())
        shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise GivenError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from None
