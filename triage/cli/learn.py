"""``triage learn``: the map of words, lessons and drills from recordings."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_setting_flags, examples
from triage.cli.parser import help_shown
from triage.errors import ExitCode, InputMissingError, TriageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from triage.cli.parser import Parser
    from triage.ingest.language import Language
    from triage.learn.screen import Screen
    from triage.model.rule import Rule


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its ways."""
    parser = commands.add_parser(
        "learn",
        help="the map of words, lessons and drills from recordings",
        description="Teaches diagnosis with recordings of real incidents.",
        epilog=examples(
            "triage learn map preemption",
            "triage learn list",
            "triage learn lesson retries-make-it-worse",
            "triage learn drill",
            "triage learn progress",
        ),
    )
    parser.set_defaults(way=lambda _args: help_shown(parser))
    ways = parser.add_subparsers(metavar="WAY")
    mapping = ways.add_parser("map", help="every word that triage uses: its layer, meaning, and how it is measured")
    mapping.add_argument("word", metavar="WORD", nargs="*", help="only this word")
    mapping.set_defaults(way=_map)
    listing = ways.add_parser("list", help="all lessons, and how many drills there are of each level")
    listing.set_defaults(way=_list)
    lesson = ways.add_parser("lesson", help="walk one recording step by step")
    lesson.add_argument("id", metavar="LESSON", help="id, or number in the list")
    lesson.set_defaults(way=_lesson)
    drill = ways.add_parser("drill", help="find the cause of an incident yourself, and compare with the expert's path")
    drill.add_argument("case", metavar="CASE", nargs="?", help="number or folder name (the first that is not finished)")
    drill.add_argument("--level", type=int, choices=(1, 2, 3), help="the first of this level: 1 easy, 2 middle, 3 hard")
    drill.add_argument("--answers", metavar="FILE", type=Path, help="take what is typed from a file, a line each")
    drill.set_defaults(way=_drill)
    progress = ways.add_parser("progress", help="finished drills and their scores")
    progress.set_defaults(way=_progress)
    ways_of_lang = (mapping, listing, lesson, drill, progress)
    _add_flags(ways_of_lang, with_lessons=(listing, lesson), with_cases=(listing, lesson, drill, progress))
    for way in (lesson, drill):
        add_setting_flags(way, "rules", "dialects", "signatures")
    return parser


def _add_flags(ways: "Sequence[Parser]", with_lessons: "Sequence[Parser]", with_cases: "Sequence[Parser]") -> None:
    """The flags that several ways share."""
    for way in ways:
        way.add_argument("--lang", choices=("en", "zh"), default="en", help="language (en)")
    for way in with_lessons:
        way.add_argument("--lessons", metavar="DIR", type=Path, action="append", default=[], help="folder of further lessons")
    for way in with_cases:
        way.add_argument("--cases", metavar="DIR", type=Path, action="append", default=[], help="folder of recorded cases")


def run(args: argparse.Namespace) -> ExitCode:
    """Go the way that was named."""
    code: ExitCode = args.way(args)
    return code


def _map(args: argparse.Namespace) -> ExitCode:
    """The words, or one of them."""
    from triage.learn.glossary import find, load_glossary
    from triage.learn.show import show_map

    terms = load_glossary()
    show_map(_screen(), find(terms, " ".join(args.word)) if args.word else terms, args.lang)
    return ExitCode.HEALTHY


def _list(args: argparse.Namespace) -> ExitCode:
    """Lessons with their goals, drills by level."""
    from triage.learn.cases import drill_cases, level_of
    from triage.learn.lesson import load_lessons
    from triage.learn.show import show_drills, show_list

    screen = _screen()
    show_list(screen, load_lessons(args.lessons).values(), args.lang)
    show_drills(screen, [level_of(path) for path in drill_cases(args.cases)], args.lang)
    return ExitCode.HEALTHY


def _lesson(args: argparse.Namespace) -> ExitCode:
    """One lesson."""
    from triage.learn.cases import Case, find_case
    from triage.learn.lesson import load_lessons, pick
    from triage.learn.show import show_lesson

    lesson = pick(load_lessons(args.lessons), args.id)
    rules = _rules(args)
    unknown = {look.rule for step in lesson.steps for look in step.look if look.rule} - {rule.id for rule in rules}
    if unknown:
        raise UsageError(f"lesson {lesson.id} asks of rules that are not there: {', '.join(sorted(unknown))}", "check --rules")
    show_lesson(_screen(), lesson, Case(find_case(lesson.incident, args.cases), rules, _language(args)), args.lang)
    return ExitCode.HEALTHY


def _drill(args: argparse.Namespace) -> ExitCode:
    """One drill, and its result into the file of progress."""
    import os

    from triage.learn.cases import Case, drill_cases, level_of
    from triage.learn.drill import Drill, run
    from triage.learn.progress import progress_file, read_progress, write_progress
    from triage.score.truth import read_truth

    place = progress_file(os.environ)
    progress = read_progress(place)
    cases = drill_cases(args.cases)
    path = _chosen(cases, args.case, args.level, progress.drills.keys())
    screen = _screen(_lines(args.answers))
    case, truth = Case(path, _rules(args), _language(args)), read_truth(path / "truth.toml")
    outcome = run(Drill(case, truth, cases.index(path) + 1, level_of(path), screen, args.lang), screen)
    if outcome.named:
        write_progress(place, progress.after(path.name, outcome.score))
    return ExitCode.HEALTHY


def _progress(args: argparse.Namespace) -> ExitCode:
    """What was reached so far."""
    import os

    from triage.learn.cases import drill_cases
    from triage.learn.progress import progress_file, read_progress
    from triage.learn.show import show_progress

    try:
        numbers = {path.name: number for number, path in enumerate(drill_cases(args.cases), start=1)}
    except TriageError:
        numbers = {}
    show_progress(_screen(), read_progress(progress_file(os.environ)), numbers, args.lang)
    return ExitCode.HEALTHY


def _chosen(cases: "Sequence[Path]", wanted: str | None, level: int | None, finished: "Collection[str]") -> Path:
    """The case of a number or name; without one the first (of a level) that is not finished, or the first of all.

    :raises UsageError: there is none
    """
    from triage.learn.cases import level_of

    if wanted is None:
        fitting = [path for path in cases if level in (None, level_of(path))]
        if not fitting:
            raise UsageError(f"there is no drill of level {level}", "leave --level out, or name other cases with --cases")
        return next((path for path in fitting if path.name not in finished), fitting[0])
    for number, path in enumerate(cases, start=1):
        if wanted in (str(number), path.name):
            return path
    raise UsageError(f"there is no drill {wanted!r}", f"give a number from 1 to {len(cases)}, or the name of a case's folder")


def _rules(args: argparse.Namespace) -> "tuple[Rule, ...]":
    """The rules in force."""
    from triage.cli.effective import rules_of, settings_of

    return rules_of(args, settings_of(args))


def _language(args: argparse.Namespace) -> "Language":
    """The dialects and signatures in force."""
    from triage.cli.effective import language_of, settings_of

    return language_of(args, settings_of(args))


def _lines(path: Path | None) -> "Iterator[str] | None":
    """The lines of a file of answers; None if none was named.

    :raises InputMissingError: it cannot be read
    """
    if path is None:
        return None
    try:
        return iter(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror or error}") from error


def _screen(answers: "Iterator[str] | None" = None) -> "Screen":
    """The terminal."""
    import os

    from triage.learn.screen import Screen

    return Screen(os.environ, answers)
