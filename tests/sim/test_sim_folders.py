"""Folders of a simulated node: made, kept from others, and taken away again."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.node.errors import NodeError
from lockstep.node.operations import ensure_folder, read_folder, restart_service
from lockstep.sim import EmulatedEngine

PATH = "C:\\Kept\\from\\others"
ADMINISTRATORS = "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
FAILS = restart_service("none")


def read(engine: EmulatedEngine, path: str = PATH) -> Any:
    return engine.session().read([read_folder(path)])[0]


def ensure(engine: EmulatedEngine, *operations: Any) -> list[bool]:
    applied = engine.session().apply("test", list(operations))
    return [bool(result["changed"]) for result in applied.results]


def test_a_folder_is_made_with_its_access(engine: EmulatedEngine) -> None:
    assert read(engine) == {"op": "folder.read", "ok": True, "exists": False}
    assert ensure(engine, ensure_folder(PATH, ADMINISTRATORS)) == [True]
    assert read(engine)["access"] == ADMINISTRATORS
    assert read(engine, PATH.upper())["access"] == ADMINISTRATORS
    assert ensure(engine, ensure_folder(PATH, ADMINISTRATORS), ensure_folder(PATH)) == [False, False]


def test_what_is_below_inherits(engine: EmulatedEngine) -> None:
    ensure(engine, ensure_folder(PATH, ADMINISTRATORS), ensure_folder(f"{PATH}\\deep\\deeper"))
    assert read(engine, f"{PATH}\\deep\\deeper")["access"] == "D:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)"


def test_a_new_folder_inherits_from_the_drive(engine: EmulatedEngine) -> None:
    ensure(engine, ensure_folder("C:\\new"))
    assert read(engine, "C:\\new") == {
        "op": "folder.read",
        "ok": True,
        "exists": True,
        "owner": "S-1-5-32-544",
        "access": (
            "D:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;0x1200a9;;;BU)(A;CIID;LC;;;BU)(A;CIID;DC;;;BU)"
            "(A;OICIIOID;GA;;;CO)"
        ),
    }


def test_folders_that_were_made_are_taken_away_again(engine: EmulatedEngine) -> None:
    with pytest.raises(NodeError):
        ensure(engine, ensure_folder("C:\\new\\deep", ADMINISTRATORS), FAILS)
    assert not read(engine, "C:\\new")["exists"]
    ensure(engine, ensure_folder("C:\\new\\deep"))
    assert read(engine, "C:\\new\\deep")["access"].startswith("D:AI")


def test_access_is_given_back(engine: EmulatedEngine) -> None:
    ensure(engine, ensure_folder(PATH, ADMINISTRATORS))
    with pytest.raises(NodeError):
        ensure(engine, ensure_folder(PATH, "D:PAI(A;OICI;FA;;;SY)"), FAILS)
    assert read(engine)["access"] == ADMINISTRATORS


@pytest.mark.parametrize(("path", "code"), [("C:\\var\\lib\\kubelet\\config.yaml", "io"), ("Q:\\new", "io")])
def test_folders_that_cannot_be(path: str, code: str, engine: EmulatedEngine) -> None:
    with pytest.raises(NodeError) as caught:
        ensure(engine, ensure_folder(path))
    assert caught.value.code == code
