"""``triage score``: how often the diagnosis of recorded cases is right."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triage.cli.flags import add_setting_flags, examples
from triage.errors import ExitCode, TriageError, UsageError

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.score.board import Bench
    from triage.score.cases import Case
    from triage.score.figures import Figures, Score


class Told(NamedTuple):
    """What came of the work.

    :param trouble: why the score could not be kept, to be told when it has been shown
    """

    text: str
    code: ExitCode
    trouble: TriageError | None = None


Tell = Callable[[str, float], None]
"""Is told the case and how far all of them are, 0 to 1."""


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "score",
        help="compare diagnoses of recorded cases with their truth",
        description="Diagnoses every incident folder with a truth.toml below some folders and says how often the first cause was "
        "right, what was taken for what, and where a healthy service was blamed; real, public and simulated cases apart.",
        epilog=examples(
            "triage score my-incidents --save before.json",
            "triage score my-incidents --against before.json --least-right 0.85 --most-healthy 0",
            "triage score my-incidents --sweep loss --least-survival 0.8",
        ),
    )
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+")
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="form of the score on stdout (text)"
    )
    parser.add_argument("--figures", action="store_true", help="figures only, no case by name")
    parser.add_argument(
        "--blind",
        metavar="WHICH",
        action="append",
        default=[],
        help="cases that nobody looked at, which are counted apart and never shown by name: a pattern of paths or names, "
        "a file with a name a line, or third, a third of all by a hash of their names (may be repeated)",
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=0, help="processes (one a core)")
    parser.add_argument("--cache", action="store_true", help="keep what was read of the cases in the user's cache folder")
    _add_bars(parser)
    _add_work(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "quiet")
    return parser


def _add_bars(parser: "Parser") -> None:
    """Flags that make the exit code 1."""
    group = parser.add_argument_group("exit with 1 unless")
    group.add_argument(
        "--least-right", metavar="SHARE", type=float, help="at least this share of faults has an accepted cause first"
    )
    group.add_argument("--most-alarms", metavar="N", type=int, help="at most so many healthy services are blamed")
    group.add_argument("--most-healthy", metavar="N", type=int, help="at most so many faults are called healthy")
    group.add_argument("--most-refuted", metavar="N", type=int, help="at most so many faults have their true kind ruled out")
    group.add_argument(
        "--least-survival",
        metavar="SHARE",
        type=float,
        help="with --sweep loss: this share of right answers survives any one loss",
    )
    group.add_argument("--against", metavar="FILE", type=Path, help="no case comes out worse than in this saved score")
    parser.add_argument("--save", metavar="FILE", type=Path, help="keep the score, for --against")


def _add_work(parser: "Parser") -> None:
    """Flags that ask for something else than a score."""
    group = parser.add_argument_group("instead of a score")
    group.add_argument(
        "--sweep",
        metavar="NAME",
        action="append",
        default=[],
        help="take something away, rename, shift or thin out each case, and say what changed that must not: "
        "loss, paraphrase, wrap, weaken, window, interval, clocks, rename, strangers, order, repeat, or all (may be repeated)",
    )
    group.add_argument(
        "--coverage", action="store_true", help="conditions of rules that hold in no case, and those never anything but unknown"
    )


def run(args: argparse.Namespace) -> ExitCode:
    """Score or sweep, and print."""
    from triage.cli.effective import language_of, rules_of, settings_of
    from triage.cli.keeping import refuse_unwritable
    from triage.cli.progress import progress
    from triage.score.board import Bench
    from triage.score.cases import cases_in
    from triage.score.store import cache_folder

    refuse_unwritable(args.save)
    settings = settings_of(args)
    bench = Bench(rules_of(args, settings), cache_folder() if args.cache else None, language_of(args, settings))
    cases = cases_in(args.folders, args.blind)
    work = _swept if args.sweep else _covered if args.coverage else _scored
    with progress(quiet=args.quiet) as tell:
        told = work(args, cases, bench, lambda case, done: tell("score", case, done))
    sys.stdout.write(f"{told.text}\n")
    if told.trouble:
        raise told.trouble
    return told.code


def _scored(args: argparse.Namespace, cases: "list[Case]", bench: "Bench", tell: Tell) -> Told:
    """The score in the form that was asked for; exit code 1 if it is below a bar or a case got worse."""
    from triage.score import saved, table
    from triage.score.board import score
    from triage.score.figures import figures_of

    before = saved.read(args.against) if args.against else None
    result = score(cases, bench, args.jobs, tell)
    trouble = _kept(result, args.save)
    changes = saved.changes(before, result) if before else ()
    healed = sum(one.is_healed for one in result.results)
    missed = [
        *_missed(args, figures_of("all", result.fresh)),
        *(["a case got worse"] if any(one.gain < 0 for one in changes) else []),
        *([f"{healed} marked known_wrong come out right: take the mark out of their truth.toml"] if healed else []),
    ]
    if args.format == "json":
        told = table.as_json(result, only_figures=args.figures)
        if before:
            told["changes"] = [one.model_dump() for one in changes if one.part != "blind" and not args.figures]
        import json

        text = json.dumps({**told, "missed": missed}, indent=2)
    else:
        shown = table.as_markdown if args.format == "markdown" else table.text
        against = saved.text(changes) if before else []
        lines = [
            shown(result, only_figures=args.figures),
            *(against[:1] if args.figures else against),
            *(f"not met: {one}" for one in missed),
        ]
        text = "\n".join(lines)
    return Told(text, ExitCode.DEGRADED if missed else ExitCode.HEALTHY, trouble)


def _kept(result: "Score", path: Path | None) -> TriageError | None:
    """Keep a score if a file is named; what goes wrong is given back."""
    from triage.score import saved

    try:
        if path is not None:
            saved.save(result, path)
    except TriageError as error:
        return error
    return None


def _missed(args: argparse.Namespace, whole: "Figures") -> list[str]:
    """The bars that were not reached, in words.

    :param whole: figures without the cases that are known to come out wrong
    """
    missed = []
    if args.least_right is not None and whole.faults and whole.first < args.least_right * whole.faults:
        missed.append(f"first cause right in {whole.first / whole.faults:.1%}, wanted {args.least_right:.1%}")
    for name, count in (("most_alarms", whole.alarms), ("most_healthy", whole.called_healthy), ("most_refuted", whole.refuted)):
        most = getattr(args, name)
        if most is not None and count > most:
            missed.append(f"--{name.replace('_', '-')} {most}, but there are {count}")
    return missed


def _swept(args: argparse.Namespace, cases: "list[Case]", bench: "Bench", tell: Tell) -> Told:
    """How the sweeps came out; exit code 1 if something did not hold, or too few answers survive.

    :raises UsageError: there is no such sweep
    """
    import json

    from triage.score.sweeps.run import as_json, survival, sweep, text
    from triage.score.sweeps.trial import NAMES

    for name in args.sweep:
        if name not in (*NAMES, "all"):
            raise UsageError(f"no sweep is called {name!r}", f"choose from {', '.join(NAMES)}, all")
    names = [name for name in NAMES if name in args.sweep or "all" in args.sweep]
    result = sweep(cases, bench, names, args.jobs, tell)
    shown = (
        json.dumps(as_json(result, only_figures=args.figures), indent=2)
        if args.format == "json"
        else text(result, only_figures=args.figures)
    )
    good = all(trial.held for trial in result.trials) and survival(result) >= (args.least_survival or 0.0)
    return Told(shown, ExitCode.HEALTHY if good else ExitCode.DEGRADED)


def _covered(args: argparse.Namespace, cases: "list[Case]", bench: "Bench", tell: Tell) -> Told:
    """The conditions of rules that no case makes hold."""
    import json

    from triage.score.unused import text, unanswered

    told = unanswered(cases, bench, args.jobs, tell)
    shown = json.dumps([one.model_dump() for one in told], indent=2) if args.format == "json" else text(told, bench.rules)
    return Told(shown, ExitCode.HEALTHY)
