"""The steps of docs/adding-a-release.md, walked with the invented releases that it shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding-a-release.md").read_text(encoding="utf-8")

DERIVE = """
import json, sys
from lockstep.fleet.load import check_data
loaded = check_data(json.load(sys.stdin))
found = [[item.rule, str(item.severity)] for item in loaded.findings]
print(json.dumps({"findings": found, "plan": loaded.plan is not None}))
"""


def section(title: str) -> tuple[str, str, str]:
    """Return the one file that a section of the page has edited, what is added to, and the text that is added."""
    body = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [part for part in body if part.startswith(f"{title}\n")]
    files = set(re.findall(r"`(src/lockstep/catalog/data/[^`]+)`", text))
    assert len(files) == 1
    where = re.search(r"Add (?:an entry|a line) to `(\w+)`", text)
    fence = re.search(r"^   ```\w+\n(.*?)^   ```", text, re.MULTILINE | re.DOTALL)
    assert where
    assert fence
    return files.pop(), where[1], dedent("\n".join(line[3:] for line in fence[1].splitlines()))


def added(content: str, key: str, entry: str) -> str:
    """Return a file's content with an entry at the end of a block."""
    lines = content.splitlines()
    keys = [index for index, line in enumerate(lines) if re.match(rf'\s*"?{key}"?:', line)]
    start = min(keys, key=lambda index: indent(lines[index]))
    depth = len(lines[start]) - len(lines[start].lstrip())
    rest = range(start + 1, len(lines))
    end = next((index for index in rest if lines[index].strip() and indent(lines[index]) <= depth), len(lines))
    last = max(index for index in range(start, end) if lines[index].strip())
    if lines[start].endswith("{"):
        lines[last] += ","
    deeper = indent(lines[start + 1])
    new = [" " * deeper + line if line else "" for line in entry.splitlines()]
    return "\n".join([*lines[: last + 1], *new, *lines[last + 1 :]]) + "\n"


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


class Copy:
    """A copy of the program whose catalogue may be edited."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT / "src" / "lockstep", folder / "lockstep", ignore=shutil.ignore_patterns("__pycache__"))
        self.folder = folder

    def edit(self, title: str) -> None:
        file, key, entry = section(title)
        path = self.folder / Path(file).relative_to("src")
        path.write_text(added(path.read_text(encoding="utf-8"), key, entry), encoding="utf-8")

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return subprocess.run(
            [sys.executable, *arguments], input=given, env=environment, capture_output=True, text=True, check=False
        )

    def findings(self, description: dict[str, Any]) -> tuple[list[list[str]], bool]:
        answer = json.loads(self.run("-c", DERIVE, given=json.dumps(description)).stdout)
        return answer["findings"], answer["plan"]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def described(host: str = "ltsc2025", kubernetes: str = "1.37.2", containerd: str = "2.4.2") -> dict[str, Any]:
    classes = {"win": {"isolation": "process", "guest": host}}
    return {
        "kubernetes": kubernetes,
        "containerd": containerd,
        "pools": {"win": {"host": host}},
        "runtime_classes": classes,
    }


@pytest.mark.slow
def test_a_windows_build(copy: Copy) -> None:
    assert copy.findings(described(host="ltsc2028"))[0] == [["LW104", "error"]] * 2
    copy.edit("A Windows build")
    assert copy.findings(described(host="ltsc2028")) == ([], True)
    answer = copy.run("-m", "lockstep", "can-run", "--guest=ltsc2025", "--host=ltsc2028", "--containerd=2.4.2")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "2028" in copy.run("-m", "lockstep", "matrix", "--all", "--containerd=2.4.2").stdout


@pytest.mark.slow
def test_a_kubernetes_minor(copy: Copy) -> None:
    assert copy.findings(described(kubernetes="1.38.0"))[0] == [["LW265", "warning"]]
    copy.edit("A Kubernetes minor")
    assert copy.findings(described(kubernetes="1.38.0")) == ([], True)
    path = copy.folder / "lockstep" / "catalog" / "data" / "kubernetes.json"
    came = added(
        path.read_text(encoding="utf-8"), "KubeletConfiguration", '"something": {"type": "int", "since": "1.38"}'
    )
    path.write_text(added(came, "gates", '"Something": {"since": "1.38", "default": false}'), encoding="utf-8")
    for kubernetes, rules in (("1.38.0", []), ("1.37.2", ["LW302", "LW323"])):
        description = described(kubernetes=kubernetes)
        description["pools"]["win"]["kubelet"] = {"something": 1, "featureGates": {"Something": True}}
        code = DERIVE.replace("lockstep.fleet.load", "lockstep.rules.check")
        answer = json.loads(copy.run("-c", code, given=json.dumps(description)).stdout)
        assert sorted(rule for rule, severity in answer["findings"]) == rules


@pytest.mark.slow
def test_a_containerd_series(copy: Copy) -> None:
    assert copy.findings(described(containerd="2.5.0"))[0] == [["LW260", "error"]]
    copy.edit("A containerd series")
    assert copy.findings(described(containerd="2.5.0")) == ([], True)
    assert "2.5.0" in copy.run("-m", "lockstep", "matrix", "--containerd=2.5.0").stdout
