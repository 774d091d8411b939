"""A dashboard for Grafana: the vital signs, what fires, and a row for each layer with the signals that exported rules look at.

Its panels show what the recording rules keep, so that a number on it is the number that an alert judged.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from triage.export.layout import Layout
from triage.export.prometheus import exported
from triage.export.values import Record, Times, Values
from triage.export.vitals import vital_signs
from triage.model.dialect import Dialect
from triage.model.rule import Rule
from triage.model.vocabulary import Kind, Layer, catalogue

_MOST = 8
"""Panels of a layer: what is asked of most often comes first, and a row is seen at a glance."""

_WIDTH, _HEIGHT, _ACROSS = 6, 7, 4
_SCHEMA = 36
"""Version of the dashboard's form: that of Grafana 9 and 10, which newer ones read."""

_UNITS = {
    "seconds": "s", "bytes": "bytes", "ratio": "percentunit", "hertz": "hertz", "watts": "watt", "celsius": "celsius",
    "joules": "joule", "flop": "flops",
}  # fmt: skip
_PER_SECOND = {"bytes": "Bps", "requests": "reqps", "ratio": "percentunit", "seconds": "percentunit", "cores": "short"}

_Panel = dict[str, object]
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def dashboard(rules: Sequence[Rule], layout: Layout, times: Times, dialects: Sequence[Dialect]) -> str:
    """The dashboard as JSON, as Grafana imports it."""
    values = Values(layout, times, recorded=True)
    exported(rules, values, dialects)
    kept = dict(values.records)
    signs = [_curve(sign.title, _shown(sign.query), sign.signal) for sign in vital_signs(values)]
    rows = [("Vital signs", [_firing(), *signs])]
    rows += [(f"Layer: {layer.value}", list(_of_layer(layer, kept))) for layer in Layer]
    document = {
        "uid": f"triage-{layout.service}"[:40],
        "title": f"triage: {layout.service}",
        "tags": ["triage"],
        "schemaVersion": _SCHEMA,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "utc",
        "templating": {"list": [_datasource(), _service(layout.service)]},
        "annotations": {"list": []},
        "panels": list(_placed(rows)),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _shown(query: str) -> str:
    """A recorded series of the service that is chosen."""
    return f'{query.partition("{")[0]}{{service="$service"}}'


def _of_layer(layer: Layer, kept: Mapping[str, Record]) -> Iterator[_Panel]:
    """The signals of a layer that are asked for most often; a word where none is."""
    own = [(name, record) for name, record in kept.items() if catalogue()[record.signal].layer is layer]
    chosen: dict[str, str] = {}
    for name, record in sorted(own, key=lambda one: (-one[1].uses, one[0])):
        if len(chosen) < _MOST:
            chosen.setdefault(record.signal, name)
    for signal, name in chosen.items():
        yield _curve(catalogue()[signal].noun, _shown(name), signal)
    if not chosen:
        yield {
            "type": "text",
            "title": "",
            "options": {"mode": "markdown", "content": "None of the service's sources tells of this layer."},
        }


def _curve(title: str, query: str, signal: str) -> _Panel:
    """One signal over time."""
    return {
        "type": "timeseries",
        "title": title[:1].upper() + title[1:],
        "description": catalogue()[signal].meaning,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": _unit(signal)}, "overrides": []},
        "targets": [{"refId": "A", "expr": query, "datasource": _SOURCE, "legendFormat": "__auto"}],
    }


def _unit(signal: str) -> str:
    """Grafana's name of a unit."""
    known = catalogue()[signal]
    if known.kind is Kind.RATE:
        return _PER_SECOND.get(known.unit, "ops")
    return _UNITS.get(known.unit, "short")


def _firing() -> _Panel:
    """The alerts that fire, over time."""
    query = 'max by (kind) (ALERTS{service="$service", alertname=~"Triage.+", alertstate="firing"})'
    return {
        "type": "state-timeline",
        "title": "Kinds of failure that fire",
        "description": "Each comes with the command that explains it: triage diagnose --service … --at …",
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": "short"}, "overrides": []},
        "targets": [{"refId": "A", "expr": query, "datasource": _SOURCE, "legendFormat": "{{kind}}"}],
    }


def _datasource() -> dict[str, object]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "refresh": 1, "hide": 0}


def _service(name: str) -> dict[str, object]:
    query = 'label_values({__name__=~"triage:.+"}, service)'
    return {
        "name": "service",
        "label": "Service",
        "type": "query",
        "datasource": _SOURCE,
        "query": query,
        "refresh": 2,
        "hide": 0,
        "current": {"selected": True, "text": name, "value": name},
    }


def _placed(rows: Sequence[tuple[str, Sequence[_Panel]]]) -> Iterator[_Panel]:
    """Rows and their panels, each at its place."""
    number, top = 0, 0
    for title, panels in rows:
        number += 1
        yield {
            "id": number, "type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"h": 1, "w": 24, "x": 0, "y": top},
        }  # fmt: skip
        top += 1
        for place, panel in enumerate(panels):
            number += 1
            down, across = divmod(place, _ACROSS)
            yield {
                "id": number, **panel,
                "gridPos": {"h": _HEIGHT, "w": _WIDTH, "x": across * _WIDTH, "y": top + down * _HEIGHT},
            }  # fmt: skip
        top += _HEIGHT * -(-len(panels) // _ACROSS)
