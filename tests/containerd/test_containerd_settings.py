"""What a task may say of handlers, and what it is told when it says something else."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.containerd import Settings, SettingsError, settings_from_data
from lockstep.fleet.plan import Handler

PROCESS = {"name": "runhcs-wcow-process"}
HYPERV = {"name": "vm", "options": {"SandboxIsolation": 1}}
CIMFS = {"runhcs-wcow-process": "cimfs"}


def test_a_name_is_enough() -> None:
    assert settings_from_data({"handlers": [PROCESS]}, "2.3.7") == Settings(
        (Handler("runhcs-wcow-process", "process", "io.containerd.runhcs.v1", (), (), {}, None),)
    )


def test_nothing_at_all_is_said_by_none() -> None:
    data: dict[str, Any] = {"handlers": [], "default_handler": None, "pause_image": None, "exclusive_handlers": None}
    assert settings_from_data(data, "2.3.7") == Settings()


def test_a_handler_in_full() -> None:
    data = {
        "name": "vm",
        "isolation": "hyperv",
        "runtime_type": "io.containerd.runhcs.v1",
        "pod_annotations": ["io.microsoft.virtualmachine.*"],
        "container_annotations": ["io.microsoft.container.*"],
        "options": {"SandboxIsolation": 1, "VmMemorySizeInMb": 2048, "DefaultContainerAnnotations": {"a": "b"}},
        "sandboxer": "podsandbox",
    }
    settings = settings_from_data({"handlers": [data], "default_handler": "vm", "exclusive_handlers": True}, "2.3.7")
    assert settings.exclusive_handlers
    assert settings.default_handler == "vm"
    handler = settings.handlers[0]
    assert (handler.isolation, handler.sandboxer) == ("hyperv", "podsandbox")
    assert handler.pod_annotations == ("io.microsoft.virtualmachine.*",)
    assert handler.options == data["options"]


@pytest.mark.parametrize(
    ("data", "version", "said"),
    [
        ({"handler": []}, "2.3.7", "handler: no such key (did you mean 'handlers'?)"),
        ({"handlers": PROCESS}, "2.3.7", "is not a list of handlers"),
        ({"handlers": ["vm"]}, "2.3.7", "handlers[0]: 'vm' is not a mapping"),
        ({"handlers": [{}]}, "2.3.7", "handlers[0]: a handler needs a name"),
        ({"handlers": [{"name": 1}]}, "2.3.7", "handlers[0].name: 1 is not text"),
        ({"handlers": [{"name": "Foo_Bar"}]}, "2.3.7", "such as 'foo-bar'"),
        ({"handlers": [PROCESS, PROCESS]}, "2.3.7", "'runhcs-wcow-process' is there twice"),
        ({"handlers": [{**PROCESS, "runtime_typ": "x"}]}, "2.3.7", "did you mean 'runtime_type'?"),
        ({"handlers": [{**PROCESS, "pod_annotations": "a*"}]}, "2.3.7", "pod_annotations: 'a*' is not a list of texts"),
        ({"handlers": [{**PROCESS, "options": ["a"]}]}, "2.3.7", "options: ['a'] is not a mapping"),
        ({"handlers": [{**PROCESS, "isolation": "vm"}]}, "2.3.7", "'vm' is not process or hyperv"),
        ({"handlers": [{**PROCESS, "isolation": "hyperv"}]}, "2.3.7", "needs the option SandboxIsolation = 1"),
        ({"handlers": [{**PROCESS, "sandboxer": "podsandbox"}]}, "1.7.35", "containerd 1.7 has no such key"),
        ({"default_handler": ["a"]}, "2.3.7", "default_handler: ['a'] is not text"),
        ({"pause_image": "a b"}, "2.3.7", "has no spaces"),
        ({"exclusive_handlers": "yes"}, "2.3.7", "'yes' is not true or false"),
        ({"snapshotters": ["a"]}, "2.3.7", "snapshotters: ['a'] is not a mapping"),
        ({"handlers": [PROCESS], "snapshotters": CIMFS}, "1.6.36", "containerd 1.6 has one for all handlers"),
        ({"handlers": [PROCESS], "snapshotters": CIMFS}, "1.7.36", "'cimfs' is not windows or windows-lcow, which"),
        ({"handlers": [PROCESS], "snapshotters": {"runhcs-wcow-proces": "cimfs"}}, "2.3.7", "did you mean"),
        ({"handlers": [HYPERV], "snapshotters": {"vm": "blockcim"}}, "2.3.7", "a utility VM cannot use the layers"),
        ({"shim_log_level": "warning"}, "2.3.7", "'warning' is not trace or debug"),
        ({"log_level": "loud"}, "2.3.7", "'loud' is not trace or debug"),
        ({"metrics_address": "localhost"}, "2.3.7", "'localhost' is not an address and a port"),
        ({"metrics_address": "127.0.0.1:70000"}, "2.3.7", "is not an address and a port"),
        ({"registry_path": "certs.d"}, "2.3.7", "'certs.d' is not the full path of one folder"),
        ({"registry_path": r"C:\a;C:\b"}, "2.3.7", "is not the full path of one folder"),
        ({"imports": r"C:\a.toml"}, "2.3.7", "is not a list of files"),
    ],
)
def test_what_cannot_be_meant_is_refused(data: dict[str, Any], version: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from_data(data, version)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value", "version", "said"),
    [
        ("SandboxIsolatoin", 1, "2.3.7", "did you mean 'SandboxIsolation'?"),
        ("sandbox_isolation", 1, "2.3.7", "did you mean 'SandboxIsolation'?"),
        ("SandboxOsVersion", "10.0.17763", "2.3.7", "has no such option"),
        ("ScrubLogs", True, "1.6.36", "the shim of containerd 1.6 has no such option"),
        ("SandboxIsolation", "HYPERVISOR", "2.3.7", "'HYPERVISOR' is not a whole number"),
        ("SandboxIsolation", True, "2.3.7", "true is not a whole number"),
        ("SandboxIsolation", 2, "2.3.7", "2 is not 0 or 1"),
        ("VmMemorySizeInMb", 0, "2.3.7", "at least 1"),
        ("VmMemorySizeInMb", 2**31, "2.3.7", "is not a whole number"),
        ("DebugType", 1, "2.3.7", "the shim panics"),
        ("Debug", "true", "2.3.7", "'true' is not true or false"),
        ("SandboxPlatform", "windows", "2.3.7", "windows/amd64 or linux/amd64"),
        ("DefaultContainerAnnotations", {"a": 1}, "2.3.7", "a mapping of names to texts"),
    ],
)
def test_an_option_that_the_shim_would_drop_or_stumble_over_is_refused(
    option: str, value: Any, version: str, said: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from_data({"handlers": [{**PROCESS, "options": {option: value}}]}, version)
    assert f"handlers[0].options.{option}: " in str(caught.value)
    assert said in str(caught.value)


def test_the_shims_log_level_is_an_option_of_each_handler_that_has_none() -> None:
    own = {"name": "own", "options": {"LogLevel": "trace"}}
    other = {"name": "runc", "runtime_type": "io.containerd.runc.v2"}
    settings = settings_from_data({"handlers": [PROCESS, own, other], "shim_log_level": "debug"}, "2.3.7")
    assert [handler.options.get("LogLevel") for handler in settings.handlers] == ["debug", "trace", None]


def test_all_problems_come_at_once() -> None:
    data = {"handlers": [{"name": "a", "options": {"X": 1, "Y": 2}}, {"nmae": "b"}], "pause_image": 1}
    with pytest.raises(SettingsError) as caught:
        settings_from_data(data, "2.3.7")
    assert len(caught.value.problems) == 5


def test_another_shims_options_are_not_this_shims() -> None:
    data = {"name": "runc", "runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}}
    assert settings_from_data({"handlers": [data]}, "2.3.7").handlers[0].options == {"SystemdCgroup": True}
