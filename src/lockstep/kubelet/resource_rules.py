"""Eviction and reserved resources, on Windows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lockstep.k8s import quantities
from lockstep.kubelet.fields import dotted, duration
from lockstep.kubelet.problem import Problem
from lockstep.kubelet.settings import ERROR, WARNING, Rule, Settings
from lockstep.words import nearest

EVICTION = "LW314"
RESERVED = "LW316"

_FILESYSTEMS = ("nodefs", "imagefs", "containerfs")
SIGNALS = (
    *(f"{name}.{what}" for name in _FILESYSTEMS for what in ("available", "inodesFree")),
    "memory.available",
    "allocatableMemory.available",
    "pid.available",
)
DEFAULT_SIGNALS = ("memory.available", "nodefs.available", "imagefs.available")
_EVICTION = ("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim")


def eviction(settings: Settings) -> Iterator[Problem]:
    """Eviction signals, thresholds and grace periods.

    Source: kubernetes/kubernetes pkg/kubelet/eviction/helpers.go and defaults_windows.go.
    """
    for name in _EVICTION:
        for signal, value in (settings.fields.get(name) or {}).items():
            yield from _signal(settings, name, signal, value)
    soft, grace = settings.fields.get("evictionSoft") or {}, settings.get("evictionSoftGracePeriod", {})
    for signal in soft if grace is not None else ():
        if signal not in grace:
            message = f"evictionSoft has {signal} and evictionSoftGracePeriod has not: kubelet does not start"
            yield Problem(EVICTION, ERROR, ("evictionSoft", signal), message, "give it a grace period such as 1m")
    yield from _others_off(settings)


def _others_off(settings: Settings) -> Iterator[Problem]:
    hard = settings.fields.get("evictionHard")
    working = [signal for signal in DEFAULT_SIGNALS if signal != "memory.available" or _memory_works(settings)]
    missing = [signal for signal in working if signal not in (hard or {})]
    if not hard or not missing or settings.fields.get("mergeDefaultEvictionSettings"):
        return
    merges = "mergeDefaultEvictionSettings" in settings.facts.fields
    fix = f"add {', '.join(missing)}" + (", or mergeDefaultEvictionSettings: true" if merges else "")
    message = f"evictionHard turns {', '.join(missing)} off: what it does not name has no default any more"
    yield Problem(EVICTION, WARNING, ("evictionHard",), message, fix)


def _signal(settings: Settings, name: str, signal: str, value: str) -> Iterator[Problem]:
    path, where = (name, signal), dotted((name, signal))
    if signal not in SIGNALS:
        near = nearest(signal, SIGNALS)
        fix = f"write {near}" if near else "leave it out"
        yield Problem(EVICTION, ERROR, path, f"'{signal}' is no eviction signal: kubelet does not start", fix)
        return
    if signal.endswith(".inodesFree"):
        yield Problem(EVICTION, WARNING, path, f"{where} does nothing: Windows has no inodes", "leave it out")
    elif signal == "memory.available" and name == "evictionHard" and not _memory_works(settings):
        message = f"{where} does nothing on Windows before Kubernetes 1.31"
        yield Problem(EVICTION, WARNING, path, message, "reserve memory with systemReserved instead")
    if problem := _threshold_problem(name, value):
        yield Problem(EVICTION, ERROR, path, f"{where} is '{value}': {problem}", "correct the value")


def _memory_works(settings: Settings) -> bool:
    """Return whether this minor evicts by memory on Windows. Source: pkg/kubelet/eviction/helpers_windows.go."""
    return settings.facts.number >= (1, 31)


def _threshold_problem(name: str, value: str) -> str | None:
    if name == "evictionSoftGracePeriod":
        seconds = duration(value)
        return "expected a duration such as 1m30s" if seconds is None or seconds < 0 else None
    reclaim = name == "evictionMinimumReclaim"
    if value.endswith("%"):
        if not re.fullmatch(r"[0-9]+(?:\.[0-9]*)?%", value, re.ASCII):
            return "expected a percentage such as 10%"
        return "expected 100% at most" if float(value[:-1]) > 100 else None  # noqa: PLR2004 - the whole
    try:
        amount = quantities.parse(value)
    except quantities.QuantityError as error:
        return str(error)
    return "expected more than zero" if amount < 0 or (amount == 0 and not reclaim) else None


def reserved(settings: Settings) -> Iterator[Problem]:
    """Reserved resources.

    Sources: cmd/kubelet/app/server.go `parseResourceList`; kubernetes/website, "Windows resource management".
    """
    resources = ("cpu", "memory", "ephemeral-storage", "pid")
    for name in ("systemReserved", "kubeReserved"):
        for resource, value in (settings.fields.get(name) or {}).items():
            path = (name, resource)
            if resource not in resources:
                near = nearest(resource, resources)
                fix = f"write {near}" if near else "leave it out"
                message = f"{name} cannot reserve '{resource}': kubelet does not start"
                yield Problem(RESERVED, ERROR, path, message, fix, f"it takes {', '.join(resources)}")
            elif problem := quantities.problem(value):
                yield Problem(RESERVED, ERROR, path, f"{dotted(path)}: {problem}", "correct the quantity")
    yield from _too_little(settings)


def _too_little(settings: Settings) -> Iterator[Problem]:
    amounts = [(settings.get(name, {}) or {}).get("memory") for name in ("systemReserved", "kubeReserved")]
    known = [amount for amount in amounts if amount is not None]
    if any(quantities.problem(amount) for amount in known):
        return  # that is a finding already, and what was meant is not known
    if (known or settings.whole) and sum(map(quantities.parse, known)) < quantities.parse("2Gi"):
        message = "less than 2Gi of memory is reserved for Windows and kubelet"
        yield Problem(
            RESERVED, WARNING, ("systemReserved", "memory"), message, "reserve 2Gi or more with systemReserved.memory"
        )


RULES: tuple[Rule, ...] = (
    eviction,
    reserved,
)
