"""What a file says, to those who only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.catalog.containerd import series
from lockstep.containerd import ContainerdConfigError, View, inspect, merge
from lockstep.containerd import edit as edit_module
from lockstep.containerd.settings import Settings, settings_from_data

CASES = Path(__file__).parent / "cases"
PLAN = settings_from_data({"handlers": [{"name": "runhcs-wcow-process"}]}, "2.3.7")


@pytest.mark.parametrize("version", ["1.7.35", "2.2.9", "2.4.2"])
def test_the_view_of_containerds_own_file_is_the_catalogue(version: str) -> None:
    # Each in.toml is what this release's `config default` printed on Windows.
    view = inspect((CASES / f"default-{version}" / "in.toml").read_bytes(), version)
    facts = series(version)
    assert view.config_version == facts.max_config_version
    assert view.pause_image == facts.default_pause
    assert view.default_handler == facts.default_handler
    assert view.root == r"C:\ProgramData\containerd\root"
    assert view.state == r"C:\ProgramData\containerd\state"
    assert view.warnings == ()
    assert set(view.handlers) == set(facts.default_handlers)
    for name, handler in facts.default_handlers.items():
        table = view.handlers[name]
        assert table["runtime_type"] == handler.runtime_type
        assert tuple(table["pod_annotations"]) == handler.pod_annotations
        assert tuple(table["container_annotations"]) == handler.container_annotations
        assert table["options"] == handler.options
        assert set(table) == set(facts.handler_keys)


def test_a_file_that_says_nothing() -> None:
    assert inspect(b"") == View(1, {}, None, None, (), None, None, ())


def test_what_a_file_says_in_the_wrong_type_is_not_taken_for_said() -> None:
    text = b"version = 3\nimports = 1\nroot = 2\n[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 3\n"
    assert inspect(text) == View(3, {}, None, None, (), None, None, ())


def test_a_version_that_is_no_number_is_refused() -> None:
    with pytest.raises(ContainerdConfigError, match="line 1, column 1: version is '3'"):
        inspect(b"version = '3'")


def test_what_pods_would_stumble_over_is_named() -> None:
    text = (
        b"version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.vm]\n"
        b"runtime_type = 'io.containerd.runhcs.v1'\ncni_confdir = 'x'\noptions = { SandboxIsolation = 'HYPERVISOR' }\n"
    )
    assert inspect(text, "2.3.7").warnings == (
        "handler vm: containerd 2.3 ignores the key 'cni_confdir' (did you mean 'cni_conf_dir'?)",
        "handler vm: the option SandboxIsolation should be a whole number; its pods will not start",
    )


BIN_DIR = "cni.bin_dir: containerd 2.4 took it away and ignores it; use cni.bin_dirs, a list"


# What the programs make of such files: tests/sim/cases/containerd (bin-dir-2.4, version-2-on-2.3), which they confirm.
@pytest.mark.parametrize(
    ("version", "plugin", "release", "said"),
    [
        (3, "io.containerd.cri.v1.runtime", "2.3.7", ()),
        (3, "io.containerd.cri.v1.runtime", "2.4.2", (BIN_DIR,)),
        (4, "io.containerd.cri.v1.runtime", "2.4.2", (BIN_DIR,)),
        (2, "io.containerd.grpc.v1.cri", "1.7.36", ()),
        (2, "io.containerd.grpc.v1.cri", "2.4.2", ()),
    ],
)
def test_a_key_that_an_upgrade_has_left_without_effect_is_named(
    version: int, plugin: str, release: str, said: tuple[str, ...]
) -> None:
    text = f"version = {version}\n[plugins.'{plugin}'.cni]\nbin_dir = 'C:\\k\\cni'\n"
    assert inspect(text.encode(), release).warnings == said


def test_a_text_that_does_not_say_what_it_should_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    right = edit_module.put
    monkeypatch.setattr(edit_module, "put", lambda text, path, value: right(text, path, value).replace("[]", "['x']"))
    with pytest.raises(ContainerdConfigError, match=r"cannot be edited safely .*pod_annotations"):
        merge(b"version = 3\n", PLAN, "2.3.7")


def test_a_text_that_would_be_no_toml_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    right = edit_module.put
    monkeypatch.setattr(edit_module, "put", lambda text, path, value: right(text, path, value) + "[")
    with pytest.raises(ContainerdConfigError, match="cannot be edited safely"):
        merge(b"version = 3\n", PLAN, "2.3.7")


@pytest.mark.parametrize(
    "text",
    [
        b"a = " + b"[" * 100_000,
        b"a = " + b"1" * 10_000,
        b"a = 2026-13-01",
        b"version = 3\n[plugins]\n'io.containerd.cri.v1.runtime'.containerd = 1979-05-27",
        b"\x00",
        b"\xff",
    ],
    ids=["nested", "long number", "no date", "a date for a table", "zero byte", "no utf-8"],
)
def test_a_file_that_cannot_be_read_is_one_clear_error(text: bytes) -> None:
    with pytest.raises(ContainerdConfigError):
        merge(text, PLAN, "2.3.7")


def test_nothing_planned_changes_nothing() -> None:
    text = b"version = 2 # as it was\r\n"
    assert merge(text, Settings(), "2.3.7") == text
