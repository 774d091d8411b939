"""What a source always shows: a metric of its core that is not there is told, and a dump of chosen metrics misses nothing."""

from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.model.dialect import Dialect
from triage.model.recording import Event, Recording, Window
from triage.model.service import Service

CORE = ("acme:running", "acme:waiting", "acme:kv_usage", "acme:tokens_total")
ACME = Dialect.model_validate(
    {
        "name": "acme",
        "title": "Acme",
        "scope": "replica",
        "prefixes": ["acme:", "acme_"],
        "core": CORE,
        "unknown": [99],
        "metrics": [
            {"names": "acme:running", "type": "gauge", "signal": "batch.running"},
            {"names": "acme:waiting", "type": "gauge", "signal": "queue.waiting", "unknown": [-1]},
            {"names": ["acme:kv_usage", "acme:cache"], "type": "gauge", "signal": "kv.usage"},
            {"names": "acme:tokens_total", "type": "counter", "signal": "tokens.generation"},
            {"names": "acme:steps_total", "type": "counter", "signal": "engine.steps"},
        ],
    }
)


def recording(*samples: str) -> Recording:
    """What comes of samples of one replica, each ``name value``, scraped twice."""
    lines = [
        f'{name}{{service="svc",pod="svc-0"}} {value} {time}' for name, value in map(str.split, samples) for time in (1000, 1015)
    ]
    return translate(parse("\n".join(lines).encode() + b"\n").series, [ACME], Service(name="svc"), Window(1000, 1015, 1000))


def missing(found: Recording) -> list[Event]:
    """The events of metrics that are missed."""
    return [event for event in found.events if event.name == "core-missing"]


def test_a_missing_metric_of_the_core_is_told_with_its_signal_and_subject() -> None:
    """Three of four are there, so the fourth is missed at the replica."""
    (event,) = missing(recording("acme:running 1", "acme:waiting 0", "acme:tokens 5"))
    assert event.attrs == {"dialect": "acme", "metric": "acme:kv_usage", "signal": "kv.usage"}
    assert event.kind == "metric"
    assert event.subject is not None
    assert event.subject.id == "svc-0"


def test_an_older_name_and_another_prefix_are_there() -> None:
    """Any spelling of any name of the entry will do."""
    assert missing(recording("acme_running 1", "acme_waiting 0", "acme:cache 0.5", "acme:tokens 5")) == []


def test_a_few_chosen_metrics_miss_nothing() -> None:
    """One of four is not the source as a whole."""
    assert missing(recording("acme:running 1", "acme:steps_total 3")) == []


def test_values_that_stand_for_none_are_no_samples_and_no_faults() -> None:
    """The entry's, the dialect's, and -1 for a ratio; a ratio below that is broken."""
    found = recording("acme:running 99", "acme:waiting -1", "acme:kv_usage -1", "acme:tokens_total 99")
    assert {one.signal for one in found.series} == {"tokens.generation"}
    assert found.problems == ()
    assert "kv.usage" in recording("acme:kv_usage -2").rejected
