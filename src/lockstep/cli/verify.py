"""`lockstep verify`: prove that description, manifests and nodes agree."""

from __future__ import annotations

import argparse
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.cli.command import InputError, Subparsers
from lockstep.cli.source import add_source, checked
from lockstep.containerd.errors import ContainerdConfigError
from lockstep.containerd.view import inspect
from lockstep.fleet.own_labels import POOL
from lockstep.report.proof import proof
from lockstep.report.table import columns
from lockstep.verify.agreement import prove
from lockstep.verify.kept import read_kept
from lockstep.verify.observed import Node, ObservationError, read_manifests, read_nodes

TIMEOUT_SECONDS = 30


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("verify", help="prove that description, manifests and nodes agree")
    add_source(parser)
    parser.add_argument("--manifests", type=Path, required=True, metavar="DIR", help="the rendered RuntimeClasses")
    parser.add_argument(
        "--nodes",
        required=True,
        metavar="FILE",
        help="the nodes, as `kubectl get nodes -o json` prints them; - for standard input, or an http(s) address",
    )
    parser.add_argument(
        "--observed",
        type=Path,
        required=True,
        metavar="DIR",
        help="for each node <node>.json, as playbooks/observe.yml keeps it, or <node>.toml, what `containerd config "
        "dump` prints",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the proof; the exit status is 1 where anything disagrees."""
    loaded = checked(options)
    if loaded.plan is None:
        return 1
    for folder in (options.manifests, options.observed):
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder")
    try:
        nodes = read_nodes(_text(options.nodes))
        manifests = read_manifests(options.manifests)
        effective = _effective(options.observed)
    except (ObservationError, ContainerdConfigError) as error:
        raise InputError(str(error)) from error
    pool_of = {host: pool for pool, hosts in loaded.hosts.items() for host in hosts} or _by_label(nodes)
    handlers = {name: each.handlers for name, each in effective.items()}
    pause_images = {name: each.pause_image for name, each in effective.items()}
    agreement = prove(loaded.plan, pool_of, manifests, nodes, handlers, pause_images=pause_images)
    print(proof(agreement, columns()), end="")
    return 0 if agreement.agrees else 1


@dataclass(frozen=True, slots=True)
class _Effective:
    """What containerd has in effect on a node."""

    handlers: Mapping[str, Mapping[str, Any]]
    pause_image: str | None


def _effective(folder: Path) -> dict[str, _Effective]:
    """Return what was observed in a folder, by node; why nothing is in effect somewhere is told.

    Raises ObservationError or ContainerdConfigError for what cannot be read.
    """
    found = {}
    for path in sorted(folder.glob("*.toml")):
        view = inspect(path.read_bytes())
        found[path.stem] = _Effective(view.handlers, view.pause_image)
    for kept in read_kept([folder]):
        containerd = (kept.node or {}).get("containerd", {})
        if "handlers" in containerd:
            found[kept.host] = _Effective(containerd["handlers"], containerd["pause_image"])
        else:
            said = kept.error or containerd.get("error", "containerd is not there")
            print(f"lockstep: {kept.host}: no handler is in effect: {said}", file=sys.stderr)
    return found


def _by_label(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the pool that each node was registered for: a description without an inventory names no hosts."""
    return {node.name: node.labels[POOL] for node in nodes if POOL in node.labels}


def _text(source: str) -> str:
    try:
        if source == "-":
            return sys.stdin.read()
        if source.startswith(("http://", "https://")):
            with urllib.request.urlopen(source, timeout=TIMEOUT_SECONDS) as reply:  # noqa: S310 - the scheme was checked
                return str(reply.read().decode())
        return Path(source).read_text(encoding="utf-8")
    except (OSError, ValueError, urllib.error.URLError) as error:
        raise InputError(f"cannot read the nodes from {source}: {error}") from error
