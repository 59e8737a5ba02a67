"""What holds of every plan: done once there is nothing left, nothing of others goes, and no service is left stopped."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.artifacts.given import artifact

from lockstep.artifacts.observed import FOUND, Entry, Observed, ServiceSeen
from lockstep.artifacts.plan import Plan, Task, plan
from lockstep.artifacts.request import Defaults, wanted
from lockstep.artifacts.wanted import Wanted
from lockstep.node.contract import check_request

ROOT = r"C:\store"
NAMES = ("containerd", "kubelet", "crictl")
VERSIONS = ("1.35.0", "1.36.0", "1.36.1")
DIGESTS = st.sampled_from([f"{number:064x}" for number in range(5)])


def release(name: str, version: str) -> Wanted:
    digest = f"{NAMES.index(name) * 10 + VERSIONS.index(version) + 100:064x}"
    item = artifact(name=name, version=version, sha256=digest)
    [found] = wanted([item], Defaults(None, {}, published=False))
    return found


def entry_of(each: Wanted) -> Entry:
    """What a node has in its store once it has fetched a release."""
    files = {
        file.name: each.digest if each.format == "file" else f"{int(each.digest, 16) * 100 + index:064x}"
        for index, file in enumerate(each.files)
    }
    return Entry(each.entry, each.name, each.version, each.digest, files)


def applied(node: Observed, done: Plan, every: dict[str, Wanted]) -> Observed:
    """The node after all steps of a plan."""
    entries = {entry.entry: entry for entry in node.entries}
    digests = dict(node.digests)
    services = dict(node.services)
    for step in done.steps:
        operation = step.operation
        match operation["op"]:
            case "store.add":
                name = f"{operation['name']}-{operation['version']}-{operation['sha256'][:12]}"
                member = operation["members"][0]["to"]
                kept = Entry(
                    name, operation["name"], operation["version"], operation["sha256"], {member: operation["sha256"]}
                )
                entries[name] = kept if operation["version"] == FOUND else entry_of(every[name])
            case "file.install":
                assert digests[operation["path"]] == operation["expect_sha256"]
                digests[operation["path"]] = entries[operation["entry"]].files[operation["file"]]
            case "service.stop":
                services[operation["name"]] = replace(services[operation["name"]], running=False)
            case "service.restart":
                services[operation["name"]] = replace(services[operation["name"]], running=True)
            case "store.prune":
                entries = {name: entry for name, entry in entries.items() if name in operation["keep"]}
    return replace(node, entries=tuple(entries.values()), digests=digests, services=services, pending=False)


@st.composite
def nodes(draw: st.DrawFn) -> tuple[Observed, tuple[Wanted, ...], dict[str, Wanted]]:
    every = {each.entry: each for name in NAMES for version in VERSIONS for each in [release(name, version)]}
    asked = [
        release(name, draw(st.sampled_from(VERSIONS)))
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    ]
    stored = [
        entry_of(each) for each in draw(st.lists(st.sampled_from(list(every.values())), unique_by=lambda e: e.entry))
    ]
    stored.append(Entry("other-1-000000000000", "other", "1", "0" * 64, {"other.exe": "0" * 64}))
    own = {file.path: file.name for each in asked for file in each.files}
    digests = {}
    for path, name in own.items():
        of_store = [entry.files[name] for entry in stored if name in entry.files]
        digests[path] = draw(st.none() | DIGESTS | (st.sampled_from(of_store) if of_store else st.nothing()))
    services = {
        kind: ServiceSeen(
            kind,
            exists=draw(st.booleans()),
            running=draw(st.booleans()),
            automatic=draw(st.booleans()),
            command_line=rf"C:\Program Files\containerd\{kind}.exe" if kind == "containerd" else rf"C:\k\{kind}.exe",
        )
        for kind in ("containerd", "kubelet")
    }
    services = {kind: each if each.exists else replace(each, running=False) for kind, each in services.items()}
    return Observed(tuple(stored), {}, digests, services, draw(st.booleans())), tuple(asked), every


@settings(max_examples=300, deadline=None)
@given(drawn=nodes(), keep=st.integers(0, 3), backup=st.booleans())
def test_a_plan_leaves_nothing_to_do_and_takes_nothing_of_others(
    drawn: tuple[Observed, tuple[Wanted, ...], dict[str, Wanted]], keep: int, *, backup: bool
) -> None:
    node, asked, every = drawn
    task = Task(ROOT, keep, backup, 120, 1800, {})
    done = plan(node, asked, task)
    if done.steps:
        check_request({"mode": "apply", "transaction": "artifacts", "operations": [s.operation for s in done.steps]})
    after = applied(node, done, every)
    assert plan(after, asked, task).steps == ()
    assert any(entry.name == "other" for entry in after.entries)
    for kind, service in node.services.items():
        assert after.services[kind].running >= service.running
    for each in asked:
        entry = entry_of(each)
        assert all(after.digests[file.path] == entry.files[file.name] for file in each.files)
        earlier = [
            kept for kept in after.entries if kept.name == each.name and kept.version not in {FOUND, each.version}
        ]
        assert len(earlier) <= keep
    if backup:
        known = {digest for entry in after.entries for digest in entry.files.values()}
        foreign = {file.before for change in done.changes for file in change.files if file.foreign}
        assert foreign <= known


@settings(max_examples=100, deadline=None)
@given(nodes())
def test_what_runs_a_file_is_stopped_before_the_file_is_swapped_and_started_after(
    drawn: tuple[Observed, tuple[Wanted, ...], dict[str, Wanted]],
) -> None:
    node, asked, _ = drawn
    operations = [step.operation for step in plan(node, asked, Task(ROOT, 1, True, 120, 1800, {})).steps]
    order = ["store.add", "service.stop", "file.install", "program.check", "service.restart", "store.prune"]
    places = [order.index(operation["op"]) for operation in operations]
    assert places == sorted(places)
    stopped = [operation["name"] for operation in operations if operation["op"] == "service.stop"]
    started = [operation["name"] for operation in operations if operation["op"] == "service.restart"]
    assert started == stopped[::-1]
