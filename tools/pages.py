"""Pages of docs/ that are made from data: `python tools/pages.py` writes them, and a test compares them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = ROOT / "src" / "lockstep" / "node" / "contract.json"

Schema = Mapping[str, Any]


def contract_page() -> str:
    """Return docs/contract.md: every operation of the agent, with its arguments, results and errors."""
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))
    begin, end = contract["markers"]["begin"], contract["markers"]["end"]
    lines = [
        "# The agent's contract",
        "",
        "Made from `src/lockstep/node/contract.json` by `tools/pages.py`; change that file, not this page.",
        "",
        contract["description"],
        "",
        f"The response is one line of ASCII JSON between the lines `{begin}` and `{end}`.",
        "A read only observes; an apply is a transaction, undone as a whole if a step fails.",
    ]
    for title, part in (("Request", contract["request"]), ("Response", contract["response"])):
        lines += ["", f"## {title}", "", *_table(part)]
    for mode in ("read", "apply"):
        lines += ["", f"## Operations of a request that is to {mode}"]
        for name, operation in contract["operations"].items():
            if operation["mode"] == mode:
                lines += _operation(name, operation)
    lines += ["", "## Errors", "", "| code | means |", "| --- | --- |"]
    lines += [f"| `{code}` | {_cell(meaning)} |" for code, meaning in contract["errors"].items()]
    return "\n".join(lines) + "\n"


PAGES = {"contract.md": contract_page}


def _operation(name: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"### {name}", "", _cell(operation["description"]))
    arguments = [row for row in _rows(operation["arguments"]) if not row.startswith("| `op` ")]
    if arguments:
        yield from ("", "| argument | is |", "| --- | --- |", *arguments)
    results = [row for row in _rows(operation["result"]) if not row.startswith(("| `op` ", "| `ok` "))]
    yield from ("", "| result | is |", "| --- | --- |", *results)
    if operation["errors"]:
        yield from ("", f"Errors: {', '.join(f'`{code}`' for code in operation['errors'])}.")


def _table(schema: Schema) -> list[str]:
    return ["| key | is |", "| --- | --- |", *_rows(schema)]


def _rows(schema: Schema) -> Iterator[str]:
    for name, value in schema["properties"].items():
        optional = "" if name in schema.get("required", ()) else "optional; "
        yield f"| `{name}` | {optional}{_cell(_meaning(value))} |"


def _meaning(value: Schema) -> str:
    text = str(value.get("description", "")).rstrip(".")
    kind = value.get("type")
    said = [text] if text else []
    if "enum" in value:
        said.append("one of " + ", ".join(f"`{choice}`" for choice in value["enum"]))
    elif "const" in value:
        said.append(f"`{json.dumps(value['const'])}`")
    elif isinstance(kind, str):
        said.append(kind)
    if "default" in value:
        said.append(f"default {value['default']}")
    return "; ".join(said)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
