"""Small recordings by hand: what the tests of the engine are about stands in each test, the rest is filled in here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np

from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.engine.rules.conditions import Judge
from triage.engine.rules.context import Context
from triage.engine.rules.evaluate import Answer, answer_of
from triage.model.recording import Event, Fact, Floats, Histogram, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.rule import Condition, Grade, Rule
from triage.model.vocabulary import Scope, catalogue

STEP = 15.0
BEGIN = 1_760_000_400.0
"""A round moment at which recordings begin."""

ORIGIN = Origin("test", "test_metric")
DEFAULT = {
    Scope.SERVICE: "svc",
    Scope.REPLICA: "a",
    Scope.GPU: "g0",
    Scope.NODE: "n1",
    Scope.GATEWAY: "gw",
    Scope.CLIENT: "c",
    Scope.TARGET: "t",
}

Values = float | Sequence[float] | tuple[float, float] | Callable[[float], float]


@dataclass(frozen=True)
class Shift:
    """One value before the window and another one in it."""

    before: float
    inside: float


@dataclass(frozen=True)
class Buckets:
    """A distribution: observations per second in each bucket (not cumulative) before the window and in it.

    :param bounds: upper bounds without the last one, which is infinite
    :param before: as ``inside`` if empty
    :param value: what the observations are on average, before the window and in it; middle of the buckets if not given
    """

    bounds: tuple[float, ...]
    inside: tuple[float, ...]
    before: tuple[float, ...] = ()
    value: Shift | None = None


def who(text: str) -> Subject:
    """A subject as it is written: ``replica/a``."""
    scope, _, name = text.partition("/")
    return Subject(Scope(scope), name)


def place(key: str) -> tuple[str, Subject]:
    """Signal and subject of a key: ``kv.usage@replica/b``, or ``kv.usage`` for the usual subject of its scope."""
    signal, _, told = key.partition("@")
    scope = catalogue()[signal].scope
    return signal, who(told) if told else Subject(scope, DEFAULT[scope])


def make_recording(
    signals: Mapping[str, object] | None = None,
    *,
    histograms: Mapping[str, Buckets] | None = None,
    events: Sequence[Event] = (),
    facts: Mapping[str, str | float] | None = None,
    links: Mapping[str, Sequence[str]] | None = None,
    objectives: Mapping[str, float] | None = None,
    sources: Sequence[str] = (),
    rejected: Mapping[str, str] | None = None,
    dialects: Mapping[str, str] | None = None,
    step: float = STEP,
    before: float = 600.0,
    inside: float = 600.0,
) -> Recording:
    """A recording with a sample every ``step`` seconds.

    :param signals: by key (see :func:`place`): a number, a :class:`Shift`, a function of the time since the window's start, or
        one number for each sample; NaN is no sample
    :param facts: by key, or ``key@scope/id``; of the service if no subject is named
    :param links: ``scope/id`` -> what it belongs to
    :param sources: names of sources that were there
    :param dialects: signal -> name of the dialect that it is said to come from
    :param before: seconds of baseline
    :param inside: seconds of window
    """
    window = Window(BEGIN + before, BEGIN + before + inside, BEGIN)
    times = BEGIN + np.arange(step, before + inside + step / 2, step)
    return Recording(
        service="svc",
        window=window,
        series=[_series(key, told, times, window, dialects or {}) for key, told in (signals or {}).items()],
        histograms=[_histogram(key, told, times, window) for key, told in (histograms or {}).items()],
        events=tuple(events),
        facts=tuple(_fact(key, value) for key, value in (facts or {}).items()),
        links={who(one): tuple(who(target) for target in targets) for one, targets in (links or {}).items()},
        objectives=dict(objectives or {}),
        sources=tuple(Source(name, SourceState.OK) for name in sources),
        rejected=dict(rejected or {}),
        step=step,
    )


def _series(key: str, told: object, times: Floats, window: Window, dialects: Mapping[str, str]) -> Series:
    signal, subject = place(key)
    values = _values(told, times, window)
    known = ~np.isnan(values)
    return Series(signal, subject, times[known], values[known], Origin(dialects.get(signal, "test"), "test_metric"))


def _values(told: object, times: Floats, window: Window) -> Floats:
    """One value for each sample."""
    if isinstance(told, Shift):
        return np.where(times > window.start, told.inside, told.before).astype(float)
    if callable(told):
        return np.array([told(float(time - window.start)) for time in times], dtype=float)
    if isinstance(told, int | float):
        return np.full(len(times), float(told))
    values = np.array(told, dtype=float)
    return np.concatenate((values, np.full(len(times) - len(values), nan)))


def _histogram(key: str, told: Buckets, times: Floats, window: Window) -> Histogram:
    signal, subject = place(key)
    bounds = np.array([*told.bounds, inf])
    is_inside = (times > window.start)[:, None]
    rates = np.where(is_inside, np.array(told.inside), np.array(told.before or told.inside)).astype(float)
    lows = np.concatenate(([0.0], bounds[:-1]))
    middles = np.where(np.isinf(bounds), lows, (lows + bounds) / 2)
    sums = rates @ middles
    if told.value is not None:
        sums = rates.sum(axis=1) * _values(told.value, times, window)
    return Histogram(signal, subject, times, bounds, rates, sums, ORIGIN)


def _fact(key: str, value: str | float) -> Fact:
    name, _, told = key.partition("@")
    return Fact(who(told or "service/svc"), name, value)


def frame_of(signals: Mapping[str, object] | None = None, **told: object) -> Frame:
    """A frame of a recording, with the arguments of :func:`make_recording`; nothing is derived yet."""
    return Frame(make_recording(signals, **told))  # type: ignore[arg-type]


def derived(signals: Mapping[str, object] | None = None, **told: object) -> Frame:
    """The same with everything derived."""
    frame = frame_of(signals, **told)
    derive(frame)
    return frame


def cells(frame: Frame, key: str) -> Floats:
    """The cells of a signal by its key; fails if there are none."""
    found = frame.cells(*place(key))
    assert found is not None, f"{key} is unknown"
    return found


def tail(frame: Frame, key: str) -> float:
    """The last cell of a signal."""
    return float(cells(frame, key)[-1])


def unknown(frame: Frame, key: str) -> bool:
    """Whether nothing at all is known of a signal."""
    found = frame.cells(*place(key))
    return found is None or bool(np.isnan(found).all())


def at(offset: float, kind: str, name: str = "", *, subject: str = "", text: str = "", **attrs: str) -> Event:
    """An event so many seconds after the window's start (with ten minutes of baseline)."""
    return Event(BEGIN + 600.0 + offset, kind, name, who(subject) if subject else None, attrs, text)


def context(frame: Frame, subject: str = "replica/a", onset: float | None = None) -> Context:
    """Where to ask a condition: of a subject, with the onset so many seconds after the window's start."""
    start = frame.recording.window.start
    return Context(frame, who(subject), start if onset is None else start + onset)


def answered(frame: Frame, asked: Rule, subject: str = "replica/a") -> Answer:
    """What becomes of a rule on a subject, where the symptom began with the window."""
    return answer_of(asked, Judge(context(frame, subject)))


def rule(name: str, shown: Condition | Mapping[str, object], grade: Grade = "strong", **told: object) -> Rule:
    """A rule that shows itself in one way, with what it takes besides."""
    usual: dict[str, object] = {
        "id": name,
        "title": name.replace("-", " "),
        "question": "Is it so?",
        "cause": "runtime",
        "layer": "engine",
        "scale": "machine",
        "scope": "replica",
        "severity": "warning",
        "shows": [{grade: shown}],
        "finding": "{subject} has it since {onset}",
    }
    return Rule.model_validate(usual | told)
