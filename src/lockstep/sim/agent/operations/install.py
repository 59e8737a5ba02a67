"""Programs: a file of the store is put in its place, by two renames: a program that runs can be renamed only."""

from __future__ import annotations

from lockstep.node.contract import ContractError
from lockstep.sim.agent.archives import name_problem
from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.files import MIDDLE, NEW, OLD, REJECTED, sha256
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.operations.files import aside, expect
from lockstep.sim.agent.store import MANIFEST, Store
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result


def _check(operation: Operation) -> None:
    for key in ("entry", "file"):
        if name_problem(operation[key]):
            raise ContractError(f"file.install: {operation[key]} is no {key} of a store.")


def _former(context: Context, operation: Operation) -> list[Step]:
    path = operation["path"]
    return [Step("program", path, {"existed": context.files.disk.exists(path), "root": operation["root"]})]


def _install(context: Context, operation: Operation, step: Step) -> Result:
    files, store, path, entry = context.files, _store(context, step), operation["path"], operation["entry"]
    manifest = store.manifest(entry)
    if manifest is None:
        raise OperationError("missing", f"The store {store.root} has no whole entry {entry}.")
    file = next((one for one in manifest["files"] if one["name"].lower() == operation["file"].lower()), None)
    if file is None:
        has = ", ".join(one["name"] for one in manifest["files"])
        raise OperationError("missing", f"The store's entry {entry} has no file {operation['file']}. It has {has}")
    wanted, found = file["sha256"], files.digest(path)
    if found == wanted:
        return {"changed": False, "sha256": wanted}
    expect(path, found, operation["expect_sha256"])
    step.touched = True
    source = f"{store.path(entry)}\\{file['name']}"
    data = files.read(source) or b""
    files.write_beside(path, data)
    if sha256(data) != wanted:
        files.remove(f"{store.path(entry)}\\{MANIFEST}")
        message = (
            f"{source} is not what was unpacked: expected SHA-256 {wanted}, found {sha256(data)}. "
            "The entry is no longer used; run again to fetch it anew."
        )
        raise OperationError("conflict", message)
    if found is not None:
        former = path + aside(files, path)
        _clear(store, former)
        files.move(path, former)
    files.move(path + NEW, path)
    return {"changed": True, "sha256": wanted}


def _store(context: Context, step: Step) -> Store:
    return Store(context.files, step.state["root"])


def _clear(store: Store, path: str) -> None:
    if not store.clear(path):
        message = f"{path} is left from a former run, and a process still runs it or holds it open."
        raise OperationError("in_use", message)


def _resume(context: Context, step: Step) -> None:
    context.files.take_back_exchange(step.name)


def _admit(context: Context, step: Step) -> None:
    for ending in (OLD, MIDDLE, REJECTED):
        _clear(_store(context, step), step.name + ending)


def _undo(context: Context, step: Step) -> None:
    files, name, store = context.files, step.name, _store(context, step)
    old = files.disk.exists(name + OLD)
    if files.disk.exists(name) and (old or not step.state["existed"]):
        _clear(store, name + REJECTED)
        files.move(name, name + REJECTED)
    if old:
        files.move(name + OLD, name)
    for ending in (NEW, MIDDLE, REJECTED):
        store.clear(name + ending)


def _finish(context: Context, step: Step) -> list[str]:
    for ending in (OLD, NEW, MIDDLE, REJECTED):
        _store(context, step).clear(step.name + ending)
    return []


GROUP = Group(
    applies={"file.install": Apply(_install, _former, _check)},
    kinds={"program": Kind(_undo, _finish, _resume, _admit, renew=("root",))},
)
