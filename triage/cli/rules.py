"""``triage rules``: list, show and check the rules and what they rest on, and give their schemas to editors."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.exporting import add_export
from triage.cli.flags import add_format_flag, add_setting_flags, examples
from triage.cli.jsontext import answered
from triage.cli.parser import help_shown
from triage.cli.ruletests import add_test
from triage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.engine.rules.incidents import Incident
    from triage.lint.problem import Problem
    from triage.settings import Settings


_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

CAUSES = ("runtime", "infrastructure", "tooling")
LAYERS = ("platform", "engine", "framework", "cuda", "hardware")
"""The words of the vocabulary, which is slow to import for help."""

SCHEMAS = ("rule", "dialect", "signatures", "statements", "lexicon", "xid", "tests")
"""Kinds of files that people write."""


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its ways."""
    parser = commands.add_parser(
        "rules",
        help="list, show and check the rules",
        description="List, show and check the rules.",
        epilog=examples(
            "triage rules list",
            "triage rules list --format json",
            "triage rules show kv-exhaustion-preemption",
            "triage rules new ring-buffer-full --cause runtime --layer engine",
            "triage rules lint my-rules --strict",
            "triage rules lint --dialects my-dialects --signatures my-signatures",
            "triage rules export --service llm-prod > llm-prod.rules.yml",
            "triage rules schema dialect",
        ),
    )
    parser.set_defaults(way=lambda _args: help_shown(parser))
    ways = parser.add_subparsers(metavar="WAY")
    listing = ways.add_parser("list", help="all rules: id, cause, layer, severity, state, title")
    listing.set_defaults(way=_list)
    showing = ways.add_parser("show", help="one rule in words")
    showing.add_argument("id", metavar="ID")
    showing.set_defaults(way=_show)
    catalogue = ways.add_parser("catalogue", help="the page of all kinds as Markdown, made of the rules")
    catalogue.set_defaults(way=_catalogue)
    for way in (listing, showing, catalogue):
        add_setting_flags(way, "rules")
    _add_new(ways)
    add_test(ways)
    add_export(ways)
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
    linting.add_argument("--cases", metavar="DIR", type=Path, action="append", default=[], help="folder of incidents")
    linting.add_argument("--quiet", action="store_true", help="show errors only; warnings are counted")
    linting.add_argument("--strict", action="store_true", help="warnings count as problems")
    linting.set_defaults(way=_lint)
    for way in (listing, showing, linting):
        add_format_flag(way)
    schema = ways.add_parser("schema", help="the JSON Schema of a kind of file, for editors")
    schema.add_argument(
        "kind", metavar="KIND", choices=SCHEMAS, nargs="?", default="rule", help=f"kind of file: {', '.join(SCHEMAS)} (rule)"
    )
    schema.set_defaults(way=_schema)
    return parser


def _add_new(ways: "argparse._SubParsersAction[Parser]") -> None:
    """The way that begins a new kind."""
    new = ways.add_parser("new", help="write rule, playbook and case of a new kind, for you to fill in")
    new.add_argument("id", metavar="ID", help="small letters, digits and hyphens: what it is called everywhere, for good")
    new.add_argument("--cause", choices=CAUSES, default="runtime", help="kind of illness (runtime)")
    new.add_argument("--layer", choices=LAYERS, default="engine", help="where it sits (engine)")
    new.add_argument(
        "--in", metavar="DIR", dest="folder", type=Path, default=Path(), help="where rules/, playbooks/ and cases/ lie (.)"
    )
    new.set_defaults(way=_new)


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
    columns = ("id", "cause", "layer", "severity", "state", "title")
    if args.format == "json":
        return answered("rules", {"rules": [dict(zip(columns, row, strict=True)) for row in rows]})
    sys.stdout.write(aligned([tuple(map(str.upper, columns)), *rows]))
    return ExitCode.HEALTHY


def _show(args: argparse.Namespace) -> ExitCode:
    """One rule in words."""
    from triage.cli.effective import rules_of, settings_of
    from triage.cli.ruletext import described
    from triage.validation import did_you_mean

    settings = settings_of(args)
    rules = {rule.id: rule for rule in rules_of(args, settings)}
    if args.id not in rules:
        raise UsageError(f"no rule is called {args.id!r}", did_you_mean(args.id, rules) or "triage rules list shows all")
    if args.format == "json":
        return answered("rule", rules[args.id].model_dump(mode="json", exclude_defaults=True))
    sys.stdout.write(described(rules[args.id], _incidents(args, settings)))
    return ExitCode.HEALTHY


def _catalogue(args: argparse.Namespace) -> ExitCode:
    """The page of all kinds."""
    from triage.cli.catalogue import catalogue_page
    from triage.cli.effective import rules_of, settings_of

    settings = settings_of(args)
    sys.stdout.write(catalogue_page(rules_of(args, settings), _incidents(args, settings)))
    return ExitCode.HEALTHY


def _incidents(args: argparse.Namespace, settings: "Settings") -> "dict[str, Incident]":
    """The catalogue of public incidents by id: the shipped one, and those beside rules of the user's."""
    from triage.bundle import bundled
    from triage.engine.rules.incidents import read_incidents

    folders = (bundled("rules"), *settings.defaults.rules, *args.rules)
    return {one.id: one for folder in folders for one in read_incidents(folder)}


def _new(args: argparse.Namespace) -> ExitCode:
    """Write the skeletons, and say what comes next."""
    from triage.cli.skeletons import write_skeletons
    from triage.engine.rules.loading import load_rules
    from triage.model.vocabulary import Cause, Layer

    if not _ID.fullmatch(args.id):
        raise UsageError(f"{args.id!r} is no id of a kind", "an id is made of small letters, digits and hyphens: kv-leak")
    if any(rule.id == args.id for rule in load_rules()):
        raise UsageError(f"there is a kind called {args.id} already", f"triage rules show {args.id}")
    paths = write_skeletons(args.id, Cause(args.cause), Layer(args.layer), args.folder)
    rules, books, cases = args.folder / "rules", args.folder / "playbooks", paths[-1].parents[1]
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    sys.stdout.write(
        "Fill in what says TODO, then\n"
        f"  triage rules lint {rules} --playbooks {books} --cases {cases}\n"
        f"  triage score {paths[-1].parent} --rules {rules}\n"
    )
    return ExitCode.HEALTHY


def _lint(args: argparse.Namespace) -> ExitCode:
    """Every problem under its source line, then the sum."""
    from dataclasses import asdict

    from triage.lint.problem import Severity, shown, text_of

    problems, counts = _linted(args)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    shown_ones = errors if args.quiet else problems
    code = ExitCode.DATA if errors or (args.strict and problems) else ExitCode.HEALTHY
    if args.format == "json":
        answered("lint", {"checked": counts, "problems": [{**asdict(one), "path": str(one.path)} for one in shown_ones]})
        return code
    sys.stdout.write("".join(f"{shown(problem, text_of(problem.path))}\n\n" for problem in shown_ones))
    sys.stdout.write(f"{counts}, {_count(problems)}\n")
    return code


def _linted(args: argparse.Namespace) -> "tuple[list[Problem], str]":
    """The problems of what was named, or of all that is shipped; how many files of each sort."""
    from dataclasses import replace

    from triage.bundle import bundled
    from triage.ingest.logs.loading import load_signatures
    from triage.lint import gather, lint
    from triage.lint.language import lint_dialects, lint_signatures

    everything = not (args.folders or args.dialects or args.signatures)
    problems: list[Problem] = []
    counts: list[str] = []
    ruleset = gather(args.folders, args.playbooks, args.cases)
    if everything or args.signatures:
        folders = [bundled("signatures")] if everything else args.signatures
        found, read = lint_signatures(folders, ruleset.rules)
        problems += found
        counts.append(_counted(len(read), "file") + " of signatures")
    if everything or args.dialects:
        found, read = lint_dialects([bundled("collectors") / "dialects"] if everything else args.dialects)
        problems += found
        counts.append(_counted(len(read), "dialect"))
    if everything or args.folders:
        known = (
            load_signatures() if any(problem.severity == "error" for problem in problems) else load_signatures(args.signatures)
        )
        found = lint(replace(ruleset, signatures=known))
        problems = [*found, *problems]
        counts.append(_counted(len(ruleset.files), "rule"))
    return problems, ", ".join(reversed(counts))


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
    import json

    from triage.lint.schemas import schema_of

    sys.stdout.write(json.dumps(schema_of(args.kind), indent=2) + "\n")
    return ExitCode.HEALTHY
