"""Where the data comes from: what became of each source, and each signal with whether it could be used."""

from textual.content import Content

from triage.model.diagnosis import SignalCoverage, SourceView
from triage.tui.drawn import Draw
from triage.tui.places import Stop
from triage.tui.rows import note_row, title_row
from triage.tui.screens.listing import ListScreen
from triage.tui.snapshot import Scene
from triage.tui.widgets.choices import Choices, Row
from triage.tui.words import fitted, hanging, text

_SOURCES = {"ok": ("✔", "good"), "partial": ("▲", "warn"), "failed": ("✖", "bad"), "absent": ("?", "unsure")}
_SIGNALS = {"present": ("✔", "good"), "stale": ("▲", "warn"), "missing": ("?", "unsure"), "out_of_range": ("✖", "bad")}
_ORDER = {"out_of_range": 0, "stale": 1, "present": 2, "missing": 3}

Progress = dict[str, tuple[str, float]]


class SourcesScreen(ListScreen):
    """Sources, problems of the data, and signals.

    :param progress: what each source said last, and how far it is (0 to 1)
    """

    def __init__(self, scene: Scene, progress: Progress) -> None:
        super().__init__(scene)
        self.progress = progress

    def show_activity(self, scene: Scene) -> None:
        """How far each source is."""
        super().show_activity(scene)
        self.query_one(Choices).fill(self._rows())

    def rests_on(self) -> tuple[object, ...]:
        """And how far each source is."""
        return (*super().rests_on(), *(one for one in self.progress.items() if one[1][1] < 1.0))

    def way(self) -> tuple[Stop, ...]:
        """Service and list."""
        return self.further("sources", "sources")

    def intro(self) -> Draw:
        """How the service is known."""
        signals = self.snapshot.diagnosis.coverage.signals
        usable = sum(signal.state == "present" for signal in signals)
        said = f"{usable} of {len(signals)} signals that rules ask for could be used. Highlight one to see it over time."
        return lambda width: hanging(text(" "), text((said, "dim")), width)

    def rows(self) -> list[Row]:
        """Sources, problems, signals: what is wrong with them first."""
        coverage = self.snapshot.diagnosis.coverage
        names = {source.name for source in coverage.sources}
        rows = [title_row("sources"), *(self._source(source) for source in coverage.sources)]
        rows += [_asked(name, *state) for name, state in sorted(self.progress.items()) if name not in names and state[1] < 1.0]
        if coverage.problems:
            rows += [title_row("strange about the data"), *(note_row(problem) for problem in coverage.problems)]
        signals = sorted(coverage.signals, key=lambda signal: (_ORDER[signal.state], signal.signal))
        return [*rows, title_row("signals"), *(_signal(signal) for signal in signals)]

    def _source(self, source: SourceView) -> Row:
        sign, style = _SOURCES[source.state]
        said, done = self.progress.get(source.name, ("", 1.0))
        now = f"  {said} {done:.0%}" if done < 1.0 else ""

        def draw(width: int) -> Content:
            lead = text((f"{sign} {source.state:8}", style), (f"{source.name}  ", "strong"))
            return hanging(lead, text((source.reason, "dim"), now), width)

        return Row(f"source:{source.name}", draw)


def _asked(name: str, said: str, done: float) -> Row:
    """A source that has not answered yet."""
    return Row("", lambda width: fitted(text(("… ", "dim"), f"{name}  {said} {done:.0%}"), width))


def _signal(signal: SignalCoverage) -> Row:
    sign, style = _SIGNALS[signal.state]
    words = signal.state.replace("_", " ")

    def draw(width: int) -> Content:
        return fitted(text((f"{sign} {words:13}", style), signal.signal), width)

    return Row(f"signal:{signal.signal}", draw, is_line=True)
