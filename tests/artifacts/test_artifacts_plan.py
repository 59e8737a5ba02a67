from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.artifacts.given import artifact

from lockstep.artifacts.changes import changes
from lockstep.artifacts.observed import Observed, observed, read_operations, service_names
from lockstep.artifacts.plan import Plan, Task, plan
from lockstep.artifacts.request import Defaults, wanted
from lockstep.artifacts.wanted import Wanted
from lockstep.artifacts.warnings import warnings
from lockstep.catalog.artifacts import known_services
from lockstep.node.contract import check_request, check_response
from lockstep.node.operations import Program, check_program

CASES = sorted((Path(__file__).parent / "cases" / "plan").glob("*.yaml"))
ROOT = r"C:\ProgramData\lockstep\store"


def digest(short: str | None) -> str | None:
    """A SHA-256 from the few digits that a case has for it."""
    return None if short is None else short.ljust(64, "0")


def asked(case: dict[str, Any]) -> tuple[Wanted, ...]:
    items = [artifact(**{**item, "sha256": digest(item["sha256"])}) for item in case["artifacts"]]
    return wanted(items, Defaults(None, {}, published=False))


def seen(case: dict[str, Any], artifacts: tuple[Wanted, ...]) -> Observed:
    services = service_names(artifacts, {}, known_services())
    operations = read_operations(ROOT, artifacts, services)
    results = [{"op": operation["op"], "ok": True, **answer(case, operation)} for operation in operations]
    request = {"mode": "read", "operations": operations}
    check_request(request)
    check_response(request, {"contract": 1, "mode": "read", "ok": True, "results": results})
    return observed(results, artifacts, services)


def answer(case: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    match operation["op"]:
        case "store.read":
            return {"entries": [entry(each) for each in case.get("store", ())], "uploads": {}, "free_bytes": 10**9}
        case "transaction.read":
            return {"pending": case.get("pending", False)}
        case "service.read":
            service = case.get("services", {}).get(operation["name"])
            if service is None:
                return {"exists": False}
            facts = {"state": service["state"], "start_type": service.get("start", "manual")}
            return {"exists": True, "binary_path": service["line"], "process_id": 0, "exit_code": 0, **facts}
    found = digest(case.get("files", {}).get(operation["path"]))
    return {"exists": False} if found is None else {"exists": True, "size": 1, "sha256": found}


def entry(each: dict[str, Any]) -> dict[str, Any]:
    files = {name: {"size": 1, "sha256": digest(short)} for name, short in each["files"].items()}
    sha256 = str(digest(each["sha256"]))
    name = f"{each['name']}-{each['version']}-{sha256[:12]}"
    return {"entry": name, "name": each["name"], "version": each["version"], "sha256": sha256, "files": files}


def task(case: dict[str, Any]) -> Task:
    health = {"containerd": check_program(Program(path="C:\\ctr.exe"), ["version"], must_contain=["Server:"])}
    own = {"keep": 1, "backup": True, "start": True} | {
        key: case[key] for key in ("keep", "backup", "start") if key in case
    }
    return Task(ROOT, timeout=120, download_timeout=1800, health=health, **own)


def planned(case: dict[str, Any]) -> Plan:
    artifacts = asked(case)
    return plan(seen(case, artifacts), artifacts, task(case))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_plan(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    artifacts = asked(case)
    node = seen(case, artifacts)
    result = plan(node, artifacts, task(case))
    assert [step.label for step in result.steps] == case["steps"]
    assert {each.wanted.name: each.action for each in result.changes} == case["actions"]
    came = {each.wanted.name: each.from_version for each in result.changes if each.from_version and each.differing}
    assert came == case.get("from", {})
    assert [each.wanted.name for each in result.undecided] == case.get("undecided", [])
    keeps = [step.operation["keep"] for step in result.steps if step.operation["op"] == "store.prune"]
    assert [[name.rstrip("0") for name in each] for each in keeps] == ([case["keeps"]] if "keeps" in case else [])
    told = warnings(node, result.changes)
    if "warns" in case:
        assert all(any(part in each for each in told) for part in case["warns"])
        assert len(told) == len(case["warns"])
    else:
        assert list(told) == case.get("warnings", [])
    if result.steps:
        check_request({"mode": "apply", "transaction": "artifacts", "operations": [s.operation for s in result.steps]})


def test_what_is_in_place_is_told_by_its_bytes_and_not_by_its_name() -> None:
    case = {
        "artifacts": [{"name": "kubelet", "version": "1.36.1", "sha256": "a1"}],
        "store": [{"name": "other", "version": "9", "sha256": "aa", "files": {"other.exe": "a0"}}],
        "files": {r"C:\k\kubelet.exe": "a0"},
    }
    artifacts = asked(case)
    [change] = changes(seen(case, artifacts), artifacts)
    assert change.from_version is None
    assert change.files[0].foreign
