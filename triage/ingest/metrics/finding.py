"""Finding series again by hand: the PromQL selectors of what makes a signal, and how one reads it there."""

from collections.abc import Iterable, Iterator, Mapping

from triage.classes import dataclass
from triage.ingest.metrics.conditions import fits
from triage.ingest.metrics.naming import Group
from triage.ingest.owners.places import on_server
from triage.ingest.raw import Layout, Metric
from triage.model.dialect import Entry
from triage.model.recording import Origin
from triage.model.vocabulary import catalogue

_TELLING = (
    "service", "namespace", "pod", "k8s_pod_name", "replica", "instance", "exported_instance", "job", "node", "Hostname", "UUID",
    "gpu", "deployment", "envoy_cluster_name", "destination_service_name", "ingress", "requested_model", "litellm_model_name",
)  # fmt: skip
"""Labels that find a series again."""

_MOST_VALUES = 12
"""A condition with more values of one label is longer than a person reads."""

_MOST_BITS = 53

Found = Mapping[str, str]
Matchers = tuple[tuple[str, str, str], ...]
"""Label, operator and value of each condition."""


@dataclass(frozen=True)
class Made:
    """What was done with a group's samples on the way to its signal.

    :param plain: nothing but what a query says, too
    :param born: when a running total last appeared that was counted from 0, since its target shows that it was not there before,
        Unix seconds; 0 if none did
    :param fell: when a running total last fell, Unix seconds; 0 if none did
    """

    plain: bool = True
    born: float = 0.0
    fell: float = 0.0


class Finder:
    """Knows all series of a source, so that a selector of some finds no others.

    :param metrics: all series of the source, of other services, too
    """

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._layouts = {metric.name: metric.layout for metric in metrics}
        self._indexed: dict[tuple[Layout, tuple[str, ...]], dict[tuple[str, ...], list[Found]]] = {}
        self._plainest: dict[tuple[int, tuple[str, ...]], _Equal] = {}

    def origin(self, group: Group, made: Made) -> Origin:
        """Where a group's series came from, with selectors that find them again.

        What our own collector put labels on was read from no server that knows PromQL: it has no selector.
        """
        entry, dialect = group.use.entry, group.use.dialect
        if any(one.added for _, one in group.parts):
            places = {one.shown_at for _, one in group.parts}
            shown_at = places.pop() if len(places) == 1 else ""
            return Origin(dialect.name, metric_of(group), "", entry.type == "counter", entry.scale, shown_at=shown_at)
        lone = self._of_one(group)
        if lone:
            first, more, alone = lone, [], True
        else:
            matchers = self._matchers(group)
            alone = matchers is not None
            first, *more = [_selector(name, matchers or _plainest(group)) for name in _names(group)]
        how = entry.combine or catalogue()[entry.signal].combine
        return Origin(
            dialect.name,
            metric_of(group),
            first,
            counter=entry.type == "counter",
            scale=entry.scale,
            offset=entry.offset,
            more=tuple(more),
            combine="sum" if entry.type == "histogram" else how.value,
            copies=entry.copies,
            flag=_flag(entry),
            plain=made.plain and alone and not (entry.items or entry.asked),
            born=made.born,
            fell=made.fell,
            series=len(group.parts),
        )

    def _of_one(self, group: Group) -> str:
        """The selector of a group of one series whose plainest labels no other series has; empty if there is more to it.

        Series of the same labels are found by the same conditions, which are made once.
        """
        (use, one), *others = group.parts
        if others or use.part or use.entry.where:
            return ""
        key = id(one.labels), use.dialect.engines
        equal = self._plainest.get(key) or self._plainest.setdefault(key, _Equal(_plainest(group)))
        alone = len(self._index(one.name, equal.labels).get(equal.values, ())) == 1
        return f"{use.metric or one.name}{equal.text}" if alone else ""

    def _matchers(self, group: Group) -> Matchers | None:
        """Conditions that the group's series satisfy and no others do; None if there are none."""
        names = {one.name for _, one in group.parts}
        wanted = len({(one.name, tuple(sorted(on_server(one.labels).items()))) for _, one in group.parts})
        return next((some for some in _candidates(group) if self._count(names, some) == wanted), None)

    def _count(self, names: Iterable[str], matchers: Matchers) -> int:
        """How many series of some names satisfy conditions."""
        equal = {label: value for label, operator, value in matchers if operator == "="}
        rest = [(label, value, operator == "!~") for label, operator, value in matchers if operator != "="]
        keys = tuple(sorted(equal))
        values = tuple(equal[key] for key in keys)
        return sum(
            all(fits(value, labels.get(label, "")) != turned for label, value, turned in rest)
            for name in names
            for labels in self._index(name, keys).get(values, ())
        )

    def _index(self, name: str, keys: tuple[str, ...]) -> dict[tuple[str, ...], list[Found]]:
        """The series of a name by their values of some labels."""
        layout = self._layouts[name]
        found = self._indexed.get((layout, keys))
        if found is None:
            found = self._indexed[layout, keys] = {}
            for labels in map(on_server, layout.labels):
                found.setdefault(tuple([labels.get(key, "") for key in keys]), []).append(labels)
        return found


class _Equal:
    """Conditions that name one value each, in the forms in which they are looked up and written.

    :param matchers: ordered by label
    """

    __slots__ = ("labels", "text", "values")

    def __init__(self, matchers: Matchers) -> None:
        self.labels = tuple(label for label, _, _ in matchers)
        self.values = tuple(value for _, _, value in matchers)
        self.text = _selector("", matchers)


def _candidates(group: Group) -> Iterator[Matchers]:
    """Conditions that all of a group's series satisfy, from few to many."""
    yield _plainest(group)
    yield _plainest(group, everywhere=True)
    shared = {label: value for label, value in _shared(group).items() if label != "le"}
    all_shared = (*_equal(shared), *_conditions(group, shared, everywhere=True))
    yield all_shared
    varying: dict[str, set[str]] = {}
    for _, one in group.parts:
        for label, value in on_server(one.labels).items():
            if label not in shared and label != "le":
                varying.setdefault(label, set()).add(value)
    few = {label: values for label, values in sorted(varying.items()) if len(values) <= _MOST_VALUES}
    alternatives = tuple((label, "=~", "|".join(_literal(value) for value in sorted(values))) for label, values in few.items())
    yield (*all_shared, *alternatives)


def _plainest(group: Group, *, everywhere: bool = False) -> Matchers:
    """The labels that tell, as far as all series of a group share them, and the conditions of its entry."""
    entry, dialect = group.use.entry, group.use.dialect
    telling = {*_TELLING, *entry.where, *dialect.engines}
    keep = {label: value for label, value in _shared(group).items() if label in telling}
    if keep.keys() & {"pod", "k8s_pod_name", "replica"}:
        keep.pop("instance", None)
    return (*_equal(keep), *_conditions(group, keep, everywhere=everywhere))


def _shared(group: Group) -> dict[str, str]:
    """Labels and values that all series of a group have."""
    shared = set(on_server(group.parts[0][1].labels).items())
    for _, one in group.parts[1:]:
        shared &= on_server(one.labels).items()
    return dict(shared)


def _equal(labels: Mapping[str, str]) -> Matchers:
    return tuple((label, "=", value) for label, value in sorted(labels.items()))


def _conditions(group: Group, told: Mapping[str, str], *, everywhere: bool) -> Matchers:
    """What the group's entry asks of labels whose values are not told already.

    :param everywhere: also of labels that none of its series has
    """
    return tuple(
        (label, "!~" if wanted.startswith("!") else "=~", wanted.removeprefix("!"))
        for label, wanted in sorted(group.use.entry.where.items())
        if label not in told and (everywhere or any(label in one.labels for _, one in group.parts))
    )


def _names(group: Group) -> list[str]:
    """The source's names of what the group measures; of a mean that two counters make the sum's first, then the count's."""
    entry = group.use.entry
    names = sorted({use.metric or one.name for use, one in group.parts if use.part != "count"})
    if not names or entry.count:
        counts = sorted({one.name for use, one in group.parts if use.part == "count"})
        return [*names, *counts]
    return names


def metric_of(group: Group) -> str:
    """The source's name of what the group measures."""
    return min(use.metric or one.name for use, one in group.parts if use.part != "count")


def _flag(entry: Entry) -> str:
    """PromQL that makes 1 or 0 of a sample ``{}``; empty if its value counts.

    PromQL knows no bits: of each bit whether the number without the lower ones is odd.
    """
    if entry.one_if is not None:
        return f"({{}} == bool {entry.one_if:g})"
    if entry.bit is None:
        return ""
    bits = [1 << place for place in range(_MOST_BITS) if entry.bit >> place & 1]
    odd = [f"floor({{}} / {bit}) % 2" if bit > 1 else "{} % 2" for bit in bits]
    return f"({odd[0]})" if len(odd) == 1 else f"({' + '.join(odd)} > bool 0)"


def _selector(name: str, matchers: Matchers) -> str:
    """A selector in PromQL."""
    inner = ",".join(f'{label}{operator}"{_escaped(value)}"' for label, operator, value in sorted(matchers))
    return f"{name}{{{inner}}}" if inner else name


def _escaped(value: str) -> str:
    """A label value inside a PromQL string."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _literal(text: str) -> str:
    """A regular expression (RE2) that matches just this text."""
    return "".join(f"\\{char}" if char in r"\.+*?()|[]{}^$" else char for char in text)
