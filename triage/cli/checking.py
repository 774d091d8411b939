"""Checks services side by side within limits, and sums them up."""

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from triage.archive import Archive, archive_of
from triage.checks.choosing import Shard, chosen, shard_of
from triage.checks.lock import held
from triage.checks.outcome import Checked, worst
from triage.checks.workers import Desk, Died, Failed, Late, Limits, Result, Trouble, worked
from triage.cli.checkforms import brief_form, tell
from triage.cli.checkround import Judged, Round
from triage.cli.effective import judging_of, language_of, settings_of
from triage.cli.heeding import refuse_idle_sources
from triage.cli.historytext import state_of
from triage.cli.keeping import refuse_unwritable
from triage.cli.progress import progress
from triage.cli.report import EXIT_CODES
from triage.cli.sources import Tools, refuse_missing, service_of, span_of, stdin_kept, tools_of
from triage.errors import ConfigError, ExitCode, TriageError, UsageError, printable
from triage.memory.store import Known, Store
from triage.model.service import Service
from triage.settings import Settings
from triage.sizes import size
from triage.timespan import seconds

_EACH = 60.0
"""Seconds for one service: a server that answers in ten seconds, asked in several rounds, is still heard out."""

_JOBS = 8
"""Services at the same time: enough that one that waits or samples keeps no core idle, few enough for small machines."""

_AT_A_SERVER = 2
"""Services that ask one server at the same time, eight questions each: Prometheus runs 20 (``--query.max-concurrency``)."""


def checked(args: argparse.Namespace) -> ExitCode:
    """Check the services that were chosen, tell how each is, and give the worst state's exit code."""
    settings = settings_of(args)
    services = _services(args, settings)
    refuse_idle_sources(args, services)
    refuse_missing(args)
    refuse_unwritable(args.output)
    limits = _limits(args)
    with _alone(args, services):
        judging = judging_of(args, settings)
        live = any(service.incident is None for service in services)
        tools = tools_of(args, settings) if live else Tools((), language_of(args, settings))
        span = span_of(args, settings.defaults, time.time())
        round_ = Round(tools, judging, span, known_of(args), _archive(args, settings), brief_form(args))
        outcomes = _outcomes(services, round_, limits, quiet=args.quiet)
        tell(outcomes, args, judging.ruleset, time.time())
    return EXIT_CODES[worst(one.status for one in outcomes)]


def _outcomes(services: Sequence[Service], round_: Round, limits: Limits, *, quiet: bool) -> list[Checked]:
    """How all services are."""
    with ExitStack() as stack:
        ready = [stack.enter_context(stdin_kept(service)) for service in services]
        tell_progress = stack.enter_context(progress(quiet=quiet))
        results = worked([_server(one) for one in ready], partial(_check, ready, round_), limits, tell_progress)
    judged = [_answer(one, result, round_, limits) for one, result in zip(services, results, strict=True)]
    for note in dict.fromkeys(one.note for one in judged if one.note):
        sys.stderr.write(f"triage: {note}\n")
    return [one.outcome for one in judged]


def _check(services: Sequence[Service], round_: Round, piece: int, due: float, desk: Desk) -> Judged:
    return round_.checked(services[piece], due, desk)


def _answer(service: Service, result: Result[Judged], round_: Round, limits: Limits) -> Judged:
    """What became of a service, with how long it took."""
    judged = result.value or round_.blind(service.name, _reason(result.trouble, limits))
    return Judged(judged.outcome.after(result.seconds), judged.note)


def _reason(trouble: Trouble | None, limits: Limits) -> str:
    """Why nobody knows how a service is."""
    match trouble:
        case Late(begun=False):
            return "not begun within the time for everything (--budget)"
        case Late():
            return f"not done within its time: {limits.each:g} s at most (--each), less where --budget ends"
        case Died(code=code):
            return f"the process that checked it died ({code}): was there too little memory? --jobs takes less of it"
        case Failed(what=what):
            return f"a defect in triage: {what}"
    raise AssertionError(trouble)


def _server(service: Service) -> str:
    """Whom a service asks that could be asked too much."""
    return "" if service.incident is not None or not service.prometheus else urlsplit(service.prometheus).netloc


def _limits(args: argparse.Namespace) -> Limits:
    """How much at the same time, and for how long.

    :raises UsageError: nothing at all at the same time
    """
    jobs = _JOBS if args.jobs is None else args.jobs
    if jobs < 1:
        raise UsageError(f"--jobs {jobs} checks nothing", "give a number from 1 on")
    deadline = time.monotonic() + seconds(args.budget) if args.budget else None
    return Limits(jobs, seconds(args.each) if args.each else _EACH, deadline, _AT_A_SERVER)


def _archive(args: argparse.Namespace, settings: Settings) -> Archive | None:
    """Where is remembered; None if nothing is.

    :raises UsageError: no such size
    """
    keep = size(args.keep) if args.keep is not None else settings.defaults.keep
    return None if args.no_state else archive_of(state_of(args.state), keep)


def known_of(args: argparse.Namespace) -> Mapping[str, Known]:
    """What is remembered of each service; nothing where there is no history yet, or none that can be read."""
    if args.no_state or args.start or args.end:
        return {}
    with suppress(TriageError):
        return {one.service: one for one in Store(state_of(args.state)).services()}
    return {}


@contextmanager
def _alone(args: argparse.Namespace, services: Sequence[Service]) -> Iterator[None]:
    """No other run of the same services at the same time; where no lock can be made that is a note.

    :raises BusyError: there is one
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(held(_lock_path(args.state, services), "another check of these services runs", time.time()))
        except (OSError, ConfigError) as error:
            if not args.no_state:
                sys.stderr.write(f"triage: runs may pile up: no lock can be made: {printable(str(error))}\n")
        yield


def _lock_path(state: Path | None, services: Sequence[Service]) -> Path:
    """The lock of these services, beside the history. Checks of others, and other shares, have locks of their own."""
    told = "\n".join(sorted(service.model_dump_json() for service in services))
    name = hashlib.sha256(told.encode()).hexdigest()[:16]
    return state_of(state).with_suffix(".locks") / f"check-{name}"


def _services(args: argparse.Namespace, settings: Settings) -> list[Service]:
    """The service that a flag names, else those of the settings that are chosen.

    :raises ConfigError: nobody says what to check
    :raises UsageError: a name or a label fits none
    """
    if args.service or args.prometheus or args.endpoint:
        return [service_of(args, settings)]
    if not settings.services:
        where = f"{settings.path} names no service" if settings.path else "there is no triage.toml"
        raise ConfigError(
            f"nothing to check: {where}", "write [service.NAME] tables, or name one with --service and --prometheus or --endpoint"
        )
    found = chosen(settings.services, args.services, args.label)
    if args.shard is None:
        return found
    return _share(found, shard_of(args.shard, os.environ))


def _share(services: Sequence[Service], shard: Shard) -> list[Service]:
    """The services of one share; that it has none is a note, since with few services some shares have none."""
    found = [one for one in services if shard.holds(one.name)]
    if not found:
        sys.stderr.write(f"triage: none of {len(services)} services is in the share {shard}\n")
    return found
