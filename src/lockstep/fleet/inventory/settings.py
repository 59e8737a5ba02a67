"""Whether Ansible's settings on this machine change what an inventory means.

Source: ansible-core 2.19 - 2.21, lib/ansible/config/base.yml and config/manager.py `find_ini_config_file`.
"""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterator
from pathlib import Path

_VARIABLES = re.compile(
    r"ANSIBLE_(INVENTORY_.+|VARS_.+|VARIABLE_.+|RUN_VARS_PLUGINS|HASH_BEHAVIOUR|PRECEDENCE|YAML_FILENAME_EXT|HOME"
    r"|TRANSFORM_INVALID_GROUP_CHARS|GATHERING_FACTS_.+|CACHE_PLUGIN.*|JINJA2_.+|COLLECTIONS_.+|PLAYBOOK_VARS_ROOT)",
)
_SECTIONS = re.compile(r"inventory.*|vars_.*|.+_inventory|jinja2.*")
_KEYS = re.compile(
    r"hash_behaviour|precedence|inventory_.+|vars_plugins.*|run_vars_plugins|yaml_valid_extensions|home|fact_caching.*"
    r"|force_valid_group_names|playbook_vars_root|jinja2_.+|collections_.*|vars_host_group_vars.*",
)
_PLUGINS = ("~/.ansible/plugins", "/usr/share/ansible/plugins")
_KINDS = ("vars", "inventory")


def ansible_decides(inventory: Path) -> bool:
    """Return whether settings or plugins are there that could change how an inventory or its variables are read."""
    if any(map(_VARIABLES.fullmatch, os.environ)):
        return True
    if any(map(_changes_inventories, _configurations())):
        return True
    folder = inventory if inventory.is_dir() else inventory.parent
    folders = [folder / "vars_plugins", *(Path(root).expanduser() / kind for root in _PLUGINS for kind in _KINDS)]
    return any(map(_holds_something, folders))


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False


def _configurations() -> Iterator[Path]:
    """Yield each file that Ansible might take its settings from."""
    named = os.environ.get("ANSIBLE_CONFIG")
    if named:
        yield Path(named) / "ansible.cfg" if Path(named).is_dir() else Path(named)
    yield from (Path("ansible.cfg"), Path("~/.ansible.cfg").expanduser(), Path("/etc/ansible/ansible.cfg"))


def _changes_inventories(file: Path) -> bool:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return True
    settings = configparser.RawConfigParser(inline_comment_prefixes=(";",), strict=False)
    try:
        settings.read_string(text)
    except configparser.Error:
        return True
    return any(
        _SECTIONS.fullmatch(section) or any(map(_KEYS.fullmatch, settings.options(section)))
        for section in settings.sections()
    )
