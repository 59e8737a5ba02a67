"""One apply as a transaction, step by step as agent.ps1 does it.

Journal first, undo in reverse on a failure, commit last.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.sim.agent import programs
from lockstep.sim.agent.failure import OperationError, fail_as_told, failure_of
from lockstep.sim.agent.files import MIDDLE, NEW, OLD, REJECTED, Files, sha256
from lockstep.sim.agent.journal import Journal, Step, journal_path, read_journal, write_journal
from lockstep.sim.agent.restart import restart, stop
from lockstep.sim.disk import DiskError
from lockstep.sim.faults import Faults
from lockstep.sim.machine import Machine
from lockstep.sim.services import Services

Operation = Mapping[str, Any]
_OUTPUT_LIMIT = 4000
_PAUSE = 0.5


@dataclass(slots=True)
class Transaction:
    """An apply on one node."""

    machine: Machine
    services: Services
    files: Files
    faults: Faults

    def apply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Do all operations or none: the response without `contract` and `mode`."""
        response: dict[str, Any] = {"ok": False, "results": []}
        try:
            journal = self._begin(journal_path(request["transaction"]), request["operations"])
        except (DiskError, OperationError) as error:
            return {**response, "error": failure_of(error).error, "rolled_back": True}
        for index, operation in enumerate(request["operations"]):
            try:
                response["results"].append({"op": operation["op"], "ok": True, **self._do(operation, journal)})
            except (DiskError, OperationError) as error:
                response["results"].append({"op": operation["op"], "ok": False, "error": failure_of(error).error})
                return {**response, "failed_step": index, **self._undo(journal)}
        try:
            journal.phase = "committed"
            write_journal(self.files, journal)
        except (DiskError, OperationError) as error:
            return {**response, "error": failure_of(error).error, **self._undo(journal)}
        try:
            backups = self._complete(journal)
        except (DiskError, OperationError) as error:
            problem = failure_of(error).error
            words = "Everything was applied, but what was there before could not be cleared away: "
            return {**response, "error": {**problem, "message": words + problem["message"]}, "rolled_back": False}
        return {**response, "ok": True, "backups": backups}

    def _begin(self, path: str, operations: list[Operation]) -> Journal:
        """Return the journal that holds from here on, on the disk."""
        journal = read_journal(self.files, path)
        if journal is not None and journal.phase == "committed":
            self._complete(journal)
            journal = None
        journal = journal or Journal(path)
        journal.phase, journal.time = "applying", self.files.time()
        for step in journal.steps:
            if step.kind == "file":
                self.files.take_back_exchange(step.name)
        for operation in operations:
            new = self._former(operation)
            known = journal.find(new.kind, new.name) if new is not None else None
            if new is None:
                continue
            if known is not None:
                known.backup, known.seconds, known.settle = new.backup, new.seconds, new.settle
                continue
            if new.kind == "file" and self.files.disk.exists(new.name + OLD):
                self.files.save_backup(new.name + OLD, new.name, journal.time)
            journal.steps.append(new)
        write_journal(self.files, journal)
        return journal

    def _former(self, operation: Operation) -> Step | None:
        op = operation["op"]
        if op.startswith("file."):
            path = operation["path"]
            return Step("file", path, existed=self.files.disk.exists(path), backup=operation.get("backup") is True)
        if op not in ("service.configure", "service.restart"):
            return None
        service = self.services.get(operation["name"])
        if op == "service.configure":
            return Step("definition", operation["name"], former=service.binary_path if service else "")
        return Step(
            "restart",
            operation["name"],
            running=service is not None and service.state != "stopped",
            dependents=self.services.dependents(operation["name"]) if service else [],
            seconds=operation["timeout_seconds"],
            settle=operation["settle_seconds"],
        )

    def _do(self, operation: Operation, journal: Journal) -> dict[str, Any]:
        op = operation["op"]
        fail_as_told(self.faults, op)
        steps: Mapping[str, tuple[str, Callable[[Operation, Step], dict[str, Any]]]] = {
            "file.write": ("file", self._write),
            "file.remove": ("file", self._remove),
            "service.configure": ("definition", self._configure),
            "service.restart": ("restart", self._restart),
        }
        if op == "program.check":
            return self._check(operation)
        kind, action = steps[op]
        step = journal.find(kind, operation.get("path") or operation["name"])
        if step is None:
            raise OperationError("io", f"{op} has no step in the journal")
        return action(operation, step)

    def _write(self, operation: Operation, step: Step) -> dict[str, Any]:
        path, data = operation["path"], base64.b64decode(operation["content"])
        wanted, found = sha256(data), self.files.digest(path)
        if found == wanted:
            return {"changed": False, "sha256": wanted}
        _expect(path, found, operation["expect_sha256"])
        step.touched = True
        self.files.write_beside(path, data)
        self.files.move_over(path + NEW, path, path + self._aside(path))
        return {"changed": True, "sha256": wanted}

    def _remove(self, operation: Operation, step: Step) -> dict[str, Any]:
        path = operation["path"]
        found = self.files.digest(path)
        if found is None:
            return {"changed": False}
        _expect(path, found, operation["expect_sha256"])
        step.touched = True
        aside = self._aside(path)
        self.files.remove(path + MIDDLE)
        self.files.move(path, path + aside)
        return {"changed": True}

    def _aside(self, path: str) -> str:
        """Return the former content goes aside once: what an interrupted apply kept is what to go back to."""
        return MIDDLE if self.files.disk.exists(path + OLD) else OLD

    def _configure(self, operation: Operation, step: Step) -> dict[str, Any]:
        name = operation["name"]
        service = self.services.get(name)
        if service is None:
            raise OperationError("missing", f"There is no service {name}.")
        if service.binary_path == operation["binary_path"]:
            return {"changed": False}
        if service.binary_path != operation["expect_binary_path"]:
            raise OperationError(
                "conflict", f"The command line of {name} was changed by somebody else since it was read."
            )
        step.touched = True
        self.services.configure(name, operation["binary_path"])
        return {"changed": True}

    def _restart(self, operation: Operation, step: Step) -> dict[str, Any]:
        step.touched = True
        seconds, settle = operation["timeout_seconds"], operation["settle_seconds"]
        return restart(self.services, operation["name"], step.dependents, seconds, settle)

    def _check(self, operation: Operation) -> dict[str, Any]:
        clock, limit = self.machine.clock, operation["timeout_seconds"]
        began, attempts = clock.now(), 0
        while True:
            attempts += 1
            path = programs.resolve(self.machine, self.services, operation)
            if path is None:
                named = " ".join(operation[key] for key in ("path", "service", "sibling") if key in operation)
                raise OperationError("missing", f"There is no program {named}")
            left = max(1.0, limit - (clock.now() - began))
            done = programs.run(self.machine, path, list(operation.get("arguments", ())), left)
            absent = [text for text in operation["must_contain"] if text not in done.stdout]
            if done.exit_code == 0 and not done.timed_out and not absent:
                return {"attempts": attempts}
            if clock.now() - began + _PAUSE >= limit:
                break
            clock.sleep(_PAUSE)
        reason = f"ended with exit code {done.exit_code}"
        if done.timed_out:
            reason = "did not end in time"
        elif done.exit_code == 0:
            reason = f"does not show {', '.join(absent)}"
        shown = (done.stdout + done.stderr).strip()[-_OUTPUT_LIMIT:]
        message = f"{path} {reason}, after {attempts} attempts in {limit} s."
        raise OperationError("check_failed", message, exit_code=done.exit_code, output=shown)

    def _undo(self, journal: Journal) -> dict[str, Any]:
        """Go back to the former state: files and definitions in reverse order, then the services on top of them."""
        problems: list[str] = []
        rejected: list[str] = []
        steps = [step for step in reversed(journal.steps) if step.touched]
        for step in sorted(steps, key=lambda step: step.kind == "restart"):
            try:
                kept = self._undo_step(step)
            except (DiskError, OperationError) as error:
                problems.append(f"{step.kind} {step.name}: {failure_of(error).error['message']}")
            else:
                rejected += [kept] if kept else []
        if not problems:
            try:
                self.files.remove(journal.path)
            except DiskError as error:
                problems.append(error.message)
        return {"rolled_back": not problems, "rollback_errors": problems, "rejected": rejected}

    def _undo_step(self, step: Step) -> str | None:
        if step.kind == "restart":
            service = self.services.get(step.name)
            if service is not None and step.running:
                restart(self.services, step.name, step.dependents, step.seconds, step.settle, force=True)
            elif service is not None:
                stop(self.services, step.name, step.seconds, force=True)
            return None
        if step.kind == "definition":
            service = self.services.get(step.name)
            if service is not None and step.former and service.binary_path != step.former:
                self.services.configure(step.name, step.former)
            return None
        return self._undo_file(step)

    def _undo_file(self, step: Step) -> str | None:
        disk, name, kept = self.files.disk, step.name, None
        if disk.exists(name + OLD):
            kept = name + REJECTED if disk.exists(name) else None
            self.files.move_over(name + OLD, name, name + REJECTED)
        elif not step.existed and disk.exists(name):
            kept = name + REJECTED
            self.files.move_over(name, kept, name + MIDDLE)
        self.files.remove(name + NEW)
        self.files.remove(name + MIDDLE)
        return kept

    def _complete(self, journal: Journal) -> list[str]:
        """Return the transaction is decided: keep or drop what was there before; the backups."""
        backups: list[str] = []
        for step in journal.steps:
            if step.kind != "file":
                continue
            if step.backup and self.files.disk.exists(step.name + OLD):
                backups.append(self.files.save_backup(step.name + OLD, step.name, journal.time))
            for ending in (OLD, NEW, MIDDLE, REJECTED):
                self.files.remove(step.name + ending)
        self.files.remove(journal.path + MIDDLE)
        self.files.remove(journal.path)
        return backups


def _expect(path: str, found: str | None, expected: str | None) -> None:
    if found == expected:
        return
    words = [f"SHA-256 {digest}" if digest else "no file" for digest in (expected, found)]
    raise OperationError("conflict", f"{path} was changed by somebody else: expected {words[0]}, found {words[1]}.")
