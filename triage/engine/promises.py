"""The ledger of promises: what users notice, each kept, broken or open."""

from triage.engine.frame import Frame
from triage.engine.statistics import statistic
from triage.engine.symptoms import WATCHES, Watch, symptoms
from triage.model.diagnosis import Promised, Vital
from triage.model.recording import Subject
from triage.model.vocabulary import Scope, catalogue


def ledger(frame: Frame) -> tuple[Vital, ...]:
    """What became of each thing that users notice."""
    broken = {symptom.name for symptom in symptoms(frame)}
    return tuple(_vital(watch, frame, broken=watch.objective in broken) for watch in WATCHES)


def _vital(watch: Watch, frame: Frame, *, broken: bool) -> Vital:
    """One of them, at the view nearest to the user that has values."""
    service = str(Subject(Scope.SERVICE, frame.recording.service))
    for signal in watch.signals:
        subjects = frame.subjects_of(signal)
        entry = catalogue()[signal]
        value = statistic(frame, signal, subjects, watch.stat, frame.grid.window, entry.combine) if subjects else None
        if value is not None:
            return Vital(
                name=watch.objective,
                title=watch.words,
                subject=service,
                state=Promised.BROKEN if broken else Promised.KEPT if _is_held(watch, frame) else Promised.OPEN,
                value=value.estimate,
                unit=entry.unit,
            )
    return Vital(name=watch.objective, title=watch.words, subject=service, state=Promised.OPEN, reason="nobody measures it")


def _is_held(watch: Watch, frame: Frame) -> bool:
    """Whether there is anything to hold it against: a promise or a past."""
    return watch.objective in frame.recording.objectives or frame.grid.first > 0
