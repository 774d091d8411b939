"""What is known around a log: the window, the service, and whose a pod is."""

from dataclasses import dataclass
from typing import NamedTuple

import re2

from triage.ingest.changes import workload_of
from triage.ingest.emitters import Subjects
from triage.model.recording import Subject, Window
from triage.model.vocabulary import Scope

_EXPORTER = re2.compile(r"(?i)(?:^|-)(?:\w*exporter|kube-state-metrics)(?:-|$)")
"""Pods that only watch: they are nobody's service, whatever their name begins with."""


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
    """

    window: Window
    service: str
    subjects: Subjects
    utc_offset: float
    stems: frozenset[str]

    def of_pod(self, name: str) -> Owned:
        """A replica of ours, or the workload of somebody else's pod."""
        known = self.subjects(name)
        if known is not None:
            return Owned(known, self.service)
        if self._is_ours(name):
            return Owned(Subject(Scope.REPLICA, name), self.service)
        workload = workload_of(name)
        return Owned(Subject(Scope.SERVICE, workload), workload, stranger=True)

    def of_workload(self, name: str) -> Owned:
        """Ours or another deployment, stateful set, job, claim … by its name."""
        workload = self.service if self._is_workload(name) else name
        return Owned(Subject(Scope.SERVICE, workload), workload, stranger=workload != self.service)

    def of_node(self, name: str) -> Owned:
        """A node; it carries whoever runs there, so it is no stranger."""
        return Owned(self.subjects(name) or Subject(Scope.NODE, name), "")

    def _is_ours(self, pod: str) -> bool:
        """By name: the service's, or of a log that was given for it."""
        if f"engine-{pod}" in self.stems or pod in self.stems:
            return True
        named = pod == self.service or pod.startswith(f"{self.service}-")
        return named and (_EXPORTER.search(pod) is None or _EXPORTER.search(self.service) is not None)

    def _is_workload(self, name: str) -> bool:
        return name == self.service or name.startswith(f"{self.service}-") or workload_of(name) == self.service
