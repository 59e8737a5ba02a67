"""Files as people have them: each case is a folder with `in.toml`, what is planned for it, and `out.toml` or an error.

case.yaml: `containerd`, the release; `why`; `do`, merge (the default) or remove; `planned`, isolations with options
beyond the release's own handler; `settings`, as a task gives them; `error`, texts that the refusal must contain;
`warnings`, what is said of the result.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.catalog.containerd import series
from lockstep.containerd import ContainerdConfigError, Settings, inspect, merge, remove, settings_from_data

CASES = Path(__file__).parent / "cases"
NAMES = {"process": "runhcs-wcow-process", "hyperv": "runhcs-wcow-hypervisor"}


def read(name: str) -> tuple[dict[str, Any], bytes | None, bytes | None]:
    folder = CASES / name
    before, after = folder / "in.toml", folder / "out.toml"
    return (
        yaml.safe_load((folder / "case.yaml").read_text(encoding="utf-8")),
        before.read_bytes() if before.exists() else None,
        after.read_bytes() if after.exists() else None,
    )


def planned(case: dict[str, Any]) -> Settings:
    handlers = []
    for isolation, options in case.get("planned", {}).items():
        facts = series(case["containerd"]).planned[isolation]
        handlers.append(
            {
                "name": NAMES[isolation],
                "isolation": isolation,
                "runtime_type": facts.runtime_type,
                "pod_annotations": list(facts.pod_annotations),
                "container_annotations": list(facts.container_annotations),
                "options": {**facts.options, **options},
                "sandboxer": facts.sandboxer,
            }
        )
    data = case.get("settings", {})
    return settings_from_data({**data, "handlers": [*handlers, *data.get("handlers", [])]}, case["containerd"])


@pytest.mark.parametrize("name", sorted(folder.name for folder in CASES.iterdir()))
def test_case(name: str) -> None:
    case, before, after = read(name)
    settings = planned(case)
    work = {"merge": merge, "remove": remove}[case.get("do", "merge")]
    if "error" in case:
        with pytest.raises(ContainerdConfigError) as caught:
            work(before, settings, case["containerd"])
        assert [text for text in case["error"] if text not in str(caught.value)] == [], str(caught.value)
        return
    result = work(before, settings, case["containerd"])
    assert result == after
    assert work(result, settings, case["containerd"]) == result
    assert result is not None
    assert list(inspect(result, case["containerd"]).warnings) == case.get("warnings", [])
