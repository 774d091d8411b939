"""What all screens of the walk have: a line on top, a body, the time, and the keys."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from triage.tui.details import Detail
from triage.tui.messages import CurveDrawn
from triage.tui.snapshot import Scene, Snapshot
from triage.tui.widgets.chart import Chart
from triage.tui.widgets.crumb import Crumb
from triage.tui.widgets.keybar import KeyBar
from triage.tui.widgets.timeline import Timeline

_WIDE, _TALL = 120, 36
BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")], [(0, "-short"), (_TALL, "-tall")]
"""Classes of a screen by its columns and by its rows: wide ones show things side by side, tall ones what is only nice to have."""


class WalkScreen(Screen[None]):
    """One screen of the walk. It keeps no state of the diagnosis but the scene that it was given last.

    :param scene: what to show
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.up", "Up", show=False),
        Binding("left,h,backspace", "app.up", "Up", show=False),
    ]

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that is shown."""
        return self.scene.snapshot

    @property
    def is_tall(self) -> bool:
        """Whether there is room for what is only nice to have."""
        return self.size.height >= _TALL

    def compose(self) -> ComposeResult:
        """The frame, with the screen's own body in it."""
        self._fit()
        yield Crumb()
        yield from self.body()
        yield Timeline()
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

    def place(self) -> tuple[str, ...]:
        """Where in the walk this is, from the service down."""
        return (self.snapshot.diagnosis.service,)

    def on_mount(self) -> None:
        """Show the scene that the screen was made with."""
        self.show(self.scene)
        self.begin()

    def begin(self) -> None:
        """Give the keys to the widget that wants them first."""

    def show(self, scene: Scene) -> None:
        """Show another scene, keeping the place on the screen."""
        self.scene = scene
        self.query_one(Crumb).scene(scene, self.place())
        self.query_one(Timeline).show(scene.newest, scene.moment)
        self.refill()

    def show_activity(self, scene: Scene) -> None:
        """Show what goes on, and nothing else."""
        self.query_one(Crumb).scene(scene, self.place())

    def refill(self) -> None:
        """Show the snapshot in the screen's own widgets."""

    def detail(self) -> Detail:
        """What is told of the thing that is highlighted."""
        return Detail()

    def rule(self) -> str:
        """The kind of failure that the screen is about now; empty if none is."""
        return ""

    def refine(self, drawn: CurveDrawn) -> None:
        """All cells of a curve are there."""
        for chart in self.query(Chart):
            chart.refine(drawn.evidence, drawn.snapshot, drawn.curve)
