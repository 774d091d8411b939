"""Which flag counts where: what cannot be heeded is refused, so that nobody takes an answer for one to another question.

:data:`HEEDED` says which flags a kind of source heeds, :data:`ROWS` which flags of a command have no effect beside others.
``docs/commands.md`` shows the first table; a test holds both against every command.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triage.errors import UsageError

if TYPE_CHECKING:
    from triage.model.service import Service


class Looked(StrEnum):
    """What a diagnosis looks at, as far as flags are concerned."""

    RECORDING = "recording"
    """A file, a folder, or a service whose incident was kept."""
    SERVER = "Prometheus"
    """A server that keeps history; endpoints beside it do not count for a window that has ended."""
    BOTH = "Prometheus and endpoints"
    HISTORY = "logs or changes with live sources"
    """Logs or changes without a server; endpoints or this machine are sampled beside them."""
    PAST = "logs or changes with --to"
    """Logs or changes of a window that has ended: there is nothing to sample."""
    LOGS = "logs alone"
    """Logs and no word on the time: they are judged at their own."""
    PRESENT = "endpoints or this machine"
    """Sources that know nothing but the present."""


SOURCE_FLAGS = ("--logs", "--changes", "--since", "--from", "--to", "--baseline", "--for", "--timeout", "--collectors", "--every")
"""Flags of which a kind of source heeds some; ``--every`` is of the walk only."""

_TIME = {"--logs", "--changes", "--since", "--from", "--to", "--baseline", "--collectors"}

HEEDED: Mapping[Looked, frozenset[str]] = {
    Looked.RECORDING: frozenset(),
    Looked.SERVER: frozenset({*_TIME, "--timeout", "--every"}),
    Looked.BOTH: frozenset({*_TIME, "--timeout", "--for"}),
    Looked.HISTORY: frozenset({*_TIME, "--timeout", "--for"}),
    Looked.PAST: frozenset(_TIME),
    Looked.LOGS: frozenset({"--logs", "--changes", "--baseline", "--collectors"}),
    Looked.PRESENT: frozenset({"--for", "--timeout", "--collectors"}),
}

_GROWING = frozenset({"--since", "--baseline"})
"""What the walk heeds where only the present can be seen, too: its window grows while it watches."""

_WHY: Mapping[Looked, tuple[str, str]] = {
    Looked.RECORDING: ("a recording is what it is", "leave it out, or say with --prometheus or --endpoint where to look"),
    Looked.SERVER: (
        "a Prometheus is asked for what was, and nothing is sampled",
        "leave it out, or name an --endpoint to sample",
    ),
    Looked.BOTH: ("endpoints are sampled without a pause", "leave it out"),
    Looked.HISTORY: ("live sources are sampled without a pause", "leave it out"),
    Looked.PAST: ("a window that has ended is read from logs, and nothing is asked", "leave it out, or leave out --to"),
    Looked.LOGS: (
        "logs alone are judged at the time that they tell",
        "leave it out, or say with --since how far to look back from now, which samples this machine, too",
    ),
    Looked.PRESENT: (
        "endpoints and this machine know nothing but the present",
        "say with --for how long to sample, or name what has a history: --prometheus, --logs, --changes",
    ),
}


def looked_at(args: argparse.Namespace, service: "Service") -> Looked:
    """What is looked at, given a service with its sources and the flags on time."""
    if service.incident is not None:
        return Looked.RECORDING
    if service.prometheus:
        return Looked.BOTH if service.endpoints and not args.end else Looked.SERVER
    if not (service.logs or service.changes):
        return Looked.PRESENT
    if args.end:
        return Looked.PAST
    alone = service.logs and not service.endpoints and not (args.since or args.start)
    return Looked.LOGS if alone else Looked.HISTORY


def refuse_idle_sources(args: argparse.Namespace, services: "Iterable[Service]") -> None:
    """Refuse a flag that the sources of none of the services heed.

    :raises UsageError: one was given
    """
    looked = [looked_at(args, service) for service in services]
    more = _GROWING if hasattr(args, "every") or hasattr(args, "pause") else frozenset()
    heeded = frozenset().union(*(HEEDED[one] | (more if one is Looked.PRESENT else frozenset()) for one in looked))
    for flag in SOURCE_FLAGS:
        if given(args, flag) and looked and flag not in heeded:
            why, hint = _WHY[looked[0]]
            raise UsageError(f"{flag} has no effect: {why}", hint)


class Row(NamedTuple):
    """Flags that have no effect beside what else was given.

    :param idle: whether they have none
    :param why: in words
    :param hint: what to do instead
    """

    flags: tuple[str, ...]
    idle: Callable[[argparse.Namespace], bool]
    why: str
    hint: str = "leave it out"


_RECORDED = Row(
    ("--prometheus", "--endpoint", *SOURCE_FLAGS),
    lambda args: args.path is not None or getattr(args, "demo", False),
    "a recording is what it is",
    "leave out the flag or the recording",
)
_TIMES = (
    Row(("--endpoint", "--for"), lambda args: bool(args.end), "what is there now says nothing of a window that ended with --to"),
)
_FORMS = (
    Row(("--width",), lambda args: args.format != "text", "only the text report has a width"),
    Row(("--verbose", "--brief"), lambda args: args.format in ("json", "html"), "JSON and HTML hold everything anyway"),
    Row(("--verbose",), lambda args: args.brief, "--brief shows five lines"),
)
_SCORED = ("--save", "--against", "--least-right", "--most-alarms", "--most-healthy", "--most-refuted")

ROWS: Mapping[str, tuple[Row, ...]] = {
    "demo": (
        Row(("--width", "--verbose", "--brief"), lambda args: args.walk, "the walk takes the whole screen"),
        Row(("--format",), lambda args: args.walk and args.format != "text", "the walk is no report"),
        *_FORMS,
    ),
    "diagnose": (
        Row(("--to", "--from"), lambda args: args.alert is not None, "alerts tell the time to look at"),
        Row(
            ("--endpoint", "--for"), lambda args: args.alert is not None, "what is there now says nothing of when an alert fired"
        ),
        Row(
            ("--logs",),
            lambda args: args.alert == Path("-") and "-" in args.logs,
            "--alert reads what comes on stdin",
            "name a file for one of them",
        ),
        *_TIMES,
        *_FORMS,
    ),
    "record": _TIMES,
    "replay": _FORMS,
    "walk": (
        Row(("--demo",), lambda args: args.path is not None, "another recording is named", "leave out one of them"),
        _RECORDED,
        *_TIMES,
        Row(("--every",), lambda args: bool(args.start or args.end), "a window with a begin or an end is shown once"),
        Row(("--host", "--port"), lambda args: not args.web, "nothing is served without --web", "add --web, or leave it out"),
    ),
    "coverage": (
        Row(
            ("--prometheus", "--endpoint", *SOURCE_FLAGS, "--service", "--config", "--rules", "--quiet"),
            lambda args: args.signals,
            "--signals lists the vocabulary and looks at nothing",
        ),
        Row(("--signals",), lambda args: args.path is not None, "the vocabulary is the same for every recording"),
        _RECORDED,
        *_TIMES,
    ),
    "check": (
        Row(
            ("--label", "--shard"),
            lambda args: bool(args.service or args.prometheus or args.endpoint),
            "one service is named",
            "leave out one of them",
        ),
        Row(
            ("--service", "--prometheus", "--endpoint"),
            lambda args: bool(args.services),
            "services of triage.toml are named",
            "leave out one of them",
        ),
        *_TIMES,
        Row(("--brief",), lambda args: args.format in ("json", "junit"), "JSON and JUnit hold what there is anyway"),
        Row(("--brief",), lambda args: args.format == "openmetrics", "metrics are figures"),
        Row(
            ("--format",),
            lambda args: args.format == "markdown" and not args.brief,
            "the line of a check has no form in Markdown",
            "add --brief",
        ),
        Row(
            ("--logs", "--changes"),
            lambda args: not (args.service or args.endpoint),
            "nobody says which service they are of",
            "name it with --service",
        ),
        Row(("--state", "--keep"), lambda args: args.no_state, "nothing is remembered with --no-state", "give one of them"),
    ),
    "watch": (
        Row(
            ("--from", "--to"), lambda _: True, "a watch looks at what is now", "leave it out; triage diagnose looks at what was"
        ),
        Row(
            ("--logs", "--changes"),
            lambda args: not (args.service or args.endpoint),
            "nobody says which service they are of",
            "name it with --service",
        ),
    ),
    "history": (
        Row(
            ("--since", "--diagnose"),
            lambda args: args.service is None,
            "all services are shown as they are now",
            "name a SERVICE",
        ),
        Row(("--since",), lambda args: args.diagnose is not None, "what was kept has a time of its own"),
        Row(
            ("--rules", "--signatures", "--playbooks", "--config", "--width", "--verbose", "--brief"),
            lambda args: args.diagnose is None,
            "nothing is diagnosed",
            "add --diagnose, or leave it out",
        ),
        Row(
            ("--lang",),
            lambda args: args.diagnose is None and args.lang != "en",
            "nothing is diagnosed",
            "add --diagnose, or leave it out",
        ),
        Row(
            ("--format",),
            lambda args: args.diagnose is None and args.format in ("markdown", "html"),
            "a history is told as text or JSON",
            "choose text or json, or add --diagnose",
        ),
        *_FORMS,
    ),
    "playbook": (
        Row(
            ("--service", "--incident"),
            lambda args: args.id == "list",
            "a list has nothing to fill in",
            "name a playbook, or leave it out",
        ),
        Row(
            ("--rules", "--dialects", "--signatures"),
            lambda args: args.incident is None and args.service is None,
            "nothing is judged where no incident is named",
            "name one with --incident, or leave it out",
        ),
    ),
    "rules": (
        Row(
            ("--playbooks", "--cases"),
            lambda args: bool(args.dialects or args.signatures) and not args.folders,
            "no rules are checked where only dialects or signatures are named",
            "name a folder of rules, or leave it out",
        ),
    ),
    "score": (
        Row(("--coverage",), lambda args: bool(args.sweep), "--sweep asks for something else", "give one of them"),
        Row(_SCORED, lambda args: bool(args.sweep or args.coverage), "nothing is scored with --sweep or --coverage"),
        Row(
            ("--format",),
            lambda args: args.format == "markdown" and bool(args.sweep or args.coverage),
            "a sweep and the coverage are told as text or JSON",
            "choose text or json",
        ),
        Row(("--figures", "--blind"), lambda args: args.coverage, "--coverage counts conditions, not cases"),
        Row(
            ("--least-survival",),
            lambda args: not {"loss", "all"} & {*args.sweep},
            "only the sweep 'loss' counts what survives",
            "add --sweep loss",
        ),
    ),
}


def refuse_idle(args: argparse.Namespace, command: str) -> None:
    """Refuse a flag that has no effect beside the others.

    :raises UsageError: one was given
    """
    for row in ROWS.get(command, ()):
        flag = next((flag for flag in row.flags if given(args, flag)), None)
        if flag is not None and row.idle(args):
            raise UsageError(f"{flag} has no effect: {row.why}", row.hint)


_NAMES = {"--from": "start", "--to": "end", "--for": "sample"}
"""Flags whose values have another name than they, which Python does not allow or which means too much."""


def given(args: argparse.Namespace, flag: str) -> bool:
    """Whether a flag was given; flags of these tables have no default but nothing."""
    return getattr(args, _NAMES.get(flag, flag.removeprefix("--").replace("-", "_")), None) not in (None, False, [])
