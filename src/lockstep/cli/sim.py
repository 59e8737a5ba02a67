"""`lockstep sim`: play Windows nodes on this machine."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.cli.command import InputError, Subparsers

if TYPE_CHECKING:
    from lockstep.sim import NodeSpec

_DESCRIPTION = """\
Play Windows nodes on this machine: a WinRM server (Basic and NTLM) for each,
behind it containerd and kubelet services that behave as their versions do.

  lockstep sim --state DIR --name win2025-0 --build 26100 --port 15985
  lockstep sim --state DIR --node win2022-0=20348,2.3.4,1.36.1,15985 \\
                           --node win2025-0=26100,2.3.4,1.36.1,15986
  lockstep sim --state DIR --nodes nodes.yaml --port 15985

GET /api/v1/nodes on any port lists the registered Node objects, GET /stats
counts the requests. The state is files in DIR; starting on it again is a boot."""

_NODE_FORM = "NAME=BUILD,CONTAINERD,KUBERNETES[,PORT]"


def add_parser(subparsers: Subparsers) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "sim",
        help="play Windows nodes on this machine",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--state", type=Path, required=True, metavar="DIR", help="folder of the nodes' state, made where it is missing"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=15985,
        metavar="N",
        help="first port; nodes without their own count up (%(default)s)",
    )
    parser.add_argument(
        "--shared-port", action="store_true", help="all nodes on --port, told apart by path: /wsman/<node>"
    )
    parser.add_argument("--address", default="127.0.0.1", metavar="IP", help="where to listen (%(default)s)")
    parser.add_argument("--user", default="Administrator", help="who may log on (%(default)s)")
    parser.add_argument("--password", default="lockstep", help="password (%(default)s); LOCKSTEP_SIM_PASSWORD wins")
    one = parser.add_argument_group("one node")
    one.add_argument("--name", default="win2025-0", help="node name (%(default)s)")
    one.add_argument("--build", default="26100", help="Windows build: alias, number or full version (%(default)s)")
    one.add_argument("--containerd", default="2.3.4", metavar="VERSION", help="containerd version (%(default)s)")
    one.add_argument("--kubernetes", default="1.36.1", metavar="VERSION", help="kubelet version (%(default)s)")
    one.add_argument(
        "--config-toml",
        choices=("none", "default"),
        default="none",
        help="config.toml of a new node: none, or containerd's own default",
    )
    many = parser.add_argument_group("several nodes")
    many.add_argument("--node", action="append", default=[], metavar=_NODE_FORM, help="may be repeated")
    many.add_argument(
        "--nodes",
        type=Path,
        metavar="FILE",
        help="YAML or JSON list of {name, build, containerd, kubernetes, port, config_toml}",
    )
    engine = parser.add_argument_group("engine")
    engine.add_argument(
        "--engine", choices=("emulated", "powershell"), default="emulated", help="what runs the commands (%(default)s)"
    )
    engine.add_argument(
        "--powershell", metavar="COMMAND", help="with --engine powershell: the program; {node} and {state} are replaced"
    )
    parser.add_argument(
        "--pid-file", type=Path, metavar="FILE", help="write the process id here when every node is ready"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; prints one line a node when all are ready."""
    from lockstep.sim import SimulatedNodes  # noqa: PLC0415 - other commands need none of it

    if (options.engine == "powershell") != (options.powershell is not None):
        raise InputError("--engine powershell and --powershell COMMAND go together")
    try:
        nodes = SimulatedNodes(
            options.state.resolve(),
            _specs(options),
            port=options.port,
            shared_port=options.shared_port,
            address=options.address,
            user=options.user,
            password=os.environ.get("LOCKSTEP_SIM_PASSWORD", options.password),
            powershell=options.powershell,
        )
        with nodes:
            _serve([f"{name} ready at {nodes.url(name)}" for name in nodes.names], options.pid_file)
    except ValueError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise InputError(f"{where}{error.strerror}") from error
    return 0


def _serve(lines: list[str], pid_file: Path | None) -> None:
    """Say that all are ready, then wait for SIGTERM or SIGINT; with a pid file where one was asked for."""
    ended = threading.Event()
    former = {number: signal.signal(number, lambda *_: ended.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        if pid_file is not None:
            pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        print("\n".join(lines), flush=True)
        ended.wait()
    finally:
        if pid_file is not None:
            pid_file.unlink(missing_ok=True)
        for number, handler in former.items():
            signal.signal(number, handler)


def _specs(options: argparse.Namespace) -> list[NodeSpec]:
    """Return the nodes that were asked for; raises InputError."""
    from lockstep.sim import NodeSpec  # noqa: PLC0415

    specs = [_from_text(text) for text in options.node]
    if options.nodes is not None:
        specs += _from_file(options.nodes)
    if specs:
        return specs
    return [NodeSpec(options.name, options.build, options.containerd, options.kubernetes, options.config_toml)]


def _from_text(text: str) -> NodeSpec:
    from lockstep.sim import NodeSpec  # noqa: PLC0415

    name, _, rest = text.partition("=")
    parts = rest.split(",")
    if len(parts) not in (3, 4) or not all(parts) or not name or not all(part.isdigit() for part in parts[3:]):
        raise InputError(f"--node {text}: expected {_NODE_FORM}")
    build, containerd, kubernetes = parts[:3]
    return NodeSpec(name, build, containerd, kubernetes, port=int(parts[3]) if parts[3:] else None)


def _from_file(path: Path) -> list[NodeSpec]:
    import yaml  # noqa: PLC0415

    from lockstep.sim import NodeSpec  # noqa: PLC0415

    try:
        document: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(document, list) or not document:
        raise InputError(f"{path}: expected a list of nodes")
    specs = []
    for index, entry in enumerate(document):
        keys = ("name", "build", "containerd", "kubernetes", "config_toml", "port")
        if not isinstance(entry, dict) or "name" not in entry or set(entry) - set(keys):
            raise InputError(f"{path}: entry {index + 1}: expected name and any of {', '.join(keys[1:])}")
        port = entry.pop("port", None)
        if port is not None and (not isinstance(port, int) or isinstance(port, bool)):
            raise InputError(f"{path}: entry {index + 1}: port is a number")
        wrong = [key for key, value in entry.items() if not isinstance(value, str)]
        if wrong and wrong != ["build"]:
            raise InputError(f"{path}: entry {index + 1}: {wrong[0]} is text: quote it")
        specs.append(NodeSpec(**{key: str(value) for key, value in entry.items()}, port=port))
    return specs
