"""Manifests say what the plan says, are valid for the API server, and are the same bytes every time."""

import kubernetes_validate
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lockstep.fleet.plan import ClassPlan
from lockstep.k8s.taints import Taint, Toleration
from lockstep.runtimeclass.render import KUSTOMIZATION, file_name, is_rendered, render_classes, yaml_string

SELECTOR = {
    "kubernetes.io/os": "windows",
    "kubernetes.io/arch": "amd64",
    "node.kubernetes.io/windows-build": "10.0.26100",
}


def class_plan(name: str = "windows-2025", **values: object) -> ClassPlan:
    fields: dict[str, object] = {
        "name": name,
        "isolation": "process",
        "guest": "10.0.26100",
        "handler": "runhcs-wcow-process",
        "pools": ("win2025",),
        "node_selector": SELECTOR,
        "reached_by": {},
        "tolerations": (Toleration.of(Taint("os", "windows", "NoSchedule")),),
        "overhead": {},
        "labels": {},
        "annotations": {},
        **values,
    }
    return ClassPlan(**fields)  # type: ignore[arg-type] # built from a dict so that a case states only what it is about


def rendered(item: ClassPlan) -> dict[str, object]:
    document = yaml.safe_load(render_classes([item])[file_name(item.name)])
    assert isinstance(document, dict)
    return document


def test_manifest_has_every_part_of_the_class() -> None:
    item = class_plan(
        isolation="hyperv",
        handler="runhcs-wcow-hypervisor",
        overhead={"memory": "512Mi", "cpu": "100m"},
        labels={"team": "on"},
        annotations={"note": "a: b # c"},
        tolerations=(Toleration.of(Taint("os", "true", "NoSchedule")), Toleration("gpu", "Exists")),
    )
    assert rendered(item) == {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {
            "name": "windows-2025",
            "labels": {"app.kubernetes.io/managed-by": "lockstep", "team": "on"},
            "annotations": {"note": "a: b # c"},
        },
        "handler": "runhcs-wcow-hypervisor",
        "overhead": {"podFixed": {"memory": "512Mi", "cpu": "100m"}},
        "scheduling": {
            "nodeSelector": SELECTOR,
            "tolerations": [
                {"key": "os", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
                {"key": "gpu", "operator": "Exists"},
            ],
        },
    }


def test_no_empty_parts() -> None:
    document = rendered(class_plan(tolerations=()))
    assert set(document) == {"apiVersion", "kind", "metadata", "handler", "scheduling"}
    assert document["scheduling"] == {"nodeSelector": SELECTOR}


@pytest.mark.parametrize("minor", ["1.32", "1.36", "1.37"])
def test_manifest_is_valid_for_the_api_server(minor: str) -> None:
    item = class_plan(overhead={"memory": "512Mi"}, tolerations=(Toleration("gpu", "Exists"),), labels={"a": "1"})
    kubernetes_validate.validate(rendered(item), minor, strict=True)


def test_kustomization_lists_every_class_and_nothing_else() -> None:
    manifests = render_classes([class_plan("b"), class_plan("a"), class_plan("kustomization")])
    assert list(manifests) == ["a.yaml", "b.yaml", KUSTOMIZATION, "kustomization_.yaml"]
    assert yaml.safe_load(manifests[KUSTOMIZATION])["resources"] == ["a.yaml", "b.yaml", "kustomization_.yaml"]
    assert all(is_rendered(text) for text in manifests.values())


def test_order_of_classes_does_not_matter() -> None:
    items = [class_plan("b"), class_plan("a"), class_plan("c")]
    assert render_classes(items) == render_classes(reversed(items))


@given(st.text())
def test_any_text_is_read_back_as_text(text: str) -> None:
    assert yaml.safe_load(yaml_string(text)) == text


@pytest.mark.parametrize("text", ["on", "y", "Null", "1e3", "0x1F", "10.0.26100", "~", "2026-11-29", "a: b", "", "*a"])
def test_what_another_yaml_version_could_misread_is_quoted(text: str) -> None:
    assert yaml_string(text).startswith('"')
