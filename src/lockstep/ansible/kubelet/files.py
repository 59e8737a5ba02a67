"""The files beside kubelet's configuration that a task gives it: drop-ins, credentials to join with, providers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lockstep.ansible.kubelet.node import KubeletNode
from lockstep.ansible.kubelet.paths import Paths
from lockstep.ansible.node import Step, file_diff
from lockstep.ansible.text import shown_yaml
from lockstep.catalog.kubernetes import Minor
from lockstep.kubelet import credential_providers as providers
from lockstep.kubelet.configuration import merge_configuration
from lockstep.kubelet.joining import shown_kubeconfig
from lockstep.node.operations import sha256, write_file

_NOT_READ = "# Another one, which was not read.\n"


@dataclass(frozen=True, slots=True)
class NodeFile:
    """A file as it is to be: `former` is the SHA-256 of what is there, `before` and `after` are for people to see.

    `secret` says that it holds something that ordinary users must not read.
    """

    path: str
    content: bytes
    former: str | None
    before: str
    after: str
    secret: bool = False

    @property
    def changed(self) -> bool:
        """Whether it is another one than there is."""
        return sha256(self.content) != self.former

    def step(self) -> Step:
        """Return the step that writes it."""
        # What was there may be a secret, so its digest alone was read.
        write = {**write_file(self.path, self.content, replaces=None), "expect_sha256": self.former}
        return Step(f"write {self.path}", write)

    def diff(self) -> dict[str, str]:
        """Return its entry of the task's diff."""
        return file_diff(self.path, self.before, self.after)


def wanted_files(node: KubeletNode, arguments: Mapping[str, Any], paths: Paths, facts: Minor) -> Iterator[NodeFile]:
    """Yield the files that this node is to have. Raises KubeletConfigError for a drop-in that cannot be merged into."""
    for name, fields in arguments["drop_ins"].items():
        path = paths.drop_in(name)
        former = node.files[path]
        content = merge_configuration(former, fields, arguments["version"])
        yield NodeFile(path, content, sha256(former), shown_yaml(former), shown_yaml(content))
    if arguments["credential_providers"]:
        yield _providers(node, arguments, paths, facts)
    if arguments["client_ca"] and not (node.there(paths.kubeconfig) and node.there(paths.client_ca)):
        yield _unread(node, paths.client_ca, arguments["client_ca"], arguments["client_ca"])
    # Once kubelet has its own kubeconfig, what it joined with is of no use to it and mostly expired.
    if arguments["bootstrap_kubeconfig"] and not node.there(paths.kubeconfig):
        text = arguments["bootstrap_kubeconfig"]
        yield replace(_unread(node, paths.bootstrap_kubeconfig, text, shown_kubeconfig(text)), secret=True)


def _providers(node: KubeletNode, arguments: Mapping[str, Any], paths: Paths, facts: Minor) -> NodeFile:
    given, former = arguments["credential_providers"], node.files[paths.providers]
    content = providers.render(given, facts)
    shown = providers.render(providers.masked(given), facts).decode()
    before = shown if former == content else _masked_former(former)
    secret = any(each.get("env") for each in given)
    return NodeFile(paths.providers, content, sha256(former), before, shown, secret=secret)


def _masked_former(former: bytes | None) -> str:
    """Return the providers that were there, with the values of their variables masked."""
    return "" if former is None else providers.shown(former)


def _unread(node: KubeletNode, path: str, text: str, shown: str) -> NodeFile:
    content = text.replace("\r\n", "\n").rstrip("\n").encode() + b"\n"
    former = node.digests[path]
    before = "" if former is None else shown if former == sha256(content) else _NOT_READ
    return NodeFile(path, content, former, before, shown)
