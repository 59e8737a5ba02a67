"""A simulated kubelet with and without a cluster, its credential providers, and what it tells of its health."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from lockstep.node.operations import Program, run_program
from lockstep.sim import EmulatedEngine
from lockstep.sim.kubelet.joining import KUBECONFIG

PROGRAM = r"C:\k\kubelet.exe --windows-service --config=C:\var\lib\kubelet\config.yaml"
KUBELET_CONF = r"C:\etc\kubernetes\kubelet.conf"
BOOTSTRAP = r"C:\etc\kubernetes\bootstrap-kubelet.conf"
JOINED = f"--bootstrap-kubeconfig={BOOTSTRAP} --kubeconfig={KUBELET_CONF}"
CURL = r"C:\Windows\System32\curl.exe"
URL = "http://127.0.0.1:10248/healthz"
STANDALONE = {"authentication": {"webhook": {"enabled": False}}, "authorization": {"mode": "AlwaysAllow"}}
FIELDS = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "containerRuntimeEndpoint": "npipe:////./pipe/containerd-containerd",
    "cgroupsPerQOS": False,
    "enforceNodeAllocatable": ["none"],
}


def start(engine: EmulatedEngine, line: str, **fields: Any) -> bool:
    """Start kubelet with this command line and these fields; whether it stays up."""
    place = engine.machine.disk.locate(r"C:\var\lib\kubelet\config.yaml")
    place.write_text(yaml.safe_dump({**FIELDS, **fields}))
    engine.services.stop("kubelet")
    engine.services.configure("kubelet", line)
    engine.services.start("kubelet")
    return engine.services.wait("kubelet", ("stopped",), 3) == "running"


def events(engine: EmulatedEngine) -> str:
    return (engine.folder / "events.log").read_text()


def healthy(engine: EmulatedEngine, url: str = URL) -> tuple[int, str]:
    [done] = engine.session().read([run_program(Program(path=CURL), ["--fail", url])])
    return done["exit_code"], done["stdout"]


def test_without_a_kubeconfig_it_registers_nothing_and_needs_neither_webhook(engine: EmulatedEngine) -> None:
    assert not start(engine, PROGRAM)
    assert "no client provided, cannot use webhook authentication" in events(engine)
    assert not start(engine, PROGRAM, authentication=STANDALONE["authentication"])
    assert "no client provided, cannot use webhook authorization" in events(engine)
    assert start(engine, PROGRAM, **STANDALONE)
    assert engine.machine.cluster.get("node") is None


def test_it_bootstraps_only_where_it_has_no_kubeconfig_yet(engine: EmulatedEngine) -> None:
    disk = engine.machine.disk
    assert start(engine, f"{PROGRAM} {JOINED}")
    assert disk.text(KUBELET_CONF) == KUBECONFIG
    disk.delete(KUBELET_CONF)
    assert not start(engine, f"{PROGRAM} {JOINED}")
    assert "unable to load bootstrap kubeconfig" in events(engine)
    disk.write(BOOTSTRAP, KUBECONFIG.replace("kubernetes.example", "other.example").encode())
    assert start(engine, f"{PROGRAM} {JOINED}")
    assert "other.example" in str(disk.text(KUBELET_CONF))


def test_its_clients_ca_has_to_be_there(engine: EmulatedEngine) -> None:
    fields = {"authentication": {"x509": {"clientCAFile": "C:/etc/kubernetes/pki/ca.crt"}}}
    assert start(engine, f"{PROGRAM} {JOINED}", **fields)
    engine.machine.disk.delete(r"C:\etc\kubernetes\pki\ca.crt")
    assert not start(engine, f"{PROGRAM} {JOINED}", **fields)
    assert "unable to load client CA file" in events(engine)


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ((), "unable to access path"),
        (("config",), "did not exist"),
        (("config", "folder"), r"plugin binary executable C:\p\one did not exist"),
        (("config", "folder", "program"), None),
    ],
)
def test_credential_providers_have_to_be_there(
    engine: EmulatedEngine, there: tuple[str, ...], says: str | None
) -> None:
    disk = engine.machine.disk
    if "config" in there:
        disk.write(r"C:\providers.yaml", yaml.safe_dump({"providers": [{"name": "one"}]}).encode())
    if "folder" in there:
        disk.make_folder(r"C:\p")
    if "program" in there:
        disk.write(r"C:\p\one.exe", b"x")
    flags = r"--image-credential-provider-config=C:\providers.yaml --image-credential-provider-bin-dir=C:\p"
    assert start(engine, f"{PROGRAM} {JOINED} {flags}") is (says is None)
    assert says is None or says in events(engine)


def test_curl_tells_whether_a_kubelet_runs(engine: EmulatedEngine) -> None:
    assert healthy(engine)[0] == 7
    assert start(engine, f"{PROGRAM} {JOINED}")
    assert healthy(engine) == (0, "ok")
    assert healthy(engine, URL.replace("healthz", "readyz"))[0] == 22
    assert healthy(engine, URL.replace("10248", "10249"))[0] == 7
    assert healthy(engine, "http://kubernetes.example/healthz")[0] == 7
    assert start(engine, f"{PROGRAM} {JOINED}", healthzPort=10249)
    assert healthy(engine, URL.replace("10248", "10249")) == (0, "ok")
