"""``triage rules``: list, show and check the rules and what they rest on, and give their schemas to editors."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags
from triage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from triage.cli import Parser
    from triage.lint.problem import Problem


SCHEMAS = ("rule", "dialect", "signatures", "statements", "lexicon", "xid")
"""Kinds of files that people write."""


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its four ways."""
    parser = commands.add_parser("rules", help="list, show and check the rules", description="List, show and check the rules.")
    ways = parser.add_subparsers(metavar="WAY", required=True)
    listing = ways.add_parser("list", help="all rules: id, cause, layer, severity, state, title")
    listing.set_defaults(way=_list)
    showing = ways.add_parser("show", help="one rule in words")
    showing.add_argument("id", metavar="ID")
    showing.set_defaults(way=_show)
    for way in (listing, showing):
        add_setting_flags(way)
    linting = ways.add_parser(
        "lint",
        help="check rules, dialects and signatures and show what is wrong under its source line",
        description="Checks the folders that are named, or all that is shipped, and shows each problem under its source line.",
    )
    linting.add_argument("folders", metavar="DIR", type=Path, nargs="*", help="folders of rules")
    linting.add_argument("--dialects", metavar="DIR", type=Path, action="append", default=[], help="check a folder of dialects")
    linting.add_argument(
        "--signatures", metavar="DIR", type=Path, action="append", default=[], help="check a folder of signatures"
    )
    linting.add_argument("--playbooks", metavar="DIR", type=Path, action="append", default=[], help="folder of further playbooks")
    linting.add_argument("--quiet", action="store_true", help="show errors only; warnings are counted")
    linting.add_argument("--strict", action="store_true", help="warnings count as problems")
    linting.set_defaults(way=_lint)
    schema = ways.add_parser("schema", help="the JSON Schema of a kind of file, for editors")
    schema.add_argument("kind", choices=SCHEMAS, nargs="?", default="rule", help="kind of file (rule)")
    schema.set_defaults(way=_schema)
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Go the way that was named."""
    code: ExitCode = args.way(args)
    return code


def _list(args: argparse.Namespace) -> ExitCode:
    """One line for each rule."""
    from triage.cli.effective import rules_of, settings_of
    from triage.cli.table import aligned

    rules = rules_of(args, settings_of(args))
    rows = [(rule.id, rule.cause, rule.layer, rule.severity, rule.status, rule.title) for rule in rules]
    sys.stdout.write(aligned([("ID", "CAUSE", "LAYER", "SEVERITY", "STATE", "TITLE"), *rows]))
    return ExitCode.HEALTHY


def _show(args: argparse.Namespace) -> ExitCode:
    """One rule in words."""
    from triage.cli.effective import rules_of, settings_of
    from triage.cli.ruletext import described
    from triage.validation import did_you_mean

    rules = {rule.id: rule for rule in rules_of(args, settings_of(args))}
    if args.id not in rules:
        raise UsageError(f"no rule is called {args.id!r}", did_you_mean(args.id, rules) or "triage rules list shows all")
    sys.stdout.write(described(rules[args.id]))
    return ExitCode.HEALTHY


def _lint(args: argparse.Namespace) -> ExitCode:
    """Every problem under its source line, then the sum."""
    from triage.lint.problem import Severity, shown

    problems, texts, counts = _linted(args)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    shown_ones = errors if args.quiet else problems
    sys.stdout.write("".join(f"{shown(problem, texts[problem.path])}\n\n" for problem in shown_ones))
    sys.stdout.write(f"{counts}, {_count(problems)}\n")
    return ExitCode.DATA if errors or (args.strict and problems) else ExitCode.HEALTHY


def _linted(args: argparse.Namespace) -> "tuple[list[Problem], dict[Path, str], str]":
    """The problems of what was named, or of all that is shipped; the text of each file; how many files of each sort."""
    from triage.bundle import bundled
    from triage.ingest.logs.loading import load_signatures
    from triage.lint import gather, lint
    from triage.lint.language import lint_dialects, lint_signatures

    everything = not (args.folders or args.dialects or args.signatures)
    problems: list[Problem] = []
    texts: dict[Path, str] = {}
    counts: list[str] = []
    ruleset = gather(args.folders, args.playbooks)
    if everything or args.signatures:
        folders = [bundled("signatures")] if everything else args.signatures
        found, read = lint_signatures(folders, ruleset.rules)
        problems, texts = [*problems, *found], {**texts, **read}
        counts.append(_counted(len(read), "file") + " of signatures")
    if everything or args.dialects:
        found, read = lint_dialects([bundled("collectors") / "dialects"] if everything else args.dialects)
        problems, texts = [*problems, *found], {**texts, **read}
        counts.append(_counted(len(read), "dialect"))
    if everything or args.folders:
        known = (
            load_signatures() if any(problem.severity == "error" for problem in problems) else load_signatures(args.signatures)
        )
        found = lint(replace(ruleset, signatures=known))
        problems = [*found, *problems]
        texts |= {file.path: file.data.decode(errors="replace") for file in ruleset.files}
        counts.append(_counted(len(ruleset.files), "rule"))
    return problems, texts, ", ".join(reversed(counts))


def _count(problems: "Sequence[Problem]") -> str:
    """How many problems of each severity."""
    from triage.lint.problem import Severity

    numbers = {
        severity: sum(problem.severity is severity for problem in problems) for severity in (Severity.ERROR, Severity.WARNING)
    }
    return ", ".join(_counted(number, severity) for severity, number in numbers.items())


def _counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _schema(args: argparse.Namespace) -> ExitCode:
    """The schema, for editors that know JSON Schema; with the names of all signals, so that they can be completed."""
    from triage.lint.schemas import schema_of

    sys.stdout.write(json.dumps(schema_of(args.kind), indent=2) + "\n")
    return ExitCode.HEALTHY
