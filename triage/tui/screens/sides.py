"""One signal of all subjects side by side: the cluster, its machines, replicas and cards. Enter pins one."""

from typing import ClassVar

from textual.content import Content

from triage.model.diagnosis import Evidence, Verdict
from triage.model.units import quantity
from triage.model.vocabulary import Scope, catalogue
from triage.render.reading import named
from triage.tui.details import Detail, of_subject
from triage.tui.drawn import Draw
from triage.tui.messages import PinChosen, SidesDrawn, SidesWanted
from triage.tui.places import Stop
from triage.tui.rows import note_row, title_row
from triage.tui.screens.listing import ListScreen
from triage.tui.siderows import BEYOND, rest_of, side_line, title_of
from triage.tui.sides import Scale, Side, Sides
from triage.tui.snapshot import Scene, Snapshot
from triage.tui.widgets.choices import Choices, Row
from triage.tui.words import PINNED, first_lines, hanging, labelled, lines, text


class SidesScreen(ListScreen):
    """Who is beyond what the signal is held against, and who is within.

    :param signal: of the vocabulary
    :param evidence: what the signal is held against; None: what the diagnosis holds it against
    """

    FIRST_KEYS: ClassVar[tuple[str, ...]] = ("y",)

    def __init__(self, scene: Scene, signal: str, evidence: Evidence | None = None) -> None:
        super().__init__(scene)
        self._signal = signal
        self._given = evidence
        self._sought: tuple[Snapshot, Evidence] | None = None
        self._sides: Sides | None = None
        self._is_known = False

    @property
    def is_known(self) -> bool:
        """A spare one is of no signal yet."""
        return bool(self._signal)

    def way(self) -> tuple[Stop, ...]:
        """Service and signal."""
        return self.further(f"{catalogue()[self._signal].noun} side by side", "beside", self._signal)

    def intro(self) -> Draw:
        """What is compared."""
        stat = f" ({self._sides.stat})" if self._sides is not None else ""
        meaning = catalogue()[self._signal].meaning
        pin = self.scene.pin
        told = f"All charts show {named(pin)}; Enter on it ends that." if pin else "Enter pins one: all charts then show it."

        def draw(width: int) -> Content:
            lead = text((f" {catalogue()[self._signal].noun}{stat}  ", "strong"), (f"{self._signal}  ", "dim"))
            pinned = hanging(text((f" {PINNED} ", "new")), text((told, "dim")), width)
            told_of = hanging(lead, text((meaning, "dim")), width)
            return lines(told_of if self.is_tall else first_lines(told_of, 1, width), pinned)

        return draw

    def rows(self) -> list[Row]:
        """Scales from the largest to the smallest, in each the worst first."""
        if self._sides is None:
            return [note_row("nobody has this signal" if self._is_known else "putting them side by side …")]
        found: list[Row] = []
        for scale in self._sides.scales:
            found.append(title_row(title_of(scale)))
            found += [self._row(side, scale, self._sides) for side in scale.sides]
            rest = rest_of(scale, self._sides.unit)
            found += [note_row(rest)] if rest else []
        if all(scale.scope is Scope.SERVICE for scale in self._sides.scales):
            found.append(note_row("It is measured of the whole only: nobody tells it of a replica, a card or a machine."))
        return found

    def _row(self, side: Side, scale: Scale, sides: Sides) -> Row:
        pin = self.scene.pin
        return Row(f"side:{side.subject}", lambda width: side_line(side, scale, sides, self.snapshot, width, pin), is_line=True)

    def rests_on(self) -> tuple[object, ...]:
        """And the subjects that have come."""
        return (*super().rests_on(), self._sides, self._is_known)

    def start(self) -> str:
        """The worst of the smallest scale."""
        scales = self._sides.scales if self._sides is not None else ()
        return f"side:{scales[-1].sides[0].subject}" if scales else ""

    def detail(self) -> Detail:
        """The highlighted subject with its own curve."""
        side = self._sides.side(self.query_one(Choices).chosen.partition(":")[2]) if self._sides is not None else None
        if side is None or self._sides is None:
            return Detail()
        sides, own = self._sides, of_subject(self._evidence(), side.subject)
        head: Draw = lambda width: _head(side, sides, width)  # noqa: E731 - one line says it
        return Detail(head, own, lambda width: _foot(side, width), _copies(side), compares=False)

    def refill(self) -> None:
        """Show the snapshot; its subjects come later."""
        sought = (self.snapshot, self._evidence())
        if self._sought is None or sought[0] is not self._sought[0]:
            self._sought = sought
            self.app.post_message(SidesWanted(*sought))
        super().refill()

    def show_sides(self, drawn: SidesDrawn) -> None:
        """They are there."""
        if self._sought is not None and drawn.snapshot is self._sought[0] and drawn.evidence == self._sought[1]:
            self._sides, self._is_known = drawn.sides, True
            super().refill()

    def opens(self) -> bool:
        """Whether a subject is highlighted."""
        return bool(self.query_one(Choices).chosen)

    def open(self, where: str) -> None:
        """Pin the subject."""
        if where:
            self.post_message(PinChosen(where.partition(":")[2]))

    def _evidence(self) -> Evidence:
        """What the signal is held against: as given, else the first that the diagnosis has of it."""
        if self._given is not None:
            return self._given
        told = (evidence for question in self.snapshot.questions for evidence in question.evidence)
        service = f"service/{self.snapshot.diagnosis.service}"
        bare = Evidence(signal=self._signal, subject=service, unit=catalogue()[self._signal].unit, verdict=Verdict.UNKNOWN)
        return next((one for one in told if one.signal == self._signal), bare)


def _head(side: Side, sides: Sides, width: int) -> Content:
    """Who it is, how it does, and where it belongs."""
    value = quantity(side.value, sides.unit) if side.value is not None else "unknown"
    scale = next(scale for scale in sides.scales if side in scale.sides)
    held = f", {BEYOND[side.verdict]}: {scale.rule}" if scale.rule else ""
    return hanging(
        text(""), text((named(side.subject), "strong"), f"  {catalogue()[sides.signal].noun} ({sides.stat}) {value}{held}"), width
    )


def _foot(side: Side, width: int) -> Content:
    """What it belongs to, and how to look at it by hand."""
    parts = ", ".join(named(one) for one in side.part_of)
    return lines(
        labelled("by hand", text((side.query, "command")), width, "strong") if side.query else "",
        labelled("part of", text(parts), width) if parts else "",
        labelled("id", text(side.subject), width),
    )


def _copies(side: Side) -> tuple[str, ...]:
    return (side.query,) if side.query else ()
