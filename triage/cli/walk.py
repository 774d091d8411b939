"""``triage walk``: the way down the layers, from the symptom to one observable finding, in the terminal or in a browser."""

import argparse
import os
import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from triage.bundle import DEMO, demo_case
from triage.cli.curtain import curtain
from triage.cli.flags import add_language_flag, add_setting_flags, add_source_flags, examples
from triage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from triage.cli.parser import Parser
    from triage.collect import Progress
    from triage.model.recording import Recording
    from triage.model.service import Service
    from triage.settings import Settings
    from triage.tui.app import WalkApp
    from triage.tui.recordings import Recordings
    from triage.tui.session import LocalSession
    from triage.tui.worker import RemoteSession

SAMPLE = 10.0
"""Seconds of one round where only the present can be sampled: short, so that the screen follows the service."""

_EVERY = 15.0
_SHORTEST = 30.0
"""Chosen: seconds of the shortest window of a watch: in fewer a quantile rests on a few requests."""

_HOST = "127.0.0.1"
_PORT = 8017
_WEB_FLAGS = {"--web": 0, "--host": 1, "--port": 1}
"""Flags of the web server with the number of their values; what it serves is the same command without them."""


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "walk",
        help="walk down the layers from the symptom to one finding, in the terminal or a browser",
        description="Shows the diagnosis layer by layer: what is asked, how it is answered here, and what proves it. PATH is "
        "anything that replay reads; without it a service is watched, from the same sources as diagnose. Press ? for the keys.",
        epilog=examples(
            "triage walk incident.parquet",
            "triage walk --demo",
            "triage walk --service llm-prod --prometheus http://prometheus:9090",
            "triage walk --endpoint localhost:8000",
            "triage walk --service llm-prod --web",
        ),
    )
    parser.add_argument("path", metavar="PATH", type=Path, nargs="?", help="an incident folder or a recording")
    parser.add_argument("--demo", action="store_true", help="the incident that comes with the program")
    parser.add_argument("--every", metavar="SECONDS", help=f"pause between two snapshots at a server of metrics ({_EVERY:g})")
    parser.add_argument(
        "--theme", choices=("dark", "light"), default="", help="colours (those of the last walk); NO_COLOR takes them away"
    )
    add_language_flag(parser, "", "that of the last walk")
    group = parser.add_argument_group("in a browser")
    group.add_argument("--web", action="store_true", help="serve the walk as a web page; needs the extra 'web'")
    group.add_argument("--host", metavar="ADDRESS", help=f"address to listen at ({_HOST}: this machine only)")
    group.add_argument("--port", metavar="NUMBER", type=int, help=f"port to listen at ({_PORT})")
    add_source_flags(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "playbooks")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Walk, and print what was copied on the way."""
    if "-" in args.logs:
        raise UsageError("the walk cannot read logs from stdin, which has the keyboard", "save them to a file")
    if args.web:
        _served(args)
    is_served = bool(os.environ.get("TEXTUAL_DRIVER"))
    if not is_served and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the walk needs a terminal", "use triage replay or triage diagnose for a report, or --web for a browser")
    return _walked(args)


def _served(args: argparse.Namespace) -> NoReturn:
    """Serve the walk to browsers, all of which show one session."""
    from triage.cli.effective import settings_of
    from triage.errors import InputMissingError
    from triage.tui.web import serve

    if args.path is not None and not args.path.exists():
        raise InputMissingError(f"{args.path} does not exist")
    _recordings(args, settings_of(args))  # what is wrong with the flags is told here, not in a browser
    command = [sys.executable, "-m", "triage", *served_words(sys.argv[1:])]
    serve(args.host or _HOST, args.port or _PORT, command, partial(made_session, _given(args)))


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Values of the flags by their names."""
    return {name: value for name, value in vars(args).items() if name != "command"}


def served_words(words: list[str]) -> list[str]:
    """The command line without the flags of the web server.

    :param words: after the program's name
    """
    kept: list[str] = []
    skip = 0
    for word in words:
        flag, equals, _ = word.partition("=")
        if skip:
            skip -= 1
        elif flag in _WEB_FLAGS:
            skip = 0 if equals else _WEB_FLAGS[flag]
        else:
            kept.append(word)
    return kept


def _walked(args: argparse.Namespace) -> ExitCode:
    """Run the app to its end."""
    import logging

    with curtain(_subject(args), sys.stderr, os.environ):
        app, room = _begun(args)
    logging.disable()  # a log line in the middle of the screen would tear it
    try:
        error = app.run()
    finally:
        room.close()
        logging.disable(logging.NOTSET)
    sys.stdout.write("".join(f"{line}\n" for line in app.copies))
    if error is not None:
        raise error
    return ExitCode.INTERNAL if app.return_code else ExitCode.HEALTHY


def _begun(args: argparse.Namespace) -> "tuple[WalkApp, RemoteSession]":
    """The app, and the session that it shows: its process starts before the app's own modules are imported."""
    from triage.cli.effective import playbooks_of, settings_of
    from triage.tui.feed import joined_feed
    from triage.tui.worker import WorkerProcess

    settings = settings_of(args)
    room = joined_feed(os.environ) or WorkerProcess(_recordings(args, settings), partial(made_session, _given(args)))
    from triage.cli.report import speak_in
    from triage.playbooks import load_playbook
    from triage.tui.app import WalkApp
    from triage.tui.remembered import read_remembered, remembered_file, write_remembered

    file = remembered_file(os.environ)
    kept = read_remembered(file)
    if args.lang and args.lang != kept.language:
        kept = kept.model_copy(update={"language": args.lang})
        write_remembered(file, kept)
    speak_in(kept.language)
    playbook = partial(load_playbook, folders=playbooks_of(args, settings))
    return WalkApp(room, playbook, args.theme, remembered=kept, keep=partial(write_remembered, file)), room


def _subject(args: argparse.Namespace) -> str:
    """What the walk will be about, as far as the flags tell."""
    return DEMO if args.demo else args.path.name if args.path is not None else args.service or "this machine"


def made_session(given: dict[str, Any]) -> "LocalSession":
    """The session that the flags ask for.

    :param given: values of the flags by their names
    """
    from triage.cli.effective import judging_of, settings_of
    from triage.cli.report import diagnosed
    from triage.ingest.files.parquet import write_recording
    from triage.tui.session import LocalSession

    args = argparse.Namespace(**given)
    settings = settings_of(args)
    judging = judging_of(args, settings)
    return LocalSession(_recordings(args, settings), judging.rules, partial(diagnosed, judging=judging), write_recording)


def _recordings(args: argparse.Namespace, settings: "Settings") -> "Recordings":
    """Where recordings come from: a path, a service that was kept, a fixed time, or a service to watch."""
    from triage.cli.effective import named_service
    from triage.tui.recordings import Replay

    path = demo_case() if args.demo else args.path
    if path is not None:
        return Replay(path.name, _reader(path, named_service(args.service, settings), args, settings))
    from triage.cli.heeding import refuse_idle_sources
    from triage.cli.sources import refuse_missing, service_of

    service = service_of(args, settings)
    refuse_idle_sources(args, [service])
    refuse_missing(args)
    if service.incident is not None:
        return Replay(service.name, _reader(service.incident, service, args, settings))
    return _watching(args, settings, service)


def _reader(
    path: Path, service: "Service | None", args: argparse.Namespace, settings: "Settings"
) -> "Callable[[Progress], Recording]":
    """Reads a recording."""

    def read(tell: "Progress") -> "Recording":
        from triage.cli.effective import language_of
        from triage.ingest.files.incident import read_any

        tell(path.name, "reading", 0.0)
        recording = read_any(path, service, language_of(args, settings))
        tell(path.name, "read", 1.0)
        return recording

    return read


def _watching(args: argparse.Namespace, settings: "Settings", service: "Service") -> "Recordings":
    """A service that is asked again and again; once if the flags say for which time."""
    import time

    from triage.cli.sources import asked, span_of, tools_of
    from triage.memory.reference import Pace
    from triage.timespan import seconds
    from triage.tui.recordings import Replay
    from triage.watch.live import Live

    sampled = not service.prometheus
    quick = (
        settings.defaults.model_copy(update={"sample": min(settings.defaults.sample, SAMPLE)}) if sampled else settings.defaults
    )
    span = span_of(args, quick, time.time())
    tools = cache(lambda: tools_of(args, settings))

    def ask(tell: "Progress", earlier: "Recording | None" = None) -> "Recording":
        return asked(service, span, tools(), tell, earlier=earlier)

    if args.start or args.end:
        return Replay(service.name, ask)
    pause = seconds(args.every) if args.every else _EVERY
    return Live(
        service.name,
        ask,
        pause=0.0 if sampled or service.endpoints else pause,
        lasts=span.sample if sampled or service.endpoints else 0.0,
        pace=Pace(shortest=max(span.sample, _SHORTEST), longest=span.since, keep=span.since + span.baseline, sampled=sampled),
    )
