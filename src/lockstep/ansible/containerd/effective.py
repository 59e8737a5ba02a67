"""Whether containerd has in effect what is planned: a file that config.toml imports may say otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.ansible.containerd.node import ContainerdNode, dump_arguments
from lockstep.ansible.errors import TaskError, listed
from lockstep.ansible.node import read, same_path
from lockstep.containerd import ContainerdConfigError, Overridden, Settings, inspect, overridden
from lockstep.containerd.effective import names
from lockstep.node.operations import Result, content_of, read_file, run_program
from lockstep.node.session import Session

WARN = "warn"


def imports_files(content: bytes | None) -> bool:
    """Return whether a config.toml, one that can be read, imports others.

    A release whose `config default` names some imports none where the file itself does not. Source: containerd
    cmd/containerd/server/config/config.go, LoadConfig: only the file's own `imports` are resolved.
    """
    return content is not None and bool(inspect(content).imports)


def not_in_effect(
    session: Session, node: ContainerdNode, settings: Settings, arguments: Mapping[str, Any], *, changed: bool
) -> list[str]:
    """Return a warning for each planned key that is overridden, where the task wants no more than that.

    Where the node was changed it is asked again. Raises TaskError where keys are overridden and that is to fail the
    task, or where containerd refuses the files that are on the node.
    """
    if arguments["state"] != "present" or node.version != arguments["version"]:
        return []
    dump = _dump_now(session, node, arguments) if changed else node.dump
    if not dump["found"] or dump.get("timed_out"):
        return []
    if dump["exit_code"] != 0:
        raise _refused(node, dump)
    text = dump["stdout"].encode()
    try:
        found = overridden(text, settings, arguments["version"])
        files = [path for path in inspect(text).imports if not same_path(path, node.path)]
    except ContainerdConfigError as error:
        facts = {"node": str(node.system), "it says": str(error)}
        raise TaskError("what `containerd config dump` prints cannot be read", facts) from error
    if not found:
        return []
    culprits = _culprits(session, files, found, arguments["version"])
    do = f"take these keys out of {culprits}, or describe them as they are there"
    if arguments["overrides"] == WARN:
        return [f"{each} ({culprits} says so): it is not what is planned" for each in map(str, found)]
    facts = {"node": str(node.system), "file": culprits, "do": do}
    said = listed("containerd has not in effect what is planned:", map(str, found))
    raise TaskError(said, facts, {"changed": changed})


def _dump_now(session: Session, node: ContainerdNode, arguments: Mapping[str, Any]) -> Result:
    operation = run_program(node.program, dump_arguments(node.path), timeout_seconds=arguments["timeout"])
    [dump] = read(session, [operation])
    return dump


def _refused(node: ContainerdNode, dump: Result) -> TaskError:
    facts = {
        "node": str(node.system),
        "it said": dump.get("stderr", "").strip(),
        "do": f"correct {node.path} or the file that it imports; the service runs on what it loaded before",
    }
    return TaskError("containerd refuses the files that are on the node, so it would not start again", facts)


def _culprits(session: Session, imports: Sequence[str], found: Sequence[Overridden], version: str) -> str:
    """Return the imported files that say something of what is overridden; patterns as they are, for lack of a look."""
    single = [path for path in imports if "*" not in path and "?" not in path and path[1:3] == ":\\"]
    patterns = [path for path in imports if path not in single]
    results = read(session, [read_file(path) for path in single]) if single else []
    named = [
        path
        for path, result in zip(single, results, strict=True)
        if any(names(content_of(result) or b"", each.path, version) for each in found)
    ]
    if named:
        return ", ".join(named)
    if patterns:
        return f"a file that {' or '.join(patterns)} names"
    return "a file that config.toml imports"
