"""Symptoms: the broken promises of the ledger, each with its evidence."""

from triage.engine.frame import Frame
from triage.engine.promises import entries
from triage.engine.promises.entries import Entry
from triage.model.diagnosis import Evidence, Promised, Symptom, Verdict


def symptoms(frame: Frame) -> tuple[Symptom, ...]:
    """What users of the service notice in the window: its broken promises, else those of its parts."""
    return tuple(_symptom(entry) for entry in entries(frame) if entry.vital.state is Promised.BROKEN)


def _symptom(entry: Entry) -> Symptom:
    """A broken promise as a symptom."""
    vital = entry.vital
    value, limit = vital.value or 0.0, vital.limit or 0.0
    signal, stat = entry.measured
    evidence = Evidence(
        signal=signal,
        subject=vital.subject,
        stat=stat,
        phrase="" if stat else vital.title,
        value=vital.value,
        low=vital.low,
        high=vital.high,
        unit=vital.unit,
        op="<" if value < limit else ">",
        threshold=vital.limit,
        threshold_of=vital.limit_of,
        baseline=vital.baseline,
        verdict=Verdict.PRESENT,
        since=vital.since,
        spark=vital.spark,
    ).reckoned_as(vital)
    where = f" of {vital.subject.replace('/', ' ', 1)}" if entry.is_part else ""
    limit_of = "objective" if vital.limit_of.startswith("objective") else vital.limit_of
    return Symptom(
        name=vital.name,
        summary=f"{vital.title}{where} is beyond its {limit_of}" + (f": {vital.reason}" if vital.reason else ""),
        value=value,
        unit=vital.unit,
        threshold=limit,
        baseline=vital.baseline,
        onset=vital.since,
        evidence=evidence,
    )
