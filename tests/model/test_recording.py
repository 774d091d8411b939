"""Parts that several collectors brought, put together."""

import numpy as np
import pytest

from triage.model.recording import LOG, Event, Fact, Origin, Recording, Series, Subject, Window, merged
from triage.model.vocabulary import Scope

NODE, OTHER = Subject(Scope.NODE, "n1"), Subject(Scope.NODE, "n2")
CARD, TWIN = Subject(Scope.GPU, "GPU-1"), Subject(Scope.GPU, "GPU-2")
WINDOW = Window(start=600.0, end=1200.0, baseline_start=0.0)


def parts(*events: Event) -> list[Recording]:
    """Metrics that know two hosts with a card at the same address each, and a log."""
    metrics = Recording(
        "llm",
        WINDOW,
        facts=(Fact(CARD, "pci_bus_id", "00000000:52:00.0"), Fact(TWIN, "pci_bus_id", "00000000:52:00.0")),
        links={CARD: (NODE,), TWIN: (OTHER,)},
    )
    return [metrics, Recording("llm", WINDOW, events=events)]


@pytest.mark.parametrize("address", ["0000:52:00", "PCI:0000:52", "0000:52:00.0"])
def test_a_kernel_report_of_a_pci_address_is_about_the_card_of_that_node(address: str) -> None:
    """The same address exists on another node, too."""
    recording = merged(parts(Event(700.0, "xid", "79", OTHER, {"pci": address})))
    assert [event.subject for event in recording.events] == [TWIN]


@pytest.mark.parametrize("address", ["0000:53:00", "no address", "::", "0000:52:00:00:00"])
def test_a_report_of_an_unknown_address_stays_with_its_node(address: str) -> None:
    """No card has it."""
    recording = merged(parts(Event(700.0, "xid", "79", NODE, {"pci": address})))
    assert [event.subject for event in recording.events] == [NODE]


def test_an_exporter_does_not_repeat_what_the_kernel_says_of_a_card() -> None:
    """Another code, another card and a report of much later stay."""
    kernel = Event(700.0, "xid", "79", NODE, {"pci": "0000:52:00", "emitter": "kernel"})
    echo = Event(715.0, "xid", "79", CARD, {"emitter": "exporter"})
    others = [
        Event(715.0, "xid", "45", CARD, {"emitter": "exporter"}),
        Event(715.0, "xid", "79", TWIN, {"emitter": "exporter"}),
        Event(1100.0, "xid", "79", CARD, {"emitter": "exporter"}),
    ]
    found = [(event.time, event.name, event.subject) for event in merged(parts(kernel, echo, *others)).events]
    assert found == [(700.0, "79", CARD), (715.0, "45", CARD), (715.0, "79", TWIN), (1100.0, "79", CARD)]


def engine(name: str, dialect: str = "vllm") -> Series:
    """The load of an engine, as metrics or its log tell it."""
    times = np.array([600.0, 660.0])
    return Series("batch.running", Subject(Scope.REPLICA, name), times, times, Origin(dialect, dialect))


def joined(measured: list[str], logged: str) -> list[str]:
    """Who runs requests, by metrics of some engines and the log of one."""
    event = Event(700.0, "log", "engine-crashed", Subject(Scope.REPLICA, logged))
    log = Recording("llm", WINDOW, series=(engine(logged, LOG),), events=(event,))
    recording = merged([Recording("llm", WINDOW, series=tuple(map(engine, measured))), log])
    return [*(one.subject.id for one in recording.series), *(one.subject.id for one in recording.events if one.subject)]


def test_a_log_that_bears_no_engines_name_is_no_second_engine() -> None:
    """The only one is that of the only engine; of several nobody can say, and its load is not added; its events stay."""
    assert joined(["10.0.0.1:8000"], "sglang") == ["10.0.0.1:8000", "10.0.0.1:8000"]
    assert joined(["10.0.0.1:8000", "10.0.0.2:8000"], "0") == ["10.0.0.1:8000", "10.0.0.2:8000", "0"]


@pytest.mark.parametrize("pod", ["qwen-1", "llm-3"])
def test_a_log_with_the_name_of_a_pod_is_of_that_pod(pod: str) -> None:
    """A sibling of those that are measured, or named after the service."""
    assert joined(["qwen-0"], pod) == ["qwen-0", pod, pod]


def counted(signal: str, dialect: str, *times: float) -> Series:
    """Requests that a gateway counts, by its metrics or by its log under another name."""
    return Series(signal, Subject(Scope.GATEWAY, dialect), np.array(times), np.ones(len(times)), Origin(dialect, dialect))


ALL = tuple(np.arange(600.0, 1201.0, 30.0))
TORN = tuple(time for time in ALL if not 700 <= time <= 1000)


@pytest.mark.parametrize(
    ("metrics", "log", "told"),
    [(ALL, ALL, "envoy"), (TORN, ALL, LOG), (TORN, TORN, "envoy")],
    ids=["both", "monitoring that stood still", "nobody saw it"],
)
def test_a_gateways_log_speaks_where_its_metrics_have_a_hole(
    metrics: tuple[float, ...], log: tuple[float, ...], told: str
) -> None:
    """Requests are counted once, by the view that saw the window."""
    views = [counted("gateway.requests", "envoy", *metrics)], [counted("gateway.requests", LOG, *log)]
    recording = merged([Recording("llm", WINDOW, series=tuple(view)) for view in views])
    assert [one.origin.dialect for one in recording.series] == [told]


def test_answers_in_a_log_are_no_share_of_the_requests_in_metrics() -> None:
    """A log may tell of every hundredth request."""
    measured = Recording("llm", WINDOW, series=(counted("gateway.requests", "gaie", *ALL),))
    sampled = Recording("llm", WINDOW, series=(counted("gateway.2xx", LOG, *ALL), counted("gateway.timeouts", LOG, *ALL)))
    assert [one.signal for one in merged([measured, sampled]).series] == ["gateway.requests", "gateway.timeouts"]
