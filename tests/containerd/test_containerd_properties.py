"""Whatever a config.toml looks like: what is managed comes out as planned, and nothing else changes."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.containerd.documents import Case, Managed, cases, planned, sort, split, unmanaged

from lockstep.catalog.containerd import layout, series
from lockstep.containerd import ContainerdConfigError, Settings, inspect, merge, remove
from lockstep.containerd.merge import registry_path


def assert_kept(untouched: tuple[str, ...], after: bytes) -> None:
    """Check that lines are there, byte for byte and in order; one that was or is the last may differ in its end."""
    lines = split(after.decode().removeprefix("\ufeff"))
    ahead = iter(enumerate(lines, start=1))
    for number, wanted in enumerate(untouched, start=1):
        last = number == len(untouched)
        assert any(
            wanted == line or (wanted.rstrip("\r\n") == line.rstrip("\r\n") and (last or at == len(lines)))
            for at, line in ahead
        ), wanted


OTHERS: dict[str, Any] = {
    "log_level": "warn",
    "metrics_address": "127.0.0.1:1338",
    "registry_path": r"C:\ProgramData\containerd\certs.d",
    "imports": (r"C:\own\*.toml",),
}


def flat(data: dict[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for key, value in data.items():
        found |= flat(value, (*path, key)) if isinstance(value, dict) and value else {(*path, key): value}
    return found


EXAMPLES = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@EXAMPLES
@given(cases())
def test_a_merge_plans_and_keeps(case: Case) -> None:
    after = merge(case.data, case.settings, case.version)
    view = inspect(after)
    for handler in case.settings.handlers:
        table = view.handlers[handler.name]
        assert table["runtime_type"] == handler.runtime_type
        assert table["pod_annotations"] == list(handler.pod_annotations)
        assert table["container_annotations"] == list(handler.container_annotations)
        assert table.get("sandboxer") == handler.sandboxer
        assert {**table["options"], **handler.options} == table["options"]
        assert ("VmMemorySizeInMb" in table["options"]) == ("VmMemorySizeInMb" in handler.options)
        assert [name for name in table["options"] if name.lower() == "sandboxisolation"] == ["SandboxIsolation"]
    if case.settings.exclusive_handlers:
        assert sorted(view.handlers) == sorted(handler.name for handler in case.settings.handlers)
    assert view.default_handler in (case.settings.default_handler, inspect(case.data).default_handler)
    assert view.pause_image == (case.settings.pause_image or inspect(case.data).pause_image)

    managed = Managed(layout(view.config_version), case.settings)
    before_data, after_data = (tomllib.loads(data.decode("utf-8-sig")) for data in (case.data, after))
    assert repr(sort(unmanaged(after_data, managed))) == repr(sort(unmanaged(before_data, managed)))
    assert_kept(case.untouched, after)
    assert after.startswith(b"\xef\xbb\xbf") == (
        case.data.startswith(b"\xef\xbb\xbf") and case.version.startswith("1.")
    )


@EXAMPLES
@given(cases())
def test_merging_again_changes_nothing(case: Case) -> None:
    after = merge(case.data, case.settings, case.version)
    assert merge(case.data, case.settings, case.version) == after
    assert merge(after, case.settings, case.version) == after


@EXAMPLES
@given(cases())
def test_what_was_merged_can_be_removed(case: Case) -> None:
    merged = merge(case.data, case.settings, case.version)
    # Left without a default handler, containerd 1.x would not start, which is refused: see the cases.
    assume(case.version.startswith("2.") or case.settings.exclusive_handlers)
    after = remove(merged, case.settings, case.version)
    assert after is not None
    managed = Managed(layout(inspect(after).config_version), case.settings, whole=case.version.startswith("1."))
    before_data, after_data = (tomllib.loads(data.decode("utf-8-sig")) for data in (case.data, after))
    assert repr(sort(unmanaged(after_data, managed))) == repr(sort(unmanaged(before_data, managed)))
    if case.version.startswith("2."):  # where a handler that goes leaves a person's own keys
        assert_kept(tuple(line for line in case.untouched if not line.lstrip().startswith("[")), after)
    assert remove(after, case.settings, case.version) == after


@EXAMPLES
@given(cases(), st.sets(st.sampled_from(sorted(OTHERS)), min_size=1))
def test_other_settings_change_their_own_keys_alone(case: Case, names: set[str]) -> None:
    only = Settings(**{name: OTHERS[name] for name in names})
    try:
        after = merge(case.data, only, case.version)
    except ContainerdConfigError:
        assume(False)  # registries in two ways, or a default handler that the file lacks: see the cases
    assert merge(after, only, case.version) == after
    where = layout(inspect(after).config_version)
    places = {
        "log_level": where.log_level,
        "metrics_address": where.metrics_address,
        "registry_path": registry_path(where),
        "imports": ("imports",),
    }
    before_data, after_data = (flat(tomllib.loads(data.decode("utf-8-sig"))) for data in (case.data, after))
    managed = {places[name]: OTHERS[name] for name in names}
    for path, value in managed.items():
        assert after_data[path] == (list(value) if isinstance(value, tuple) else value)
    # A table that says nothing may be written or not.
    kept = {path: value for path, value in before_data.items() if path not in managed and value != {}}
    assert repr(kept) == repr({path: after_data.get(path) for path in kept})
    assert {path for path in after_data if after_data[path] != {}} <= {*kept, *managed}


@pytest.mark.parametrize("version", ["1.6.36", "1.7.35", "2.0.14", "2.1.9", "2.2.9", "2.3.7", "2.4.2"])
def test_what_was_added_to_a_file_without_handlers_leaves_no_trace(version: str) -> None:
    number = series(version).config_version_for_new_file
    plan = Settings(
        (planned(version, "process"), planned(version, "hyperv")), "runhcs-wcow-process", "example.org/pause:1"
    )
    for newline in ("\n", "\r\n"):
        for text in (
            f"version = {number}",
            f"version = {number}\n",
            f"# top\nversion = {number}\n\n# grpc\n[grpc]\n  uid = 0\n# end",
        ):
            data = text.replace("\n", newline).encode()
            assert remove(merge(data, plan, version), plan, version) == data
