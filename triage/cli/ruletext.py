"""A rule in words: what it asks, what speaks for it and against it, and where it leads."""

from collections.abc import Iterator, Mapping, Sequence

from triage.cli.table import wrapped
from triage.engine.rules.incidents import Incident
from triage.model.rule import (
    All,
    Alternative,
    Any,
    Bound,
    Condition,
    Gone,
    Grade,
    Known,
    Measure,
    Not,
    Observed,
    Occurrence,
    Operand,
    Rule,
)
from triage.model.units import duration, quantity
from triage.model.vocabulary import Kind, catalogue

_BOUNDS = (("above", "above"), ("at_least", "at least"), ("below", "below"), ("at_most", "at most"))
_STATS = {
    "last": "last value",
    "first": "first value",
    "sum": "total",
    "peak": "highest five-minute mean",
    "trough": "lowest five-minute mean",
    "slope": "growth per second",
    "changes": "number of changes",
    "spread": "standard deviation",
}


_PROVES: dict[Grade, str] = {
    "proof": "proof: names this very fault",
    "strong": "strong: only this kind does it",
    "weak": "weak: fits this kind and others",
}


def described(rule: Rule, incidents: Mapping[str, Incident]) -> str:
    """The rule as text for people, ending in a line break.

    :param incidents: the catalogue of public incidents by id
    """
    lines = [
        f"{rule.id}: {rule.title}",
        f"{rule.cause} cause in the {rule.layer} layer, {rule.scale} scale, {rule.severity}, {rule.status}",
        "",
        *_wrapped(f"Question, asked of each {rule.scope}: {rule.question}"),
        "",
        "It shows itself in one of these ways",
        *(line for way in rule.shows for line in _way(way)),
    ]
    lines += _titled("It needs to be known that", rule.needs)
    lines += _titled("Ruled out if", rule.refuted_by)
    if rule.expects:
        lines += ["", "It brings about", *(line for effect in rule.expects for line in _condition(effect, 1))]
    lines += ["", *_wrapped(f"Finding: {rule.finding}")]
    lines += _listed("Leads to", _edges(rule.leads_to))
    lines += _listed("Feeds back to", _edges(rule.feeds_back))
    lines += _listed("Not to be taken for", [f"{look.rule}: {look.because}" for look in rule.look_alikes])
    lines += _listed("False positives", rule.false_positives)
    lines += _listed("Public incidents", [_cited(name, incidents) for name in rule.incidents])
    lines += _listed("Sources", rule.sources)
    return "\n".join([*lines, "", f"What to do: triage playbook {rule.id}", ""])


def _cited(name: str, incidents: Mapping[str, Incident]) -> str:
    """A public incident with what it was and where it can be read, if the catalogue has it."""
    known = incidents.get(name)
    return f"{known.says} ({known.address})" if known else name


def _edges(effects: Mapping[str, str]) -> list[str]:
    """What a kind leads to, each with its mechanism."""
    return [f"{kind}: {because}" for kind, because in effects.items()]


def _titled(title: str, condition: Condition | None) -> list[str]:
    """A titled condition, or nothing if there is none."""
    return [] if condition is None else ["", title, *_condition(condition, 1)]


def _way(way: Alternative) -> Iterator[str]:
    """One alternative: what it proves, and the condition."""
    yield from _bullet(_PROVES[way.grade], 1)
    yield from _condition(way.condition, 2)
    for words, part in (("which needs", way.needs), ("unless", way.refuted_by)):
        if part is not None:
            yield from _bullet(words, 2)
            yield from _condition(part, 3)


def _wrapped(text: str) -> list[str]:
    """Text in lines of a readable width."""
    return wrapped("", " ".join(text.split()))


def _listed(title: str, items: Sequence[str]) -> list[str]:
    """A titled list, or nothing if it is empty."""
    return ["", title, *(line for item in items for line in _bullet(item, 1))] if items else []


def _bullet(text: str, depth: int) -> list[str]:
    """One item of a list."""
    indent = "  " * depth
    return wrapped(f"{indent}- ", text)


def _condition(condition: Condition, depth: int) -> list[str]:
    """A condition as an indented list."""
    match condition:
        case All(all=parts):
            return [*_bullet("all of", depth), *_inside(parts, depth)]
        case Any(any=parts):
            return [*_bullet("any of", depth), *_inside(parts, depth)]
        case Not(not_=part):
            return [*_bullet("not", depth), *_condition(part, depth + 1)]
        case Measure():
            return _bullet(_measure(condition), depth)
        case Occurrence():
            return _bullet(_occurrence(condition), depth)
        case Observed():
            return _bullet(_observed(condition), depth)
        case Known():
            return _bullet(f"the fact {condition.fact} matches {condition.matches}", depth)
        case Gone():
            return _bullet(f"{condition.gone} was measured before and is no longer, while its target answers", depth)


def _inside(parts: Sequence[Condition], depth: int) -> Iterator[str]:
    """The parts of a combination, one step further in."""
    for part in parts:
        yield from _condition(part, depth + 1)


def _measure(measure: Measure) -> str:
    """A measure in words."""
    key, words = next((key, words) for key, words in _BOUNDS if getattr(measure, key) is not None)
    what = measure.signal if measure.lasting is not None else f"{_STATS.get(measure.stat, measure.stat)} of {measure.signal}"
    parts = [what, *_where(measure), f"is {words} {_bound(getattr(measure, key), _unit(measure))}"]
    if measure.lasting is not None:
        parts.append(f"for {duration(measure.lasting)} in a row")
    return " ".join(parts)


def _where(measure: Measure) -> Iterator[str]:
    """Over which time and which subjects a measure is taken."""
    if measure.across is not None:
        yield f"({measure.across} over subjects)"
    if measure.over is not None:
        yield f"over the last {duration(measure.over)}"
    if measure.period == "baseline":
        yield "before the window"


def _unit(measure: Measure) -> str:
    """Unit of the value that is compared."""
    signal = catalogue()[measure.signal]
    if measure.stat in ("changes", "slope"):
        return ""
    per_second = signal.kind is Kind.RATE and measure.stat != "sum" and signal.unit != "ratio"
    return f"{signal.unit}/s" if per_second else signal.unit


def _bound(bound: Bound, unit: str) -> str:
    """A bound in words."""
    if not isinstance(bound, Operand):
        return quantity(bound, unit)
    times, base = _base(bound)
    words = base if times == 1.0 else f"{times:g} times {base}"
    if bound.plus:
        words += f" {'plus' if bound.plus > 0 else 'minus'} {quantity(abs(bound.plus), unit)}"
    return words if bound.at_least is None else f"{words}, but no less than {quantity(bound.at_least, unit)}"


def _base(bound: Operand) -> tuple[float, str]:
    """Factor and name of what a value is compared with."""
    if bound.baseline is not None:
        return bound.baseline, "what is usual"
    if bound.peers is not None:
        return bound.peers, "the median of its peers"
    if bound.objective is not None:
        return bound.times, f"the objective {bound.objective}"
    if bound.fact is not None:
        return bound.times, f"the fact {bound.fact}"
    return bound.times, f"{bound.signal}"


def _observed(asked: Observed) -> str:
    """An observation in words."""
    count = f"at most {asked.at_most}" if asked.at_most is not None else f"at least {asked.at_least or 1}"
    parts = [f"{count} observed: {asked.observed}"]
    parts += [f"of {' or '.join(asked.of)}"] if asked.of else []
    parts += [f"on a {asked.at}"] if asked.at else []
    parts += [f"against {asked.against}"] if asked.against else []
    parts += (
        [f"to the {asked.direction}"] if asked.direction in ("worse", "better") else [asked.direction] if asked.direction else []
    )
    parts += [f"by at least {asked.size:g}"] if asked.size is not None else []
    parts += [] if asked.still is None else ["that goes on" if asked.still else "that has ended"]
    parts += [f"with {key} matching {pattern}" for key, pattern in asked.where.items()]
    parts += ["anywhere in the service"] if asked.anywhere else []
    parts += [f"begun within {duration(asked.within)} before the onset"] if asked.within is not None else []
    return " ".join(parts)


def _occurrence(occurrence: Occurrence) -> str:
    """An occurrence in words."""
    count = f"at least {occurrence.at_least}" if occurrence.at_least is not None else f"at most {occurrence.at_most}"
    what = f"{occurrence.event} event{'' if occurrence.at_least == 1 else 's'}"
    parts = [count, f"{'subject' if occurrence.at_least == 1 else 'subjects'} with {what}" if occurrence.distinct else what]
    if occurrence.name:
        parts.append(f"named {' or '.join(occurrence.name)}")
    if occurrence.own is not None:
        parts.append("of the service itself" if occurrence.own else "of others")
    if occurrence.anywhere:
        parts.append("anywhere in the service")
    parts += [f"with {key} matching {pattern}" for key, pattern in occurrence.where.items()]
    if occurrence.emitter:
        parts.append(f"in a log of kind {occurrence.emitter}")
    if occurrence.within is not None:
        parts.append(f"within {duration(occurrence.within)} before the onset")
    return " ".join(parts)
