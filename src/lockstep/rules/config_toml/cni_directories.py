"""The CNI plugins' folder under both of its names."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW423"

_ONE, _MANY = "bin_dir", "bin_dirs"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where bin_dir and bin_dirs both say something, or the one that the release does not have.

    Source: containerd internal/cri/config/config.go (`cni.bin_dir` and `cni.bin_dirs` cannot be set at the same time).
    """
    cni = config.layout.cni
    table = config.table(cni)
    if table.get(_ONE) and table.get(_MANY):
        message = "cni.bin_dir and cni.bin_dirs are both there: the CRI plugin does not load"
        key = config.release.cni_bin_key if config.release else _MANY
        other = _ONE if key == _MANY else _MANY
        yield config.error(RULE, (*cni, other), message, fix=f"keep {key} alone", at_key=True)
    elif table.get(_MANY) and all(found.cni_bin_key == _ONE for found in config.candidates):
        message = f"containerd {config.candidates[-1].name} has no cni.bin_dirs and ignores it"
        yield config.error(RULE, (*cni, _MANY), message, fix="write bin_dir, one folder", at_key=True)
