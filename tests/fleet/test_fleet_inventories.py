"""Each case is an inventory (its files after `=== path` lines) and what its hosts see, which Ansible confirms."""

import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.fleet.inventory.contents import Inventory
from lockstep.fleet.inventory.groups import Uncertain
from lockstep.fleet.inventory.settings import ansible_decides
from lockstep.fleet.inventory.static import read_static
from lockstep.fleet.inventory.through_ansible import read_with_ansible

CASES = sorted((Path(__file__).parent / "inventories").glob("*.inventory"))


class Case(NamedTuple):
    source: Path
    directly: bool
    seen: dict[str, Any]


def unpacked(case: Path) -> Case:
    _, *parts = re.split(r"^=== (.+)\n", case.read_bytes().decode(), flags=re.MULTILINE)
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    expected = yaml.safe_load(files.pop("expect"))
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(text.encode())
    return Case(Path(expected["source"]), expected["read"] == "directly", expected["seen"])


def marks(inventory: Inventory) -> dict[str, Any]:
    return {host: found.data and found.data["is"] for host, found in inventory.seen.items()}


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_hosts_see_what_ansible_says_they_see(case: Path) -> None:
    source, directly, seen = unpacked(case)

    through_ansible = read_with_ansible(source, str(source))

    assert marks(through_ansible) == seen
    if not directly:
        with pytest.raises(Uncertain):
            read_static(source, str(source))
        return
    static = read_static(source, str(source))
    assert static.groups == through_ansible.groups
    for ours, theirs in (
        (static.seen, through_ansible.seen),
        (static.idle if not static.seen else {}, through_ansible.idle),
    ):
        assert {name: found.data for name, found in ours.items()} == {
            name: found.data for name, found in theirs.items()
        }
        for name, found in ours.items():
            if found.data is None:  # Ansible gives no value its place, where there is none
                continue
            assert found.locator.key(()) == theirs[name].locator.key(())
            assert found.locator.value(("is",)) == theirs[name].locator.value(("is",))
            assert found.locator.raw(("is",)) == theirs[name].locator.raw(("is",))
    assert not static.findings


GROUPS = ["a", "b", "c", "d", "e"]
NAMES = st.sampled_from(GROUPS)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    children=st.lists(st.tuples(NAMES, NAMES), max_size=8),
    members=st.lists(
        st.tuples(st.sampled_from([*GROUPS, "all", "ungrouped"]), st.sampled_from(["h1", "h2", "h3"])), max_size=6
    ),
    inline=st.sets(st.sampled_from([*GROUPS, "all"])),
    files=st.sets(st.sampled_from([*GROUPS, "all", "ungrouped"])),
    hosts=st.sets(st.sampled_from(["h1", "h2"])),
    as_ini=st.booleans(),
)
def test_any_tree_of_groups_is_read_as_ansible_reads_it(  # noqa: PLR0917 - the parts of an inventory
    children: list[tuple[str, str]],
    members: list[tuple[str, str]],
    inline: set[str],
    files: set[str],
    hosts: set[str],
    as_ini: bool,  # noqa: FBT001 - drawn
) -> None:
    """Ansible caches what it found in a folder, so each example has a folder of its own."""
    source = Path(tempfile.mkdtemp(dir="."))
    tree: dict[str, Any] = {name: {"children": {}, "hosts": {}} for name in [*GROUPS, "all", "ungrouped"]}
    for parent, child in children:
        if parent < child:
            tree[parent]["children"][child] = None
    for group, host in members:
        tree[group]["hosts"][host] = None
    if as_ini:
        lines = [
            line
            for name, group in tree.items()
            for line in (f"[{name}]", *group["hosts"], f"[{name}:children]", *group["children"])
        ]
        (source / "hosts").write_text("\n".join(lines), encoding="utf-8")
    else:
        for name in inline:
            tree[name]["vars"] = {"lockstep_fleet": {"is": f"inline {name}"}}
        (source / "hosts.yml").write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    for folder, names in (("group_vars", files), ("host_vars", hosts)):
        (source / folder).mkdir()
        for name in names:
            text = f"lockstep_fleet: {{is: {folder} {name}}}\n"
            (source / folder / f"{name}.yml").write_text(text, encoding="utf-8")

    static, through_ansible = read_static(source, "x"), read_with_ansible(source, "x")

    assert static.groups == through_ansible.groups
    assert marks(static) == marks(through_ansible)


def test_both_ways_are_taken() -> None:
    texts = [case.read_text(encoding="utf-8") for case in CASES]
    assert sum("read: directly" in text for text in texts) > 25
    assert sum("read: through Ansible" in text for text in texts) > 8


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANSIBLE_HASH_BEHAVIOUR", "merge"),
        ("ANSIBLE_INVENTORY_ENABLED", "ini"),
        ("ANSIBLE_PRECEDENCE", "all_inventory"),
    ],
)
def test_settings_in_the_environment_leave_it_to_ansible(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not ansible_decides(tmp_path)
    monkeypatch.setenv(name, value)
    assert ansible_decides(tmp_path)


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ("[defaults]\nforks = 5\nroles_path = roles\n", False),
        ("[defaults]\nhash_behaviour = merge\n", True),
        ("[inventory]\nenable_plugins = yaml\n", True),
        ("[defaults]\nvars_plugins_enabled = a.b.c\n", True),
        ("not a configuration", True),
    ],
)
def test_settings_in_a_file_leave_it_to_ansible(text: str, decides: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case's own value
    Path("ansible.cfg").write_text(text, encoding="utf-8")
    assert ansible_decides(tmp_path) is decides


def test_plugins_beside_the_inventory_leave_it_to_ansible(tmp_path: Path) -> None:
    (tmp_path / "vars_plugins").mkdir()
    assert not ansible_decides(tmp_path)
    (tmp_path / "vars_plugins" / "mine.py").write_text("", encoding="utf-8")
    assert ansible_decides(tmp_path)
