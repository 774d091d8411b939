"""Search: all kinds of failure by id, title, question or signal, and all signals by name or meaning."""

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Key, ScreenResume, ScreenSuspend
from textual.widgets import Input

from triage.model.diagnosis import Verdict
from triage.model.vocabulary import catalogue
from triage.tui.drawn import Drawn
from triage.tui.matching import rank
from triage.tui.places import Stop
from triage.tui.rows import note_row, short_row
from triage.tui.screens.listing import ListScreen
from triage.tui.screens.walk import Panes, WalkScreen
from triage.tui.snapshot import Question, Snapshot
from triage.tui.widgets.choices import Choices, Row
from triage.tui.widgets.detail import DetailPane
from triage.tui.words import hanging, text

_MOST = 60


class SearchScreen(ListScreen):
    """What is typed narrows the list; arrows move in it, Enter goes there."""

    def body(self) -> ComposeResult:
        """The words that are looked for, and what fits them."""
        yield Input(placeholder="kind, question, signal: retry, kv.usage, evicted …", id="words")
        yield Drawn(id="intro")
        with Panes(id="panes"):
            yield Choices(id="list")
            yield DetailPane(self.shares, id="detail")

    def turn_to(self, other: WalkScreen) -> None:
        """Nothing is typed yet."""
        with self.prevent(Input.Changed):
            self.query_one("#words", Input).value = ""
        super().turn_to(other)

    def draw_ahead(self) -> None:
        """Nobody sees the cursor yet."""
        super().draw_ahead()
        self._blink(on=False)

    @on(ScreenSuspend)
    def hide_cursor(self) -> None:
        """Nobody sees the cursor: a screen that is kept has nothing to do."""
        self._blink(on=False)

    @on(ScreenResume)
    def show_cursor(self) -> None:
        """The cursor is seen again."""
        self._blink(on=True)

    def _blink(self, *, on: bool) -> None:
        for words in self.query("#words").results(Input):
            words.cursor_blink = on

    def begin(self) -> None:
        """Typing starts at once."""
        self.query_one("#words", Input).focus()

    def rests_on(self) -> tuple[object, ...]:
        """And what was typed."""
        return (*super().rests_on(), self.query_one("#words", Input).value)

    def way(self) -> tuple[Stop, ...]:
        """Service and search."""
        return self.further("search", "search")

    def rows(self) -> list[Row]:
        """What fits all words that were typed, what is called so first."""
        typed = self.query_one("#words", Input).value
        return [_row(place, self.snapshot) for place in sought(typed, self.snapshot)[:_MOST]] or [note_row("nothing fits")]

    @on(Input.Changed, "#words")
    def narrow(self) -> None:
        """The list follows the typing."""
        self.query_one(Choices).fill(self._rows(), anew=True)
        self._tell()

    @on(Input.Submitted, "#words")
    def go(self) -> None:
        """Enter goes to the highlighted row."""
        self.open(self.query_one(Choices).chosen)

    def on_key(self, event: Key) -> None:
        """Arrows move in the list while the words keep the keyboard."""
        if self.query_one("#words", Input).has_focus and event.key in {"down", "up", "pagedown", "pageup"}:
            choices = self.query_one(Choices)
            move = choices.action_page if event.key.startswith("page") else choices.action_cursor
            move(1 if event.key.endswith("down") else -1)
            event.stop()


def sought(typed: str, snapshot: Snapshot) -> list[Question | str]:
    """Questions, and names of signals, that fit what was typed: what is called exactly so first; then what is there.

    Signals are left out while nothing was typed.
    """
    known = catalogue()
    ranked: list[tuple[int, bool, Question | str]] = []
    for question in snapshot.questions:
        fit = rank(typed, (question.rule, question.title), told_of(question))
        if fit is not None:
            ranked.append((fit, question.verdict is not Verdict.PRESENT, question))
    for signal in snapshot.diagnosis.coverage.signals if typed.strip() else ():
        told = known[signal.signal].meaning if signal.signal in known else ""
        fit = rank(typed, (signal.signal,), told)
        if fit is not None and told:
            ranked.append((fit, True, signal.signal))
    return [place for _, _, place in sorted(ranked, key=lambda one: one[:2])]


def told_of(question: Question) -> str:
    """Everything that a question can be found by besides its name."""
    signals = " ".join(evidence.signal for evidence in question.evidence)
    return f"{question.text} {signals} {' '.join(question.missing)} {question.layer.value}"


def _row(place: Question | str, snapshot: Snapshot) -> Row:
    """A question, or a signal with its meaning."""
    if isinstance(place, Question):
        return short_row(place, snapshot)
    meaning = catalogue()[place].meaning

    def draw(width: int) -> Content:
        return hanging(text(("~ ", "window"), (f"{place}  ", "strong")), text((meaning, "dim")), width)

    return Row(f"signal:{place}", draw)
