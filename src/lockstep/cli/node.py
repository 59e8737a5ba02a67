"""`lockstep node show`: nodes as they are, compared with what the description plans for them."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from lockstep.cli.command import InputError, Subparsers
from lockstep.cli.observe import observe
from lockstep.cli.source import add_vault_password_file
from lockstep.fleet.load import Loaded
from lockstep.fleet.plan import PoolPlan
from lockstep.report.findings import report
from lockstep.report.node import Observed, show_nodes
from lockstep.report.table import columns
from lockstep.rules.check import check
from lockstep.verify.kept import ENDING, Kept, read_kept
from lockstep.verify.node import attention, differences, overridden
from lockstep.verify.observed import ObservationError
from lockstep.words import nearest

_DESCRIPTION = """\
Show nodes as they are: build and patch, services, versions, handlers in effect,
certificates, and what else there is. With -i, what differs from the plan is
marked.

  lockstep node show -i INVENTORY              reads all nodes of the inventory
  lockstep node show -i INVENTORY win2025-0    reads this one (or a group, or a
                                               pattern of Ansible's)
  lockstep node show build/observed            shows what playbooks/observe.yml
                                               kept, and asks no node"""

_EPILOG = """\
exit status: 0 all is well; 1 a node differs from the plan, wants to be looked
at or could not be read; 2 no node could be read."""

_NO_HOST = "no hosts matched"
"""What Ansible prints where a pattern is that of no host."""


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    node = commands.add_parser("node", help="show nodes as they are, and where they differ from the plan")
    actions = node.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser = actions.add_parser(
        "show",
        help="read nodes, or what was kept of them, and show it",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="HOST|FILE", help="hosts, or files and folders")
    parser.add_argument("-i", "--inventory", type=Path, metavar="PATH", help="an Ansible inventory")
    add_vault_password_file(parser)
    parser.add_argument("--full", action="store_true", help="every node in full, not in a table")
    parser.add_argument(
        "--format", choices=("text", "json", "yaml"), default="text", help="json and yaml have every fact"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the nodes."""
    given: list[Path] = options.paths
    files = [path for path in given if path.is_dir() or path.suffix == ENDING]
    if files and len(files) < len(given):
        other = next(path for path in given if path not in files)
        raise InputError(f"{other} is neither a folder nor a {ENDING} file: give either hosts or files")
    if not files and options.inventory is None:
        raise InputError("name an inventory with -i, or what playbooks/observe.yml kept")
    loaded = _described(options)
    kept = _kept(files) if files else _read(options, loaded)
    if not kept:
        raise InputError(f"there is no {ENDING} file in {', '.join(map(str, files))}")
    nodes = [_judged(each, loaded) for each in kept]
    _print(nodes, options)
    if all(node.kept.node is None for node in nodes):
        return 2
    return 1 if any(node.differences or node.attention or node.kept.node is None for node in nodes) else 0


def _described(options: argparse.Namespace) -> Loaded:
    """Return the inventory's description; its findings are told, and a node is shown all the same."""
    if options.inventory is None:
        return Loaded()
    if not options.inventory.exists():
        raise InputError(f"{options.inventory} does not exist")
    loaded = check(options.inventory, vault_password_file=options.vault_password_file)
    if loaded.failed:
        print(report(loaded, stream=sys.stderr), end="", file=sys.stderr)
        print("The nodes are shown without a plan to compare them with.\n", file=sys.stderr)
    return loaded


def _kept(files: Sequence[Path]) -> list[Kept]:
    try:
        return read_kept(files)
    except ObservationError as error:
        raise InputError(str(error)) from error


def _read(options: argparse.Namespace, loaded: Loaded) -> list[Kept]:
    """Return what the nodes say now. Raises InputError where Ansible read none and kept no reason."""
    hosts = [str(path) for path in options.paths] or [host for hosts in loaded.hosts.values() for host in hosts]
    with tempfile.TemporaryDirectory() as folder:
        said = observe(options.inventory, hosts, Path(folder), options.vault_password_file)
        kept = _kept([Path(folder)])
    if not kept:
        raise InputError(_unmatched(options, loaded) if _NO_HOST in said else f"Ansible has read no node:\n{said}")
    missing = set() if options.paths else {*hosts} - {each.host for each in kept}
    return [*kept, *(Kept(host, error="Ansible did not come as far as this host") for host in sorted(missing))]


def _unmatched(options: argparse.Namespace, loaded: Loaded) -> str:
    if not options.paths:
        return f"{options.inventory} has no Windows nodes: neither pools with hosts nor a group named windows"
    asked = ", ".join(map(str, options.paths))
    pools = [f"{pool}: {', '.join(hosts)}" for pool, hosts in loaded.hosts.items() if hosts]
    near = nearest(asked, [*loaded.hosts, *(host for hosts in loaded.hosts.values() for host in hosts)])
    there_are = "; there are\n  " + "\n  ".join(pools) if pools else ""
    meant = f"; did you mean '{near}'?" if near else there_are
    return f"no host of {options.inventory} matches '{asked}'{meant}"


def _judged(kept: Kept, loaded: Loaded) -> Observed:
    if kept.node is None:
        return Observed(kept)
    pool = _pool(kept, loaded)
    different = differences(kept.node, overridden(pool, kept.overrides)) if pool else ()
    return Observed(kept, pool.name if pool else None, different, attention(kept.node, compared=pool is not None))


def _pool(kept: Kept, loaded: Loaded) -> PoolPlan | None:
    pools: Mapping[str, PoolPlan] = loaded.plan.pools if loaded.plan else {}
    found = [pool for name, pool in pools.items() if kept.host in loaded.hosts.get(name, ())]
    found = found or [pool for pool in pools.values() if pool.group in kept.groups]
    return found[0] if len(found) == 1 else None


def _print(nodes: Sequence[Observed], options: argparse.Namespace) -> None:
    if options.format == "text":
        print(show_nodes(nodes, columns(), full=options.full), end="")
        return
    data = [_data(node) for node in nodes]
    if options.format == "json":
        print(json.dumps(data, indent=2))
    else:
        print(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), end="")


def _data(node: Observed) -> dict[str, object]:
    if node.kept.node is None:
        return {"host": node.kept.host, "error": node.kept.error}
    return {
        "host": node.kept.host,
        "pool": node.pool,
        "overrides": dict(node.kept.overrides),
        "differences": [{"about": each.about, "text": each.text} for each in node.differences],
        "attention": list(node.attention),
        "node": dict(node.kept.node),
    }
