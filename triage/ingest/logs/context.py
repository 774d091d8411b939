"""What is known around a log: the window, the service, and whose a pod is."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import NamedTuple

from triage.classes import dataclass
from triage.ingest.logs.changes import workload_of
from triage.ingest.logs.emitters import Subjects
from triage.ingest.logs.loading import Signatures
from triage.model.recording import Subject, Window
from triage.model.service import NAMELESS
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_EXPORTER = Pattern(r"(?i)(?:^|-)(?:\w*exporter|kube-state-metrics)(?:-|$)")
"""Pods that only watch: they are nobody's service, whatever their name begins with."""


MODEL_SERVER = Pattern(
    rb"(?i)(?:nvidia|amd)\.com/gpu|\b(?:vllm|sglang|tensorrt|trtllm|triton|tgi|text-generation|llama|ollama|lmdeploy|dynamo)\b"
)
"""What tells of a pod or container that it serves a model."""

_KEDA = "keda-hpa-"
"""What KEDA puts before a workload's name to call the autoscaler that it makes for it."""


class Owned(NamedTuple):
    """Whom something is about.

    :param service: the service it belongs to: ours, or the workload of a stranger; empty for what carries many (nodes)
    :param stranger: it is neither ours nor carries us
    """

    subject: Subject
    service: str
    stranger: bool = False


@dataclass(frozen=True)
class Context:
    """What is known around a log.

    :param stems: names of all log files, without what is behind the first dot
    :param signatures: what lines mean
    :param single: workloads of which the logs speak of one pod only, with that pod
    :param adopted: the workload that is ours though it is called otherwise; empty if there is none
    """

    window: Window
    service: str
    subjects: Subjects
    utc_offset: float
    stems: frozenset[str]
    signatures: Signatures
    adopted: str = ""
    single: Mapping[str, str] = field(default_factory=dict)

    def of_pod(self, name: str) -> Owned:
        """A replica of ours, or the workload of somebody else's pod."""
        known = self.subjects(name)
        if known is not None:
            return Owned(known, self.service)
        if self.is_ours(name):
            return Owned(Subject(Scope.REPLICA, name), self.service)
        workload = workload_of(name)
        return Owned(Subject(Scope.SERVICE, workload), workload, stranger=True)

    def of_container(self, name: str, serves: str) -> Owned:
        """A container of one host, by its name; one that serves a model is ours, whatever it is called.

        :param serves: its image and command
        """
        owned = self.of_pod(name)
        if owned.stranger and MODEL_SERVER.search(serves.encode()) is not None:
            return Owned(Subject(Scope.REPLICA, name), self.service)
        return owned

    def of_log(self, name: str) -> Subject | None:
        """Who is known by the name of a log: itself, or the one pod of the workload that it is named after."""
        pod = self.single.get(name, "")
        return self.of_pod(pod).subject if pod and not self.of_pod(pod).stranger else self.subjects(name)

    def naming(self, pods: Collection[str]) -> "Context":
        """The same, with the pods known that the logs speak of: a log is often named after their workload."""
        workloads = Counter(workload_of(pod) for pod in pods)
        single = {workload: pod for pod in sorted(pods) if workloads[workload := workload_of(pod)] == 1 and workload != pod}
        return replace(self, single=single)

    def of_workload(self, name: str) -> Owned:
        """Ours or another deployment, stateful set, job, claim … by its name."""
        workload = self.service if self.is_workload(name) else name
        return Owned(Subject(Scope.SERVICE, workload), workload, stranger=workload != self.service)

    def of_node(self, name: str) -> Owned:
        """A node; it carries whoever runs there, so it is no stranger."""
        return Owned(self.subjects(name) or Subject(Scope.NODE, name), "")

    def is_ours(self, pod: str) -> bool:
        """By name: the service's, or of a log that was given for it."""
        if f"engine-{pod}" in self.stems or pod in self.stems or (self.adopted and workload_of(pod) == self.adopted):
            return True
        named = pod == self.service or pod.startswith(f"{self.service}-")
        return named and (_EXPORTER.search(pod) is None or _EXPORTER.search(self.service) is not None)

    def adopting(self, seen: Mapping[str, bool]) -> "Context":
        """The same, with the one workload that is seen taken for ours, whatever it is called.

        Only if no pod goes by the service's name, and the one workload there is serves a model: a lone pod of somebody's
        batch job must not become the service. Where nobody named a service, what was handed over is what is asked about:
        of several workloads the only one that serves a model.

        :param seen: pods, and whether something shows that they serve a model
        """
        if any(self.subjects(pod) is not None or self.is_ours(pod) for pod in seen):
            return self
        workloads = {workload_of(pod) for pod in seen if _EXPORTER.search(pod) is None}
        if self.service == NAMELESS and len(workloads) > 1:
            workloads = {workload_of(pod) for pod, serves in seen.items() if serves}
        if len(workloads) != 1 or not (self.service == NAMELESS or any(seen.values())):
            return self
        return replace(self, adopted=workloads.pop())

    def is_workload(self, name: str) -> bool:
        """Whether a deployment, stateful set … goes by the service's name, or is the one that was adopted."""
        ours = (self.service, self.adopted or self.service)
        name = name.removeprefix(_KEDA)
        return name in ours or name.startswith(f"{self.service}-") or workload_of(name) in ours
