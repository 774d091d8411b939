"""``triage rules``: list, show and check the rules, and give their schema to editors."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags
from triage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from triage.cli import Parser
    from triage.lint.problem import Problem


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
    linting = ways.add_parser("lint", help="check rule files and show what is wrong under its source line")
    linting.add_argument("folders", metavar="DIR", type=Path, nargs="*", help="folders of rules (the shipped ones)")
    linting.add_argument("--playbooks", metavar="DIR", type=Path, action="append", default=[], help="folder of further playbooks")
    linting.add_argument("--quiet", action="store_true", help="show errors only; warnings are counted")
    linting.add_argument("--strict", action="store_true", help="warnings count as problems")
    linting.set_defaults(way=_lint)
    ways.add_parser("schema", help="the JSON Schema of a rule file").set_defaults(way=_schema)
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
    from triage.lint import gather, lint
    from triage.lint.problem import Severity, shown

    ruleset = gather(args.folders, args.playbooks)
    texts = {file.path: file.data.decode(errors="replace") for file in ruleset.files}
    problems = lint(ruleset)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    shown_ones = errors if args.quiet else problems
    sys.stdout.write("".join(f"{shown(problem, texts[problem.path])}\n\n" for problem in shown_ones))
    sys.stdout.write(f"{_counted(len(ruleset.files), 'rule')}, {_count(problems)}\n")
    return ExitCode.DATA if errors or (args.strict and problems) else ExitCode.HEALTHY


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


def _schema(_args: argparse.Namespace) -> ExitCode:
    """The schema, for editors that know JSON Schema; with the names of all signals, so that they can be completed."""
    from triage.model.rule import Rule
    from triage.model.vocabulary import catalogue

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Rule.model_json_schema()}
    parts = schema["$defs"]
    for place in (parts["Measure"]["properties"]["signal"], parts["Gone"]["properties"]["gone"]):
        place["enum"] = list(catalogue())
    sys.stdout.write(json.dumps(schema, indent=2) + "\n")
    return ExitCode.HEALTHY
