"""A diagnosis completed from memory: what nobody can judge now as it was seen last, each thing with its first onset."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from triage.classes import dataclass
from triage.memory.life import Life
from triage.memory.looks import kind_key, promise_key
from triage.memory.memory import Memory
from triage.model.diagnosis import Diagnosis, Evidence, Finding, LayerState, LayerView, Promised, Severity, Status, Vital
from triage.model.units import clock


@dataclass(frozen=True)
class Pictures:
    """How things looked when they were seen last, by key.

    :param vitals: those that were kept or broken
    :param seen: when each was seen, Unix seconds
    :param told: the last diagnosis that named the cause that is remembered
    """

    findings: Mapping[str, Finding] = field(default_factory=dict)
    vitals: Mapping[str, Vital] = field(default_factory=dict)
    seen: Mapping[str, float] = field(default_factory=dict)
    told: Diagnosis | None = None


@dataclass(frozen=True)
class Recalled:
    """A diagnosis completed from memory.

    :param stale: what is shown as it was seen last, by key, with when that was, Unix seconds
    """

    diagnosis: Diagnosis
    stale: Mapping[str, float] = field(default_factory=dict)


def pictures_after(pictures: Pictures, diagnosis: Diagnosis, memory: Memory) -> Pictures:
    """The pictures after a diagnosis: of what it saw the newest, of findings that are still remembered the old ones."""
    findings = {
        kind_key(one.rule): _remembered(one, memory.lives.get(kind_key(one.rule)), pictures) for one in diagnosis.findings
    }
    vitals = {_key(one): one for one in diagnosis.vitals if one.state is not Promised.OPEN}
    up = {key for key, _ in memory.up()}
    old = {key: one for key, one in pictures.findings.items() if key in up}
    seen = {**pictures.seen, **dict.fromkeys([*findings, *vitals], diagnosis.window.end)}
    listed = {_key(one) for one in diagnosis.vitals}
    left = {key: one for key, one in pictures.vitals.items() if key in up or key in listed or _is_blind(diagnosis)}
    told = diagnosis if _first_root(diagnosis) == memory.cause.word else pictures.told
    whole = {**old, **findings}, {**left, **vitals}
    return Pictures(*whole, {key: seen[key] for part in whole for key in part}, told)


def recalled(diagnosis: Diagnosis, memory: Memory, pictures: Pictures) -> Recalled:
    """A diagnosis with what is remembered and was not seen now.

    :param memory: after this look
    :param pictures: of the looks before
    """
    there = {kind_key(one.rule) for one in diagnosis.findings}
    kept = {key: life for key, life in memory.up() if key not in there and key in pictures.findings}
    left = [_left(pictures.findings[key], life, pictures.seen[key], diagnosis.window.end) for key, life in kept.items()]
    findings = [_remembered(one, memory.lives.get(kind_key(one.rule)), pictures) for one in diagnosis.findings]
    listed = [*diagnosis.vitals, *_unlisted(diagnosis, memory, pictures)]
    vitals = [_vital(one, memory.lives.get(_key(one)), pictures, diagnosis.window.end) for one in listed]
    unsure = [_key(one) for one in listed if one.state is Promised.OPEN and _key(one) in pictures.vitals]
    whole = diagnosis.model_copy(
        update={
            "status": memory.status,
            "findings": tuple(_cause_first([*findings, *left], memory.cause.word)),
            "vitals": tuple(vitals),
            "ruled_out": tuple(one for one in diagnosis.ruled_out if kind_key(one.rule) not in kept),
            "unseen": tuple(one for one in diagnosis.unseen if kind_key(one.rule) not in kept),
            "not_evaluated": tuple(one for one in diagnosis.not_evaluated if kind_key(one.rule) not in kept),
            "layers": tuple(_layers(diagnosis, left)),
        }
    )
    told = pictures.told
    if memory.cause.word and told is not None and _first_root(diagnosis) != memory.cause.word == _first_root(told):
        whole = whole.model_copy(update={"headline": told.headline, "cause": told.cause})
    elif diagnosis.status is Status.HEALTHY and memory.status is not Status.HEALTHY:
        whole = whole.model_copy(update={"headline": _well_again(memory, diagnosis.window.end)})
    return Recalled(whole, {key: pictures.seen[key] for key in [*kept, *unsure]})


_GRAVITY: tuple[Severity, ...] = ("info", "warning", "critical")


def _well_again(memory: Memory, near: float) -> str:
    """What is said while users are well and the state is not yet: what it waits for, the gravest first."""
    waits = sorted((life for _, life in memory.up()), key=lambda life: (-_GRAVITY.index(life.severity), life.since or 0.0))
    if not waits:
        return "Healthy for users again; not called over before it has stayed so for a while."
    first = waits[0]
    if first.gone is not None:
        return f"Healthy for users again; not yet called over: {first.title}, gone since {clock(first.gone, near)}."
    since = f", since {clock(first.since, near)}" if first.since is not None else ""
    return f"Healthy for users again; still there: {first.title}{since}."


def _first_root(diagnosis: Diagnosis) -> str:
    """Key of the kind that is named first; empty if none is."""
    return next((kind_key(one.rule) for one in diagnosis.findings if one.role == "root" and not one.muted), "")


def _key(vital: Vital) -> str:
    return promise_key(vital.name, vital.subject)


def _remembered(finding: Finding, life: Life | None, pictures: Pictures) -> Finding:
    """A finding that began when it was first said to have begun, and so did each piece of its evidence."""
    if life is None or not (life.is_up or finding.until is not None):
        return finding
    before = pictures.findings.get(kind_key(finding.rule))
    known = {(one.signal, one.subject, one.stat): one.since for one in before.evidence if one.since} if before is not None else {}
    evidence = tuple(_begun(one, known.get((one.signal, one.subject, one.stat))) for one in finding.evidence)
    onset = finding.onset if life.since is None else life.since
    return finding.model_copy(update={"onset": onset, "evidence": evidence})


def _begun(evidence: Evidence, before: float | None) -> Evidence:
    """A piece of evidence that goes on since an earlier look saw it."""
    if before is None or evidence.since is None or evidence.until is not None or before >= evidence.since:
        return evidence
    return evidence.model_copy(update={"since": before})


def _left(finding: Finding, life: Life, seen: float, near: float) -> Finding:
    """A finding that this look does not have: it is ending, or nobody can judge it now."""
    if life.gone is not None:
        words = f"not seen any more since {clock(life.gone, near)}"
    else:
        words = f"last seen at {clock(seen, near)}; nobody can judge it now"
    told = f"{finding.summary.rstrip('. ')} ({words})."
    return finding.model_copy(update={"summary": told, "onset": life.since, "until": life.gone})


def _unlisted(diagnosis: Diagnosis, memory: Memory, pictures: Pictures) -> list[Vital]:
    """Promises that this look does not list, as open: those that are remembered as broken; of a blind look all there were."""
    told = {_key(one) for one in diagnosis.vitals}
    is_blind = _is_blind(diagnosis)
    up = {key for key, life in memory.up() if life.gone is None}
    left = [one for key, one in pictures.vitals.items() if key not in told and (key in up or is_blind)]
    return [one.model_copy(update={"state": Promised.OPEN, "reason": ""}) for one in left]


def _is_blind(diagnosis: Diagnosis) -> bool:
    """Whether a look could tell nothing of how users are."""
    return all(one.state is Promised.OPEN for one in diagnosis.vitals)


def _vital(vital: Vital, life: Life | None, pictures: Pictures, near: float) -> Vital:
    """A promise that began to be broken when it was first said to; one that nobody can judge now with what was seen last."""
    since = life.since if life is not None and life.is_up else None
    if vital.state is Promised.BROKEN:
        is_known = since is not None and since != vital.since and (vital.until is None or since <= vital.until)
        return vital.model_copy(update={"since": since}) if is_known else vital
    old = pictures.vitals.get(_key(vital))
    if vital.state is Promised.KEPT or old is None:
        return vital
    words = f"last seen at {clock(pictures.seen[_key(vital)], near)}: {old.state.value}"
    told = {"state": Promised.OPEN, "now": None, "harm": 0.0, "reason": f"{vital.reason}; {words}" if vital.reason else words}
    return old.model_copy(update={**told, "since": since if since is not None else old.since})


def _cause_first(findings: Sequence[Finding], cause: str) -> Iterator[Finding]:
    """The findings with the cause that is remembered before all others."""
    first = [one for one in findings if kind_key(one.rule) == cause]
    yield from (one if one.role == "root" else one.model_copy(update={"role": "root", "explained_by": ()}) for one in first)
    yield from (one for one in findings if kind_key(one.rule) != cause)


def _layers(diagnosis: Diagnosis, left: Sequence[Finding]) -> Iterator[LayerView]:
    """The layers with what is only remembered."""
    for view in diagnosis.layers:
        more = tuple(one.rule for one in left if one.layer is view.layer)
        told = {"state": LayerState.IMPLICATED, "findings": (*view.findings, *more)}
        yield view.model_copy(update=told) if more else view
