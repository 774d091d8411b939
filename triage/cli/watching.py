"""Puts a watch together from flags and settings, and runs it until somebody ends it."""

import argparse
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import Literal

from triage.archive import Archive, archive_of
from triage.checks.choosing import chosen
from triage.checks.lock import held
from triage.classes import dataclass
from triage.cli.effective import Judging, judging_of, settings_of
from triage.cli.heeding import refuse_idle_sources
from triage.cli.historytext import state_of
from triage.cli.report import diagnosed
from triage.cli.sources import Span, Tools, asked, refuse_missing, service_of, span_of, tools_of
from triage.collect import PATIENCE, Progress
from triage.errors import ConfigError, ExitCode, InputMissingError, TriageError, UsageError, printable
from triage.memory.reference import Pace
from triage.memory.store import Known, Store
from triage.memory.watch import Watch
from triage.memory.words import told
from triage.model.diagnosis import Diagnosis
from triage.model.receiver import Receiver
from triage.model.recording import Recording, Window
from triage.model.service import Service
from triage.notify.courier import Courier, address_of, carrier_to
from triage.notify.outbox import Outbox
from triage.render.safe import inert_text
from triage.settings import Settings
from triage.sizes import size
from triage.timespan import seconds
from triage.watch import serving
from triage.watch.board import Board
from triage.watch.live import Live
from triage.watch.looker import Looker, Seen, Source
from triage.watch.running import Rounds
from triage.watch.served import Served
from triage.watch.survey import SPAN, Survey, shortened
from triage.watch.tempo import Tempo

_SHORTEST = 30.0
"""Chosen: seconds of the shortest window of a service that is sampled: in fewer a quantile rests on a few requests."""

_NOWHERE = "none"


def watched(args: argparse.Namespace) -> ExitCode:
    """Watch the services that were chosen until somebody ends it."""
    settings = settings_of(args)
    services = _services(args, settings)
    refuse_idle_sources(args, services)
    refuse_missing(args)
    tempo = _tempo(args, settings)
    listen = args.listen or settings.watch.listen or serving.LISTEN
    address = None if listen == _NOWHERE else serving.address_of(listen)
    receivers = _receivers(args, settings)
    state = state_of(args.state or settings.watch.state)
    archive = archive_of(state, size(args.keep) if args.keep is not None else settings.defaults.keep)
    what = f"another triage watch keeps its memory in {state}"
    with ExitStack() as stack:
        stack.enter_context(held(state.with_suffix(".watch"), what, time.time()))
        outbox = Outbox(archive.store, receivers)
        outbox.prepare()
        couriers = [_courier(name, one, outbox) for name, one in receivers.items()]
        parts = _Parts(args, tools_of(args, settings), judging_of(args, settings), archive, outbox, _known(archive.store), tempo)
        span = span_of(args, settings.defaults, time.time())
        board = Board([one.name for one in services], outbox, couriers)
        if address is not None:
            stack.enter_context(serving.serving(*address, board))
        sampled = frozenset(one.name for one in services if _is_sampled(one))
        lookers = [_looker(one, span, parts) for one in services]
        rounds = Rounds(lookers, tempo, board, couriers, _Teller(), _complain, sampled)
        stack.enter_context(_ended_by_signals(rounds.stop))
        _say(_greeting(services, receivers, tempo, listen))
        rounds.run()
    _say(_farewell(receivers, outbox))
    return ExitCode.HEALTHY


@dataclass(frozen=True)
class _Parts:
    """What the watch of every service is made of."""

    args: argparse.Namespace
    tools: Tools
    judging: Judging
    archive: Archive
    outbox: Outbox
    known: Mapping[str, Known]
    tempo: Tempo


def _services(args: argparse.Namespace, settings: Settings) -> list[Service]:
    """The services to watch.

    :raises UsageError: one was named that is a recording, or names and flags contradict each other
    :raises ConfigError: nobody says what to watch
    """
    if "-" in args.logs:
        raise UsageError("standard input ends, and a watch does not", "name a file or a folder with --logs")
    if args.service or args.prometheus or args.endpoint:
        if args.services or args.label:
            raise UsageError("SERVICE and --label choose from triage.toml, and --service names one", "give one of them")
        found = [service_of(args, settings)]
    elif not settings.services:
        where = f"{settings.path} names no service" if settings.path else "there is no triage.toml"
        raise ConfigError(
            f"nothing to watch: {where}", "write [service.NAME] tables, or name one with --service and --prometheus or --endpoint"
        )
    else:
        found = chosen(settings.services, args.services, args.label)
    live = [one for one in found if one.incident is None]
    if not live or (args.services and len(live) < len(found)):
        kept = next(one.name for one in found if one.incident is not None)
        raise UsageError(f"{kept} is a recording, and nothing becomes different in it", "watch a service with live sources")
    return live


def _tempo(args: argparse.Namespace, settings: Settings) -> Tempo:
    """How often services are looked at."""
    every = seconds(args.pause) if args.pause else settings.watch.every
    whole = seconds(args.whole) if args.whole else settings.watch.whole
    if every < 1.0:
        raise UsageError(f"{every:g} s from one look to the next are too few", "give a second or more; 60 is usual")
    return Tempo(every, whole)


def _receivers(args: argparse.Namespace, settings: Settings) -> dict[str, Receiver]:
    """Who is told: the receivers of the settings, and those of the flags, which are called after their kind."""
    found = dict(settings.receivers)
    flags: list[tuple[Literal["alertmanager", "webhook"], list[str]]] = [
        ("alertmanager", args.alertmanager),
        ("webhook", args.webhook),
    ]
    for kind, urls in flags:
        for number, url in enumerate(urls, 1):
            name = kind if number == 1 else f"{kind}-{number}"
            if name in found:
                raise UsageError(f"--{kind}: a receiver of [notify] is called {name!r} already", "give that one another name")
            found[name] = Receiver(kind=kind, url=url)
    return found


def _courier(name: str, receiver: Receiver, outbox: Outbox) -> Courier:
    """Who brings messages to a receiver.

    :raises ConfigError: a variable that it names is not set
    """
    address = address_of(name, receiver, os.environ)
    return Courier(name, receiver, address, outbox, carrier_to(address), tell=_mutter)


def _known(store: Store) -> dict[str, Known]:
    """What is remembered, by service."""
    try:
        return {one.service: one for one in store.services()}
    except InputMissingError:
        return {}


def _is_sampled(service: Service) -> bool:
    """Whether a service has sources that know only the present."""
    return bool(service.endpoints) or not service.prometheus


def _looker(service: Service, span: Span, parts: _Parts) -> Looker:
    """Who looks at a service."""
    judging = replace(parts.judging, named=service.name)
    source: Source
    survey: Survey | None = None
    known = parts.known.get(service.name)
    if _is_sampled(service):
        source = _sampled(service, span, parts)
    else:
        pace = Pace(span.since / 4.0, span.since, span.since + span.baseline, sampled=False)
        watch = Watch(pace, reference=known.reference if known is not None else None)
        source = Served(partial(_ask, service, span, parts.tools), watch)
        survey = _Surveys(service, span, parts.tools, replace(judging, rules=()))
    source.watch.heed(judging.rules)
    if known is not None:
        source.watch.memory = known.memory
    judge = partial(_judged, judging, service.name)
    return Looker(service.name, source, judge, survey, parts.archive, parts.outbox, parts.tempo.whole)


def _sampled(service: Service, span: Span, parts: _Parts) -> Live:
    """A service that is sampled all the time: one round takes as long as from one look to the next."""
    given = parts.args.sample is not None
    steady = span if given else replace(span, sample=parts.tempo.every)

    def ask(tell: Progress, earlier: Recording | None) -> Recording:
        return asked(service, steady, parts.tools, tell, earlier=earlier)

    shortest = max(steady.sample, _SHORTEST)
    pace = Pace(shortest, max(span.since, shortest), span.since + span.baseline, sampled=not service.prometheus)
    return Live(service.name, ask, pause=0.0, lasts=steady.sample, pace=pace)


def _ask(service: Service, span: Span, tools: Tools, tell: Progress, look_at: Callable[[Window], Window]) -> Recording:
    return asked(service, span, tools, tell, PATIENCE, look_at=look_at)


@dataclass(frozen=True)
class _Surveys:
    """Short looks at what users notice, without any rule."""

    service: Service
    span: Span
    tools: Tools
    judging: Judging

    def taken(self) -> Diagnosis:
        """What users notice now."""
        short = replace(self.span, since=SPAN, baseline=SPAN)
        return _judged(self.judging, self.service.name, asked(self.service, short, self.tools, _unwatched, PATIENCE))

    def of(self, recording: Recording) -> Diagnosis:
        """What a survey would have said at the end of a whole look."""
        return _judged(self.judging, self.service.name, replace(recording, window=shortened(recording.window)))


def _judged(judging: Judging, name: str, recording: Recording) -> Diagnosis:
    return diagnosed(recording, judging).model_copy(update={"service": name})


def _unwatched(source: str, message: str, done: float) -> None:
    """Progress that nobody watches."""


@contextmanager
def _ended_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and SIGINT end the watch, a second one the program.

    A thread hears of them: a handler would run in the middle of what holds a lock that it wants, too.
    """
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = {one: signal.signal(one, _heard) for one in (signal.SIGTERM, signal.SIGINT)}
    heard = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    Thread(target=_wait, args=(ours, stop), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(heard)
        for one, handler in before.items():
            signal.signal(one, handler)
        theirs.close()


def _heard(*_: object) -> None:
    """A signal came; a byte says so to the thread that waits."""


def _wait(ours: socket.socket, stop: Callable[[], None]) -> None:
    """Wait for the first signal, and for the second; an end of the pipe is the end of the watch."""
    with ours:
        if ours.recv(1):
            stop()
        if ours.recv(1):
            os._exit(128 + signal.SIGTERM)


def _greeting(services: Sequence[Service], receivers: Mapping[str, Receiver], tempo: Tempo, listen: str) -> str:
    """What is watched, who is told, where more is seen."""
    names = ", ".join(one.name for one in services[:5]) + (f" and {len(services) - 5} more" if len(services) > 5 else "")
    told_ = ", ".join(f"{name} ({one.kind})" for name, one in receivers.items()) or "nobody"
    where = (
        "" if listen == _NOWHERE else f"; http://{listen}/metrics" if ":" in listen else f"; http://127.0.0.1:{listen}/metrics"
    )
    return f"watching {names} every {tempo.every:g} s; told: {told_}{where}"


def _farewell(receivers: Mapping[str, Receiver], outbox: Outbox) -> str:
    """What is left to be told by the next watch."""
    left = {name: outbox.waiting(name).count for name in receivers}
    waits = ", ".join(f"{count} for {name}" for name, count in left.items() if count)
    return f"ended; messages that wait on disk: {waits}" if waits else "ended"


class _Teller:
    """Writes a line for each thing that became different, and one for how a service is found, also where nobody can tell."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    def __call__(self, seen: Seen) -> None:
        """Write of one look."""
        for one in seen.news:
            _say(f"{seen.service}: {told(one, one.time)}")
        is_first = seen.service not in self._found
        self._found.add(seen.service)
        if seen.error and (seen.news or is_first):
            _say(f"{seen.service}: {seen.error}")
        elif is_first and not seen.news and seen.diagnosis is not None:
            _say(f"{seen.service}: {seen.diagnosis.status}; {seen.diagnosis.headline}")


def _complain(service: str, error: TriageError) -> None:
    """Why a look could not be remembered."""
    _mutter(f"{service}: {error.message}{f'; {error.hint}' if error.hint else ''}")


def _say(text: str) -> None:
    """A line to stdout, with the time; a journal adds its own, a pipe does not."""
    sys.stdout.write(f"{_now()} {printable(inert_text(text))}\n")
    sys.stdout.flush()


def _mutter(text: str) -> None:
    """A line to stderr."""
    sys.stderr.write(f"{_now()} triage: {printable(inert_text(text))}\n")
    sys.stderr.flush()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
