"""Every config.toml that lockstep writes, loaded by the real containerd of every series."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.containerd.documents import Case, cases, planned
from tests.containerd_real import facts
from tests.containerd_real.programs import FLAVOURS, FOLDER, RELEASES, default, dump, program

from lockstep.catalog.containerd import layouts, option_types, series
from lockstep.containerd import ContainerdConfigError, Settings, inspect, merge

CASES = Path(__file__).parents[1] / "containerd" / "cases"
PAUSE = "registry.k8s.io/pause:3.10.2"

pytestmark = [
    pytest.mark.containerd,
    pytest.mark.skipif(
        not FOLDER,
        reason="LOCKSTEP_CONTAINERD_DIR is not set: build the programs with tests/containerd_real/build.py FOLDER",
    ),
]

# What is refused is what a program cannot load, or what it reads in another way than it looks: a file as version 1, a
# table with nothing in it as an empty text.
MISREAD = ("refused-no-version", "refused-version-1", "refused-value-is-a-table")

releases = pytest.mark.parametrize("version", RELEASES)
flavours = pytest.mark.parametrize("flavour", FLAVOURS)


def plan(version: str, *, exclusive: bool = False) -> Settings:
    handlers = (planned(version, "process"), planned(version, "hyperv", VmMemorySizeInMb=2048, VmProcessorCount=2))
    return Settings(handlers, "runhcs-wcow-process", PAUSE, exclusive)


def by_hand() -> Iterator[tuple[str, bytes]]:
    for folder in sorted(CASES.iterdir()):
        if (folder / "in.toml").exists():
            yield folder.name, (folder / "in.toml").read_bytes()


def flat(data: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for key, value in data.items():
        found |= flat(value, (*path, key)) if isinstance(value, Mapping) and value else {(*path, key): value}
    return found


def assert_planned(loaded: bytes, settings: Settings) -> None:
    """Check that the program has each planned handler with each planned key and option."""
    view = inspect(loaded)
    for handler in settings.handlers:
        table = view.handlers[handler.name]
        assert table["runtime_type"] == handler.runtime_type
        assert table["pod_annotations"] == list(handler.pod_annotations)
        assert table["container_annotations"] == list(handler.container_annotations)
        assert table["options"] == {**table["options"], **handler.options}
        assert handler.sandboxer is None or table["sandboxer"] == handler.sandboxer
    if settings.default_handler:
        assert view.default_handler == settings.default_handler
    if settings.pause_image:
        assert view.pause_image == settings.pause_image


def mine(loaded: bytes, settings: Settings, own: set[str], version: str) -> dict[tuple[str, ...], Any]:
    """Return all that the program has loaded, without what is planned and without handlers that no file named.

    Also without the option that lockstep writes for newer releases only: the program keeps any option, the release's
    shim passes over this one, and a plan for the release takes it out of its own handlers.
    """
    data = tomllib.loads(loaded.decode())
    where = layouts()[data["version"]]
    depth = len(where.handlers)
    decided = {"runtime_type", "pod_annotations", "container_annotations", "sandboxer"}
    options = {
        option.lower()
        for handler in settings.handlers
        for option in (*handler.options, "VmMemorySizeInMb", "VmProcessorCount")
    }
    scrubbed_no_more = {handler.name for handler in settings.handlers if "ScrubLogs" not in option_types(version)}
    kept = {}
    for path, value in flat(data).items():
        if path in (where.pause_image, where.default_handler):
            continue
        if path[:depth] == where.handlers and len(path) > depth:
            name, rest = path[depth], path[depth + 1 :]
            if (
                name not in own
                or (rest and rest[0] in decided)
                or (len(rest) > 1 and rest[1].lower() in options)
                or rest == ("options",)
                or (name in scrubbed_no_more and rest == ("options", "ScrubLogs") and value is True)
            ):
                continue
        kept[path] = value
    return kept


@releases
def test_the_catalogue_says_what_the_program_shows(version: str) -> None:
    assert facts.differences(version, program(version, "windows-defaults")) == []


@releases
@flavours
def test_a_fresh_file(version: str, flavour: str, tmp_path: Path) -> None:
    done = dump(program(version, flavour), merge(None, plan(version), version), tmp_path)
    assert (done.code, done.warnings) == (0, ())
    assert_planned(done.output, plan(version))


@releases
@flavours
@pytest.mark.parametrize("exclusive", [False, True], ids=["", "exclusive"])
def test_its_own_default_file(version: str, flavour: str, tmp_path: Path, *, exclusive: bool) -> None:
    path = program(version, flavour)
    before = default(path)
    settings = plan(version, exclusive=exclusive)
    after = merge(before, settings, version)
    done = dump(path, after, tmp_path)
    assert (done.code, done.warnings) == (0, ())
    assert_planned(done.output, settings)
    own = set(inspect(before).handlers) - (set() if not exclusive else {"runc"})
    assert mine(done.output, settings, own, version) == mine(
        dump(path, before, tmp_path).output, settings, own, version
    )
    assert inspect(after, version).warnings == ()


@releases
@flavours
@pytest.mark.parametrize(("name", "before"), [pytest.param(name, data, id=name) for name, data in by_hand()])
def test_files_written_by_hand(version: str, flavour: str, name: str, before: bytes, tmp_path: Path) -> None:
    path = program(version, flavour)
    as_it_was = dump(path, before, tmp_path)
    try:
        after = merge(before, plan(version), version)
    except ContainerdConfigError:
        assert as_it_was.code != 0 or name in MISREAD
        return
    done = dump(path, after, tmp_path)
    assert done.code == 0, done.warnings
    assert_planned(done.output, plan(version))
    if as_it_was.code == 0:
        assert [line for line in done.warnings if "unknown key" in line] == [
            line for line in as_it_was.warnings if "unknown key" in line
        ]
        own = set(inspect(before).handlers)
        assert mine(done.output, plan(version), own, version) == mine(as_it_was.output, plan(version), own, version)


@releases
def test_a_drop_in_beside_it(version: str, tmp_path: Path) -> None:
    path = program(version, "windows-defaults")
    number = series(version).config_version_for_new_file
    handlers = ".".join(f"'{part}'" for part in layouts()[number].handlers)
    drop_in = tmp_path / "conf.d" / "gpu.toml"
    drop_in.parent.mkdir()
    drop_in.write_text(
        f"version = {number}\n[{handlers}.gpu]\nruntime_type = 'io.containerd.runhcs.v1'\n", encoding="utf-8"
    )
    after = merge(f"version = {number}\nimports = ['{drop_in.parent}/*.toml']\n".encode(), plan(version), version)
    done = dump(path, after, tmp_path)
    assert (done.code, done.warnings) == (0, ())
    handlers_loaded = inspect(done.output).handlers
    if version.startswith("1."):
        assert set(handlers_loaded) == {"gpu"}
        assert any("replaces all that this file says" in warning for warning in inspect(after, version).warnings)
    else:
        assert_planned(done.output, plan(version))
        assert "gpu" in handlers_loaded
        assert inspect(after, version).warnings == ()


@pytest.mark.slow
@releases
def test_files_that_nobody_would_write(version: str) -> None:
    path = program(version, "windows-defaults")

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(cases(version))
    def loaded(case: Case) -> None:
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            before = case.data.removeprefix(b"\xef\xbb\xbf")
            assume(dump(path, before, work).code == 0)
            done = dump(path, merge(before, case.settings, version), work)
            assert done.code == 0, done.warnings
            assert_planned(done.output, case.settings)

    loaded()
