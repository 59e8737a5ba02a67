"""An agent that can be interrupted before each thing that it changes.

Between two changes every moment leaves the same behind, so these are all the moments that differ. Two changes are taken
apart, because power does not wait for them: a file may be half written, and Replace is two renames.
"""

from __future__ import annotations

import re

from lockstep.node import script

_CHANGES = (
    r"\[IO\.File\]::(?:Move|Delete)\(",
    r"\$stream = \[IO\.File\]::Create\(",
    r"\[void\]\[IO\.Directory\]::CreateDirectory\(",
    r"\[IO\.Directory\]::(?:Move|Delete)\(",
    r"\$Target\.Write\(",
    r"Set-Acl -LiteralPath",
    r"\$stream\.Flush\(",
    r"\$Service\.(?:Start|Stop)\(\)",
    r"Stop-Process -Id",
    r"\$done = Invoke-Program \$ServiceControl \$Arguments",
    r"\$opened = \(Get-Hive\)\.CreateSubKey\(",
    r"\$opened\.SetValue\(",
    r"\$Opened\.DeleteValue\(",
    r"\(Get-Hive\)\.DeleteSubKey\(",
)
_WRITE = "$stream.Write($Bytes, 0, $Bytes.Length)"
_HALVES = (
    "$half = [int]($Bytes.Length / 2); Step-Trip; $stream.Write($Bytes, 0, $half); $stream.Flush(); "
    "Step-Trip; $stream.Write($Bytes, $half, $Bytes.Length - $half)"
)
_REPLACE = "[IO.File]::Replace($Source, $Target, $Backup)"
_RENAMES = (
    "Step-Trip; if ([IO.File]::Exists($Backup)) { [IO.File]::Delete($Backup) }; "
    "[IO.File]::Move($Target, $Backup); Step-Trip; [IO.File]::Move($Source, $Target)"
)
_START = "$ProgressPreference = 'SilentlyContinue'\n"
_DECIDED = "    $response.ok = $true\n"

TRIP_WIRE = "[void]$TripWire.Set(); Start-Sleep -Seconds 3600"
"""Interrupts in a runspace of support/host.ps1."""
DIE = "[Diagnostics.Process]::GetCurrentProcess().Kill()"
"""Interrupts a process of its own."""


def agent(at: int, how: str) -> str:
    """Return the agent's script so that it is interrupted before its change number `at`, counted from 1."""
    text = script.written()
    for change in _CHANGES:
        text, count = re.subn(change, lambda match: f"Step-Trip; {match[0]}", text)
        assert count, f"the agent has no {change} any more"
    for old, new in ((_WRITE, _HALVES), (_REPLACE, _RENAMES), (_DECIDED, f"    Step-Trip\n{_DECIDED}")):
        assert text.count(old) == 1, f"the agent does not have {old!r} once"
        text = text.replace(old, new)
    trip = f"function Step-Trip {{ $global:Trips++; if ($global:Trips -eq {at}) {{ {how} }} }}\n$global:Trips = 0\n"
    assert text.count(_START) == 1
    return text.replace(_START, _START + trip)
