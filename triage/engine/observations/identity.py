"""Identity: what is to be the same of twins, as declared or as before, and is not: settings, versions, digests, fingerprints."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from triage.engine.derived.drift import SETTINGS
from triage.engine.derived.fleet import role_of
from triage.engine.frame import Frame
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Event, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_KEY = Pattern(
    r"(?i)(?:^|[._-])(?:digest|sha\d*|hash|checksum|crc|revision|rev|commit|fingerprint|version|build|etag|md5|signature|driver"
    r"|firmware|vbios|image_id|snapshot)(?:$|[._-])|(?:digest|hash|checksum|revision|fingerprint|version|commit)$"
)
"""Keys whose value stands for what something is."""

_HOST = Pattern(r"(?i)(?:^|[._-])(?:driver|firmware|vbios|kernel)(?:$|[._-])")
"""Keys of what a host or a card brings along, whatever runs on it."""

_PLACE = frozenset(
    {
        "pod_ip",
        "host_ip",
        "pci_bus_id",
        "gpu_index",
        "node",
        "gpus",
        "created_by_name",
        "created_by_kind",
        "name",
        "uuid",
        "serial",
    }
)
"""Keys that are a thing's own by nature."""

_ENOUGH = 3
"""Of two that differ nobody can say which one is odd."""

_MOST = 0.6
"""So many of the twins must agree before one that differs is the odd one."""


def identity(frame: Frame) -> Seen:
    """Values that differ from twins, from what is declared or asked for, or from before."""
    odd = [*_drifted(frame), *_among_twins(frame), *_in_lines(frame), *_said(frame)]
    once: dict[tuple[str, Subject, str], Observation] = {}
    for one in odd:
        once.setdefault((one.of, one.subject, one.attrs.get("value", "")), one)
    return Seen(tuple(once.values()), _judged(frame))


def _judged(frame: Frame) -> frozenset[Judged]:
    """Keys that are known of enough subjects to tell the odd one, or of a subject and as they were declared."""
    facts = [fact for fact in frame.recording.facts if fact.key not in _PLACE]
    declared = {fact.key for fact in facts if fact.subject.scope is Scope.SERVICE}
    judged: set[Judged] = set()
    for (key, scope), count in Counter((fact.key, fact.subject.scope) for fact in facts).items():
        if count >= _ENOUGH:
            judged.add(("identity", key, scope, "twins"))
        if scope is Scope.REPLICA and key in declared and key in SETTINGS:
            judged.add(("identity", key, scope, "declared"))
    return frozenset(judged)


def _drifted(frame: Frame) -> Iterator[Observation]:
    """Settings and artifacts that are not what they should be, as they were found when all facts were compared."""
    for event in frame.recording.events_of("drift"):
        if not event.name:  # of what, nobody says
            continue
        against = next((name for key, name in _AGAINST.items() if key in event.attrs), "twins")
        usual = next((event.attrs[key] for key in _AGAINST if key in event.attrs), "")
        yield _observation(
            frame, event.name, event.subject, event.text, event.time, against, event.attrs.get("value", ""), usual, "settings",
            fresh=event.attrs.get("fresh", ""),
        )  # fmt: skip


_AGAINST = {"declared": "declared", "peers": "twins", "before": "past"}


# Facts of twins


def _among_twins(frame: Frame) -> Iterator[Observation]:
    """Facts of one subject that most of its twins have otherwise."""
    groups: dict[tuple[str, Scope, tuple[str, ...]], dict[Subject, str]] = {}
    makes = _makes(frame)
    for fact in frame.recording.facts:
        scope = fact.subject.scope
        if scope is Scope.SERVICE or fact.key in _PLACE | _MAKE or not _is_identity(fact.key, fact.value):
            continue
        groups.setdefault((fact.key, scope, makes.get(fact.subject, ())), {}).setdefault(fact.subject, str(fact.value))
    told = {(event.name, event.subject) for event in frame.recording.events_of("drift")}
    for (key, _, _), values in sorted(groups.items()):
        for subject, value, usual in _odd_ones(values):
            if (key, subject) not in told:
                text = f"{key} of {subject} is {_short(value)}, and {_short(usual)} of its twins"
                yield _observation(frame, key, subject, text, None, "twins", value, usual, "settings")


_MAKE = frozenset({"image", "created_by_name"})
"""What is another one after each roll-out: replicas of different makes are no twins."""


def _makes(frame: Frame) -> dict[Subject, tuple[str, ...]]:
    """Work, image and maker of each replica, as far as they are known."""
    told: dict[Subject, list[str]] = {replica: [role_of(frame, replica)] for replica in frame.recording.subjects[Scope.REPLICA]}
    for fact in frame.recording.facts:
        if fact.key in _MAKE and fact.subject in told:
            told[fact.subject].append(f"{fact.key}={fact.value}")
    return {replica: tuple(sorted(parts)) for replica, parts in told.items()}


def _is_identity(key: str, value: str | float) -> bool:
    """Whether a fact says what something is: a setting, a digest, a name. Measures differ from one to the next."""
    return key in SETTINGS or _KEY.search(key) is not None or (isinstance(value, str) and not value.replace(".", "").isdigit())


def _odd_ones(values: Mapping[Subject, str]) -> Iterator[tuple[Subject, str, str]]:
    """Who differs from what most have: subject, its value, the usual one."""
    if len(values) < _ENOUGH:
        return
    usual, count = Counter(values.values()).most_common(1)[0]
    if count == len(values) or count < _MOST * len(values):
        return
    for subject in sorted(values):
        if values[subject] != usual:
            yield subject, values[subject], usual


# Lines


def _in_lines(frame: Frame) -> Iterator[Observation]:
    """Digest-like values that lines give of several subjects, or of one subject at several times."""
    found: dict[str, dict[Subject, list[tuple[Event, str]]]] = {}
    makes = _makes(frame)
    for event in frame.recording.events:
        if event.kind in ("log", "said", "identity") and event.subject is not None and event.subject.scope is not Scope.SERVICE:
            for key, value in _values(event).items():
                found.setdefault(key, {}).setdefault(event.subject, []).append((event, value))
    for key, subjects in sorted(found.items()):
        twins: dict[tuple[str, ...], dict[Subject, str]] = {}
        for subject, told in subjects.items():
            twins.setdefault(makes.get(subject, ()), {})[subject] = told[-1][1]
        for subject, value, usual in (odd for group in twins.values() for odd in _odd_ones(group)):
            event = next(event for event, told in subjects[subject] if told == value)
            text = f"{key} of {subject} is {_short(value)}, and {_short(usual)} of its twins: {event.text}"
            yield _observation(frame, key, subject, text, event.time, "twins", value, usual, "logs")
        for subject, told in subjects.items():
            turns = [event for (_, before), (event, value) in pairwise(told) if value != before]
            if len(turns) == 1:
                text = f"{key} of {subject} is {_short(told[-1][1])}, and was {_short(told[0][1])} before: {turns[0].text}"
                yield _observation(frame, key, subject, text, turns[0].time, "past", told[-1][1], told[0][1], "logs")


def _values(event: Event) -> dict[str, str]:
    """Values in an event that say what something is, by key."""
    if event.kind == "identity":
        return {event.name: event.attrs.get("value", "")} if event.name else {}
    return {
        key.lower(): value
        for key, value in event.attrs.items()
        if _KEY.search(key) is not None and any(letter.isdigit() for letter in value)
    }


def _said(frame: Frame) -> Iterator[Observation]:
    """What is not what was asked for or expected, and settings that are not taken, as lines say."""
    for event in frame.recording.events_of("said"):
        told = event.attrs
        if event.name == "mismatch" and (told.get("expected") or told.get("got")):
            of = told.get("what", "") or "mismatch"
            value, usual = told.get("got", ""), told.get("expected", "")
        elif event.name == "overridden" and told.get("setting"):
            of, value, usual = told["setting"], told.get("instead", ""), told.get("value", "")
        else:
            continue
        stranger = told.get("stranger", "")
        yield _observation(
            frame, of, event.subject, event.text, event.time, "declared", value, usual, f"{told.get('emitter', 'any')} log",
            statement=event.name, stranger=stranger,
        )  # fmt: skip


# Observations


def _observation(
    frame: Frame,
    of: str,
    subject: Subject | None,
    text: str,
    when: float | None,
    against: str,
    value: str,
    usual: str,
    source: str,
    **more: str,
) -> Observation:
    """Something that is not what it should be."""
    attrs = {"value": value, "usual": usual, "who": str(subject or ""), "nature": _nature(of), **more}
    strangers = more.get("stranger") == "yes" or (
        subject is not None and subject.scope is Scope.SERVICE and subject.id != frame.recording.service
    )
    return Observation(
        sort="identity",
        of=of,
        subject=subject or Subject(Scope.SERVICE, frame.recording.service),
        text=text,
        onset=None if when is None else (when, when),
        against=against,
        source=source,
        attrs={key: told for key, told in attrs.items() if told},
        salient=not strangers and _is_grave(of, against, more.get("statement", "")),
    )


def _is_grave(of: str, against: str, statement: str) -> bool:
    """Whether a person would ask about it: artifacts that differ, settings other than declared, an answer by another model."""
    if statement == "overridden":
        return False
    return _KEY.search(of) is not None or of in (*SETTINGS, "model", "served_model_name") or against == "declared"


def _nature(of: str) -> str:
    """What a key stands for: what somebody sets, what carries it, what something is made of, or neither."""
    if of in SETTINGS:
        return "setting"
    if _HOST.search(of) is not None:
        return "host"
    return "artifact" if _KEY.search(of) is not None else "other"


def _short(value: str) -> str:
    """A value as people write it."""
    return value.removeprefix("sha256:")[:16]
