from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from lockstep.k8s import labels, names
from lockstep.k8s.taints import Taint, Toleration, taint_problem, toleration_problem

CHECKS: dict[str, Callable[[str], str | None]] = {
    "dns_label": names.dns_label_problem,
    "dns_subdomain": names.dns_subdomain_problem,
    "label_key": labels.key_problem,
    "label_value": labels.value_problem,
    "annotation_key": labels.annotation_key_problem,
    "kubelet_label": labels.kubelet_label_problem,
}


def cases() -> Iterator[tuple[str, str, bool]]:
    listed = yaml.safe_load((Path(__file__).parent / "cases" / "names.yaml").read_text(encoding="utf-8"))
    for check, sides in listed.items():
        for side in ("good", "bad"):
            for text in sides[side]:
                unit, star, times = text.rpartition("*")
                yield check, unit * int(times) if star else text, side == "good"


@pytest.mark.parametrize(("check", "text", "good"), list(cases()))
def test_the_api_servers_own_rules(check: str, text: str, *, good: bool) -> None:
    problem = CHECKS[check](text)
    assert (problem is None) is good, problem


def test_a_long_prefix_is_allowed_as_far_as_a_subdomain_is() -> None:
    assert labels.key_problem("a" * 253 + "/" + "b" * 63) is None
    assert labels.key_problem("a" * 254 + "/abc") is not None


def test_a_refusal_says_what_was_expected_and_what_would_do() -> None:
    problem = names.dns_label_problem("Foo_Bar")
    assert problem is not None
    assert problem.startswith("'Foo_Bar' is no DNS label: expected lower-case letters, digits and '-'")
    assert problem.endswith("such as 'foo-bar'")


@pytest.mark.parametrize("text", ["Foo_Bar", "-A-", "a.b", "Ünï", "__"])
def test_the_name_that_would_do_is_one(text: str) -> None:
    problem = names.dns_label_problem(text)
    assert problem is not None
    _, said, quoted = problem.partition("such as '")
    assert not said or names.dns_label_problem(quoted.rstrip("'")) is None


@pytest.mark.parametrize(
    ("key", "value", "effect", "good"),
    [
        ("os", "windows", "NoSchedule", True),
        ("windows.microsoft.com/os", "", "NoExecute", True),
        ("os", "windows", "noschedule", False),
        ("os", "windows", "", False),
        ("", "windows", "NoSchedule", False),
        ("os", "win dows", "NoSchedule", False),
    ],
)
def test_taints(key: str, value: str, effect: str, *, good: bool) -> None:
    assert (taint_problem(key, value, effect) is None) is good


@pytest.mark.parametrize(
    ("key", "operator", "value", "effect", "good"),
    [
        ("os", "Equal", "windows", "NoSchedule", True),
        ("os", "Exists", "", "", True),
        ("", "Exists", "", "", True),
        ("", "Equal", "", "", False),
        ("os", "Exists", "windows", "", False),
        ("os", "Is", "windows", "", False),
        ("os", "Equal", "windows", "Never", False),
        ("-os", "Equal", "windows", "", False),
    ],
)
def test_tolerations(key: str, operator: str, value: str, effect: str, *, good: bool) -> None:
    assert (toleration_problem(key, operator, value, effect) is None) is good


def test_a_toleration_of_a_taint_meets_it_and_no_other() -> None:
    taint = Taint("os", "windows", "NoSchedule")
    others = [
        Taint("os", "Windows", "NoSchedule"),
        Taint("os", "windows", "NoExecute"),
        Taint("x", "windows", "NoSchedule"),
    ]
    toleration = Toleration.of(taint)
    assert toleration.tolerates(taint)
    assert not any(toleration.tolerates(other) for other in others)
