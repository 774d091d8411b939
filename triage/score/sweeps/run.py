"""Runs sweeps over all cases, and shows how they came out."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from triage.errors import TriageError
from triage.score.board import Bench, Progress, over
from triage.score.cases import Case
from triage.score.sweeps.logs import paraphrase, wrap
from triage.score.sweeps.loss import loss
from triage.score.sweeps.order import order, rename, repeat
from triage.score.sweeps.strangers import strangers
from triage.score.sweeps.times import clocks, interval, window
from triage.score.sweeps.trial import MUST, NAMES, Name, Sweep, Trial
from triage.score.sweeps.under import UnderChange
from triage.score.sweeps.values import weaken

_SWEEPS: dict[Name, Callable[[UnderChange], Iterator[Trial]]] = {
    "loss": loss,
    "paraphrase": paraphrase,
    "wrap": wrap,
    "weaken": weaken,
    "window": window,
    "interval": interval,
    "clocks": clocks,
    "rename": rename,
    "strangers": strangers,
    "order": order,
    "repeat": repeat,
}


def sweep(
    cases: Sequence[Case],
    bench: Bench,
    names: Sequence[Name] = NAMES,
    jobs: int = 1,
    progress: Progress = lambda _case, _done: None,
) -> Sweep:
    """Runs sweeps over every case."""
    return Sweep(
        trials=tuple(trial for trials in over(partial(_trials, names), cases, bench, jobs, progress) for trial in trials)
    )


def _trials(names: Sequence[Name], case: Case, bench: Bench) -> list[Trial]:
    """All sweeps of one case, whose recording is made once. A case that cannot be read has not held."""
    try:
        under = UnderChange(bench.load(case), bench)
    except TriageError as error:
        lost = {"case": case.name, "origin": case.origin, "part": case.part, "change": "none", "told": error.message}
        return [Trial.model_validate({"sweep": name, "held": False, **lost}) for name in names]
    return [trial for name in names for trial in _SWEEPS[name](under)]


def text(result: Sweep, *, only_figures: bool = False) -> str:
    """How the sweeps came out: a line each, survival of any loss, then what did not hold; of blind cases only figures."""
    lines = []
    for name in NAMES:
        trials = result.of(name)
        if trials:
            lines.append(f"{name:<11} {_shares(trials)}: {MUST[name]}")
    lines += _survival(result)
    failed = [trial for trial in result.trials if not trial.held]
    shown = [] if only_figures else [trial for trial in failed if trial.part != "blind"]
    lines += [f"  {trial.sweep} {trial.case}: {trial.change}: {trial.told}" for trial in shown]
    if len(shown) < len(failed) and not only_figures:
        lines.append(f"  and {len(failed) - len(shown)} of blind cases")
    return "\n".join(lines)


def _shares(trials: Sequence[Trial]) -> str:
    """How many trials held, and after how many a right answer was still right."""
    held = sum(trial.held for trial in trials)
    known = [trial for trial in trials if trial.survived is not None]
    right = f", still right {_part(sum(trial.survived is True for trial in known), len(known))}" if known else ""
    return f"held {_part(held, len(trials))}{right}"


def _survival(result: Sweep) -> list[str]:
    """In how many cases a right answer survives the loss of any one name, by where they come from."""
    if not result.of("loss"):
        return []
    lines = []
    for title, sorts in _LOSSES:
        cells = []
        for group in sorted({(trial.origin, trial.part) for trial in result.trials}):
            own = Sweep(trials=tuple(trial for trial in result.trials if (trial.origin, trial.part) == group))
            alive, known = own.surviving(sorts)
            cells += [f"{', '.join(group)} {_part(alive, known)}"] if known else []
        lines.append(
            f"right answers that survive the loss of any one {title}: {_part(*result.surviving(sorts))} ({'; '.join(cells)})"
        )
    return lines


_LOSSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("signal or event", ("signal", "event")),
    ("signal, event or fact", ("signal", "event", "fact")),
    ("source of metrics or changes", ("source",)),
    ("log", ("log",)),
)


def _part(count: int, whole: int) -> str:
    return f"{count} of {whole} ({count / whole:.1%})" if whole else "none"


def survival(result: Sweep) -> float:
    """Share of the right answers that survive the loss of any one signal, event or fact; 1 if there are none."""
    alive, known = result.surviving(("signal", "event", "fact"))
    return alive / known if known else 1.0


def as_json(result: Sweep, *, only_figures: bool = False) -> dict[str, object]:
    """The sweeps as JSON: figures, and the trials of the cases that people may look at."""
    figures = {
        name: {"trials": len(trials), "held": sum(t.held for t in trials), "must": MUST[name]}
        for name in NAMES
        if (trials := result.of(name))
    }
    told: dict[str, object] = {"sweeps": figures}
    if result.of("loss"):
        told["survive_any_loss"] = {title: list(result.surviving(sorts)) for title, sorts in _LOSSES}
    if not only_figures:
        told["trials"] = [trial.model_dump() for trial in result.trials if trial.part != "blind"]
    return told
