"""Old configurations on containerd 2.x: version 1 and 2 become 3, version 3 becomes 4, in memory at each start.

Sources: containerd v2.3.4 plugins/cri/runtime/plugin.go and plugins/cri/images/plugin.go (configMigration,
migrateConfig), plugins/cri/cri.go, cmd/containerd/server/config/config.go (v1Migrate, serviceMigrate).
"""

from __future__ import annotations

import copy
from typing import Any

from lockstep.sim.containerd.release import CRI_V2, IMAGES_V3, RUNTIME_V3

_STREAMING = (
    "disable_tcp_service",
    "stream_server_address",
    "stream_server_port",
    "stream_idle_timeout",
    "enable_tls_streaming",
    "x509_key_pair_streaming",
)
_IMAGES = (
    "registry",
    "image_decryption",
    "max_concurrent_downloads",
    "image_pull_progress_timeout",
    "image_pull_with_sync_fs",
    "stats_collect_period",
)
_IMAGES_FROM_CONTAINERD = ("snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers")
_SERVER = {
    "grpc": "io.containerd.server.v1.grpc",
    "ttrpc": "io.containerd.server.v1.ttrpc",
    "metrics": "io.containerd.server.v1.metrics",
}
_PLUGINS_V3 = 3
_PLUGINS_V2 = 2


def migrate(data: dict[str, Any], version: int, target: int) -> dict[str, Any]:
    """Return the same configuration in config version `target`."""
    data = copy.deepcopy(data)
    if version < _PLUGINS_V2:
        data = rename_plugins(data, target)
    plugins = data.setdefault("plugins", {})
    # Each step below the newest version runs the CRI plugins' migrations: a version 3 file's old section moves on
    # 2.3 too.
    _cri(plugins)
    if target > _PLUGINS_V3:
        for key, plugin in _SERVER.items():
            if isinstance(data.get(key), dict) and data[key] and plugin not in plugins:
                plugins[plugin] = data.pop(key)
    data["version"] = target
    return data


def rename_plugins(data: dict[str, Any], target: int) -> dict[str, Any]:
    """Return a version 1 file whose plugins have their full names (v1MigratePluginName).

    Nothing inside them is moved.
    """
    plugins = {CRI_V2 if name == "cri" else name: section for name, section in data.get("plugins", {}).items()}
    return {**data, "plugins": plugins, "version": target}


def _cri(plugins: dict[str, Any]) -> None:
    old = plugins.get(CRI_V2)
    if not isinstance(old, dict):
        return
    runtime: dict[str, Any] = plugins.setdefault(RUNTIME_V3, {})
    images: dict[str, Any] = plugins.setdefault(IMAGES_V3, {})
    for key, value in old.items():
        if key not in ("cni", "containerd", "sandbox_image", *_IMAGES, *_STREAMING):
            runtime.setdefault(key, value)
    _cni(runtime, old.get("cni"))
    containerd = old.get("containerd", {})
    kept = {key: value for key, value in containerd.items() if key not in _IMAGES_FROM_CONTAINERD}
    if kept:
        runtime["containerd"] = {**kept, **runtime.get("containerd", {})}
    for handler in runtime.get("containerd", {}).get("runtimes", {}).values():
        if "sandbox_mode" in handler and "sandboxer" not in handler:
            handler["sandboxer"] = handler.pop("sandbox_mode")
    if "sandbox_image" in old:
        images.setdefault("pinned_images", {})["sandbox"] = old["sandbox_image"]
    images.update({key: old[key] for key in _IMAGES if key in old})
    images.update({key: containerd[key] for key in _IMAGES_FROM_CONTAINERD if key in containerd})
    # The server part keeps its place; what is not its own is reported nowhere, because the old section was not
    # decoded as it.
    plugins[CRI_V2] = {key: value for key, value in old.items() if key in _STREAMING}


def _cni(runtime: dict[str, Any], old: Any) -> None:
    if not isinstance(old, dict):
        return
    new = runtime.setdefault("cni", {})
    for key, value in old.items():
        if key == "bin_dir":
            new.setdefault("bin_dirs", [value])
        else:
            new.setdefault(key, value)
