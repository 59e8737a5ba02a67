"""A role's page for docs/: from its argument_specs and from the comments in its defaults."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

# C(code), V(value), O(option), RV(return value), M(module), P(plugin#type), E(variable): all are shown as code.
# Source: Ansible's developer guide, "Ansible markup".
_MARKUP = re.compile(r"\b(?:C|V|O|RV|M|P|E)\(((?:[^()\\]|\\.)*)\)")
_NAME = re.compile(r"^([a-z_][a-z0-9_]*):")
_HEADING = 60
_SENTENCE = re.compile(r"(?<=[.;]) +(?=[A-Z`])")


@dataclass(frozen=True, slots=True)
class Group:
    """Variables that stand together in the defaults, and what the comment above them says.

    `example` is what is indented in the comment.
    """

    comment: str
    names: tuple[str, ...]
    example: str = ""


def groups(defaults: str) -> list[Group]:
    """Return the variables of a defaults file, in its order: a comment begins a group, as an empty line does."""
    found: list[Group] = []
    comment: list[str] = []
    open_group = False
    for line in defaults.splitlines():
        if line.startswith("#"):
            comment.append(line[1:].removeprefix(" "))
            open_group = False
        elif match := _NAME.match(line):
            if open_group:
                found[-1] = replace(found[-1], names=(*found[-1].names, match[1]))
            else:
                prose = [text for text in comment if not text.startswith(" ")]
                example = [text for text in comment if text.startswith(" ")]
                found.append(Group(" ".join(prose), (match[1],), textwrap.dedent("\n".join(example))))
            comment, open_group = [], True
        elif not line.strip():
            open_group = False
    return found


def role_page(role: str, specs: Mapping[str, Any], defaults: str, example: str) -> str:
    """Return the page of a role: what it does, a play, and every variable with type, default and choices."""
    main = specs["argument_specs"]["main"]
    values = yaml.safe_load(defaults) or {}
    sources = f"`roles/{role}/meta/argument_specs.yml` and `roles/{role}/defaults/main.yml`"
    lines = [
        f"# Role {role}",
        "",
        f"Made from {sources} by `tools/pages.py`; change these files, not this page.",
        "",
        f"{main['short_description'].rstrip('.')}. How it behaves: [roles/{role}](../../roles/{role}/README.md).",
        "",
        *(f"- {_prose(text)}" for text in _texts(main.get("description", ()))),
        "",
        "```yaml",
        *example.strip().splitlines(),
        "```",
        "",
        "## Variables",
        "",
        "| variable | type | default | is |",
        "| --- | --- | --- | --- |",
    ]
    for group in groups(defaults):
        for index, name in enumerate(group.names):
            # What is short and stands above several variables is a heading.
            heading = index or (len(group.names) > 1 and len(group.comment) < _HEADING)
            lines += _rows(name, main["options"][name], values[name], "" if heading else group.comment)
    for group in groups(defaults):
        if group.example:
            lines += ["", f"`{group.names[0]}`, for example:", "", "```yaml", *group.example.splitlines(), "```"]
    return "\n".join(lines) + "\n"


def play_in(readme: str, role: str) -> str:
    """Return the play that a role's README shows, or the shortest one."""
    shown = re.findall(r"^```yaml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    plays = [text for text in shown if text.lstrip().startswith("- hosts:")]
    return plays[0] if plays else f"- hosts: windows\n  gather_facts: false\n  roles:\n    - role: {role}\n"


def _rows(name: str, option: Mapping[str, Any], default: Any, comment: str) -> Iterator[str]:
    yield _row(f"`{name}`", option, f"`{_value(default)}`", comment)
    yield from _inner(name, option)


def _inner(name: str, option: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of what a mapping, or each of a list, has."""
    prefix = f"{name}[]." if option.get("type") == "list" else f"{name}."
    for inner, described in option.get("options", {}).items():
        default = f"`{_value(described['default'])}`" if "default" in described else "-"
        yield _row(f"`{prefix}{inner}`", described, "required" if described.get("required") else default)
        yield from _inner(prefix + inner, described)


def _row(name: str, option: Mapping[str, Any], default: str, comment: str = "") -> str:
    kind = str(option.get("type", "str"))
    if "elements" in option:
        kind += f" of {option['elements']}"
    said = [sentence for text in _texts(option.get("description", ())) for sentence in _SENTENCE.split(text)]
    said += [sentence for sentence in _SENTENCE.split(comment) if sentence not in said]
    if "choices" in option:
        said.append(f"One of {', '.join(f'`{_value(choice)}`' for choice in option['choices'])}.")
    return f"| {name} | {kind} | {_cell(default)} | {_cell(_prose(' '.join(filter(None, said))))} |"


def _texts(description: str | Sequence[str]) -> Sequence[str]:
    return [description] if isinstance(description, str) else description


def _value(value: Any) -> str:
    """Return a default as a person would write it in YAML, on one line."""
    if isinstance(value, str):
        return " ".join(value.split()) or '""'
    return json.dumps(value, ensure_ascii=False)


def _prose(text: str) -> str:
    return _MARKUP.sub(lambda match: f"`{match[1]}`", text).replace("<", "\\<")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
