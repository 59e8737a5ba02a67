"""A role's page has every variable, with what both of its sources say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.report.role_page import Group, groups, play_in, role_page

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())

DEFAULTS = """\
---
# The port. It is also
# what the firewall opens:
#   port: 1
#     deeper: 2
# and no more.
port: 10250

# Where things are.
path: C:\\k
mirrors:
  - a|b

# By default none.
state: present
"""
SPECS: dict[str, Any] = {
    "argument_specs": {
        "main": {
            "short_description": "Does it",
            "description": ["Sets C(x)."],
            "options": {
                "port": {"type": "int", "description": "The port."},
                "path": {"type": "path", "description": "The path V(C:\\\\k)."},
                "mirrors": {
                    "type": "list",
                    "elements": "dict",
                    "description": "Mirrors.",
                    "options": {"url": {"type": "str", "required": True, "description": "Address of <host>."}},
                },
                "state": {"type": "str", "description": "State.", "choices": ["present", "absent"]},
            },
        }
    }
}


def test_comments_stand_above_groups() -> None:
    assert groups(DEFAULTS) == [
        Group("The port. It is also what the firewall opens: and no more.", ("port",), "port: 1\n  deeper: 2"),
        Group("Where things are.", ("path", "mirrors")),
        Group("By default none.", ("state",)),
    ]


def test_a_row_has_type_default_choices_and_all_that_is_said_once() -> None:
    page = role_page("demo", SPECS, DEFAULTS, play_in("", "demo"))
    assert "| `port` | int | `10250` | The port. It is also what the firewall opens: and no more. |" in page
    assert "`port`, for example:\n\n```yaml\nport: 1\n  deeper: 2\n```\n" in page
    assert '| `mirrors` | list of dict | `["a\\|b"]` | Mirrors. |' in page
    assert "| `mirrors[].url` | str | required | Address of \\<host>. |" in page
    assert "| `state` | str | `present` | State. By default none. One of `present`, `absent`. |" in page
    assert "- Sets `x`." in page
    assert "    - role: demo" in page


def test_the_play_of_the_readme_is_shown() -> None:
    assert play_in("a\n```yaml\n- hosts: all\n```\nb\n```yaml\n- hosts: other\n```\n", "demo") == "- hosts: all\n"


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_every_variable_of_a_role_is_on_its_page(role: Path) -> None:
    defaults = yaml.safe_load((role / "defaults" / "main.yml").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "roles" / f"{role.name}.md").read_text(encoding="utf-8")
    assert [name for name in re.findall(r"^\| `([a-z_0-9]+)` ", page, re.MULTILINE) if name in defaults] == list(
        defaults
    )


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_the_readme_leads_to_the_page(role: Path) -> None:
    assert f"(docs/roles/{role.name}.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
