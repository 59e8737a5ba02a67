"""Remote shells of one node: Create, Command, Send, Receive, Signal, Delete.

Source: MS-WSMV 3.1.4 (the shell operations); fault numbers from wsmerror.h.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

from lockstep.sim.engine import Completed, Engine
from lockstep.sim.winrm import soap

TIMED_OUT = 2150858793
"""ERROR_WSMAN_OPERATION_TIMEDOUT: clients ask again."""
_INVALID_SELECTORS = 2150858843
_RESOURCE_NOT_FOUND = 2150858752
_TERMINATE = ("/signal/terminate", "/signal/ctrl_c", "/signal/ctrl_break")
_MAX_ENVELOPE = 500 * 1024
"""MaxEnvelopeSizekb, out of the box. Source: Microsoft Learn, Installation and configuration for WinRM."""
_OVERHEAD = 8192
"""Bytes of a reply that are not output, generously."""


@dataclass(slots=True)
class _Run:
    """One command: its input so far, then its output."""

    line: str
    stdin: bytearray = field(default_factory=bytearray)
    thread: threading.Thread | None = None
    done: threading.Event = field(default_factory=threading.Event)
    outcome: Completed | None = None
    failure: BaseException | None = None
    position: int = 0
    """How much of stdout followed by stderr was received already."""


class Shells:
    """The shells that are open on one node."""

    def __init__(self, engine: Engine, left_alone: Callable[[], None] = lambda: None) -> None:
        """`left_alone` is called when the last command is over, its output fetched."""
        self._engine = engine
        self._left_alone = left_alone
        self._shells: dict[str, dict[str, _Run]] = {}
        self._lock = threading.Lock()
        self._handlers: dict[str, Callable[[soap.Message], bytes]] = {
            soap.CREATE: self._create,
            soap.COMMAND: self._command,
            soap.SEND: self._send,
            soap.RECEIVE: self._receive,
            soap.SIGNAL: self._signal,
            soap.DELETE: self._delete,
        }

    def handle(self, message: soap.Message, size: int) -> bytes:
        """Return the reply to a request of `size` bytes; raises soap.Fault, or what the engine raised without power."""
        if size > _MAX_ENVELOPE:
            words = f"the request is larger than MaxEnvelopeSizekb ({_MAX_ENVELOPE // 1024})"
            raise soap.Fault(words, subcode="w:EncodingLimit")
        if message.resource != soap.SHELL_RESOURCE:
            raise soap.Fault(
                f"the simulated node serves remote commands only ({soap.SHELL_RESOURCE}, Ansible's connection winrm), "
                f"not {message.resource or 'a request without a resource'}",
                subcode="a:DestinationUnreachable",
                number=_RESOURCE_NOT_FOUND,
            )
        handler = self._handlers.get(message.action)
        if handler is None:
            raise soap.Fault(f"the action {message.action} is not supported", subcode="a:ActionNotSupported")
        return handler(message)

    def clear(self) -> None:
        """Forget every shell: the node has lost power."""
        with self._lock:
            self._shells.clear()

    def _create(self, message: soap.Message) -> bytes:
        shell_id = str(uuid4()).upper()
        with self._lock:
            self._shells[shell_id] = {}
        return soap.reply(
            message,
            f"{soap.CREATE}Response",
            "<x:ResourceCreated><a:Address>http://localhost/wsman</a:Address><a:ReferenceParameters>"
            f"<w:ResourceURI>{soap.SHELL_RESOURCE}</w:ResourceURI><w:SelectorSet>"
            f'<w:Selector Name="ShellId">{shell_id}</w:Selector></w:SelectorSet></a:ReferenceParameters>'
            "</x:ResourceCreated>"
            f"<rsp:Shell><rsp:ShellId>{shell_id}</rsp:ShellId><rsp:InputStreams>stdin</rsp:InputStreams>"
            "<rsp:OutputStreams>stdout stderr</rsp:OutputStreams></rsp:Shell>",
        )

    def _command(self, message: soap.Message) -> bytes:
        runs = self._runs(message)
        command = message.body.findtext("rsp:CommandLine/rsp:Command", "", soap.NAMESPACES)
        arguments = [node.text or "" for node in message.body.findall("rsp:CommandLine/rsp:Arguments", soap.NAMESPACES)]
        command_id = str(uuid4()).upper()
        # Clients differ in how they divide a command line between the two elements: Windows runs them joined by spaces.
        with self._lock:
            runs[command_id] = _Run(" ".join([command, *arguments]))
        return soap.reply(
            message,
            f"{soap.COMMAND}Response",
            f"<rsp:CommandResponse><rsp:CommandId>{command_id}</rsp:CommandId></rsp:CommandResponse>",
        )

    def _send(self, message: soap.Message) -> bytes:
        stream = message.body.find("rsp:Send/rsp:Stream", soap.NAMESPACES)
        if stream is None:
            raise soap.Fault("Send without a stream", subcode="w:SchemaValidationError")
        run = self._run(message, stream.get("CommandId"))
        if run.thread is not None:
            raise soap.Fault("the command's input has ended already", subcode="w:InvalidParameter")
        try:
            run.stdin += base64.b64decode(stream.text or "", validate=True)
        except ValueError:
            raise soap.Fault("the stream is not base64", subcode="w:SchemaValidationError") from None
        if stream.get("End", "false").lower() in ("true", "1"):
            self._start(run)
        return soap.reply(message, f"{soap.SEND}Response", "<rsp:SendResponse/>")

    def _receive(self, message: soap.Message) -> bytes:
        desired = message.body.find("rsp:Receive/rsp:DesiredStream", soap.NAMESPACES)
        command_id = desired.get("CommandId") if desired is not None else None
        run = self._run(message, command_id)
        if run.thread is None and not run.stdin:
            # No input came and output is asked for: a command that reads none.
            self._start(run)
        if not run.done.wait(max(message.timeout, 0.1)):
            raise soap.Fault(
                "The WS-Management service cannot complete the operation within the time specified in "
                "OperationTimeout.",
                subcode="w:TimedOut",
                number=TIMED_OUT,
                sender=False,
            )
        if run.failure is not None:
            raise run.failure
        return soap.reply(message, f"{soap.RECEIVE}Response", _output(run, command_id or "", message.max_envelope))

    def _signal(self, message: soap.Message) -> bytes:
        signal = message.body.find("rsp:Signal", soap.NAMESPACES)
        code = message.body.findtext("rsp:Signal/rsp:Code", "", soap.NAMESPACES)
        runs = self._runs(message)
        # Windows forgets a command at its terminate signal; one that is still running here ends in its own time.
        if signal is not None and code.endswith(_TERMINATE):
            with self._lock:
                runs.pop(signal.get("CommandId", ""), None)
                left = not any(self._shells.values())
            if left:
                self._left_alone()
        return soap.reply(message, f"{soap.SIGNAL}Response", "<rsp:SignalResponse/>")

    def _delete(self, message: soap.Message) -> bytes:
        self._runs(message)
        with self._lock:
            self._shells.pop(message.shell_id or "", None)
        return soap.reply(message, f"{soap.DELETE}Response", "")

    def _runs(self, message: soap.Message) -> dict[str, _Run]:
        with self._lock:
            runs = self._shells.get((message.shell_id or "").upper())
        if runs is None:
            raise soap.Fault(
                f"The request for the Windows Remote Shell with ShellId {message.shell_id} failed because the shell "
                "was not found on the server.",
                subcode="w:InvalidSelectors",
                number=_INVALID_SELECTORS,
            )
        return runs

    def _run(self, message: soap.Message, command_id: str | None) -> _Run:
        runs = self._runs(message)
        with self._lock:
            run = runs.get(command_id or "")
        if run is None:
            raise soap.Fault(
                f"no command {command_id} in this shell", subcode="w:InvalidSelectors", number=_INVALID_SELECTORS
            )
        return run

    def _start(self, run: _Run) -> None:
        def execute() -> None:
            try:
                run.outcome = self._engine.execute(run.line, bytes(run.stdin))
            except BaseException as error:  # noqa: BLE001 (it is raised again where the client waits)
                run.failure = error
            run.done.set()

        run.thread = threading.Thread(target=execute, name=f"command-{time.monotonic_ns()}", daemon=True)
        run.thread.start()


def _output(run: _Run, command_id: str, max_envelope: int) -> str:
    """Return the next piece of output that fits the client's envelope; after the last one, the command's end."""
    outcome = run.outcome or Completed(1, b"", b"")
    room = max(max_envelope - _OVERHEAD, 1024) * 3 // 4
    parts = []
    start = 0
    for name, data in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        offset = max(run.position - start, 0)
        piece = data[offset : offset + room]
        start += len(data)
        if piece:
            room -= len(piece)
            run.position += len(piece)
            text = base64.b64encode(piece).decode()
            parts.append(
                f"<rsp:Stream Name={soap.attribute(name)} CommandId={soap.attribute(command_id)}>{text}</rsp:Stream>"
            )
    if run.position < start:
        state = f'<rsp:CommandState CommandId={soap.attribute(command_id)} State="{soap.SHELL}/CommandState/Running"/>'
    else:
        parts.extend(
            f'<rsp:Stream Name="{name}" CommandId={soap.attribute(command_id)} End="true"/>'
            for name in ("stdout", "stderr")
        )
        state = (
            f'<rsp:CommandState CommandId={soap.attribute(command_id)} State="{soap.SHELL}/CommandState/Done">'
            f"<rsp:ExitCode>{outcome.exit_code}</rsp:ExitCode></rsp:CommandState>"
        )
    return f"<rsp:ReceiveResponse>{''.join(parts)}{state}</rsp:ReceiveResponse>"
