"""Everything that was given, for rules that look across."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lockstep.fleet.load import Loaded
from lockstep.fleet.plan import Plan
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.context import Context
from lockstep.rules.given.kubelet import KubeletFile, KubeletLine
from lockstep.rules.given.nodes import Node, given_node, planned_nodes
from lockstep.rules.given.runtime_class import RuntimeClassManifest


@dataclass(frozen=True, slots=True)
class Together:
    """All files, all RuntimeClasses and all descriptions of one check."""

    configs: tuple[ConfigToml, ...]
    kubelets: tuple[KubeletFile, ...]
    lines: tuple[KubeletLine, ...]
    classes: tuple[RuntimeClassManifest, ...]
    loaded: tuple[Loaded, ...]
    context: Context

    @property
    def plan(self) -> Plan | None:
        """The plan of the description, where there is one and it has no error."""
        plans = [one.plan for one in self.loaded if one.plan]
        return plans[0] if len(plans) == 1 else None

    @property
    def windows_classes(self) -> Iterator[RuntimeClassManifest]:
        """The RuntimeClasses that are meant for Windows."""
        return (item for item in self.classes if item.for_windows)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """A node of each pool of the description, and the one that the files make; none where there is neither."""
        planned = tuple(planned_nodes(self.plan)) if self.plan else ()
        if not (self.configs or self.kubelets or self.lines):
            return planned
        return (*planned, given_node(self.configs, self.kubelets, self.lines))
