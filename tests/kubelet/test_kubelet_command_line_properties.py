"""Command lines: arguments survive quoting, planned flags come out as planned, and nothing else of the line changes."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.kubelet.arguments import join, quote, split
from lockstep.kubelet.check import check_command_line, check_fields
from lockstep.kubelet.command_line import merge_flags, parse_command_line, remove_flags
from lockstep.kubelet.service_line import pairs

VERSION = "1.36.1"
PROGRAMS = [
    "C:\\k\\kubelet.exe",
    '"C:\\Program Files\\k\\kubelet.exe"',
    "kube-log-runner.exe --log-file=C:\\l.log C:\\k\\kubelet.exe",
]

arguments = st.text(alphabet='ab \t"\\-=,/:é', max_size=12)
values = st.text(alphabet='ab1 "\\=/:.', max_size=10)
labels = st.dictionaries(
    st.sampled_from(
        ["team", "example.com/x", "lockstep.windows/pool", "class.lockstep.windows/a", "class.lockstep.windows/b"]
    ),
    st.text(string.ascii_lowercase, max_size=4),
    max_size=4,
)


@given(st.lists(arguments, min_size=1, max_size=6))
def test_arguments_survive_quoting(wanted: list[str]) -> None:
    assert [argument.value for argument in split(join(wanted))] == wanted


@given(st.text(alphabet='ab \t"\\', max_size=30))
def test_every_line_splits_into_its_own_text(line: str) -> None:
    found = split(line)
    rest = "".join(
        line[a:b] for a, b in zip([0, *(f.end for f in found)], [*(f.start for f in found), len(line)], strict=True)
    )
    assert rest.strip(" \t") == ""
    assert [argument.value for argument in split(join(f.value for f in found))] == [f.value for f in found]


Made = tuple[str, list[tuple[str, str]], list[str]]


def spell(name: str, value: str, form: str) -> str:
    if form == "apart":
        return f"--{name} {quote(value)}"
    return quote(f"--{name.replace('-', '_') if form == 'underscore' else name}={value}")


@st.composite
def lines(draw: st.DrawFn) -> Made:
    """Return a line, its flags in order, and how each is spelt: in every way that kubelet reads."""
    known = ["hostname-override", "node-ip", "cert-dir", "max-pods", "root-dir"]
    flags = [
        (name, draw(values) if name != "max-pods" else "7")
        for name in draw(st.lists(st.sampled_from(known), max_size=5))
    ]
    flags += [
        ("node-labels", ",".join(f"{k}={v}" for k, v in draw(labels).items())) for _ in range(draw(st.integers(0, 2)))
    ]
    flags = draw(st.permutations(flags))
    texts = [spell(name, value, draw(st.sampled_from(["joined", "apart", "underscore"]))) for name, value in flags]
    gap = draw(st.sampled_from([" ", "  ", "\t"]))
    return draw(st.sampled_from(PROGRAMS)) + gap + gap.join(["--windows-service", *texts]), flags, texts


planned_flags = st.fixed_dictionaries(
    {},
    optional={
        "hostname-override": values | st.none(),
        "node-ip": values | st.none(),
        "windows-priorityclass": st.just("ABOVE_NORMAL_PRIORITY_CLASS"),
        "windows-service": st.sampled_from(["true", "false"]),
        "node-labels": labels.map(lambda found: ",".join(f"{k}={v}" for k, v in found.items())),
    },
)


@settings(max_examples=400, deadline=None)
@given(lines(), planned_flags, st.booleans())
def test_flags_come_out_as_planned_and_the_rest_stays(
    made: Made,
    planned: dict[str, str | None],
    prune: bool,  # noqa: FBT001 - a strategy's value
) -> None:
    line, flags, texts = made
    after = merge_flags(line, planned, VERSION, prune_labels=prune)
    assert merge_flags(after, planned, VERSION, prune_labels=prune) == after

    found = parse_command_line(after, VERSION)
    effective = found.values()
    for name, value in planned.items():
        if name == "node-labels":
            continue
        assert effective.get(name) == value
        assert len(found.of(name)) == (0 if value is None else len(found.of(name)) or 1)
    untouched = [(use.name, use.value) for use in found.uses if use.name not in planned]
    before = [("windows-service", None), *flags]
    assert untouched == [(name, value) for name, value in before if name not in planned]

    if "node-labels" in planned:
        ours = pairs([planned["node-labels"]])
        theirs = pairs(value for name, value in flags if name == "node-labels")
        merged = pairs(use.value for use in found.of("node-labels"))
        users = {k: v for k, v in theirs.items() if not (prune and "lockstep.windows" in k)}
        assert merged == users | ours
    at = 0
    for text in [text for (name, _), text in zip(flags, texts, strict=True) if name not in planned]:
        at = after.index(text, at) + len(text)


@settings(max_examples=200, deadline=None)
@given(lines(), labels, st.booleans())
def test_removing_takes_off_what_is_named_and_no_more(
    made: Made,
    ours: dict[str, str],
    prune: bool,  # noqa: FBT001 - a strategy's value
) -> None:
    line, flags, _ = made
    text = ",".join(f"{k}={v}" for k, v in ours.items())
    gone = {"node-labels": text, "hostname-override": "whatever"}
    after = remove_flags(line, gone, VERSION, prune_labels=prune)
    found = parse_command_line(after, VERSION)
    theirs = pairs(value for name, value in flags if name == "node-labels")
    users = {k: v for k, v in theirs.items() if k not in ours and not (prune and "lockstep.windows" in k)}
    assert pairs(use.value for use in found.of("node-labels")) == users
    assert not found.of("hostname-override")
    assert [u.name for u in found.uses if u.name != "node-labels"] == [
        "windows-service",
        *(name for name, _ in flags if name not in ("node-labels", "hostname-override")),
    ]
    assert remove_flags(after, gone, VERSION, prune_labels=prune) == after


def test_a_command_line_is_checked() -> None:
    line = (
        "C:\\k\\kubelet.exe --network-plugin=cni --hostname-overide=x stray -config=c --max-pods=many "
        "--register-with-taints=a=b:NoSchedule --node-labels=node-role.kubernetes.io/web=,ok=1,bad=a/b"
    )
    problems = check_command_line(line, VERSION, {"registerWithTaints": []})
    assert {(p.rule, p.path[0]) for p in problems} == {
        ("LW330", "network-plugin"),
        ("LW331", "hostname-overide"),
        ("LW332", "stray"),
        ("LW331", "config"),
        ("LW333", "max-pods"),
        ("LW334", "node-labels"),
        ("LW335", "register-with-taints"),
        ("LW336", "windows-service"),
        ("LW336", "config"),
    }
    assert {p.path[1] for p in problems if p.rule == "LW334"} == {"node-role.kubernetes.io/web", "bad"}
    assert all(p.fix for p in problems)


@pytest.mark.parametrize(
    ("flag", "version", "fix"),
    [
        ("hostname-overide", "1.36.1", "did you mean --hostname-override?"),
        ("non-masquerade-cidr", "1.36.1", "leave the flag out"),
        ("config-dir", "1.27.0", "it came with 1.28: leave it out"),
        ("network-plugin", "1.36.1", "take it off"),
    ],
)
def test_an_unknown_flag_is_not_taken_for_another(flag: str, version: str, fix: str) -> None:
    line = f"kubelet.exe --windows-service --config=c --{flag}=x"
    assert [problem.fix for problem in check_command_line(line, version)] == [fix]


@pytest.mark.parametrize(
    ("gate", "version", "fix"),
    [
        ("WindowsHostProcessContainers", "1.36.1", "it went with 1.28: leave it out"),
        ("WindowsCPUAndMemoryAffinity", "1.31.1", "it came with 1.32: leave it out"),
        ("WindowsGracefulNodeShutdwn", "1.36.1", "write WindowsGracefulNodeShutdown"),
        ("WindowsPodSomethingElse", "1.36.1", "leave it out"),
    ],
)
def test_an_unknown_gate_is_not_taken_for_another(gate: str, version: str, fix: str) -> None:
    assert [problem.fix for problem in check_fields({"featureGates": {gate: True}}, version)] == [fix]


@pytest.mark.parametrize(("native", "severity"), [(True, "error"), (False, "warning")])
def test_only_a_wrapper_can_do_without_the_service_flag(native: bool, severity: str) -> None:  # noqa: FBT001 - a case
    problems = check_command_line("kubelet.exe --config=c", "1.36.1", native=native)
    assert [(problem.path, str(problem.severity)) for problem in problems] == [(("windows-service",), severity)]


def test_a_sound_command_line_has_no_problem() -> None:
    line = (
        "C:\\k\\kubelet.exe --windows-service --config=C:\\var\\lib\\kubelet\\config.yaml --v=2 "
        "--hostname-override=node-1 --bootstrap-kubeconfig=C:\\b --kubeconfig=C:\\k "
        "--node-labels=team=web,node.kubernetes.io/x=y"
    )
    assert check_command_line(line, VERSION, {"registerWithTaints": [], "cgroupsPerQOS": False}) == []


def test_a_log_file_called_kubelet_is_not_the_program() -> None:
    line = r"C:\k\kube-log-runner.exe -log-file C:\var\log\kubelet C:\k\kubelet.exe --config=c"
    assert (parse_command_line(line, "1.36.1").program, parse_command_line(line, "1.36.1").stray) == (
        r"C:\k\kubelet.exe",
        (),
    )
