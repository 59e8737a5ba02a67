"""Files: read, written and removed whole; what they replace is kept aside until the transaction is decided."""

from __future__ import annotations

import base64

from lockstep.node.contract import ContractError
from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.files import MIDDLE, NEW, OLD, REJECTED, Files, sha256
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result

_DEFAULT_MAX_BYTES = 10 * 1024 * 1024


def _read(context: Context, operation: Operation) -> Result:
    files, path = context.files, operation["path"]
    data = files.read(files.half_exchanged(path) or path, operation.get("max_bytes", _DEFAULT_MAX_BYTES))
    if data is None:
        return {"exists": False}
    return {"exists": True, "size": len(data), "sha256": sha256(data), "content": base64.b64encode(data).decode()}


def _digest(context: Context, operation: Operation) -> Result:
    files, path = context.files, operation["path"]
    data = files.read(files.half_exchanged(path) or path)
    return {"exists": False} if data is None else {"exists": True, "size": len(data), "sha256": sha256(data)}


def _check_content(operation: Operation) -> None:
    try:
        base64.b64decode(operation["content"], validate=True)
    except ValueError:
        raise ContractError(f"The content for {operation['path']} is not base64.") from None


def _former(context: Context, operation: Operation) -> list[Step]:
    path = operation["path"]
    state = {"existed": context.files.disk.exists(path), "backup": operation.get("backup") is True}
    return [Step("file", path, state)]


def _write(context: Context, operation: Operation, step: Step) -> Result:
    files, path, data = context.files, operation["path"], base64.b64decode(operation["content"])
    wanted, found = sha256(data), files.digest(path)
    if found == wanted:
        return {"changed": False, "sha256": wanted}
    expect(path, found, operation["expect_sha256"])
    step.touched = True
    files.write_beside(path, data)
    files.move_over(path + NEW, path, path + aside(files, path))
    return {"changed": True, "sha256": wanted}


def _remove(context: Context, operation: Operation, step: Step) -> Result:
    files, path = context.files, operation["path"]
    found = files.digest(path)
    if found is None:
        return {"changed": False}
    expect(path, found, operation["expect_sha256"])
    step.touched = True
    ending = aside(files, path)
    files.remove(path + MIDDLE)
    files.move(path, path + ending)
    return {"changed": True}


def expect(path: str, found: str | None, expected: str | None) -> None:
    """Raise OperationError where a file does not have the SHA-256 that is expected."""
    if found == expected:
        return
    words = [f"SHA-256 {digest}" if digest else "no file" for digest in (expected, found)]
    raise OperationError("conflict", f"{path} was changed by somebody else: expected {words[0]}, found {words[1]}.")


def aside(files: Files, path: str) -> str:
    """Return the former content's ending: aside once, for what an interrupted apply kept is what to go back to."""
    return MIDDLE if files.disk.exists(path + OLD) else OLD


def _resume(context: Context, step: Step) -> None:
    context.files.take_back_exchange(step.name)


def _admit(context: Context, step: Step) -> None:
    """Keep an old content that no journal speaks of: it is nothing to go back to, but may be all that is left."""
    if context.files.disk.exists(step.name + OLD):
        context.files.save_backup(step.name + OLD, step.name, context.journal.time)


def _undo(context: Context, step: Step) -> str | None:
    files, disk, name, kept = context.files, context.files.disk, step.name, None
    if disk.exists(name + OLD):
        kept = name + REJECTED if disk.exists(name) else None
        files.move_over(name + OLD, name, name + REJECTED)
    elif not step.state["existed"] and disk.exists(name):
        kept = name + REJECTED
        files.move_over(name, kept, name + MIDDLE)
    files.remove(name + NEW)
    files.remove(name + MIDDLE)
    return kept


def _finish(context: Context, step: Step) -> list[str]:
    files, name, backups = context.files, step.name, []
    if step.state["backup"] and files.disk.exists(name + OLD):
        backups.append(files.save_backup(name + OLD, name, context.journal.time))
    for ending in (OLD, NEW, MIDDLE, REJECTED):
        files.remove(name + ending)
    return backups


GROUP = Group(
    reads={"file.read": _read, "file.digest": _digest},
    applies={"file.write": Apply(_write, _former, _check_content), "file.remove": Apply(_remove, _former)},
    kinds={"file": Kind(_undo, _finish, _resume, _admit, renew=("backup",))},
)
