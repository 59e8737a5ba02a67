"""`lockstep explain` as a user starts it."""

import statistics
import subprocess
import sys
import time

import pytest

from lockstep.cli import main
from lockstep.knowledge import errors, rules, terms


def lockstep(*arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "lockstep", *arguments], input=stdin, capture_output=True, check=False, timeout=30
    )


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        (["LW210"], 0, ["LW210", "In the cluster", "Wrong", "Right", "Sources"]),
        (["lw210"], 0, ["LW210"]),
        (["handler"], 0, ["containerd", "See lockstep explain"]),
        (["utility", "VM"], 0, ["pause image"]),
        (["hcs::CreateComputeSystem 4f: 0xc0370101"], 0, ["0xc0370101", "1 ", "to tell", "change", "Sources"]),
        (['no runtime for "x" is configured'], 0, ["crictl info"]),
        (["ltsc2025"], 0, ["Windows Server 2025 (10.0.26100)", "until 2034-11-14", "servercore", "lockstep matrix"]),
        (["26100"], 0, ["Windows Server 2025", "ltsc2025"]),
        (["Windows", "Server", "2022"], 0, ["10.0.20348"]),
        (["servercore:ltsc2019"], 0, ["Windows Server 2019"]),
        (["29999"], 1, ["Nothing is known"]),
        (["runhcs-wcow-process"], 0, ["process isolation"]),
        (["gmsa"], 0, ["GMSACredentialSpec"]),
        (["npipe"], 0, ["npipe:////./pipe/containerd-containerd"]),
        (["handlr"], 1, ["Did you mean 'handler'"]),
        (["the gizmo frobnicates"], 1, ["Nothing is known"]),
    ],
)  # fmt: skip
def test_answers(asked: list[str], status: int, says: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *asked]) == status
    shown = capsys.readouterr().out
    for words in says:
        assert words in shown


def test_without_a_text_it_lists_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for word in (*rules.rules(), *(term.words[0] for term in terms.terms()), *(e.title for e in errors.errors())):
        assert word in shown


def test_standard_input_of_any_encoding() -> None:
    text = "Events: \xff\xfe failed to create shim task: hcs::CreateComputeSystem 8e: 0xc0370101".encode("latin-1")
    result = lockstep("explain", "-", stdin=text)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.startswith(b"0xc0370101")
    assert lockstep("explain", "-", stdin=b"").returncode == 2


def test_it_starts_fast_and_without_what_it_does_not_need() -> None:
    program = (
        "import sys; from lockstep.cli import main; main(['explain', '0xc0370101']);"
        "print({m.split('.')[1] for m in sys.modules if m.startswith('lockstep.')}, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"fleet", "sim", "node", "containerd", "kubelet", "rules", "ansible"} & set(
        result.stderr.strip("{}\n").replace("'", "").split(", ")
    )
    taken = []
    for _ in range(5):
        begun = time.perf_counter()
        lockstep("explain", "0xc0370101")
        taken.append(time.perf_counter() - begun)
    assert min(taken) < 0.3, statistics.median(taken)
