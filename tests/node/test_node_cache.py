"""What a session asks a node, and what it knows from before."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.node.cache import FileCache
from lockstep.node.errors import NodeError, ProtocolError
from lockstep.node.operations import Program, read_file, read_system, run_program, write_file
from lockstep.node.remembered import Remembered, key, once
from lockstep.node.session import Completed, Session
from lockstep.sim import EmulatedEngine, NodeSpec

CONFIG = r"C:\Program Files\containerd\config.toml"
SECRET = "correct horse battery staple"  # noqa: S105 - what nobody else may read


class Node:
    """A simulated node that keeps what it was asked: a list of operations a request."""

    def __init__(self, folder: Path) -> None:
        self.engine = EmulatedEngine(folder / "win2025-0", NodeSpec("win2025-0"))
        self.asked: list[list[str]] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self, command: str, stdin: bytes) -> Completed:
        """Run."""
        self.asked.append([operation["op"] for operation in json.loads(stdin)["request"]["operations"]])
        done = self.engine.execute(command, stdin)
        self.meanwhile()
        return Completed(done.exit_code, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "run" / "node.json", "play 1")


def test_what_is_known_is_not_asked_and_what_is_missing_in_one_request(node: Node, cache: FileCache) -> None:
    first = Session(node, cache).read([read_system(), read_file(CONFIG)])
    session = Session(node, cache)
    again = session.read([read_file(CONFIG), read_system(), read_file(r"C:\a"), read_file(r"C:\b")])
    assert again[:2] == [first[1], first[0]]
    assert node.asked == [["system.read", "file.read"], ["file.read", "file.read"]]
    assert session.remembered
    assert Session(node, cache).read([read_file(r"C:\b"), read_system()]) == [again[3], first[0]]
    assert len(node.asked) == 2


def test_the_same_question_with_another_time_limit_is_the_same(node: Node, cache: FileCache) -> None:
    kubelet = Program(path=r"C:\k\kubelet.exe")
    Session(node, cache).read([run_program(kubelet, ["--version"], timeout_seconds=30)])
    Session(node, cache).read([run_program(kubelet, ["--version"], timeout_seconds=60)])
    assert len(node.asked) == 1


def test_of_the_same_question_the_longest_time_limit_is_kept() -> None:
    program = Program(path=r"C:\k\kubelet.exe")
    asked = [run_program(program, timeout_seconds=seconds) for seconds in (30, 90, 60)]
    assert once([read_system(), *asked, read_system()]) == [read_system(), asked[1]]


def test_without_a_cache_everything_is_asked(node: Node) -> None:
    session = Session(node)
    session.read([read_system()])
    session.read([read_system()])
    assert len(node.asked) == 2
    assert not session.remembered


def test_anew_asks_everything_and_fills_the_cache(node: Node, cache: FileCache) -> None:
    Session(node, cache).read([read_system()])
    anew = Session(node, cache, anew=True)
    anew.read([read_system(), read_file(CONFIG)])
    assert not anew.remembered
    Session(node, cache).read([read_file(CONFIG), read_system()])
    assert len(node.asked) == 2


@pytest.mark.parametrize("replaces", [None, b"another text"], ids=["committed", "refused"])
def test_an_apply_drops_it_whether_it_succeeds_or_not(node: Node, cache: FileCache, replaces: bytes | None) -> None:
    Session(node, cache).read([read_file(r"C:\a")])
    session = Session(node, cache)
    if replaces is None:
        session.apply("test", [write_file(r"C:\a", b"new", replaces=None)])
    else:
        with pytest.raises(NodeError, match="conflict"):
            session.apply("test", [write_file(r"C:\a", b"new", replaces=replaces)])
    assert session.applied
    [found] = Session(node, cache).read([read_file(r"C:\a")])
    assert found["exists"] is (replaces is None)


def test_after_an_apply_of_its_own_a_session_always_looks_and_leaves_nothing_behind(
    node: Node, cache: FileCache
) -> None:
    """A node that restarts is asked the same again and again, until the answer is another one."""
    session = Session(node, cache)
    session.apply("test", [write_file(r"C:\a", b"new", replaces=None)])
    session.read([read_system()])
    session.read([read_system()])
    assert len(node.asked) == 3
    assert cache.remembered().results == {}


def test_a_broken_connection_in_an_apply_drops_it(node: Node, cache: FileCache) -> None:
    Session(node, cache).read([read_system()])

    def broken(_: str, __: bytes) -> Completed:
        return Completed(1, "", "")

    with pytest.raises(ProtocolError):
        Session(broken, cache).apply("test", [write_file(r"C:\a", b"new", replaces=None)])
    assert cache.remembered().results == {}


def test_what_failed_is_asked_again(node: Node, cache: FileCache) -> None:
    folder = read_file(r"C:\ProgramData")
    with pytest.raises(NodeError, match="is_directory"):
        Session(node, cache).read([read_system(), folder])
    [system, failed] = Session(node, cache).observe([read_system(), folder])
    assert (system["ok"], failed["ok"]) == (True, False)
    assert node.asked[1] == ["file.read"]


@pytest.mark.parametrize("other", ["play 2", ""])
def test_another_play_or_user_knows_nothing(node: Node, cache: FileCache, tmp_path: Path, other: str) -> None:
    Session(node, cache).read([read_system()])
    Session(node, FileCache(tmp_path / "run" / "node.json", other)).read([read_system()])
    assert len(node.asked) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", '{"state": 1}', '{"scope": "play 1"}', "\x00"])
def test_a_damaged_file_is_as_good_as_none(node: Node, cache: FileCache, tmp_path: Path, content: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "node.json").write_text(content)
    Session(node, cache).read([read_system()])
    Session(node, cache).read([read_system()])
    assert len(node.asked) == 1


def test_nobody_else_may_read_it(node: Node, cache: FileCache, tmp_path: Path) -> None:
    node.engine.machine.disk.write(CONFIG, SECRET.encode())
    Session(node, cache).read([read_file(CONFIG)])
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "run").iterdir()}
    assert modes == {"node.json": 0o600, "node.lock": 0o600}
    cache.drop()
    assert not any(b"correct" in path.read_bytes() for path in (tmp_path / "run").iterdir())


def test_what_was_read_before_somebody_else_changed_the_node_is_not_kept(node: Node, cache: FileCache) -> None:
    """Two tasks at once on one node: one reads, and before its answer arrives the other has changed what it read."""

    def change() -> None:
        node.meanwhile = lambda: None
        Session(node, cache).apply("test", [write_file(r"C:\a", b"new", replaces=None)])

    node.meanwhile = change
    [before] = Session(node, cache).read([read_file(r"C:\a")])
    [after] = Session(node, cache).read([read_file(r"C:\a")])
    assert (before["exists"], after["exists"]) == (False, True)


def test_what_was_read_while_the_node_was_changed_is_not_kept(node: Node, cache: FileCache) -> None:
    def look() -> None:
        node.meanwhile = lambda: None
        Session(node, cache).read([read_system()])
        assert cache.remembered().results

    node.meanwhile = look
    Session(node, cache).apply("test", [write_file(r"C:\a", b"new", replaces=None)])
    assert cache.remembered().results == {}


def test_many_at_once_keep_all(cache: FileCache, tmp_path: Path) -> None:
    def keep(number: int) -> None:
        FileCache(tmp_path / "run" / "node.json", "play 1").keep(Remembered(), {str(number): {"ok": True}})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, range(100)))
    assert set(cache.remembered().results) == {str(number) for number in range(100)}


def test_where_nothing_can_be_written_everything_is_asked(node: Node, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the folder should be")
    cache = FileCache(tmp_path / "run" / "node.json", "play 1")
    Session(node, cache).read([read_system()])
    Session(node, cache).read([read_system()])
    assert len(node.asked) == 2


_TEXTS = st.text(st.characters(codec="ascii"), max_size=5)
_OPERATIONS = st.dictionaries(_TEXTS, st.one_of(_TEXTS, st.integers(), st.lists(_TEXTS, max_size=2)), max_size=3)


@given(_OPERATIONS, _OPERATIONS)
def test_questions_have_one_key_exactly_where_they_are_one(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (key(one) == key(other)) is (one == other)
    assert key(one | {"timeout_seconds": 5}) == key(one)
