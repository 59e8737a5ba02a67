"""node_artifacts on a simulated node: installed, upgraded, taken back, and told what went wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.ansible.arguments import accepted
from lockstep.ansible.artifacts.install import install, read_operations
from lockstep.ansible.artifacts.push import PIECE
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import ConnectionBrokeError
from lockstep.ansible.spec import argument_spec
from lockstep.artifacts.web import fetch
from lockstep.cli.main import main
from lockstep.node.session import Completed, Session
from lockstep.sim import NodeSpec, SimulatedNodes
from lockstep.sim.engine import PowerLost
from lockstep.sim.mirror import download

ROOT = Path(__file__).parents[2]
SPEC = argument_spec(ROOT / "library" / "node_artifacts.py")
FAILURES = yaml.safe_load((Path(__file__).parent / "cases" / "artifacts_failures.yaml").read_text())
STORE = "C/ProgramData/lockstep/store"
KUBELET = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupsPerQOS: false
containerRuntimeEndpoint: npipe:////./pipe/containerd-containerd
enforceNodeAllocatable: [none]
resolvConf: ""
"""
OLD = [{"name": "containerd", "version": "2.3.0"}, {"name": "kubelet", "version": "1.35.0"}]
NEW = [{"name": "containerd", "version": "2.3.4"}, {"name": "kubelet", "version": "1.36.1"}]


class Node:
    """A simulated node, the mirror beside it, and how often the node was asked something."""

    def __init__(self, nodes: SimulatedNodes, name: str) -> None:
        self.nodes, self.name = nodes, name
        self.engine = nodes.engine(name)
        self.faults = nodes.faults(name)
        self.requests: list[bytes] = []
        self.before_request: Callable[[int], None] = lambda _: None

    def run(self, command: str, standard_input: bytes) -> Completed:
        self.requests.append(standard_input)
        self.before_request(len(self.requests))
        try:
            done = self.engine.execute(command, standard_input)
        except PowerLost as error:
            self.engine.power_on()
            raise ConnectionBrokeError("the node went away") from error
        return Completed(done.exit_code, done.stdout.decode(), done.stderr.decode())

    def do(self, artifacts: list[dict[str, Any]], *, check_mode: bool = False, **more: Any) -> dict[str, Any]:
        """The result of a task; `requests` are those of this task alone."""
        given = {"artifacts": artifacts, "mirror": self.nodes.mirror(self.name), **more}
        self.requests.clear()
        return install(Session(self.run), accepted("node_artifacts", SPEC, given), check_mode=check_mode, fetch=fetch)

    def state(self, service: str) -> str:
        found = self.engine.services.get(service)
        return found.state if found else "not there"

    def program(self, path: str) -> str:
        """What a placeholder says that it is."""
        content = (self.engine.folder / path).read_text()
        return " ".join(content.split()[-2:])

    @property
    def store(self) -> list[str]:
        """The store's entries, without the digits of their SHA-256."""
        folder = self.engine.folder / STORE
        return sorted(path.name.rpartition("-")[0] for path in folder.iterdir()) if folder.is_dir() else []

    @property
    def leftovers(self) -> list[str]:
        """Files that only an interrupted or failed apply leaves behind."""
        found = [*self.engine.folder.rglob("*.lockstep-*"), *self.engine.folder.rglob("*.rejected")]
        return [str(path) for path in [*found, *self.engine.folder.rglob("transactions/*")]]


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[SimulatedNodes]:
    specs = [
        NodeSpec("bare-0", "ltsc2025", "2.3.4", "1.36.1", prepared="nothing"),
        NodeSpec("old-0", "ltsc2022", "2.3.0", "1.35.0"),
    ]
    with SimulatedNodes(tmp_path / "nodes", specs) as found:
        yield found


@pytest.fixture
def bare(nodes: SimulatedNodes) -> Node:
    return Node(nodes, "bare-0")


@pytest.fixture
def old(nodes: SimulatedNodes) -> Node:
    """A node whose services run, with releases that somebody else put there."""
    node = Node(nodes, "old-0")
    (node.engine.folder / "C/var/lib/kubelet/config.yaml").write_text(KUBELET)
    node.engine.services.start("kubelet")
    return node


@pytest.fixture
def upgradable(old: Node) -> Node:
    """A node that this module knows the releases of."""
    old.do(OLD)
    return old


def labels(result: dict[str, Any], first: str) -> list[str]:
    return [step for step in result["steps"] if step.startswith(first)]


def actions(result: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["action"] for each in result["artifacts"]}


def test_a_bare_node_gets_everything_with_one_read_and_one_change(bare: Node) -> None:
    everything = [
        *NEW,
        *({"name": name} for name in ("cni-plugins", "crictl", "kubeadm", "kube-proxy", "kube-log-runner")),
    ]
    shown = bare.do(everything, check_mode=True)
    assert len(bare.requests) == 1
    assert bare.store == []
    done = bare.do(everything)
    assert {**done, "changed": True} == shown
    assert len(bare.requests) == 2
    assert set(actions(done).values()) == {"installed"}
    assert done["restarted"] == []
    assert bare.program("C/Program Files/containerd/cni/bin/win-overlay.exe") == "win-overlay.exe 1.9.1"
    assert bare.program("C/Program Files/containerd/crictl.exe") == "crictl.exe 1.36.0"
    assert bare.program("C/k/kube-log-runner.exe") == "kube-log-runner.exe 1.36.1"
    again = bare.do(everything)
    assert not again["changed"]
    assert again["diff"] == again["steps"] == []
    assert len(bare.requests) == 1
    assert bare.leftovers == []


def test_an_upgrade_and_the_way_back(upgradable: Node) -> None:
    done = upgradable.do(NEW)
    assert actions(done) == {"containerd": "upgraded", "kubelet": "upgraded"}
    assert [each["from_version"] for each in done["artifacts"]] == ["2.3.0", "1.35.0"]
    assert done["restarted"] == ["containerd", "kubelet"]
    assert upgradable.program("C/Program Files/containerd/containerd.exe") == "containerd.exe 2.3.4"
    assert [upgradable.state(name) for name in ("containerd", "kubelet")] == ["running", "running"]
    assert not upgradable.do(NEW)["changed"]
    back = upgradable.do(OLD)
    assert labels(back, "fetch") == []
    assert back["warnings"] == ["containerd goes back from 2.3.4 to 2.3.0", "kubelet goes back from 1.36.1 to 1.35.0"]
    assert upgradable.program("C/k/kubelet.exe") == "kubelet.exe 1.35.0"
    assert [upgradable.state(name) for name in ("containerd", "kubelet")] == ["running", "running"]
    assert upgradable.leftovers == []


def test_only_the_release_before_stays_in_the_store(upgradable: Node) -> None:
    upgradable.do([{"name": "containerd", "version": "2.3.3"}])
    last = upgradable.do([{"name": "containerd", "version": "2.3.4"}])
    assert [name.rpartition("-")[0] for name in last["removed"]] == ["containerd-2.3.0"]
    assert upgradable.store == ["containerd-2.3.3", "containerd-2.3.4", "kubelet-1.35.0"]
    emptied = upgradable.do([{"name": "containerd", "version": "2.3.4"}], keep=0)
    assert emptied["steps"] == ["remove earlier releases from the store"]
    assert upgradable.store == ["containerd-2.3.4", "kubelet-1.35.0"]
    assert not upgradable.do([{"name": "containerd", "version": "2.3.4"}], keep=0)["changed"]


def test_what_somebody_else_put_there_is_taken_over_without_a_restart(old: Node) -> None:
    before = old.engine.services.get("containerd")
    assert before
    result = old.do(OLD)
    after = old.engine.services.get("containerd")
    assert after
    assert result["changed"]
    assert result["steps"] == ["fetch containerd 2.3.0", "keep kubelet 1.35.0, which is in place, in the store"]
    assert result["restarted"] == []
    assert actions(result) == {"containerd": "kept", "kubelet": "kept"}
    assert after.process_id == before.process_id
    assert not old.do(OLD)["changed"]


def test_somebody_elses_file_is_kept_before_it_is_replaced(old: Node) -> None:
    path = old.engine.folder / "C/k/kubelet.exe"
    path.write_text("lockstep simulated program: kubelet.exe 1.35.0\r\nof my own")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    result = old.do([{"name": "kubelet", "version": "1.36.1"}])
    assert actions(result) == {"kubelet": "replaced"}
    kept = old.engine.folder / STORE / f"kubelet-found-{digest[:12]}" / "kubelet.exe"
    assert kept.read_text().endswith("of my own")
    old.do([{"name": "kubelet", "version": "1.36.0"}], keep=0)
    assert kept.exists()


def test_it_is_not_where_nobody_wants_that(old: Node) -> None:
    old.do([{"name": "kubelet", "version": "1.36.1"}], backup=False)
    assert old.store == ["kubelet-1.36.1"]


def test_a_file_of_the_controller_is_sent_in_pieces_and_goes_on_where_it_was_cut_off(
    bare: Node, tmp_path: Path
) -> None:
    source = tmp_path / "provider.exe"
    source.write_bytes(bytes(range(256)) * (PIECE // 256 * 2) + b"end")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    artifact = {"name": "provider", "version": "1", "src": str(source), "sha256": digest, "into": r"C:\k\providers"}

    def breaks(request: int) -> None:
        if request == 3:
            raise ConnectionBrokeError("connection reset")

    bare.before_request = breaks
    with pytest.raises(TaskError, match="the connection broke"):
        bare.do([artifact])
    bare.before_request = lambda _: None
    assert bare.do([artifact])["changed"]
    # The read, the two pieces that were missing, and the change.
    assert len(bare.requests) == 4
    assert (bare.engine.folder / "C/k/providers/provider.exe").read_bytes() == source.read_bytes()
    assert not bare.do([artifact])["changed"]
    assert bare.leftovers == []


def test_a_file_of_the_controller_that_is_another_is_not_sent(bare: Node, tmp_path: Path) -> None:
    source = tmp_path / "kubelet.exe"
    source.write_bytes(b"something else")
    with pytest.raises(TaskError, match="is not what its SHA-256 says, so it is not sent"):
        bare.do([{"name": "kubelet", "version": "1.36.1", "src": str(source)}], check_mode=True)
    source.unlink()
    with pytest.raises(TaskError, match="the file cannot be read, no such file"):
        bare.do([{"name": "kubelet", "version": "1.36.1", "src": str(source)}])
    assert len(bare.requests) == 1


def test_a_file_that_the_node_can_read(bare: Node) -> None:
    share = bare.engine.folder / "C" / "share"
    share.mkdir()
    (share / "kubelet.exe").write_bytes(download("kubelet", "1.36.1"))
    done = bare.do([{"name": "kubelet", "version": "1.36.1", "path": r"C:\share\kubelet.exe"}])
    assert actions(done) == {"kubelet": "installed"}
    with pytest.raises(TaskError) as raised:
        bare.do([{"name": "kubelet", "version": "1.36.0", "path": r"C:\share\none.exe"}])
    assert "over WinRM, Kerberos without delegation and NTLM pass no credentials" in " ".join(str(raised.value).split())


def test_secrets_of_a_download_are_shown_nowhere(bare: Node) -> None:
    url = (
        bare.nodes.mirror("bare-0").replace("http://", "http://me:hunter2@")
        + "/v1.36.1/bin/windows/amd64/kubelet.exe?k=s3cret"
    )
    artifact = {"name": "kubelet", "version": "1.36.1", "url": url, "headers": {"Authorization": "Bearer t0ken"}}
    shown = bare.do([artifact], check_mode=True)
    bare.nodes.mirror_faults.set([{"path": "*kubelet.exe", "does": "missing"}])
    with pytest.raises(TaskError) as raised:
        bare.do([artifact])
    bare.nodes.mirror_faults.set([])
    done = bare.do([artifact])
    for text in (repr(shown), repr(done), str(raised.value), repr(raised.value.result)):
        assert not any(secret in text for secret in ("hunter2", "s3cret", "t0ken"))
    assert "http://********@127.0.0.1" in repr(shown)


@pytest.mark.slow
@pytest.mark.parametrize("case", FAILURES, ids=lambda case: str(case["about"]))
def test_what_goes_wrong_is_told_and_the_next_run_heals_it(case: dict[str, Any], upgradable: Node) -> None:
    node = upgradable
    node.nodes.mirror_faults.set(case.get("mirror", []))
    node.faults.set(case.get("node", []))

    def breaks(request: int) -> None:
        if request == case.get("drop"):
            raise ConnectionBrokeError("connection reset by peer")

    node.before_request = breaks
    with pytest.raises(TaskError) as raised:
        node.do(NEW, pinned=case.get("pinned", {}))
    error = raised.value
    text = " ".join(str(error).split())
    assert case["message"] in text
    assert case.get("step", "") in error.facts.get("step", "")
    assert case.get("do", "") in error.facts["do"].replace("\0", " ")
    assert case.get("said", "") in error.facts.get("it said", "")
    assert all(len(line) <= 80 or " http" in line or "\\" in line for line in str(error).splitlines())
    # Whatever it was: what ran runs, in the release that it had.
    assert [node.state(name) for name in ("containerd", "kubelet")] == ["running", "running"]
    assert node.program("C/Program Files/containerd/containerd.exe") == "containerd.exe 2.3.0"
    assert node.program("C/k/kubelet.exe") == "kubelet.exe 1.35.0"
    node.nodes.mirror_faults.set([])
    node.faults.set([])
    node.before_request = lambda _: None
    healed = node.do(NEW)
    assert labels(healed, "fetch") == [f"fetch {each}" for each in case["fetched"]]
    assert [node.state(name) for name in ("containerd", "kubelet")] == ["running", "running"]
    assert node.program("C/Program Files/containerd/containerd.exe") == "containerd.exe 2.3.4"
    assert not node.do(NEW)["changed"]
    assert node.leftovers == []


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, 62, 4))
def test_power_that_is_lost_at_any_step_is_healed_by_the_next_run(step: int, upgradable: Node) -> None:
    node = upgradable
    node.faults.set([{"kind": "power", "step": step, "off_seconds": None}])
    try:
        done = node.do(NEW)
    except TaskError:
        pass
    else:
        assert done["changed"]
    node.faults.set([])
    node.do(NEW)
    assert node.program("C/Program Files/containerd/containerd.exe") == "containerd.exe 2.3.4"
    assert node.program("C/k/kubelet.exe") == "kubelet.exe 1.36.1"
    assert [node.state(name) for name in ("containerd", "kubelet")] == ["running", "running"]
    assert not node.do(NEW)["changed"]
    assert node.leftovers == []


def test_a_release_that_needs_another_configuration_is_taken_back_or_left_to_who_gives_it(upgradable: Node) -> None:
    """kubelet 1.35 does not start with a flag that 1.34 has."""
    node = upgradable
    node.do([{"name": "kubelet", "version": "1.34.1"}])
    kubelet = node.engine.services.get("kubelet")
    assert kubelet
    node.engine.services.configure("kubelet", f"{kubelet.binary_path} --pod-infra-container-image=pause:3.10")
    with pytest.raises(TaskError) as raised:
        node.do([{"name": "kubelet", "version": "1.35.0"}])
    assert "run once with start: false" in " ".join(raised.value.facts["do"].split())
    assert node.program("C/k/kubelet.exe") == "kubelet.exe 1.34.1"
    assert node.state("kubelet") == "running"
    node.do([{"name": "kubelet", "version": "1.35.0"}], start=False)
    assert node.program("C/k/kubelet.exe") == "kubelet.exe 1.35.0"
    assert node.state("kubelet") == "stopped"
    assert not node.do([{"name": "kubelet", "version": "1.35.0"}])["changed"]


def test_another_build_is_refused_before_anything_is_changed(bare: Node) -> None:
    with pytest.raises(TaskError, match="this node is Windows Server 2025"):
        bare.do(NEW, host="ltsc2022")
    assert len(bare.requests) == 1


def test_sums_that_are_not_to_be_had_end_the_task_before_anything_is_changed(bare: Node) -> None:
    bare.nodes.mirror_faults.set([{"path": "*.sha256*", "does": "missing"}])
    with pytest.raises(TaskError) as raised:
        bare.do(NEW)
    assert (len(bare.requests), bare.store) == (1, [])
    assert "404" in str(raised.value)
    # In one line, to be copied, and it works.
    [line] = [line.strip() for line in str(raised.value).splitlines() if line.strip().startswith("lockstep artifacts")]
    mirror = bare.nodes.mirror(bare.name)
    assert line == f"lockstep artifacts --artifact containerd=2.3.4 --artifact kubelet=1.36.1 --mirror {mirror}"
    bare.nodes.mirror_faults.set([])
    assert main(line.split()[1:]) == 0


def test_what_is_in_place_needs_no_sums(bare: Node) -> None:
    everything = [*NEW, {"name": "cni-plugins"}]
    bare.do(everything)
    bare.nodes.mirror_faults.set([{"path": "*", "does": "missing"}])
    assert not bare.do(everything)["changed"]
    (bare.engine.folder / "C/k/kubelet.exe").write_text("another")
    with pytest.raises(TaskError) as raised:
        bare.do(everything)
    assert "kubelet 1.36.1:" in str(raised.value)
    assert "containerd 2.3.4" not in str(raised.value)


def test_what_one_read_asks_is_known_from_the_arguments_alone() -> None:
    arguments = accepted("node_artifacts", SPEC, {"artifacts": NEW})
    assert read_operations(arguments) == read_operations(arguments)
    asked = [operation["op"] for operation in read_operations(arguments)]
    assert asked[:4] == ["system.read", "file.read", "store.read", "transaction.read"]
    assert set(asked[4:]) == {"service.read", "file.digest"}


def test_arguments_that_cannot_be_are_told_together() -> None:
    given = {
        "artifacts": [{"name": "kublet", "version": "1"}],
        "keep": -1, "download_timeout": 0, "store": "store", "services": {"containerdd": "x"}, "pinned": {"nssm": "ab"},
    }  # fmt: skip
    with pytest.raises(TaskError) as raised:
        read_operations(accepted("node_artifacts", SPEC, given))
    for part in (
        "kublet", "keep: -1", "download_timeout: 0", "store: 'store'", "services: there is no 'containerdd'",
        "pinned.nssm (in the role, artifacts_pinned): expected releases with their SHA-256, got 'ab'",
    ):  # fmt: skip
        assert part in " ".join(str(raised.value).split())
