"""The store: what was downloaded and checked, apart from what runs."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from lockstep.node.contract import ContractError
from lockstep.sim.agent.archives import name_problem, unpack
from lockstep.sim.agent.downloads import Download
from lockstep.sim.agent.failure import OperationError, failure_of
from lockstep.sim.agent.files import sha256
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.store import MANIFEST, PART, UNPACKING, UPLOAD, Store
from lockstep.sim.agent.table import Apply, Context, Group, Operation, Result
from lockstep.sim.disk import DiskError

_NO_CREDENTIALS = (
    " A session over WinRM has no credentials for another machine, unless it is made with CredSSP or with "
    "Kerberos delegation."
)


def _read(context: Context, operation: Operation) -> Result:
    store = Store(context.files, operation["root"])
    entries = []
    for name in store.names():
        manifest = store.manifest(name)
        if manifest is None:
            continue
        files = {one["name"]: {"size": one["size"], "sha256": one["sha256"]} for one in manifest["files"]}
        said = {key: manifest[key] for key in ("name", "version", "sha256")}
        entries.append({"entry": name, **said, "files": files})
    free = context.files.disk.free(store.root)
    return {"entries": entries, "uploads": store.uploads(), "free_bytes": free}


def _check_members(operation: Operation) -> None:
    names, sources = {MANIFEST}, set()
    for member in operation["members"]:
        name = member["to"].lower()
        if name_problem(member["to"]) or name in names:
            raise ContractError(f"store.add cannot call a file {member['to']}.")
        if member["from"].lower() in sources:
            raise ContractError(f"store.add asks twice for {member['from']}.")
        names.add(name)
        sources.add(member["from"].lower())
    if operation["format"] == "file" and len(operation["members"]) != 1:
        raise ContractError("store.add needs one member, the name that the file gets.")


def _add(context: Context, operation: Operation, _: Step) -> Result:
    store, digest = Store(context.files, operation["root"]), operation["sha256"]
    entry = f"{operation['name']}-{operation['version']}-{digest[:12]}"
    manifest = store.manifest(entry)
    if manifest is not None and manifest["sha256"] == digest:
        there = {one["name"].lower() for one in manifest["files"]}
        if all(member["to"].lower() in there for member in operation["members"]):
            return {"changed": False, "entry": entry, "size": 0}
    context.files.disk.make_folder(store.root)
    store.clear_trash()
    unpacking, part, sent = (store.path(name) for name in (entry + UNPACKING, digest + PART, digest + UPLOAD))
    for path in (unpacking, part):
        if not store.clear(path):
            message = f"{path} is left from a former run, and another process holds it open."
            raise OperationError("in_use", message)
    try:
        data = _received(context, store, operation)
        _fill(context, unpacking, operation, data)
        # Before the entry is one, so that no interruption leaves a download beside it that nobody asks for again.
        store.clear(part)
        _take_place(context, store, unpacking, entry)
    except (DiskError, OperationError) as error:
        # Not where power is lost: then nobody is there to clear up.
        mismatch = failure_of(error).error["code"] == "checksum_mismatch"
        for path in (unpacking, part, *([sent] if mismatch else [])):
            store.clear(path)
        raise
    store.clear(sent)
    return {"changed": True, "entry": entry, "size": len(data)}


def _take_place(context: Context, store: Store, unpacking: str, entry: str) -> None:
    """Give a new folder the name of its entry, in the place of one that is not whole."""
    folder = store.path(entry)
    if not store.clear(folder):
        message = f"{folder} is not whole and has to be replaced, but another process holds a file of it open."
        raise OperationError("in_use", message)
    context.files.disk.move_folder(unpacking, folder)


def _received(context: Context, store: Store, operation: Operation) -> bytes:
    """Bring what is asked for onto the node's disk; its content, which has the SHA-256 that it should have."""
    digest, data = operation["sha256"], _fetched(context, store, operation)
    if sha256(data) != digest:
        release = f"{operation['name']} {operation['version']}"
        message = f"{release}: expected SHA-256 {digest}, found {sha256(data)} ({len(data)} bytes)."
        raise OperationError("checksum_mismatch", message)
    return data


def _fetched(context: Context, store: Store, operation: Operation) -> bytes:
    source, files = operation["source"], context.files
    part = store.path(operation["sha256"] + PART)
    if "uploaded" in source:
        sent = store.path(operation["sha256"] + UPLOAD)
        data = files.read(sent)
        if data is None:
            raise OperationError("missing", f"Nothing of it was sent to the node: {sent} is not there.")
        return data
    if "url" in source:
        room = files.disk.free(store.root)
        clock = context.machine.clock
        data = Download(source, operation["timeout_seconds"], clock, lambda: room).fetch()
    else:
        data = _copied(context, source["path"])
        room = files.disk.free(store.root)
        if len(data) > room:
            message = f"{source['path']} has {len(data)} bytes, and the drive of {store.root} has {room} bytes free."
            raise OperationError("no_space", message)
    files.disk.write(part, data)
    return data


def _copied(context: Context, path: str) -> bytes:
    shared = path.startswith("\\\\")
    try:
        # The emulated node is in no network: it has no shares.
        data = None if shared else context.files.read(path)
    except (DiskError, OperationError) as error:
        hint = _NO_CREDENTIALS if shared else ""
        raise OperationError("download_failed", f"{path} cannot be read: {error}{hint}") from None
    if data is None:
        raise OperationError("download_failed", f"{path} is not there.")
    return data


def _fill(context: Context, folder: str, operation: Operation, data: bytes) -> None:
    """Unpack a download into a new folder, which gets its manifest last."""
    disk = context.files.disk
    members = operation["members"]
    single = operation["format"] == "file"
    files: Mapping[str, bytes] = {members[0]["to"]: data} if single else unpack(data, operation["format"], members)
    disk.make_folder(folder)
    for name, content in files.items():
        disk.write(f"{folder}\\{name}", content)
    listed = [{"name": name, "size": len(content), "sha256": sha256(content)} for name, content in files.items()]
    said = {key: operation[key] for key in ("name", "version", "sha256")}
    disk.write(f"{folder}\\{MANIFEST}", json.dumps({"manifest": 1, **said, "files": listed}).encode("ascii"))


def _check_piece(operation: Operation) -> None:
    try:
        base64.b64decode(operation["content"], validate=True)
    except ValueError:
        raise ContractError("The piece of store.upload is not base64.") from None


def _upload(context: Context, operation: Operation, _: Step) -> Result:
    store, piece = Store(context.files, operation["root"]), base64.b64decode(operation["content"])
    context.files.disk.make_folder(store.root)
    path = store.path(operation["sha256"] + UPLOAD)
    there = context.files.read(path) or b""
    if len(there) != operation["offset"]:
        message = f"{path} has {len(there)} bytes, and the piece belongs after {operation['offset']}."
        raise OperationError("conflict", message)
    context.files.disk.extend(path, piece)
    return {"size": len(there) + len(piece)}


def _prune(context: Context, operation: Operation, _: Step) -> Result:
    store, removed, changed = Store(context.files, operation["root"]), [], False
    keep = {name.lower() for name in operation["keep"]}
    for name in store.names():
        whole = store.manifest(name) is not None
        if (whole and name.lower() in keep) or not store.clear(store.path(name)):
            continue
        changed = True
        removed += [name] if whole else []
    for path in store.left():
        changed = store.discard(path) or changed
    changed = store.clear_trash() or changed
    return {"changed": changed, "removed": removed}


GROUP = Group(
    reads={"store.read": _read},
    applies={
        "store.add": Apply(_add, check=_check_members),
        "store.upload": Apply(_upload, check=_check_piece),
        "store.prune": Apply(_prune),
    },
)
