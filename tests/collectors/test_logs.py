"""The collectors of logs and changes, loaded as plug-ins, over real files."""

import json
from pathlib import Path

import pytest

from triage.bundle import bundled
from triage.model.recording import SourceState, Window
from triage.model.service import Service
from triage.plugins import load_collector
from triage.sdk import Collector, Request

START = 1789560000.0  # 2026-09-16T12:00:00Z
WINDOW = Window(START, START + 1800.0, START - 1800.0)


def request(service: Service) -> Request:
    return Request(service=service, window=WINDOW, step=15.0, timeout=5.0, dialects=(), clock=lambda: WINDOW.end)


@pytest.fixture(params=["logs", "changes"])
def collector(request: pytest.FixtureRequest) -> Collector:
    """Each of the two collectors."""
    return load_collector(bundled("collectors") / f"{request.param}.py")


def test_nothing_named(collector: Collector) -> None:
    """Without a path there is nothing to ask, and what to give is said."""
    reason = collector.wanted(request(Service(name="chat")))
    assert f"--{collector.name}" in reason
    assert collector.sees


def test_logs(tmp_path: Path) -> None:
    """A folder of logs becomes events, facts, series and one source per kind of emitter."""
    (tmp_path / "engine-chat-0.log").write_text(
        "(APIServer pid=1) INFO 09-16 12:00:01 [api.py:1] non-default args: {'max_num_seqs': 16}\n"
        "(APIServer pid=1) INFO 09-16 12:00:31 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Running: 3 reqs\n"
    )
    (tmp_path / "kernel-n1.log").write_text("Sep 16 12:00:10 n1 kernel: NVRM: Xid (PCI:0000:52:00): 79, pid=1, x\n")
    collector = load_collector(bundled("collectors") / "logs.py")
    asked = request(Service(name="chat", logs=(tmp_path,)))
    assert collector.wanted(asked) == ""
    recording = collector.collect(asked)
    assert [event.name for event in recording.events if event.kind == "xid"] == ["79"]
    assert {fact.key: fact.value for fact in recording.facts}["max_num_seqs"] == 16.0
    assert "batch.running" in recording.by_signal
    assert [(source.name, source.state) for source in recording.sources] == [
        ("log:engine", SourceState.OK),
        ("log:kernel", SourceState.OK),
    ]


def test_a_folder_without_logs(tmp_path: Path) -> None:
    """A folder that holds no log is told as such, not passed over."""
    collector = load_collector(bundled("collectors") / "logs.py")
    (source,) = collector.collect(request(Service(name="chat", logs=(tmp_path,)))).sources
    assert (source.name, source.state) == ("logs", SourceState.ABSENT)


def test_changes(tmp_path: Path) -> None:
    """A file of changes becomes events and a source."""
    path = tmp_path / "changes.jsonl"
    path.write_text(json.dumps({"time": START + 5, "kind": "deploy", "service": "chat", "version": "v2"}))
    collector = load_collector(bundled("collectors") / "changes.py")
    recording = collector.collect(request(Service(name="chat", changes=path)))
    assert [(event.kind, event.name) for event in recording.events] == [("deploy", "v2")]
    assert [(source.name, source.state) for source in recording.sources] == [("changes", SourceState.OK)]
