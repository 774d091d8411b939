"""Where a diagnosis gets its data: what the flags and the settings say, and what happens if neither says anything."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from triage.classes import dataclass
from triage.cli.effective import language_of
from triage.cli.heeding import refuse_idle_sources
from triage.cli.progress import Screen, progress
from triage.collect import PATIENCE, Progress, SoFar, collect
from triage.errors import InputMissingError, UsageError
from triage.ingest.files.incident import read_any
from triage.ingest.language import Language
from triage.ingest.logs import window_of_logs
from triage.model.recording import Recording, Window
from triage.model.service import NAMELESS, Service
from triage.plugins import load_collectors
from triage.sdk import Collector, Request
from triage.settings import Defaults, Settings
from triage.timespan import duration, moment, seconds

_BASELINE_WINDOWS = 3.0
"""A baseline that nobody asked for is at most so long: points are spread over both, and a short window needs fine steps."""

_STEPS_IN_WINDOW = 120
"""Samples wanted in the window: enough to place an onset, few enough to fetch a fleet."""


@dataclass(frozen=True)
class Span:
    """The time that was asked for.

    :param start: begin of the window, Unix seconds; None if it is told by its length
    :param end: end of the window, Unix seconds; None if it is now
    :param since: length of the window, seconds
    :param baseline: length of the span before it, seconds
    :param sample: how long live sources are sampled, seconds
    :param timeout: longest wait for one answer, seconds
    :param given: somebody said which time, so it counts whatever the sources hold
    :param baseline_given: somebody said how long the baseline is
    """

    start: float | None
    end: float | None
    since: float
    baseline: float
    sample: float
    timeout: float
    given: bool = False
    baseline_given: bool = False


def service_of(args: argparse.Namespace, settings: Settings) -> Service:
    """The service to look at: the settings' one with what the flags say instead.

    A name that the settings do not know is good where they know none, or where a flag says where to look.

    :raises UsageError: the settings know other services, or a server is to be asked about nobody
    """
    if args.prometheus and not args.service:
        raise UsageError("--prometheus needs --service", "a server knows many services; name the one to look at")
    told = bool(args.prometheus or args.endpoint)
    if args.service in settings.services or (args.service and settings.services and not told):
        service = settings.service(args.service)
    else:
        service = Service(name=args.service or NAMELESS, prometheus=settings.defaults.prometheus if args.service else None)
    if told:
        service = service.model_copy(update={"prometheus": args.prometheus, "endpoints": tuple(args.endpoint), "incident": None})
    if args.logs:
        service = service.model_copy(update={"logs": tuple(map(Path, args.logs))})
    return service.model_copy(update={"changes": args.changes}) if args.changes else service


def span_of(args: argparse.Namespace, defaults: Defaults, now: float) -> Span:
    """The time that the flags ask for, completed from the settings.

    :raises UsageError: the flags contradict each other, or the window is empty or in the future
    """
    if args.start and args.since:
        raise UsageError("--from and --since both say where the window begins", "give one of them")
    start = moment(args.start, now) if args.start else None
    end = moment(args.end, now) if args.end else None
    if end is not None and end > now:
        raise UsageError(f"--to {args.end} lies in the future", "leave it out for a window that ends now")
    if start is not None and start >= (now if end is None else end):
        raise UsageError("the window is empty: --from is not before --to")
    since = duration(args.since) if args.since else defaults.since
    length = since if start is None else (now if end is None else end) - start
    return Span(
        start,
        end,
        since,
        duration(args.baseline) if args.baseline else min(defaults.baseline, _BASELINE_WINDOWS * length),
        seconds(args.sample) if args.sample else defaults.sample,
        seconds(args.timeout) if args.timeout else defaults.timeout,
        given=bool(args.since or args.start or args.end),
        baseline_given=bool(args.baseline),
    )


def window_of(span: Span, service: Service, now: float) -> Window:
    """The window to judge and its baseline.

    A server that keeps history is asked up to now, and so are logs and changes. With nothing but logs, and no word on the time,
    the window ends at their last line. Sources that know only the present are sampled for a while, and with nothing but those the
    window is that while.
    """
    if service.logs and not (span.given or service.prometheus or service.endpoints):
        window = window_of_logs(service.logs, now)
        if window is not None:
            return replace(window, baseline_start=window.start - span.baseline) if span.baseline_given else window
    kept = bool(service.prometheus or service.logs or service.changes)
    live = span.end is None and (bool(service.endpoints) or not service.prometheus)
    end = span.end if span.end is not None else now + (span.sample if live else 0.0)
    usual = end - span.since if kept else now
    start = usual if span.start is None else span.start
    return Window(start, end, start - span.baseline)


@contextmanager
def stdin_kept(service: Service) -> Iterator[Service]:
    """The service with standard input as a file: its last line is needed before its first is judged."""
    if Path("-") not in service.logs:
        yield service
        return
    with TemporaryDirectory(prefix="triage-") as folder:
        kept = Path(folder) / "stdin"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield service.model_copy(update={"logs": tuple(kept if path == Path("-") else path for path in service.logs)})


@dataclass(frozen=True)
class Tools:
    """What services are asked with; loaded once, however many there are."""

    collectors: tuple[Collector, ...]
    language: Language


def tools_of(args: argparse.Namespace, settings: Settings) -> Tools:
    """Collectors, dialects and signatures: shipped ones, those of the settings, those of the flags."""
    return Tools(tuple(load_collectors(args.collectors).values()), language_of(args, settings))


def refuse_missing(args: argparse.Namespace) -> None:
    """Refuse logs and changes that a flag names and that are not there, before anything is asked.

    Those of the settings are sources like others: what is missing is told in the report.

    :raises InputMissingError: one is not there
    """
    for flag, path in [*(("--logs", Path(path)) for path in args.logs), ("--changes", args.changes)]:
        if path is not None and path != Path("-") and not path.exists():
            raise InputMissingError(f"{path} ({flag}) does not exist", "name a file or folder that is there")


def recording_of(
    args: argparse.Namespace, settings: Settings, follow: Callable[[Screen, float], SoFar | None] | None = None
) -> Recording:
    """A recording of the service that flags and settings name: the incident that was kept, or what its sources say now.

    :param follow: of what has to be sampled: gives what is told meanwhile what is known so far, for a screen and the seconds
        that are sampled in all
    """
    span = span_of(args, settings.defaults, time.time())
    service = service_of(args, settings)
    refuse_idle_sources(args, [service])
    refuse_missing(args)
    if service.incident is not None:
        return read_any(service.incident, service, language_of(args, settings))
    tools = tools_of(args, settings)
    with progress(quiet=args.quiet) as screen, stdin_kept(service) as service:
        is_sampled = service.prometheus is None
        so_far = follow(screen, span.sample) if follow is not None and is_sampled else None
        return asked(service, span, tools, screen, so_far=so_far, is_kept=is_sampled)


def asked(
    service: Service,
    span: Span,
    tools: Tools,
    tell: Progress,
    patience: float = PATIENCE,
    earlier: Recording | None = None,
    look_at: Callable[[Window], Window] | None = None,
    so_far: SoFar | None = None,
    *,
    is_kept: bool = False,
) -> Recording:
    """A recording of what the sources of a service say now.

    :param tell: is told how far each source is
    :param patience: seconds that a source may need beyond the end of the window
    :param earlier: what is known from looks before
    :param look_at: gives another window than the usual one: of trouble that goes on all of it
    :param so_far: is told meanwhile what is known
    :param is_kept: of what was sampled until an interrupt a recording is made
    """
    window = window_of(span, service, time.time())
    if look_at is not None:
        window = look_at(window)
    step = max(1.0, round((window.end - window.start) / _STEPS_IN_WINDOW))
    request = Request(
        service,
        window,
        step,
        span.timeout,
        tools.language.dialects,
        time.time,
        os.environ,
        signatures=tools.language.signatures,
        earlier=earlier,
    )
    return collect(request, tools.collectors, tell, patience, so_far=so_far, is_kept=is_kept)
