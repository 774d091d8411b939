"""What an alert is about: a service and a moment, out of what Alertmanager or Prometheus say of it.

Three forms are read: Alertmanager's webhook (version 4), the list of its API, and the list of Prometheus's. Who may post to a
webhook may write anything in it, so it is read within bounds, and nothing of it is used but labels and times.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from triage.classes import dataclass
from triage.errors import DataError, quoted
from triage.ingest.owners.places import POD_LABELS
from triage.ingest.owners.subjects import SERVICE_LABELS
from triage.model.service import Service

MAX_BYTES = 8 << 20
"""Largest document that is read; Alertmanager groups thousands of alerts in less."""

MAX_ALERTS = 2000
_MOST_LABELS = 100
_LONGEST = 2000
_EARLIEST = 1e9
"""A moment before this (2001) stands for none: Alertmanager writes the year 1."""

_FORMS = "Alertmanager's webhook (version 4), the answer of its /api/v2/alerts, or that of Prometheus's /api/v1/alerts"


@dataclass(frozen=True)
class Alert:
    """One alert.

    :param since: when it began to fire, Unix seconds
    :param firing: it has not ended
    """

    labels: Mapping[str, str]
    since: float
    firing: bool = True

    @property
    def name(self) -> str:
        """What it is called."""
        return self.labels.get("alertname", "an alert without a name")


@dataclass(frozen=True)
class Concern:
    """A service with the alerts that are about it.

    :param at: when the last of them began to fire, Unix seconds
    """

    service: str
    alerts: tuple[Alert, ...]

    @property
    def at(self) -> float:
        """The moment to look at: the last of them fires, and those before it are seen, too."""
        return max(alert.since for alert in self.alerts)


def read_alerts(data: bytes, where: str) -> tuple[Alert, ...]:
    """The alerts in a document; of those that still fire, if any does.

    :param where: the document's name, for messages
    :raises DataError: it is too long, no JSON, or of no form that is known, or holds no alert with a time
    """
    if len(data) > MAX_BYTES:
        raise DataError(f"{where} is longer than {MAX_BYTES >> 20} MiB", "give the alerts of one group, not of all")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is no JSON: {quoted(str(error), 100)}", f"give {_FORMS}") from None
    entries = _entries(document)
    if entries is None:
        raise DataError(f"{where} holds no list of alerts", f"give {_FORMS}")
    if len(entries) > MAX_ALERTS:
        raise DataError(f"{where} holds {len(entries)} alerts, {MAX_ALERTS} are read at most", "give the alerts of one group")
    alerts = [alert for entry in entries if (alert := _alert(entry)) is not None]
    if not alerts:
        raise DataError(f"{where} holds no alert with labels and a time", f"give {_FORMS}")
    return tuple([alert for alert in alerts if alert.firing] or alerts)


def _entries(document: object) -> list[object] | None:
    """The list of alerts in a document, whatever stands around it."""
    if isinstance(document, dict) and isinstance(document.get("data"), dict):
        document = document["data"]
    found = document.get("alerts") if isinstance(document, dict) else document
    return found if isinstance(found, list) else None


def _alert(entry: object) -> Alert | None:
    """One alert; None if it has no labels or no time."""
    if not isinstance(entry, dict) or not isinstance(entry.get("labels"), dict):
        return None
    since = _moment(entry.get("startsAt") or entry.get("activeAt"))
    labels = dict(_texts(entry["labels"]))
    if since is None or not labels:
        return None
    status = entry.get("status")
    return Alert(labels, since, status != "resolved" and entry.get("state") != "inactive")


def _texts(labels: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """Labels that are what they should be, within bounds."""
    told = [(name, value) for name, value in labels.items() if isinstance(name, str) and isinstance(value, str)]
    yield from ((name, value) for name, value in told[:_MOST_LABELS] if len(name) <= _LONGEST and len(value) <= _LONGEST)


def _moment(text: object) -> float | None:
    """Unix seconds of an RFC 3339 time; None if it is none, or stands for none."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    try:
        when = datetime.fromisoformat(text)
        moment = when.timestamp() if when.tzinfo is not None else 0.0
    except (ValueError, OverflowError):
        return None
    return moment if moment >= _EARLIEST else None


# Whose it is


def concerns(alerts: Sequence[Alert], services: Mapping[str, Service]) -> tuple[tuple[Concern, ...], tuple[Alert, ...]]:
    """The services that alerts are about, sorted, each with its alerts; and the alerts that are about none that is known."""
    about: dict[str, list[Alert]] = {}
    strangers = []
    for alert in alerts:
        named = services_of(alert, services)
        for name in named:
            about.setdefault(name, []).append(alert)
        if not named:
            strangers.append(alert)
    return tuple(Concern(name, tuple(found)) for name, found in sorted(about.items())), tuple(strangers)


def services_of(alert: Alert, services: Mapping[str, Service]) -> tuple[str, ...]:
    """The services that an alert is about: those that its labels point to most plainly; several if they do so alike."""
    told = {name: merit for name, service in services.items() if (merit := _merit(alert.labels, service)) is not None}
    best = min(told.values(), default=None)
    return tuple(sorted(name for name, merit in told.items() if merit == best))


def _merit(labels: Mapping[str, str], service: Service) -> tuple[int, int] | None:
    """How plainly labels point to a service, the less the plainer; None if they do not.

    The name itself; a pod of that name; then how many of the labels by which settings find the service an alert has,
    if it contradicts none.
    """
    named = [place for place, label in enumerate(SERVICE_LABELS) if labels.get(label) == service.name]
    if named:
        return 0, named[0]
    if any(labels.get(label, "").startswith(f"{service.name}-") for label in POD_LABELS):
        return 1, 0
    shared = [label for label in service.labels if label in labels]
    if shared and all(labels[label] == service.labels[label] for label in shared):
        return 2, -len(shared)
    return None
