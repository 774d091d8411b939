"""What became different while a service was watched, newest first."""

from textual.content import Content

from triage.memory.life import Turn
from triage.memory.looks import is_promise, rule_of, trouble_of
from triage.memory.memory import STATE, Transition
from triage.memory.words import told
from triage.model.diagnosis import Status
from triage.model.units import clock
from triage.render.safe import inert_text
from triage.tui.details import Detail, detail_of
from triage.tui.drawn import Draw
from triage.tui.places import Stop
from triage.tui.rows import note_row
from triage.tui.screens.listing import ListScreen
from triage.tui.widgets.choices import Choices, Row
from triage.tui.words import SEVERITIES, STATUSES, hanging, text

_OVER = (Turn.CLEARED, Turn.LOST)


class HistoryScreen(ListScreen):
    """States, causes, findings and promises as they came and went."""

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("history", "history")

    def intro(self) -> Draw:
        """How it is now, and since when."""
        memory = self.snapshot.memory
        said = "What became different while the service was watched. What one look alone says is not told here."
        if memory is not None and memory.state.since:
            said = f"{memory.status.value} since {clock(memory.state.since, self.snapshot.near)}. {said}"
        return lambda width: hanging(text(" "), text((said, "dim")), width)

    def rows(self) -> list[Row]:
        """One row for each turn."""
        turns = self.snapshot.memory.turns if self.snapshot.memory is not None else ()
        rows = [_row(one, number, self.snapshot.near) for number, one in reversed(list(enumerate(turns)))]
        return rows or [note_row("nothing has become different yet")]

    def detail(self) -> Detail:
        """What is told of what a turn is about."""
        return detail_of(self._about(), self.snapshot)

    def rule(self) -> str:
        """The kind of failure that a turn is about."""
        kind, _, rule = self._about().partition(":")
        return rule if kind == "rule" else ""

    def opens(self) -> bool:
        """Whether a turn is about a place of the walk."""
        return bool(self._about())

    def open(self, where: str) -> None:
        """To what a turn is about."""
        super().open(_place(where))

    def _about(self) -> str:
        return _place(self.query_one(Choices).chosen)


def _place(row: str) -> str:
    """The place that a row leads to."""
    return row.partition(":")[2].partition(":")[2]


def _row(one: Transition, number: int, near: float) -> Row:
    """A turn: its time, a sign, what it is."""
    sign, style = _sign(one)

    def draw(width: int) -> Content:
        lead = text((f" {clock(one.time, near)} ", "dim"), (f"{sign} ", style))
        return hanging(lead, text((inert_text(told(one, near)), "strong" if one.key == STATE else "dim")), width)

    return Row(f"turn:{number}:{_leads_to(one)}", draw)


def _sign(one: Transition) -> tuple[str, str]:
    if one.key == STATE:
        return STATUSES[Status(one.now)]
    return ("✔", "good") if one.turn in _OVER else SEVERITIES[one.severity]


def _leads_to(one: Transition) -> str:
    """The place that a turn is about."""
    kind = rule_of(one.key) or (one.now if one.key == "cause" else "")
    return f"rule:{kind}" if kind else f"vital:{trouble_of(one.key)}" if is_promise(one.key) else ""
