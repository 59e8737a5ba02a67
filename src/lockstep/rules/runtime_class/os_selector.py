"""A Windows class whose selector leaves the operating system out, or asks for another."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s.labels import OS, WINDOWS_BUILD
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW508"

_OLD = "beta.kubernetes.io/os"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding at a selector without kubernetes.io/os, or with another system's.

    Source: KEP-1301, whose selectors name kubernetes.io/os, kubernetes.io/arch and windows-build.
    """
    selector = item.mapping("scheduling", "nodeSelector")
    path = ("scheduling", "nodeSelector")
    if not item.for_windows or not selector:
        return
    if OS in selector:
        found = selector[OS]
        if isinstance(found, str) and found != "windows":
            message = f"the class is for Windows and selects nodes with {OS} '{found}'"
            yield item.error(RULE, (*path, OS), message, fix=f"write {OS}: windows")
    elif WINDOWS_BUILD not in selector:
        hint = f"{_OLD} is deprecated: kubelet may stop setting it" if _OLD in selector else None
        message = f"the class is for Windows and its selector has no {OS}"
        yield item.warning(RULE, path, message, hint=hint, fix=f"add {OS}: windows", at_key=True)
