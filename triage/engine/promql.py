"""PromQL of a signal over some seconds, as the frame's cells have it: of one subject, or of several put together."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from triage.classes import dataclass
from triage.model.recording import Origin
from triage.model.units import promql_duration
from triage.model.vocabulary import Combine, Kind

_AGGREGATE = {"sum": "sum", "mean": "avg", "max": "max", "min": "min"}
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"\\]*(?:\\.[^"\\]*)*)"')
_MEANS_SOMETHING = re.compile(r"[\\.+*?()|\[\]{}^$]")

_LONGEST = 600
"""Letters of a condition that lists subjects by name: a longer one nobody reads."""


@dataclass(frozen=True)
class Moment:
    """When a query looks.

    :param end: Unix seconds; None: the moment at which it is evaluated
    :param offset: seconds by which it looks earlier (or, if negative, later) than that moment
    """

    end: float | None = None
    offset: float = 0.0

    @property
    def text(self) -> str:
        """The modifiers that stand behind a selector."""
        at = "" if self.end is None else f" @ {moment(self.end)}"
        sign = "-" if self.offset < 0 else ""
        return at + (f" offset {sign}{promql_duration(abs(self.offset))}" if self.offset else "")


NOW = Moment()


def moment(time: float) -> str:
    """Unix seconds as PromQL writes them, to the millisecond."""
    return f"{time:.3f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Part:
    """Series of some subjects that bear the same names, and how they make one value.

    :param selectors: one for each name; of a distribution its bare name, or those of its sum and its count
    :param by: labels that tell the subjects apart, where each has to be worked out by itself first
    """

    selectors: tuple[str, ...]
    origin: Origin
    by: tuple[str, ...] = ()


def parts_of(origins: Sequence[Origin], across: Combine, kind: Kind) -> tuple[Part, ...] | None:
    """The series of some subjects' signal; None if PromQL has no way to say just these.

    :param across: how the subjects' values make one
    """
    if not origins or not all(origin.selector and origin.plain for origin in origins):
        return None
    alike: dict[tuple[object, ...], list[Origin]] = {}
    for origin in origins:
        key = (_names(origin), origin.counter, origin.scale, origin.offset, origin.combine, origin.copies, origin.flag)
        alike.setdefault(key, []).append(origin)
    parts = []
    for some in alike.values():
        merged = _merged(some)
        if merged is None:
            return None
        selectors, differing = merged
        first = some[0]
        apart = len(some) > 1 and (first.combine != across.value or first.scale < 0) and kind is not Kind.DISTRIBUTION
        if apart and not differing:
            return None
        parts.append(Part(selectors, first, differing if apart else ()))
    if len(parts) > 1 and (kind is Kind.DISTRIBUTION or any(part.origin.scale < 0 for part in parts)):
        return None
    return tuple(parts)


def _names(origin: Origin) -> tuple[str, ...]:
    return tuple(selector.partition("{")[0] for selector in (origin.selector, *origin.more))


def _merged(origins: Sequence[Origin]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Selectors that find the series of all of these, one for each name, and the labels in which they differ."""
    if len(origins) == 1:
        return (origins[0].selector, *origins[0].more), ()
    if len(origins) > _LONGEST and _are_too_many(origins):
        return None
    sets = [dict(_matchers(origin.selector)) for origin in origins]
    if len({frozenset(some) for some in sets}) > 1:
        return None
    common = {key: value for key, value in sets[0].items() if all(some[key] == value for some in sets)}
    differing = [key for key in sorted(sets[0]) if key not in common]
    if any(operator != "=" for _, operator in differing):
        return None
    listed = [(key, sorted({some[key] for some in sets})) for key in differing]
    telling = next(((key, values) for key, values in listed if len(values) == len(origins)), None)
    if telling is None and _product(listed) != len(origins):
        return None
    chosen = [telling] if telling is not None else listed
    conditions = [f'{label}{operator}"{value}"' for (label, operator), value in common.items()]
    conditions += [f'{label}=~"{"|".join(_literal(value) for value in values)}"' for (label, _), values in chosen]
    if sum(map(len, conditions)) > _LONGEST:
        return None
    inner = ",".join(sorted(conditions))
    names = _names(origins[0])
    return tuple(f"{name}{{{inner}}}" if inner else name for name in names), tuple(label for (label, _), _ in chosen)


def _are_too_many(origins: Sequence[Origin]) -> bool:
    """Whether the values of a label are too long to list: of more subjects than :data:`_LONGEST` all that differ must be."""
    values: dict[str, set[str]] = {}
    letters: dict[str, int] = {}
    for origin in origins:
        for label, _, value in _conditions(origin.selector):
            if value not in (several := values.setdefault(label, set())):
                several.add(value)
                letters[label] = letters.get(label, -1) + len(value) + 1
                if letters[label] > _LONGEST:
                    return True
    return False


def _product(listed: Sequence[tuple[tuple[str, str], list[str]]]) -> int:
    """How many combinations of values there are."""
    product = 1
    for _, values in listed:
        product *= len(values)
    return product


def shared_selector(origins: Sequence[Origin]) -> str:
    """A selector of what several series have in common; it may find others, too."""
    common = _conditions(origins[0].selector)
    for origin in origins[1:]:
        own = _conditions(origin.selector)
        common = [matcher for matcher in common if matcher in own]
    inner = ",".join(f'{label}{operator}"{value}"' for label, operator, value in common)
    name = origins[0].selector.partition("{")[0]
    return f"{name}{{{inner}}}" if inner else name


def _conditions(selector: str) -> list[tuple[str, str, str]]:
    """The conditions of a selector: label, operator, and the value as it is written. Its name is passed over: it takes most."""
    return _MATCHER.findall(selector, selector.find("{") + 1)


@lru_cache(maxsize=4096)
def _matchers(selector: str) -> tuple[tuple[tuple[str, str], str], ...]:
    """The same, label and operator together."""
    return tuple(((label, operator), value) for label, operator, value in _conditions(selector))


def _literal(escaped: str) -> str:
    """A regular expression, inside a PromQL string, that matches just this text as it stands in such a string."""
    text = escaped.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    pattern = _MEANS_SOMETHING.sub(r"\\\g<0>", text)
    return pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# Values


def together(parts: Sequence[Part], across: Combine, one: Callable[[str, Origin], str]) -> str:
    """Several subjects' series as one value.

    :param one: gives the PromQL of every series that a selector finds
    """
    pieces = [_of_part(part, across, one) for part in parts]
    if len(pieces) == 1:
        return pieces[0]
    kept = [piece if across is Combine.SUM else f"({piece})" for piece in pieces]
    if across is Combine.SUM:
        return f"({' + '.join(f'({piece} or vector(0))' for piece in kept)})"
    return f"{_AGGREGATE[across.value]}({' or '.join(kept)})"


def _of_part(part: Part, across: Combine, one: Callable[[str, Origin], str]) -> str:
    """The same of series of the same names."""
    origin = part.origin
    singles = [one(selector, origin) for selector in part.selectors]
    if origin.copies:
        singles = [f"max without ({','.join(sorted(origin.copies))}) ({single})" for single in singles]
    inner = singles[0]
    aggregate, outer = _AGGREGATE[origin.combine], _AGGREGATE[across.value]
    by = f" by ({','.join(part.by)}) " if part.by else ""
    if len(singles) > 1:
        text = " + ".join(f"({aggregate}{by}({single}) or vector(0))" for single in singles)
        text = f"({text})"
    else:
        text = f"{aggregate}{by}({inner})"
    scaled = _scaled(text, origin)
    return f"{outer}({scaled})" if part.by else scaled


def _scaled(text: str, origin: Origin) -> str:
    """A value of the source in base units."""
    if origin.scale == -1.0 and origin.offset:
        return f"({origin.offset:g} - {text})"
    text = text if origin.scale == 1.0 else f"({text} * {origin.scale:g})"
    return f"({text} + {origin.offset:g})" if origin.offset else text


def ranged(function: str, width: float, at: Moment = NOW) -> Callable[[str, Origin], str]:
    """A function over the samples of so many seconds, of each series that a selector finds."""

    def one(selector: str, origin: Origin) -> str:
        text = f"{function}({selector}[{promql_duration(width)}]{at.text})"
        return origin.flag.replace("{}", text) if origin.flag else text

    return one


def quantile(share: float, selector: str, width: float, at: Moment) -> str:
    """A quantile of a distribution over all that was observed in so many seconds."""
    name, brace, rest = selector.partition("{")
    buckets = f"{name}_bucket{brace}{rest}"
    return f"histogram_quantile({share:g}, sum by (le) (rate({buckets}[{promql_duration(width)}]{at.text})))"


def mean_observed(part: Part, width: float, at: Moment = NOW) -> str:
    """Mean of all that was observed in so many seconds."""
    sums, counts = sum_and_count(part)
    each = [f"sum(rate({selector}[{promql_duration(width)}]{at.text}))" for selector in (sums, counts)]
    return f"{each[0]} / {each[1]}"


def sum_and_count(part: Part) -> tuple[str, str]:
    """Selectors of a distribution's running sum and count."""
    if len(part.selectors) > 1:
        return part.selectors[0], part.selectors[1]
    name, brace, rest = part.selectors[0].partition("{")
    return f"{name}_sum{brace}{rest}", f"{name}_count{brace}{rest}"
