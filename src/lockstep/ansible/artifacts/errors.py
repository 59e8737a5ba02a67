"""Why artifacts could not be put on a node: which one, at which step, what the node said, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lockstep.ansible.errors import TaskError, command
from lockstep.artifacts.changes import Change
from lockstep.artifacts.plan import Planned
from lockstep.artifacts.wanted import Download, Share, Wanted, secrets_of, shown_url
from lockstep.node.errors import NodeError
from lockstep.words import MASK

_FETCHING = ("store.add", "store.upload")
_STARTING = ("service.restart", "program.check")


def pin_command(wanted: Sequence[Wanted], mirror: str | None) -> str:
    """Return the command that prints what the projects, or the mirror, publish as SHA-256 of these artifacts."""
    known = [f" --artifact {each.name}={each.version}" for each in wanted]
    return f"lockstep artifacts{''.join(known)}" + (f" --mirror {mirror}" if mirror else "")


def explained(
    error: TaskError, steps: Sequence[Planned], changes: Sequence[Change], root: str, mirror: str | None
) -> TaskError:
    """Return what a failed change means for the artifacts, from the error that tells of its step."""
    cause = error.__cause__
    if not isinstance(cause, NodeError):
        return TaskError(_censored(error.message, changes), _all_censored(error.facts, changes), error.result)
    step = steps[cause.step] if cause.step is not None and cause.step < len(steps) else None
    wanted = step.wanted if step else None
    facts = {
        "node": error.facts.get("node"),
        "step": error.facts.get("step"),
        "it said": error.facts.get("it said"),
        "from": str(wanted.source) if wanted and cause.operation in _FETCHING else None,
        "left": error.facts.get("left"),
        "do": _advice(cause, wanted, root, mirror) or error.facts.get("do"),
    }
    summary = _summary(cause, wanted, changes, _service(cause, steps))
    return TaskError(summary, _all_censored(facts, changes), error.result)


def _summary(error: NodeError, wanted: Wanted | None, changes: Sequence[Change], service: str) -> str:
    what = str(wanted) if wanted else ", ".join(str(each.wanted) for each in changes if each.differing)
    if error.rolled_back is False:
        return f"{what} could not be put in place, and not everything is as it was before"
    if error.operation in _FETCHING:
        return _NOT_FETCHED.get(error.code, "{what} could not be fetched, so nothing was changed").format(what=what)
    if error.operation in _STARTING and _starting(error, wanted):
        return f"{service} did not come up with {_new(changes)}, so {_old(changes)} is back"
    if error.operation == "program.check":
        does = f"say that it is {wanted.version}" if wanted and error.code == "check_failed" else "run on this node"
        return f"what was fetched as {what} does not {does}, so everything is as it was before"
    reasons = {
        "conflict": f"{error.subject}, or what the store keeps of it, was changed by somebody else: it was left alone",
        "in_use": f"{what} could not be put in place: another process holds a file; everything is as it was before",
    }
    return reasons.get(error.code, f"{what} could not be put in place, and everything is as it was before")


_NOT_FETCHED = {
    "download_failed": "{what} did not arrive, so nothing was changed",
    "checksum_mismatch": "what arrived as {what} does not have its SHA-256, so it was removed and nothing was changed",
    "unsafe_archive": "the archive of {what} is not safe to unpack, so nothing was changed",
    "no_space": "the disk is full, so {what} was not fetched and nothing was changed",
    "timeout": "{what} did not arrive in time, so nothing was changed",
}


def _starting(error: NodeError, wanted: Wanted | None) -> bool:
    """Return whether it is a service that failed: a check that belongs to no artifact is of one too."""
    return error.operation == "service.restart" or wanted is None


def _service(error: NodeError, steps: Sequence[Planned]) -> str:
    """Return the service that was started last when a step failed."""
    done = [step.operation for step in steps[: (error.step or 0) + 1] if step.operation["op"] == "service.restart"]
    return str(done[-1]["name"]) if done else ""


def _new(changes: Sequence[Change]) -> str:
    return ", ".join(str(each.wanted) for each in changes if each.differing and each.wanted.services)


def _old(changes: Sequence[Change]) -> str:
    names = [f"{each.wanted.name} {each.from_version}" for each in changes if each.differing and each.from_version]
    return ", ".join(names) or "what was there"


def _advice(error: NodeError, wanted: Wanted | None, root: str, mirror: str | None) -> str | None:
    if error.rolled_back is False:
        return None
    if error.operation in _FETCHING and wanted:
        return _fetch_advice(error.code, wanted, mirror)
    if error.operation in _STARTING and _starting(error, wanted):
        return (
            "see the service's own log. If the new release does not run with the configuration that is there, run once "
            "with start: false (in the role, artifacts_start), so that it is configured before it is started; "
            f"what was fetched is in {root}"
        )
    if error.operation == "program.check" and wanted:
        return f"see what {wanted.source} is: correct version, or sha256 and where it comes from"
    reasons = {
        "in_use": f"see which process holds {error.subject} open (a virus scanner: exclude its folder), then run "
        "again: what was fetched is there already",
        "no_space": f"free space on the node's drive, then run again; what is kept of artifacts is in {root}",
    }
    return reasons.get(error.code)


def _fetch_advice(code: str, wanted: Wanted, mirror: str | None) -> str | None:
    tells = f"this tells what {'the mirror publishes' if mirror else 'its project publishes'}\n" + command(
        pin_command([wanted], mirror)
    )
    tells = tells if wanted.sums or wanted.says else f"see {wanted.source}"
    if code == "checksum_mismatch":
        return f"{_mismatch(wanted)}; {tells}"
    if code == "no_space":
        return (
            "free space on the drive of the store, or set store (in the role, artifacts_store) to a folder of another "
            "drive, then run again"
        )
    if code == "unsafe_archive":
        return f"see what the archive is: its SHA-256 is right, but no release is like that; {tells}"
    if code in {"download_failed", "timeout", "missing", "denied"}:
        return _reach_advice(wanted)
    return None


def _mismatch(wanted: Wanted) -> str:
    if wanted.pinned:
        return (
            "the expected one is from pinned (in the role, artifacts_pinned). Either that is wrong: correct it there; "
            "or what is downloaded is another file, a login page of a proxy for example, or was replaced: find out "
            "before you trust it"
        )
    return (
        "compare the expected one with the release's own; a proxy or a login page may have answered instead, or "
        "somebody replaced the file"
    )


def _reach_advice(wanted: Wanted) -> str | None:
    if isinstance(wanted.source, Download):
        return (
            f"see whether the node reaches it, curl.exe -IL {shown_url(wanted.source.url)}; set proxy, or mirror (in "
            "the role, artifacts_proxy, artifacts_mirror), or send the file from the controller with src (in "
            "artifacts_extra)"
        )
    if isinstance(wanted.source, Share):
        return (
            "see whether the account that Ansible connects with may read it: over WinRM, Kerberos without delegation "
            "and NTLM pass no credentials on to a share; a URL or src need none"
        )
    return None


def _all_censored(facts: Mapping[str, str | None], changes: Sequence[Change]) -> dict[str, str | None]:
    return {label: _censored(text, changes) if text else text for label, text in facts.items()}


def _censored(text: str, changes: Sequence[Change]) -> str:
    for change in changes:
        for secret in sorted(secrets_of(change.wanted.source), key=len, reverse=True):
            text = text.replace(secret, MASK)
    return text
