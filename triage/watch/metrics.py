"""How services, receivers and the watch itself are, as families of metrics for the exposition of prometheus_client."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from triage.checks.metrics import families
from triage.checks.outcome import Checked, outcome_of, unknown
from triage.watch.board import Board, Row

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class Exposition(Collector):
    """The metrics of a watch.

    :param board: what is known
    """

    def __init__(self, board: Board) -> None:
        self._board = board

    def collect(self) -> "Iterator[Metric]":
        """All families."""
        rows = self._board.rows()
        for family in families([_outcome(name, row) for name, row in rows.items() if row.seen is not None]):
            if family.samples:
                yield _gauge(family.name, family.help, family.samples)
        yield from _looks(rows.items())
        yield from self._alerts()
        yield from self._receivers()

    def _alerts(self) -> "Iterator[Metric]":
        """What people are told of now."""
        told = []
        for message in self._board.standing():
            alert = message.alert
            labels = {"service": alert.service, "topic": alert.topic.value, "severity": alert.severity}
            labels |= {"rule": alert.kind, "layer": message.layer, "cause": message.cause}
            told.append(({**labels, "flapping": str(alert.flapping).lower()}, alert.since))
        yield _gauge("triage_alert_since_timestamp_seconds", "When what people are told of now began.", told)

    def _receivers(self) -> "Iterator[Metric]":
        """How receivers are doing."""
        told = self._board.receivers()
        up = [({"receiver": name}, float(one.is_up)) for name, one, _ in told if one.is_up is not None]
        yield _gauge("triage_receiver_up", "Whether the receiver took what it was sent last.", up)
        waits = [({"receiver": name}, float(waiting.count)) for name, _, waiting in told]
        yield _gauge("triage_notifications_pending", "Messages that the receiver does not know yet.", waits)
        oldest = [({"receiver": name}, waiting.oldest) for name, _, waiting in told if waiting.oldest is not None]
        yield _gauge("triage_notification_oldest_timestamp_seconds", "Since when the oldest of them waits.", oldest)
        sent = CounterMetricFamily("triage_notifications", "What became of messages and requests.", labels=("receiver", "result"))
        for name, one, _ in told:
            for result, count in (("taken", one.taken), ("failed", one.failed), ("dropped", one.dropped)):
                sent.add_metric((name, result), count)
        yield sent


def _looks(rows: "Iterable[tuple[str, Row]]") -> "Iterator[Metric]":
    """How the watch itself is doing."""
    looks = CounterMetricFamily("triage_watch_looks", "Looks by what came of them.", labels=("service", "result"))
    moved = CounterMetricFamily("triage_watch_surveys_moved", "Surveys after which a whole look was taken.", labels=("service",))
    spent = CounterMetricFamily("triage_watch_cpu_seconds", "Seconds of CPU for looks.", labels=("service",))
    looked, lasted, due = [], [], []
    for name, row in rows:
        tally = row.tally
        results = {"judged": tally.whole - tally.failed, "failed": tally.failed, "unmoved": tally.surveys}
        for result, count in results.items():
            looks.add_metric((name, result), count)
        moved.add_metric((name,), tally.moved)
        spent.add_metric((name,), tally.cpu)
        due.append(({"service": name}, row.due))
        if row.seen is not None:
            looked.append(({"service": name}, row.looked))
            lasted.append(({"service": name}, row.seen.lasted))
    yield looks
    yield moved
    yield spent
    yield _gauge("triage_watch_last_look_timestamp_seconds", "When the last look ended.", looked)
    yield _gauge("triage_watch_look_duration_seconds", "How long the last look took.", lasted)
    yield _gauge("triage_watch_next_look_timestamp_seconds", "When the next look is due.", due)


def _outcome(name: str, row: Row) -> Checked:
    """How a service is, as a check tells it: with the state that several looks agree on."""
    seen = row.seen
    assert seen is not None
    if seen.diagnosis is None:
        return unknown(name, seen.error)
    told = outcome_of(seen.diagnosis)
    return replace(told, service=name, status=seen.memory.status, seconds=seen.lasted, seen=not seen.error)


def _gauge(name: str, told: str, samples: "Iterable[tuple[object, float]]") -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, told)
    for labels, value in samples:
        assert isinstance(labels, dict)
        family.add_sample(name, {key: str(text) for key, text in labels.items()}, value)
    return family
