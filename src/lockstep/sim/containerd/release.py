"""One containerd release: what its version decides about how it reads its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.catalog.containerd import Series, series
from lockstep.catalog.versions import Version

CRI_V2 = "io.containerd.grpc.v1.cri"
RUNTIME_V3 = "io.containerd.cri.v1.runtime"
IMAGES_V3 = "io.containerd.cri.v1.images"
_CONFIG_FOLDER = "C:\\Program Files\\containerd"


@dataclass(frozen=True, slots=True)
class Release:
    """A containerd release; `facts` is its entry of the catalogue."""

    version: str
    facts: Series

    @classmethod
    def of(cls, version: str) -> Release:
        """Return the release with this version; raises what the catalogue raises for one that it does not describe."""
        return cls(version, series(version))

    @property
    def minor(self) -> tuple[int, int]:
        """Major and minor number."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    @property
    def major(self) -> int:
        """1 or 2: the two ways of reading a configuration."""
        return self.minor[0]

    @property
    def config_version(self) -> int:
        """The highest config version that it reads, to which it migrates older ones."""
        return self.facts.max_config_version

    @property
    def imports_by_default(self) -> str | None:
        """The drop-in pattern that `config default` prints; a file without `imports` imports nothing all the same.

        Source: containerd v2.2.1 and v2.3.4 defaults/defaults_windows.go, cmd/containerd/command/config.go, LoadConfig.
        """
        return f"{_CONFIG_FOLDER}\\conf.d\\*.toml" if self.minor >= (2, 2) else None

    @property
    def migrates_each_file(self) -> bool:
        """Whether files are migrated one by one.

        Source: containerd v2.3.4, LoadConfigWithPlugins; v2.2.1, LoadConfig.
        """
        return self.minor >= (2, 3)

    @property
    def refuses_newer_imports(self) -> bool:
        """Whether a drop-in of a higher version than its root stops it. Source: the same at v2.3.4; gone at v2.3.7."""
        return (2, 3, 0) <= Version.parse(self.version).release < (2, 3, 5)

    def default_handlers(self) -> dict[str, dict[str, Any]]:
        """Its own handlers, as tables of config.toml."""
        return {name: _table(handler) for name, handler in self.facts.default_handlers.items()}


def _table(handler: Any) -> dict[str, Any]:
    table: dict[str, Any] = {"runtime_type": handler.runtime_type}
    if handler.pod_annotations:
        table["pod_annotations"] = list(handler.pod_annotations)
    if handler.container_annotations:
        table["container_annotations"] = list(handler.container_annotations)
    if handler.options:
        table["options"] = dict(handler.options)
    return table


def section(data: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return a table in parsed TOML, empty where there is none."""
    for key in path:
        value = data.get(key)
        if not isinstance(value, Mapping):
            return {}
        data = value
    return data
