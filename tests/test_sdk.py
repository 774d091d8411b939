"""The door for collectors: what belongs to it is written down, told on its page, and the page's example works."""

import json
import re
import threading
from pathlib import Path

import pytest

from triage import sdk
from triage.collect import collect
from triage.errors import TriageError
from triage.ingest.metrics.dialects import load_dialects
from triage.model.recording import Recording, SourceState, Window
from triage.model.service import Service
from triage.plugins import load_collector, load_collectors
from triage.sdk import Request

PAGE = (Path(__file__).parents[1] / "docs" / "collectors.md").read_text(encoding="utf-8")

NAMES = """
Collector Dialect Event Fact Floats Histogram Kind LogReading Origin RawSeries Reading Recording Request Samples Scope Series
Service Signal Signatures Source SourceState StopSignal Subject TriageError VERSION Window beats catalogue http in_background
openmetrics read_changes read_logs translate
"""
"""Version 1.0. What is taken away or changed makes a 2.0, what is added a 1.1: change VERSION and the page with this list."""


def test_what_belongs_to_it() -> None:
    """Nothing appears or vanishes unnoticed, and all of it is there."""
    assert sorted(sdk.__all__) == sorted(NAMES.split())
    assert all(hasattr(sdk, name) for name in sdk.__all__)
    assert sdk.VERSION == (1, 3)


def test_the_page_tells_of_all_of_it() -> None:
    """And of nothing else."""
    table = PAGE.partition("## `triage.sdk`")[2].partition("What the shipped")[0]
    told = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert told == set(sdk.__all__)
    assert f"`{sdk.VERSION}`" in table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the page's example."""
    place = tmp_path / "my-collectors"
    place.mkdir()
    (place / "acme.py").write_text(PAGE.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    return place


def request(status: Path | None, rounds: int) -> Request:
    """A request whose clock is the test's: each look at it is a step later, and nobody waits."""
    now = iter(range(0, 10_000, 15))
    environ = {"ACME_STATUS": str(status)} if status else {}
    window = Window(0.0, 15.0 * rounds, -60.0)
    return Request(Service(name="chat"), window, 15.0, 1.0, load_dialects(), lambda: float(next(now)), environ, stop=NoWait())


class NoWait(threading.Event):
    """A signal that nobody waits for."""

    def wait(self, timeout: float | None = None) -> bool:
        """Never set."""
        return False


def taken(folder: Path, status: Path, states: list[str]) -> Recording:
    """What the example makes of a file that says one thing after the other."""
    asked = request(status, len(states))
    left = iter(states)
    status.write_text(next(left), encoding="utf-8")

    def progress(_message: str, _done: float) -> None:
        status.write_text(next(left, states[-1]), encoding="utf-8")

    return load_collector(folder / "acme.py").collect(
        Request(asked.service, asked.window, 15.0, 1.0, asked.dialects, asked.clock, asked.environ, progress, asked.stop)
    )


def state(requests: int, config: str = "v7") -> str:
    """A status file."""
    return json.dumps({"requests": requests, "errors": 1, "waiting": 4, "config": config})


def test_the_example_reads_counters_as_rates_and_sees_a_change(folder: Path, tmp_path: Path) -> None:
    """Requests a second, the queue as it is, and the configuration's turn as an event of the gateway."""
    recording = taken(folder, tmp_path / "status.json", [state(0), state(150), state(300), state(450, "v8"), state(600, "v8")])
    rates = recording.by_signal["gateway.requests"][0]
    assert str(rates.subject) == "gateway/acme"
    assert len(rates.values) >= 2
    assert (rates.values > 0).all()
    assert set(recording.by_signal["gateway.pending"][0].values) == {4.0}
    assert [(event.kind, event.name, event.attrs["previous"]) for event in recording.events] == [("config", "v8", "v7")]
    assert recording.sources[0].state is SourceState.OK


def test_the_example_tells_what_it_could_not_read(folder: Path, tmp_path: Path) -> None:
    """A file that is half written is missing for that moment; one that is never there is an error with a hint."""
    recording = taken(folder, tmp_path / "status.json", [state(0), "{", state(300), state(450)])
    assert recording.sources[0].state is SourceState.PARTIAL
    with pytest.raises(TriageError, match="could not be read once"):
        load_collector(folder / "acme.py").collect(request(tmp_path / "nowhere.json", 2))


def test_the_example_comes_in_like_a_shipped_one(folder: Path) -> None:
    """It is found beside the shipped ones, and says why it is not asked where nothing is set."""
    found = load_collectors([folder])
    assert set(found) == {*load_collectors(), "acme"}
    recording = collect(request(None, 0), [found["acme"]])
    assert [(one.name, one.state) for one in recording.sources] == [("acme", SourceState.ABSENT)]
    assert "ACME_STATUS" in recording.sources[0].reason
