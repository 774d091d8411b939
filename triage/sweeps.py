"""Sweeps: the same cases with something taken away, renamed, shifted or thinned out. What must not change, must not change."""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from triage.engine.diagnose import diagnose
from triage.ingest.incident import Incident, open_incident, recording_of
from triage.ingest.raw import RawSeries
from triage.model.diagnosis import Diagnosis, Status
from triage.model.rule import Rule
from triage.score.cases import cases_in
from triage.score.truth import Truth

Name = Literal["removal", "rename", "clocks", "interval", "order", "repeat"]
NAMES: tuple[Name, ...] = ("removal", "rename", "clocks", "interval", "order", "repeat")

SKEW = 5.0
"""Seconds by which one source's clock is shifted against the others."""

INTERVALS = (15.0, 30.0, 60.0)
"""Scrape intervals to which cases are thinned out, if they were recorded more finely."""

_LEAST_SAMPLES = 10
"""A window with fewer scrapes than this cannot be judged by them, whatever one does."""


class Trial(BaseModel):
    """One case under one change.

    :param change: what was changed, e.g. the metric that was taken away
    :param held: what must hold did hold
    :param told: what came out otherwise
    """

    model_config = ConfigDict(frozen=True)

    sweep: Name
    case: str
    change: str
    held: bool
    told: str = ""


class Sweep(BaseModel):
    """All trials."""

    model_config = ConfigDict(frozen=True)

    trials: tuple[Trial, ...]

    def of(self, name: Name) -> tuple[Trial, ...]:
        """The trials of one sweep."""
        return tuple(trial for trial in self.trials if trial.sweep == name)


def sweep(
    folder: Path,
    rules: Sequence[Rule],
    names: Sequence[Name] = NAMES,
    progress: Callable[[str, float], None] = lambda _what, _done: None,
) -> Sweep:
    """Runs sweeps over every case below a folder.

    :raises InputMissingError: there are none
    """
    cases = cases_in([folder])
    trials: list[Trial] = []
    for number, case in enumerate(cases):
        progress(case.name, number / len(cases))
        incident, truth = open_incident(case.path), case.truth
        before = diagnose(recording_of(incident), rules)
        for name in names:
            trials += _SWEEPS[name](incident, truth, before, rules)
    return Sweep(trials=tuple(trials))


def _first(diagnosis: Diagnosis) -> str:
    """The first root cause, or nothing."""
    return next((finding.rule for finding in diagnosis.findings if finding.role == "root"), "")


def _removal(incident: Incident, truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Iterator[Trial]:
    """Each metric taken away in turn: a service that was not called healthy must not become so, unless it may be called that."""
    for family in sorted({_family(one.name) for one in incident.series}):
        left = [one for one in incident.series if _family(one.name) != family]
        yield _not_healthier("removal", family, replace(incident, series=left), truth, before, rules)


def _rename(incident: Incident, truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Iterator[Trial]:
    """All metrics of each source renamed at once: nobody knows them any more, and nobody may be the happier for it."""
    for job in sorted({one.labels.get("job", "") for one in incident.series}):
        renamed = [replace(one, name=f"other_{one.name}") if one.labels.get("job", "") == job else one for one in incident.series]
        yield _not_healthier("rename", job, replace(incident, series=renamed), truth, before, rules)


def _not_healthier(name: Name, change: str, altered: Incident, truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Trial:
    """Whether a change that takes knowledge away did not make a service look healthy that was not."""
    after = diagnose(recording_of(altered), rules)
    allowed = before.status is Status.HEALTHY or Status.HEALTHY.value in truth.status
    held = allowed or after.status is not Status.HEALTHY
    return Trial(sweep=name, case=altered.folder.name, change=change, held=held, told="" if held else after.status.value)


def _family(name: str) -> str:
    """A metric's name without the ending of its parts."""
    for ending in ("_bucket", "_sum", "_count"):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name


def _clocks(incident: Incident, _truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Iterator[Trial]:
    """Each source's clock shifted against the others: the first cause stays the same."""
    for job in sorted({one.labels.get("job", "") for one in incident.series}):
        for seconds in (-SKEW, SKEW):
            moved = [
                replace(one, times=one.times + seconds) if one.labels.get("job", "") == job else one for one in incident.series
            ]
            yield _same_first("clocks", f"{job} {seconds:+g} s", replace(incident, series=moved), before, rules)


def _interval(incident: Incident, _truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Iterator[Trial]:
    """Samples thinned out to coarser scrape intervals: the first cause stays the same."""
    step = recording_of(incident).step
    length = incident.window.end - incident.window.start
    for wanted in INTERVALS:
        keep = round(wanted / step)
        if keep > 1 and length / wanted >= _LEAST_SAMPLES:
            thin = [replace(one, times=one.times[::keep], values=one.values[::keep]) for one in incident.series]
            yield _same_first("interval", f"{wanted:g} s", replace(incident, series=thin), before, rules)


def _same_first(name: Name, change: str, altered: Incident, before: Diagnosis, rules: Sequence[Rule]) -> Trial:
    """Whether the first cause stays the same."""
    after = _first(diagnose(recording_of(altered), rules))
    held = after == _first(before)
    return Trial(sweep=name, case=altered.folder.name, change=change, held=held, told="" if held else after or "silent")


def _order(incident: Incident, _truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Iterator[Trial]:
    """Series, events, facts and rules in another order: the answer is the same to the byte."""
    chance = random.Random(1)  # noqa: S311 - a fixed order that is not the usual one, no secret
    series: list[RawSeries] = chance.sample(incident.series, len(incident.series))
    recording = recording_of(replace(incident, series=series))
    mixed = replace(
        recording,
        series=chance.sample(recording.series, len(recording.series)),
        histograms=chance.sample(recording.histograms, len(recording.histograms)),
        events=chance.sample(recording.events, len(recording.events)),
        facts=chance.sample(recording.facts, len(recording.facts)),
    )
    after = diagnose(mixed, chance.sample(list(rules), len(rules)))
    yield _same_bytes("order", "all shuffled", incident, before, after)


def _repeat(incident: Incident, _truth: Truth, before: Diagnosis, rules: Sequence[Rule]) -> Iterator[Trial]:
    """The same again, and in another time zone: the answer is the same to the byte."""
    yield _same_bytes("repeat", "second run", incident, before, diagnose(recording_of(incident), rules))
    zone = os.environ.get("TZ")
    try:
        os.environ["TZ"] = "Pacific/Kiritimati"
        time.tzset()
        yield _same_bytes("repeat", "time zone +14", incident, before, diagnose(recording_of(incident), rules))
    finally:
        os.environ.pop("TZ")
        if zone is not None:
            os.environ["TZ"] = zone
        time.tzset()


def _same_bytes(name: Name, change: str, incident: Incident, before: Diagnosis, after: Diagnosis) -> Trial:
    """Whether two answers are the same to the byte."""
    one, other = before.model_dump_json(by_alias=True), after.model_dump_json(by_alias=True)
    held = one == other
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return Trial(sweep=name, case=incident.folder.name, change=change, held=held, told="" if held else one[at : at + 80])


_SWEEPS: dict[Name, Callable[[Incident, Truth, Diagnosis, Sequence[Rule]], Iterator[Trial]]] = {
    "removal": _removal,
    "rename": _rename,
    "clocks": _clocks,
    "interval": _interval,
    "order": _order,
    "repeat": _repeat,
}


def text(result: Sweep) -> str:
    """How the sweeps came out: a line each, then what did not hold."""
    lines = []
    for name in NAMES:
        trials = result.of(name)
        if trials:
            held = sum(trial.held for trial in trials)
            lines.append(f"{name:<10} {held} of {len(trials)} held ({held / len(trials):.1%})")
    failed = [f"  {trial.sweep} {trial.case}: {trial.change}: {trial.told}" for trial in result.trials if not trial.held]
    return "\n".join([*lines, *failed])
