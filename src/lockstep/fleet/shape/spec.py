"""Every key of `lockstep_fleet`, once: the validator and the published JSON Schema are both made from this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.fleet.shape import values
from lockstep.fleet.shape.kinds import Kind
from lockstep.k8s.taints import toleration_problem

VARIABLE = "lockstep_fleet"
NO_TAINT = "none"


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a record: what may stand there and what it is for.

    A required key may be missing where each entry of the record's table `unless_in` has one of the same name.
    """

    shape: Shape
    doc: str
    required: bool = False
    unless_in: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys. `problem` finds what is wrong with keys that are each right alone.

    `lenient` goes on without a key whose value is wrong, with a Partial.
    """

    what: str
    fields: Mapping[str, Field]
    problem: Callable[[Mapping[str, Any]], str | None] | None = None
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping from the user's own keys; `lenient` goes on without an entry that is wrong."""

    what: str
    key: Kind
    value: Shape
    lenient: bool = False
    empty: bool = True


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `unique` refuses an item that is there twice."""

    what: str
    item: Shape
    unique: bool = False
    empty: bool = True


@dataclass(frozen=True, slots=True)
class WordOr:
    """One word, or a value of another shape."""

    word: str
    shape: Record


@dataclass(frozen=True, slots=True)
class Free:
    """A mapping whose keys another program defines: anything that JSON can hold."""

    what: str


Shape = Kind | Record | Table | Items | WordOr | Free


def _toleration_problem(toleration: Mapping[str, Any]) -> str | None:
    return toleration_problem(
        toleration.get("key", ""),
        toleration.get("operator", "Equal"),
        toleration.get("value", ""),
        toleration.get("effect", ""),
    )


_TAINT = WordOr(
    NO_TAINT,
    Record(
        "a taint, or the word none",
        {
            "key": Field(values.LABEL_KEY, "The taint's key.", required=True),
            "value": Field(values.LABEL_VALUE, "The taint's value, compared case-sensitively. Empty by default."),
            "effect": Field(values.EFFECT, "What happens to pods that do not tolerate it.", required=True),
        },
    ),
)

_TOLERATION = Record(
    "a toleration",
    {
        "key": Field(values.LABEL_KEY, "The taint's key; without one, operator Exists tolerates every taint."),
        "operator": Field(values.OPERATOR, "Equal (the default) compares the value, Exists does not."),
        "value": Field(values.LABEL_VALUE, "The taint's value. Empty by default."),
        "effect": Field(values.EFFECT, "The effect that is tolerated; every effect by default."),
    },
    _toleration_problem,
)

_POOL = Record(
    "a pool",
    {
        "host": Field(
            values.BUILD,
            "The Windows build of the pool's nodes: an alias (ltsc2022), a build number (20348) or a full version.",
            required=True,
        ),
        "guest": Field(
            values.BUILD,
            "The Windows build that every utility VM of this pool boots, where it is older than the host's own.",
        ),
        "group": Field(values.GROUP, "The inventory group that holds the pool's nodes. By default the pool's name."),
        "kubernetes": Field(values.VERSION, "The kubelet's version on this pool. By default the fleet's."),
        "containerd": Field(values.VERSION, "containerd's version on this pool. By default the fleet's."),
        "taint": Field(_TAINT, "The taint that this pool's nodes register with, or none. By default the fleet's."),
        "pause_image": Field(values.IMAGE, "The pause image. By default the one that fits the host and Kubernetes."),
        "labels": Field(
            Table("labels", values.NODE_LABEL_KEY, values.LABEL_VALUE),
            "Labels that this pool's nodes register with, beside the derived ones.",
        ),
        "kubelet": Field(Free("KubeletConfiguration fields"), "KubeletConfiguration fields beside the derived ones."),
    },
    lenient=True,
)

_UTILITY_VM = Record(
    "a utility VM's size",
    {
        "memory": Field(values.MEMORY, "Memory of each pod's utility VM, a whole number of Mi."),
        "processors": Field(values.COUNT, "Virtual processors of each pod's utility VM."),
    },
)

_CLASS = Record(
    "a RuntimeClass",
    {
        "isolation": Field(
            values.ISOLATION,
            "process shares the host's kernel; hyperv gives each pod a utility VM.",
            required=True,
        ),
        "guest": Field(values.BUILD, "The Windows build of the class's containers. By default what its pools share."),
        "pools": Field(
            Items("names of pools", values.POOL_NAME, unique=True, empty=False),
            "The pools whose nodes run this class. By default those that give the class's guest.",
        ),
        "handler": Field(values.HANDLER, "containerd's name for the runtime. Derived from the isolation by default."),
        "vm": Field(_UTILITY_VM, "The utility VM's size, for isolation hyperv."),
        "overhead": Field(
            Table("resources", values.RESOURCE, values.QUANTITY),
            "What a pod of this class costs beyond its containers (overhead.podFixed).",
        ),
        "node_selector": Field(
            Table("labels", values.LABEL_KEY, values.LABEL_VALUE),
            "Replaces the derived selector beyond OS and architecture; must select exactly the class's pools.",
        ),
        "tolerations": Field(Items("tolerations", _TOLERATION), "Tolerations beside those of the pools' own taints."),
        "labels": Field(
            Table("labels", values.OBJECT_LABEL_KEY, values.LABEL_VALUE),
            "Labels of the RuntimeClass object.",
        ),
        "annotations": Field(
            Table("annotations", values.ANNOTATION_KEY, values.TEXT),
            "Annotations of the RuntimeClass object.",
        ),
    },
)

FLEET = Record(
    "a fleet",
    {
        "kubernetes": Field(
            values.VERSION,
            'The kubelet\'s version, such as "1.36.1", on every pool without one of its own.',
            required=True,
            unless_in="pools",
        ),
        "containerd": Field(
            values.VERSION,
            'containerd\'s version, such as "2.3.4", on every pool without one of its own.',
            required=True,
            unless_in="pools",
        ),
        "taint": Field(
            _TAINT,
            "The taint that Windows nodes register with, or the word none. By default os=windows:NoSchedule.",
        ),
        "pools": Field(
            Table("pools by name", values.POOL_NAME, _POOL, lenient=True, empty=False),
            "Nodes configured alike, by name: each pool is one inventory group.",
            required=True,
        ),
        "runtime_classes": Field(
            Table("RuntimeClasses by name", values.CLASS_NAME, _CLASS, lenient=True),
            "RuntimeClasses, by name.",
        ),
    },
    lenient=True,
)
