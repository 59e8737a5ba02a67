"""The micro-steps of a change: every moment at which a node can lose power and leave something different behind."""

from __future__ import annotations

from lockstep.sim.engine import PowerLost


class Steps:
    """Counts what an apply does to the node, and cuts the power before an armed step; `labels` are the last apply's."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self._armed: int | None = None

    def begin(self, power_lost_at: int | None = None) -> None:
        """Start to count for a new request.

        `power_lost_at` is the number, from 1, of the step that is not reached any more.
        """
        self.labels = []
        self._armed = power_lost_at

    def disarm(self) -> None:
        """Let no step cut the power any more."""
        self._armed = None

    def __call__(self, label: str) -> None:
        """Count the step that comes next; raises PowerLost where it is the armed one."""
        self.labels.append(label)
        if self._armed == len(self.labels):
            raise PowerLost(f"at step {self._armed}: {label}")
