"""How subjects side by side read: a line each, with its value and a strip of heat on the scale of all of them."""

from collections.abc import Iterator
from itertools import groupby

from textual.content import Content

from triage.model.diagnosis import Verdict
from triage.model.units import quantity
from triage.model.vocabulary import Scope
from triage.render.reading import named
from triage.render.spark import pooled
from triage.tui.sides import SCALES, Scale, Side, Sides
from triage.tui.snapshot import Snapshot
from triage.tui.words import PINNED, VERDICTS, counted, fitted, heading, lines, mark, spread, text

_NAME, _VALUE, _STRIP = 30, 14, 60
_SHORT = 5
_CARD = 12
"""Characters of a card's id that tell it from others; the details have all."""

_BLOCKS = "▁▂▃▄▅▆▇█"
BEYOND = {Verdict.PRESENT: "beyond", Verdict.ABSENT: "within", Verdict.UNKNOWN: "not judged"}
"""Words for where a subject stands."""


def title_of(scale: Scale) -> str:
    """A scale in words: how many there are, and how many of them are beyond what they are held against."""
    noun = "the whole" if scale.scope is Scope.SERVICE else counted(scale.total, _noun(scale.scope))
    if not scale.rule:
        return f"{SCALES[scale.scope]}: {noun}"
    of = noun if scale.total == 1 else f"{scale.beyond} of {noun}"
    return f"{SCALES[scale.scope]}: {of} {scale.rule}" + (f", {scale.open} unknown" if scale.open else "")


def rest_of(scale: Scale, unit: str) -> str:
    """Those that are not shown; empty if all are."""
    more = scale.total - len(scale.sides)
    if not more:
        return ""
    between = f", {quantity(scale.rest[0], unit)} to {quantity(scale.rest[1], unit)}" if scale.rest is not None else ""
    return f"and {more} more{between}"


def side_line(side: Side, scale: Scale, sides: Sides, snapshot: Snapshot, width: int, pin: str = "") -> Content:
    """One subject on one line."""
    lead = text((f"{PINNED} ", "new")) if side.subject == pin else Content("")
    value = quantity(side.value, sides.unit) if side.value is not None else "unknown"
    room = min(_NAME, width // 2) if width < 2 * _NAME + _VALUE else max(_NAME, width // 3)
    sign = Content.assemble(lead, mark(side.verdict, snapshot, BEYOND) if scale.rule else "  ")
    name = Content.assemble(sign, _called(side, room - sign.cell_length))
    left = Content.assemble(fitted(name, room), " ", text((value, VERDICTS[side.verdict][2])))
    left = fitted(left, max(room + _VALUE, left.cell_length))
    return spread(left, _strip(side, scale, snapshot, min(_STRIP, width - left.cell_length - 2)), width)


def waiting(total: int) -> Content:
    """The room of the worst few, while they are put side by side: what stands around it does not move when they come.

    :param total: how many there are at the smallest scale
    """
    return Content("\n".join(["  putting them side by side …", *[" "] * min(total, _SHORT + 1)]))


def in_short(sides: Sides, snapshot: Snapshot, width: int) -> Content:
    """The worst few at the smallest scale; nothing where there is only one."""
    scale = sides.scales[-1]
    if scale.total < 2:
        return Content("")
    shown = [side_line(side, scale, sides, snapshot, width) for side in scale.sides[:_SHORT]]
    more = scale.total - len(shown)
    rest = [text((f"  and {more} more: b shows all scales", "dim"))] if more else []
    return lines(heading(title_of(scale), width), *shown, *rest)


def _noun(scope: Scope) -> str:
    """What a person calls a subject of a scope."""
    return "GPU" if scope is Scope.GPU else scope.value


def _called(side: Side, room: int) -> Content:
    """Its name, and for a card the machine that it is in; of a long name the end, in which names differ."""
    name = named(side.subject)
    if name.startswith("GPU-"):
        name = name[:_CARD]
    machine = next((one.partition("/")[2] for one in side.part_of if one.startswith("node/")), "")
    on = f" on {machine}" if machine and side.subject.startswith("gpu/") else ""
    whole = name + on
    return Content(whole if len(whole) <= room else f"…{whole[-max(room - 1, 1) :]}")


def _strip(side: Side, scale: Scale, snapshot: Snapshot, width: int) -> Content:
    """The values as blocks on one scale for all; what is beyond the bound has its colour, too."""
    if side.spark is None or snapshot.spoken or width < 6:
        return Content("")
    low, high = scale.extent
    bins = min(width, len(side.spark.values))
    begin = side.spark.window * bins // len(side.spark.values)
    inside = "bad" if side.verdict is Verdict.PRESENT else "window"

    def block(value: float) -> str:
        level = int((value - low) / (high - low) * len(_BLOCKS)) if high > low else 0
        return _BLOCKS[min(max(level, 0), len(_BLOCKS) - 1)]

    drawn = [None if value is None else block(value) for value in pooled(side.spark.values, bins)]
    halves = ((drawn[:begin], "before"), (drawn[begin:], inside))
    return text(*(run for half, style in halves for run in _gapped(half, style)))


def _gapped(drawn: list[str | None], style: str) -> Iterator[tuple[str, str]]:
    """Blocks in one style, and dots where nothing is known in another."""
    for known, run in groupby(drawn, key=lambda block: block is not None):
        yield ("".join(block or "·" for block in run), style if known else "gap")
