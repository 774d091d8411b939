"""The line in which words are typed that narrow the list above it."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class Narrowing(Input):
    """Hidden until it is asked for. Enter keeps what was typed and gives the keys back to the list, Esc shows all rows again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "All rows", show=False)]

    class Ended(Message):
        """The keys belong to the list again."""

    def __init__(self) -> None:
        super().__init__(placeholder="words that a row must hold: Enter keeps, Esc shows all rows", id="narrowing")
        self.display = False

    @property
    def words(self) -> tuple[str, ...]:
        """What was typed, in lower case."""
        return tuple(self.value.lower().split())

    def begin(self) -> None:
        """Show the line and type into it."""
        self.display = True
        self.focus()

    def clear_away(self) -> None:
        """Nothing is narrowed any more."""
        self.value = ""
        self.display = False

    def action_give_up(self) -> None:
        """Show all rows again."""
        self.clear_away()
        self.post_message(self.Ended())
