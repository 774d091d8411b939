"""How a service's sources are laid out on a server: their names, the labels that find them, and those that tell subjects apart.

It is learnt from one look at the service, whose every series says by which selector it is found again. Labels that name one pod,
host or card are dropped, since the next roll-out changes them; what all series of a source share finds it again. Metrics that the
look has not seen but that the same source can have (a counter of errors that none has made yet) are found in the same place.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from triage.engine.derived.fleet import work_of
from triage.engine.frame import Frame
from triage.engine.queries import interval_of
from triage.ingest.metrics.naming import OWN, spellings
from triage.ingest.metrics.translate import own_dialect
from triage.ingest.owners.places import CARD_LABELS, GPU_LABELS, NODE_LABELS, POD_LABELS
from triage.model.arrays import median
from triage.model.dialect import Dialect, Entry
from triage.model.recording import LOG, Subject
from triage.model.service import Service
from triage.model.vocabulary import Scope, catalogue

Matcher = tuple[str, str, str]
"""Label, operator, and the value as it stands in a PromQL string."""


@dataclass(frozen=True, order=True)
class Key:
    """The label that names a subject.

    :param pattern: the part of its value that does (RE2), where that is not all of it
    """

    label: str
    pattern: str = "(.+)"


_HOST = r"(.+?)(?::[0-9]+)?"
"""An address without its port."""

USUAL_KEYS: dict[Scope, str] = {Scope.REPLICA: "pod", Scope.GPU: "UUID", Scope.NODE: "node", Scope.GATEWAY: "pod"}
"""Labels that name subjects where nobody has looked: those of Kubernetes and of NVIDIA's exporter."""

_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')
_VOLATILE = frozenset({*POD_LABELS, *NODE_LABELS, *GPU_LABELS, *CARD_LABELS, "instance", "exported_instance"})
"""Labels that name one pod, host or card."""

_SAFE = "[bcdfghjklmnpqrstvwxz0-9]"
"""What Kubernetes makes names of: no vowels, so no words."""

_MADE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"-{_SAFE}{{5,10}}-{_SAFE}{{5}}$"), "-[a-z0-9]+-[a-z0-9]+"),
    (re.compile(r"-\d+$"), "-[0-9]+"),
    (re.compile(rf"-{_SAFE}{{5}}$"), "-[a-z0-9]+"),
)
"""What stands behind the name of whatever owns a pod, and what finds the next one: the hash of a ReplicaSet and five signs, the
number in a StatefulSet, five signs of a DaemonSet."""

_PATIENCE = 2.5
"""Intervals of a source for which a sample speaks, as on the grid of our own judgement (``_PATIENCE_CELLS`` of frame.py)."""

_USUAL_INTERVAL = 30.0
"""Seconds between two scrapes where nobody has looked; the operator for Prometheus and kubelets have this as their default."""


Found = Mapping[tuple[str, Subject], tuple[Matcher, ...]]
"""The conditions that find the series of a signal of a subject."""


@dataclass(frozen=True)
class Source:
    """One dialect's series about subjects of one scope.

    :param matchers: what finds all of them
    :param keys: the label that names the subject of a scope: its own, and of scopes that it belongs to
    :param interval: seconds between two samples
    :param seen: signal -> the source's own names of it, as they were seen
    """

    dialect: Dialect
    scope: Scope
    matchers: tuple[Matcher, ...] = ()
    keys: Mapping[Scope, Key] = field(default_factory=dict)
    interval: float = _USUAL_INTERVAL
    seen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def patience(self) -> float:
        """Seconds for which a sample speaks."""
        return float(ceil(_PATIENCE * self.interval))

    def selector(self, name: str, entry: Entry) -> str:
        """A selector of one of its metrics."""
        where = [_condition(label, wanted) for label, wanted in sorted(entry.where.items())]
        own = {label for label, _, _ in where}
        matchers = [*(one for one in self.matchers if one[0] not in own), *where]
        return f"{name}{{{','.join(_written(one) for one in matchers)}}}" if matchers else name

    def names(self, entry: Entry) -> tuple[str, ...]:
        """The names under which an entry is looked for: those that were seen, else its own ones in the spelling of the source."""
        known = set(self.seen.get(entry.signal, ()))
        written = tuple(self._spelt(name) for name in entry.names)
        found = tuple(name for base in entry.names for name in _variants(base, self.dialect, entry) if name in known)
        return tuple(dict.fromkeys(found)) or (written if entry.parts else written[:1])

    def _spelt(self, name: str) -> str:
        """A name with the prefix that the source writes."""
        seen = [one for names in self.seen.values() for one in names]
        for prefix, spelling in zip(self.dialect.prefixes, spellings(name, self.dialect), strict=False):
            if any(one.startswith(prefix) for one in seen):
                return spelling
        return name


def _variants(name: str, dialect: Dialect, entry: Entry) -> list[str]:
    """All ways to write a name."""
    found = []
    for spelling in spellings(name, dialect):
        bare = spelling.removesuffix("_total")
        found += [spelling, f"{spelling}_total", bare] if entry.type == "counter" else [spelling]
    return found


@dataclass(frozen=True)
class Layout:
    """A service as a server has it.

    :param interval: seconds between two samples of most of its series
    :param facts: what is known of it, the same for all of its replicas
    :param seen: signals that the look has seen
    :param alike: all its replicas do the same work, so that one may be held against the others
    """

    service: str
    sources: tuple[Source, ...]
    interval: float = _USUAL_INTERVAL
    objectives: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, str | float] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    alike: bool = True

    def of(self, signal: str) -> list[tuple[Source, Entry]]:
        """Who tells a signal, and by which entry, in the order of merit."""
        return [
            (source, entry)
            for source in self.sources
            for entry in source.dialect.metrics
            if entry.signal == signal and _tells(source, entry) and is_plain(entry)
        ]

    def key(self, scope: Scope) -> str:
        """The label by which subjects of a scope are named in alerts."""
        named = [source.keys[scope].label for source in self.sources if scope in source.keys]
        return max(sorted(set(named)), key=named.count, default=USUAL_KEYS.get(scope, scope.value))


def _tells(source: Source, entry: Entry) -> bool:
    """Whether a source's subjects are those of an entry."""
    if entry.signal in source.seen:
        return True
    return source.scope is (entry.scope or catalogue()[entry.signal].scope)


def is_plain(entry: Entry) -> bool:
    """Whether PromQL can read an entry: what lists things in a label, or asks who is usually served, it cannot."""
    return not (entry.items or entry.asked)


def usual_layout(service: Service, dialects: Sequence[Dialect]) -> Layout:
    """A layout where nobody has looked: the labels that are usual, and those by which settings find the service."""
    matchers = tuple((label, "=", _quoted(value)) for label, value in sorted(service.labels.items()))
    sources = []
    for dialect in dialects:
        for scope in sorted({entry.scope or catalogue()[entry.signal].scope for entry in dialect.metrics if entry.signal}):
            own = Key(dialect.identity.get(scope, (USUAL_KEYS.get(scope, ""),))[0])
            keys = {scope: own} if scope in USUAL_KEYS else {}
            if scope is Scope.GPU:
                keys |= {one: Key(USUAL_KEYS[one]) for one in (Scope.REPLICA, Scope.NODE)}
            sources.append(Source(dialect, scope, () if scope is Scope.NODE else matchers, keys))
    return Layout(service.name, tuple(sources), objectives=service.objectives, facts=service.facts)


def layout_of(frame: Frame, dialects: Sequence[Dialect]) -> Layout:
    """The layout that a look at a service shows."""
    families: dict[tuple[str, Scope], dict[tuple[str, Subject], tuple[Matcher, ...]]] = {}
    for (signal, subject), origin in frame.origins.items():
        if origin.selector and origin.dialect != LOG:
            families.setdefault((origin.dialect, subject.scope), {})[signal, subject] = _matchers(origin.selector)
    known = {dialect.name: dialect for dialect in (*dialects, _own_dialect(frame))}
    sources = [
        source
        for (name, scope), found in sorted(families.items())
        if name in known and (source := _source(known[name], scope, found, frame)) is not None
    ]
    order = {name: place for place, name in enumerate([OWN, *(dialect.name for dialect in dialects)])}
    recording = frame.recording
    return Layout(
        recording.service,
        tuple(sorted(sources, key=lambda source: order[source.dialect.name])),
        recording.step,
        dict(recording.objectives),
        _shared_facts(frame),
        frozenset(signal for source in sources for signal in source.seen),
        len({work_of(frame, replica) for replica in recording.subjects[Scope.REPLICA]}) <= 1,
    )


def _own_dialect(frame: Frame) -> Dialect:
    """The service's own metrics, as its settings name them."""
    told = {signal: origin.metric for (signal, _), origin in sorted(frame.origins.items()) if origin.dialect == OWN}
    return own_dialect(Service(name=frame.recording.service, signals=told))


def _source(dialect: Dialect, scope: Scope, found: Found, frame: Frame) -> Source | None:
    """One source; None if no label names its subjects."""
    keys = dict(_keys(dialect, scope, found, frame))
    if scope is Scope.TARGET:
        keys[scope] = Key("instance")
    if scope in USUAL_KEYS and scope not in keys:
        return None
    conditions = {label for entry in dialect.metrics for label in entry.where}
    dropped = {*_VOLATILE, *dialect.engines, *conditions, *(key.label for key in keys.values())}
    first, *rest = [frozenset(some) for some in found.values()]
    common = [one for one in sorted(first.intersection(*rest)) if one[0] not in dropped and one[1] == "="]
    if Scope.REPLICA in keys and all(value != frame.recording.service for _, _, value in common):
        ids = [owner for _, subject in found if (owner := _owner(subject, Scope.REPLICA, frame)) is not None]
        common.append((keys[Scope.REPLICA].label, "=~", "|".join(sorted({family(one) for one in ids}))))
    if not common:
        jobs = sorted({value for some in found.values() for label, op, value in some if (label, op) == ("job", "=")})
        common += [("job", "=~", "|".join(map(_literal, jobs)))] if jobs else []
    seen: dict[str, tuple[str, ...]] = {}
    for signal, subject in found:
        origin = frame.origins[signal, subject]
        names = tuple(one.partition("{")[0] for one in (origin.selector, *origin.more))
        seen[signal] = tuple(dict.fromkeys((*seen.get(signal, ()), *names)))
    return Source(dialect, scope, tuple(common), keys, _interval(found, frame), seen)


def _keys(dialect: Dialect, scope: Scope, found: Found, frame: Frame) -> Iterator[tuple[Scope, Key]]:
    """Labels that name the subject of a scope on all series of a source."""
    told = [({label: value for label, op, value in some if op == "="}, subject) for (_, subject), some in found.items()]
    for wanted, usual in USUAL_KEYS.items():
        pairs = [(labels, _owner(subject, wanted, frame)) for labels, subject in told]
        key = None if any(owner is None for _, owner in pairs) else _naming(pairs, usual)
        if key is None and wanted is scope:
            key = _named_by(dialect, scope) or _telling_apart(told)
        if key is not None:
            yield wanted, key


def _naming(pairs: Sequence[tuple[Mapping[str, str], str | None]], usual: str) -> Key | None:
    """The label whose value is the subject's name on all series, or that with a port behind it."""
    for pattern in (Key.pattern, _HOST):
        shared = [
            {label for label, value in labels.items() if (match := re.fullmatch(pattern, value)) and match[1] == owner}
            for labels, owner in pairs
        ]
        if labels := sorted(set.intersection(*shared)):
            return Key(min(labels, key=lambda label: (label != usual, label)), pattern)
    return None


def _named_by(dialect: Dialect, scope: Scope) -> Key | None:
    """The label that a dialect says to name its subjects."""
    labels = dialect.identity.get(scope, ())
    return Key(labels[0]) if labels else None


def _telling_apart(told: Sequence[tuple[Mapping[str, str], Subject]]) -> Key | None:
    """A label that has another value for each subject and one for each: it names them, if by other names than ours."""
    for label in sorted({*_VOLATILE, *USUAL_KEYS.values()}):
        values: dict[Subject, set[str]] = {}
        for labels, subject in told:
            values.setdefault(subject, set()).add(labels.get(label, ""))
        single = [next(iter(some)) for some in values.values() if len(some) == 1]
        if len(single) == len(values) == len(set(single)) and "" not in single:
            return Key(label)
    return None


def _owner(subject: Subject, scope: Scope, frame: Frame) -> str | None:
    """The subject of a scope that a subject is or belongs to."""
    if subject.scope is scope:
        return subject.id
    linked = [one.id for one in frame.recording.links.get(subject, ()) if one.scope is scope]
    return linked[0] if len(linked) == 1 else None


def family(replica: str) -> str:
    """A regular expression, inside a PromQL string, for the names of all that is made in the same way as a replica."""
    for pattern, next_one in _MADE:
        stem = pattern.sub("", replica)
        if stem != replica:
            return _literal(stem) + next_one
    return _literal(replica)


def _quoted(value: str) -> str:
    """A value as it stands in a PromQL string."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _literal(text: str) -> str:
    """A regular expression, inside a PromQL string, that matches just this text."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\\\1", text).replace('"', '\\"')


def _interval(found: Found, frame: Frame) -> float:
    """Usual seconds between two samples of a source."""
    held = {(one.signal, one.subject): one.times for one in frame.recording.series}
    held |= {(one.signal, one.subject): one.times for one in frame.recording.histograms}
    told = [interval for key in found if key in held and (interval := interval_of(held[key])) > 0]
    return median(told) if told else frame.recording.step


def _shared_facts(frame: Frame) -> dict[str, str | float]:
    """Facts of the service, and those of replicas that are the same for all of them."""
    told: dict[str, list[tuple[Subject, str | float]]] = {}
    for fact in frame.recording.facts:
        told.setdefault(fact.key, []).append((fact.subject, fact.value))
    service = Subject(Scope.SERVICE, frame.recording.service)
    shared: dict[str, str | float] = {}
    for key, several in told.items():
        values = {value for _, value in several}
        own = frame.recording.fact(key, service)
        if len(values) == 1:
            shared[key] = values.pop()
        elif own is not None:
            shared[key] = own
    return shared


def _matchers(selector: str) -> tuple[Matcher, ...]:
    return tuple((found[1], found[2], found[3]) for found in _MATCHER.finditer(selector))


def _condition(label: str, wanted: str) -> Matcher:
    """What an entry asks of a label, in PromQL."""
    value = wanted.removeprefix("!").replace("\\", "\\\\").replace('"', '\\"')
    return label, "!~" if wanted.startswith("!") else "=~", value


def _written(matcher: Matcher) -> str:
    label, operator, value = matcher
    return f'{label}{operator}"{value}"'
