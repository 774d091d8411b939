"""``triage coverage``: by what a service can be judged, and how to get the rest."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_source_flags
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli import Parser
    from triage.model.diagnosis import Coverage, Diagnosis

_MANY = 6


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "coverage",
        help="which signals and rules a service can be judged by, and how to get the rest",
        description="Looks at a recording, or at the same sources as diagnose, and says which signals are there, "
        "which rules can be judged, and what to do to judge the others.",
    )
    parser.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", help="a recording or incident folder instead of live sources"
    )
    parser.add_argument("--signals", action="store_true", help="list the vocabulary and look at nothing")
    add_source_flags(parser)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Judge, and show what could be judged."""
    if args.signals:
        sys.stdout.write(_vocabulary())
        return ExitCode.HEALTHY
    from triage.cli.effective import judging_of, language_of, named_service, settings_of
    from triage.cli.report import diagnosed
    from triage.cli.sources import recording_of
    from triage.ingest.files.incident import read_any
    from triage.render.safe import inert

    settings = settings_of(args)
    recording = (
        read_any(args.path, named_service(args.service, settings), language_of(args, settings))
        if args.path
        else recording_of(args, settings)
    )
    diagnosis = inert(diagnosed(recording, judging_of(args, settings)))
    sys.stdout.write("".join(f"{line}\n" for line in _lines(diagnosis)))
    return ExitCode.HEALTHY


def _vocabulary() -> str:
    """All signals with unit, scope, layer and meaning."""
    from triage.cli.table import aligned
    from triage.model.vocabulary import catalogue

    rows = [(one.name, one.unit or "-", one.kind, one.scope, one.layer, one.meaning) for one in catalogue().values()]
    return aligned([("SIGNAL", "UNIT", "KIND", "SCOPE", "LAYER", "MEANING"), *rows])


def _lines(diagnosis: "Diagnosis") -> Iterator[str]:
    """Sources, signals, rules, and what to do for more."""
    coverage = diagnosis.coverage
    yield f"{diagnosis.service}: {coverage.rules_evaluated} of {coverage.rules_total} rules can be judged"
    yield from _sources(coverage)
    yield from _signals(coverage)
    yield from _wants(diagnosis)
    if coverage.problems:
        yield from ("", "Strange in the data", *(f"  {problem}" for problem in coverage.problems))


def _sources(coverage: "Coverage") -> Iterator[str]:
    """What became of each source."""
    from triage.cli.table import aligned

    yield from ("", "Sources")
    rows = [(f"  {source.name}", source.state, source.reason) for source in coverage.sources]
    yield from aligned(rows).splitlines() if rows else ["  none"]


def _signals(coverage: "Coverage") -> Iterator[str]:
    """How many signals are there, which ones are (with the number of their subjects), and why others cannot be used."""
    from triage.cli.table import wrapped

    counts = Counter(one.state for one in coverage.signals)
    yield from ("", "Signals: " + ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in sorted(counts.items())))
    present = [
        one.signal if one.subjects == 1 else f"{one.signal} ({one.subjects})"
        for one in coverage.signals
        if one.state == "present"
    ]
    if present:
        yield from wrapped("  present: ", ", ".join(present))
    for one in coverage.signals:
        if one.state in ("stale", "out_of_range"):
            yield from wrapped(f"  {one.state.replace('_', ' ')}: ", f"{one.signal}: {one.reason}")


def _wants(diagnosis: "Diagnosis") -> Iterator[str]:
    """What to do to judge the rest, one thing at a time, the one that helps most rules first."""
    from triage.cli.table import wrapped
    from triage.engine.sources import how_to_get

    ways: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in diagnosis.not_evaluated:
        for name in one.missing:
            names, rules = ways.setdefault(how_to_get((name,)), ({}, {}))
            names[name] = None
            rules[one.rule] = None
    if ways:
        yield from ("", "To judge the rest")
    for way, (names, rules) in sorted(ways.items(), key=lambda item: (-len(item[1][1]), item[0])):
        yield from wrapped("  - ", way)
        yield from wrapped("    brings: ", _few(list(names)))
        yield from wrapped(f"    helps {len(rules)} of {len(diagnosis.not_evaluated)} rules: ", _few(list(rules)))


def _few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more
