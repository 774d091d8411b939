"""Goes over all cases, with as many processes as there are cores."""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import field
from pathlib import Path
from typing import TypeVar, cast

from triage.classes import dataclass
from triage.engine.diagnose import diagnose
from triage.errors import TriageError
from triage.ingest.language import Language
from triage.model.rule import Rule
from triage.score.cases import Case
from triage.score.figures import Score
from triage.score.result import Result, compared, unread
from triage.score.store import Loaded, load

_FEW = 8
"""Fewer cases than this are done before another process has started."""

T = TypeVar("T")

Progress = Callable[[str, float], None]
"""Is told the case that was done and how far all of them are, 0 to 1."""


@dataclass(frozen=True)
class Bench:
    """What every case is judged with.

    :param language: how cases are read; the shipped one if None
    :param cache: folder in which recordings are kept between runs; nowhere if None
    """

    rules: Sequence[Rule]
    cache: Path | None = None
    language: Language | None = None
    ruled: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ruled", frozenset(rule.id for rule in self.rules))

    def load(self, case: Case) -> Loaded:
        """A case with its recording."""
        return load(case, self.cache, self.language)

    def judged(self, case: Case, loaded: Loaded) -> Result:
        """How a case comes out."""
        return compared(case, diagnose(loaded.recording, self.rules), self.ruled)


def score(cases: Sequence[Case], bench: Bench, jobs: int = 1, progress: Progress = lambda _case, _done: None) -> Score:
    """Diagnoses every case and compares with its truth."""
    return Score(results=tuple(over(score_case, cases, bench, jobs, progress)))


def score_case(case: Case, bench: Bench) -> Result:
    """One case; a case that cannot be read counts as wrong, with the reason."""
    try:
        return bench.judged(case, bench.load(case))
    except TriageError as error:
        return unread(case, error.message)


def over(
    work: Callable[[Case, Bench], T],
    cases: Sequence[Case],
    bench: Bench,
    jobs: int,
    progress: Progress = lambda _case, _done: None,
) -> Iterator[T]:
    """What work gives for each case, in the order of the cases however many processes there are.

    :param jobs: processes; 0 for one a core
    """
    jobs = min(jobs or os.cpu_count() or 1, len(cases))
    if jobs < 2 or len(cases) < _FEW:
        gc.freeze()
        for number, case in enumerate(cases):
            yield work(case, bench)
            progress(case.name, (number + 1) / len(cases))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (work, bench)) as pool:
        for number, (case, done) in enumerate(zip(cases, pool.map(_one, cases), strict=True)):
            yield cast(T, done)
            progress(case.name, (number + 1) / len(cases))


_task: list[tuple[Callable[[Case, Bench], object], Bench]] = []
"""What this process does with a case; given once, since rules are large."""


def _begin(work: Callable[[Case, Bench], object], bench: Bench) -> None:
    """Prepares a process: what it has loaded stays, so the collector of garbage need not look at it again and again."""
    _task.append((work, bench))
    gc.collect()
    gc.freeze()


def _one(case: Case) -> object:
    work, bench = _task[0]
    return work(case, bench)
