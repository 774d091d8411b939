"""Makes the recording that a test describes."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from triage.errors import DataError
from triage.ingest.language import Language
from triage.ingest.logs import read_logs
from triage.ingest.logs.changes import read_changes
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.recording import (
    Event,
    Fact,
    Floats,
    Histogram,
    Origin,
    Recording,
    Series,
    Source,
    SourceState,
    Subject,
    Window,
    merged,
)
from triage.model.service import Service
from triage.model.vocabulary import Kind, Scope, catalogue
from triage.patterns import Pattern
from triage.ruletest.files import Input, Test, subject_of
from triage.ruletest.notation import values_of

START = 1_767_225_600.0
"""2026-01-01T00:00:00Z, the start of every test, Unix seconds."""

_SERIES = Pattern(r"^([A-Za-z_:][\w:.]*)\s*(?:\{(.*)\})?$")
_LABEL = Pattern(r'([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_NARROW = 0.999
"""Of a value its bucket's lower bound: so narrow that no comparison straddles it."""

_ORIGIN = Origin("test", "")


def recording_of(test: Test, interval: float, moment: float, language: Language) -> Recording:
    """The recording of a test as it was at a moment.

    :param interval: seconds between two values
    :param moment: seconds from the start at which the window ends
    :raises DataError: a series cannot be read
    """
    end = START + moment
    window = Window(max(START, end - test.window), end, START)
    service = Service(name=test.service, facts=test.facts, objectives=test.objectives, signals=test.signals)
    read = [(one, *_parsed(one.series), *_samples(one, interval, end)) for one in test.input_series]
    raw = [RawSeries(name, labels, times, values) for _, name, labels, times, values in read if name not in catalogue()]
    metrics = translate(raw, language.dialects, service, window, language.signatures)
    direct = [one for one in read if one[1] in catalogue()]
    drawn = [
        made for one, name, labels, times, values in direct for made in _made(one, name, labels, times, values, test.service)
    ]
    links: dict[Subject, tuple[Subject, ...]] = {}
    for _, name, labels, _, _ in direct:
        subject, others = _places(name, labels, test.service)
        links[subject] = tuple(sorted({*links.get(subject, ()), *others}))
    by_hand = Recording(
        test.service,
        window,
        series=tuple(one for one in drawn if isinstance(one, Series)),
        histograms=tuple(one for one in drawn if isinstance(one, Histogram)),
        events=tuple(event for event in _events(test) if event.time <= end),
        facts=tuple(Fact(subject_of(name), key, value) for name, facts in test.facts_of.items() for key, value in facts.items()),
        links={subject: others for subject, others in links.items() if others},
        sources=tuple(Source(name, SourceState.OK) for name in _sources(test)),
        step=interval,
    )
    made = merged([replace(metrics, step=interval), by_hand, *_from_files(test, window, language)])
    return made if raw else replace(made, problems=())


def _parsed(text: str) -> tuple[str, dict[str, str]]:
    """Name and labels of a series."""
    match = _SERIES.search(text.strip())
    inner = (match.group(2) or "").strip() if match is not None else ""
    labels = {name: value.replace('\\"', '"').replace("\\\\", "\\") for name, value in _LABEL.findall(inner)}
    if match is None or _LABEL.sub("", inner).strip():
        raise DataError(f"{text!r} is no series", 'write name{label="value"}')
    return match.group(1), labels


def _samples(one: Input, interval: float, end: float) -> tuple[Floats, Floats]:
    """Times and values of a series up to a moment."""
    values = values_of(one.values)
    pairs = [(START + number * interval, value) for number, value in enumerate(values) if value is not None]
    times = np.array([time for time, _ in pairs if time <= end], dtype=np.float64)
    return times, np.array([value for _, value in pairs[: len(times)]], dtype=np.float64)


def _places(name: str, labels: Mapping[str, str], service: str) -> tuple[Subject, list[Subject]]:
    """Whose a signal is, and what else its labels name.

    :raises DataError: no label names its subject, or one names no scope
    """
    scope = catalogue()[name].scope
    named = {scope: Subject(scope, labels[scope]) for scope in Scope if scope in labels}
    if unknown := sorted(set(labels) - set(Scope)):
        raise DataError(f"the label {unknown[0]} of {name} is no scope", f"a signal has labels of {', '.join(Scope)}")
    if scope is Scope.SERVICE:
        named.setdefault(scope, Subject(scope, service))
    if scope not in named:
        raise DataError(f"nothing says whose {name} is", f'write {name}{{{scope}="NAME"}}')
    return named[scope], [subject for other, subject in named.items() if other not in (scope, Scope.SERVICE)]


def _made(
    one: Input, name: str, labels: Mapping[str, str], times: Floats, values: Floats, service: str
) -> Iterator[Series | Histogram]:
    """The series of a signal; a distribution whose every observation of an interval took what its value says."""
    subject, _ = _places(name, labels, service)
    if not len(times):
        return
    if catalogue()[name].kind is not Kind.DISTRIBUTION:
        yield Series(name, subject, times, values, _ORIGIN)
        return
    levels = np.unique(values)
    bounds = np.unique(np.concatenate((levels * _NARROW, levels, [np.inf])))
    rates = np.zeros((len(times), len(bounds)))
    rates[np.arange(len(times)), np.searchsorted(bounds, values)] = one.per_second
    yield Histogram(name, subject, times, bounds, rates, values * one.per_second, _ORIGIN)


def _events(test: Test) -> Iterator[Event]:
    """The events that are told one by one."""
    for one in test.events:
        subject = subject_of(one.subject) if one.subject else Subject(Scope.SERVICE, test.service)
        yield Event(START + one.at, one.kind, one.name, subject, one.attrs, one.text, one.source)


def _sources(test: Test) -> list[str]:
    """The sources that are told, and those that events must have come from."""
    heard = [f"log:{one.attrs['emitter']}" for one in test.events if "emitter" in one.attrs]
    heard += ["log:kernel" for one in test.events if one.kind == "xid" and "emitter" not in one.attrs]
    heard += ["log:kube-events" for one in test.events if one.kind == "kube"]
    return list(dict.fromkeys([*test.sources, *heard]))


def _from_files(test: Test, window: Window, language: Language) -> Iterator[Recording]:
    """What logs and changes bring, read as from any other file."""
    blank = Recording(test.service, window)
    with tempfile.TemporaryDirectory(prefix="triage-test-") as place:
        if test.changes:
            path = Path(place) / "changes.jsonl"
            rows = (
                {**one.model_dump(exclude={"at"}), "time": START + one.at} for one in test.changes if START + one.at <= window.end
            )
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            events, source = read_changes(path, window)
            yield replace(blank, events=events, sources=(source,))
        if test.logs:
            folder = Path(place) / "logs"
            folder.mkdir()
            for name, text in test.logs.items():
                (folder / Path(name).name).write_text(text, encoding="utf-8")
            reading = read_logs([folder], window, test.service, alone=not test.input_series, signatures=language.signatures)
            yield reading.as_part_of(blank)
