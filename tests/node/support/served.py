"""A web server for a case: what it answers is data.

served:
  /a.zip: {content: …}                 any content that a case may have
  /a.zip: {content: …, cut: 10}        ten bytes of it, then the connection is gone
  /a.zip: {content: …, stall: 5}       half of it, then nothing for so many seconds
  /a.zip: {status: 503}
  /a.zip: {redirect: /b.zip}           or a full address
  /a.zip: [{status: 503}, {content: …}]   one after the other; the last one for ever
  /a.zip: {content: …, needs: {X-Key: secret}}   403 without these header fields
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Mapping[str, Any]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: Mapping[str, Sequence[Answer]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = {path: list(given) for path, given in answers.items()}
        self.lock = threading.Lock()

    def next(self, path: str) -> Answer:
        """Return what this path answers now."""
        with self.lock:
            answers = self.answers.get(path, [{"status": 404}])
            answer: Answer = answers.pop(0) if len(answers) > 1 else answers[0]
            return answer


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer as the case has it."""
        answer = self.server.next(self.path.partition("?")[0])
        needs = answer.get("needs", {})
        status = answer.get("status", 200)
        if any(self.headers.get(name) != value for name, value in needs.items()):
            status = 403
        if "redirect" in answer:
            self._end(302, Location=str(answer["redirect"]))
            return
        if status != 200:
            self._end(status)
            return
        self._send(answer, answer["content"])

    def _end(self, status: int, **fields: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": "0", "Connection": "close", **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def _send(self, answer: Answer, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        half = len(data) // 2
        count = int(answer.get("cut", half if "stall" in answer else len(data)))
        self.wfile.write(data[:count])
        self.wfile.flush()
        if "stall" in answer:
            time.sleep(float(answer["stall"]))
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class has it so
        """Say nothing."""


@contextmanager
def serving(answers: Mapping[str, Sequence[Answer]]) -> Iterator[str]:
    """Serve while the context lasts; the address. Contents are bytes."""
    server = _Server(answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
