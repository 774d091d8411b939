"""Changes to the service and its surroundings: a file of changes, and what the cluster reports as events."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from triage.classes import dataclass
from triage.ingest.logs.durations import age_of
from triage.ingest.logs.redaction import redacted, redacted_bytes
from triage.ingest.logs.timestamps import Clock
from triage.model.recording import Event, Source, SourceState, Subject, Window
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

LOOK_BACK = 86400.0
"""Changes of the day before the window are kept: some work only hours later (a certificate, a leak, an expiring cache)."""

_NO_STAGES = frozenset({"rollback", "restart", "scale", "drain"})
"""Changes that name a version without bringing it to more replicas than before."""

_WORDS = {
    "release": "deploy",
    "promote": "deploy",
    "promotion": "deploy",
    "publish": "deploy",
    "deployment": "deploy",
    "configuration": "config",
    "settings": "config",
    "flag": "config",
    "feature-flag": "config",
    "feature_flag": "config",
    "toggle": "config",
    "data": "config",
    "secret": "config",
    "policy": "config",
    "revert": "rollback",
    "undo": "rollback",
    "reboot": "restart",
    "resize": "scale",
    "scaling": "scale",
}
"""Other words for the kinds of changes."""

_TRIAL = Pattern(r"-(?:canary|preview|staging|beta|next|green)$")
"""Ends of the names under which a version is tried out."""

_PROMOTED = Pattern(r"(?i)\bpromot(?:ed|ion|ing)\b|\bcanary (?:passed|was green|succeeded|is green|healthy)")

MAX_LINE = 64 * 1024
_MAX_CHANGES = 10_000
_MAX_PROBLEMS = 5


class _BadChangeError(ValueError):
    """A line that is no change; its text says why."""


def read_changes(path: Path, window: Window) -> tuple[tuple[Event, ...], Source]:
    """The changes in a file with one JSON object a line (time, kind, service, version, previous, note, replicas …).

    A line that cannot be used is named in the source, which is then partial; it does not stop the rest.

    :returns: events of the change's kind, named by its version, from a day before the window on, and what became of the file
    """
    try:
        with path.open("rb") as stream:
            events, problems = _read(stream, window)
    except FileNotFoundError:
        return (), Source("changes", SourceState.ABSENT, f"{path.name} does not exist")
    except OSError as error:
        return (), Source("changes", SourceState.FAILED, f"{path.name} cannot be read: {error.strerror or error}")
    if not problems:
        return events, Source("changes", SourceState.OK)
    more = f" and {len(problems) - _MAX_PROBLEMS} more" if len(problems) > _MAX_PROBLEMS else ""
    return events, Source("changes", SourceState.PARTIAL, f"{path.name}: {'; '.join(problems[:_MAX_PROBLEMS])}{more}")


def _read(stream: Any, window: Window) -> tuple[tuple[Event, ...], list[str]]:
    events: list[Event] = []
    problems: list[str] = []
    for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE), b""), 1):
        if not line.strip():
            continue
        try:
            event = _change(line)
        except _BadChangeError as error:
            problems.append(f"line {number} {error}")
            continue
        if window.start - LOOK_BACK <= event.time <= window.end:
            events.append(event)
        if len(events) >= _MAX_CHANGES:
            problems.append(f"only the first {_MAX_CHANGES} changes were read")
            break
    return _staged(sorted(events, key=lambda one: (one.time, one.kind, one.name, one.text))), problems


def _staged(events: list[Event]) -> tuple[Event, ...]:
    """Changes in order; those that bring a version further which came before get the attribute ``stage``: 2 for the second.

    A note that speaks of a promotion tells the same where the first step is not recorded.
    """
    steps: dict[tuple[str, str], int] = {}
    out: list[Event] = []
    for event in events:
        if not event.name or event.kind in _NO_STAGES:
            out.append(event)
            continue
        key = (_TRIAL.sub("", event.attrs.get("service", "")), event.name)
        steps[key] = steps.get(key, 0) + 1 + (key not in steps and _PROMOTED.search(event.text) is not None)
        out.append(event if steps[key] == 1 else replace(event, attrs={**event.attrs, "stage": str(steps[key])}))
    return tuple(out)


def _change(line: bytes) -> Event:
    """The event of a line.

    :raises _BadChangeError: it is no change
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadChangeError("is not JSON") from None
    if not isinstance(record, dict):
        raise _BadChangeError("is not an object")
    values = {redacted(str(key), 60): _scalar(value) for key, value in list(record.items())[:50]}
    attrs = {key: value for key, value in values.items() if value is not None and key not in {"time", "kind", "note"}}
    service = attrs.get("service", "")
    told = redacted(values.get("kind") or "change", 40).lower()
    kind = _WORDS.get(told, told)
    return Event(
        time=_instant(record.get("time")),
        kind=kind,
        name=attrs.get("version", ""),
        subject=Subject(Scope.SERVICE, service) if service else None,
        attrs=attrs,
        text=values.get("note") or _sentence(kind, attrs),
        source="changes",
    )


def _scalar(value: object) -> str | None:
    """A plain value as text; None for what is nested or missing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return redacted(str(value))
    return None


def _instant(value: object) -> float:
    """Unix seconds of a number (seconds or milliseconds) or of RFC 3339 text, UTC if it names no zone."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) / 1000.0 if value > 1e11 else float(value)
    try:
        moment = datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _BadChangeError("has no time that can be read") from None


def _sentence(kind: str, attrs: Mapping[str, str]) -> str:
    """What a change without a note says."""
    words = [kind, attrs.get("service", ""), attrs.get("version", "")]
    if "replicas" in attrs:
        words.append(f"to {attrs['replicas']} replicas")
    if "previous" in attrs:
        words.append(f"(before: {attrs['previous']})")
    return " ".join(word for word in words if word)


# ---------------------------------------------------------------- events of the cluster


@dataclass(frozen=True, slots=True)
class KubeEvent:
    """One event as the cluster reports it.

    :param time: Unix seconds; None if the line does not say
    :param type: ``Normal`` or ``Warning``
    :param object_kind: ``pod``, ``node``, ``deployment`` … in lower case
    """

    time: float | None
    type: str
    reason: str
    object_kind: str
    object_name: str
    message: str
    namespace: str = ""
    count: int = 1


_LINE = Pattern(rb"^(.{0,120}?)\b(Normal|Warning) +([A-Za-z]\w*) +(?:([\w.-]+)/)?([A-Za-z][\w.]*)/(\S+) +(.*)$")
_SUFFIX = Pattern(r"^(.+?)(?:-[0-9a-f]{5,10})?-(?:[a-z0-9]{5}|\d{1,4})$")


def kube_event_of_line(line: bytes, clock: Clock, end: float) -> KubeEvent | None:
    """The event in ``TIME TYPE REASON [NAMESPACE/]KIND/NAME MESSAGE`` or a row of ``kubectl get events``; None if there is none.

    :param end: Unix time that the ages of ``kubectl get events`` count back from
    """
    if line[:1] == b"{":
        record = _object(line)
        return kube_event_of_record(record) if record else None
    found = _LINE.search(line)
    if found is None:
        return None
    before, kind_of_event, reason, namespace, kind, name, message = found.groups()
    time = clock.read(line)
    if time is None:
        age = next((age for age in map(age_of, before.split()) if age is not None), None)
        time = None if age is None else end - age
        namespace = namespace or next((word for word in before.split()[:1] if age_of(word) is None), None)
    return KubeEvent(
        time,
        _word(kind_of_event),
        _word(reason),
        _word(kind).lower(),
        _word(name),
        redacted_bytes(message),
        _word(namespace or b""),
    )


def _word(value: bytes) -> str:
    return redacted_bytes(value, 253)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def kube_event_of_record(record: Mapping[str, Any]) -> KubeEvent | None:
    """The event in an object of the Kubernetes API (``v1`` or ``events.k8s.io/v1``), also inside ``event`` or ``object``."""
    for wrapper in ("event", "object", "kubernetes_event"):
        if isinstance(record.get(wrapper), dict):
            record = record[wrapper]
    about = record.get("involvedObject") or record.get("regarding")
    if not isinstance(about, dict) or not record.get("reason"):
        return None
    series = record.get("series") if isinstance(record.get("series"), dict) else {}
    when = (
        record.get("lastTimestamp"),
        record.get("eventTime"),
        record.get("deprecatedLastTimestamp"),
        record.get("firstTimestamp"),
    )
    count = record.get("count") or (series or {}).get("count") or 1
    return KubeEvent(
        time=next((_time_or_none(one) for one in when if one), None),
        type=redacted(str(record.get("type", "Normal")), 20),
        reason=redacted(str(record["reason"]), 100),
        object_kind=redacted(str(about.get("kind", "")), 60).lower(),
        object_name=redacted(str(about.get("name", "")), 253),
        message=redacted(str(record.get("message") or record.get("note") or "")),
        namespace=redacted(str(about.get("namespace", "")), 253),
        count=count if isinstance(count, int) else 1,
    )


def _time_or_none(value: object) -> float | None:
    try:
        return _instant(value)
    except _BadChangeError:
        return None


def kube_events_of(value: object) -> Iterator[KubeEvent]:
    """The events of one document, as ``kubectl get events -o json`` writes it; nothing if it is no such document."""
    items = value.get("items") if isinstance(value, dict) else None
    for item in items if isinstance(items, list) else [value]:
        found = kube_event_of_record(item) if isinstance(item, dict) else None
        if found is not None:
            yield found


def workload_of(pod: str) -> str:
    """The deployment or stateful set that a pod's name comes from."""
    found = _SUFFIX.search(pod)
    return found.group(1) if found is not None else pod
