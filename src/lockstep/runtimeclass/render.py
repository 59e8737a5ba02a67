"""Manifests from a plan: one file a RuntimeClass and a kustomization.yaml, the same bytes for the same plan.

The Jinja templates in `templates/` are the only place where a manifest is written down.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from pathlib import Path

import jinja2
import yaml

from lockstep.fleet.plan import ClassPlan, Plan

BANNER = "# Rendered by lockstep from the fleet description. Change the description, not this file."
KUSTOMIZATION = "kustomization.yaml"
# Lets `kubectl apply --prune -l` take away a class that is no longer described.
MANAGED = {"app.kubernetes.io/managed-by": "lockstep"}

# Only what no YAML version reads as anything but text stays plain.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def render(plan: Plan) -> dict[str, str]:
    """Return the text of every manifest by file name, in name order; lines end in a line feed, files in one too."""
    return render_classes(plan.classes.values())


def render_classes(classes: Iterable[ClassPlan]) -> dict[str, str]:
    """Return the manifests of these classes and the kustomization that lists them."""
    template = _environment().get_template("runtimeclass.yaml.j2")
    manifests = {
        file_name(item.name): template.render(banner=BANNER, runtime_class=item, labels=MANAGED | dict(item.labels))
        for item in sorted(classes, key=lambda item: item.name)
    }
    listing = _environment().get_template("kustomization.yaml.j2").render(banner=BANNER, resources=list(manifests))
    return dict(sorted({**manifests, KUSTOMIZATION: listing}.items()))


def file_name(class_name: str) -> str:
    """Return the manifest's file name for a RuntimeClass.

    A class may be called `kustomization`; no class name holds an underscore, so that one's file cannot meet another's.
    """
    return "kustomization_.yaml" if class_name == "kustomization" else f"{class_name}.yaml"


def is_rendered(text: str) -> bool:
    """Return whether this text is a manifest that lockstep wrote, and so may replace or remove."""
    return text.startswith(BANNER)


def yaml_string(value: str) -> str:
    """Return a scalar that every YAML version reads as this text: plain where that is certain, else double-quoted."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return str(yaml.safe_dump(value, default_style='"', width=math.inf)).rstrip("\n")


def template_folder() -> Path:
    """Return the folder of the Jinja templates: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "templates"
    return inside if inside.is_dir() else package.parents[1] / "templates"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - the output is YAML, and yaml_string quotes every value
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["yaml_string"] = yaml_string
    return environment
