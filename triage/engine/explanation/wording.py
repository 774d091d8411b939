"""What a finding rests on in words, and the lines to check it by hand."""

import string
from collections.abc import Mapping, Sequence

from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Recording, Subject
from triage.model.vocabulary import Scope, catalogue


def noun(evidence: Evidence) -> str:
    """What was seen in a few words: what an event says, what a value measures."""
    signal = catalogue().get(evidence.signal)
    return evidence.phrase or evidence.signal if signal is None else signal.noun


_NVIDIA_SMI: Mapping[str, str] = {
    "gpu.throttle": "nvidia-smi -q -d PERFORMANCE -i {gpu}",
    "gpu.thermal": "nvidia-smi -q -d PERFORMANCE,TEMPERATURE -i {gpu}",
    "gpu.power": "nvidia-smi -q -d POWER,PERFORMANCE -i {gpu}",
    "gpu.temp": "nvidia-smi -q -d TEMPERATURE -i {gpu}",
    "gpu.sm_clock": "nvidia-smi -q -d CLOCK,PERFORMANCE -i {gpu}",
    "gpu.ecc": "nvidia-smi -q -d ECC,ROW_REMAPPER -i {gpu}",
    "gpu.remap": "nvidia-smi -q -d ROW_REMAPPER -i {gpu}",
    "gpu.nvlink": "nvidia-smi nvlink --status -i {gpu}",
    "gpu.pcie": "nvidia-smi -q -i {gpu} | grep -A 12 'GPU Link Info'",
    "gpu.mem": "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv -i {gpu}",
    "gpu.": "nvidia-smi -q -i {gpu}",
    "event:xid": "dmesg -T | grep -i xid",
}
_KUBECTL: Mapping[str, str] = {
    "pod.": "kubectl describe pod {pod}",
    "container.": "kubectl describe pod {pod}",
    "replicas.": "kubectl get deployment,replicaset -l app={service}",
    "rollout.": "kubectl rollout status deployment/{service}",
    "autoscaler.": "kubectl describe hpa {service}",
    "node.": "kubectl describe node {node}",
    "event:deploy": "kubectl rollout history deployment/{service}",
    "event:rollback": "kubectl rollout history deployment/{service}",
    "event:kube": "kubectl get events --sort-by=.lastTimestamp",
    "event:log": "kubectl logs {pod} --previous --tail=200",
}


def check_lines(evidence: Sequence[Evidence], subject: Subject, recording: Recording) -> tuple[str, ...]:
    """Commands that look at the deciding evidence by hand; they only read."""
    lines: list[str] = []
    for one in evidence:
        if one.verdict is not Verdict.PRESENT:
            continue
        if one.query:
            lines.append(one.query)
        places = _places(one, subject, recording)
        for table in (_NVIDIA_SMI, _KUBECTL):
            command = next((text for start, text in table.items() if one.signal.startswith(start)), "")
            if command and all(places[name] for name in _fields(command)):
                lines.append(command.format_map({name: _quoted(value) for name, value in places.items()}))
    return tuple(dict.fromkeys(lines))


def _fields(command: str) -> list[str]:
    """Placeholders of a command."""
    return [name for _, name, _, _ in string.Formatter().parse(command) if name]


def _quoted(value: str) -> str:
    """A name as one word of a shell, harmless whatever it holds."""
    safe = set(string.ascii_letters + string.digits + "-._/:@")
    return value if value and set(value) <= safe else "'" + value.replace("'", "'\\''") + "'"


def _places(evidence: Evidence, subject: Subject, recording: Recording) -> dict[str, str]:
    """Names that a command can be filled with: of the evidence's own subject, or of what the finding's subject is linked to."""
    places = {"gpu": "", "pod": "", "node": "", "service": recording.service}
    names = {Scope.GPU: "gpu", Scope.REPLICA: "pod", Scope.NODE: "node"}
    scope, _, name = evidence.subject.partition("/")
    own = Subject(Scope(scope), name) if scope in set(Scope) else subject
    for one in (subject, *recording.links.get(subject, ()), own, *recording.links.get(own, ())):
        if one.scope in names:
            places[names[one.scope]] = one.id
    return places
