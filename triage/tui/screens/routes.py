"""Screens by the parts of their addresses."""

from collections.abc import Callable

from triage.model.vocabulary import Layer, catalogue
from triage.tui.places import is_piece
from triage.tui.screens.happened import HappenedScreen
from triage.tui.screens.history import HistoryScreen
from triage.tui.screens.layer import LayerScreen
from triage.tui.screens.overview import ChainScreen, MissingScreen, OddScreen, WhyNotScreen
from triage.tui.screens.question import PieceScreen, QuestionScreen, VitalScreen
from triage.tui.screens.search import SearchScreen
from triage.tui.screens.sides import SidesScreen
from triage.tui.screens.sources import SourcesScreen
from triage.tui.screens.walk import WalkScreen
from triage.tui.snapshot import Scene

LISTS: dict[str, Callable[[Scene], WalkScreen]] = {
    "why-not": WhyNotScreen,
    "missing": MissingScreen,
    "odd": OddScreen,
    "chain": ChainScreen,
    "search": SearchScreen,
    "events": HappenedScreen,
    "history": HistoryScreen,
}

SPARES: tuple[Callable[[Scene], WalkScreen], ...] = (
    lambda scene: QuestionScreen(scene, scene.snapshot.first_finding.rule if scene.snapshot.first_finding is not None else ""),
    lambda scene: LayerScreen(
        scene, scene.snapshot.first_finding.layer if scene.snapshot.first_finding is not None else Layer.ENGINE
    ),
    lambda scene: PieceScreen(scene, "", ""),
    lambda scene: SidesScreen(scene, ""),
    lambda scene: VitalScreen(scene, ""),
    WhyNotScreen,
    MissingScreen,
    OddScreen,
    ChainScreen,
    SearchScreen,
    HappenedScreen,
    lambda scene: SourcesScreen(scene, {}),
)
"""A screen of each kind that the walk leads to, the likely ones first; the place of each is still to be said."""


def screen_at(parts: tuple[str, ...], scene: Scene) -> WalkScreen | None:
    """The screen of a place; None if there is no such place."""
    match parts:
        case ("layer", name) if name in set(Layer):
            return LayerScreen(scene, Layer(name))
        case ("finding", rule):
            return QuestionScreen(scene, rule)
        case ("vital", name):
            return VitalScreen(scene, name)
        case ("beside", signal) if signal in catalogue():
            return SidesScreen(scene, signal)
        case (name,) if name in LISTS:
            return LISTS[name](scene)
    return _piece_at(parts, scene)


def _piece_at(parts: tuple[str, ...], scene: Scene) -> WalkScreen | None:
    """The screen of one piece of evidence, or of a signal alone."""
    match parts:
        case ("finding", rule, piece) if is_piece(piece):
            return PieceScreen(scene, f"rule:{rule}", piece)
        case ("vital", name, piece) if is_piece(piece):
            return PieceScreen(scene, f"vital:{name}", piece)
        case (piece,) if is_piece(piece):
            return PieceScreen(scene, "", piece)
    return None
