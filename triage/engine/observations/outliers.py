"""Outliers: the one dimension (replica, version, node, setting …) that splits a symptom between members."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from triage.classes import dataclass
from triage.engine.derived.fleet import own_fact, role_of, version_of
from triage.engine.frame import Frame
from triage.engine.observations.comparing import PER, floor_of
from triage.engine.observations.curves import block_of
from triage.engine.observations.telling import size_of
from triage.engine.queries import looked_at
from triage.engine.rules.families import family_of
from triage.engine.sparks import spark_of
from triage.engine.statistics import cells_of
from triage.model.arrays import median
from triage.model.diagnosis import Evidence, Verdict
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Subject
from triage.model.units import quantity
from triage.model.vocabulary import Kind, Scope, catalogue
from triage.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that members may have more of than others.

    :param of: its name
    :param ways: signals that tell it, the best first: a count and what it is a share of, or one signal
    """

    of: str
    scope: Scope
    ways: tuple[tuple[str, ...], ...]


SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        "failures",
        Scope.REPLICA,
        (("backend.failures", "backend.requests"), ("http.5xx", "http.requests"), ("finished.error", "finished")),
    ),
    Symptom("refusals", Scope.REPLICA, (("http.4xx", "http.requests"), ("admission.rejected", "finished"))),
    Symptom("aborts", Scope.REPLICA, (("finished.abort", "finished"),)),
    Symptom("failures", Scope.CLIENT, (("requests.failed", "requests.distinct"),)),
    Symptom("timeouts", Scope.CLIENT, (("requests.timeouts", "requests.attempts"),)),
    Symptom("failures", Scope.GATEWAY, (("gateway.5xx", "gateway.requests"),)),
    Symptom("refusals", Scope.GATEWAY, (("gateway.4xx", "gateway.requests"), ("gateway.429", "gateway.requests"))),
    *(
        Symptom(name, Scope.REPLICA, ((name,),))
        for name in (
            "token.time",
            "latency.itl",
            "latency.ttft",
            "latency.e2e",
            "latency.queue",
            "latency.prefill",
            "queue.waiting",
            "quality.replica",
            "preemptions",
            "container.cpu_throttled",
            "engine.stalled",
        )
    ),
    *(
        Symptom(name, Scope.GPU, ((name,),))
        for name in ("gpu.sm_clock", "gpu.thermal_violation", "gpu.power_violation", "gpu.pcie_replays", "gpu.nvlink_errors")
    ),
)

_APART = 1.5
"""The best of those that have it is at least so many times as bad as the worst of those that do not."""

_APART_PAIR = 2.0
"""Of only two members the worse one must be clearly so."""

_LEAST_SHARE = 0.02
"""A share of requests below this is no symptom."""

_LEAST_EVENTS = 5.0
"""With fewer of them in the worse of two parts the other had none by chance."""

_LEAST_ASKED = 10.0
"""Chosen: a share of fewer requests is moved by a tenth and more by each of them."""

_LEAST_CELLS = 4
"""With fewer known cells a level is a blip (as ``_LEAST_SAMPLES`` of shifts)."""

_OLDER_BY = 600.0
"""As ``_OLDER_BY`` of triage/engine/derived/fleet.py."""

_SALIENT = 2.0
"""Chosen: twice as bad as elsewhere has to be explained; less is told."""

_OWN_NAMES = """
pod_ip host_ip node created_by_name image image_id engine_version gpu_model role startup_seconds weights_load_seconds init_seconds
weights_gib url name uid pod start_time boot_id hostname
"""
_NAMES_OF_ONE = frozenset(_OWN_NAMES.split())
"""Facts that are a dimension of their own, or that each replica has its own of."""


@dataclass(frozen=True)
class Member:
    """One that may have the symptom.

    :param badness: the more the worse
    :param value: as it is measured
    :param amount: how much of the symptom it has in all (failures, time times requests), to tell shares by
    :param support: requests or cells that it rests on
    """

    subject: Subject
    badness: float
    value: float
    amount: float
    support: float


def outliers(frame: Frame) -> Seen:
    """Whatever splits a symptom cleanly."""
    odd: list[Observation] = []
    judged: set[Judged] = set()
    for symptom in SYMPTOMS:
        for way in symptom.ways:
            members = _members(symptom, way, frame)
            if len(members) < 2:
                continue
            judged |= {("outlier", symptom.of, scope) for scope in (symptom.scope, Scope.SERVICE)}
            odd += _split(symptom, way, members, frame)
            break
    return Seen(tuple(odd), frozenset(judged))


def _members(symptom: Symptom, way: Sequence[str], frame: Frame) -> list[Member]:
    """Who could have the symptom, of the largest group that does the same work; who is known by too little is left out."""
    known = _shares(way, frame) if len(way) == 2 else _measured(way[0], frame)
    if symptom.scope is not Scope.REPLICA:
        return known
    roles: dict[str, list[Member]] = {}
    for one in known:
        roles.setdefault(role_of(frame, one.subject), []).append(one)
    return max(roles.values(), key=len, default=[])


def _measured(name: str, frame: Frame) -> list[Member]:
    """Members by the mean of a signal in the window."""
    subjects, signal, span = frame.subjects_of(name), catalogue()[name], frame.grid.window
    if not subjects:
        return []
    block = block_of(frame, [(signal, subjects)])
    totals, counts = (part[:, span].sum(axis=1, dtype=float).tolist() for part in (block.amount, block.weight))
    counted = signal.kind is Kind.DISTRIBUTION
    found = []
    for subject, total, count in zip(subjects, totals, counts, strict=True):
        support = count * frame.grid.step if counted else count
        if support >= (_LEAST_ASKED if counted else _LEAST_CELLS):
            value = total / count
            badness = 1.0 / max(value, floor_of(signal)) if signal.worse == "down" else value / _work(name, subject, frame)
            found.append(Member(subject, badness, value, value * support, support))
    return found


def _shares(way: Sequence[str], frame: Frame) -> list[Member]:
    """Members by the share of their requests that has the symptom."""
    return [one for subject in frame.subjects_of(way[1]) if (one := _counted(way, subject, frame)) is not None]


def _counted(way: Sequence[str], subject: Subject, frame: Frame) -> Member | None:
    """A share of requests; None if it got too few."""
    asked, span = frame.cells(way[1], subject), frame.grid.window
    if asked is None:
        return None
    failed = frame.cells(way[0], subject)
    if failed is None and not frame.of(way[0]):
        return None
    got = float(np.nansum(asked[span])) * frame.grid.step
    lost = 0.0 if failed is None else float(np.nansum(failed[span])) * frame.grid.step
    if max(got, lost) < _LEAST_ASKED:
        return None
    share = min(lost / max(got, lost), 1.0)
    return Member(subject, share, share, lost, got)


def _work(name: str, subject: Subject, frame: Frame) -> float:
    """How much more work a member had than the median, as far as the signal grows with it; at least 1."""
    factor = 1.0
    for work in PER.get(name, ()):
        means = _means(work.signal, frame)
        if subject in means:
            more = means[subject] / max(median(list(means.values())), 1.0)
            factor *= max(more, 1.0) ** work.exponent
    return factor


def _means(name: str, frame: Frame) -> dict[Subject, float]:
    """Mean of a signal in the window by subject; asked again it is remembered."""
    return frame.remembered(("window means", name), lambda: _means_in_window(name, frame))


def _means_in_window(name: str, frame: Frame) -> dict[Subject, float]:
    block = block_of(frame, [(catalogue()[name], frame.subjects_of(name))]) if frame.has(name) else None
    means: dict[Subject, float] = {}
    if block is not None:
        span = frame.grid.window
        totals, counts = block.amount[:, span].sum(axis=1).tolist(), block.weight[:, span].sum(axis=1, dtype=float).tolist()
        means = {one: total / count for one, total, count in zip(block.subjects, totals, counts, strict=True) if count > 0}
    return means


def _split(symptom: Symptom, way: Sequence[str], members: Sequence[Member], frame: Frame) -> Iterator[Observation]:
    """The dimensions whose one value is that of all the bad members and of none of the others."""
    bad = _bad(way, members)
    if not bad:
        return
    good = [one for one in members if one not in bad]
    found = _without_other_names([*_dimensions([one.subject for one in bad], [one.subject for one in good], frame)])
    if len(bad) > len(good) and len(way) == 1:
        found = [(name, value) for name, value in found if name not in _OF_FEW]
    for rank, (dimension, value) in enumerate(found):
        rivals = [name for name, _ in found if name != dimension]
        yield _made(symptom, way, bad, good, dimension, value, rivals, frame, is_first=rank == 0)


def _bad(way: Sequence[str], members: Sequence[Member]) -> list[Member]:
    """Those beyond the widest gap, if it is wide enough."""
    ordered = sorted(members, key=lambda one: (-one.badness, one.subject))
    floor = np.array(_least(way))
    badness = np.array([one.badness for one in ordered])
    gaps = np.nan_to_num(size_of(badness[:-1], badness[1:], floor, np.array(0), up=True), nan=0.0, posinf=np.inf)
    best = float(np.max(gaps, initial=0.0))
    bad = ordered[: int(np.argmax(gaps)) + 1] if best > 0 else []
    if best < (_APART if len(ordered) > 2 else _APART_PAIR):
        return []
    if len(way) == 2 and (bad[-1].badness < _LEAST_SHARE or sum(one.amount for one in bad) < _LEAST_EVENTS):
        return []
    return bad


def _least(way: Sequence[str]) -> float:
    """What counts as nothing of a badness."""
    signal = catalogue()[way[0]]
    if len(way) == 2:
        return _LEAST_SHARE / 2
    return 0.0 if signal.worse == "down" else floor_of(signal)


Dimension = tuple[str, str]


def _dimensions(bad: Sequence[Subject], good: Sequence[Subject], frame: Frame) -> Iterator[Dimension]:
    """Name and value of each dimension that all the bad share and none of the good has; a single member itself comes first."""
    if len(bad) == 1:
        yield bad[0].scope.value, bad[0].id
    places = {subject: _places(subject, frame) for subject in (*bad, *good)}
    for name in sorted({key for subject in bad for key in places[subject]}, key=_order):
        values = {places[subject].get(name) for subject in bad}
        others = {places[subject].get(name) for subject in good}
        if len(values) == 1 and None not in values and None not in others and not values & others:
            yield name, str(next(iter(values)))
    if (age := _age(bad, good, frame)) is not None:
        yield "age", age


_SAYS_VERSION = Pattern(r"revision|setting:(?:image.*|engine_version|version|release)")
"""Who runs another version has another image, digest and revision, too: they are one difference under several names."""


def _without_other_names(found: Sequence[Dimension]) -> list[Dimension]:
    """Dimensions of which each is a difference of its own."""
    has_version = any(name == "version" for name, _ in found)
    return [one for one in found if not (has_version and _SAYS_VERSION.fullmatch(one[0]))]


_OF_FEW = frozenset({"replica", "gpu", "node", "age"})
"""Where most are slow, the few that are not can be fresh or idle: then only what they run can split them."""

_ORDER = ("version", "revision", "node", "card", "driver", "zone", "pool", "model")


def _order(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _places(subject: Subject, frame: Frame) -> Mapping[str, str]:
    """Where a member stands in each dimension; asked again it is remembered."""
    return frame.remembered(("places", subject), lambda: dict(_placed(subject, frame)))


def _placed(subject: Subject, frame: Frame) -> Iterator[Dimension]:
    """Each dimension of a member that is known."""
    nodes = [str(own_fact(frame, subject, "node"))] if own_fact(frame, subject, "node") else []
    nodes = nodes or [one.id for one in frame.related(subject, Scope.NODE)]
    if len(nodes) == 1 and subject.scope is not Scope.NODE:
        yield "node", nodes[0]
    cards = (
        [subject] if subject.scope is Scope.GPU else frame.related(subject, Scope.GPU) if subject.scope is Scope.REPLICA else []
    )
    for name, key in (("card", "gpu_model"), ("driver", "driver_version")):
        values = {str(value) for card in cards if (value := own_fact(frame, card, key)) is not None}
        if values:
            yield name, " ".join(sorted(values))
    if subject.scope is Scope.REPLICA:
        if (version := version_of(frame, subject)) is not None:
            yield "version", version
        if (revision := own_fact(frame, subject, "created_by_name")) is not None:
            yield "revision", str(revision)
        for key, value in frame.recording.facts_of.get(subject, {}).items():
            if key not in _NAMES_OF_ONE:
                yield key if key in _ORDER else f"setting:{key}", str(value)


def _age(bad: Sequence[Subject], good: Sequence[Subject], frame: Frame) -> str | None:
    """Whether all the bad are older, or all younger, than any other; one alone only if it started while we looked."""
    starts = [[_start(one, frame) for one in some] for some in (bad, good)]
    if any(start is None for some in starts for start in some):
        return None
    mine, theirs = ([start for start in some if start is not None] for some in starts)
    if len(mine) > 1 and max(mine) + _OLDER_BY < min(theirs):
        return "older"
    if len(mine) == 1 and mine[0] < frame.grid.times[0]:
        return None
    return "younger" if min(mine) > max(theirs) + _OLDER_BY else None


def _start(subject: Subject, frame: Frame) -> float | None:
    """When a process or pod started last."""
    for name in ("process.start_time", "pod.created"):
        cells = frame.cells(name, subject)
        if cells is not None and not np.isnan(cells).all():
            return float(np.nanmax(cells))
    return None


def _made(
    symptom: Symptom,
    way: Sequence[str],
    bad: Sequence[Member],
    good: Sequence[Member],
    dimension: str,
    value: str,
    rivals: Sequence[str],
    frame: Frame,
    *,
    is_first: bool,
) -> Observation:
    """One split as an observation."""
    signal = catalogue()[way[0]]
    unit = "ratio" if len(way) == 2 else signal.unit
    worst, usual = (median([one.value for one in some]) for some in (bad, good))
    worse, better = (median([one.badness for one in some]) for some in (bad, good))
    size = float(size_of(np.array(worse), np.array(better), np.array(_least(way)), np.array(0), up=True))
    total = sum(one.amount for one in (*bad, *good))
    share = sum(one.amount for one in bad) / total if total > 0 else 0.0
    subject = _subject(dimension, value, bad, frame)
    name = catalogue()[symptom.of].noun if symptom.of in catalogue() else symptom.of
    text = f"{name} {quantity(worst, unit)} where {dimension} is {value}, {quantity(usual, unit)} elsewhere"
    salient = is_first and size >= _SALIENT and len(good) > 1 and _is_harm(symptom)
    evidence = None
    if salient:
        subjects = [one.subject for one in bad]
        evidence = Evidence(
            signal=way[0],
            subject=str(subject),
            value=worst,
            unit=unit,
            op="<" if signal.worse == "down" else ">",
            threshold=usual,
            threshold_of="elsewhere",
            verdict=Verdict.PRESENT,
            text=text,
            spark=spark_of(cells_of(frame, way[0], subjects, signal.combine), frame.grid, None),
        ).reckoned_by(partial(looked_at, frame, way, subjects))
    return Observation(
        sort="outlier",
        of=symptom.of,
        subject=subject,
        text=text,
        against="twins",
        direction="worse",
        size=size,
        value=worst,
        usual=usual,
        unit=unit,
        support=int(min(one.support for one in bad)),
        source=family_of(way[0]),
        attrs={
            "dimension": dimension,
            "value": value,
            "share": f"{share:.2g}",
            "members": f"{len(bad)} of {len(bad) + len(good)}",
            "follows": "yes" if len(bad) > 1 and dimension != "replica" else "unknown",
            "rivals": " ".join(rivals),
        },
        evidence=evidence,
        salient=salient,
    )


def _is_harm(symptom: Symptom) -> bool:
    """Whether somebody notices: requests that fail, answers that are slow or wrong."""
    return symptom.of in ("failures", "token.time", "latency.itl", "quality.replica", "gpu.sm_clock")


def _subject(dimension: str, value: str, bad: Sequence[Member], frame: Frame) -> Subject:
    """Whom it is about: the one member, the node, else the service."""
    if len(bad) == 1:
        return bad[0].subject
    if dimension == "node":
        return Subject(Scope.NODE, value)
    return Subject(Scope.SERVICE, frame.recording.service)
