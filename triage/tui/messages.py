"""What workers tell the app, and what screens ask of it."""

from typing import TYPE_CHECKING

from textual.message import Message

from triage.model.diagnosis import Evidence
from triage.model.vocabulary import Layer
from triage.tui.curves import Curve
from triage.tui.sides import Sides
from triage.tui.snapshot import Snapshot

if TYPE_CHECKING:
    from triage.tui.session import State


class Told(Message):
    """A source said how far it is.

    :param done: 0 to 1
    """

    def __init__(self, source: str, text: str, done: float) -> None:
        super().__init__()
        self.source = source
        self.text = text
        self.done = done


class Recorded(Message):
    """There is a new recording."""

    def __init__(self, state: "State") -> None:
        super().__init__()
        self.state = state


class Diagnosed(Message):
    """There is a new snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot


class CurveWanted(Message):
    """A chart would like to have all cells of its evidence."""

    def __init__(self, snapshot: Snapshot, evidence: Evidence) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.evidence = evidence


class CurveDrawn(Message):
    """All cells of a piece of evidence are there, or there are no better ones than those that the diagnosis kept."""

    def __init__(self, snapshot: Snapshot, evidence: Evidence, curve: Curve | None) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.evidence = evidence
        self.curve = curve


class SidesWanted(Message):
    """Somebody would like to see a signal over all subjects."""

    def __init__(self, snapshot: Snapshot, evidence: Evidence) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.evidence = evidence


class SidesDrawn(Message):
    """A signal over all subjects is there; None if nobody has it."""

    def __init__(self, snapshot: Snapshot, evidence: Evidence, sides: Sides | None) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.evidence = evidence
        self.sides = sides


class PinChosen(Message):
    """The person wants all charts to show one subject, or no longer that one."""

    def __init__(self, subject: str) -> None:
        super().__init__()
        self.subject = subject


class PlaceChosen(Message):
    """The person wants to go to a place by its address."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address


class LinkFollowed(Message):
    """A browser wants to be at a place, at a moment.

    :param link: what stands behind the address of the page
    """

    def __init__(self, link: str) -> None:
        super().__init__()
        self.link = link


class Arrived(Message):
    """A screen of the walk is shown.

    :param address: where it is
    :param name: what it is called
    """

    def __init__(self, address: str, name: str) -> None:
        super().__init__()
        self.address = address
        self.name = name


class MomentChosen(Message):
    """The person wants to see how it was at a moment.

    :param moment: Unix seconds; None: the end
    """

    def __init__(self, moment: float | None) -> None:
        super().__init__()
        self.moment = moment


class LayerChosen(Message):
    """The person wants to go down into a layer."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.layer = layer


class QuestionChosen(Message):
    """The person wants to see a question."""

    def __init__(self, rule: str) -> None:
        super().__init__()
        self.rule = rule


class VitalChosen(Message):
    """The person wants to see a vital sign."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class PieceChosen(Message):
    """The person wants to see one piece of evidence, or one signal, alone.

    :param owner: the place that it is evidence of; empty for a signal
    :param where: the piece: ``evidence:0``, ``signal:kv.usage``
    """

    def __init__(self, owner: str, where: str) -> None:
        super().__init__()
        self.owner = owner
        self.where = where
