"""What must not matter at all: the order of things, the time zone, the names of machines."""

import os
import random
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from triage.engine.diagnose import diagnose
from triage.model.diagnosis import Diagnosis
from triage.model.recording import Event, Recording, Subject
from triage.model.vocabulary import Scope
from triage.score.result import compared
from triage.score.sweeps.trial import Name, Trial
from triage.score.sweeps.under import UnderChange


def order(case: UnderChange) -> Iterator[Trial]:
    """Series, events, facts and rules in another order: the answer is the same to the byte."""
    chance = random.Random(1)  # noqa: S311 - a fixed order that is not the usual one, no secret
    told = case.recording
    mixed = replace(
        told,
        series=chance.sample(list(told.series), len(told.series)),
        histograms=chance.sample(list(told.histograms), len(told.histograms)),
        events=chance.sample(list(told.events), len(told.events)),
        facts=chance.sample(list(told.facts), len(told.facts)),
    )
    yield _same_bytes(
        "order", "all shuffled", case, diagnose(mixed, chance.sample(list(case.bench.rules), len(case.bench.rules)))
    )


def repeat(case: UnderChange) -> Iterator[Trial]:
    """The same again, with the logs read in another time zone: the answer is the same to the byte."""
    zone = os.environ.get("TZ")
    try:
        os.environ["TZ"] = "Pacific/Kiritimati"
        time.tzset()
        yield _same_bytes("repeat", "time zone +14", case, diagnose(case.reread(), case.bench.rules))
    finally:
        os.environ.pop("TZ")
        if zone is not None:
            os.environ["TZ"] = zone
        time.tzset()


def _same_bytes(name: Name, change: str, case: UnderChange, after: Diagnosis) -> Trial:
    """Whether two answers are the same to the byte."""
    one, other = case.diagnosis.model_dump_json(), after.model_dump_json()
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    trial = case.trial(name, change, compared(case.case, after, case.bench.ruled), held=one == other)
    return trial if one == other else trial.model_copy(update={"told": trial.told or other[at : at + 80]})


_NAMED_BY_US = (Scope.REPLICA, Scope.NODE, Scope.GATEWAY)
_PREFIX = "host9-"


def rename(case: UnderChange) -> Iterator[Trial]:
    """Replicas, nodes and gateways under other names."""
    names = [one.id for scope in _NAMED_BY_US for one in case.recording.subjects[scope]]
    events = [e.subject.id for e in case.recording.events if e.subject and e.subject.scope in _NAMED_BY_US]
    new = {name: f"{_PREFIX}{name}" for name in {*names, *events}}
    if new:
        yield case.same("rename", f"{len(new)} names", renamed(case.recording, new))


def renamed(recording: Recording, names: Mapping[str, str]) -> Recording:
    """A recording in which machines have other names, wherever those stand."""
    any_name = re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in sorted(names, key=len, reverse=True)))

    def text(told: str) -> str:
        return any_name.sub(lambda found: names[found.group()], told)

    def subject(one: Subject) -> Subject:
        return one if one.scope in (Scope.SERVICE, Scope.CLIENT) else Subject(one.scope, text(one.id))

    def event(one: Event) -> Event:
        attrs = {key: text(value) for key, value in one.attrs.items()}
        return replace(
            one, subject=one.subject and subject(one.subject), attrs=attrs, text=text(one.text), source=text(one.source)
        )

    return replace(
        recording,
        series=tuple(replace(one, subject=subject(one.subject)) for one in recording.series),
        histograms=tuple(replace(one, subject=subject(one.subject)) for one in recording.histograms),
        events=tuple(event(one) for one in recording.events),
        facts=tuple(
            replace(one, subject=subject(one.subject), value=text(one.value) if isinstance(one.value, str) else one.value)
            for one in recording.facts
        ),
        links={subject(one): tuple(subject(target) for target in targets) for one, targets in recording.links.items()},
    )
