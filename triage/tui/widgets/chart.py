"""A chart with its words: what the lines are, the drawing, and the same in a sentence."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from triage.model.diagnosis import Evidence
from triage.model.units import clock, quantity
from triage.render.reading import named
from triage.tui.curves import Curve, coarse, description
from triage.tui.details import of_subject
from triage.tui.drawn import Drawn
from triage.tui.messages import CurveWanted
from triage.tui.snapshot import Snapshot
from triage.tui.widgets.plot import LEGEND, CurvePlot
from triage.tui.words import PINNED, joined, text

_LOW = 9
"""Fewer rows belong to the drawing alone: a sentence takes two, a legend one, and axes two."""


class Chart(Vertical):
    """The curve of one piece of evidence: at once from what the diagnosis kept, and again when all cells are there."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._shown: tuple[Snapshot, Evidence] | None = None
        self._pinned = ""
        self._coarse: Curve | None = None

    def compose(self) -> ComposeResult:
        """Legend, drawing, sentence."""
        yield Static(classes="legend", markup=False)
        yield CurvePlot()
        yield Drawn(classes="sentence")

    def on_resize(self, event: events.Resize) -> None:
        """Leave the sentence out where it would take the drawing's rows."""
        self.set_class(event.size.height < _LOW, "-low")

    def show(self, evidence: Evidence | None, snapshot: Snapshot, pin: str = "", *, is_framed: bool = False) -> None:
        """Show the curve of some evidence; the chart hides while there is none.

        :param pin: the subject whose curve is wanted instead, if it has the signal
        :param is_framed: all cells come in milliseconds: the few that the diagnosis kept need not be drawn before them
        """
        wanted = of_subject(evidence, pin) if evidence is not None else None
        if wanted is not None and self._shown is not None and self._shown[0] is snapshot and self._shown[1] == wanted:
            return
        self._shown = (snapshot, wanted) if wanted is not None else None
        curve = coarse(evidence, snapshot) if evidence is not None else None
        self.set_class(curve is None, "-empty")
        is_measured = wanted is not None and not wanted.signal.startswith(("event:", "fact:"))
        self._coarse = curve
        if curve is not None and not (is_framed and is_measured):
            self._draw(curve, snapshot)
        if wanted is not None and is_measured:
            self._pinned = wanted.subject if wanted is not evidence else ""
            self.app.post_message(CurveWanted(snapshot, wanted))  # what the app itself set off would not bubble up to it

    def refine(self, evidence: Evidence, snapshot: Snapshot, curve: Curve | None) -> None:
        """Show all cells, if the chart still shows that evidence; if there are none those that the diagnosis kept."""
        if self._shown is not None and self._shown[0] is snapshot and self._shown[1] == evidence:
            if curve is not None:
                self.remove_class("-empty")
                self._draw(curve, snapshot, self._pinned)
            elif self._coarse is not None:
                self._draw(self._coarse, snapshot)

    def _draw(self, curve: Curve, snapshot: Snapshot, pinned: str = "") -> None:
        self.query_one(CurvePlot).show(curve, snapshot.near)
        self.query_one(".legend", Static).update(_legend(curve, snapshot.near, pinned), layout=False)
        words = description(curve, snapshot.near)
        said = text(f"Of {named(pinned)}: {words}" if pinned else words)
        self.query_one(".sentence", Drawn).show(lambda _width: said)


def _legend(curve: Curve, near: float, pinned: str) -> Content:
    """What the lines are, and their values."""
    parts = [text(("⣀⠤⠒ ", "window"), *([(f"{PINNED} {named(pinned)}", "new")] if pinned else ["value"]))]
    if curve.threshold is not None:
        parts.append(text((f"{LEGEND['threshold']} ", "warn"), f"threshold {quantity(curve.threshold, curve.unit)}"))
    if curve.baseline is not None:
        parts.append(text((f"{LEGEND['baseline']} ", "dim"), f"baseline {quantity(curve.baseline, curve.unit)}"))
    if curve.onset is not None:
        parts.append(text((f"{LEGEND['onset']} ", "bad"), f"onset {clock(curve.onset, near)}"))
    if curve.window is not None:
        parts.append(text(f"{LEGEND['window']} window starts"))
    if curve.marks:
        parts.append(text((f"{LEGEND['change']} ", "warn"), ", ".join(mark.label for mark in curve.marks[:2])))
    return joined(parts, "  ")
