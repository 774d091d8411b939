"""``triage rules test``: small tests of rules, of series written by hand."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.ruletest.files import Read
    from triage.ruletest.run import Outcome
    from triage.settings import Settings


def add_test(ways: "argparse._SubParsersAction[Parser]") -> None:
    """The way that tests rules."""
    testing = ways.add_parser(
        "test",
        help="test rules with series written by hand",
        description="Makes the recordings that files of tests describe, judges them and compares with what they expect. "
        "Exit code 0 if all is as expected, 1 if not. docs/rules.md has a whole example.",
    )
    testing.add_argument("paths", metavar="PATH", type=Path, nargs="+", help="a file of tests, or a folder of such files")
    testing.add_argument("--verbose", action="store_true", help="name the tests that pass, too")
    add_setting_flags(testing, "rules", "dialects", "signatures")
    testing.set_defaults(way=_test)


def _test(args: argparse.Namespace) -> ExitCode:
    """Every failure with what was seen instead, then the sum."""
    from triage.cli.effective import settings_of
    from triage.render.reading import counted
    from triage.ruletest.files import files_in, read_tests

    settings = settings_of(args)
    read = [read_tests(path) for path in files_in(args.paths)]
    outcomes = [(one, outcome) for one in read for outcome in _outcomes(one, args, settings)]
    for one, outcome in outcomes:
        if outcome.failures or args.verbose:
            sys.stdout.write(_shown(one, outcome))
    failed = sum(bool(outcome.failures) for _, outcome in outcomes)
    asked = sum(len(outcome.test.expect) for _, outcome in outcomes)
    sys.stdout.write(f"{counted(len(outcomes), 'test')}, {counted(asked, 'expectation')}, {failed} failed\n")
    return ExitCode.DEGRADED if failed else ExitCode.HEALTHY


def _outcomes(one: "Read", args: argparse.Namespace, settings: "Settings") -> "list[Outcome]":
    """The outcomes of a file, with the rules, dialects and signatures that it names beside those of flags and settings."""
    from triage.cli.effective import language_of, rules_of
    from triage.ruletest.run import run

    folder = one.path.parent
    given = argparse.Namespace(
        **{
            name: [*getattr(args, name), *(folder / path for path in getattr(one.file, name))]
            for name in ("rules", "dialects", "signatures")
        }
    )
    return list(run(one, rules_of(given, settings), language_of(given, settings)))


def _shown(one: "Read", outcome: "Outcome") -> str:
    """A test with what of it is not as expected."""
    from triage.render.safe import inert_text

    head = f"{'FAILED' if outcome.failures else 'ok'}  {one.path}: {outcome.test.name}"
    lines = [
        head,
        *(f"{'    ' if number else '  '}{line}" for failure in outcome.failures for number, line in enumerate(failure)),
    ]
    return "".join(f"{inert_text(line)}\n" for line in lines)
