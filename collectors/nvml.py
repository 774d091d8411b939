"""The NVIDIA cards of this machine, asked through the driver's own library."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from triage.sdk import Event, Recording, Request, Samples, Scope, Source, SourceState, Subject, beats, in_background
from triage.sdk.parts import engines, nvml

_PROC = Path("/proc")
_PATIENCE_TO_OPEN = 3.0
"""Opening the driver may take this many times the time-out: without persistence mode it wakes every card first."""


class _Run:
    """One run over an open driver: what the cards said, which of them went or fell silent."""

    def __init__(self, driver: nvml.Driver, request: Request) -> None:
        self.driver, self.request = driver, request
        self.samples = Samples()
        self.living = list(driver.cards)
        self.listening: Future[list[tuple[Subject, int]]] | None = None
        self.silent = False

    def sample(self, recording: Callable[[], Recording]) -> None:
        """Asks all cards until the window ends or none is left.

        :param recording: makes one of what they have said so far
        """
        request = self.request
        for number, (now, done) in enumerate(beats(request.window.end, request.step, request.clock, request.stop)):
            request.progress(f"sampling {len(self.living)} card{'s' * (len(self.living) != 1)}", done)
            for card in self.living:
                if card.pending is None:
                    card.begun = (now, monotonic())
                    card.pending = in_background(partial(card.read, self.driver.nvml))
            if self.listening is None:
                self.listening = in_background(self.driver.reported)
            self._harvest(now, min(request.timeout, 0.9 * request.step))
            if not self.living:
                break
            if number:
                request.so_far(recording)
        self._harvest(request.clock(), 0.0 if request.stop.is_set() else request.timeout)

    def _harvest(self, now: float, timeout: float) -> None:
        """Takes what came back within the timeout, and gives up on what has been away for too long."""
        away: list[Future[Any] | None] = [self.listening, *(card.pending for card in self.living)]
        wait([one for one in away if one], timeout=timeout)
        for card in list(self.living):
            if card.pending is None:
                continue
            if card.pending.done():
                self._take(card, now)
                card.pending = None
            elif monotonic() - card.begun[1] >= self.request.timeout:
                self._give_up(card, now)
        if self.listening and self.listening.done():
            self._report(self.listening.result(), now)
            self.listening = None

    def _take(self, card: nvml.Card, now: float) -> None:
        assert card.pending is not None
        try:
            readings = card.pending.result()
        except nvml.CardGoneError as error:
            self._lose(card, now, "gpu-lost", str(error))
            return
        for reading in readings:
            self.samples.add(card.begun[0], card.subject, reading)

    def _give_up(self, card: nvml.Card, now: float) -> None:
        self.silent = True
        self._lose(card, now, "gpu-hung", f"did not answer the driver within {self.request.timeout:g} s")

    def _lose(self, card: nvml.Card, now: float, kind: str, why: str) -> None:
        """Ends a card's series."""
        self.living.remove(card)
        self.driver.notes.append(f"{card.model} {card.subject.id} {why}")
        if not card.instance:
            self.driver.events.append(Event(now, kind, kind, card.subject, {}, f"{card.model} {why}", "nvml"))

    def _report(self, reports: list[tuple[Subject, int]], now: float) -> None:
        """Adds Xids as events, and the last code as a signal of the cards that can report one."""
        reporting = self.driver.reporting
        for subject, code in reports:
            reporting[subject] = float(code)
            self.driver.events.append(Event(now, "xid", str(code), subject, {}, f"the driver reports Xid {code}", "nvml"))
        for card in self.living:
            if card.subject in reporting:
                self.samples.add(now, card.subject, nvml.reading("gpu.xid", reporting[card.subject], "nvmlEventSetWait"))


def _own_names() -> set[str]:
    """Names and addresses of this machine."""
    import psutil

    addresses = {address.address.partition("%")[0] for link in psutil.net_if_addrs().values() for address in link}
    return addresses | {engines.this_node({})}


class NvmlCollector:
    """Samples all cards of this machine."""

    name = "nvml"
    sees = "the NVIDIA cards of this machine: memory, clocks and what holds them down, heat, power, errors, links"

    def wanted(self, request: Request) -> str:
        """Only if the service runs here and the window lies ahead."""
        if find_spec("pynvml") is None:
            return "the Python package nvidia-ml-py is not installed"
        return engines.why_not_here(request.service, request.window.end, request.clock(), _own_names())

    def collect(self, request: Request) -> Recording:
        """Samples until the window ends. A driver or card that does not answer ends its own series, not the run."""
        import pynvml

        driver = nvml.Driver(pynvml, Subject(Scope.NODE, engines.this_node(request.environ)), _PROC)
        opening = in_background(partial(driver.open, request.clock()))
        try:
            opening.result(timeout=_PATIENCE_TO_OPEN * request.timeout)
        except TimeoutError:
            return self._closed(request, driver, nvml.never_opened(_PATIENCE_TO_OPEN * request.timeout))
        except pynvml.NVMLError as error:
            return self._closed(request, driver, nvml.open_failure(error))
        run = _Run(driver, request)
        if driver.cards:
            run.sample(partial(self._recording, request, run))
        if not run.silent:
            wait([in_background(driver.close)], timeout=min(request.timeout, 1.0))
        return self._recording(request, run)

    def _recording(self, request: Request, run: _Run) -> Recording:
        driver = run.driver
        return Recording(
            service=request.service.name,
            window=request.window,
            series=run.samples.series(self.name, request.step),
            events=tuple(driver.events),
            facts=tuple(driver.facts),
            links={card.subject: (driver.node,) for card in sorted(driver.cards, key=lambda card: card.subject)},
            sources=(_source(driver),),
            step=request.step,
        )

    def _closed(self, request: Request, driver: nvml.Driver, failure: nvml.OpenFailure) -> Recording:
        """The recording of a driver that could not be opened; that it could not is an event."""
        event = Event(request.clock(), "nvml", failure.name, driver.node, {}, failure.said, "nvml")
        reason = f"{failure.said}: {failure.meaning}" if failure.said else failure.meaning
        return Recording(
            request.service.name,
            request.window,
            events=(event,) if failure.name else (),
            sources=(Source(self.name, failure.state, reason),),
            step=request.step,
        )


def _source(driver: nvml.Driver) -> Source:
    """What became of the cards. That a kind of card lacks something is told, but is no failure."""
    if not driver.cards and not driver.notes:
        return Source("nvml", SourceState.FAILED, "the driver is loaded but knows no card: look at lspci and the kernel log")
    troubles = list(driver.notes)
    lacking: dict[tuple[str, str], list[str]] = {}
    for card in driver.cards:
        troubles += [f"{card.model} {card.subject.id}: {text} ({count} times)" for text, count in sorted(card.errors.items())]
        for what, why in card.refused.items():
            told = lacking.setdefault((card.model, why), [])
            if what not in told:
                told.append(what)
    state = SourceState.FAILED if not driver.cards else SourceState.PARTIAL if troubles else SourceState.OK
    return Source(
        "nvml", state, "; ".join(troubles + [f"{model}: {', '.join(what)} {why}" for (model, why), what in lacking.items()])
    )


collector = NvmlCollector()
