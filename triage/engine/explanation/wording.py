"""Findings in words: the sentence of a finding, the lines to check it by hand."""

import string
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from triage.engine.rules.evaluate import Answer
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Recording, Subject
from triage.model.rule import Rule
from triage.model.units import quantity
from triage.model.vocabulary import Scope, catalogue

_LONGEST_LINE = 160
"""Chosen: two lines of a terminal."""

_TOLD = ("event:", "observed:")
"""Evidence that is told in words, not by its number."""


def clock(time: float | None) -> str:
    """A moment in words, UTC."""
    return "before the recording" if time is None else datetime.fromtimestamp(time, UTC).strftime("%H:%M:%S")


def sentence(rule: Rule, answer: Answer, onset: float | None, count: int) -> str:
    """The rule's sentence with subject, numbers and time filled in.

    Where alternatives of different units share a name, the sentence cannot know which one speaks: a value without a unit says it.
    """
    values: dict[str, str] = {"subject": _subject(answer.subject, count), "onset": clock(onset)}
    units: dict[str, set[str]] = {}
    named = [(name, look.evidence) for name, look in answer.named if f"{{{name}" in rule.finding]
    for name, evidence in named:
        units.setdefault(name, set()).add(_sort(evidence))
    for name, evidence in named:
        value = _value(evidence)
        mixed = len(units[name]) > 1 and not evidence.signal.startswith(_TOLD)
        values.setdefault(name, f"{noun(evidence)}: {value}" if mixed and not evidence.unit and evidence.held is None else value)
    return string.Formatter().vformat(rule.finding, (), _Filled(values))


class _Filled(dict[str, str]):
    """Values for a sentence; one that nobody measured reads as such instead of failing."""

    def __missing__(self, key: str) -> str:
        return "an unknown value"


def _sort(evidence: Evidence) -> str:
    """What sort of value it is: its unit, or that it is an event."""
    return "event" if evidence.signal.startswith(_TOLD) else evidence.unit


def _value(evidence: Evidence) -> str:
    """A value as a person reads it."""
    if evidence.value is None:
        return "an unknown value"
    if evidence.signal.startswith(_TOLD):
        return said(evidence.text) if evidence.text not in {"", "none seen"} else f"{evidence.value:g}"
    if evidence.held is not None:
        return f"for {quantity(evidence.held, 'seconds')}"
    if evidence.low is not None and evidence.high is None:
        return f"at least {quantity(evidence.low, evidence.unit)}"
    return quantity(evidence.value, evidence.unit)


def noun(evidence: Evidence) -> str:
    """What a bare number counts."""
    signal = catalogue().get(evidence.signal)
    return evidence.signal if signal is None else signal.noun


def said(text: str) -> str:
    """A log line inside of a sentence: its beginning, without what only introduces further lines."""
    text = text.removesuffix("Traceback (most recent call last):").rstrip(" .:")
    if len(text) <= _LONGEST_LINE:
        return text
    return f"{text[: text.rfind(' ', 0, _LONGEST_LINE) if ' ' in text[_LONGEST_LINE // 2 : _LONGEST_LINE] else _LONGEST_LINE]} …"


def _subject(subject: Subject, count: int) -> str:
    """A subject as a person names it."""
    name = subject.id if subject.scope is Scope.SERVICE else f"{subject.scope} {subject.id}"
    return name if count < 2 else f"{name} and {count - 1} more"


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
