"""Files that a newer containerd was given, rewritten for an older one and loaded by it."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.containerd_real.programs import FLAVOURS, FOLDER, RELEASES, dump, program
from tests.containerd_real.test_containerd_real_settings import everything

from lockstep.catalog.containerd import series
from lockstep.catalog.containerd_files import snapshotters_of
from lockstep.containerd import merge, overridden

pytestmark = [
    pytest.mark.containerd,
    pytest.mark.skipif(
        not FOLDER,
        reason="LOCKSTEP_CONTAINERD_DIR is not set: build the programs with tests/containerd_real/build.py FOLDER",
    ),
]
BACK = [
    (newer, number, older)
    for newer in RELEASES
    for number in (3, 4)
    for older in RELEASES
    if series(older).max_config_version < number <= series(newer).max_config_version
]
OWN = (
    "version = {number}\nroot = '{root}'\n"
    "[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 0.05\n"
    "[plugins.'io.containerd.cri.v1.runtime']\nmax_container_log_line_size = 32768\n"
    "[plugins.'io.containerd.cri.v1.images']\nmax_concurrent_downloads = 7\n"
)


@pytest.mark.parametrize(("newer", "number", "older"), BACK)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_what_a_newer_release_was_given_loads_in_an_older_one(
    newer: str, number: int, older: str, flavour: str, tmp_path: Path
) -> None:
    before = OWN.format(number=number, root=tmp_path).encode()
    written = everything(newer, number)
    if "snapshotter" not in series(older).handler_keys:
        written = replace(written, snapshotters={})
    elif set(written.snapshotters.values()) - snapshotters_of(older):
        written = replace(written, snapshotters={"runhcs-wcow-process": "windows"})
    given = merge(before, written, newer)
    settings = everything(older)
    after = merge(given, settings, older)
    done = dump(program(older, flavour), after, tmp_path)
    assert (done.code, done.warnings) == (0, ())
    assert overridden(done.output, settings, older) == ()
    assert merge(after, settings, older) == after
    assert tomllib.loads(after.decode())["root"] == str(tmp_path)
    # What is carried over has its effect: the release prints it as its own.
    for line in ("pause_threshold = 0.05", "max_container_log_line_size = 32768", "max_concurrent_downloads = 7"):
        assert line in done.output.decode()
