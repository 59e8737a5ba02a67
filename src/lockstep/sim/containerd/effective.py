"""What a containerd has after reading its configuration: its handlers, its pause image, and whether CRI came up.

Sources: containerd v1.7.29 pkg/cri/config (DefaultConfig, ValidatePluginConfig); v2.3.4 internal/cri/config
(DefaultRuntimeConfig, DefaultImageConfig, ValidateRuntimeConfig, ValidateImageConfig), plugins/cri; decoding by
pelletier/go-toml v1 and v2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lockstep.sim.containerd.loader import ConfigError, Loaded, deep_merge, toml_type
from lockstep.sim.containerd.release import CRI_V2, IMAGES_V3, RUNTIME_V3, Release, section

Schema = Any
_CNI = "C:\\Program Files\\containerd\\cni"
_CNI_BIN_DIRS = [f"{_CNI}\\bin"]
_SNAPSHOTTERS = ("windows", "windows-lcow", "cimfs", "blockcim")
"""Source: containerd cmd/containerd/builtins/builtins_windows.go, plugins/snapshots/{windows,lcow}."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "string": (str,),
    "strings": (list,),
    "table": (dict,),
}


@dataclass(frozen=True, slots=True)
class Effective:
    """The state of a containerd that is up.

    `config` is what `config dump` prints, `warnings` the lines it logged, `cri_error` why CRI is not there (None:
    it is).
    """

    config: Mapping[str, Any]
    handlers: Mapping[str, Mapping[str, Any]]
    default_handler: str
    pause_image: str
    warnings: tuple[str, ...]
    cri_error: str | None


def effective(release: Release, loaded: Loaded) -> Effective:
    """Return what a release makes of its configuration; raises ConfigError where containerd does not start on it."""
    warnings = list(loaded.warnings)
    plugins = dict(loaded.data.get("plugins", {}))
    if release.major == 1:
        own = CRI_V2 if loaded.data["version"] > 1 else "cri"
        cri = _decode(release, _Section(own, "cri", _defaults_v2(release)), plugins, warnings)
        plugins.pop(own, None)
        plugins[CRI_V2] = cri
        runtime, images = cri, {**cri, "pinned_images": {"sandbox": cri["sandbox_image"]}}
        names = [CRI_V2]
    else:
        names = [RUNTIME_V3, IMAGES_V3, CRI_V2]
        runtime = _decode(release, _Section(RUNTIME_V3, "runtime", _runtime_defaults(release)), plugins, warnings)
        images = _decode(release, _Section(IMAGES_V3, "images", _images_defaults(release)), plugins, warnings)
        server = _decode(release, _Section(CRI_V2, "server", _SERVER_DEFAULTS), plugins, warnings)
        plugins |= {RUNTIME_V3: runtime, IMAGES_V3: images, CRI_V2: server}
    error = next(_cri_problems(release, runtime, images), None)
    disabled = [name for name in loaded.data.get("disabled_plugins", []) if name in names]
    if disabled:
        error = f"plugin {disabled[0]} is disabled"
    elif error is not None:
        warnings.append(f"failed to load plugin: {error}")
        required = [name for name in loaded.data.get("required_plugins", []) if name in names]
        if required:
            raise ConfigError(f"load required plugin {required[0]}: {error}")
    config = {**loaded.data, "version": 2 if release.major == 1 else release.config_version, "plugins": plugins}
    if release.imports_by_default:
        named = loaded.data.get("imports", [])
        config["imports"] = [
            release.imports_by_default,
            *(name for name in named if name != release.imports_by_default),
        ]
    return Effective(
        config=config,
        handlers=_with_sandboxer(release, runtime["containerd"]["runtimes"]),
        default_handler=runtime["containerd"]["default_runtime_name"],
        pause_image=images["pinned_images"].get("sandbox", ""),
        warnings=tuple(warnings),
        cri_error=error,
    )


def _defaults_v2(release: Release) -> dict[str, Any]:
    return {
        "containerd": {
            "snapshotter": "windows",
            "default_runtime_name": release.facts.default_handler,
            "runtimes": release.default_handlers(),
        },
        "cni": {"bin_dir": f"{_CNI}\\bin", "conf_dir": f"{_CNI}\\conf", "max_conf_num": 1, "conf_template": ""},
        "sandbox_image": release.facts.default_pause,
        **_SERVER_DEFAULTS,
        "stats_collect_period": 10,
        "max_container_log_line_size": 16384,
        "max_concurrent_downloads": 3,
        "image_decryption": {"key_model": "node"},
        "registry": {"config_path": ""},
    }


def _runtime_defaults(release: Release) -> dict[str, Any]:
    binaries = {"bin_dirs": _CNI_BIN_DIRS} if release.facts.cni_bin_key == "bin_dirs" else {"bin_dir": f"{_CNI}\\bin"}
    return {
        "containerd": {"default_runtime_name": release.facts.default_handler, "runtimes": release.default_handlers()},
        "cni": {**binaries, "conf_dir": f"{_CNI}\\conf", "max_conf_num": 1, "conf_template": ""},
        "max_container_log_line_size": 16384,
        "drain_exec_sync_io_timeout": "0s",
    }


def _images_defaults(release: Release) -> dict[str, Any]:
    return {
        "snapshotter": "windows",
        "stats_collect_period": 10,
        "max_concurrent_downloads": 3,
        "image_decryption": {"key_model": "node"},
        "pinned_images": {"sandbox": release.facts.default_pause},
        "registry": {"config_path": ""},
        "image_pull_progress_timeout": "5m0s",
    }


_SERVER_DEFAULTS: Mapping[str, Any] = {
    "disable_tcp_service": True,
    "stream_server_address": "127.0.0.1",
    "stream_server_port": "0",
    "stream_idle_timeout": "4h0m0s",
    "enable_tls_streaming": False,
}


@cache
def _keys() -> Mapping[str, Schema]:
    loaded: Mapping[str, Schema] = yaml.safe_load(Path(__file__).with_name("cri-keys.yaml").read_bytes())
    return loaded


class _Section(NamedTuple):
    """A plugin's section: its id, its part of cri-keys.yaml, its defaults."""

    plugin: str
    keys: str
    defaults: Mapping[str, Any]


def _decode(release: Release, own: _Section, plugins: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Return a plugin's section over its defaults, without the keys that this release does not know."""
    value = plugins.get(own.plugin, {})
    if not isinstance(value, dict):
        raise ConfigError(f"toml: cannot decode TOML value into plugin {own.plugin}")
    unknown: list[str] = []
    schema = _keys()[own.keys]
    known = _known(release, schema, value, (), unknown)
    if release.major > 1:
        warnings += [f'Ignoring unknown key in TOML for plugin key="{key}" plugin={own.plugin}' for key in unknown]
    merged: dict[str, Any] = _over(release, schema, own.defaults, known)
    return merged


def _known(release: Release, schema: Schema, value: Any, path: tuple[str, ...], unknown: list[str]) -> Any:
    """Return the part of a value that a schema knows; what it does not know is named in `unknown`.

    Raises ConfigError for a type.
    """
    if schema == "handler":
        schema = {key: facts.type for key, facts in release.facts.handler_keys.items()}
    if isinstance(schema, str):
        if schema != "any" and (not isinstance(value, _TYPES[schema]) or (schema == "int" and isinstance(value, bool))):
            words = f"cannot decode TOML {toml_type(value)} into key {'.'.join(path)} of type {schema}"
            raise ConfigError(f"toml: {words}")
        return value
    if not isinstance(value, dict):
        raise ConfigError(f"toml: cannot decode TOML {toml_type(value)} into table {'.'.join(path)}")
    if "*" in schema:
        return {key: _known(release, schema["*"], item, (*path, key), unknown) for key, item in value.items()}
    found = {}
    for key, item in value.items():
        # go-toml v2 finds a field whatever the key's case; v1 takes the tag as it is.
        name = key if release.major == 1 else next((name for name in schema if name.lower() == key.lower()), key)
        entry = schema.get(name)
        if isinstance(entry, dict) and isinstance(entry.get("type"), str):
            there = _number(entry.get("since", "0.0")) <= release.minor < _number(entry.get("until", "99.0"))
            entry = entry["type"] if there else None
        if entry is None:
            unknown.append(" ".join((*path, key)))
        else:
            found[name] = _known(release, entry, item, (*path, key), unknown)
    return found


def _over(release: Release, schema: Schema, base: Any, value: Any) -> Any:
    """Return a decoded value over a default. 1.x (go-toml v1) makes a new map where the file has one.

    2.x fills the default map.
    """
    if isinstance(schema, Mapping) and isinstance(base, Mapping) and "*" not in schema:
        merged = dict(base)
        for key, item in value.items():
            merged[key] = _over(release, schema.get(key), base[key], item) if key in base else item
        return merged
    if release.major > 1 and isinstance(base, dict) and isinstance(value, dict):
        return deep_merge(base, value)
    return value


def _cri_problems(release: Release, runtime: Mapping[str, Any], images: Mapping[str, Any]) -> Iterator[str]:
    """Yield why CRI does not come up on a configuration that containerd itself starts with.

    The first is what it says.
    """
    containerd, cni, invalid = runtime["containerd"], runtime["cni"], "invalid plugin config: "
    default = containerd["default_runtime_name"]
    if not default:
        yield f"{invalid}`default_runtime_name` is empty"
    if default not in containerd["runtimes"]:
        yield (
            f"{invalid}no corresponding runtime configured in `containerd.runtimes` for `containerd` "
            f'`default_runtime_name = "{default}"'
        )
    if (
        release.facts.cni_bin_key == "bin_dirs"
        and cni.get("bin_dir")
        and cni.get("bin_dirs") not in ([], _CNI_BIN_DIRS)
    ):
        yield f"{invalid}`cni.bin_dir` and `cni.bin_dirs` cannot be set at the same time"
    for handler in containerd["runtimes"].values():
        everything = handler.get("privileged_without_host_devices_all_devices_allowed")
        if everything and not handler.get("privileged_without_host_devices"):
            yield (
                f"{invalid}`privileged_without_host_devices_all_devices_allowed` requires "
                "`privileged_without_host_devices` to be enabled"
            )
        if handler.get("io_type") not in (None, "", "fifo", "streaming"):
            yield f"{invalid}`io_type` can only be `streaming` or `named_pipe`"
    registry = section(images, "registry")
    if registry.get("mirrors") and registry.get("config_path"):
        yield "invalid cri image config: `mirrors` cannot be set when `config_path` is provided"
    snapshotter = images["snapshotter"] if release.major > 1 else containerd["snapshotter"]
    if snapshotter not in _SNAPSHOTTERS:
        yield f'failed to find snapshotter "{snapshotter}"'


def _with_sandboxer(release: Release, runtimes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the handlers as CRI has them after its checks: an empty sandboxer means podsandbox."""
    key = "sandboxer" if release.major > 1 else "sandbox_mode"
    if key not in release.facts.handler_keys:
        return {name: dict(handler) for name, handler in runtimes.items()}
    return {name: {**handler, key: handler.get(key) or "podsandbox"} for name, handler in runtimes.items()}


def _number(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)
