"""Checks services side by side within a budget of time, and sums them up."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import BoundedSemaphore

from triage.background import in_background
from triage.cli.effective import Judging, judging_of, language_of, settings_of
from triage.cli.heeding import refuse_idle_sources
from triage.cli.historytext import store_of
from triage.cli.progress import progress
from triage.cli.report import EXIT_CODES, diagnosed, rendered
from triage.cli.sources import Span, Tools, asked, refuse_missing, service_of, span_of, stdin_kept, tools_of
from triage.collect import Progress
from triage.errors import ConfigError, ExitCode, TriageError, printable
from triage.ingest.files.incident import read_any
from triage.memory.life import Holds
from triage.memory.looks import Look, look_of
from triage.memory.memory import begun
from triage.memory.reference import Pace, window_at
from triage.memory.store import Known
from triage.model.diagnosis import CauseState, CauseView, Diagnosis, Muted, RuleSet, Status
from triage.model.recording import Recording, Window
from triage.model.service import Service
from triage.render import one_line
from triage.render.safe import ascii_only, inert, inert_text, markdown
from triage.settings import Settings
from triage.timespan import seconds

_log = logging.getLogger(__name__)

_BUDGET = 60.0
_AT_ONCE = 8
"""Services asked at the same time: enough to be quick, few enough to be no load."""

_LEFT_FOR_JUDGING = 3.0
"""Seconds of the budget that are kept for judging and printing."""

_HOLDS = Holds(raise_looks=1)
"""A check judges a whole window, and the next one may be far away: one look is enough."""

_WORST_FIRST = (Status.INCIDENT, Status.INCONCLUSIVE, Status.DEGRADED, Status.HEALTHY)
"""What is known to be broken outranks what cannot be seen; what cannot be seen outranks what is merely slow."""

_WORDS = {Status.HEALTHY: "ok", Status.DEGRADED: "warning", Status.INCIDENT: "critical", Status.INCONCLUSIVE: "unknown"}


@dataclass(frozen=True, slots=True)
class Checked:
    """How one service is.

    :param line: one line for people and for Nagios
    :param headline: what is wrong, or why nobody knows
    :param cause: what is known of the cause
    :param roots: ids of the findings that no other explains, first ranked first
    :param muted: what a person has muted
    :param diagnosis: the whole answer; None if the service could not be asked
    """

    service: str
    status: Status
    line: str
    headline: str
    cause: CauseView
    roots: tuple[str, ...] = ()
    muted: tuple[Muted, ...] = ()
    diagnosis: Diagnosis | None = None


def checked(args: argparse.Namespace) -> ExitCode:
    """Check the services that were named, print a line for each, and give the worst state's exit code."""
    settings = settings_of(args)
    services = _services(args, settings)
    budget = seconds(args.budget) if args.budget else _BUDGET
    refuse_idle_sources(args, services)
    refuse_missing(args)
    live = any(service.incident is None for service in services)
    tools = tools_of(args, settings) if live else Tools((), language_of(args, settings))
    judging, span = judging_of(args, settings), span_of(args, settings.defaults, time.time())
    with progress(quiet=args.quiet) as tell:
        round_ = _Round(tools, judging, span, time.monotonic() + budget, tell, known_of(args))
        jobs = [in_background(partial(round_.judged, service)) for service in services]
        wait(jobs, timeout=budget)
    results = [_result(service, job, budget) for service, job in zip(services, jobs, strict=True)]
    if not args.no_state:
        _remember(results, args.state, _HOLDS.by(judging.rules))
    sys.stdout.write(_told(results, args, round_.judging.ruleset))
    return EXIT_CODES[worst([one.status for one in results])]


@dataclass(frozen=True)
class _Round:
    """One round of checks.

    :param deadline: when everything must be done, monotonic seconds
    :param known: what is remembered, by service
    """

    tools: Tools
    judging: Judging
    span: Span
    deadline: float
    tell: Progress
    known: Mapping[str, Known] = field(default_factory=dict)
    gate: BoundedSemaphore = field(default_factory=partial(BoundedSemaphore, _AT_ONCE))

    def judged(self, service: Service) -> Diagnosis:
        """One service's diagnosis, within what is left of the time."""
        with self.gate:
            kept = service.incident
            recording = self._ask(service) if kept is None else read_any(kept, service, self.tools.language)
            before = self.known.get(service.name)
            recording = replace(recording, begun=begun(before.memory) if before is not None else {})
            return diagnosed(recording, replace(self.judging, named=service.name))

    def _ask(self, service: Service) -> Recording:
        """What the service's sources say, sampled no longer than there is time for."""
        left = max(1.0, self.deadline - time.monotonic() - _LEFT_FOR_JUDGING)
        timeout = min(self.span.timeout, left)
        sample = max(1.0, min(self.span.sample, left - timeout))
        span = replace(self.span, sample=sample, timeout=timeout)
        with stdin_kept(service) as kept:
            tell = partial(self._tell, service.name)
            return asked(
                kept,
                span,
                self.tools,
                tell,
                left - sample,
                look_at=partial(window_to_judge, self.known.get(service.name), service),
            )

    def _tell(self, service: str, source: str, message: str, done: float) -> None:
        """Progress of one source of one service."""
        self.tell(f"{service} {source}", message, done)


def _told(results: Sequence[Checked], args: argparse.Namespace, ruleset: RuleSet | None) -> str:
    """All states as one document, as the five lines of each, or as a line for each."""
    if args.format == "json":
        return _as_json(results, ruleset)
    if args.brief:
        return "\n".join(_brief(one, args) for one in results)
    return "".join(f"{one.line}\n" for one in results)


def _brief(one: Checked, args: argparse.Namespace) -> str:
    """The five lines of a service; of one that could not be asked the reason."""
    if one.diagnosis is None:
        reason = f"? INCONCLUSIVE {inert_text(one.service)}: {one.headline}"
        return f"**{markdown(reason)}**\n" if args.format == "markdown" else f"{reason}\n"
    return rendered(one.diagnosis, args)


def _remember(results: Sequence[Checked], state: Path | None, holds: Holds) -> None:
    """Keep what became different. That it cannot be kept is a note: how the services are is known all the same."""
    try:
        store = store_of(state)
        for one in results:
            if one.diagnosis is None:
                store.remember(one.service, Look(time.time(), one.status), holds)
            else:
                span = one.diagnosis.window
                window = Window(span.start, span.end, span.baseline_start)
                store.remember(one.service, look_of(one.diagnosis), holds, (window, pace_of(window)))
    except TriageError as error:
        sys.stderr.write(f"triage: no history is kept: {printable(error.message)}; {error.hint}, or --no-state\n")


def window_to_judge(before: Known | None, service: Service, usual: Window) -> Window:
    """The window of a service: where a server keeps history all of the trouble that goes on, against what was before it.

    :param before: what is remembered of the service
    """
    if before is None or before.reference is None or not service.prometheus:
        return usual
    return window_at(before.reference, usual, pace_of(usual))


def pace_of(window: Window) -> Pace:
    """How a service is checked: in windows that a server of metrics has the history for."""
    length = window.end - window.start
    return Pace(shortest=length / 4.0, longest=length, keep=window.end - window.baseline_start, sampled=False)


def known_of(args: argparse.Namespace) -> Mapping[str, Known]:
    """What is remembered of each service; nothing where there is no history yet, or none that can be read."""
    if args.no_state or args.start or args.end:
        return {}
    with suppress(TriageError):
        return {one.service: one for one in store_of(args.state).services()}
    return {}


def worst(states: Sequence[Status]) -> Status:
    """The state that a set of services is in."""
    return min(states, key=_WORST_FIRST.index)


def _services(args: argparse.Namespace, settings: Settings) -> list[Service]:
    """The service that was named, else all of the settings.

    :raises ConfigError: nobody says what to check
    """
    if args.service or args.prometheus or args.endpoint:
        return [service_of(args, settings)]
    if not settings.services:
        where = f"{settings.path} names no service" if settings.path else "there is no triage.toml"
        raise ConfigError(
            f"nothing to check: {where}", "write [service.NAME] tables, or name one with --service and --prometheus or --endpoint"
        )
    return [settings.services[name] for name in sorted(settings.services)]


def _result(service: Service, job: "Future[Diagnosis]", budget: float) -> Checked:
    """A service's state; whatever keeps it from being known makes it unknown, never well."""
    if not job.done():
        return _unknown(service, f"not done within the budget of {budget:g} s")
    try:
        diagnosis = job.result().model_copy(update={"service": service.name})
    except TriageError as error:
        return _unknown(service, error.message)
    except Exception as error:  # noqa: BLE001 - one service's trouble must not hide the state of the others
        _log.debug("check of %s failed", service.name, exc_info=error)
        return _unknown(service, f"a defect in triage: {type(error).__name__}: {error}")
    roots = tuple(finding.rule for finding in diagnosis.findings if finding.role == "root")
    return Checked(
        service.name,
        diagnosis.status,
        one_line(diagnosis),
        inert_text(diagnosis.headline),
        diagnosis.cause,
        roots,
        inert(diagnosis).muted,
        diagnosis,
    )


def _unknown(service: Service, reason: str) -> Checked:
    """A service that could not be asked."""
    reason = inert_text(reason)
    line = ascii_only(f"{inert_text(service.name).upper()} UNKNOWN - {reason}").replace("|", "/")
    return Checked(service.name, Status.INCONCLUSIVE, line, reason, CauseView(state=CauseState.OPEN))


def _as_json(results: Sequence[Checked], ruleset: RuleSet | None) -> str:
    """All states as one JSON document."""
    services = [
        {
            "service": one.service,
            "state": _WORDS[one.status],
            "status": one.status,
            "headline": one.headline,
            "cause": {"state": one.cause.state, "rules": list(one.cause.rules)},
            "roots": list(one.roots),
            "muted": [muted.model_dump() for muted in one.muted],
        }
        for one in results
    ]
    state = _WORDS[worst([one.status for one in results])]
    judged = {"ruleset": ruleset.model_dump()} if ruleset else {}
    return json.dumps({"schema": "triage.check/1", "state": state, "services": services, **judged}, indent=2) + "\n"
