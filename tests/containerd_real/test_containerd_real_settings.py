"""Log levels, metrics, registries, snapshotters and imports, loaded by the real containerd of every series.

And what `containerd config dump` shows of them, compared with the plan as a task does it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.containerd.documents import planned
from tests.containerd_real.programs import FLAVOURS, FOLDER, RELEASES, default, dump, program

from lockstep.catalog.containerd import layouts, series
from lockstep.catalog.containerd_files import snapshotters_of
from lockstep.containerd import ContainerdConfigError, Settings, merge, overridden, remove

pytestmark = [
    pytest.mark.containerd,
    pytest.mark.skipif(
        not FOLDER,
        reason="LOCKSTEP_CONTAINERD_DIR is not set: build the programs with tests/containerd_real/build.py FOLDER",
    ),
]
releases = pytest.mark.parametrize("version", RELEASES)
flavours = pytest.mark.parametrize("flavour", FLAVOURS)
VERSIONS = [(version, number) for version in RELEASES for number in range(2, series(version).max_config_version + 1)]


def everything(version: str, number: int | None = None) -> Settings:
    """All that a file of this config version, by default a new one's, can say."""
    snapshotters = {"runhcs-wcow-process": max(snapshotters_of(version))}
    number = series(version).config_version_for_new_file if number is None else number
    where, facts = layouts()[number], series(version)
    possible = "snapshotter" in facts.handler_keys and (where.handler_platforms or not facts.merges_handlers)
    return Settings(
        handlers=(planned(version, "process"), planned(version, "hyperv", VmMemorySizeInMb=2048)),
        default_handler="runhcs-wcow-process",
        pause_image="registry.k8s.io/pause:3.10.2",
        snapshotters=snapshotters if possible else {},
        log_level="warn",
        metrics_address="127.0.0.1:1338",
        registry_path=r"C:\ProgramData\containerd\certs.d",
        imports=(),
    )


@pytest.mark.parametrize(("version", "number"), VERSIONS)
@flavours
def test_a_file_of_every_config_version_that_it_reads(version: str, number: int, flavour: str, tmp_path: Path) -> None:
    settings = everything(version, number)
    after = merge(f"version = {number}\n".encode(), settings, version)
    done = dump(program(version, flavour), after, tmp_path)
    assert (done.code, done.warnings) == (0, ())
    assert overridden(done.output, settings, version) == ()
    assert merge(after, settings, version) == after


@releases
def test_its_own_default_file(version: str, tmp_path: Path) -> None:
    path = program(version, "windows-defaults")
    before = default(path)
    settings = everything(version)
    after = merge(before, settings, version)
    done = dump(path, after, tmp_path)
    assert (done.code, done.warnings) == (0, ())
    assert overridden(done.output, settings, version) == ()
    done = dump(path, remove(after, settings, version) or b"", tmp_path)
    assert (done.code, done.warnings) == (0, ())


@releases
def test_a_snapshotter_in_a_file_of_version_2_is_refused_where_images_would_have_another(version: str) -> None:
    if version.startswith("1."):
        return
    settings = Settings((planned(version, "process"),), snapshotters={"runhcs-wcow-process": "windows"})
    with pytest.raises(ContainerdConfigError, match="cannot be given the snapshotter"):
        merge(b"version = 2\n", settings, version)


@releases
def test_what_a_drop_in_overrides_is_seen(version: str, tmp_path: Path) -> None:
    settings = replace(everything(version), imports=(str(tmp_path / "conf.d" / "*.toml"),))
    number = series(version).config_version_for_new_file
    where = layouts()[number]
    table = ".".join(f"'{part}'" for part in (*where.handlers, "runhcs-wcow-hypervisor"))
    drop_in = tmp_path / "conf.d" / "own.toml"
    drop_in.parent.mkdir()
    drop_in.write_text(
        f"version = {number}\n[{table}]\nruntime_type = 'io.containerd.runhcs.v1'\n"
        f"[{table}.options]\nVmMemorySizeInMb = 512\n[debug]\nlevel = 'trace'\n",
        encoding="utf-8",
    )
    done = dump(program(version, "windows-defaults"), merge(None, settings, version), tmp_path)
    assert (done.code, done.warnings) == (0, ())
    found = {each.key: each for each in overridden(done.output, settings, version)}
    assert (found["VmMemorySizeInMb"].planned, found["VmMemorySizeInMb"].found) == (2048, 512)
    assert (found["level"].planned, found["level"].found) == ("warn", "trace")
    assert str(found["VmMemorySizeInMb"]) == (
        "handler runhcs-wcow-hypervisor: VmMemorySizeInMb is 512, planned is 2048"
    )
    # 1.x replaces the whole section, so that nothing else of the plan is left.
    assert ("sandbox_image" in found) is version.startswith("1.")


@releases
def test_a_file_without_imports_imports_nothing(version: str, tmp_path: Path) -> None:
    """Whatever `config dump` says of it: only what a file itself names is read."""
    trace = tmp_path / "conf.d" / "own.toml"
    trace.parent.mkdir()
    number = series(version).config_version_for_new_file
    trace.write_text(f"version = {number}\n[debug]\nlevel = 'trace'\n", encoding="utf-8")
    for imports, level in (("", ""), (f"imports = ['{trace}']\n", "trace")):
        done = dump(program(version, "windows-defaults"), f"version = {number}\n{imports}".encode(), tmp_path)
        assert (f"level = '{level}'" in done.output.decode()) or (f'level = "{level}"' in done.output.decode())


@releases
def test_registries_in_two_ways_are_refused_because_its_cri_plugin_does_not_load(version: str) -> None:
    where = layouts()[series(version).config_version_for_new_file]
    table = ".".join(f"'{part}'" for part in (*where.registry, "mirrors", "docker.io"))
    file = f"version = {where.config_version}\n[{table}]\nendpoint = ['https://mirror.example']\n"
    with pytest.raises(ContainerdConfigError, match=r"mirrors.*does not start with both"):
        merge(file.encode(), everything(version), version)
