"""Small things in front of the walk: help, the name of a file, what is going on before the first snapshot."""

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from triage.tui.drawn import Drawn
from triage.tui.keys import KEYS, WALKING
from triage.tui.matching import holds
from triage.tui.words import LAYERS, SEVERITIES, VERDICTS, VITALS, hanging, heading, lines, text

_BAR = 20


class Sought(Input):
    """Words that are looked for in the help; the key that opened it is not one of them."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether a key is typed here; Textual asks for it."""
        return key != "question_mark" and super().check_consume_key(key, character)


class HelpScreen(ModalScreen[None]):
    """Keys, signs and how to read it all; what is typed narrows it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", key_display="esc"),
        Binding("question_mark", "dismiss", "Close", show=False, priority=True),
        Binding("down", "scroll(1)", "Down", show=False, priority=True),
        Binding("up", "scroll(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "scroll(12)", "Page down", show=False, priority=True),
        Binding("pageup", "scroll(-12)", "Page up", show=False, priority=True),
    ]

    def compose(self) -> ComposeResult:
        """The words that are looked for, and one text that scrolls."""
        with Vertical(id="help"):
            yield Sought(placeholder="type to narrow: time, copy, chain …   Esc closes", id="sought")
            with VerticalScroll(can_focus=False):
                yield Drawn(_help)

    def on_mount(self) -> None:
        """Typing starts at once."""
        self.query_one(Input).focus()

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Only lines in which all words stand."""
        words = tuple(event.value.lower().split())
        self.query_one(Drawn).show(lambda width: _help(width, words))

    @on(Input.Submitted)
    def close(self) -> None:
        """Enter closes."""
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """The text scrolls while the words keep the keyboard."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def _help(width: int, words: tuple[str, ...] = ()) -> Content:
    """Keys, then signs, then how to read a question: what holds all words.

    :param words: in lower case
    """
    told: list[Content] = []
    for title, given in _SECTIONS:
        kept = [line for line in given if holds(f"{title} {line[0]} {line[2]}", words)]
        told += [heading(title, width)] if kept else []
        told += [hanging(text((f"  {lead}", style)) if lead else text("  "), text(said), width) for lead, style, said in kept]
    return lines(*told) if told else text(("  nothing is called so", "dim"))


_READING = (
    "The walk goes from what users notice down the layers: platform, engine, framework, CUDA, hardware.",
    "Each layer asks questions. Each answer rests on a value, shown with what it would be were the answer the other one.",
    "'can't tell' is no 'no': something that the question needs was not measured. The list of missing things says how to get it.",
    "The cause is named, one of a few, or open. Where it is open, what is odd and unexplained (u) may be the answer.",
    "A root cause explains the other findings; the chain shows what follows from what.",
)


_SIGNS = (
    *((f"{sign} {word}", style, "what users were promised") for sign, word, style in VITALS.values()),
    *((f"{sign} {word}", style, "answer to a question") for sign, word, style in VERDICTS.values()),
    *((f"{sign} {word}", style, "state of a layer") for sign, word, style in LAYERS.values()),
    *((f"{sign} {word}", style, "severity of a finding") for word, (sign, style) in SEVERITIES.items()),
    ("△ was …", "new", "the answer was another one at the snapshot before"),
)
_SECTIONS: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    (
        "walking",
        (
            *((f"{keys:12}", "command", said) for keys, said in WALKING),
            *((f"{key.shown:12}", "command", key.meaning) for key in KEYS),
        ),
    ),
    ("signs", tuple((f"{lead:18}", style, said) for lead, style, said in _SIGNS)),
    ("how to read it", tuple(("", "dim", said) for said in _READING)),
)
"""What the help tells: lead, style, words."""


class SaveScreen(ModalScreen[str]):
    """Asks for the name of a file.

    :param path: what is proposed
    :param asked: what is written there
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "Cancel", key_display="esc")]

    def __init__(self, path: str, asked: str) -> None:
        super().__init__()
        self._path = path
        self._asked = asked

    def compose(self) -> ComposeResult:
        """One line to edit."""
        with VerticalScroll(id="save", can_focus=False):
            yield Static(f"{self._asked} (Enter writes, Esc does not):", markup=False)
            yield Input(self._path, id="path")

    @on(Input.Submitted)
    def take(self, event: Input.Submitted) -> None:
        """The name is told to whoever asked."""
        event.stop()
        self.dismiss(event.value.strip())

    def action_give_up(self) -> None:
        """Save nothing."""
        self.dismiss("")


class GatherScreen(Screen[None]):
    """What each source is doing, until there is something to show.

    :param name: the service, or what is read
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._subject = name
        self._progress: Mapping[str, tuple[str, float]] = {}
        self._is_thinking = False
        self._seconds = 0

    def compose(self) -> ComposeResult:
        """One text."""
        yield Drawn(id="gather")

    def on_mount(self) -> None:
        """Something is there from the first moment on, and it is seen to go on."""
        self._draw()
        self.set_interval(1.0, self._tick)

    def show(self, progress: Mapping[str, tuple[str, float]], *, thinking: bool) -> None:
        """Show how far the sources are.

        :param thinking: all is there, and is being diagnosed
        """
        if thinking != self._is_thinking:
            self._seconds = 0
        self._progress, self._is_thinking = dict(progress), thinking
        self._draw()

    def _tick(self) -> None:
        self._seconds += 1
        self._draw()

    def _draw(self) -> None:
        progress, subject = self._progress, self._subject
        doing = ("diagnosing" if self._is_thinking else "gathering") + (f" for {self._seconds} s" if self._seconds > 2 else "")

        def draw(width: int) -> Content:
            told = [text((subject, "strong")), *(_bar(name, *state, width) for name, state in sorted(progress.items()))]
            return lines(*told, text((f"{doing} …", "dim")))

        self.query_one(Drawn).show(draw)


def _bar(name: str, said: str, done: float, width: int) -> Content:
    """One source: a bar, a number, what it says."""
    full = round(min(max(done, 0.0), 1.0) * _BAR)
    lead = text(f"{name:14.14} ", ("█" * full, "window"), ("░" * (_BAR - full), "dim"), f" {done:4.0%}  ")
    return hanging(lead, text((said, "dim")), width)
