"""A node's clock: waiting moves it forward and costs no real time."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime


class Clock:
    """Real time plus all that was waited for. Settling and timeouts on a simulated node take no one's time."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        """Seconds since the epoch, on this node."""
        return time.time() + self._ahead

    def sleep(self, seconds: float) -> None:
        """Let time pass on this node."""
        with self._lock:
            self._ahead += max(seconds, 0.0)

    def text(self, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
        """Return the time in UTC."""
        return datetime.fromtimestamp(self.now(), UTC).strftime(form)
