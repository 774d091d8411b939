"""What all screens of the walk have: a line on top, a body, the time, and the keys."""

from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import ScreenResume
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from triage.tui.details import Detail
from triage.tui.drawn import Steady
from triage.tui.keys import Foot
from triage.tui.messages import Arrived, CurveDrawn, SidesDrawn
from triage.tui.places import Stop, joined
from triage.tui.remembered import Layout
from triage.tui.snapshot import Scene, Snapshot
from triage.tui.widgets.choices import Choices
from triage.tui.widgets.crumb import Crumb
from triage.tui.widgets.detail import DetailPane, Shares
from triage.tui.widgets.keybar import KeyBar
from triage.tui.widgets.narrowing import Narrowing
from triage.tui.widgets.ribbon import Ribbon
from triage.tui.widgets.timeline import Timeline

_WIDE, _TALL = 150, 36
BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")], [(0, "-short"), (_TALL, "-tall")]
"""Classes of a screen by its columns and by its rows: wide ones show things side by side, tall ones what is only nice to have."""

_ZOOMS: dict[type[Widget], str] = {Choices: "-zoom-list", DetailPane: "-zoom-detail"}
"""Class of a screen on which a pane stands alone."""


class Panes(Steady, Container):
    """The list, and what is told of its rows: beside it, or below."""

    BLANK = True


class WalkScreen(Screen[None]):
    """One screen of the walk. It keeps no state of the diagnosis but the scene that it was given last.

    :param scene: what to show
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.up", "Up", show=False),
        Binding("left,h,backspace", "app.up", "Up", show=False),
        Binding("tab", "pane(1)", "Next pane", show=False),
        Binding("shift+tab", "pane(-1)", "Pane before", show=False),
        Binding("shift+down", "beside(1)", "Down beside", show=False),
        Binding("shift+up", "beside(-1)", "Up beside", show=False),
    ]
    BLANK = True  # what no widget covers has no lines of its own to draw

    IS_TOP: ClassVar[bool] = False
    """Whether nothing is above it."""

    FIRST_KEYS: ClassVar[tuple[str, ...]] = ()
    """Keys that matter most here; they are named at the foot before others."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._textual = {*vars(self), "_textual", "_dressed", "_drawn", "_shared", "is_spare"}
        self._shared: tuple[int | None, int | None] = (None, None)
        self._dressed: tuple[str, frozenset[str]] | None = None
        self.is_spare = False
        """Whether it is mounted before anybody goes to it, and has nothing to show yet."""
        self.scene = scene
        self._shown_last: Scene | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that is shown."""
        return self.scene.snapshot

    @property
    def is_tall(self) -> bool:
        """Whether there is room for what is only nice to have."""
        return self.app.size.height >= _TALL

    def compose(self) -> ComposeResult:
        """The frame, with the screen's own body in it."""
        self._fit()
        self._dressed = self._dress
        yield Crumb()
        yield from self.body()
        yield Narrowing()
        yield Timeline()
        yield Ribbon()
        yield KeyBar()

    def _fit(self) -> None:
        """Take the classes of the size at once: Textual sets them after the first layout, which would have to be done again."""
        for breakpoints, size in zip(BREAKPOINTS, self.app.size, strict=True):
            fitting = [name for least, name in breakpoints if size >= least][-1:]
            for _, name in breakpoints:
                self.set_class(name in fitting, name)

    def body(self) -> ComposeResult:
        """What is between the line on top and the time."""
        yield from ()

    def way(self) -> tuple[Stop, ...]:
        """Where in the walk this is, from the service down; the last step is this screen."""
        return (Stop(self.snapshot.diagnosis.service, ""),)

    def further(self, name: str, *address: str) -> tuple[Stop, ...]:
        """The way to a place right below the top of the walk."""
        return (Stop(self.snapshot.diagnosis.service, ""), Stop(name, joined(*address)))

    @property
    def address(self) -> str:
        """Where this screen is."""
        return self.way()[-1].address

    def on_mount(self) -> None:
        """Show the scene that the screen was made with."""
        if not self.is_spare:
            self._arrive()

    def _arrive(self) -> None:
        """Show the scene for the first time."""
        self.show(self.scene)
        self.lay_out(self.scene.layout)
        self.begin()

    def turn_to(self, other: "WalkScreen") -> None:
        """Show another place of the same kind, as if the screen were new; to mount a new one takes five times as long.

        :param other: the screen of that place, which is not mounted
        """
        is_told = self is self.app.screen and self.address == other.address and self._tells(other.scene)
        for name in vars(other).keys() - self._textual:
            setattr(self, name, getattr(other, name))
        self.is_spare = False
        self._fit()
        self._zoom("")
        self.query_one(Narrowing).clear_away()
        for choices in self.query(Choices):
            choices.forget()
        for detail in () if is_told else self.query(DetailPane):
            detail.forget()
        self._arrive()

    def _tells(self, scene: Scene) -> bool:
        """Whether the screen says what it would say of a scene."""
        return self._shown_last is not None and scene.tells_as(self._shown_last)

    def get_ready(self) -> None:
        """Lay a spare screen out before anybody goes to it, if the walk is not being left meanwhile."""
        if self.is_whole:
            self.lay_out(self.scene.layout)
            self._refresh_layout(self.app.size)
            self.draw_ahead()

    def draw_ahead(self) -> None:
        """Draw what is known already of a spare screen."""

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Lay out and draw. What Textual would draw once more right after it, as all is to be drawn anew, is drawn with it."""
        if self._repaint_required:
            self._repaint_required = False
            self._dirty_widgets.add(self)
            self._draw_all()
        super()._refresh_layout(size, scroll)

    def _on_timer_update(self) -> None:
        """Draw what has changed."""
        if self._repaint_required and not self._layout_required:
            self._draw_all()
        super()._on_timer_update()

    def _draw_all(self) -> None:
        """Where all is drawn, no widget has to be drawn once more for what it has asked for before."""
        for widget in self.walk_children(Widget):
            widget._exchange_repaint_regions()  # noqa: SLF001 - asks what is to be drawn, and forgets it

    @property
    def _dress(self) -> tuple[str, frozenset[str]]:
        """What styles depend on that changes while a screen is not on top."""
        return self.app.theme, self.app.classes

    def on_screen_resume(self, event: ScreenResume) -> None:
        """On top again: Textual would match all styles anew, as long as a picture takes, also where nothing has changed."""
        event.refresh_styles = self._dressed != self._dress
        self._dressed = self._dress
        self._fit()

    @property
    def is_whole(self) -> bool:
        """Whether its frame is there: not before it is mounted, nor while it is being taken away."""
        return self.is_mounted and bool(self.query(KeyBar))

    def begin(self) -> None:
        """Give the keys to the widget that wants them first."""

    def show(self, scene: Scene) -> None:
        """Show another scene, keeping the place on the screen."""
        self.scene = scene
        self.query_one(Crumb).scene(scene, self.way())
        self.query_one(Timeline).show(scene.newest, scene.moment)
        self.query_one(Ribbon).show(scene.newest)
        if not self._tells(scene):
            self._shown_last = scene
            self.refill()
        self.app.post_message(Arrived(self.address, self.way()[-1].name))

    def show_activity(self, scene: Scene) -> None:
        """Show what goes on, and nothing else."""
        self.query_one(Crumb).scene(scene, self.way())

    def refill(self) -> None:
        """Show the snapshot in the screen's own widgets."""

    def opens(self) -> bool:
        """Whether Enter leads somewhere."""
        return False

    def open_chosen(self) -> None:
        """Go where Enter leads."""

    def show_keys(self) -> None:
        """Show the keys that do something here."""
        self.query_one(KeyBar).foot = Foot(not self.IS_TOP, self.opens(), self.FIRST_KEYS)

    # Panes

    def panes(self) -> list[Widget]:
        """What can have the keys, from the top down."""
        return [
            pane for pane in self.query("#words, Choices, DetailPane, #narrowing") if pane.display or not self._is_aside(pane)
        ]

    @staticmethod
    def _is_aside(pane: Widget) -> bool:
        """Whether a pane that is not shown should stay so: words are not typed into a line that nobody asked for."""
        return isinstance(pane, Narrowing)

    def action_pane(self, step: int) -> None:
        """Give the keys to another pane; one for which there is no room gets the whole screen."""
        panes = self.panes()
        if not panes:
            return
        here = next((place for place, pane in enumerate(panes) if pane.has_focus), -step)
        self._zoom("")
        there = panes[(here + step) % len(panes)]
        if not there.display:
            self._zoom(_ZOOMS[type(there)])
        there.focus()

    def action_beside(self, lines: int) -> None:
        """Move in the pane that has not the keys."""
        details = [pane for pane in self.query(DetailPane) if not pane.has_focus]
        for detail in details:
            detail.action_scroll_words(lines)
        for choices in () if details else self.query(Choices):
            if lines > 0:
                choices.action_cursor(1)
            else:
                choices.action_cursor(-1)

    def zoom(self) -> None:
        """The pane that has the keys gets the whole screen, or gives it back."""
        kind = next((_ZOOMS[type(pane)] for pane in self.query("Choices, DetailPane") if pane.has_focus), _ZOOMS[Choices])
        self._zoom("" if self.has_class(kind) else kind)

    def _zoom(self, kind: str) -> None:
        """One pane alone, or with an empty word all."""
        for one in _ZOOMS.values():
            self.set_class(one == kind, one)

    def lay_out(self, layout: Layout) -> None:
        """Share the room between the list and what is told of its rows."""
        self.scene = replace(self.scene, layout=layout)
        if not self.query(Choices) or not self.query(DetailPane):
            return
        choices, detail = self.query_one(Choices), self.query_one(DetailPane)
        across = layout.columns if self.has_class("-wide") else None
        is_whole = self.IS_TOP and self.has_class("-short")  # the five layers stay on the screen
        down = layout.rows if not self.has_class("-wide") and detail.display and not is_whole else None
        if (across, down) == self._shared:
            return
        self._shared = (across, down)
        choices.styles.width = f"{across}fr" if across else None
        detail.styles.width = f"{100 - across}fr" if across else None
        choices.styles.height = choices.styles.max_height = f"{down}%" if down else None

    def on_resize(self) -> None:
        """Columns are shared in another way than rows; which there are is known after the classes have changed."""
        if self.is_whole:
            self.call_after_refresh(self._lay_out_again)

    def _lay_out_again(self) -> None:
        if self.is_whole:
            self.lay_out(self.scene.layout)

    # A filter

    def narrow(self) -> None:
        """Type words that rows must hold."""
        if self.query(Choices):
            self.query_one(Narrowing).begin()

    def widen(self) -> bool:
        """Show all rows again; whether some were left out."""
        line = self.query_one(Narrowing)
        was_open = line.display
        line.clear_away()
        return was_open

    @on(Input.Changed, "#narrowing")
    def leave_out(self, event: Input.Changed) -> None:
        """The list follows the typing."""
        event.stop()
        self.query_one(Choices).narrow(self.query_one(Narrowing).words)

    @on(Input.Submitted, "#narrowing")
    @on(Narrowing.Ended)
    def back_to_list(self, event: Input.Submitted | Narrowing.Ended) -> None:
        """The list has the keys again; without words nothing is left out."""
        event.stop()
        line = self.query_one(Narrowing)
        if not line.words:
            line.clear_away()
        self.query_one(Choices).focus()

    def detail(self) -> Detail:
        """What is told of the thing that is highlighted."""
        return Detail()

    def shares(self) -> Shares:
        """How much room the parts of the detail get on this screen, as it is now."""
        is_wide, is_alone = self.has_class("-wide"), self.is_alone
        return Shares(
            gap=int(is_wide),
            chart_least=12 if is_wide else 6,
            chart_most=None if is_alone else 24,
            is_tall=self.has_class("-tall"),
            foot=0.5 if is_alone else 0.4,
            is_spoken=self.app.has_class("-words"),
        )

    @property
    def is_alone(self) -> bool:
        """Whether the detail has the whole screen."""
        return self.has_class(_ZOOMS[DetailPane])

    @property
    def is_narrow(self) -> bool:
        """Whether the detail stands below the list."""
        return self.has_class("-narrow")

    @property
    def is_short(self) -> bool:
        """Whether there is only room for what is needed."""
        return self.has_class("-short")

    def rule(self) -> str:
        """The kind of failure that the screen is about now; empty if none is."""
        return ""

    def show_sides(self, drawn: SidesDrawn) -> None:
        """Subjects side by side are there."""
        for detail in self.query(DetailPane):
            detail.show_sides(drawn)

    def refine(self, drawn: CurveDrawn) -> None:
        """All cells of a curve are there, and so are those of any other."""
        if drawn.snapshot is self.scene.snapshot:
            self.scene = replace(self.scene, is_framed=True)
        for detail in self.query(DetailPane):
            detail.refine(drawn)
