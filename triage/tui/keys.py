"""The keys of the walk: one table for the bindings, the foot of the screen, the help and the command palette."""

from rich.cells import cell_len
from textual.binding import Binding

from triage.classes import dataclass
from triage.language.speaking import said


@dataclass(frozen=True)
class Key:
    """One key.

    :param keys: as Textual writes them
    :param shown: as a person reads them
    :param action: of the app
    :param name: at the foot of the screen
    :param rank: which names stay at the foot of a narrow screen: the lowest; None: never there
    :param meaning: in the help and in the command palette
    """

    keys: str
    shown: str
    action: str
    name: str
    rank: int | None
    meaning: str

    @property
    def width(self) -> int:
        """Cells at the foot: the key, its name, and a space after each."""
        return cell_len(self.shown) + cell_len(said(self.name)) + 2


KEYS = (
    Key("n", "n", "next_finding(1)", "Next", 1, "next finding, in order of rank"),
    Key("N", "N", "next_finding(-1)", "", None, "previous finding"),
    Key("w", "w", "why_not", "Why not", 2, "what was ruled out, and by which values"),
    Key("m", "m", "missing", "Missing", 3, "what could not be evaluated, and how to get what is missing"),
    Key("u", "u", "odd", "Odd", 4, "what is odd and unexplained, and log lines that nothing understands"),
    Key("c", "c", "chain", "Chain", 5, "what follows from what: the causal chain"),
    Key("p", "p", "playbook", "Playbook", 6, "what to do about the finding on the screen"),
    Key("left_square_bracket", "[", "step(-1)", "Time", 9, "a step back in time: verdicts as of then"),
    Key("right_square_bracket", "]", "step(1)", "", None, "a step forward in time"),
    Key("left_curly_bracket", "{", "jump(-1)", "Before", 14, "back to the moment before: a change, an onset, the window's start"),
    Key("right_curly_bracket", "}", "jump(1)", "After", 15, "forward to the next such moment"),
    Key("equals_sign", "=", "now", "End", 13, "to the end of the recording, or to now"),
    Key(
        "space",
        "space",
        "pause",
        "Pause",
        None,
        "while a service is watched: the screens stand still, looks go on; again: follow",
    ),
    Key(
        "r",
        "r",
        "look_now",
        "Look",
        None,
        "while a service is watched: look now, and show what has come while the screens stood still",
    ),
    Key("H", "H", "history", "History", None, "while a service is watched: what became different, newest first"),
    Key("slash", "/", "search", "Find", 7, "search kinds of failure, questions and signals"),
    Key("f", "f", "filter", "Filter", 10, "only those rows of the list in which some words stand"),
    Key("o", "o", "sources", "Sources", 11, "sources and signals: where the data comes from"),
    Key(
        "v",
        "v",
        "events",
        "Events",
        9,
        "what happened: changes, restarts, Xids, log lines as written, over the trouble",
    ),
    Key(
        "b", "b", "beside", "Beside", 10, "the highlighted signal of each replica, card and machine side by side; Enter pins one"
    ),
    Key("y", "y", "copy", "Copy", 10, "copy the command that checks it by hand; copies are printed again at the end"),
    Key("Y", "Y", "copy_finding", "Finding", 11, "copy the finding as Markdown, for a channel or a ticket"),
    Key("e", "e", "export", "Export", 12, "export the report: HTML, Markdown, JSON or text, by the end of the name"),
    Key("s", "s", "save", "Save", 12, "save the recording, to be replayed or sent to someone"),
    Key("z", "z", "zoom", "Zoom", 17, "the pane that has the keys on the whole screen; again: all panes"),
    Key("less_than_sign", "<", "split(-1)", "", None, "less room for the list, more for what is told beside or below it"),
    Key("greater_than_sign", ">", "split(1)", "Split", 18, "more room for the list"),
    Key("L", "L", "learn", "Learn", 20, "lessons and drills on recorded incidents"),
    Key("T", "T", "theme", "Theme", 19, "dark or light; it is remembered"),
    Key("t", "t", "words", "Words", 16, "words instead of signs and curves, for screen readers; again for curves"),
    Key("question_mark", "?", "help", "Help", 0, "these keys"),
    Key("q", "q", "quit", "Quit", 8, "leave; so does Ctrl+C"),
)

WALKING = (
    ("Enter, →, l", "down: into what is highlighted"),
    ("Esc, ←, h", "up"),
    ("↑ ↓, k j", "move; Home, End, PgUp, PgDn as usual"),
    ("Tab", "to the next pane: the arrows move there"),
    ("Shift+↑ ↓", "move in the other pane, without leaving this one"),
    ("Ctrl+P", "command palette: everything by name, and the colours"),
)
"""Keys of the lists, for the help."""

UP = Key("escape", "esc", "up", "Up", 0, "up")
OPEN = Key("enter", "⏎", "open", "Open", 0, "down: into what is highlighted")


@dataclass(frozen=True)
class Foot:
    """What the keys at the foot of a screen depend on.

    :param up: whether there is something to go up to
    :param opens: whether Enter leads somewhere
    :param first: shown forms of the keys that matter most here
    """

    up: bool = True
    opens: bool = False
    first: tuple[str, ...] = ()


def fitting(width: int, foot: Foot) -> list[Key]:
    """The keys that fit, the most useful ones, in the order of the table; those that do nothing here are left out."""
    table = (*([UP] if foot.up else []), *([OPEN] if foot.opens else []), *KEYS)
    named = [key for key in table if key.rank is not None]
    named.sort(key=lambda key: (key.rank != 0, key.shown not in foot.first, key.rank))
    chosen: set[str] = set()
    for key in named:
        if sum(key.width for key in named if key.keys in chosen) + key.width > width + 1:
            break
        chosen.add(key.keys)
    return [key for key in table if key.keys in chosen]


def bindings() -> list[Binding]:
    """The table as Textual wants it."""
    shown = [Binding(key.keys, key.action, key.name or key.meaning, show=False, key_display=key.shown) for key in KEYS]
    return [*shown, Binding("ctrl+c", "quit", "Quit", show=False, priority=True, system=True)]
