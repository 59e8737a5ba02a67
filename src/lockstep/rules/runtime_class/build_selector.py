"""A windows-build that no node has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lockstep.catalog.builds import Build, UnknownBuild, resolve, similar
from lockstep.finding import Finding
from lockstep.k8s.labels import WINDOWS_BUILD
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW509"

_LABEL = re.compile(r"10\.0\.\d+", re.ASCII)


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where windows-build is not `10.0.<build>`: kubelet writes no patch number and no alias.

    Source: KEP-1301, "windows-build"; kubernetes/kubernetes pkg/kubelet/winstats (the label's value).
    """
    found = item.selector.get(WINDOWS_BUILD)
    if found is None:
        return
    path = ("scheduling", "nodeSelector", WINDOWS_BUILD)
    try:
        build: Build | None = resolve(found)
    except UnknownBuild:
        build = None
    if not _LABEL.fullmatch(found):
        what = "has a patch number" if build and build.revision is not None else "is not of the form 10.0.<build>"
        message = f"{WINDOWS_BUILD} '{found}' {what}: no node has that label"
        fix = f"write {build.label}" if build else "write the host's build, such as 10.0.20348"
        label = build.label if build and build.revision is not None else None
        yield item.error(RULE, path, message, fix=fix, replacement=label)
    elif build is None or (build.facts is None and (near := similar(build))):
        meant = f"did you mean {near}?" if build else None
        message = f"no Windows of build {found} is known"
        yield item.warning(RULE, path, message, hint=meant)
