"""Search: all kinds of failure by id, title, question or signal, and all signals by name or meaning."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Key
from textual.widgets import Input

from triage.model.diagnosis import Verdict
from triage.model.vocabulary import catalogue
from triage.tui.drawn import Drawn
from triage.tui.rows import note_row, short_row
from triage.tui.screens.listing import ListScreen
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
        with Container(id="panes"):
            yield Choices(id="list")
            yield DetailPane(id="detail")

    def begin(self) -> None:
        """Typing starts at once."""
        self.query_one(Input).focus()

    def place(self) -> tuple[str, ...]:
        """Service and search."""
        return (*super().place(), "search")

    def rows(self) -> list[Row]:
        """What fits all words that were typed."""
        words = self.query_one(Input).value.lower().split()
        kinds = [question for question in self.snapshot.questions if _fits(_words_of(question), words)]
        kinds.sort(key=lambda question: _rank(question, words))
        rows = [short_row(question, self.snapshot) for question in kinds[:_MOST]]
        if words:
            rows += [_signal_row(name, told) for name, told in _signals(self.snapshot) if _fits(f"{name} {told}", words)][:_MOST]
        return rows or [note_row("nothing fits")]

    @on(Input.Changed)
    def narrow(self) -> None:
        """The list follows the typing."""
        self.query_one(Choices).fill(self.rows(), anew=True)
        self._tell()

    @on(Input.Submitted)
    def go(self) -> None:
        """Enter goes to the highlighted row."""
        self.open(self.query_one(Choices).chosen)

    def on_key(self, event: Key) -> None:
        """Arrows move in the list while the words keep the keyboard."""
        if self.query_one(Input).has_focus and event.key in {"down", "up", "pagedown", "pageup"}:
            choices = self.query_one(Choices)
            action = {"down": choices.action_cursor_down, "up": choices.action_cursor_up}.get(event.key)
            (action or (choices.action_page_down if event.key == "pagedown" else choices.action_page_up))()
            event.stop()


def _words_of(question: Question) -> str:
    """Everything that a question can be found by."""
    signals = " ".join(evidence.signal for evidence in question.evidence)
    return f"{question.rule} {question.title} {question.text} {signals} {' '.join(question.missing)} {question.layer.value}"


def _fits(told: str, words: list[str]) -> bool:
    """Whether every word occurs."""
    low = told.lower()
    return all(word in low for word in words)


def _rank(question: Question, words: list[str]) -> tuple[int, int]:
    """What is there first; of the rest those that are called by the words."""
    called = f"{question.rule} {question.title}".lower()
    return (question.verdict is not Verdict.PRESENT, not all(word in called for word in words))


def _signals(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Signals that the diagnosis knows of, with their meaning."""
    known = catalogue()
    return [(one.signal, known[one.signal].meaning) for one in snapshot.diagnosis.coverage.signals if one.signal in known]


def _signal_row(name: str, told: str) -> Row:
    def draw(width: int) -> Content:
        return hanging(text(("~ ", "window"), (f"{name}  ", "strong")), text((told, "dim")), width)

    return Row(f"signal:{name}", draw)
