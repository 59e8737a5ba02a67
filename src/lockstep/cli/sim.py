"""`lockstep sim`: play Windows nodes on this machine."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.cli.command import InputError, Subparsers

if TYPE_CHECKING:
    from lockstep.sim import NodeSpec

_DESCRIPTION = """\
Play Windows nodes on this machine: a WinRM server (Basic and NTLM) for each,
behind it containerd and kubelet services that behave as their versions do,
or with --bare a Windows Server that was just installed.

  lockstep sim --state DIR --name win2025-0 --build 26100 --port 15985
  lockstep sim --state DIR --node win2022-0=20348,2.3.4,1.36.1,15985 \\
                           --node win2025-0=26100,2.3.4,1.36.1,15986
  lockstep sim --state DIR --bare --node win2025-0=26100,2.3.4,1.36.1,memory=8Gi
  lockstep sim --state DIR --nodes nodes.yaml --port 15985

GET /api/v1/nodes on any port lists the registered Node objects, GET /stats
counts the requests. The state is files in DIR; starting on it again is a boot."""

_NODE_FORM = "NAME=BUILD,CONTAINERD,KUBERNETES[,PORT][,SETTING=VALUE…]"
PREPARED = ("services", "programs", "nothing")
_KEYS = "name, build, containerd, kubernetes, port, config_toml, prepared, bare, machine"


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
    prepared = parser.add_argument_group("new nodes, where they do not say it themselves")
    prepared.add_argument(
        "--prepared",
        choices=PREPARED,
        default=PREPARED[0],
        help="what a new node has: containerd and kubelet as services, the programs alone, or nothing (%(default)s)",
    )
    prepared.add_argument(
        "--bare", dest="prepared", action="store_const", const=PREPARED[-1], help="short for --prepared nothing"
    )
    prepared.add_argument(
        "--machine",
        action="append",
        default=[],
        metavar="SETTING=VALUE",
        help="of the machine, may be repeated: memory=8Gi, processors=2, nested=false, restart_seconds=5, …",
    )
    many = parser.add_argument_group("several nodes")
    many.add_argument("--node", action="append", default=[], metavar=_NODE_FORM, help="may be repeated")
    many.add_argument(
        "--nodes",
        type=Path,
        metavar="FILE",
        help=f"YAML or JSON list of {{{_KEYS}}}",
    )
    engine = parser.add_argument_group("engine")
    engine.add_argument(
        "--engine", choices=("emulated", "powershell"), default="emulated", help="what runs the commands (%(default)s)"
    )
    engine.add_argument(
        "--powershell", metavar="COMMAND", help="with --engine powershell: the program; {node} and {state} are replaced"
    )
    parser.add_argument(
        "--programs",
        type=Path,
        metavar="DIR",
        help="real programs that the mirror packs where it has them: DIR/containerd-2.3.4/containerd.exe",
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
            programs=options.programs.resolve() if options.programs is not None else None,
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
        # In this order: who waits for the file reads what was printed.
        print("\n".join(lines), flush=True)
        if pid_file is not None:
            pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        ended.wait()
    finally:
        if pid_file is not None:
            pid_file.unlink(missing_ok=True)
        for number, handler in former.items():
            signal.signal(number, handler)


def _specs(options: argparse.Namespace) -> list[NodeSpec]:
    """Return the nodes that were asked for; raises InputError, ValueError."""
    from lockstep.sim import NodeSpec  # noqa: PLC0415

    common = {"prepared": options.prepared, "machine": _settings(options.machine, "--machine")}
    specs = [_from_text(text, common) for text in options.node]
    if options.nodes is not None:
        specs += _from_file(options.nodes, common)
    if specs:
        return specs
    return [
        NodeSpec(options.name, options.build, options.containerd, options.kubernetes, options.config_toml, **common)
    ]


def _from_text(text: str, common: Mapping[str, Any]) -> NodeSpec:
    from lockstep.sim import NodeSpec  # noqa: PLC0415

    name, _, rest = text.partition("=")
    parts = [part for part in rest.split(",") if "=" not in part]
    settings = _settings([part for part in rest.split(",") if "=" in part], f"--node {text}")
    if len(parts) not in (3, 4) or not all(parts) or not name or not all(part.isdigit() for part in parts[3:]):
        raise InputError(f"--node {text}: expected {_NODE_FORM}")
    build, containerd, kubernetes = parts[:3]
    port = int(parts[3]) if parts[3:] else None
    machine = {**common["machine"], **settings}
    return NodeSpec(name, build, containerd, kubernetes, port=port, prepared=common["prepared"], machine=machine)


def _settings(texts: list[str], where: str) -> dict[str, str]:
    """Return SETTING=VALUE texts as settings of a machine; raises InputError."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(f"{where}: '{text}' is no SETTING=VALUE")
        settings[name] = value
    return settings


def _from_file(path: Path, common: Mapping[str, Any]) -> list[NodeSpec]:
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
        try:
            specs.append(NodeSpec.of(entry, common))
        except ValueError as error:
            raise InputError(f"{path}: entry {index + 1}: {error}") from None
    return specs
