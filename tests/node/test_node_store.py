"""What is easier to say about the store in steps than as a case: secrets, and archives that somebody damaged."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.node.support import archives, server
from tests.node.support.emulated import EmulatedBench
from tests.node.support.linux import LinuxBench
from tests.node.support.served import serving

from lockstep.node.errors import NodeError
from lockstep.node.operations import add_to_store
from lockstep.node.session import Session

STORE = "C:\\kept\\store"
SECRET = "correct-horse-battery-staple"  # noqa: S105 - what must not be seen
CONTENT = b"the program"


def _bench(name: str, folder: Path, request: pytest.FixtureRequest) -> LinuxBench | EmulatedBench:
    if name == "emulated":
        return EmulatedBench(folder)
    bench = LinuxBench(request.getfixturevalue("host"), folder)
    bench.tree = "C:\\kept"
    return bench


ENGINES = ["emulated", pytest.param("linux", marks=pytest.mark.windows)]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_secret_is_shown(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    session = Session(_bench(engine, tmp_path, request).run)
    answers: dict[str, list[dict[str, Any]]] = {
        "/closed": [{"status": 403}],
        "/moved": [{"redirect": f"ftp://user:{SECRET}@server/file?{SECRET}"}],
        "/wrong": [{"content": b"another"}],
        "/other": [{"content": CONTENT, "needs": {"Authorization": f"Bearer {SECRET}"}}],
    }
    shown = []
    with serving(answers) as url:
        host = url.removeprefix("http://")
        headers = {"Authorization": f"Bearer {SECRET}"}
        sources: list[dict[str, Any]] = [
            {"url": f"http://user:{SECRET}@{host}/{path}?token={SECRET}", "headers": {"X-Token": SECRET}}
            for path in ("closed", "moved", "wrong", "none")
        ]
        sources += [
            {"url": "http://server.invalid/file", "proxy": f"http://user:{SECRET}@127.0.0.1:9", "headers": headers},
            {"url": f"{url}/closed", "headers": {"Bad Name": SECRET}},
            {"url": f"http://user:{SECRET}@{host}000/"},
            {"url": f"{url}/closed", "proxy": f"http://user:{SECRET}@127.0.0.1:99999999"},
            {"url": f"{url}/closed", "proxy": f"{SECRET}"},
            {"url": f"{url}/closed", "headers": {"X-Token": f"{SECRET}\r\nX-Other: {SECRET}"}},
        ]
        for source in sources:
            with pytest.raises(NodeError) as failed:
                session.apply("kept", [_add(CONTENT, source, timeout=2)])
            assert failed.value.code in ("download_failed", "checksum_mismatch", "timeout"), failed.value
            shown.append(str(failed.value))
        session.apply("kept", [_add(CONTENT, {"url": f"{url}/other", "headers": headers})])
    assert all(SECRET not in text for text in shown), shown


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_for_one_server_does_not_go_to_another(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session = Session(_bench(engine, tmp_path, request).run)
    with serving({"/file": [{"content": CONTENT, "needs": {"X-Token": SECRET}}]}) as other:
        with (
            serving({"/file": [{"redirect": f"{other}/file"}]}) as url,
            pytest.raises(NodeError, match="403") as failed,
        ):
            session.apply("kept", [_add(CONTENT, {"url": f"{url}/file", "headers": {"X-Token": SECRET}})])
        assert failed.value.code == "download_failed"
        session.apply("kept", [_add(CONTENT, {"url": f"{other}/file", "headers": {"X-Token": SECRET}})])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_proxy_is_asked(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    session = Session(_bench(engine, tmp_path, request).run)
    with serving({"http://server.invalid/file": [{"content": CONTENT}]}) as proxy:
        session.apply("kept", [_add(CONTENT, {"url": "http://server.invalid/file?x=y", "proxy": proxy})])


def _add(data: bytes, source: dict[str, Any], *, form: str = "file", timeout: int = 60) -> dict[str, Any]:
    names = [("-", "tool.exe")] if form == "file" else []
    digest = hashlib.sha256(data).hexdigest()
    return add_to_store(
        STORE, "tool", "1.0", digest=digest, source=source, format=form, members=names, timeout_seconds=timeout
    )


def _damaged(form: str, count: int) -> Iterator[bytes]:
    """Yield archives in which a few bytes were changed, cut or doubled, below the compression where there is one."""
    rnd = random.Random(form)  # noqa: S311 - to be the same each time
    members: list[archives.Member] = [
        {"name": "bin/tool.exe", "size": 700},
        {"name": "LICENSE", "content": "free"},
        {"name": "d", "is": "folder"},
    ]
    for _ in range(count):
        plain = bytearray(archives.plain(form, members))
        for _ in range(rnd.randint(1, 4)):
            at, length = rnd.randrange(len(plain)), rnd.choice([1, 1, 4, 40])
            match rnd.randrange(3):
                case 0:
                    plain[at : at + length] = rnd.randbytes(length)
                case 1:
                    del plain[at : at + length]
                case _:
                    plain[at:at] = plain[max(0, at - length) : at]
        yield archives.packed(form, bytes(plain))


@pytest.mark.parametrize("form", ["tar.gz", "zip"])
@pytest.mark.parametrize(("engine", "count"), [("emulated", 150), pytest.param("linux", 25, marks=pytest.mark.windows)])
def test_a_damaged_archive_is_unpacked_or_refused(
    engine: str, form: str, count: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bench = _bench(engine, tmp_path, request)
    session, verdicts = Session(bench.run), set()
    drive = bench.folder / "C:" if isinstance(bench, LinuxBench) else bench.engine.folder / "C"
    for data in _damaged(form, count):
        place = drive / "kept" / "from"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        before = _outside(drive)
        try:
            session.apply("kept", [_add(data, {"path": "C:\\kept\\from"}, form=form)])
        except NodeError as error:
            verdicts.add(error.code)
        else:
            verdicts.add("ok")
        assert verdicts <= {"ok", "unsafe_archive", "missing"}, data.hex()
        assert _outside(drive) == before, data.hex()
    assert verdicts >= {"ok", "unsafe_archive"}
    for manifest in (drive / "kept" / "store").glob("*/manifest.json"):
        for file in json.loads(manifest.read_text())["files"]:
            data = (manifest.parent / file["name"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == file["sha256"]


def _outside(drive: Path) -> set[Path]:
    """Return all files but those of the store's entries."""
    found = {path for path in drive.parent.rglob("*") if path.is_file()}
    entries = drive / "kept" / "store"
    stubs = {path for path in found if path.name.startswith(server.FOLDER)}
    return {path for path in found - stubs if entries not in path.parents or path.parent == entries}
