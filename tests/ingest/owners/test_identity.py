"""Series that go on without the labels of their owner, and all the ways in which a pod's label goes for good reasons."""

from collections.abc import Iterable

import numpy as np

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.recording import Event, Window
from triage.model.service import Service

STEP = 30.0
END = 3600.0
LOSS = 2000.0
WINDOW = Window(1800.0, END, 0.0)
OWNER = {"pod": "svc-0", "namespace": "llm", "container": "engine"}


def life(name: str, begin: float, end: float, **labels: str) -> RawSeries:
    """A gauge over a span of time."""
    times = np.arange(begin, end + 1, STEP)
    return RawSeries(name, labels, times, 300.0 + times % 7)


def engine(end: float = END) -> RawSeries:
    """An engine's own metric, which knows its pod."""
    return life("vllm:num_requests_running", 0.0, end, pod="svc-0", service="svc", instance="10.0.0.1:8000", node="n1")


def card(begin: float, end: float, **owner: str) -> RawSeries:
    """A card's power as its exporter shows it."""
    labels = {"UUID": "GPU-1", "Hostname": "n1", "gpu": "0", "job": "dcgm-exporter", "instance": "10.0.0.9:9400"}
    return life("DCGM_FI_DEV_POWER_USAGE", begin, end, **labels, **owner)


def losses(series: Iterable[RawSeries]) -> list[Event]:
    found = translate(series, load_dialects(), Service(name="svc"), WINDOW).events
    return [event for event in found if event.name == "label-lost"]


def test_a_card_goes_on_without_its_pod() -> None:
    """The same UUID, no pod any more, and the pod lives on."""
    (event,) = losses([engine(), card(0.0, LOSS, **OWNER), card(LOSS + STEP, END)])
    assert (event.kind, event.attrs["labels"], event.attrs["cards"]) == ("metric", "container namespace pod", "1")
    assert event.time == np.arange(0.0, LOSS + 1, STEP)[-1]


def test_other_labels_of_a_card_may_change_with_the_exporter() -> None:
    """An upgrade of the exporter brings another address; the card is known by its UUID."""
    after = life(
        "DCGM_FI_DEV_POWER_USAGE", LOSS + STEP, END, UUID="GPU-1", Hostname="n1", job="dcgm-exporter", instance="10.0.0.7:9400"
    )
    assert len(losses([engine(), card(0.0, LOSS, **OWNER), after])) == 1


def test_the_exporters_own_pod_is_nobodys_name() -> None:
    """What the scraper knows of the exporter is not what the exporter knew of the card."""
    assert len(losses([engine(), card(0.0, LOSS, **OWNER), card(LOSS + STEP, END, pod="dcgm-exporter-x7k2p")])) == 1


def test_a_card_that_is_given_back_has_no_pod() -> None:
    """Its pod is gone, too."""
    assert losses([engine(LOSS), card(0.0, LOSS, **OWNER), card(LOSS + STEP, END)]) == []


def test_a_card_that_goes_to_another_pod_of_ours_is_known() -> None:
    """Its series end with one name and begin with another."""
    other = {**OWNER, "pod": "svc-1"}
    assert losses([engine(), card(0.0, LOSS, **OWNER), card(LOSS + STEP, END, **other)]) == []


def test_a_card_that_is_gone_has_lost_more_than_a_label() -> None:
    """Nothing goes on."""
    assert losses([engine(), card(0.0, LOSS, **OWNER)]) == []


def test_series_without_a_pod_that_were_always_there_are_no_heirs() -> None:
    """A second scrape without pod labels."""
    assert losses([engine(), card(0.0, LOSS, **OWNER), card(0.0, END)]) == []


def test_engines_whose_series_fall_together() -> None:
    """A collector that keeps no resource attributes: pod and host go at once, and one set is left where there were two."""
    labels = {"model_name": "chat", "instance": "otel:8889", "job": "otel"}
    name = "vllm:num_requests_running"
    before = [life(name, 0.0, LOSS, k8s_pod_name=f"svc-{one}", k8s_node_name=f"n{one}", **labels) for one in range(2)]
    (event,) = losses([*before, life(name, LOSS + STEP, END, **labels)])
    assert (event.attrs["unnamed"], event.attrs["series"]) == ("svc-0 svc-1", "2")
    assert losses([*before, life(name, LOSS + STEP, END, **{**labels, "model_name": "other"})]) == []


def test_an_engine_target_that_loses_its_pod() -> None:
    """A new rule of relabelling: the same address, the same metric, no pod."""
    labels = {"service": "svc", "instance": "10.0.0.1:8000", "node": "n1"}
    before = life("vllm:num_requests_running", 0.0, LOSS, pod="svc-0", **labels)
    (event,) = losses([before, life("vllm:num_requests_running", LOSS + STEP, END, **labels)])
    assert (event.attrs["cards"], event.attrs["labels"]) == ("0", "pod")


def test_targets_that_a_rule_of_relabelling_makes_one() -> None:
    """Whatever the labels are called that told the engines apart: their address goes, too, and one series is left."""
    name = "vllm:num_requests_running"
    kept = {"service": "svc", "job": "engines", "model_name": "chat"}
    before = [life(name, 0.0, LOSS, instance=f"10.0.0.{one}:8000", rack=f"r{one}", **kept) for one in range(3)]
    after = life(name, LOSS + STEP, END, **kept)
    (event,) = losses([*before, after])
    assert (event.attrs["labels"], event.attrs["merged"]) == ("instance rack", "yes")
    assert event.attrs["unnamed"] == "10.0.0.0:8000 10.0.0.1:8000 10.0.0.2:8000"
    assert losses([*before[:1], after]) == []  # one engine is still known
    assert losses([*before, life(name, END - STEP, END, **kept)]) == []  # and what comes much later is something new


def test_a_pod_that_is_only_listed_has_given_its_card_back() -> None:
    """Its target is down, or the cluster knows that it has ended."""
    listed = life("kube_pod_info", 0.0, END, pod="svc-0", namespace="llm", job="kube-state-metrics")
    down = RawSeries("up", {**OWNER, "job": "vllm"}, listed.times, np.where(listed.times > LOSS, 0.0, 1.0))
    assert not losses([engine(LOSS), down, listed, card(0.0, LOSS, **OWNER), card(LOSS + STEP, END)])
