"""Tables of ``kubectl``: nodes, workloads, autoscalers, and what pods and nodes use."""

from triage.ingest.logs.changes import KubeEvent
from triage.ingest.logs.durations import age_of
from triage.ingest.logs.shown.form import Shown
from triage.ingest.logs.shown.quantities import cores, quantity, size
from triage.ingest.logs.shown.tables import Row, Table
from triage.model.recording import Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern


def _node(shown: Shown, row: Row) -> None:
    """A row of ``get nodes``: ``Ready,SchedulingDisabled``."""
    name, states = row.get("NAME", ""), row.get("STATUS", "").split(",")
    if not name or not states[0]:
        return
    ready = "Ready" in states
    shown.sample("node.ready", Subject(Scope.NODE, name), float(ready))
    if not ready:
        shown.kube(KubeEvent(shown.time, "Warning", "NodeNotReady", "node", name, "Node status is now: NodeNotReady"))
    if "SchedulingDisabled" in states:
        shown.sample("node.unschedulable", Subject(Scope.NODE, name), 1.0)
        told = "Node status is now: NodeNotSchedulable"
        shown.kube(KubeEvent(shown.time, "Normal", "NodeNotSchedulable", "node", name, told))


def _number(text: str) -> float | None:
    return float(text) if text.isdigit() and len(text) < 10 else None


def _workload(shown: Shown, row: Row) -> None:
    """A row of ``get deployments``, ``statefulsets`` …: ``READY 1/3``."""
    if not shown.is_ours(row.get("NAME", "")):
        return
    ready, _, wanted = row.get("READY", "").partition("/")
    for signal, text in (
        ("replicas.ready", ready), ("replicas.desired", wanted), ("replicas.updated", row.get("UP-TO-DATE", "")),
        ("replicas.available", row.get("AVAILABLE", "")),
    ):  # fmt: skip
        shown.sample(signal, shown.service, _number(text))


_YOUNG = 300.0
"""Seconds within which an autoscaler may not have read its metric yet: rounds of its loop (15 s), a pod's first scrapes."""

_TARGET = Pattern(r"(?:^|[ ,])(?:[\w./-]+: )?(<unknown>|[\d.]+[a-zA-Z%]*)/([\d.]+[a-zA-Z%]*)")


def _autoscaler(shown: Shown, row: Row) -> None:
    """A row of ``get hpa``: ``TARGETS 402/10  MINPODS 1  MAXPODS 8  REPLICAS 8``."""
    name = row.get("NAME", "")
    if not shown.is_ours(name) and not shown.is_ours(row.get("REFERENCE", "").rpartition("/")[2]):
        return
    bounds = (("autoscaler.min", "MINPODS"), ("autoscaler.max", "MAXPODS"), ("replicas.desired", "REPLICAS"))
    for signal, column in bounds:
        shown.sample(signal, shown.service, _number(row.get(column, "")))
    for now, aim in _TARGET.findall(row.get("TARGETS", "")):
        if now == "<unknown>" and (age_of(row.get("AGE", "").encode()) or _YOUNG) < _YOUNG:
            continue
        if now == "<unknown>":
            told = "failed to compute the wanted replicas: the current value of the metric is <unknown>"
            shown.kube(KubeEvent(shown.time, "Warning", "FailedComputeMetricsReplicas", "horizontalpodautoscaler", name, told))
        else:
            shown.sample("autoscaler.value", shown.service, _target(now))
            shown.sample("autoscaler.target", shown.service, _target(aim))


def _target(text: str) -> float | None:
    return quantity(text) if text.endswith("%") else cores(text)


def _scaled_object(shown: Shown, row: Row) -> None:
    """A row of ``get scaledobjects``: ``READY False  ACTIVE Unknown  FALLBACK True  PAUSED False``."""
    name = row.get("NAME", "")
    if not shown.is_ours(name) and not shown.is_ours(row.get("SCALETARGETNAME", "")):
        return
    flags = {"True": 1.0, "False": 0.0}
    for signal, column in (("autoscaler.min", "MIN"), ("autoscaler.max", "MAX")):
        shown.sample(signal, shown.service, _number(row.get(column, "")))
    for signal, column in (("autoscaler.triggered", "ACTIVE"), ("autoscaler.paused", "PAUSED"), ("autoscaler.active", "READY")):
        shown.sample(signal, shown.service, flags.get(row.get(column, "")))
    if row.get("READY") == "False":
        told = "the ScaledObject is not ready: failed to get the metrics of its triggers"
        shown.kube(KubeEvent(shown.time, "Warning", "KEDAScalerFailed", "scaledobject", name, told))
    if row.get("FALLBACK") == "True":
        told = "the autoscaler uses its fallback replicas, since its trigger cannot be read"
        shown.kube(KubeEvent(shown.time, "Warning", "KEDAScalerFailed", "scaledobject", name, told))


def _top_node(shown: Shown, row: Row) -> None:
    """A row of ``top node``."""
    node = Subject(Scope.NODE, row.get("NAME", ""))
    shown.sample("node.cpu_busy", node, quantity(row.get("CPU%") or row.get("CPU(%)", "")))
    used, share = size(row.get("MEMORY(bytes)", "")), quantity(row.get("MEMORY%") or row.get("MEMORY(%)", ""))
    if used is not None and share:
        shown.sample("node.memory_total", node, used / share)
        shown.sample("node.memory_available", node, max(used / share - used, 0.0))


def _top_pod(shown: Shown, row: Row) -> None:
    """A row of ``top pod``, of whole pods or of containers."""
    pod = shown.pod(row.get("POD") or row.get("NAME", ""))
    if pod is not None:
        shown.sample("container.cpu", pod, cores(row.get("CPU(cores)", "")))
        shown.sample("container.memory", pod, size(row.get("MEMORY(bytes)", "")))


TABLES: tuple[Table, ...] = (
    Table(frozenset({"NAME", "CPU(cores)", "CPU%", "MEMORY%"}), _top_node, ("CPU(cores)", r"^\d+m?$")),
    Table(frozenset({"NAME", "CPU(cores)", "CPU(%)", "MEMORY(%)"}), _top_node, ("CPU(cores)", r"^\d+m?$")),
    Table(frozenset({"NAME", "CPU(cores)", "MEMORY(bytes)"}), _top_pod, ("CPU(cores)", r"^\d+m?$")),
    Table(frozenset({"NAME", "SCALETARGETNAME", "READY", "ACTIVE"}), _scaled_object, ("READY", "^(?:True|False|Unknown)$")),
    Table(frozenset({"NAME", "REFERENCE", "TARGETS", "REPLICAS"}), _autoscaler, ("REPLICAS", r"^\d+$")),
    Table(frozenset({"NAME", "STATUS", "ROLES", "VERSION"}), _node, ("STATUS", "^(?:Not)?Ready|^Unknown")),
    Table(frozenset({"NAME", "READY", "UP-TO-DATE", "AVAILABLE"}), _workload, ("READY", r"^\d+/\d+$")),
)
"""Tables of the cluster; of two that fit the first one counts."""
