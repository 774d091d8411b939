"""The line at the foot of every screen: as many keys as fit, the most useful ones; a click does what the key does."""

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from triage.language.speaking import said
from triage.tui.keys import Foot, fitting
from triage.tui.words import STYLES


class KeyBar(Widget):
    """One line. Unlike Textual's own footer it has no widgets to mount, so that a new screen comes at once."""

    ALLOW_SELECT = False
    foot: reactive[Foot] = reactive(Foot())
    """What the keys depend on."""

    def render(self) -> Content:
        """Keys with their names."""
        parts: list[str | tuple[str, str]] = []
        for key in fitting(self.size.width, self.foot):
            parts += [(key.shown, f"{STYLES['command']} bold"), f" {said(key.name)} "]
        return Content.assemble(*parts)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the pointer does."""
        place = 0
        for key in fitting(self.size.width, self.foot):
            place += key.width
            if event.x < place:
                await self.app.run_action(key.action)
                return
