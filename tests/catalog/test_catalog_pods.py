from __future__ import annotations

import pytest

from lockstep.catalog.annotations import known_annotations
from lockstep.catalog.containerd import series
from lockstep.catalog.pods import pod_fields

VM = "io.microsoft.virtualmachine."
CONTAINER = "io.microsoft.container."


@pytest.mark.parametrize(
    ("name", "value", "good"),
    [
        (f"{VM}computetopology.processor.limit", "100000", True),
        (f"{VM}computetopology.processor.limit", "100001", False),
        (f"{CONTAINER}processor.limit", "10000", True),
        (f"{CONTAINER}processor.limit", "100000", False),
        (f"{CONTAINER}processor.limit", "0", False),
        (f"{CONTAINER}processor.weight", "0", True),
        (f"{VM}computetopology.memory.sizeinmb", "2Gi", False),
        (f"{VM}computetopology.memory.sizeinmb", "2048", True),
        (f"{VM}computetopology.memory.allowovercommit", "false", True),
        (f"{VM}computetopology.memory.allowovercommit", "no", False),
        (f"{VM}cpugroup.id", "anything", True),
    ],
)
def test_a_value_is_taken_or_not(name: str, value: str, *, good: bool) -> None:
    assert (known_annotations()[name].problem(value) is None) is good


def test_what_may_not_be_set_together_says_so_on_both_sides() -> None:
    known = known_annotations()
    for name, annotation in known.items():
        for other in annotation.apart:
            assert other not in known or name in known[other].apart
    assert len(known[f"{CONTAINER}processor.count"].apart) == 2


def test_containerds_own_handlers_pass_all_of_them_on() -> None:
    handler = series("2.3.4").default_handlers["runhcs-wcow-hypervisor"]
    prefixes = {
        "virtualmachine": handler.pod_annotations[0].removesuffix("*"),
        "container": handler.container_annotations[0].removesuffix("*"),
    }
    for name, annotation in known_annotations().items():
        assert name.startswith(prefixes[annotation.scope])
        assert "/" not in name  # `*` does not cross it
        assert annotation.meaning


def test_what_a_windows_pod_may_not_set() -> None:
    # Typed from kubernetes/kubernetes validateWindows.
    fields = pod_fields()
    assert {name for name, when in fields.refused_in_pod.items() if when == "true"} == {"hostPID", "hostIPC"}
    assert fields.refused_in_pod["hostUsers"] == "set"
    assert len(fields.refused_in_pod) == 16
    assert len(fields.refused_in_container) == 10
    assert "securityContext.runAsNonRoot" not in {*fields.refused_in_pod, *fields.refused_in_container}
    assert fields.different["volumeDevices"] is None
    assert fields.longest == {"gmsaCredentialSpecName": 253, "gmsaCredentialSpec": 64 * 1024, "runAsUserName": 256}
