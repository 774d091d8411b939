"""The line at the top: where in the walk this is, how the service is, and as of when."""

from textual.content import Content

from triage.model.units import clock
from triage.tui.look import Scene
from triage.tui.widgets.drawn import Drawn
from triage.tui.words import fitted, joined, status, text


class Crumb(Drawn):
    """One line."""

    def scene(self, scene: Scene, place: tuple[str, ...]) -> None:
        """Show where the walk is.

        :param place: from the service down
        """
        self.show(lambda width: _line(scene, place, width))


def _line(scene: Scene, place: tuple[str, ...], width: int) -> Content:
    """Place at the left, state at the right; of too little room the place is cut."""
    state = joined([status(scene.look.diagnosis.status), text((_time(scene), "dim"))], "  ")
    room = max(width - state.cell_length - 2, 8)
    parts: list[Content] = []
    for number, name in enumerate(place):
        parts.append(text((name, "strong" if number == len(place) - 1 else "dim")))
    where = Content(" › ").join(parts)
    if where.cell_length > room and len(parts) > 2:
        where = Content.assemble("… › ", Content(" › ").join(parts[-2:]))
    return Content.assemble(fitted(where, room), "  ", state)


def _time(scene: Scene) -> str:
    """As of when, and what goes on."""
    if scene.moment is not None:
        waiting = "" if scene.look.as_of == scene.moment else " …"
        return f"as of {clock(scene.moment, scene.newest.near)}{waiting}"
    kind = "live" if scene.newest.live else "recorded"
    return f"{kind} {clock(scene.newest.end, scene.newest.near)}" + (f", {scene.activity}" if scene.activity else "")
