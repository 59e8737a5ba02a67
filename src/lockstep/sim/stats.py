"""What a simulated node was asked, counted."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any


class Stats:
    """Counters of one node.

    WinRM requests are SOAP messages of a known client; handshakes are the HTTP requests before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._actions: Counter[str] = Counter()
        self._handshakes = 0
        self._dropped = 0
        self._connections = 0

    def request(self, action: str) -> int:
        """Count a WinRM request (`Create`, `Receive`); returns its number, from 1."""
        with self._lock:
            self._actions[action] += 1
            return self._actions.total()

    def handshake(self) -> None:
        """Count a request that only served authentication."""
        with self._lock:
            self._handshakes += 1

    def dropped(self) -> None:
        """Count a connection that was cut by a fault."""
        with self._lock:
            self._dropped += 1

    def connection(self) -> None:
        """Count a new connection."""
        with self._lock:
            self._connections += 1

    def reset(self) -> None:
        """Begin at nothing again."""
        with self._lock:
            self._actions.clear()
            self._handshakes = self._dropped = self._connections = 0

    def data(self) -> dict[str, Any]:
        """Return the counters as plain data: requests, by_action, handshakes, connections, dropped."""
        with self._lock:
            return {
                "requests": self._actions.total(),
                "by_action": dict(sorted(self._actions.items())),
                "handshakes": self._handshakes,
                "connections": self._connections,
                "dropped": self._dropped,
            }
