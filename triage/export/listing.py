"""Which rules can be exported, as far as any source may tell their signals, and why others cannot."""

from collections.abc import Iterator, Sequence

from triage.classes import dataclass
from triage.export.portable import portable, told_by
from triage.model.dialect import Dialect
from triage.model.rule import Rule

_MOST = 4
"""So many reasons are told of one rule."""


@dataclass(frozen=True)
class Listed:
    """A rule as it can be exported.

    :param ways: how many of its alternatives can
    :param of: how many it has
    :param reasons: what the others rest on
    """

    rule: str
    ways: int
    of: int
    reasons: tuple[str, ...]


def listed(rules: Sequence[Rule], dialects: Sequence[Dialect]) -> list[Listed]:
    """All rules by their ids."""
    told = told_by(tuple(dialects))
    found = []
    for rule in sorted(rules, key=lambda one: one.id):
        part = portable(rule, told)
        found.append(Listed(rule.id, len(part.rule.shows) if part.rule else 0, len(rule.shows), part.reasons))
    return found


def table(rules: Sequence[Rule], dialects: Sequence[Dialect]) -> str:
    """The same as tables in Markdown: those that can, and those that cannot."""
    every = listed(rules, dialects)
    can, cannot = [one for one in every if one.ways], [one for one in every if not one.ways]
    return "\n".join(
        [
            f"### Exported: {len(can)} of {len(every)}",
            "",
            "| rule | alternatives | the others rest on |",
            "|---|---|---|",
            *_rows(can),
            "",
            f"### Not exported: {len(cannot)}",
            "",
            "| rule | alternatives | rests on |",
            "|---|---|---|",
            *_rows(cannot),
            "",
        ]
    )


def _rows(some: Sequence[Listed]) -> Iterator[str]:
    for one in some:
        more = f" and {len(one.reasons) - _MOST} more" if len(one.reasons) > _MOST else ""
        yield f"| `{one.rule}` | {one.ways} of {one.of} | {', '.join(one.reasons[:_MOST])}{more} |"
