"""The linter of rules, dialects and signatures: what their forms cannot say. Problems are values; the command line shows them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from triage.bundle import bundled
from triage.engine.rules.incidents import read_incidents
from triage.engine.rules.loading import read_folder
from triage.errors import InputMissingError
from triage.lint import cases, families, graph, levels, measures, references, skeleton, wording
from triage.lint.language import of_fault
from triage.lint.problem import Problem
from triage.lint.ruleset import Checked, Ruleset, read_cases, read_levels

Check = Callable[[Checked], Iterator[Problem]]

CHECKS: tuple[Check, ...] = (
    references.unknown_kinds,
    references.unknown_signals,
    references.unknown_events,
    references.missing_playbook,
    skeleton.left_over,
    skeleton.playbook_disagrees,
    references.unknown_incidents,
    graph.loops,
    graph.no_way_back,
    wording.placeholders,
    wording.unused_names,
    wording.sentences,
    measures.out_of_reach,
    measures.out_of_range,
    levels.bare_thresholds,
    levels.bare_holds,
    measures.bad_patterns,
    families.one_family,
    cases.no_positive_case,
    cases.no_look_alike_case,
    cases.unearned_status,
)


def lint(ruleset: Ruleset) -> list[Problem]:
    """All problems of all files, in the order of the files and their lines."""
    found: list[Problem] = []
    for file in ruleset.files:
        here = [of_fault(fault) for fault in file.faults]
        if file.rule is not None:
            checked = Checked(file, file.rule, ruleset)
            here += [problem for check in CHECKS for problem in check(checked)]
        found += sorted(here, key=lambda problem: (problem.path != file.path, problem.path, problem.line, problem.column))
    return found


def gather(folders: Iterable[Path] = (), playbooks: Sequence[Path] = (), cases: Sequence[Path] = ()) -> Ruleset:
    """The rule files of some folders, or the shipped ones, with what they may refer to.

    :param playbooks: folders of further playbooks
    :param cases: folders of incidents; of the shipped rules those of the checkout, if it is one
    :raises TriageError: a folder is missing, or holds no rule
    """
    for folder, what in [*((one, "playbooks") for one in playbooks), *((one, "incidents") for one in cases)]:
        if not folder.is_dir():
            raise InputMissingError(f"{folder} is not a folder of {what}")
    shipped = read_folder(bundled("rules"))
    named = list(folders)
    files = [file for folder in named for file in read_folder(folder)] if named else shipped
    books = {path.stem: folder for folder in (bundled("playbooks"), *playbooks) for path in folder.glob("*.md")}
    own = bundled("rules").parent / "tests" / "incidents"
    tried = [*cases, *([own] if own.is_dir() and not named else [])]
    known = tuple(case for folder in tried for case in read_cases(folder)) if tried else None
    rules = {file.rule.id: file.rule for file in [*shipped, *files] if file.rule is not None}
    every = (bundled("rules"), *named)
    cited = frozenset(one.id for folder in every for one in read_incidents(folder))
    return Ruleset(tuple(files), rules, books, cited, read_levels(every), known)
