"""The line at the top: where in the walk this is, how the service is, and as of when. A click on a step goes there."""

from textual import events
from textual.content import Content

from triage.model.units import clock
from triage.tui.drawn import Drawn
from triage.tui.messages import PlaceChosen
from triage.tui.places import Stop
from triage.tui.snapshot import Scene
from triage.tui.words import PINNED, fitted, joined, status, text

_ROOMY = 60
"""From so many cells on there is room for the time."""

_WIDE, _PIN = 70, 24
"""From so many cells on the pinned subject is named, in at most so many."""

_BETWEEN, _CUT = " › ", "… › "


class Crumb(Drawn):
    """One line."""

    ALLOW_SELECT = False

    def scene(self, scene: Scene, way: tuple[Stop, ...]) -> None:
        """Show where the walk is.

        :param way: from the service down
        """
        self._scene, self._way = scene, way
        self.show(lambda width: _line(scene, way, width))

    def on_click(self, event: events.Click) -> None:
        """Go to the step under the pointer."""
        left = event.get_content_offset(self)
        place = left.x if left is not None else -1
        shown = _shown(self._way, _room(self._scene, self.content_size.width))
        begin = len(_CUT) if len(shown) < len(self._way) else 0
        for step in shown:
            if begin <= place < begin + text(step.name).cell_length:
                self.post_message(PlaceChosen(step.address))
                return
            begin += text(step.name).cell_length + len(_BETWEEN)


def _line(scene: Scene, way: tuple[Stop, ...], width: int) -> Content:
    """Place at the left, state at the right; of too little room the time goes first, then the place from its begin."""
    room = _room(scene, width)
    shown = _shown(way, room)
    parts = [text((step.name, "strong" if step is way[-1] else "dim")) for step in shown]
    where = Content(_BETWEEN).join(parts)
    if len(shown) < len(way):
        where = Content.assemble(_CUT, where)
    return Content.assemble(fitted(where, room), "  ", _state(scene, width))


def _shown(way: tuple[Stop, ...], room: int) -> tuple[Stop, ...]:
    """As many steps as there is room for, the last ones."""
    for first in range(len(way)):
        cells = sum(text(step.name).cell_length for step in way[first:]) + len(_BETWEEN) * (len(way) - first - 1)
        if cells + (len(_CUT) if first else 0) <= room:
            return way[first:]
    return way[-1:]


def _room(scene: Scene, width: int) -> int:
    """Cells for the place."""
    return max(width - _state(scene, width).cell_length - 2, 8)


def _state(scene: Scene, width: int) -> Content:
    """How the service is, and as of when."""
    state = status(scene.snapshot.diagnosis.status)
    memory = scene.snapshot.memory
    if memory is not None and memory.blind_since is not None:
        state = joined([state, text((f"last seen {clock(memory.blind_since, scene.newest.near)}", "dim"))], " ")
    if width < _ROOMY:
        return state
    pin = text((f"{PINNED} {scene.pin.partition('/')[2]:.{_PIN}}", "new")) if scene.pin and width >= _WIDE else Content("")
    return joined([pin, state, text((_time(scene), "dim"))], "  ")


def _time(scene: Scene) -> str:
    """As of when, and what goes on."""
    if scene.moment is not None:
        waiting = "" if scene.snapshot.as_of == scene.moment else " …"
        return f"as of {clock(scene.moment, scene.newest.near)}{waiting}"
    kind = "live" if scene.newest.live else "recorded"
    return f"{kind} {clock(scene.newest.end, scene.newest.near)}" + (f", {scene.activity}" if scene.activity else "")
