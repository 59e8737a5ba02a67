"""From a path to a description: bare files, inventories, their hosts, vaults and templates."""

import errno
import io
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstep.fleet.load import Loaded, check, check_data, load_fleet

FLEET = """\
lockstep_fleet:
  kubernetes: "1.36.1"
  containerd: "2.3.4"
  pools:
    win2022: {host: ltsc2022}
    win2025: {host: ltsc2025}
  runtime_classes:
    windows-2022: {isolation: process, guest: ltsc2022}
"""
HOSTS = """\
windows:
  children:
    win2022:
      hosts: {a1: , a2: }
    win2025:
      hosts: {b1: }
localhosts:
  hosts: {l1: }
"""
VAULT_PASSWORD = "open sesame"  # noqa: S105 - a password for this test's own vault


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path("prod") / name.replace("__", "/").replace("_yml", ".yml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def said(loaded: Loaded) -> list[tuple[str, str]]:
    return [
        (finding.rule, f"{finding.place.file}:{finding.place.line}:{finding.place.column}" if finding.place else "-")
        for finding in loaded.findings
    ]


def text_of(loaded: Loaded) -> str:
    return "\n".join(" ".join(filter(None, (f.message, f.hint, f.fix))) for f in loaded.findings)


def test_an_inventory_gives_the_fleet_and_each_pools_hosts() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET)
    loaded = check("prod")
    assert not loaded.findings
    assert loaded.fleet
    assert list(loaded.fleet.pools) == ["win2022", "win2025"]
    assert loaded.hosts == {"win2022": ("a1", "a2"), "win2025": ("b1",)}
    assert loaded.plan
    assert (loaded.pools, loaded.classes) == (2, 1)
    assert list(loaded.sources) == ["prod/group_vars/windows.yml"]
    assert check("prod/hosts.yml").fleet == loaded.fleet
    assert check("prod/group_vars/windows.yml").fleet == loaded.fleet


def test_defaults_are_filled_in() -> None:
    write(fleet_yml=FLEET)
    fleet = check("prod/fleet.yml").fleet
    assert fleet
    pool = fleet.pools["win2022"]
    assert (pool.group, pool.kubernetes, pool.containerd, str(pool.taint)) == (
        "win2022", "1.36.1", "2.3.4", "os=windows:NoSchedule",
    )  # fmt: skip
    described = fleet.runtime_classes["windows-2022"]
    assert (described.pools, described.handler, described.vm, described.tolerations) == (None, None, None, ())


def test_data_that_ansible_evaluated_is_checked_too() -> None:
    pools: dict[str, Any] = {"win2022": {"host": 20348}}
    assert check_data({"kubernetes": "1.36.1", "containerd": "2.3.4", "pools": pools}).plan
    pools["win2022"]["labels"] = {"a": True}
    loaded = check_data({"kubernetes": "1.36.1", "containerd": "2.3.4", "pools": pools})
    assert said(loaded) == [("LW106", "-")]
    assert "| string" in text_of(loaded)


def test_errors_in_an_inventory_are_placed_in_their_file() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET.replace("host: ltsc2022", "host: ltcs2022"))
    loaded = check("prod")
    assert said(loaded) == [("LW104", "prod/group_vars/windows.yml:5:21")]
    assert loaded.fleet is None
    assert loaded.plan is None


def test_errors_in_evaluated_values_are_placed_where_they_are_written() -> None:
    described = FLEET.replace("host: ltsc2022", 'host: "{{ the_host }}"').replace(
        "{host: ltsc2025}", '"{{ the_pool }}"'
    )
    write(
        hosts_yml=HOSTS,
        group_vars__windows_yml=described,
        group_vars__all_yml='the_host: ltcs2022\nthe_pool:\n  host: ltsc2025\n  labels: {a: 0110, "b c": d}\n',
    )
    loaded = check("prod")
    assert said(loaded) == [
        ("LW104", "prod/group_vars/all.yml:1:11"),
        ("LW106", "prod/group_vars/all.yml:4:15"),
        ("LW110", "prod/group_vars/all.yml:4:21"),
    ]
    assert set(loaded.sources) == {"prod/group_vars/all.yml", "prod/group_vars/windows.yml"}


def test_a_template_that_cannot_be_evaluated_is_a_finding() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET.replace("host: ltsc2022", 'host: "{{ nowhere }}"'))
    loaded = check("prod")
    assert [finding[0] for finding in said(loaded)] == ["LW025"]
    assert said(loaded)[0][1].startswith("prod/group_vars/windows.yml:5:")
    assert "nowhere" in text_of(loaded)


def test_a_repeated_key_in_evaluated_text_is_a_finding() -> None:
    described = FLEET.replace("host: ltsc2022", 'host: "{{ h }}", host: ltsc2022') + "h: ltsc2022\n"
    write(hosts_yml=HOSTS, group_vars__windows_yml=described)
    assert said(check("prod")) == [("LW006", "prod/group_vars/windows.yml:5:32")]


def test_a_file_that_is_not_yaml_is_a_finding_in_the_file() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET, group_vars__all_yml="a: [1\n")
    assert [rule for rule, place in said(check("prod")) if place.startswith("prod/group_vars/all.yml:1")] == ["LW003"]
    write(hosts_yml="windows: {hosts: [\n", group_vars__all_yml="a: 1\n")
    assert [rule for rule, place in said(check("prod")) if place.startswith("prod/hosts.yml:1")] == ["LW003"]


def test_an_inventory_that_ansible_cannot_read_is_a_finding() -> None:
    write(hosts="[windows:nonsense]\na1\n")
    loaded = check("prod/hosts")
    assert {finding[0] for finding in said(loaded)} == {"LW024"}
    assert "prod/hosts" in text_of(loaded)


def test_the_reason_is_that_of_the_plugin_that_was_meant() -> None:
    write(hosts_yml="windows: {children: [win2022]}\n", group_vars__windows_yml=FLEET)
    loaded = check("prod")
    assert said(loaded) == [("LW024", "prod/hosts.yml:1:1")]
    assert 'Invalid "children" entry for "windows" group' in text_of(loaded)


def test_no_host_that_sees_the_fleet() -> None:
    write(hosts_yml=HOSTS)
    assert said(check("prod")) == [("LW010", "-")]


def test_a_description_of_groups_that_have_no_hosts_yet() -> None:
    write(hosts_yml="windows: {children: {win2022: , win2025: }}\n", group_vars__windows_yml=FLEET)
    loaded = check("prod")
    assert said(loaded) == [("LW023", "prod/group_vars/windows.yml:5:5"), ("LW023", "prod/group_vars/windows.yml:6:5")]
    assert not loaded.failed
    assert loaded.plan


def test_a_pool_without_its_group() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET.replace("{host: ltsc2025}", "{host: ltsc2025, group: new}"))
    loaded = check("prod")
    assert said(loaded) == [("LW023", "prod/group_vars/windows.yml:6:5")]
    assert "'new' of pool 'win2025' is not in the inventory" in text_of(loaded)


def test_a_host_in_two_pools() -> None:
    write(hosts_yml=HOSTS.replace("{b1: }", "{b1: , a2: }"), group_vars__windows_yml=FLEET)
    loaded = check("prod")
    assert said(loaded) == [("LW022", "prod/group_vars/windows.yml:6:5")]
    assert "'a2' is in the pools 'win2022' and 'win2025'" in text_of(loaded)


def test_hosts_that_see_different_fleets() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET, group_vars__win2025_yml=FLEET.replace("1.36.1", "1.36.2"))
    loaded = check("prod")
    assert said(loaded) == [("LW020", "prod/group_vars/win2025.yml:1:1")]
    assert "'b1' and 'a1' see different values" in text_of(loaded)
    assert "prod/group_vars/windows.yml:1" in text_of(loaded)
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET, group_vars__win2025_yml=FLEET)
    assert not check("prod").findings


def test_templates_that_differ_by_host() -> None:
    described = FLEET.replace('"2.3.4"', "\"{{ '2.3.3' if inventory_hostname == 'b1' else '2.3.4' }}\"")
    write(hosts_yml=HOSTS, group_vars__windows_yml=described)
    loaded = check("prod")
    assert said(loaded) == [("LW020", "prod/group_vars/windows.yml:1:1")]


def test_hosts_of_a_pool_that_do_not_see_it() -> None:
    write(hosts_yml=HOSTS, group_vars__win2022_yml=FLEET)
    loaded = check("prod")
    assert said(loaded) == [("LW021", "prod/group_vars/win2022.yml:6:5")]
    assert "'b1' of pool 'win2025' cannot see lockstep_fleet" in text_of(loaded)


@pytest.mark.parametrize("name", ["fleet.yml", "fleet.yaml", "fleet.json", "fleet", "fleet.conf"])
def test_a_bare_file_may_have_any_name(name: str) -> None:
    Path(name).write_text(FLEET, encoding="utf-8")
    assert check(name).plan


def encrypted(text: str) -> str:
    vault = pytest.importorskip("ansible.parsing.vault")
    secret = vault.VaultSecret(VAULT_PASSWORD.encode())
    return str(vault.VaultLib([("default", secret)]).encrypt(text.encode(), secret).decode())


def test_vaulted_values_are_read_with_the_password() -> None:
    Path("password").write_text(VAULT_PASSWORD, encoding="utf-8")
    value = "".join(f"\n        {line}" for line in encrypted("ltsc2022").splitlines())
    described = FLEET.replace("    win2022: {host: ltsc2022}\n", f"    win2022:\n      host: !vault |{value}\n")
    write(hosts_yml=HOSTS, group_vars__windows_yml=described)

    loaded = check("prod", vault_password_file=Path("password"))

    assert not loaded.findings
    assert loaded.fleet
    assert loaded.fleet.pools["win2022"].host.number == 20348
    assert said(check("prod"))[0][0] == "LW025"


def test_an_encrypted_file_is_read_and_never_shown() -> None:
    Path("password").write_text(VAULT_PASSWORD, encoding="utf-8")
    secret = encrypted(FLEET.replace("host: ltsc2022", "host: ltcs2022"))
    write(hosts_yml=HOSTS, group_vars__windows__fleet_yml=secret)

    loaded = check("prod", vault_password_file=Path("password"))

    assert said(loaded) == [("LW104", "prod/group_vars/windows/fleet.yml:5:21")]
    assert not loaded.sources
    assert {rule for rule, _ in said(check("prod"))} == {"LW024"}


def test_loading_alone_derives_nothing() -> None:
    write(fleet_yml=FLEET)
    loaded = load_fleet("prod/fleet.yml")
    assert loaded.fleet
    assert loaded.plan is None


def test_a_clean_check_imports_nothing_slow() -> None:
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET)
    program = (
        "import sys; from lockstep.fleet.load import check; assert check('prod').plan;"
        "print({'ansible', 'jinja2', 'jsonschema', 'tomlkit', 'ruamel', 'asyncio'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def test_a_link_to_itself_is_a_finding() -> None:
    Path("loop").symlink_to("loop")
    assert said(check("loop")) == [("LW001", "-")]
    assert "too many levels" in text_of(check("loop"))


def test_links_back_to_a_folder_above_are_passed_over() -> None:
    write(hosts_yml=HOSTS, group_vars__windows__fleet_yml=FLEET)
    for folder in ("prod", "prod/group_vars/windows"):
        for name in ("one", "two", "three"):
            Path(folder, name).symlink_to(".")
    loaded = check("prod")
    assert loaded.hosts == {"win2022": ("a1", "a2"), "win2025": ("b1",)}
    assert not loaded.findings


def test_a_pipe_is_read_once() -> None:
    os.mkfifo("pipe")
    for text in (FLEET, textwrap.dedent(FLEET.partition("\n")[2])):
        writer = threading.Thread(target=Path("pipe").write_text, args=(text,), daemon=True)
        writer.start()
        assert check("pipe").plan
        writer.join()


@pytest.mark.parametrize("name", ["prod", "prod/group_vars", "prod/vars_plugins"])
def test_a_folder_that_may_not_be_listed_is_a_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A superuser may list every folder, so the system's refusal is acted."""
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET)
    Path("prod/vars_plugins").mkdir()
    listed = os.listdir
    scanned = Path.iterdir

    def refuse(path: os.PathLike[str] | str) -> None:
        if Path(path) == Path(name):
            raise PermissionError(errno.EACCES, "Permission denied", name)

    def listdir(path: str) -> list[str]:
        refuse(path)
        return listed(path)

    def iterdir(path: Path) -> Iterator[Path]:
        refuse(path)
        return scanned(path)

    monkeypatch.setattr(os, "listdir", listdir)
    monkeypatch.setattr(Path, "iterdir", iterdir)
    loaded = check("prod")
    if name == "prod/vars_plugins":
        assert loaded.plan
    else:
        assert said(loaded) == [("LW001", "-")]
        assert f"{name} cannot be read: permission denied" in text_of(loaded)


@pytest.mark.parametrize("name", ["prod/hosts.yml", "prod/group_vars/windows.yml"])
def test_a_file_that_may_not_be_read_is_a_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening is refused here as Windows or Linux would: a superuser, as whom tests may run, may read everything."""
    write(hosts_yml=HOSTS, group_vars__windows_yml=FLEET)
    opened = io.open

    def refuse(file: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(file, str | os.PathLike) and Path(file).absolute() == Path(name).absolute():
            raise PermissionError(errno.EACCES, "Permission denied", name)
        return opened(file, *arguments, **options)

    monkeypatch.setattr("io.open", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    assert said(check("prod")) == [("LW001", "-")]
    assert said(check("prod/group_vars/windows.yml")) == [("LW001", "-")] * (name != "prod/hosts.yml")
