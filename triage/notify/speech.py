"""How each sort of receiver is spoken to: from messages to requests. Nothing is sent here."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from triage.classes import dataclass
from triage.model.receiver import Receiver
from triage.notify.alerts import Topic
from triage.notify.message import Message, title_of
from triage.notify.outbox import Letter

SCHEMA = "triage.notice/1"

RESEND = 60.0
"""Seconds after which an Alertmanager is told again what stands: Prometheus's own ``rules.alert.resend-delay``."""

HOLDS_FOR = 900.0
"""Seconds for which an Alertmanager holds what it is not told again. Chosen: fifteen times the pause, where Prometheus takes
four: that the watch is restarted, moved or late is no all-clear; what is over is said expressly."""

PAGERDUTY = "https://events.pagerduty.com/v2/enqueue"

_LONGEST_SUMMARY = 1024
"""Characters that PagerDuty takes of a summary (Events API v2)."""

_LONGEST_KEY = 255
"""Characters that PagerDuty takes of a ``dedup_key``."""

_LONGEST_CARD = 3000
"""Characters of a block that Slack shows whole."""

_NAMES = {Topic.TROUBLE: "TriageTrouble", Topic.BLIND: "TriageBlind"}
_COLOURS = {"critical": "#c62828", "warning": "#f9a825", "info": "#607d8b"}
_OVER = "#2e7d32"


@dataclass(frozen=True, slots=True)
class Post:
    """A request.

    :param letters: what it tells; taken together or not at all
    """

    url: str = field(repr=False)
    body: bytes = field(repr=False)
    letters: tuple[Letter, ...]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def posts(receiver: Receiver, url: str, key: str, letters: Sequence[Letter], now: float) -> list[Post]:
    """The requests that tell a receiver what it has to be told.

    :param url: its address
    :param key: what it knows us by, of PagerDuty
    :param now: Unix seconds
    """
    match receiver.kind:
        case "alertmanager":
            body = [_alert(letter.message, now) for letter in letters]
            return [_json(f"{url.rstrip('/')}/api/v2/alerts", body, tuple(letters))] if letters else []
        case "webhook":
            return [_json(url, _notice(one), (one,), {"Idempotency-Key": one.id}) for one in letters]
        case "slack":
            return [_json(url, _card(one.message), (one,)) for one in letters]
        case "pagerduty":
            return [_json(url, _event(one.message, key), (one,)) for one in letters]


def _json(url: str, body: object, letters: tuple[Letter, ...], headers: Mapping[str, str] | None = None) -> Post:
    return Post(url, json.dumps(body).encode(), letters, {"Content-Type": "application/json", **(headers or {})})


def _alert(message: Message, now: float) -> dict[str, Any]:
    """An alert of Alertmanager's API v2: labels tell it from others, annotations say what it is."""
    alert = message.alert
    labels = {
        "alertname": _NAMES[alert.topic],
        "service": alert.service,
        "severity": alert.severity,
        "rule": alert.kind,
        "layer": message.layer,
        "cause": message.cause,
    }
    told = {line.label.replace(" ", "_"): line.text for line in message.lines}
    annotations = {
        "summary": title_of(message.model_copy(update={"changes": ()})),
        **told,
        "evidence": "\n".join(message.evidence),
        "playbook": f"triage playbook {alert.kind}" if alert.kind else "",
        "diagnose": message.command,
    }
    return {
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {name: value for name, value in annotations.items() if value},
        "startsAt": _moment(alert.since),
        "endsAt": _moment(alert.over if alert.over is not None else now + HOLDS_FOR),
    }


def _notice(letter: Letter) -> dict[str, Any]:
    """Everything, for a program."""
    message = letter.message
    alert = message.alert
    return {
        "schema": SCHEMA,
        "id": letter.id,
        "alert": alert.id,
        "service": alert.service,
        "topic": alert.topic.value,
        "state": "over" if message.is_over else "ongoing",
        "changes": [change.value for change in message.changes],
        "title": title_of(message),
        "severity": alert.severity,
        "flapping": alert.flapping,
        "status": message.status.value,
        "since": alert.since,
        "until": alert.over,
        "time": message.time,
        "rule": alert.kind or None,
        "layer": message.layer or None,
        "cause": message.cause or None,
        "confidence": message.confidence or None,
        "headline": message.headline,
        "lines": {line.label: line.text for line in message.lines},
        "evidence": list(message.evidence),
        "diagnose": message.command,
    }


def _card(message: Message) -> dict[str, Any]:
    """A message of Slack's incoming webhooks, in the parts that Mattermost and Rocket.Chat know as well."""
    title, colour = title_of(message), _OVER if message.is_over else _COLOURS[message.alert.severity]
    lines = [f"*{line.label}*  {_escaped(line.text)}" for line in message.lines]
    if message.evidence:
        lines += ["*evidence*", *(f"• {_escaped(one)}" for one in message.evidence)]
    lines.append(f"`{_escaped(message.command)}`")
    text = "\n".join(lines if not message.is_over else [_escaped(f"It was: {message.headline}"), lines[-1]])
    card = {"color": colour, "text": text[:_LONGEST_CARD], "fallback": title, "mrkdwn_in": ["text"]}
    return {"text": f"*{_escaped(title)}*", "attachments": [card]}


def _event(message: Message, key: str) -> dict[str, Any]:
    """An event of PagerDuty's Events API v2. What was missed from begin to end pages nobody."""
    alert = message.alert
    event: dict[str, Any] = {
        "routing_key": key,
        "event_action": "resolve" if message.is_over else "trigger",
        "dedup_key": f"triage/{alert.service}/{alert.topic.value}"[-_LONGEST_KEY:],
    }
    if message.is_over:
        return event
    details = {
        **{line.label: line.text for line in message.lines},
        "evidence": list(message.evidence),
        "rule": alert.kind,
        "confidence": message.confidence,
        "diagnose": message.command,
    }
    return event | {
        "client": "triage",
        "payload": {
            "summary": title_of(message)[:_LONGEST_SUMMARY],
            "source": alert.service,
            "severity": alert.severity,
            "timestamp": _moment(alert.since),
            "component": message.layer or "service",
            "group": alert.service,
            "class": alert.kind or alert.topic.value,
            "custom_details": {name: value for name, value in details.items() if value},
        },
    }


def _escaped(text: str) -> str:
    """Text in which nothing is taken for a link or a mention."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _moment(seconds: float) -> str:
    """RFC 3339, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
