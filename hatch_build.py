"""What a wheel holds besides the package: the templates, and the tree as the Ansible collection lockstep.windows.

An editable install gets none of it: there both are found in the checkout, so that an edit counts at once.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COLLECTION = "ansible_collections/lockstep/windows"
IN_CHECKOUT = f"collection/{COLLECTION}"

FILES = {
    "templates": "lockstep/templates",
    "README.md": f"{COLLECTION}/README.md",
    f"{IN_CHECKOUT}/galaxy.yml": f"{COLLECTION}/galaxy.yml",
    f"{IN_CHECKOUT}/meta": f"{COLLECTION}/meta",
    "library": f"{COLLECTION}/plugins/modules",
    "action_plugins": f"{COLLECTION}/plugins/action",
    "filter_plugins": f"{COLLECTION}/plugins/filter",
    "doc_fragments": f"{COLLECTION}/plugins/doc_fragments",
    "roles": f"{COLLECTION}/roles",
    "playbooks": f"{COLLECTION}/playbooks",
}


class WheelFiles(BuildHookInterface):  # type: ignore[type-arg] # hatchling's own examples leave the parameter out
    """Adds FILES to a wheel that is to be distributed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, before anything is built."""
        if version == "standard":
            build_data["force_include"].update(FILES)
