"""``triage rules export``: the rules for engines that people already run, through the sources that a service uses."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags, examples
from triage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.export.layout import Layout
    from triage.export.values import Times
    from triage.model.dialect import Dialect
    from triage.model.playbook import Advice
    from triage.model.recording import Recording
    from triage.settings import Settings

FORMS = ("prometheus", "grafana", "alertmanager", "list")


def add_export(ways: "argparse._SubParsersAction[Parser]") -> None:
    """The way that exports."""
    way = ways.add_parser(
        "export",
        help="alert rules for Prometheus, a dashboard for Grafana, a route for Alertmanager",
        description="Writes the rules' conditions as PromQL, with the names and labels that the sources of a service use. "
        "They are learnt from one look: at the service of triage.toml, or at a recording or incident folder of it. "
        "With --assume nobody is asked, and names and labels are the usual ones.",
        epilog=examples(
            "triage rules export --format prometheus --service llm-prod > llm-prod.rules.yml",
            "triage rules export --format grafana --service llm-prod > dashboard.json",
            "triage rules export --format prometheus incident.parquet",
            "triage rules export --format prometheus --service chat --assume vllm --assume dcgm",
            "triage rules export --format list",
        ),
    )
    way.add_argument("path", metavar="PATH", type=Path, nargs="?", help="a recording or incident folder to learn from")
    way.add_argument(
        "--format", choices=FORMS, default="prometheus", help="what to write (prometheus); list: what can be exported"
    )
    way.add_argument("--service", metavar="NAME", help="a service of triage.toml, or the name that its series carry")
    way.add_argument("--prometheus", metavar="URL", help="a server that speaks the Prometheus API, to look at")
    way.add_argument(
        "--assume", metavar="DIALECT", action="append", default=[], help="write for this source unseen (may be repeated)"
    )
    way.add_argument("--since", metavar="DURATION", help="length of the window that an alert judges (30m)")
    way.add_argument("--baseline", metavar="DURATION", help="length of the span before it that tells what is usual (1h)")
    way.add_argument("--step", metavar="DURATION", help="time between two recorded values (30s)")
    add_setting_flags(way, "rules", "dialects", "signatures", "playbooks", "quiet")
    way.set_defaults(way=export)


def export(args: argparse.Namespace) -> ExitCode:
    """Write what was asked for."""
    from triage.cli.effective import language_of, playbooks_of, rules_of, settings_of
    from triage.export import alertmanager, grafana, listing, prometheus

    settings = settings_of(args)
    rules, dialects = rules_of(args, settings), language_of(args, settings).dialects
    if args.format == "list":
        sys.stdout.write(listing.table(rules, dialects))
        return ExitCode.HEALTHY
    layout = _layout(args, settings, dialects)
    times = _times(args, settings)
    if args.format == "alertmanager":
        sys.stdout.write(alertmanager.settings(layout))
    elif args.format == "grafana":
        sys.stdout.write(grafana.dashboard(rules, layout, times, dialects))
    else:
        advice = partial(_advice, playbooks_of(args, settings))
        sys.stdout.write(prometheus.rules_file(rules, layout, times, dialects, advice))
    return ExitCode.HEALTHY


def _advice(folders: tuple[Path, ...], kind: str) -> "Advice":
    """What a kind's playbook says first; nothing if it has none."""
    from triage.model.playbook import Advice
    from triage.playbooks import advice

    try:
        return advice(kind, folders)
    except UsageError:
        return Advice()


def _layout(args: argparse.Namespace, settings: "Settings", dialects: "Sequence[Dialect]") -> "Layout":
    """How the service's sources are laid out: as a look shows it, or as is usual."""
    from triage.export.layout import layout_of, usual_layout
    from triage.export.looking import measured
    from triage.model.service import Service
    from triage.validation import did_you_mean

    if not args.assume:
        return layout_of(measured(_recording(args, settings)), dialects)
    if args.path or args.prometheus or not args.service:
        raise UsageError("--assume writes for a service unseen", "name it with --service, and no PATH or --prometheus")
    known = {dialect.name: dialect for dialect in dialects}
    for name in args.assume:
        if name not in known:
            raise UsageError(f"no dialect is called {name!r}", did_you_mean(name, known) or "docs/dialects.md lists them")
    service = settings.services.get(args.service) or Service(name=args.service)
    return usual_layout(service, [known[name] for name in dict.fromkeys(args.assume)])


def _recording(args: argparse.Namespace, settings: "Settings") -> "Recording":
    """One look at the service."""
    from triage.cli.effective import language_of, named_service
    from triage.cli.sources import recording_of
    from triage.ingest.files.incident import read_any

    if args.path is not None:
        if args.prometheus:
            raise UsageError("--prometheus has no effect: a recording is what it is", "leave out the flag or the recording")
        return read_any(args.path, named_service(args.service, settings), language_of(args, settings))
    if not args.service:
        raise UsageError("nothing says which service to write for", "name it with --service, or name a recording of it")
    live: dict[str, object] = {
        "endpoint": [],
        "logs": [],
        "changes": None,
        "start": None,
        "end": None,
        "sample": None,
        "timeout": None,
    }
    known = settings.services.get(args.service)
    if known is not None and known.incident is not None and not args.prometheus:
        live |= {"since": None, "baseline": None}
    return recording_of(argparse.Namespace(**{**vars(args), **live, "collectors": []}), settings)


def _times(args: argparse.Namespace, settings: "Settings") -> "Times":
    """The spans that alerts look at."""
    from triage.export.values import Times
    from triage.timespan import duration

    usual = settings.defaults
    return Times(
        duration(args.since) if args.since else usual.since,
        duration(args.baseline) if args.baseline else usual.baseline,
        duration(args.step) if args.step else Times.step,
    )
