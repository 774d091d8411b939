"""The line at the top: where in the walk this is, how the service is, and as of when."""

from textual.content import Content

from triage.model.units import clock
from triage.tui.drawn import Drawn
from triage.tui.snapshot import Scene
from triage.tui.words import fitted, joined, status, text

_ROOMY = 60
"""From so many cells on there is room for the time."""


class Crumb(Drawn):
    """One line."""

    def scene(self, scene: Scene, place: tuple[str, ...]) -> None:
        """Show where the walk is.

        :param place: from the service down
        """
        self.show(lambda width: _line(scene, place, width))


def _line(scene: Scene, place: tuple[str, ...], width: int) -> Content:
    """Place at the left, state at the right; of too little room the time goes first, then the place from its begin."""
    state = status(scene.snapshot.diagnosis.status)
    if width >= _ROOMY:
        state = joined([state, text((_time(scene), "dim"))], "  ")
    room = max(width - state.cell_length - 2, 8)
    parts = [text((name, "strong" if number == len(place) - 1 else "dim")) for number, name in enumerate(place)]
    where = Content(" › ").join(parts)
    while where.cell_length > room and len(parts) > 1:
        parts = parts[1:]
        where = Content.assemble("… › ", Content(" › ").join(parts))
    return Content.assemble(fitted(where, room), "  ", state)


def _time(scene: Scene) -> str:
    """As of when, and what goes on."""
    if scene.moment is not None:
        waiting = "" if scene.snapshot.as_of == scene.moment else " …"
        return f"as of {clock(scene.moment, scene.newest.near)}{waiting}"
    kind = "live" if scene.newest.live else "recorded"
    return f"{kind} {clock(scene.newest.end, scene.newest.near)}" + (f", {scene.activity}" if scene.activity else "")
