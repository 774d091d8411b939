"""A chart with its words: what the lines are, the drawing, and the same in a sentence."""

from textual.content import Content

from triage.model.diagnosis import Evidence
from triage.model.units import clock, quantity
from triage.render.reading import named
from triage.tui.curves import Curve, coarse, description
from triage.tui.details import of_subject
from triage.tui.messages import CurveWanted
from triage.tui.snapshot import Snapshot
from triage.tui.widgets.plot import LEGEND, Drawing, Inks
from triage.tui.words import PINNED, joined, text


class Chart:
    """The curve of one piece of evidence: at once from what the diagnosis kept, and again when all cells are there."""

    def __init__(self) -> None:
        self._asked: tuple[Snapshot, Evidence] | None = None
        self._pinned = ""
        self._coarse: Curve | None = None
        self._shown: tuple[Curve, float, str] | None = None
        self._drawing = Drawing()
        self.is_empty = True
        self.is_awaited = False
        """Whether what is shown is another curve, as all cells of the one that is wanted come in milliseconds."""

    def show(
        self, evidence: Evidence | None, snapshot: Snapshot, pin: str = "", *, is_framed: bool = False
    ) -> CurveWanted | None:
        """Show the curve of some evidence; the chart is empty while there is none. Gives what is to be asked for: all cells.

        :param pin: the subject whose curve is wanted instead, if it has the signal
        :param is_framed: all cells come in milliseconds: the few that the diagnosis kept need not be drawn before them
        """
        wanted = of_subject(evidence, pin) if evidence is not None else None
        if wanted is not None and self._asked is not None and self._asked[0] is snapshot and self._asked[1] == wanted:
            return None
        self._asked = (snapshot, wanted) if wanted is not None else None
        self._coarse = coarse(evidence, snapshot) if evidence is not None else None
        self.is_empty = self._coarse is None
        is_measured = wanted is not None and not wanted.signal.startswith(("event:", "fact:"))
        self.is_awaited = is_framed and is_measured
        if self._coarse is not None and not self.is_awaited:
            self._shown = (self._coarse, snapshot.near, "")
        if wanted is None or not is_measured:
            return None
        self._pinned = wanted.subject if wanted is not evidence else ""
        return CurveWanted(snapshot, wanted)

    def refine(self, evidence: Evidence, snapshot: Snapshot, curve: Curve | None) -> None:
        """Show all cells, if the chart still shows that evidence; if there are none those that the diagnosis kept."""
        if self._asked is None or self._asked[0] is not snapshot or self._asked[1] != evidence:
            return
        self.is_awaited = False
        if curve is not None:
            self.is_empty = False
            self._shown = (curve, snapshot.near, self._pinned)
        elif self._coarse is not None:
            self._shown = (self._coarse, snapshot.near, "")

    def legend(self, width: int) -> Content:
        """What the lines are, on one line."""
        return _legend(*self._shown).truncate(width, ellipsis=True) if self._shown is not None else Content("")

    def drawing(self, width: int, height: int, inks: Inks) -> Content:
        """The curve itself."""
        return self._drawing.of(self._shown[0], self._shown[1], width, height, inks) if self._shown is not None else Content("")

    def sentence(self) -> Content:
        """The same in words."""
        if self._shown is None:
            return Content("")
        curve, near, pinned = self._shown
        words = description(curve, near)
        return text(f"Of {named(pinned)}: {words}" if pinned else words)


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
