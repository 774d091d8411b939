"""The line at the foot of every screen: as many keys as fit, the most useful ones; a click does what the key does."""

from textual import events
from textual.content import Content
from textual.widget import Widget

from triage.tui.keys import KEYS, UP, Key
from triage.tui.words import STYLES


class KeyBar(Widget):
    """One line. Unlike Textual's own footer it has no widgets to mount, so that a new screen comes at once."""

    ALLOW_SELECT = False

    def render(self) -> Content:
        """Keys with their names."""
        parts: list[str | tuple[str, str]] = []
        for key in fitting(self.size.width):
            parts += [(key.shown, f"{STYLES['command']} bold"), f" {key.name} "]
        return Content.assemble(*parts)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the pointer does."""
        place = 0
        for key in fitting(self.size.width):
            place += _width(key)
            if event.x < place:
                await self.app.run_action(key.action)
                return


def fitting(width: int) -> list[Key]:
    """The keys that fit, the most useful ones, in the order of the table."""
    ranked = sorted((key for key in (UP, *KEYS) if key.rank is not None), key=lambda key: key.rank or 0)
    chosen: set[str] = set()
    for key in ranked:
        if sum(_width(one) for one in ranked if one.keys in chosen) + _width(key) <= width + 1:
            chosen.add(key.keys)
        else:
            break
    return [key for key in (UP, *KEYS) if key.keys in chosen]


def _width(key: Key) -> int:
    """Cells of a key with its name and a space."""
    return len(key.shown) + len(key.name) + 2
