"""A watch at a real Prometheus and a real Alertmanager: what people hear of a fault that comes, stays and goes."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.engines import FakeEngine
from tests.servers import alertmanager, ended, free_port, get, heard, hooked, prometheus, prometheus_with
from triage.archive import archive_of
from triage.cli import parser
from triage.cli.effective import judging_of
from triage.cli.sources import Span, span_of, tools_of
from triage.cli.watching import _ask, _judged, _Surveys
from triage.memory.reference import Pace
from triage.memory.watch import Watch
from triage.model.diagnosis import Diagnosis, Status
from triage.model.receiver import Receiver
from triage.model.recording import Recording
from triage.model.service import Service
from triage.notify.courier import Courier, address_of, carrier_to
from triage.notify.outbox import Outbox
from triage.settings import Settings
from triage.watch.looker import Looker, Seen
from triage.watch.served import Served

pytestmark = pytest.mark.slow

BEGIN, SCRAPE = 1_760_000_000.0, 15.0
FAULT, STOPPED, STARTED = BEGIN + 1200.0, BEGIN + 1380.0, BEGIN + 1680.0
OVER, END = BEGIN + 1800.0, BEGIN + 2640.0


def samples() -> bytes:
    """What a server has of an engine that is overloaded for ten minutes, in the middle of which the server is away for five."""
    engine, rows = FakeEngine(), list[tuple[str, str]]()
    at = BEGIN - SCRAPE
    while (at := at + SCRAPE) < END:
        engine.overloaded = FAULT <= at < OVER
        engine.live(SCRAPE)
        if STOPPED <= at < STARTED:
            continue
        own = {"instance": "10.0.0.1:8000", "job": "vllm", "service": "llm-prod", "replica": "llm-prod-0"}
        rows.append(("up", f"up{_labels(own)} 1 {at:.0f}"))
        for family in engine.registry.collect():
            rows += [(one.name, f"{one.name}{_labels({**own, **one.labels})} {one.value} {at:.0f}") for one in family.samples]
    rows.sort(key=lambda row: row[0])
    return "".join(f"{line}\n" for _, line in [*rows, ("", "# EOF")]).encode()


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def waited(until: Any, seconds: float = 20.0) -> bool:
    """Whether something came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if until():
            return True
        time.sleep(0.05)
    return bool(until())


class World:
    """A service that is watched at a server with recorded samples, at whatever moment a test wants.

    :param told: what came of each look
    """

    def __init__(self, folder: Path, receivers: dict[str, Receiver]) -> None:
        args = parser().parse_args(["watch", "--since", "10m", "--timeout", "3"])
        settings = Settings()
        self.now = BEGIN
        self.told: list[Seen] = []
        self.tools, self.judging = tools_of(args, settings), judging_of(args, settings)
        self.span = span_of(args, settings.defaults, END)
        self.archive = archive_of(folder / "history.sqlite", 10_000_000)
        self.outbox = Outbox(self.archive.store, receivers)
        self.outbox.prepare()
        places = {name: address_of(name, one, {}) for name, one in receivers.items()}
        self.couriers = [
            Courier(name, one, places[name], self.outbox, carrier_to(places[name])) for name, one in receivers.items()
        ]

    def at(self, service: Service) -> Looker:
        """Who looks at a service, as the command makes it, but for the time."""
        watch = Watch(Pace(self.span.since / 4.0, self.span.since, self.span.since + self.span.baseline, sampled=False))
        watch.heed(self.judging.rules)
        judge = partial(_judged, self.judging, service.name)
        source = Served(lambda tell, look_at: _ask(service, self._until_now(), self.tools, tell, look_at), watch)
        survey = partial(_Surveys, service, tools=self.tools, judging=replace(self.judging, rules=()))
        return Looker(service.name, source, judge, _Now(lambda: survey(self._until_now())), self.archive, self.outbox, 300.0)

    def _until_now(self) -> Span:
        return replace(self.span, end=self.now)

    def looks(self, looker: Looker, begin: float, end: float) -> list[Seen]:
        """A look a minute, and what has to be told is brought."""
        seen = []
        self.now = begin
        while self.now < end:
            seen.append(looker.look(lambda *_: None))
            for courier in self.couriers:
                courier.deliver()
            self.now += 60.0
        self.told += seen
        return seen


class _Now:
    """Surveys of the moment at which they are taken."""

    def __init__(self, surveys: Callable[[], _Surveys]) -> None:
        self._surveys = surveys

    def taken(self) -> Diagnosis:
        return self._surveys().taken()

    def of(self, recording: Recording) -> Diagnosis:
        return self._surveys().of(recording)


def test_a_fault_is_told_once_when_it_comes_and_once_when_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prometheus is stopped and started in the middle of it: unknown, then back; nothing is lost, no false all-clear.

    The hole that this leaves in its samples is told as no cause, and keeps nothing from being over.
    """
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with ExitStack() as stack:
        hook, got = stack.enter_context(hooked())
        own_hook, chat = stack.enter_context(hooked())
        address = stack.enter_context(alertmanager(tmp_path / "am", hook))
        receivers = {"am": Receiver(kind="alertmanager", url=address), "hook": Receiver(kind="webhook", url=own_hook)}
        world = World(tmp_path, receivers)
        monkeypatch.setattr("triage.watch.looker.time", lambda: world.now)
        with prometheus_with(samples(), folder) as server:
            looker = world.at(Service(name="llm-prod", prometheus=server.address))
            before = world.looks(looker, FAULT - 300.0, FAULT)
            assert {one.memory.status for one in before} == {Status.HEALTHY}
            assert [one.was_survey for one in before] == [False, False, True, True, True]
            during = world.looks(looker, FAULT, STOPPED)
            assert waited(lambda: heard(got) == [("TriageTrouble", "firing")]), heard(got)
        blind = world.looks(looker, STOPPED, STARTED)
        assert waited(lambda: heard(got)[1:] == [("TriageBlind", "firing")]), heard(got)
        stack.enter_context(
            prometheus(folder, f"--storage.tsdb.path={folder / 'data'}", at=server.address.removeprefix("http://"))
        )
        after = world.looks(looker, STARTED, END - 30.0)
        assert waited(lambda: ("TriageTrouble", "resolved") in heard(got)), heard(got)
    for name in ("TriageTrouble", "TriageBlind"):
        assert [state for alert, state in heard(got) if alert == name] == ["firing", "resolved"]
    assert [(one["topic"], one["changes"], one["rule"]) for one in chat] == [
        ("trouble", ["raised"], "true-overload"),
        ("blind", ["raised"], None),
        ("blind", ["over"], None),
        ("trouble", ["over"], "true-overload"),
    ]
    assert during[-1].memory.status is Status.INCIDENT
    assert Status.HEALTHY not in {one.memory.status for one in blind}
    assert after[-1].memory.status is Status.HEALTHY
    assert {one.service for one in world.archive.store.kept()} == {"llm-prod"}
    assert after[0].diagnosis is not None
    (hole,) = [one for one in after[0].diagnosis.findings if one.rule == "metric-scrape-gap"]
    assert hole.until is not None
    assert not any("metric-scrape-gap" in key for seen in after for key, _ in seen.memory.up())


def start(folder: Path, port: int, *words: str) -> "subprocess.Popen[str]":
    """The command as a user runs it."""
    command = [sys.executable, "-m", "triage", "watch", "--service", "llm-prod", "--listen", f"127.0.0.1:{port}", *words]
    environ = {**os.environ, "XDG_STATE_HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)


def test_the_command_serves_metrics_says_that_it_is_well_and_ends_when_it_is_told(tmp_path: Path) -> None:
    """A server that nobody answers for: the service is unknown, said once; SIGTERM ends it in order."""
    port, nobody = free_port(), free_port()
    process = start(tmp_path, port, "--prometheus", f"http://127.0.0.1:{nobody}", "--every", "1")
    with ended(process):
        url = f"http://127.0.0.1:{port}"
        assert waited(lambda: _answers(url), 60.0)
        assert get(f"{url}/healthz") == (200, b"ok\n")
        assert get(f"{url}/nothing")[0] == 404
        assert waited(lambda: 'triage_watch_looks_total{result="judged",service="llm-prod"} 2.0' in _metrics(url), 60.0)
        request = urllib.request.Request(f"{url}/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
            assert answer.read().endswith(b"# EOF\n")
        states = {one.labels["state"]: one.value for one in _family(_metrics(url), "triage_service_state")}
        assert states == {"ok": 0.0, "warning": 0.0, "critical": 0.0, "unknown": 1.0}
        second = start(tmp_path, free_port(), "--prometheus", f"http://127.0.0.1:{nobody}")
        out, err = second.communicate(timeout=60)
        assert second.returncode == 75
        assert "another triage watch keeps its memory in" in err
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out.splitlines()[-1].endswith(" ended")
    assert "watching llm-prod every 1 s; told: nobody" in out
    assert out.count(f"llm-prod: inconclusive; Prometheus at http://127.0.0.1:{nobody} refuses connections") == 1
    assert err == ""


def _answers(url: str) -> bool:
    try:
        return get(f"{url}/")[0] == 200
    except OSError:
        return False


def _metrics(url: str) -> str:
    return get(f"{url}/metrics")[1].decode()


def _family(text: str, name: str) -> list[Any]:
    return [sample for family in text_string_to_metric_families(text) if family.name == name for sample in family.samples]
