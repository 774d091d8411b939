"""The history of services as a table and a timeline, or as JSON."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote

from triage.archive import Archive, archive_of
from triage.cli.historyagain import diagnosed_again
from triage.cli.historylines import ribbon, timeline
from triage.cli.jsontext import answered
from triage.cli.parser import near
from triage.cli.table import aligned
from triage.errors import ConfigError, ExitCode, UsageError
from triage.memory.looks import rule_of
from triage.memory.memory import Memory, Transition
from triage.memory.store import Kept, Known, Store, state_file
from triage.memory.words import told
from triage.model.units import clock
from triage.render.safe import inert_text
from triage.timespan import duration as seconds

_LOOK_BACK = 86400.0
_HOURS = 24
_GONE = "made room for newer ones, or removed"


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
    """All services, one with what became different, or what was kept of one, diagnosed again.

    :raises UsageError: nobody looked at this service
    """
    archive = archive_of(state_of(args.state), 0)
    services = archive.store.services()
    if args.service is None:
        return _all(archive.store, services, args.format)
    known = _known(services, args.service)
    if args.diagnose is not None:
        return diagnosed_again(args, archive)
    since = known.looked - (seconds(args.since) if args.since else _LOOK_BACK)
    return _one(archive, known, since, args.format)


def inert_lines(lines: Iterable[str]) -> str:
    """Lines in which nothing moves the cursor: names of services and pods stand in them."""
    return "".join(f"{inert_text(line)}\n" for line in lines)


def _known(services: Sequence[Known], name: str) -> Known:
    """What is remembered of a service."""
    found = next((one for one in services if one.service == name), None)
    if found is None:
        names = [one.service for one in services]
        offered = near(name, names) or names[:3]
        raise UsageError(f"nobody has checked {name!r}", f"did you mean {' or '.join(offered)}?" if offered else "")
    return found


def _all(store: Store, services: Sequence[Known], form: str) -> ExitCode:
    """Each service: how it is, since when, for what cause, its last day, when it was looked at last."""
    if form == "json":
        return answered("histories", {"services": [_as_it_is(one) for one in services]})
    now = max((one.looked for one in services), default=0.0)
    head = ("service", "state", "since", "cause", f"day to {clock(now, now)[:5]}", "last look")
    sys.stdout.write(aligned([head, *(_row(store, one, now) for one in services)]))
    return ExitCode.HEALTHY


def _row(store: Store, one: Known, now: float) -> tuple[str, ...]:
    """A service in the table of all."""
    day = ribbon(store.runs(one.service, now - _LOOK_BACK), now - _LOOK_BACK, now, _HOURS)
    cause = rule_of(one.memory.cause.word) or "-"
    return inert_text(one.service), one.memory.status.value, _since(one), cause, day, clock(one.looked, now)


def _one(archive: Archive, known: Known, since: float, form: str) -> ExitCode:
    """A service: how it is, its states and what was there over time, and what became different, with what was kept of it."""
    store = archive.store
    turns, runs = store.turns(known.service, since), store.runs(known.service, since)
    kept = [one for one in store.kept(known.service) if one.time >= since]
    if form == "json":
        told_of = {"turns": [asdict(one) for one in turns], "runs": [asdict(one) for one in runs]}
        return answered("history", {**_as_it_is(known), **told_of, "kept": [_as_kept(archive, one) for one in kept]})
    lines = ["", *timeline(runs, turns, known.memory, since, known.looked), ""]
    sys.stdout.write(inert_lines([*_head(known), *lines, *_turns(turns, known.looked, {one.time: one for one in kept})]))
    sys.stdout.write(inert_lines(_way_back(archive, known.service, kept)))
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


def _as_kept(archive: Archive, one: Kept) -> dict[str, object]:
    """A recording that was kept, as JSON tells it."""
    return {
        "number": one.id,
        "time": one.time,
        "status": one.status,
        "roots": list(one.roots),
        "ruleset": one.ruleset,
        "path": str(archive.folder / one.file),
        "bytes": one.bytes,
        "there": _is_there(archive, one),
    }


def _is_there(archive: Archive, one: Kept) -> bool:
    return not one.dropped and (archive.folder / one.file).is_file()


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


def _turns(turns: Sequence[Transition], near_: float, kept: Mapping[float, Kept]) -> list[str]:
    """What became different, in order of time; of one look what was kept of it stands at its first line."""
    if not turns:
        return ["nothing became different"]
    rows = [("kept", "when", "what became different")]
    before = None
    for one in turns:
        number = kept[one.time].id if one.time in kept and one.time != before else ""
        rows.append((str(number), clock(one.time, near_), told(one, near_)))
        before = one.time
    return aligned(rows).splitlines()


def _way_back(archive: Archive, service: str, kept: Sequence[Kept]) -> list[str]:
    """How what was kept is looked at again, and what of it is gone."""
    there = [one for one in kept if _is_there(archive, one)]
    gone = [str(one.id) for one in kept if one not in there]
    told = [f"gone: {', '.join(gone)} ({_GONE})"] if gone else []
    if there:
        told.insert(0, f"triage history {quote(service)} --diagnose {there[-1].id} diagnoses again what was kept then")
    return ["", *told] if told else []
