"""What a simulated node and its mirror were asked, counted."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any


class Stats:
    """Counters of one node.

    WinRM requests are SOAP messages of a known client; handshakes are the HTTP requests before. Bytes are those of
    HTTP bodies, handshakes included.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._actions: Counter[str] = Counter()
        self._received: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._handshakes = 0
        self._dropped = 0
        self._connections = 0

    def request(self, action: str, size: int = 0) -> int:
        """Count a WinRM request (`Create`, `Receive`) of so many bytes; returns its number, from 1."""
        with self._lock:
            self._actions[action] += 1
            self._received[action] += size
            return self._actions.total()

    def reply(self, action: str, size: int) -> None:
        """Count the reply to a request."""
        with self._lock:
            self._sent[action] += size

    def handshake(self, size: int = 0) -> None:
        """Count a request that only served authentication."""
        with self._lock:
            self._handshakes += 1
            self._received["handshake"] += size

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
            for counter in (self._actions, self._received, self._sent):
                counter.clear()
            self._handshakes = self._dropped = self._connections = 0

    def data(self) -> dict[str, Any]:
        """Return the counters as plain data: requests and bytes, both by action too, handshakes, connections, dropped.

        `commands` is how often the node ran something.
        """
        with self._lock:
            return {
                "requests": self._actions.total(),
                "by_action": dict(sorted(self._actions.items())),
                "commands": self._actions["Command"],
                "bytes_received": self._received.total(),
                "bytes_sent": self._sent.total(),
                "bytes_by_action": {
                    name: {"received": self._received[name], "sent": self._sent[name]}
                    for name in sorted(self._received | self._sent)
                },
                "handshakes": self._handshakes,
                "connections": self._connections,
                "dropped": self._dropped,
            }


class MirrorStats:
    """Counters of the mirror, which are of no node: who downloads does not say who it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self._bytes = 0

    def request(self, path: str, size: int) -> None:
        """Count a request for a path, and the bytes of its answer."""
        with self._lock:
            self._requests[path] += 1
            self._bytes += size

    def reset(self) -> None:
        """Begin at nothing again."""
        with self._lock:
            self._requests.clear()
            self._bytes = 0

    def data(self) -> dict[str, Any]:
        """Return the counters as plain data: requests, bytes_sent, by_path."""
        with self._lock:
            return {
                "requests": self._requests.total(),
                "bytes_sent": self._bytes,
                "by_path": dict(sorted(self._requests.items())),
            }
