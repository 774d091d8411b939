"""Series that did not come straight from their target: a collector of OpenTelemetry, another Prometheus, a push gateway."""

from collections.abc import Mapping

import numpy as np
import pytest

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.translate import translate
from triage.ingest.owners.places import own_target
from triage.ingest.raw import RawSeries
from triage.model.recording import Recording, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope

TIMES = np.arange(0.0, 600.0, 15.0)
WINDOW = Window(300.0, 600.0, 0.0)

COLLECTOR = {"job": "otel-collector", "instance": "otelcol:8889"}
FORMS: tuple[Mapping[str, str], ...] = (
    {**COLLECTOR, "exported_job": "engines", "exported_instance": "10.0.0.{}:8000", "k8s_pod_name": "chat-{}"},
    {**COLLECTOR, "exported_job": "engines", "exported_instance": "10.0.0.{}:8000", "service_name": "chat"},
    {"job": "federate", "instance": "prom:9090", "exported_job": "engines", "exported_instance": "10.0.0.{}:8000", "app": "chat"},
)


def recording(labels: Mapping[str, str]) -> Recording:
    """Two engines whose series came over one target."""
    series = [
        RawSeries(name, {key: value.format(one) for key, value in labels.items()}, TIMES, values)
        for one in (1, 2)
        for name, values in (("vllm:num_requests_running", 3 + np.sin(TIMES)), ("vllm:generation_tokens_total", 40.0 * TIMES))
    ]
    return translate(series, load_dialects(), Service(name="chat"), WINDOW)


@pytest.mark.parametrize("labels", FORMS)
def test_engines_behind_one_target_stay_several(labels: Mapping[str, str]) -> None:
    """Each keeps its own values under its own name, and the query that is shown finds it again on the server."""
    running = recording(labels).by_signal["batch.running"]
    names = [one.subject.id for one in running]
    assert names == (["chat-1", "chat-2"] if "k8s_pod_name" in labels else ["10.0.0.1:8000", "10.0.0.2:8000"])
    assert {one.subject.scope for one in running} == {Scope.REPLICA}
    for one, query in ((one, one.origin.selector) for one in running):
        key = "k8s_pod_name" if "k8s_pod_name" in labels else "exported_instance"
        assert f'{key}="{one.subject.id}"' in query
        assert "otelcol" not in query
        assert ',instance="10.' not in query


def test_an_exporter_that_tells_of_pods_was_not_passed_on() -> None:
    """``exported_pod`` alone is what an exporter spoke of: its target is the exporter."""
    labels = {"job": "dcgm", "instance": "10.0.0.9:9400", "pod": "dcgm-x", "exported_pod": "chat-1"}
    assert own_target(labels) == labels


def test_which_dialect_a_target_speaks_is_a_fact() -> None:
    """Of a target of which nothing is read that is known, too: that its scrapes fail then means nothing here."""
    rows = [
        ("vllm:num_requests_running", {"job": "engines", "instance": "a:8000", "service": "chat"}),
        ("up", {"job": "postgres-exporter", "instance": "db:9187"}),
        ("up", {"job": "monitoring/dcgm-exporter", "instance": "b:9400"}),
        ("up", {"job": "hosts", "instance": "a:9100"}),
        ("node_load1", {"job": "hosts", "instance": "a:9100"}),
    ]
    series = [RawSeries(name, labels, TIMES, 1 + 0 * TIMES) for name, labels in rows]
    facts = translate(series, load_dialects(), Service(name="chat"), WINDOW).facts
    told = {fact.subject: fact.value for fact in facts if fact.key == "dialect"}
    assert told[Subject(Scope.TARGET, "postgres-exporter/db:9187")] == ""
    assert told[Subject(Scope.TARGET, "monitoring/dcgm-exporter/b:9400")] == "dcgm"
    assert told[Subject(Scope.TARGET, "hosts/a:9100")] == "node_exporter"
