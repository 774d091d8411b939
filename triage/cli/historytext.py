"""The history of services as a table and a timeline, or as JSON."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from triage.cli.jsontext import answered
from triage.cli.parser import near
from triage.cli.table import aligned
from triage.errors import ConfigError, ExitCode, UsageError
from triage.memory.looks import rule_of
from triage.memory.memory import Memory, Run, Transition, states
from triage.memory.store import Known, Store, state_file
from triage.memory.words import told
from triage.model.diagnosis import Status
from triage.model.units import clock
from triage.render.safe import inert_text
from triage.timespan import duration as seconds

_LOOK_BACK = 86400.0
_CELLS = 60
_BLOCKS = {Status.HEALTHY: "▁", Status.DEGRADED: "▄", Status.INCIDENT: "█", Status.INCONCLUSIVE: "?", None: " "}


def state_of(state: Path | None) -> Path:
    """The file in which history is kept.

    :param state: what a flag says
    :raises ConfigError: nobody says where, and there is no home
    """
    path = state or state_file(os.environ)
    if path is None:
        raise ConfigError("nobody says where history is kept, and there is no home", "name a file with --state")
    return path


def shown(args: argparse.Namespace) -> ExitCode:
    """All services, or one with what became different.

    :raises UsageError: nobody looked at this service
    """
    store = Store(state_of(args.state))
    services = store.services()
    if args.service is None:
        return _all(services, args.format)
    known = next((one for one in services if one.service == args.service), None)
    if known is None:
        names = [one.service for one in services]
        offered = near(args.service, names) or names[:3]
        raise UsageError(f"nobody has checked {args.service!r}", f"did you mean {' or '.join(offered)}?" if offered else "")
    since = known.looked - (seconds(args.since) if args.since else _LOOK_BACK)
    turns, runs = store.turns(known.service, since), store.runs(known.service, since)
    if args.format == "json":
        told_of = {"turns": [asdict(one) for one in turns], "runs": [asdict(one) for one in runs]}
        return answered("history", {**_as_it_is(known), **told_of})
    sys.stdout.write(inert_lines([*_head(known), *_timeline(runs, since, known.looked), "", *_turns(turns, known.looked)]))
    return ExitCode.HEALTHY


def inert_lines(lines: Sequence[str]) -> str:
    """Lines in which nothing moves the cursor: names of services and pods stand in them."""
    return "".join(f"{inert_text(line)}\n" for line in lines)


def _all(services: Sequence[Known], form: str) -> ExitCode:
    """Each service: how it is, since when, for what cause, when it was looked at last."""
    if form == "json":
        return answered("histories", {"services": [_as_it_is(one) for one in services]})
    rows = [
        (inert_text(one.service), one.memory.status.value, _since(one), rule_of(one.memory.cause.word) or "-", clock(one.looked))
        for one in services
    ]
    sys.stdout.write(aligned([("service", "state", "since", "cause", "last look"), *rows]))
    return ExitCode.HEALTHY


def _as_it_is(one: Known) -> dict[str, object]:
    """A service as JSON tells it."""
    memory = one.memory
    up = [
        {"key": key, "title": life.title, "severity": life.severity, "phase": life.phase, "since": life.since, "seen": life.seen}
        for key, life in sorted(memory.up())
    ]
    return {
        "service": one.service,
        "status": memory.status,
        "since": memory.state.since or None,
        "cause": rule_of(memory.cause.word) or None,
        "looked": one.looked,
        "ongoing": up,
    }


def _since(one: Known) -> str:
    memory = one.memory
    return clock(memory.state.since, one.looked) if memory.state.since else "-"


def _head(one: Known) -> list[str]:
    """How a service is now."""
    since = f" since {_since(one)}" if one.memory.state.since else ""
    return [
        f"{one.service}: {one.memory.status.value}{since}, last look {clock(one.looked)} UTC",
        *_ongoing(one.memory, one.looked),
    ]


def _ongoing(memory: Memory, near_: float) -> list[str]:
    """What is there now."""
    return [
        f"  {life.phase.value:8}  {life.title}" + (f", since {clock(life.since, near_)}" if life.since is not None else "")
        for _, life in sorted(memory.up(), key=lambda pair: (pair[1].since or 0.0, pair[0]))
    ]


def _timeline(runs: Sequence[Run], since: float, looked: float) -> list[str]:
    """The states of all looks on one line."""
    begin = max(since, runs[0].start) if runs else since
    if looked <= begin:
        return []
    cells = "".join(_BLOCKS[one] for one in states(runs, begin, looked, _CELLS))
    return ["", f"{clock(begin, looked)} {cells} {clock(looked, looked)}", "▁ healthy  ▄ degraded  █ incident  ? unknown"]


def _turns(turns: Sequence[Transition], near_: float) -> list[str]:
    """What became different, in order of time."""
    if not turns:
        return ["nothing became different"]
    return [f"{clock(one.time, near_)}  {told(one, near_)}" for one in turns]
