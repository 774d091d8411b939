"""The command palette: every key by what it does, every kind of failure, every signal; what is called so comes first."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.message import Message

from triage.classes import dataclass
from triage.model.vocabulary import catalogue
from triage.tui.keys import KEYS
from triage.tui.matching import rank
from triage.tui.messages import PieceChosen, QuestionChosen
from triage.tui.screens.search import told_of

if TYPE_CHECKING:
    from triage.tui.app import WalkApp

_MOST = 60
_TEXTUAL = {"Theme", "Screenshot"}
"""What is taken of Textual's own commands."""


@dataclass(frozen=True)
class Offer:
    """Something that can be chosen.

    :param title: as it is shown
    :param names: what it is called
    :param told: what else it can be found by
    :param note: below the title
    """

    title: str
    names: tuple[str, ...]
    told: str
    note: str
    call: Callable[[], object]


class WalkCommands(Provider):
    """What the palette offers."""

    async def discover(self) -> Hits:
        """All keys, and what Textual itself offers."""
        for offer in self._commands():
            yield DiscoveryHit(offer.title, offer.call, help=offer.note)

    async def search(self, query: str) -> Hits:
        """What fits, the better the earlier."""
        ranked = [(fit, offer) for offer in self._offers() if (fit := rank(query, offer.names, offer.told)) is not None]
        ranked.sort(key=lambda one: one[0])
        for place, (_, offer) in enumerate(ranked[:_MOST]):
            yield Hit(1.0 - place / (_MOST + 1), Content(offer.title), offer.call, help=offer.note)

    def _offers(self) -> Iterator[Offer]:
        """Everything there is, in the order that equal fits keep."""
        yield from self._commands()
        scene = cast("WalkApp", self.app).scene
        if scene is None:
            return
        for one in scene.snapshot.questions:
            call = self._posting(QuestionChosen(one.rule))
            yield Offer(one.title, (one.rule, one.title), told_of(one), f"{one.rule}: {one.text}", call)
        known = catalogue()
        for signal in scene.snapshot.diagnosis.coverage.signals:
            if signal.signal in known:
                meaning = known[signal.signal].meaning
                yield Offer(
                    signal.signal,
                    (signal.signal,),
                    meaning,
                    f"signal over time: {meaning}",
                    self._posting(PieceChosen("", f"signal:{signal.signal}")),
                )

    def _commands(self) -> Iterator[Offer]:
        """Keys by what they do, and what Textual offers."""
        for key in KEYS:
            title = key.meaning[0].upper() + key.meaning[1:]
            yield Offer(title, (key.name, key.meaning), key.shown, f"key {key.shown}", partial(self.app.run_action, key.action))
        for command in self.app.get_system_commands(self.screen):
            if command.title in _TEXTUAL:
                yield Offer(command.title, (command.title,), command.help, command.help, command.callback)

    def _posting(self, message: Message) -> Callable[[], object]:
        """Asks the app to go somewhere."""
        return partial(self.app.post_message, message)
