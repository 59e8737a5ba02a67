"""A service as it is to be, compared with the one that Windows has: what differs, how it reads, whose name it is."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import System
from lockstep.ansible.service_definition import (
    Recovery,
    ServiceDefinition,
    definition_diff,
    definition_problems,
    definition_steps,
    definition_text,
    differences,
    program_of_line,
    refuse_other_program,
)

SYSTEM = System("WIN2025-0", "10.0.26100.1", "Windows Server 2025 Datacenter")
LINE = r'"C:\Program Files\containerd\containerd.exe" --run-service'
THERE: dict[str, Any] = {
    "op": "service.read",
    "ok": True,
    "exists": True,
    "state": "running",
    "binary_path": LINE,
    "display_name": "Containerd",
    "description": "",
    "start_type": "automatic",
    "depends_on": ["HNS"],
    "account": "LocalSystem",
    "environment": ["HTTP_PROXY=http://kim:hunter2@proxy.example:3128", "Own=1"],
    "recovery": None,
    "process_id": 4,
    "exit_code": 0,
}
NOT_THERE: dict[str, Any] = {"op": "service.read", "ok": True, "exists": False}


@pytest.mark.parametrize(
    ("given", "differing"),
    [
        ({}, set()),
        ({"display_name": "Containerd", "description": "", "start_type": "automatic", "depends_on": ["hns"]}, set()),
        ({"display_name": "containerd"}, {"display_name"}),
        ({"description": "Runs pods"}, {"description"}),
        ({"start_type": "delayed"}, {"start_type"}),
        ({"depends_on": []}, {"depends_on"}),
        ({"environment": {"OWN": "1", "http_proxy": "http://kim:hunter2@proxy.example:3128"}}, {"environment"}),
        ({"environment": {"Own": "1"}}, set()),
        ({"environment": {"Own": None}}, {"environment"}),
        ({"environment": {"Nobody": None}}, set()),
        ({"recovery": {"actions": [], "reset": 0}}, set()),
        ({"recovery": {"actions": [{"action": "restart", "delay": 5}]}}, {"recovery"}),
    ],
)
def test_only_what_differs(given: dict[str, Any], differing: set[str]) -> None:
    definition = ServiceDefinition.of("containerd", given).running(LINE)
    found = differences(THERE, definition)
    assert set(found) == differing
    # What is set makes the service as it is to be.
    assert differences({**THERE, **found}, definition) == {}
    assert [step.operation.get("expect_binary_path") for step in definition_steps(THERE, definition)] == (
        [LINE] if differing else []
    )


def test_a_service_that_is_not_there_gets_everything() -> None:
    definition = ServiceDefinition("containerd", start_type="delayed", environment={"A": "1", "B": None}).running(LINE)
    assert differences(NOT_THERE, definition) == {
        "binary_path": LINE,
        "start_type": "delayed",
        "environment": ["A=1"],
    }
    [step] = definition_steps(NOT_THERE, definition)
    assert (step.label, step.operation["expect_binary_path"]) == ("register service containerd", None)


def test_an_interrupted_run_states_everything_again() -> None:
    definition = ServiceDefinition("containerd", start_type="automatic").running(LINE)
    assert definition_steps(THERE, definition) == []
    [step] = definition_steps(THERE, definition, again=True)
    assert (step.operation["binary_path"], step.operation["start_type"]) == (LINE, "automatic")


def test_variables_of_others_stay() -> None:
    definition = ServiceDefinition("containerd", environment={"OWN": "2", "New": "3"})
    assert differences(THERE, definition)["environment"] == [THERE["environment"][0], "OWN=2", "New=3"]


def test_as_text_a_property_is_a_line_and_a_password_is_masked() -> None:
    recovery = Recovery((("restart", 15000), ("none", 0)), 86400, on_non_crash=True)
    definition = ServiceDefinition("containerd", description="Container runtime", recovery=recovery)
    [diff] = definition_diff(THERE, definition)
    assert diff["after_header"] == "service containerd"
    assert "hunter2" not in diff["before"] + diff["after"]
    assert set(diff["after"].splitlines()) - set(diff["before"].splitlines()) == {
        "description    Container runtime",
        "failure 1      restart after 15 s",
        "failure 2      none after 0 s",
        "failures       counted anew after 86400 s; an exit with an error counts too",
    }
    assert definition_diff(THERE, ServiceDefinition("containerd")) == []
    assert definition_text(NOT_THERE) == ""


def test_of_the_environment_names_are_told_and_what_changes_but_no_value() -> None:
    wanted = {"own": "sesame-1", "HTTP_PROXY": None, "NO_PROXY": "10.0.0.0/8"}
    [diff] = definition_diff(THERE, ServiceDefinition("containerd", environment=wanted))
    environment = [
        [line.split(maxsplit=1)[1] for line in diff[side].splitlines() if line.startswith("environment")]
        for side in ("before", "after")
    ]
    assert environment == [
        ["HTTP_PROXY=********", "Own=********"],
        ["own=******** (another value)", "NO_PROXY=********"],
    ]


@pytest.mark.parametrize(
    ("line", "program"),
    [
        (LINE, r"C:\Program Files\containerd\containerd.exe"),
        (r"C:\Program Files\containerd\containerd.exe --run-service", r"C:\Program Files\containerd\containerd.exe"),
        (r"C:\k\nssm.exe", r"C:\k\nssm.exe"),
        ("containerd --run-service", "containerd"),
        ("", ""),
    ],
)
def test_the_program_of_a_command_line(line: str, program: str) -> None:
    assert program_of_line(line) == program


def test_another_program_under_the_name_is_refused() -> None:
    refuse_other_program(SYSTEM, "containerd", NOT_THERE, ("containerd.exe",))
    refuse_other_program(SYSTEM, "containerd", THERE, ("Containerd.EXE",))
    secret = {**THERE, "binary_path": r"C:\other.exe --password hunter2"}
    with pytest.raises(TaskError, match="the name containerd is taken") as raised:
        refuse_other_program(SYSTEM, "containerd", secret, ("containerd.exe", "nssm.exe"))
    assert r"which runs C:\other.exe" in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_what_no_service_can_be_like() -> None:
    definition = ServiceDefinition(
        "containerd",
        depends_on=("CONTAINERD",),
        environment={"": "1", "A=B": "2"},
        recovery=Recovery((("restart", -1000),), -1),
    )
    assert len(definition_problems(definition)) == 5
