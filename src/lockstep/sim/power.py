"""Whether a node has power: which boot it is in, when it goes down, when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable

_FOREVER = float("inf")


class Power:
    """A node's power. What is due happens when somebody asks: a node that nobody asks takes no time of anyone."""

    def __init__(self, halt: Callable[[], None], boot: Callable[[], None]) -> None:
        """`halt` is called when the node goes down, `boot` when it is up again."""
        self._halt = halt
        self._start = boot
        self._count = 0
        self._down_at: float | None = None
        self._down_for: float | None = 0.0
        self._back_at: float | None = _FOREVER

    @property
    def boot(self) -> int | None:
        """Which boot this is, from 1; None while the node has no power."""
        now = time.monotonic()
        if self._down_at is not None and now >= self._down_at:
            self._go_down(self._down_at, self._down_for)
        if self._back_at is not None and now >= self._back_at:
            self.on()
        return self._count if self._back_at is None else None

    def begin(self) -> None:
        """Be in the first boot: a node that is new has been started already."""
        self._count, self._back_at = 1, None

    def off(self, seconds: float | None) -> None:
        """Go down now, for so many seconds, or until it is told (None)."""
        self._go_down(time.monotonic(), seconds)

    def on(self) -> None:
        """Boot."""
        self._back_at = None
        self._count += 1
        self._start()

    def restart(self, after: float, seconds: float | None) -> None:
        """Go down after so many seconds, for so many seconds, or until it is told (None)."""
        self._down_at, self._down_for = time.monotonic() + after, seconds

    def hasten(self, after: float) -> None:
        """Have a restart that is due later begin after so many seconds."""
        if self._down_at is not None:
            self._down_at = min(self._down_at, time.monotonic() + after)

    def _go_down(self, when: float, seconds: float | None) -> None:
        self._down_at = None
        self._halt()
        self._back_at = _FOREVER if seconds is None else when + seconds
