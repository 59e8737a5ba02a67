"""What is easier to say about the agent in steps than as a case: in PowerShell for Linux, with stubs."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.node.support.cases import PROGRAM, ServiceBefore
from tests.node.support.linux import VARIABLE, Host, LinuxBench

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Program,
    check_program,
    configure_service,
    content_of,
    read_file,
    read_transaction,
    remove_file,
    restart_service,
    write_file,
)
from lockstep.node.session import Session
from lockstep.node.wire import command_line, standard_input

pytestmark = pytest.mark.windows
SECRET = "correct horse battery staple"  # noqa: S105 - what must not be seen
CONFIG, FILE = "C:\\web.conf", "C:\\a.toml"
COMMAND = f"{PROGRAM} service web {CONFIG}"


@pytest.fixture
def bench(host: Host, tmp_path: Path) -> LinuxBench:
    return LinuxBench(host, tmp_path)


def _run(bench: LinuxBench, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    """Start PowerShell as Ansible's winrm and ssh connections do."""
    _, *arguments = command_line().split()
    return subprocess.run(
        [os.environ[VARIABLE], *arguments],
        input=stdin,
        cwd=bench.folder,
        env={**os.environ, **bench.environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


def _only_reply(stdout: str) -> dict[str, Any]:
    begin, line, end = stdout.splitlines()
    assert (begin.strip("-"), end.strip("-")) == ("BEGIN LOCKSTEP RESPONSE", "END LOCKSTEP RESPONSE")
    line.encode("ascii")
    reply: dict[str, Any] = json.loads(line)
    return reply


def test_a_process_of_its_own_prints_the_reply_and_nothing_else(bench: LinuxBench) -> None:
    bench.write(FILE, b"\xff\xfe")
    done = _run(bench, standard_input({"mode": "read", "operations": [read_file(FILE), read_file("C:\\größe")]}))
    assert (done.returncode, done.stderr) == (0, b"")
    file, missing = _only_reply(done.stdout.decode("ascii"))["results"]
    assert (content_of(file), missing["exists"]) == (b"\xff\xfe", False)


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_line_that_arrives_in_pieces(bench: LinuxBench, cut: int) -> None:
    # A line break in JSON can only be between tokens, never in a text: a connection may split there.
    text = standard_input({"mode": "read", "operations": [read_transaction("t")] * cut}).decode("ascii").strip()
    pieces = text.replace("}, {", "}, \n{").encode("ascii")
    answer = bench.order(command_line(), pieces)
    assert _only_reply(answer["stdout"])["results"] == [{"op": "transaction.read", "ok": True, "pending": False}] * cut


@pytest.mark.parametrize("stdin", [b"", b"{", b"[1]", b'{"script": "1"', b'{"script": "1", "request": {}}'])
def test_what_is_no_request_fails_without_a_reply(bench: LinuxBench, stdin: bytes) -> None:
    done = _run(bench, stdin)
    assert done.returncode != 0
    assert b"LOCKSTEP RESPONSE" not in done.stdout


def test_a_request_that_is_cut_off_is_not_carried_out(bench: LinuxBench) -> None:
    operations = [write_file(f"C:\\{n}.toml", b"x", replaces=None) for n in range(4)]
    whole = standard_input({"mode": "apply", "transaction": "t", "operations": operations})
    start = whole.index(b'"request"')
    for end in range(start, len(whole) - len(b" true}\n"), 23):
        answer = bench.order(command_line(), whole[:end])
        assert answer["stdout"] == "", end
        assert answer["stderr"], end
    assert not list(bench.folder.glob("*.toml"))


def test_no_secret_is_printed(bench: LinuxBench) -> None:
    old, new = f"run\n# {SECRET} before".encode(), f"refuse 7\n# {SECRET} after".encode()
    bench.write(CONFIG, old)
    bench.write(FILE, f"theirs {SECRET}".encode())
    bench.add_service(ServiceBefore("web", f"{COMMAND} --token={SECRET}", running=False), 4004)
    changed = configure_service("web", f"{COMMAND} --new={SECRET}", replaces=f"{COMMAND} --token={SECRET}")
    check = check_program(Program(PROGRAM), ["arguments", SECRET], must_contain=["x"], timeout_seconds=1)
    applies = [
        [write_file(CONFIG, new, replaces=old), changed, restart_service("web", timeout_seconds=5, settle_seconds=0)],
        [write_file(FILE, new, replaces=f"another {SECRET}".encode())],
        [remove_file(FILE, replaces=f"another {SECRET}".encode())],
        [configure_service("web", f"{COMMAND} --new={SECRET}", replaces=f"{COMMAND} --another={SECRET}")],
        [write_file(CONFIG, new, replaces=old), check],
        [write_file(CONFIG, new, replaces=old), {**changed, "surplus": SECRET}],
        [{**write_file(FILE, new, replaces=None), "content": f"not base64 {SECRET}"}],
    ]
    shown = []
    for operations in applies:
        request = {"mode": "apply", "transaction": "t", "operations": operations}
        answer = bench.order(command_line(), standard_input(request))
        reply = _only_reply(answer["stdout"])
        assert not reply["ok"]
        # What a checked program prints is shown, and arguments are not secret: nothing else may hold it.
        [*_, last] = reply["results"] or [{}]
        last.get("error", {}).pop("output", None)
        shown.append(json.dumps(reply) + answer["stderr"])
    encoded = base64.b64encode(new).decode()
    assert all(SECRET not in text and encoded not in text for text in shown), shown


def test_a_journal_folder_that_belongs_to_somebody_else_is_not_trusted(bench: LinuxBench) -> None:
    bench.write(FILE, b"old")
    bench.environment["LOCKSTEP_STUB_OWNER"] = "S-1-5-21-1-2-3-1001"
    with pytest.raises(NodeError, match=r"belongs to S-1-5-21-1-2-3-1001, who is no administrator") as error:
        Session(bench.run).apply("t", [write_file(FILE, b"new", replaces=b"old")])
    assert (error.value.code, error.value.step, error.value.rolled_back) == ("denied", None, True)
    assert (bench.folder / FILE).read_bytes() == b"old"


def test_no_journal_no_apply(bench: LinuxBench) -> None:
    bench.write(FILE, b"old")
    bench.write("C:\\ProgramData\\lockstep", b"a file where the folder should be")
    with pytest.raises(NodeError) as error:
        Session(bench.run).apply("t", [write_file(FILE, b"new", replaces=b"old")])
    assert (error.value.step, error.value.rolled_back) == (None, True)
    assert (bench.folder / FILE).read_bytes() == b"old"


def test_a_rollback_that_is_not_complete_stays_pending_until_a_later_apply_settles_it(bench: LinuxBench) -> None:
    bench.write(CONFIG, b"run")
    bench.add_service(ServiceBefore("web", COMMAND, running=True), 4004)
    bench.write(CONFIG, b"refuse 5")  # what ran was started before somebody broke the file
    session = Session(bench.run)
    restart = restart_service("web", timeout_seconds=5, settle_seconds=0)
    with pytest.raises(NodeError) as error:
        session.apply("t", [write_file(CONFIG, b"refuse 7", replaces=b"refuse 5"), restart])
    assert error.value.rolled_back is False
    assert error.value.rollback_errors == ("restart web: web did not start: it stopped, with exit code 5.",)
    assert (bench.folder / CONFIG).read_bytes() == b"refuse 5"
    assert session.read([read_transaction("t")])[0]["pending"]
    session.apply("t", [write_file(CONFIG, b"run", replaces=b"refuse 5"), restart])
    assert not session.read([read_transaction("t")])[0]["pending"]
    assert bench.services(["web"])["web"].state == "running"
    assert sorted(path.name for path in bench.folder.iterdir() if path.name.startswith(CONFIG)) == [CONFIG]


def test_a_second_apply_of_the_same_name_waits_for_the_first(bench: LinuxBench) -> None:
    bench.write(FILE, b"old")
    other = Host()
    hold = "$m = [Threading.Mutex]::new($true, 'Global\\lockstep-waits'); [IO.File]::WriteAllText('held', '')"
    hold += "; Start-Sleep 3; $m.ReleaseMutex()"
    first = threading.Thread(target=other.order, args=(bench.folder, {}, hold, []))
    first.start()
    while not (bench.folder / "held").exists():
        time.sleep(0.02)
    began = time.monotonic()
    Session(bench.run).apply("waits", [write_file(FILE, b"new", replaces=b"old")])
    waited = time.monotonic() - began
    first.join()
    other.close()
    assert waited > 2
