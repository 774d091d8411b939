"""Everything that happened, in order of time: changes, restarts, Xids and log lines as they were written, over the trouble."""

from dataclasses import replace
from itertools import groupby

from textual.content import Content

from triage.model.recording import Event
from triage.model.units import clock
from triage.tui.details import Detail
from triage.tui.drawn import Draw
from triage.tui.lanes import group_of
from triage.tui.places import Stop
from triage.tui.rows import note_row
from triage.tui.screens.listing import ListScreen
from triage.tui.snapshot import Scene, Snapshot
from triage.tui.widgets.choices import Choices, Row
from triage.tui.widgets.detail import Shares
from triage.tui.words import counted, hanging, labelled, lines, text

_MOST = 400
"""Rows: nobody reads more one by one, and a filter finds the others."""

_DIGITS = dict.fromkeys(map(ord, "0123456789"))

_STYLES = {"changes": "new", "restarts": "warn", "Xids": "bad", "logs": "dim", "unread": "unsure"}


class HappenedScreen(ListScreen):
    """A row for each event; what one source says again and again, but for its numbers, is one row."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._grouped: tuple[Snapshot, list[list[Event]]] | None = None

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("events", "events")

    def intro(self) -> Draw:
        """What the list is."""
        events, rows = len(self._events()), len(self._runs())
        more = f" The {_MOST} nearest to the onset are listed." if rows > _MOST else ""
        said = f"{counted(events, 'event')}: changes, restarts, Xids, log lines.{more}"
        return lambda width: hanging(text(" "), text((said, "dim")), width)

    def rows(self) -> list[Row]:
        """Events in order of time."""
        runs = self._runs()
        if len(runs) > _MOST:
            near = self.snapshot.onset or self.snapshot.diagnosis.window.start
            nearest = sorted(range(len(runs)), key=lambda place: abs(runs[place][0].time - near))[:_MOST]
            runs = [runs[place] for place in sorted(nearest)]
        return [self._row(run) for run in runs] or [note_row("nothing is known to have happened")]

    def shares(self) -> Shares:
        """On a small screen the words on top leave room for the lanes."""
        shares = super().shares()
        return replace(shares, head=4) if self.is_narrow and self.is_short else shares

    def start(self) -> str:
        """The last change before the onset, else the first event from the onset on."""
        onset = self.snapshot.onset
        if onset is None:
            return ""
        runs = self._runs()
        before = [run for run in runs if group_of(run[0]) in ("changes", "restarts") and run[0].time <= onset]
        after = [run for run in runs if run[0].time >= onset]
        chosen = before[-1] if before else after[0] if after else None
        return _id(chosen[0]) if chosen else ""

    def detail(self) -> Detail:
        """The highlighted event as it was written, and where it lies among all."""
        chosen = self.query_one(Choices).chosen
        run = next((run for run in self._runs() if _id(run[0]) == chosen), None)
        if run is None:
            return Detail()
        return Detail(lambda width: self._told(run, width), events=tuple(run))

    def opens(self) -> bool:
        """An event leads nowhere."""
        return False

    def _events(self) -> list[Event]:
        return [event for event in self.snapshot.events if group_of(event)]

    def _runs(self) -> list[list[Event]]:
        """Events in order; neighbours that say the same, but for their numbers, as one."""
        if self._grouped is None or self._grouped[0] is not self.snapshot:
            self._grouped = self.snapshot, [list(run) for _, run in groupby(self._events(), key=_said)]
        return self._grouped[1]

    def _row(self, run: list[Event]) -> Row:
        first, near = run[0], self.snapshot.near
        times = f" ×{len(run)}" if len(run) > 1 else ""
        lead = text((f"{clock(first.time, near)} ", "dim"), (f"{group_of(first)[:-1] or 'event':8}", _STYLES[group_of(first)]))

        def draw(width: int) -> Content:
            said = Content.assemble(text((f"{times} ".lstrip(), "new")), _words_of(first))
            return Content.assemble(lead, said).truncate(max(width, 1), ellipsis=True)

        return Row(_id(first), draw, is_line=True)

    def _told(self, run: list[Event], width: int) -> Content:
        """Who said what, when, about whom."""
        first, last, near = run[0], run[-1], self.snapshot.near
        when = clock(first.time, near) + (f" to {clock(last.time, near)}, {len(run)} times" if len(run) > 1 else "")
        return lines(
            hanging(text((f"{when} UTC  ", "strong")), text(first.source or "source unknown"), width),
            labelled("kind", Content(f"{first.kind} {first.name}".strip()), width),
            labelled("of", Content(str(first.subject)), width) if first.subject is not None else "",
            labelled("text", Content(first.text), width) if first.text else "",
        )


def _said(event: Event) -> tuple[str, str, str, str]:
    """What an event says, without its numbers."""
    return event.kind, event.name, event.source, event.text.translate(_DIGITS)


def _words_of(event: Event) -> Content:
    """The line as it was written, else what kind of event it is."""
    body = event.text or f"{event.kind} {event.name}".strip()
    shown = f"{f'{event.kind} {event.name}'.strip()}: {body}" if event.kind not in ("log", "residue") and event.text else body
    return text((f"{event.source}: ", "dim"), shown) if event.source else text(shown)


def _id(event: Event) -> str:
    """What tells the row of an event from others."""
    return f"event:{event.time:.3f} {event.kind} {event.name} {event.source}"
