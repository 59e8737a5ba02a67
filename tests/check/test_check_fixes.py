"""Fixes that are certain: each removes its finding and adds none, and touches nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.check.support import MARK, said

from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.fixes import fixed
from lockstep.rules.given.read import GivenError
from lockstep.rules.given.write import write

CASES = [path for path in sorted((Path(__file__).parent / "cases").glob("*-wrong.*")) if path.is_file()]
HAVE_ONE = {"LW413", "LW426", "LW427", "LW501", "LW509"}
TOML = "version = 3\r\nroot = 'C:\\\\a' # here\r\nstate = \"C:\\temp\"\r\n"
FIXED = "version = 3\r\nroot = 'C:\\a' # here\r\nstate = 'C:\\temp'\r\n"


def rules(folder: Path, name: str, text: str) -> list[str]:
    file = folder / name
    file.write_bytes(text.encode())
    return [finding.rule for finding in check_all(Inputs((file,), context=said([file]))).findings]


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_fix_removes_its_finding_and_adds_none(case: Path, tmp_path: Path) -> None:
    text = case.read_text(encoding="utf-8").partition(MARK)[0]
    file = tmp_path / case.name
    file.write_text(text, encoding="utf-8")
    found = check_all(Inputs((file,), context=said([file])))
    changed = fixed(found.findings, found.sources)
    assert bool(changed) == (case.stem.split("-")[0] in HAVE_ONE)
    for after, count in changed.values():
        left = rules(tmp_path, case.name, after)
        assert len(left) == len(found.findings) - count
        assert not set(left) - {finding.rule for finding in found.findings}


def test_the_command_writes_what_is_certain_and_checks_again(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xef\xbb\xbf" + TOML.encode())
    file.chmod(0o640)
    command = [sys.executable, "-m", "lockstep", "check", str(file), "--fix", "--containerd", "1.7.36"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (1, f"{file}: 2 fixed\n2 fixed, 1 needs a person\n")
    assert "LW405" in result.stdout
    assert "LW42" not in result.stdout
    assert file.read_bytes() == b"\xef\xbb\xbf" + FIXED.encode()
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_has_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("version = 2\n")
    with pytest.raises(GivenError, match="has changed"):
        write(str(file), "version = 1\n", "version = 3\n")
    assert file.read_text() == "version = 2\n"
