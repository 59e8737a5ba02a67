"""Invariants 1 to 4 of the architecture, checked by a scheduler and a compatibility table of the test's own."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lockstep.catalog.builds import Build
from lockstep.finding import Severity
from lockstep.fleet.derivation.derive import derive
from lockstep.fleet.model import Fleet, Isolation, Pool, RuntimeClass, UtilityVM
from lockstep.fleet.plan import Plan, to_data
from lockstep.k8s.taints import Taint, Toleration

# Oldest guest that each release takes on each host, typed from windows-builds' sources (containerd/platforms by tag).
OLDEST: Mapping[str, Mapping[int, int]] = {
    "1.6.22": {17763: 17763, 20348: 20348, 25398: 25398, 26100: 26100, 26200: 26200},
    "1.7.30": {17763: 17763, 20348: 20348, 25398: 20348, 26100: 20348, 26200: 20348},
    "2.1.5": {17763: 17763, 20348: 20348, 25398: 20348, 26100: 20348, 26200: 20348},
    "2.3.4": {17763: 17763, 20348: 20348, 25398: 20348, 26100: 20348, 26200: 26100},
    "2.3.5": {17763: 17763, 20348: 20348, 25398: 20348, 26100: 20348, 26200: 20348},
}
HOSTS = [17763, 20348, 25398, 26100, 26200]
# Which builds registry.k8s.io/pause has by tag, typed from kubernetes/kubernetes build/pause/CHANGELOG.md.
PAUSE: Mapping[tuple[int, ...], set[int]] = {
    (3, 9): {17763, 20348},
    (3, 10): {17763, 20348},
    (3, 10, 1): {17763, 20348},
    (3, 10, 2): {17763, 20348, 26100},
}
# What an image of one build is of, by the name that it is published under.
ALONE = {"-windows-1809-amd64": 17763, "-windows-ltsc2022-amd64": 20348}
NO_HYPERV = {25398}
ONLY_GUEST = {25398: 20348}
PINNED = {20348: [17763, 20348], 26100: [17763, 20348], 26200: [17763]}
IMAGES = [
    *(f"registry.k8s.io/pause:{'.'.join(map(str, tag))}" for tag in PAUSE),
    *(f"mcr.microsoft.com/oss/kubernetes/pause:3.9{name}" for name in ALONE),
]
TAINTS = [
    None,
    Taint("os", "windows", "NoSchedule"),
    Taint("os", "Windows", "NoExecute"),
    Taint("gpu", "", "PreferNoSchedule"),
]

Node = dict[str, Any]

names = st.sampled_from(["a", "b", "win-1", "win-2", "edge", "legacy"])
builds = st.sampled_from(HOSTS).map(Build)
isolations: st.SearchStrategy[Isolation] = st.sampled_from(("process", "hyperv"))
sizes = st.none() | st.builds(
    UtilityVM, st.none() | st.sampled_from([1024, 2048, 2049]), st.none() | st.sampled_from([2, 4])
)


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    host = draw(st.sampled_from([20348, 26100]) | st.sampled_from(HOSTS))
    return Pool(
        name=name,
        group=name,
        host=Build(host),
        guest=draw(st.sampled_from([None, None, *map(Build, PINNED.get(host, ()))])),
        kubernetes=draw(st.sampled_from(["1.36.1", "1.36.1", "1.30.14", "1.34.2"])),
        containerd=draw(st.sampled_from(["2.3.4", "2.3.4", *OLDEST])),
        taint=draw(st.sampled_from(TAINTS)),
        pause_image=draw(st.sampled_from([None, None, None, *IMAGES])),
        labels=draw(st.dictionaries(st.sampled_from(["team", "zone"]), st.sampled_from(["x", "y"]), max_size=2)),
        kubelet={},
    )


@st.composite
def classes(draw: st.DrawFn, name: str, there: Mapping[str, Pool]) -> RuntimeClass:
    """Draw a class that mostly fits one pool or a few like it, as people write them."""
    like = there[draw(st.sampled_from(sorted(there)))]
    isolation: Isolation = "hyperv" if like.guest and like.guest != like.host else draw(isolations)
    alike = sorted(pool.name for pool in there.values() if (pool.host, pool.guest) == (like.host, like.guest))
    named = draw(st.none() | st.lists(st.sampled_from(alike), min_size=1, unique=True))
    selectors = [
        None,
        None,
        {"lockstep.windows/pool": like.name},
        {"node.kubernetes.io/windows-build": like.host.label},
        {"team": "x", "kubernetes.io/os": "windows"},
    ]
    return RuntimeClass(
        name=name,
        isolation=isolation,
        guest=draw(st.sampled_from([like.guest or like.host] * 3 + [Build(20348)])),
        pools=tuple(named) if named else None,
        handler=draw(st.sampled_from([None, None, None, "runhcs-wcow-big", "runhcs-wcow-hypervisor-17763"])),
        vm=draw(sizes) if isolation == "hyperv" else None,
        overhead={"memory": "512Mi"},
        node_selector=draw(st.sampled_from(selectors)),
        tolerations=draw(st.sampled_from([(), (Toleration("gpu", "Exists"),)])),
        labels={},
        annotations={},
    )


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    there = {name: draw(pools(name)) for name in draw(st.lists(names, min_size=1, max_size=4, unique=True))}
    wanted = draw(st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=3, unique=True))
    return Fleet(there, {name: draw(classes(name, there)) for name in wanted})


def planned(fleet: Fleet) -> Plan:
    plan = derive(fleet).plan
    assume(plan is not None and plan.classes)
    assert plan is not None
    return plan


def nodes(plan: Plan) -> list[Node]:
    """Return a node a pool, registered as its kubelet registers it, and two that no class may ever reach."""
    registered: list[Node] = [
        {
            "pool": name,
            "labels": {
                "kubernetes.io/os": "windows",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": f"{name}-0",
                "node.kubernetes.io/windows-build": pool["host"],
                **pool["kubelet"]["node_labels"],
            },
            "taints": pool["kubelet"]["configuration"]["registerWithTaints"],
        }
        for name, pool in to_data(plan)["pools"].items()
    ]
    every = {key: value for node in registered for key, value in node["labels"].items()}
    linux = {"pool": "linux", "labels": {**every, "kubernetes.io/os": "linux"}, "taints": []}
    arm = {"pool": "arm", "labels": {**every, "kubernetes.io/arch": "arm64"}, "taints": []}
    return [*registered, linux, arm]


def selects(selector: Mapping[str, str], node: Node) -> bool:
    return all(node["labels"].get(key) == value for key, value in selector.items())


def tolerated(taint: Mapping[str, str], tolerations: list[Mapping[str, str]]) -> bool:
    """Return what kube-scheduler's TaintToleration filter decides."""
    for toleration in tolerations:
        effect = toleration.get("effect") in {None, taint["effect"]}
        key = toleration.get("key") in {None, taint["key"]}
        exists = toleration.get("operator") == "Exists"
        if effect and key and (exists or toleration.get("value", "") == taint.get("value", "")):
            return True
    return False


def pools_of(item: RuntimeClass, fleet: Fleet) -> set[str]:
    """Return a class's pools by the description's own rule."""
    if item.pools is not None:
        return set(item.pools)
    own = {name: pool.guest if pool.guest and pool.guest != pool.host else None for name, pool in fleet.pools.items()}
    if item.isolation == "process":
        return {name for name, pool in fleet.pools.items() if own[name] is None and pool.host == item.guest}
    return {name for name, pool in fleet.pools.items() if (own[name] or pool.host) == item.guest}


@given(fleets())
@settings(max_examples=80, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_class_reaches_exactly_its_pools_and_finds_its_handler_there(fleet: Fleet) -> None:
    plan = planned(fleet)
    data = to_data(plan)
    for name, item in fleet.runtime_classes.items():
        manifest = data["classes"][name]
        reached = {node["pool"] for node in nodes(plan) if selects(manifest["node_selector"], node)}
        assert reached == pools_of(item, fleet)
        for pool in reached:
            handlers = {handler["name"]: handler for handler in data["pools"][pool]["containerd"]["handlers"]}
            options = handlers[manifest["handler"]]["options"]
            assert options["SandboxIsolation"] == {"process": 0, "hyperv": 1}[item.isolation]
            assert options["SandboxPlatform"] == "windows/amd64"
            memory, processors = (item.vm.memory_mb, item.vm.processors) if item.vm else (None, None)
            assert options.get("VmMemorySizeInMb") == (None if memory is None else -(-memory // 2) * 2)
            assert options.get("VmProcessorCount") == processors
            assert data["pools"][pool]["containerd"]["default_handler"] in handlers


@given(fleets())
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_pool_has_hyperv_where_a_class_needs_it_and_nowhere_else(fleet: Fleet) -> None:
    plan = planned(fleet)
    data = to_data(plan)
    for name, pool in data["pools"].items():
        here = [node for node in nodes(plan) if node["pool"] == name]
        needed = [
            item
            for key, item in fleet.runtime_classes.items()
            if item.isolation == "hyperv" and selects(data["classes"][key]["node_selector"], here[0])
        ]
        assert pool["windows"]["hyperv"] == bool(needed) == ("Hyper-V" in pool["windows"]["features"])
        assert "Containers" in pool["windows"]["features"]
        for item in needed:
            assert pool["windows"]["memory_mb"] >= 4096 + ((item.vm and item.vm.memory_mb) or 1024)
            assert pool["windows"]["processors"] >= ((item.vm and item.vm.processors) or 2)


@given(fleets())
@settings(max_examples=80, suppress_health_check=[HealthCheck.filter_too_much])
def test_every_taint_of_the_nodes_is_tolerated(fleet: Fleet) -> None:
    plan = planned(fleet)
    for manifest in to_data(plan)["classes"].values():
        for node in nodes(plan):
            if selects(manifest["node_selector"], node):
                assert all(tolerated(taint, manifest["tolerations"]) for taint in node["taints"])


def booted(image: str, host: int, containerd: str) -> int | None:
    """Return the build of the pause image that containerd gets on a host, or None where it gets none."""
    for name, build in ALONE.items():
        if image.endswith(name):
            return build
    tag = tuple(map(int, image.removeprefix("registry.k8s.io/pause:").split(".")))
    return max((build for build in PAUSE[tag] if OLDEST[containerd][host] <= build <= host), default=None)


@given(fleets())
@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much])
def test_everything_that_is_planned_can_run(fleet: Fleet) -> None:
    plan = planned(fleet)
    for item in plan.classes.values():
        guest = int(item.guest.rpartition(".")[2])
        for name in item.pools:
            pool, containerd = fleet.pools[name], plan.pools[name].containerd
            host, boots = pool.host.number, booted(containerd.pause_image, pool.host.number, containerd.version)
            assert guest <= host
            assert guest not in NO_HYPERV
            assert guest == ONLY_GUEST.get(host, guest)
            assert boots is not None  # else no pod starts, whatever its isolation
            if item.isolation == "process":
                # The pause container runs on the host as the pod's own containers do.
                assert all(OLDEST[containerd.version][host] <= build <= host for build in (guest, boots))
                continue
            assert host not in NO_HYPERV
            if pool.guest and pool.guest != pool.host:
                assert guest == boots == pool.guest.number
            else:
                # The image is picked by the host's build, and runs on the Windows that the utility VM booted.
                assert guest >= OLDEST[containerd.version][host]
                assert OLDEST[containerd.version][boots] <= guest <= boots


@given(fleets())
@settings(max_examples=80, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_handlers_name_promises_only_what_its_pools_give(fleet: Fleet) -> None:
    for item in planned(fleet).classes.values():
        if promised := re.search(r"-([0-9]+)$", item.handler):
            effective = {fleet.pools[name].guest or fleet.pools[name].host for name in item.pools}
            assert {build.label for build in effective} == {f"10.0.{promised[1]}"}


@given(fleets(), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_the_order_of_keys_decides_nothing(fleet: Fleet, chance: random.Random) -> None:
    def shuffled(items: Mapping[str, Any]) -> dict[str, Any]:
        return dict(chance.sample(sorted(items.items()), len(items)))

    first = derive(fleet)
    second = derive(Fleet(shuffled(fleet.pools), shuffled(fleet.runtime_classes)))
    assert Counter(first.findings) == Counter(second.findings)
    assert normal(first.plan) == normal(second.plan)


def normal(plan: Plan | None) -> Plan | None:
    """Return a plan whose only order that may follow the description's is gone."""
    if plan is None:
        return None
    return replace(
        plan, classes={name: replace(item, pools=tuple(sorted(item.pools))) for name, item in plan.classes.items()}
    )


versions = st.sampled_from(["1.36.1", "1.24.0", "2.3.4", "9.9.9", "1.99.0", "0.0.0"]) | st.text(max_size=8)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=2)
)
any_pool = st.builds(
    Pool,
    name=names,
    group=names,
    host=st.integers(0, 70000).map(Build) | builds,
    guest=st.none() | st.integers(0, 70000).map(Build) | builds,
    kubernetes=versions,
    containerd=versions,
    taint=st.sampled_from(TAINTS),
    pause_image=st.none()
    | st.text(max_size=12)
    | st.sampled_from(["registry.k8s.io/pause:3.10", "x/pause:1-windows-1809-amd64"]),
    labels=st.dictionaries(names, names, max_size=2),
    kubelet=st.dictionaries(
        st.sampled_from(["resolvConf", "systemReserved", "cgroupsPerQOS", "x"]), any_json, max_size=3
    ),
)
any_class = st.builds(
    RuntimeClass,
    name=names,
    isolation=isolations,
    guest=st.none() | st.integers(0, 70000).map(Build) | builds,
    pools=st.none() | st.lists(names, max_size=3).map(tuple),
    handler=st.none() | names | st.just("runhcs-wcow-process"),
    vm=sizes,
    overhead=st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", "0.5", "2Gi"])),
    node_selector=st.none() | st.dictionaries(names | st.just("kubernetes.io/os"), names, max_size=2),
    tolerations=st.just(()),
    labels=st.just({}),
    annotations=st.just({}),
)


@given(st.lists(any_pool, max_size=4), st.lists(any_class, max_size=4))
@settings(max_examples=200)
def test_whatever_the_fleet_there_are_findings_and_no_exception(some: list[Pool], items: list[RuntimeClass]) -> None:
    fleet = Fleet({pool.name: pool for pool in some}, {item.name: item for item in items})
    derived = derive(fleet)
    errors = [finding for finding in derived.findings if finding.severity is Severity.ERROR]
    assert (derived.plan is None) is bool(errors)
    if derived.plan:
        assert derived.plan.pools.keys() == fleet.pools.keys()
        assert derived.plan.classes.keys() == fleet.runtime_classes.keys()
    for finding in derived.findings:
        assert not finding.message.endswith(".")
        assert finding.path[0] in {"pools", "runtime_classes", "kubernetes", "containerd"}
