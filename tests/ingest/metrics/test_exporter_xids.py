"""Xids that an exporter of cards reports as a gauge."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.loading import load_signatures
from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.exporter_xids import exporter_xids
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.model.recording import Origin, Panel, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope

CARD = Subject(Scope.GPU, "GPU-1")
WINDOW = Window(start=600.0, end=1200.0, baseline_start=0.0)
ORIGIN = Origin("dcgm", "DCGM_FI_DEV_XID_ERRORS")
CODES = load_signatures().xids


def panel(signal: str, first: float, values: list[float]) -> Panel:
    """A card's signal every 15 seconds."""
    times, rows = first + 15.0 * np.arange(len(values), dtype=np.float64), np.array([values], dtype=float)
    return Panel(signal, ORIGIN.dialect, (CARD,), times, rows.__getitem__, lambda _some: [ORIGIN])


def test_a_new_code_is_an_event_of_the_card_with_what_is_known_of_it() -> None:
    """The gauge changes from nothing to 79."""
    (event,) = exporter_xids([panel("gpu.xid", 600.0, [0, 0, 79, 79])], (), WINDOW, 15.0, CODES)
    assert (event.time, event.name, event.subject) == (630.0, "79", CARD)
    assert event.attrs["class"] == "hardware"
    assert "gpu-off-bus" in event.attrs["kinds"]


def test_a_code_that_was_there_all_along_is_no_event() -> None:
    """The exporter keeps the last code for days."""
    assert exporter_xids([panel("gpu.temp", 0.0, [40.0] * 80), panel("gpu.xid", 0.0, [43.0] * 80)], (), WINDOW, 15.0, CODES) == ()


def test_a_gauge_that_appears_with_its_first_code_is_an_event() -> None:
    """Some exporters leave the gauge out while there is nothing to report."""
    events = exporter_xids([panel("gpu.temp", 0.0, [40.0] * 80), panel("gpu.xid", 900.0, [48.0] * 20)], (), WINDOW, 15.0, CODES)
    assert [(event.time, event.name) for event in events] == [(900.0, "48")]


def test_what_was_before_the_baseline_is_left_out() -> None:
    """Only the baseline and the window are looked at."""
    assert exporter_xids([panel("gpu.xid", -90.0, [0, 31, 31, 31])], (), WINDOW, 15.0, CODES) == ()


@given(st.lists(st.sampled_from([0.0, 13.0, 31.0, 45.0]), min_size=1, max_size=30))
def test_each_change_to_a_code_is_told_once(values: list[float]) -> None:
    """Whatever the gauge does, an event is a change to a code."""
    changes = sum(now != 0 and now != before for before, now in pairwise(values))
    assert len(exporter_xids([panel("gpu.xid", 600.0, values)], (), WINDOW, 15.0, CODES)) == changes


def test_reports_counted_by_code_are_events_at_each_rise() -> None:
    """A code that comes again is seen; one that was there all along is not; a code that appears later counts from 0."""
    samples = {"31": [2, 2, 3, 3], "63": [5, 5, 5, 5]}
    lines = [
        f'nvidia_smi_xid_errors_total{{uuid="GPU-a",xid="{code}"}} {value} {1000 + 15 * index}'
        for code, values in samples.items()
        for index, value in enumerate(values)
    ]
    lines += [f'nvidia_smi_temperature_gpu{{uuid="GPU-a"}} 40 {1000 + 15 * index}' for index in range(12)]
    lines += [f'nvidia_smi_xid_errors_total{{uuid="GPU-a",xid="79"}} 1 {1000 + 15 * index}' for index in range(9, 12)]
    series = parse("\n".join(lines).encode() + b"\n").series
    found = translate(series, load_dialects(), Service(name="svc"), Window(1000, 1165, 1000))
    events = [(event.name, event.time) for event in found.events if event.kind == "xid"]
    assert events == [("31", 1030.0), ("79", 1135.0)]
