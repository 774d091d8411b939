"""``triage coverage``: by what a service can be judged, and how to get the rest."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_format_flag, add_setting_flags, add_source_flags, examples
from triage.cli.jsontext import answered
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.model.diagnosis import Coverage, Diagnosis

_MANY = 6


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "coverage",
        help="which signals and rules a service can be judged by, and how to get the rest",
        description="Looks at a recording, or at the same sources as diagnose, and says which signals are there, "
        "which rules can be judged, and what to do to judge the others.",
        epilog=examples(
            "triage coverage --service llm-prod",
            "triage coverage incident.parquet --format json",
            "triage coverage --signals",
        ),
    )
    parser.add_argument(
        "path", metavar="PATH", type=Path, nargs="?", help="a recording or incident folder instead of live sources"
    )
    parser.add_argument("--signals", action="store_true", help="list the vocabulary and look at nothing")
    add_format_flag(parser)
    add_source_flags(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "quiet")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Judge, and show what could be judged."""
    if args.signals:
        return _vocabulary(args.format)
    from triage.cli.effective import judging_of, language_of, named_service, settings_of
    from triage.cli.report import diagnosed
    from triage.cli.sources import recording_of
    from triage.ingest.files.incident import read_any
    from triage.render.safe import inert

    settings = settings_of(args)
    judging = judging_of(args, settings)
    recording = (
        read_any(args.path, named_service(args.service, settings), language_of(args, settings))
        if args.path
        else recording_of(args, settings)
    )
    diagnosis = diagnosed(recording, judging)
    if args.format == "json":
        return answered("coverage", _document(diagnosis))
    sys.stdout.write("".join(f"{line}\n" for line in _lines(inert(diagnosis))))
    return ExitCode.HEALTHY


def _document(diagnosis: "Diagnosis") -> dict[str, object]:
    """The answer for programs: what was there, which rules could not be judged, and what would open them."""
    return {
        "service": diagnosis.service,
        **diagnosis.coverage.model_dump(mode="json"),
        "not_evaluated": [one.model_dump(mode="json") for one in diagnosis.not_evaluated],
        "to_judge_the_rest": [
            {"way": way, "brings": list(names), "helps": list(rules)} for way, names, rules in _ways(diagnosis)
        ],
    }


def _vocabulary(form: str) -> ExitCode:
    """All signals with unit, scope, layer and meaning."""
    from triage.cli.table import aligned
    from triage.model.vocabulary import catalogue

    columns = ("signal", "unit", "kind", "scope", "layer", "meaning")
    rows = [(one.name, one.unit, one.kind, one.scope, one.layer, one.meaning) for one in catalogue().values()]
    if form == "json":
        return answered("signals", {"signals": [dict(zip(columns, row, strict=True)) for row in rows]})
    sys.stdout.write(aligned([tuple(map(str.upper, columns)), *([cell or "-" for cell in row] for row in rows)]))
    return ExitCode.HEALTHY


def _lines(diagnosis: "Diagnosis") -> Iterator[str]:
    """Sources, signals, rules, and what to do for more."""
    coverage = diagnosis.coverage
    if not coverage.rules_evaluated and any(source.state == "failed" for source in coverage.sources):
        yield diagnosis.headline
    yield f"{diagnosis.service}: {coverage.rules_evaluated} of {coverage.rules_total} rules can be judged"
    yield from _sources(coverage)
    yield from _signals(coverage)
    yield from _wants(diagnosis)
    if coverage.problems:
        yield from ("", "Strange in the data", *(f"  {problem}" for problem in coverage.problems))


def _sources(coverage: "Coverage") -> Iterator[str]:
    """What became of each source, first of those that failed."""
    from triage.cli.table import aligned

    yield from ("", "Sources")
    sources = sorted(coverage.sources, key=lambda source: source.state != "failed")
    rows = [(f"  {source.name}", source.state, source.reason) for source in sources]
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
    """What to do to judge the rest, one thing at a time."""
    from triage.cli.table import wrapped

    ways = _ways(diagnosis)
    if ways:
        yield from ("", "To judge the rest")
    for way, names, rules in ways:
        yield from wrapped("  - ", way)
        yield from wrapped("    brings: ", _few(names))
        yield from wrapped(f"    helps {len(rules)} of {len(diagnosis.not_evaluated)} rules: ", _few(rules))


def _ways(diagnosis: "Diagnosis") -> list[tuple[str, list[str], list[str]]]:
    """What to do, which signals it brings and which rules need one of those; what helps most rules comes first."""
    from triage.engine.sources import how_to_get

    ways: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in diagnosis.not_evaluated:
        for name in one.missing:
            names, rules = ways.setdefault(how_to_get((name,)), ({}, {}))
            names[name] = None
            rules[one.rule] = None
    ranked = sorted(ways.items(), key=lambda item: (-len(item[1][1]), item[0]))
    return [(way, list(names), list(rules)) for way, (names, rules) in ranked]


def _few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more
