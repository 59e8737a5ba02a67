"""Pages of docs/ that are made from data: `python tools/pages.py` writes them, and a test compares them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lockstep.catalog.containerd import known_series
from lockstep.knowledge import errors, rules, terms
from lockstep.node.contract import contract
from lockstep.report.catalogue import catalogue_page
from lockstep.report.matrix.grid import of_catalogue
from lockstep.report.matrix.picture import svg
from lockstep.report.matrix.text import markdown
from lockstep.report.role_page import play_in, role_page

ROOT = Path(__file__).resolve().parents[1]

Schema = Mapping[str, Any]


def contract_page() -> str:
    """Return docs/contract.md: every operation of the agent, with its arguments, results and errors."""
    agreed = contract()
    begin, end = agreed["markers"]["begin"], agreed["markers"]["end"]
    lines = [
        "# The agent's contract",
        "",
        "Made from `src/lockstep/node/contract/` by `tools/pages.py`; change a file there, not this page.",
        "",
        agreed["description"],
        "",
        f"The response is one line of ASCII JSON between the lines `{begin}` and `{end}`.",
        "A read only observes; an apply is a transaction, undone as a whole if a step fails.",
    ]
    for title, part in (("Request", agreed["request"]), ("Response", agreed["response"])):
        lines += ["", f"## {title}", "", *_table(part)]
    for mode in ("read", "apply"):
        lines += ["", f"## Operations of a request that is to {mode}"]
        for name, operation in agreed["operations"].items():
            if operation["mode"] == mode:
                lines += _operation(name, operation)
    anywhere = ", ".join(f"`{code}`" for code in agreed["errors_of_any"])
    lines += [
        "",
        "## Errors",
        "",
        "An operation lists the errors that its own work leads to. Whatever it does, Windows may",
    ]
    lines += [f"say something else: {anywhere} can come of any operation.", "", "| code | means |", "| --- | --- |"]
    lines += [f"| `{code}` | {_cell(meaning)} |" for code, meaning in agreed["errors"].items()]
    return "\n".join(lines) + "\n"


def rules_page() -> str:
    """Return docs/rules.md: every finding's id with its title, what it is found in, and a link to its page."""
    lines = [
        "# Findings",
        "",
        "Made from `src/lockstep/knowledge/rules/` by `tools/pages.py`. `lockstep explain LW210` shows a page in the",
        "terminal: what the finding means, what goes wrong in the cluster, a wrong and a right example.",
        "",
        "| id | is about | checked in |",
        "| --- | --- | --- |",
    ]
    for page in filter(None, map(rules.page, rules.rules())):
        link = f"[{page.rule}](../src/lockstep/knowledge/rules/{page.rule}.md)"
        lines.append(f"| {link} | {_cell(page.title)} | {page.checked} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Return docs/errors.md: every known error text with its causes, and every term."""
    lines = [
        "# Error texts and terms",
        "",
        "Made from `src/lockstep/knowledge/` by `tools/pages.py`. `lockstep explain '<text>'` finds an entry by what",
        "was pasted, `kubectl describe pod <pod> | lockstep explain -` by everything that a pod says.",
    ]
    for error in errors.errors():
        lines += _error(error)
    lines += ["", "## Terms"]
    for term in terms.terms():
        also = f" ({', '.join(term.words[1:])})" if term.words[1:] else ""
        lines += ["", f"### {term.words[0]}{also}", "", _prose(term.text)]
        if term.example:
            lines += ["", "```text", term.example.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def matrix_page() -> str:
    """Return docs/matrix.md: which container runs on which host, under the newest containerd and under an old one."""
    newest = of_catalogue(NEWEST_CONTAINERD)
    lines = [
        "# Which container runs on which host",
        "",
        "Made from `src/lockstep/catalog/data/` by `tools/pages.py`. `lockstep matrix` shows the same for any",
        "containerd, for every build (`--all`), or for a fleet's pools and classes (`-i inventory`);",
        "`lockstep can-run` answers for one pair.",
        "",
        f"![{newest.title}](matrix.svg)",
    ]
    for containerd in (NEWEST_CONTAINERD, EXACT_CONTAINERD):
        lines += ["", f"## containerd {containerd}", "", markdown(of_catalogue(containerd)).rstrip()]
    every = of_catalogue(NEWEST_CONTAINERD, every=True)
    lines += ["", f"## Every build, containerd {NEWEST_CONTAINERD}", "", markdown(every).rstrip()]
    return "\n".join(lines) + "\n"


def matrix_picture() -> str:
    """Return docs/matrix.svg."""
    return svg(of_catalogue(NEWEST_CONTAINERD))


NEWEST_CONTAINERD = f"{known_series()[-1]}.0"
EXACT_CONTAINERD = "1.7.5"
"""The last release that takes the host's own build only. Source: containerd v1.7.5 platforms/defaults_windows.go."""


def page_of_role(role: str) -> str:
    """Return docs/roles/<role>.md."""
    folder = ROOT / "roles" / role
    specs = yaml.safe_load((folder / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    readme = folder / "README.md"
    example = play_in(readme.read_text(encoding="utf-8") if readme.exists() else "", role)
    return role_page(role, specs, (folder / "defaults" / "main.yml").read_text(encoding="utf-8"), example)


ROLES = sorted(path.parents[1].name for path in ROOT.glob("roles/*/meta/argument_specs.yml"))

PAGES: Mapping[str, Callable[[], str]] = {
    "contract.md": contract_page,
    "rules.md": rules_page,
    "errors.md": errors_page,
    "catalogue.md": catalogue_page,
    "matrix.md": matrix_page,
    "matrix.svg": matrix_picture,
    **{f"roles/{role}.md": functools.partial(page_of_role, role) for role in ROLES},
}


def _error(error: errors.Error) -> Iterator[str]:
    name = f"{error.name}: " if error.name else ""
    yield from ("", f"## {name}{error.title.rstrip('.')}", "")
    yield from ("```text", *(said.text for said in error.said), "```", "")
    yield from ("| possible cause | how to tell | what to change |", "| --- | --- | --- |")
    for cause in error.causes:
        tell = "; ".join(f"`{tell}`" for tell in cause.tell)
        yield f"| {_prose(_cell(cause.cause))} | {_cell(tell)} | {_prose(_cell(cause.change))} |"
    if error.note:
        yield from ("", error.note)
    sources = dict.fromkeys((*(said.source for said in error.said), *error.sources))
    yield from ("", f"Sources: {'; '.join(sources)}.")


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


def _prose(text: str) -> str:
    """Return text in which `<name>` is no HTML."""
    return text.replace("<", "\\<")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Write every page."""
    (ROOT / "docs" / "roles").mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (ROOT / "docs" / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
