"""The keys of the walk: one table for the bindings, the foot of the screen, the help and the command palette."""

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True)
class Key:
    """One key.

    :param keys: as Textual writes them, the main one first
    :param shown: as a person reads the main one
    :param action: of the app
    :param name: in the foot of the screen; empty if it is not shown there
    :param told: in the help and in the command palette
    """

    keys: str
    shown: str
    action: str
    name: str
    told: str


KEYS = (
    Key("n", "n", "next_finding(1)", "Next", "next finding, in order of rank"),
    Key("N", "N", "next_finding(-1)", "", "previous finding"),
    Key("w", "w", "why_not", "Why not", "what was ruled out, and by which values"),
    Key("m", "m", "missing", "Missing", "what could not be evaluated, and how to get what is missing"),
    Key("c", "c", "chain", "Chain", "what follows from what: the causal chain"),
    Key("p", "p", "playbook", "Playbook", "what to do about the finding on the screen"),
    Key("left_square_bracket", "[", "step(-1)", "Time", "a step back in time: verdicts as of then"),
    Key("right_square_bracket", "]", "step(1)", "", "a step forward in time"),
    Key("left_curly_bracket", "{", "jump(-1)", "", "back to the moment before: a change, an onset, the window's start"),
    Key("right_curly_bracket", "}", "jump(1)", "", "forward to the next such moment"),
    Key("equals_sign", "=", "now", "", "to the end of the recording, or to now"),
    Key("slash", "/", "search", "Find", "search kinds of failure, questions and signals"),
    Key("o", "o", "sources", "", "sources and signals: where the data comes from"),
    Key("y", "y", "copy", "", "copy the command that checks it by hand; copies are printed again at the end"),
    Key("s", "s", "save", "", "save the recording, to be replayed or sent to someone"),
    Key("t", "t", "words", "", "charts as sentences, for screen readers; again for charts"),
    Key("question_mark", "?", "help", "Help", "these keys"),
    Key("q", "q", "quit", "Quit", "leave"),
)

WALKING = (
    ("Enter, →, l", "down: into what is highlighted"),
    ("Esc, ←, h", "up"),
    ("↑ ↓, k j", "move; Home, End, PgUp, PgDn as usual"),
)
"""Keys of the lists, for the help."""


def bindings() -> list[Binding]:
    """The table as Textual wants it."""
    return [Binding(key.keys, key.action, key.name or key.told, show=bool(key.name), key_display=key.shown) for key in KEYS]
