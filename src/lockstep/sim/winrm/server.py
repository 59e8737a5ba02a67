"""The HTTP front: WinRM for the nodes of this process, and beside it what only a simulation has.

POST /wsman                  the only node of this port
POST /wsman/<node>           a node by name: many nodes on one port (`ansible_winrm_path: /wsman/<node>`)
GET  /mirror/…               releases to download, as their projects publish them (see lockstep.sim.mirror)
GET  /stats                  requests per node, and of the mirror
GET  /api/v1/nodes[/<node>]  the Node objects that the simulated kubelets registered
POST /control                faults, power and counters, with the account of a node (see lockstep.sim.farm)
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Protocol

from lockstep.sim.engine import PowerLost
from lockstep.sim.mirror_faults import Answer
from lockstep.sim.stats import Stats
from lockstep.sim.winrm import encryption, soap
from lockstep.sim.winrm.auth import Account, NtlmSession
from lockstep.sim.winrm.shells import Shells

_log = logging.getLogger(__name__)
_SOAP_TYPE = "application/soap+xml;charset=UTF-8"


class WinrmNode(Protocol):
    """What the front needs of a node."""

    @property
    def name(self) -> str:
        """Its name in URLs and counters."""

    @property
    def account(self) -> Account:
        """Who may log on."""

    @property
    def shells(self) -> Shells:
        """Its remote shells."""

    @property
    def stats(self) -> Stats:
        """Its counters."""

    @property
    def boot(self) -> int | None:
        """Number of the present boot; None while it has no power."""

    def latency(self) -> float:
        """Seconds to wait before each answer."""

    def drop(self) -> str | None:
        """Count a request against the armed faults: `before` or `after` when its connection is to be cut."""


class Api(Protocol):
    """What the front serves beside WinRM."""

    def get(self, path: str) -> Any | None:
        """Return the JSON document at a path; None where there is none."""

    def download(self, path: str, query: str, *, logged_on: bool) -> Answer | None:
        """Return what the mirror answers; None for a path that is not below it."""

    def control(self, document: Any) -> Any:
        """Carry out a control document; raises ValueError with what is wrong."""


class Listener(ThreadingHTTPServer):
    """One port and the nodes on it."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], nodes: Mapping[str, WinrmNode], api: Api) -> None:
        super().__init__(address, _Handler)
        self.nodes = nodes
        self.api = api
        self.timeout = 0

    def server_bind(self) -> None:
        """Bind without the reverse look-up of the host's name that the parent does: it can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.socket.getsockname()[1]

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 (the parent's signature)
        """Return a client that went away is no error of ours; anything else is logged, and the server goes on."""
        _log.debug("connection from %s ended", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """One connection. NTLM authenticates the connection, so its session lives here."""

    server: Listener
    protocol_version = "HTTP/1.1"
    server_version = "Microsoft-HTTPAPI/2.0"
    sys_version = ""
    # Measured: unbuffered small writes with Nagle's algorithm cost 40 ms and more a request.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 600
    _challenge: ClassVar[tuple[str, ...]] = ("NTLM", 'Basic realm="WSMAN"')

    def setup(self) -> None:
        super().setup()
        self._ntlm: NtlmSession | None = None
        self._node: WinrmNode | None = None
        self._boot: int | None = None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the parent's signature)
        _log.debug(format, *args)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        answer = self.server.api.download(path, query, logged_on="Authorization" in self.headers)
        if answer is not None:
            self._download(answer)
            return
        document = self.server.api.get(self.path.partition("?")[0])
        if document is None:
            self._json(HTTPStatus.NOT_FOUND, {"error": f"nothing at {self.path}"})
        else:
            self._json(HTTPStatus.OK, document)

    def _download(self, answer: Answer) -> None:
        """Send a file of the mirror, with what happens to it on the way."""
        data = answer.file.data
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.file.content_type)
        self.send_header("Content-Length", str(len(data)))
        if answer.location is not None:
            self.send_header("Location", answer.location)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", 'Basic realm="mirror"')
        self.end_headers()
        if self.command == "HEAD":
            return
        if answer.cut is not None:
            self.wfile.write(data[: min(answer.cut, len(data) - 1)])
            self.wfile.flush()
            self._close()
            return
        if answer.pause:
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            time.sleep(answer.pause)
            data = data[len(data) // 2 :]
        self.wfile.write(data)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        body = self.rfile.read(int(length) if length.isdigit() else 0)
        if self.path == "/control":
            self._control(body)
            return
        node = self._find(self.path.partition("?")[0])
        if node is None:
            names = ", ".join(f"/wsman/{name}" for name in self.server.nodes)
            self._json(HTTPStatus.NOT_FOUND, {"error": f"no node at {self.path}; this port has {names}"})
            return
        if self._node is None:
            self._node, self._boot = node, node.boot
            node.stats.connection()
        if node.boot is None or node is not self._node or node.boot != self._boot:
            self._hang_up(node)
            return
        time.sleep(node.latency())
        if not self._authenticated(node, body):
            return
        self._answer(node, body)

    def _find(self, path: str) -> WinrmNode | None:
        if path.rstrip("/") == "/wsman":
            return next(iter(self.server.nodes.values())) if len(self.server.nodes) == 1 else None
        return self.server.nodes.get(path.removeprefix("/wsman/")) if path.startswith("/wsman/") else None

    def _authenticated(self, node: WinrmNode, body: bytes) -> bool:
        """Whether the request comes from a known client and has something to say; answers it otherwise."""
        header = self.headers.get("Authorization", "")
        scheme = header.partition(" ")[0].lower()
        if scheme == "basic":
            if not node.account.basic(header):
                node.stats.handshake(len(body))
                self._refuse()
                return False
        elif scheme in ("ntlm", "negotiate"):
            self._ntlm = self._ntlm or NtlmSession(node.account)
            try:
                challenge = self._ntlm.step(header)
            except PermissionError as error:
                _log.debug("%s: %s", node.name, error)
                node.stats.handshake(len(body))
                self._refuse()
                return False
            if challenge is not None:
                node.stats.handshake(len(body))
                self._send(HTTPStatus.UNAUTHORIZED, b"", "text/plain", {"WWW-Authenticate": [f"NTLM {challenge}"]})
                return False
        elif self._ntlm is None or self._ntlm.context is None:
            node.stats.handshake(len(body))
            self._refuse()
            return False
        if not body:
            node.stats.handshake()
            self._send(HTTPStatus.OK, b"", _SOAP_TYPE)
            return False
        return True

    def _answer(self, node: WinrmNode, body: bytes) -> None:
        """Carry out one WinRM request and send the reply, encrypted where the request was."""
        context = self._ntlm.context if self._ntlm is not None else None
        sealed = self.headers.get("Content-Type", "").startswith("multipart/encrypted")
        try:
            plain = encryption.unseal(context, body) if sealed else body
            message = soap.parse(plain)
        except (encryption.SealError, soap.MalformedError) as error:
            # Windows answers 400 without a body to a message it cannot read.
            node.stats.request("Unreadable", len(body))
            _log.debug("%s: %s", node.name, error)
            self._send(HTTPStatus.BAD_REQUEST, b"", "text/plain")
            return
        action = message.action.rpartition("/")[2]
        node.stats.request(action, len(body))
        cut = node.drop()
        if cut == "before":
            self._hang_up(node)
            return
        try:
            status, reply = self._outcome(node, message, len(plain))
        except PowerLost:
            self._hang_up(node)
            return
        if cut == "after" or node.boot != self._boot:
            self._hang_up(node)
            return
        content_type = _SOAP_TYPE
        if sealed and context is not None:
            reply, content_type = encryption.seal(context, reply), encryption.CONTENT_TYPE
        node.stats.reply(action, len(reply))
        self._send(status, reply, content_type)

    def _outcome(self, node: WinrmNode, message: soap.Message, size: int) -> tuple[HTTPStatus, bytes]:
        """Carry out a message: the HTTP status and the reply or fault."""
        try:
            return HTTPStatus.OK, node.shells.handle(message, size)
        except soap.Fault as problem:
            return HTTPStatus.INTERNAL_SERVER_ERROR, soap.fault(message.message_id, problem)
        except PowerLost:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of the simulation is this request's fault, not the server's end
            _log.exception("%s: %s failed", node.name, message.action)
            failed = soap.Fault(f"the simulated node failed: {error}", sender=False)
            return HTTPStatus.INTERNAL_SERVER_ERROR, soap.fault(message.message_id, failed)

    def _control(self, body: bytes) -> None:
        header = self.headers.get("Authorization", "")
        if not any(node.account.basic(header) for node in self.server.nodes.values()):
            self._refuse()
            return
        try:
            self._json(HTTPStatus.OK, self.server.api.control(json.loads(body)))
        except ValueError as error:
            self._json(HTTPStatus.BAD_REQUEST, {"error": str(error)})

    def _refuse(self) -> None:
        self._send(HTTPStatus.UNAUTHORIZED, b"", "text/plain", {"WWW-Authenticate": self._challenge})

    def _json(self, status: HTTPStatus, document: Any) -> None:
        self._send(status, json.dumps(document, indent=2).encode() + b"\n", "application/json")

    def _send(
        self,
        status: HTTPStatus,
        body: bytes,
        content_type: str,
        headers: Mapping[str, list[str] | tuple[str, ...]] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, values in (headers or {}).items():
            for value in values:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _hang_up(self, node: WinrmNode) -> None:
        node.stats.dropped()
        self._close()

    def _close(self) -> None:
        """End the connection at once."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class Front:
    """All listeners of a process, served by one accepting thread."""

    def __init__(self, listeners: list[Listener]) -> None:
        self._listeners = listeners
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._accept, name="winrm-front", daemon=True)

    def start(self) -> None:
        """Begin to accept connections."""
        self._thread.start()

    def stop(self) -> None:
        """Close the ports; connections that are open end with the process or their client."""
        os.write(self._wake_write, b"x")
        self._thread.join()
        for listener in self._listeners:
            listener.server_close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_read, selectors.EVENT_READ)
            for listener in self._listeners:
                selector.register(listener, selectors.EVENT_READ, listener)
            while True:
                for key, _ in selector.select():
                    if key.data is None:
                        return
                    key.data.handle_request()
