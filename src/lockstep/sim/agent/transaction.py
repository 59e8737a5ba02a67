"""One apply as a transaction, step by step as the agent's transaction.ps1 does it.

Journal first, undo in reverse on a failure, commit last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.sim.agent.failure import OperationError, fail_as_told, failure_of
from lockstep.sim.agent.files import MIDDLE
from lockstep.sim.agent.journal import Journal, Step, journal_path, read_journal, write_journal
from lockstep.sim.agent.operations import APPLIES, KINDS
from lockstep.sim.agent.table import Context, Operation, Result
from lockstep.sim.disk import DiskError

Work = list[tuple[Operation, Step]]


@dataclass(slots=True)
class Transaction:
    """An apply on one node."""

    context: Context

    def apply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Do all operations or none: the response without `contract` and `mode`."""
        response: dict[str, Any] = {"ok": False, "results": []}
        try:
            work = self._begin(journal_path(request["transaction"]), request["operations"])
        except (DiskError, OperationError) as error:
            return {**response, "error": failure_of(error).error, "rolled_back": True}
        if not self._carry_out(work, response["results"], after_commit=False):
            return {**response, "failed_step": len(response["results"]) - 1, **self._undo()}
        try:
            self.context.journal.phase = "committed"
            write_journal(self.context.files, self.context.journal)
        except (DiskError, OperationError) as error:
            return {**response, "error": failure_of(error).error, **self._undo()}
        try:
            backups = self._complete()
        except (DiskError, OperationError) as error:
            problem = failure_of(error).error
            words = "Everything was applied, but what was there before could not be cleared away: "
            return {**response, "error": {**problem, "message": words + problem["message"]}, "rolled_back": False}
        response["backups"] = backups
        if not self._carry_out(work, response["results"], after_commit=True):
            failed = {"failed_step": len(response["results"]) - 1}
            return {**response, **failed, "rolled_back": False, "rollback_errors": [], "rejected": []}
        return {**response, "ok": True}

    def _begin(self, path: str, operations: list[Operation]) -> Work:
        """Put the journal that holds from here on on the disk; the operations, each with its step of it."""
        context = self.context
        context.journal = read_journal(context.files, path, KINDS) or Journal(path)
        if context.journal.phase == "committed":
            self._complete()
            context.journal = Journal(path)
        journal = context.journal
        journal.phase, journal.time = "applying", context.files.time()
        for step in journal.steps:
            resume = KINDS[step.kind].resume
            if resume is not None:
                resume(context, step)
        work: Work = []
        for operation in operations:
            former = APPLIES[operation["op"]].former
            steps = [self._journaled(new) for new in former(context, operation)] if former is not None else []
            work.append((operation, steps[0] if steps else Step("", "")))
        write_journal(context.files, journal)
        return work

    def _journaled(self, new: Step) -> Step:
        """Return the journal's step about a thing, which is the new one where there was none."""
        kind, journal = KINDS[new.kind], self.context.journal
        known = journal.find(new.kind, new.name)
        if known is not None:
            known.state.update({key: new.state[key] for key in kind.renew if key in new.state})
            return known
        if kind.admit is not None:
            kind.admit(self.context, new)
        journal.steps.append(new)
        return new

    def _carry_out(self, work: Work, results: list[Result], *, after_commit: bool) -> bool:
        """Do the operations before the commit, or those after it; False where one failed, whose result is the last."""
        for operation, step in work:
            op = operation["op"]
            if APPLIES[op].after_commit != after_commit:
                continue
            try:
                fail_as_told(self.context.faults, op)
                results.append({"op": op, "ok": True, **APPLIES[op].do(self.context, operation, step)})
            except (DiskError, OperationError) as error:
                results.append({"op": op, "ok": False, "error": failure_of(error).error})
                return False
        return True

    def _undo(self) -> dict[str, Any]:
        """Go back to the former state: in reverse order, then what comes last, on top of the rest."""
        problems: list[str] = []
        rejected: list[str] = []
        journal = self.context.journal
        steps = [step for step in reversed(journal.steps) if step.touched]
        for step in sorted(steps, key=lambda step: KINDS[step.kind].last):
            try:
                kept = KINDS[step.kind].undo(self.context, step)
            except (DiskError, OperationError) as error:
                problems.append(f"{step.kind} {step.name}: {failure_of(error).error['message']}")
            else:
                rejected += [kept] if kept else []
        if not problems:
            try:
                self.context.files.remove(journal.path)
            except DiskError as error:
                problems.append(error.message)
        return {"rolled_back": not problems, "rollback_errors": problems, "rejected": rejected}

    def _complete(self) -> list[str]:
        """Keep or drop what was there before, now that the transaction is decided; the backups."""
        backups: list[str] = []
        journal, files = self.context.journal, self.context.files
        for step in journal.steps:
            finish = KINDS[step.kind].finish
            backups += finish(self.context, step) if finish is not None else []
        files.remove(journal.path + MIDDLE)
        files.remove(journal.path)
        return backups
