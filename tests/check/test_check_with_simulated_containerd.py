"""What the simulated containerd makes of a config.toml, whose own cases real programs confirm, is what a check says."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context


def files_of(case: Path) -> dict[str, Any]:
    files: dict[str, Any] = yaml.safe_load(case.read_bytes())["files"]
    return files


FOLDER = Path(__file__).resolve().parents[1] / "sim" / "cases" / "containerd"
OF_THE_DISK = {"import-missing-2.3", "import-not-named-2.3"}
"""What goes wrong there is a file that is not among those that were given."""

CASES = [path for path in sorted(FOLDER.glob("*.yaml")) if path.stem not in OF_THE_DISK and files_of(path)]
OF_A_SECTION = {"LW406", "LW610"}
"""Rules that speak of all keys of a section or file at once."""


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_agrees_with_the_simulated_containerd(case: Path, tmp_path: Path) -> None:
    data: dict[str, Any] = yaml.safe_load(case.read_bytes())
    for name, text in data["files"].items():
        path = tmp_path / name.replace("\\", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    files = tuple(sorted(path for path in tmp_path.rglob("*") if path.is_file()))
    found = check_all(Inputs(files, context=Context(data["containerd"])))
    stops = [key for part in ("dump", "start") for key in data.get(part, {}) if key in ("fails", "cri_fails")]
    said = [finding.message for finding in found.findings]
    assert bool(found.errors) >= bool(stops)
    if not stops:
        assert not [text for text in said if "does not start" in text or "does not load" in text]
    for key in data["dump"].get("unknown_keys", ()):
        parts = (key.rsplit(" ", 1)[-1], key.replace(" ", "."))
        said_so = any(f"'{part}'" in text for text in said for part in parts)
        assert said_so or {finding.rule for finding in found.findings} & OF_A_SECTION
