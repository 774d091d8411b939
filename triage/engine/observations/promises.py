"""Promises that are broken: what users notice, as observations that have to be explained."""

from triage.engine.frame import Frame
from triage.engine.promises import entries
from triage.engine.promises.entries import Entry
from triage.engine.rules.families import family_of
from triage.model.diagnosis import Evidence, Promised, Verdict
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Subject
from triage.model.vocabulary import Scope, catalogue


def promises(frame: Frame) -> Seen:
    """Every broken promise; of those that are known it could be told."""
    known = [entry for entry in entries(frame) if entry.vital.state is not Promised.OPEN]
    odd = tuple(_observed(entry, frame) for entry in known if entry.vital.state is Promised.BROKEN)
    return Seen(odd, frozenset(_judged(entry) for entry in known))


def _subject(entry: Entry) -> Subject:
    scope, _, name = entry.vital.subject.partition("/")
    return Subject(Scope(scope), name)


def _judged(entry: Entry) -> Judged:
    return "promise", entry.vital.name, _subject(entry).scope


def _observed(entry: Entry, frame: Frame) -> Observation:
    """One broken promise."""
    vital = entry.vital
    text = f"{vital.title} of {vital.subject}: {vital.reason or f'beyond {vital.limit_of}'}"
    signal, stat = entry.measured
    evidence = Evidence(
        signal=signal,
        subject=vital.subject,
        stat=stat,
        phrase="" if stat else vital.title,
        value=vital.value,
        unit=vital.unit,
        threshold=vital.limit,
        threshold_of=vital.limit_of,
        baseline=vital.baseline,
        verdict=Verdict.PRESENT,
        since=vital.since,
        text=text,
    ).reckoned_as(vital)
    return Observation(
        sort="promise",
        of=vital.name,
        subject=_subject(entry),
        text=text,
        onset=None if vital.since is None else (vital.since - frame.grid.step, vital.since),
        end=vital.until,
        against="limit" if vital.limit_of.startswith("objective") else "past" if vital.baseline is not None else "limit",
        direction="worse",
        size=vital.harm,
        value=vital.value,
        usual=vital.baseline,
        unit=vital.unit,
        source=family_of(entry.signal) if entry.signal in catalogue() else "",
        evidence=evidence,
        salient=True,
    )
