"""What APIs answer and people paste: alerts that fire, the models that an engine serves, the arguments that it runs with."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from triage.ingest.logs.engine_facts import ARGUMENTS, typed
from triage.ingest.logs.redaction import redacted
from triage.ingest.logs.shown.benchmark import Benchmark
from triage.ingest.logs.shown.form import Shown
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

MAX_ALERTS = 500


def read(value: object, shown: Shown) -> int:
    """Reads an answer; returns how much of it was known."""
    known = sum(_alert(shown, one) for one in _alerts(value)) + _models(shown, value)
    return known + _result(shown, value) + _arguments(shown, value)


# ---------------------------------------------------------------- alerts


def _alerts(value: object) -> Iterator[Mapping[str, Any]]:
    """The alerts of Alertmanager's and Prometheus's APIs, of a webhook, or of a query for ``ALERTS``."""
    for name in ("data", "alerts", "result"):
        if isinstance(value, dict) and isinstance(value.get(name), dict | list):
            value = value[name]
    for one in value[:MAX_ALERTS] if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield one


def _alert(shown: Shown, one: Mapping[str, Any]) -> int:
    """An alert that fires: somebody's statement, with a begin; what it is called is no cause."""
    labels = one.get("labels") or one.get("metric")
    if not isinstance(labels, dict) or not isinstance(labels.get("alertname"), str):
        return 0
    states = one.get("status"), one.get("state"), labels.get("alertstate")
    told = [state.get("state") if isinstance(state, dict) else state for state in states]
    ends = _moment(one.get("endsAt"))
    if {"resolved", "pending", "inactive", "suppressed"} & set(map(str, told)) or (ends is not None and ends <= shown.time):
        return 1
    subject = _subject(shown, labels)
    if subject is not None:
        begun = _moment(one.get("startsAt")) or _moment(one.get("activeAt")) or shown.time
        shown.state(f"alerts/{redacted(labels['alertname'], 100)}", "firing", subject, "alertmanager", begun)
    return 1


def _subject(shown: Shown, labels: Mapping[str, Any]) -> Subject | None:
    """Whom an alert is about; None if it is about somebody else's pod."""
    if isinstance(labels.get("pod"), str):
        return shown.pod(labels["pod"])
    if isinstance(labels.get("node"), str):
        return Subject(Scope.NODE, redacted(labels["node"], 253))
    return shown.service


def _moment(value: object) -> float | None:
    """Unix seconds of RFC 3339 text; Go writes the first year for *never*."""
    try:
        moment = datetime.fromisoformat(str(value))
        return moment.timestamp() if moment.tzinfo and moment.year > 1970 else None
    except (ValueError, OverflowError):
        return None


# ---------------------------------------------------------------- engines


def _models(shown: Shown, value: object) -> int:
    """``GET /v1/models``: what is served, and how long its context is."""
    listed = value.get("data") if isinstance(value, dict) and value.get("object") == "list" else None
    known = 0
    for one in listed[:50] if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("object") == "model" and isinstance(one.get("id"), str):
            known += 1
            if not one.get("parent"):
                shown.fact(shown.engine, "served_model_name", one["id"])
            length = one.get("max_model_len")
            if isinstance(length, int):
                shown.fact(shown.engine, "max_model_len", float(length))
    return known


def _result(shown: Shown, value: object) -> int:
    """What a load generator saves of its result."""
    if not isinstance(value, dict) or not any(str(key).endswith("_ttft_ms") for key in value):
        return 0
    result = Benchmark(shown)
    for key, one in list(value.items())[:500]:
        if isinstance(one, int | float | str) and not isinstance(one, bool):
            result.entry(str(key), str(one))
    known = result.knows
    if known:
        result.finish()
    return int(known)


_TELLING = 3
"""Known arguments from which on an object is taken for an engine's: two names may be anybody's."""


def _arguments(shown: Shown, value: object) -> int:
    """``GET /server_info`` and the like: the arguments of an engine by their own names."""
    if not isinstance(value, dict):
        return 0
    inner = next((value[name] for name in ("server_args", "engine_args", "config") if isinstance(value.get(name), dict)), value)
    found = {
        ARGUMENTS[str(key)]: one for key, one in inner.items() if str(key) in ARGUMENTS and isinstance(one, str | int | float)
    }
    if len(found) < _TELLING:
        return 0
    for key, one in found.items():
        shown.fact(shown.engine, key, typed(redacted(str(one), 200), number=not isinstance(one, bool)))
    return 1
