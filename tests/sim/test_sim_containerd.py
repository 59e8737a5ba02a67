"""containerd by version. What a case says under `dump` was seen: `config dump` of that release, built for Windows."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.node.errors import NodeError
from lockstep.node.operations import Program, restart_service, run_program
from lockstep.sim import EmulatedEngine

Make = Callable[..., EmulatedEngine]
CASES = sorted(Path(__file__).with_name("cases").joinpath("containerd").glob("*.yaml"))
FOLDER = "C:\\Program Files\\containerd"
DECIDED_LATER = ("sandboxer", "sandbox_mode", "io_type")


def prepared(make: Make, case: Mapping[str, Any]) -> EmulatedEngine:
    engine = make(containerd=case["containerd"])
    for path, text in case["files"].items():
        put(engine, f"{FOLDER}\\{path}", text.encode())
    return engine


def put(engine: EmulatedEngine, path: str, data: bytes) -> None:
    place = engine.machine.disk.locate(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def run(engine: EmulatedEngine, name: str, *arguments: str) -> Mapping[str, Any]:
    return engine.session().read([run_program(Program(path=f"{FOLDER}\\{name}"), arguments)])[0]


def info(engine: EmulatedEngine) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(engine, "crictl.exe", "info")["stdout"])
    return document


def restart(engine: EmulatedEngine) -> None:
    engine.session().apply("test", [restart_service("containerd")])


def cri_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    plugins = config["plugins"]
    section: Mapping[str, Any] = plugins.get("io.containerd.cri.v1.runtime", plugins["io.containerd.grpc.v1.cri"])
    return section


def pause_of(config: Mapping[str, Any]) -> str | None:
    images = config["plugins"].get("io.containerd.cri.v1.images")
    pause: str | None = images["pinned_images"].get("sandbox") if images else cri_of(config)["sandbox_image"]
    return pause


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_config_dump(path: Path, make: Make) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    wanted = case["dump"]
    done = run(prepared(make, case), "containerd.exe", "config", "dump")
    if "fails" in wanted:
        assert done["exit_code"] == 1
        assert done["stderr"].startswith(f"containerd: {wanted['fails']}")
        return
    assert done["exit_code"] == 0, done["stderr"]
    config = tomllib.loads(done["stdout"])
    handlers = {
        name: {key: value for key, value in handler.items() if key not in DECIDED_LATER}
        for name, handler in cri_of(config)["containerd"]["runtimes"].items()
    }
    assert handlers == wanted["handlers"]
    assert cri_of(config)["containerd"]["default_runtime_name"] == wanted["default_handler"]
    assert pause_of(config) == wanted["pause_image"]
    for key in wanted["unknown_keys"]:
        assert f'Ignoring unknown key in TOML for plugin key="{key}"' in done["stderr"]
    assert done["stderr"].count("for plugin key=") == len(wanted["unknown_keys"])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_service(path: Path, make: Make) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    wanted = case.get("start", {})
    engine = prepared(make, case)
    if "fails" in wanted:
        with pytest.raises(NodeError, match="did not start") as caught:
            restart(engine)
        assert caught.value.code == "service_failed"
        assert wanted["fails"] in (engine.folder / "events.log").read_text(encoding="utf-8")
        return
    restart(engine)
    service = engine.services.get("containerd")
    assert service is not None
    assert service.state == "running"
    if "cri_fails" in wanted:
        done = run(engine, "crictl.exe", "info")
        assert done["exit_code"] == 1
        assert "unknown service runtime.v1.RuntimeService" in done["stderr"]
        log = engine.machine.disk.text("C:\\ProgramData\\containerd\\containerd.log") or ""
        assert wanted["cri_fails"] in log
        return
    listed = info(engine)["config"]["containerd"]
    if "handlers" in case["dump"]:
        assert set(listed["runtimes"]) == set(case["dump"]["handlers"])
        assert listed["defaultRuntimeName"] == case["dump"]["default_handler"]


def test_handlers_are_those_of_the_running_process(engine: EmulatedEngine) -> None:
    text = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.new]\nruntime_type = 'x'\n"
    put(engine, f"{FOLDER}\\config.toml", text.encode())
    assert "new" not in info(engine)["config"]["containerd"]["runtimes"]
    restart(engine)
    assert "new" in info(engine)["config"]["containerd"]["runtimes"]


def test_clients_need_a_running_containerd(engine: EmulatedEngine) -> None:
    assert run(engine, "ctr.exe", "version")["exit_code"] == 0
    engine.services.stop("containerd")
    assert "Unavailable" in run(engine, "crictl.exe", "info")["stderr"]
    assert run(engine, "ctr.exe", "version")["exit_code"] == 1


def test_disabled_cri_plugin(engine: EmulatedEngine) -> None:
    # Docker's containerd packages disable it so. Source: docs/getting-started.md of containerd, "Customizing
    # containerd".
    put(engine, f"{FOLDER}\\config.toml", b"version = 3\ndisabled_plugins = ['io.containerd.grpc.v1.cri']\n")
    restart(engine)
    assert "unknown service" in run(engine, "crictl.exe", "info")["stderr"]


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("2.3.7", "containerd github.com/containerd/containerd/v2 v2.3.7 simulated\n"),
        ("1.7.35", "containerd github.com/containerd/containerd v1.7.35 simulated\n"),
    ],
)
def test_version(version: str, line: str, make: Make) -> None:
    assert run(make(containerd=version), "containerd.exe", "--version")["stdout"] == line


@pytest.mark.parametrize(("version", "config_version"), [("1.7.35", 2), ("2.2.9", 3), ("2.3.7", 4), ("2.4.2", 4)])
def test_a_new_node_may_have_containerds_own_configuration(version: str, config_version: int, make: Make) -> None:
    engine = make(containerd=version, config_toml="default")
    written = tomllib.loads(engine.machine.disk.text(f"{FOLDER}\\config.toml") or "")
    assert written["version"] == config_version
    dumped = tomllib.loads(run(engine, "containerd.exe", "config", "dump")["stdout"])
    # 1.x puts the files that it read into `imports`.
    assert {**dumped, "imports": None} == {**written, "imports": None}


def test_runtime_handlers_from_2_0_on(make: Make) -> None:
    new = info(make(containerd="2.0.14"))["runtimeHandlers"]
    assert [handler.get("name", "") for handler in new] == ["", "runhcs-wcow-hypervisor", "runhcs-wcow-process"]
    assert "runtimeHandlers" not in info(make("old", containerd="1.7.35"))


def test_network_is_what_cni_has(engine: EmulatedEngine) -> None:
    engine.machine.disk.locate(f"{FOLDER}\\cni\\conf\\10-simulated.conf").unlink()
    ready = {condition["type"]: condition["status"] for condition in info(engine)["status"]["conditions"]}
    assert ready == {"RuntimeReady": True, "NetworkReady": False}


def test_another_file_is_no_program(engine: EmulatedEngine) -> None:
    put(engine, f"{FOLDER}\\containerd.exe", b"MZ")
    with pytest.raises(NodeError, match="not a valid Win32 application"):
        run(engine, "containerd.exe", "--version")


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--config"], ["images", "pull"], []])
def test_what_it_does_not_do_ends_with_words(arguments: list[str], engine: EmulatedEngine) -> None:
    done = run(engine, "containerd.exe", *arguments)
    assert done["exit_code"] == 1
    assert done["stderr"].startswith("containerd: ")
