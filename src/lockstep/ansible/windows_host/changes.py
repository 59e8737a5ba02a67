"""The changes of a windows_host task: one transaction, then the restart of Windows, then a look at what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Step, System, apply, read
from lockstep.ansible.windows_host.restart import LABEL, Back, Wait, restart
from lockstep.catalog.isolation import hyperv_needs
from lockstep.node.operations import Result, ensure_folder
from lockstep.node.session import Session
from lockstep.windows import features, host
from lockstep.windows.aspect import Change, Observed
from lockstep.windows.names import node_name
from lockstep.windows.settings import HostSettings

_OWN_FOLDER = "C:\\ProgramData\\lockstep"
_INSTALL = "feature.install"
_EARLIER = "an earlier change of Windows' components"
_TWICE = frozenset(f"feature {name}" for name in hyperv_needs().features)
"""What Windows may restart twice for: Hyper-V, which has to be below Windows before the rest can start."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, or would be: the steps, what a restart is needed for then, the features' states."""

    steps: list[str]
    needed: list[str]
    features: dict[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """The work on one node. `reboot` is `auto`, `always`, `report` or `never`."""

    session: Session
    settings: HostSettings
    system: System
    reboot: str
    wait: Wait

    def carry_out(self, observed: Observed) -> Done:
        """Make the changes, and restart Windows where it is needed and allowed.

        Raises TaskError where a change fails (everything but features is then as it was), and where a restart is
        needed and not allowed, or does not do what it should.
        """
        steps: list[str] = []
        if host.blocks_features(self.settings, observed):
            self._require_allowed([_EARLIER], steps, observed)
            observed = self._restart([_EARLIER], steps)
        changes = host.compare(self.settings, observed).changes
        needed, states = host.restart_reasons(self.settings, observed), self._states(observed)
        if changes or observed(host.JOURNAL)["pending"]:
            results = self._apply(changes)
            steps += [change.label for change in changes]
            needed = list(dict.fromkeys([*needed, *_reasons(changes, results)]))
            states |= _installed(changes, results)
        if not needed:
            return Done(steps, [], states)
        if steps and not self.may_restart(observed):
            # Of several features, Windows does not say which one waits until it is asked.
            observed = Observed.of(asked := host.operations(self.settings), read(self.session, asked))
            needed, states = host.restart_reasons(self.settings, observed) or needed, self._states(observed)
        if self.reboot == "report":
            return Done(steps, needed, states)
        self._require_allowed(needed, steps, observed)
        observed = self._restart(needed, steps)
        self._require_complete(observed)
        return Done(steps, [], self._states(observed))

    def plan(self, observed: Observed) -> Done:
        """Return what `carry_out` would do, as far as can be told before. Raises TaskError where that would fail."""
        if host.blocks_features(self.settings, observed):
            self._require_allowed([_EARLIER], [], observed, check_mode=True)
        done = planned(self, observed)
        if done.needed and self.reboot != "report":
            self._require_allowed(done.needed, done.steps, observed, check_mode=True)
        return done

    def _states(self, observed: Observed) -> dict[str, str]:
        return features.states(self.settings.features, observed)

    def _apply(self, changes: Sequence[Change]) -> Sequence[Result]:
        """Make the changes; where there are none, only complete what an interrupted run left."""
        steps = [Step(change.label, change.operation) for change in changes]
        complete = [Step("complete an interrupted run", ensure_folder(_OWN_FOLDER))]
        return apply(self.session, host.TRANSACTION, steps or complete, self.system, "Windows").results

    def _restart(self, reasons: list[str], steps: list[str]) -> Observed:
        asked = host.operations(self.settings)

        def settled(results: list[Result]) -> bool:
            return not features.waiting(self.settings.features, Observed.of(asked, results))

        # What an earlier change of components needs is not known.
        twice = reasons == [_EARLIER] or any(reason in _TWICE for reason in reasons)
        results = restart(self.session, self.system, reasons, self.wait, Back(asked, settled, twice))
        steps.append(LABEL)
        return Observed.of(asked, results)

    def _require_complete(self, observed: Observed) -> None:
        """Raise TaskError unless everything works that waited for the restart."""
        states = self._states(observed)
        wrong = [f"feature {name} is {state}" for name, state in states.items() if state != features.INSTALLED]
        wrong += [f"{reason} waits still" for reason in host.restart_reasons(self.settings, observed) if not wrong]
        if wrong:
            facts = {
                "node": str(self.system),
                "because": "\n".join(wrong),
                "do": r"see why in C:\Windows\Logs\CBS\CBS.log and the event log Setup on the node, then run again",
            }
            raise TaskError("Windows was restarted, and is not as it should be", facts, {"changed": True})

    def may_restart(self, observed: Observed) -> bool:
        """Return whether Windows may be restarted now."""
        return self.reboot == "always" or (self.reboot == "auto" and not host.kubelet_runs(self.settings, observed))

    def _require_allowed(
        self, reasons: list[str], steps: list[str], observed: Observed, *, check_mode: bool = False
    ) -> None:
        """Raise TaskError where Windows may not be restarted now."""
        if self.may_restart(observed):
            return
        node = node_name(observed(host.SYSTEM))
        if self.reboot == "auto":
            message = "Windows has to be restarted, and kubelet runs on this node: its pods would end"
            do = (
                f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data, run again for this node alone with "
                f"lockstep_reboot=always, then kubectl uncordon {node}"
            )
        else:
            message = f"Windows has to be restarted, and lockstep_reboot is {self.reboot}"
            do = "restart the node, then run again, which goes on from there; or set lockstep_reboot to auto"
        because, done = ", ".join(reasons), "would do" if check_mode else "done"
        facts = {"node": str(self.system), "because": because, done: _counted(steps), "do": do}
        raise TaskError(message, facts, {"changed": bool(steps), "steps": steps})


def _counted(steps: Sequence[str]) -> str:
    if not steps:
        return ""
    return f"all else: {len(steps)} step{'s' if len(steps) > 1 else ''}, the last was to {steps[-1]}"


def restart_text(done: Done, reboot: str) -> str:
    """Return what a plan says of the restart, a line for each reason; nothing where there is none."""
    first = [_EARLIER] if done.steps[:1] == [LABEL] and len(done.steps) > 1 else []
    what = "Windows waits for a restart" if reboot == "report" else "Windows is restarted"
    return "".join(f"{what}, because of {reason}\n" for reason in (*first, *done.needed) if done.steps)


def planned(job: Job, observed: Observed) -> Done:
    """Return what `carry_out` would do, as far as can be told before."""
    changes = host.compare(job.settings, observed).changes
    needed = list(dict.fromkeys([*host.restart_reasons(job.settings, observed), *_reasons(changes, None)]))
    steps = [change.label for change in changes]
    if job.may_restart(observed):
        first = [LABEL] if host.blocks_features(job.settings, observed) else []
        steps = [*first, *steps, *([LABEL] if needed else [])]
    return Done(steps, needed, features.states(job.settings.features, observed))


def _reasons(changes: Sequence[Change], results: Sequence[Result] | None) -> list[str]:
    """Return what works after a restart only because of these changes; `results` tell it of features."""
    reasons: list[str] = []
    for index, change in enumerate(changes):
        if change.restart:
            reasons.append(change.restart)
        if change.operation["op"] == _INSTALL and (results is None or results[index]["restart_needed"]):
            reasons += [f"feature {name}" for name in change.operation["names"]]
    return reasons


def _installed(changes: Sequence[Change], results: Sequence[Result]) -> dict[str, str]:
    """Return the states of the features that were installed."""
    return {
        name: features.PENDING if result["restart_needed"] else features.INSTALLED
        for change, result in zip(changes, results, strict=False)
        if change.operation["op"] == _INSTALL
        for name in change.operation["names"]
    }
