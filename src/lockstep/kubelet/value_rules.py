"""Values that kubelet starts only with where they are in range, fit together, or have their feature gate.

Source, where a rule names no other: kubernetes/kubernetes pkg/kubelet/apis/config/validation/validation.go and
validation_windows.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from lockstep.catalog.kubernetes import when
from lockstep.finding import DataPath
from lockstep.k8s import quantities
from lockstep.k8s.taints import taint_problem
from lockstep.kubelet.fields import dotted, duration, shown
from lockstep.kubelet.problem import Problem
from lockstep.kubelet.settings import ERROR, WARNING, Rule, Settings
from lockstep.words import misspelt

RANGE = "LW319"
NEEDS_OTHER = "LW320"
TAINT = "LW321"
GATE = "LW323"


def _at_least(name: str, least: int) -> Rule:
    def rule(settings: Settings) -> Iterator[Problem]:
        value = settings.fields.get(name)
        if value is not None and value < least:
            message = f"{name} is {value}: kubelet starts only with {least} or more"
            yield Problem(RANGE, ERROR, (name,), message, f"write {least} or more")

    return rule


def _between(name: str, least: int, most: int) -> Rule:
    def rule(settings: Settings) -> Iterator[Problem]:
        value = settings.fields.get(name)
        if value is not None and not least <= value <= most:
            message = f"{name} is {value}: kubelet starts only with {least} to {most}"
            yield Problem(RANGE, ERROR, (name,), message, f"write a number from {least} to {most}")

    return rule


def image_collection(settings: Settings) -> Iterator[Problem]:
    """Thresholds and ages of image garbage collection."""
    low, high = (settings.fields.get(name) for name in ("imageGCLowThresholdPercent", "imageGCHighThresholdPercent"))
    if not settings.whole and (low is None) != (high is None):
        yield from _one_threshold(low, high)
    low, high = settings.get("imageGCLowThresholdPercent", 80), settings.get("imageGCHighThresholdPercent", 85)
    if low is not None and high is not None and low >= high:
        message = f"image garbage collection starts at {high}% and ends at {low}%, not below: kubelet does not start"
        name = (
            "imageGCLowThresholdPercent"
            if "imageGCLowThresholdPercent" in settings.fields
            else "imageGCHighThresholdPercent"
        )
        yield Problem(RANGE, ERROR, (name,), message, "lower the low one, or raise the high one")
    oldest, youngest = (
        duration(settings.fields.get("imageMaximumGCAge")),
        duration(settings.get("imageMinimumGCAge", "2m")),
    )
    youngest = youngest or (None if youngest is None else Decimal(120))
    if oldest and youngest is not None and oldest <= youngest:
        message = "imageMaximumGCAge is not more than imageMinimumGCAge: kubelet does not start"
        yield Problem(RANGE, ERROR, ("imageMaximumGCAge",), message, "raise it, or lower imageMinimumGCAge")


def _one_threshold(low: int | None, high: int | None) -> Iterator[Problem]:
    """Yield a warning where the node's own file decides whether kubelet starts, and its default would not do."""
    if (80 if low is None else low) < (85 if high is None else high):
        return
    name, other, default = "imageGCLowThresholdPercent", "imageGCHighThresholdPercent", 85
    if low is None:
        name, other, default = other, name, 80
    message = f"{name} is {high if low is None else low}, and {other} is {default} where nothing sets it"
    hint = "kubelet starts only with the low one below the high one"
    yield Problem(RANGE, WARNING, (name,), message, f"set {other} too", hint)


def container_logs(settings: Settings) -> Iterator[Problem]:
    """Rotation of container logs. Source for the size: pkg/kubelet/logs/container_log_manager.go `parseMaxSize`."""
    interval = duration(settings.fields.get("containerLogMonitorInterval"))
    if interval is not None and interval < 3:  # noqa: PLR2004 - seconds, as the message says
        message = "containerLogMonitorInterval is less than 3s: kubelet does not start"
        yield Problem(RANGE, ERROR, ("containerLogMonitorInterval",), message, "write 3s or more")
    size = settings.fields.get("containerLogMaxSize")
    if size and (problem := quantities.problem(size)):
        yield Problem(
            RANGE, ERROR, ("containerLogMaxSize",), f"containerLogMaxSize: {problem}", "write a size such as 50Mi"
        )


def image_pulls(settings: Settings) -> Iterator[Problem]:
    """Parallel image pulls, which need `serializeImagePulls: false`."""
    parallel = settings.fields.get("maxParallelImagePulls")
    if parallel is not None and parallel > 1 and settings.fields.get("serializeImagePulls") is True:
        message = f"maxParallelImagePulls is {parallel} while serializeImagePulls is true: kubelet does not start"
        yield Problem(NEEDS_OTHER, ERROR, ("maxParallelImagePulls",), message, "write serializeImagePulls: false")


def system_logs(settings: Settings) -> Iterator[Problem]:
    """Log queries, which need their handler and, before 1.36, a feature gate."""
    if settings.fields.get("enableSystemLogQuery") is True and settings.fields.get("enableSystemLogHandler") is False:
        message = "enableSystemLogQuery needs enableSystemLogHandler: kubelet does not start"
        yield Problem(NEEDS_OTHER, ERROR, ("enableSystemLogQuery",), message, "write enableSystemLogHandler: true")


def gated_fields(settings: Settings) -> Iterator[Problem]:
    """Fields that kubelet only starts with where a feature gate is on."""
    wanted: list[tuple[str, DataPath]] = []
    if duration(settings.fields.get("imageMaximumGCAge")):
        wanted.append(("ImageMaximumGCAge", ("imageMaximumGCAge",)))
    if settings.fields.get("enableSystemLogQuery") is True:
        wanted.append(("NodeLogQuery", ("enableSystemLogQuery",)))
    if (settings.fields.get("crashLoopBackOff") or {}).get("maxContainerRestartPeriod") is not None:
        wanted.append(("KubeletCrashLoopBackOffMax", ("crashLoopBackOff", "maxContainerRestartPeriod")))
    verification = ("imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist")
    wanted += [("KubeletEnsureSecretPulledImages", (name,)) for name in verification if settings.fields.get(name)]
    for gate, path in wanted:
        if not settings.gate(gate):
            message = f"{dotted(path)} needs the feature gate {gate}: kubelet does not start"
            yield Problem(NEEDS_OTHER, ERROR, path, message, f"set featureGates.{gate}: true, or leave it out")


def taints(settings: Settings) -> Iterator[Problem]:
    """Registration taints. Source: cmd/kubelet/app/options and pkg/util/taints `CheckTaintValidation`."""
    for index, taint in enumerate(settings.fields.get("registerWithTaints") or ()):
        path = ("registerWithTaints", index)
        if taint.get("timeAdded") is not None:
            message = f"{dotted(path)} has timeAdded, with which kubelet does not start"
            yield Problem(TAINT, ERROR, (*path, "timeAdded"), message, "leave timeAdded out")
        if problem := taint_problem(taint.get("key") or "", taint.get("value") or "", taint.get("effect") or ""):
            yield Problem(TAINT, ERROR, path, f"{dotted(path)}: {problem}", "correct it: no node registers with that")


def feature_gates(settings: Settings) -> Iterator[Problem]:
    """Feature gates: an unknown one, and another value for one that is locked, stop kubelet."""
    locked = settings.facts.locked_gates
    for name, value in (settings.fields.get("featureGates") or {}).items():
        path = ("featureGates", name)
        if name in locked and value is not locked[name]:
            message = (
                f"feature gate {name} is always {shown(locked[name])} in {settings.facts.name}: kubelet does not start"
            )
            yield Problem(GATE, ERROR, path, message, "leave it out")
        elif settings.facts.known and name not in settings.facts.gates and name not in ("AllAlpha", "AllBeta"):
            message = f"feature gate {name} is unknown to kubelet {settings.facts.name}, which does not start with it"
            elsewhere = when("gates", name, settings.facts.number)
            near = None if elsewhere else misspelt(name, settings.facts.gates)
            fix = f"{elsewhere}: leave it out" if elsewhere else f"write {near}" if near else "leave it out"
            yield Problem(GATE, ERROR, path, message, fix)


RULES: tuple[Rule, ...] = (
    _between("imageGCHighThresholdPercent", 0, 100),
    _between("imageGCLowThresholdPercent", 0, 100),
    image_collection,
    _at_least("containerLogMaxFiles", 2),
    _at_least("containerLogMaxWorkers", 1),
    container_logs,
    _at_least("maxPods", 0),
    _at_least("podsPerCore", 0),
    _at_least("maxParallelImagePulls", 1),
    _at_least("nodeStatusMaxImages", -1),
    _at_least("kubeAPIQPS", 0),
    _at_least("kubeAPIBurst", 0),
    _at_least("eventRecordQPS", 0),
    _at_least("eventBurst", 0),
    _at_least("registryPullQPS", 0),
    _at_least("registryBurst", 0),
    _between("port", 0, 65535),
    _between("readOnlyPort", 0, 65535),
    _between("healthzPort", 0, 65535),
    image_pulls,
    system_logs,
    gated_fields,
    taints,
    feature_gates,
)
