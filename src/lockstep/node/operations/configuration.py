"""Operations on files, services, programs and transactions."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lockstep.node.operations.types import Operation, Result


@dataclass(frozen=True, slots=True)
class Program:
    """A program on a node: a full `path`, or the program of a `service`, or the file `sibling` beside that program."""

    path: str | None = None
    service: str | None = None
    sibling: str | None = None

    def to_data(self) -> dict[str, str]:
        """Return the arguments that name this program."""
        named = {"path": self.path, "service": self.service, "sibling": self.sibling}
        return {key: value for key, value in named.items() if value is not None}


def sha256(content: bytes | None) -> str | None:
    """Return the SHA-256 of a file's bytes in lower-case hex digits, or None for a file that is not there."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def read_system() -> Operation:
    """Return the operation that asks which Windows this is."""
    return {"op": "system.read"}


def read_file(path: str, *, max_bytes: int | None = None) -> Operation:
    """Return the operation that reads a file, refusing one of more than `max_bytes` (default: see the contract)."""
    return {"op": "file.read", "path": path, **({} if max_bytes is None else {"max_bytes": max_bytes})}


def digest_file(path: str) -> Operation:
    """Return the operation that reads a file's size and SHA-256 without its content."""
    return {"op": "file.digest", "path": path}


def read_service(name: str) -> Operation:
    """Return the operation that reads a service's definition and state."""
    return {"op": "service.read", "name": name}


def run_program(program: Program, arguments: Sequence[str] = (), *, timeout_seconds: int = 30) -> Operation:
    """Return the operation that runs a program which only reports."""
    return {"op": "program.run", **program.to_data(), "arguments": list(arguments), "timeout_seconds": timeout_seconds}


def read_transaction(name: str) -> Operation:
    """Return the operation that asks whether an earlier apply of this name was interrupted."""
    return {"op": "transaction.read", "name": name}


def write_file(path: str, content: bytes, *, replaces: bytes | None, backup: bool = False) -> Operation:
    """Return the operation that gives a file `content`, if it still has `replaces` (None: is not there)."""
    encoded = base64.b64encode(content).decode("ascii")
    return {"op": "file.write", "path": path, "content": encoded, "expect_sha256": sha256(replaces), "backup": backup}


def remove_file(path: str, *, replaces: bytes | None, backup: bool = False) -> Operation:
    """Return the operation that removes a file, if it still has `replaces` (None: is not there)."""
    return {"op": "file.remove", "path": path, "expect_sha256": sha256(replaces), "backup": backup}


def configure_service(name: str, binary_path: str, *, replaces: str) -> Operation:
    """Return the operation that sets a registered service's command line, if it still is `replaces`."""
    return define_service(name, {"binary_path": binary_path}, replaces=replaces)


def define_service(name: str, definition: Mapping[str, object], *, replaces: str | None) -> Operation:
    """Return the operation that registers a service, or changes what differs, if its command line still is `replaces`.

    `definition` has any of binary_path, display_name, description, start_type, depends_on, environment, recovery, as
    `service.read` tells them. `replaces` None: the service is not there yet.
    """
    return {"op": "service.define", "name": name, "expect_binary_path": replaces, **definition}


def stop_service(name: str, *, timeout_seconds: int = 60) -> Operation:
    """Return the operation that stops a service and those that depend on it."""
    return {"op": "service.stop", "name": name, "timeout_seconds": timeout_seconds}


def restart_service(name: str, *, timeout_seconds: int = 60, settle_seconds: float = 3) -> Operation:
    """Return the operation that restarts a service and waits until it has been up for `settle_seconds`."""
    return {
        "op": "service.restart",
        "name": name,
        "timeout_seconds": timeout_seconds,
        "settle_seconds": settle_seconds,
    }


def check_program(
    program: Program, arguments: Sequence[str] = (), *, must_contain: Sequence[str] = (), timeout_seconds: int = 60
) -> Operation:
    """Return the operation that runs a program until it exits with 0 and its output holds all of `must_contain`."""
    return {
        "op": "program.check",
        **program.to_data(),
        "arguments": list(arguments),
        "timeout_seconds": timeout_seconds,
        "must_contain": list(must_contain),
    }


def content_of(result: Result) -> bytes | None:
    """Return the bytes that a `file.read` found, or None if there was no file."""
    return base64.b64decode(result["content"]) if result["exists"] else None
