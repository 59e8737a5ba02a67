"""The agent's script and bootstrap.ps1 by PowerShell's own parser: nothing that Windows PowerShell 5.1 lacks."""

from __future__ import annotations

import json
import os
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.node.support import linux

from lockstep.node import script
from lockstep.node.wire import command_line

HERE = Path(__file__).parent
ALLOWED = yaml.safe_load((HERE / "windows-powershell.yaml").read_text(encoding="utf-8"))
SCRIPTS = {
    "agent": script.agent(),
    "bootstrap": files("lockstep.node").joinpath("bootstrap.ps1").read_text("ascii"),
}


def _inspect(path: Path) -> dict[str, Any]:
    if reason := linux.missing():
        pytest.skip(reason)
    command = [
        os.environ[linux.VARIABLE],
        "-NoProfile",
        "-NonInteractive",
        str(HERE / "support" / "inspect.ps1"),
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _refused(found: dict[str, Any]) -> list[str]:
    """What a script uses that is not allowed, one line each."""
    lines = [f"does not parse: {error}" for error in found["errors"]]
    lines += [ALLOWED["forbidden_tokens"][token] for token in found["tokens"] if token in ALLOWED["forbidden_tokens"]]
    types = set(found["types"])
    for command in found["commands"]:
        if command["name"] not in ALLOWED["commands"]:
            lines.append(f"command {command['name']}")
            continue
        allowed = ALLOWED["commands"][command["name"]]
        lines += [f"{command['name']} -{name}" for name in command["parameters"] if name not in allowed]
        if command["name"] == "New-Object":
            types.add(command["first"])
    lines += [f"type {name}" for name in sorted(types) if name not in ALLOWED["types"]]
    members = {name for names in ALLOWED["members"].values() for name in names} | set(ALLOWED["keys"])
    for member in found["members"]:
        if member["type"]:
            if member["name"] not in ALLOWED["types"].get(member["type"], ()):
                lines.append(f"[{member['type']}]::{member['name']}")
        elif member["name"] not in members:
            lines.append(f"member {member['name']}")
    return sorted(set(lines))


@pytest.mark.windows
@pytest.mark.parametrize("name", SCRIPTS)
def test_uses_only_what_windows_powershell_has(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole.ps1"
    whole.write_text(SCRIPTS[name], encoding="ascii")
    assert _refused(_inspect(whole)) == []


@pytest.mark.windows
def test_what_came_later_is_refused(tmp_path: Path) -> None:
    later = tmp_path / "later.ps1"
    later.write_text(
        "$a = $b ?? 1; $a ??= 2; $c = $a ? 1 : 2; $d = ${a}?.Length\n"
        "Get-Item x && Get-Item y; Get-Item x || Get-Item y\n"
        "Get-Content -AsByteStream x; Get-Item -Stream x; Test-Json '{}'\n"
        "[IO.File]::Move('a', 'b', $true); [Convert]::ToHexString($bytes); [IO.Path]::Join('a', 'b')\n"
        "$process.Kill($true); $process.WaitForExitAsync(); New-Object Text.Json.JsonDocument\n"
    )
    assert _refused(_inspect(later)) == sorted(
        [
            *(ALLOWED["forbidden_tokens"][token] for token in ("AndAnd", "OrOr", "QuestionMark", "QuestionQuestion")),
            *(ALLOWED["forbidden_tokens"][token] for token in ("QuestionQuestionEquals", "QuestionDot")),
            "command Get-Content",
            "command Test-Json",
            "Get-Item -Stream",
            "[Convert]::ToHexString/1",
            "[IO.File]::Move/3",
            "[IO.Path]::Join/2",
            "member Kill/1",
            "member WaitForExitAsync/0",
            "type Text.Json.JsonDocument",
        ]
    )


@pytest.mark.windows
def test_a_node_gets_what_is_written(tmp_path: Path) -> None:
    if reason := linux.missing():
        pytest.skip(reason)
    said = []
    for name, text in (("written", script.written()), ("sent", script.agent())):
        path = tmp_path / f"{name}.ps1"
        path.write_text(text, encoding="ascii")
        command = [
            os.environ[linux.VARIABLE],
            "-NoProfile",
            "-NonInteractive",
            str(HERE / "support/tokens.ps1"),
            str(path),
        ]
        said.append(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)
    assert len(said[0].splitlines()) > 1000
    assert said[0] == said[1]


def test_every_part_is_a_short_file() -> None:
    assert [name for name in script.parts() if len(script.part(name).splitlines()) >= 400] == []


def test_sizes_keep_within_the_limits() -> None:
    # cmd.exe, which WinRM runs the command line with, ends at 8,191 characters.
    # Source: Microsoft Learn, "Command prompt (Cmd.exe) command-line string limitation".
    assert len(command_line()) < 8191
    # Ansible's winrm connection hands over standard input in pieces of 200,000 bytes, one Send of WinRM each: the
    # agent and an ordinary request are to fit into the first.
    assert len(script.agent()) < 120_000
