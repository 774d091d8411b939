"""Progress on a terminal, drawn in place and gone when it is over."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TaskID, TextColumn
from rich.text import Text

from triage.render.terminal import Terminal


class _Bars(Progress):
    """Bars below a text."""

    said: Text | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        """The text, and the bars."""
        if self.said is not None:
            yield self.said
        yield from super().get_renderables()


class Watch:
    """Keeps one bar for each source, and the newest text; called from many threads."""

    def __init__(self, bars: _Bars, terminal: Terminal) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._lock = Lock()
        self.terminal: Terminal | None = replace(terminal, width=bars.console.width)

    def __call__(self, source: str, message: str, done: float) -> None:
        """Show how far a source is, 0 to 1."""
        with self._lock:
            if source not in self._tasks:
                self._tasks[source] = self._bars.add_task("", total=1.0, source=f"{source:12}", message="")
            self._bars.update(self._tasks[source], completed=done, message=message[:60])

    def say(self, text: str) -> None:
        """Show a text above the bars in place of the one before it."""
        self._bars.said = Text.from_ansi(text, no_wrap=True, overflow="crop")
        self._bars.refresh()


@contextmanager
def bars(terminal: Terminal) -> Iterator[Watch]:
    """Something to tell progress to, on stderr.

    :param terminal: what stderr can show
    """
    plain = [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("source", "message")]
    columns: list[ProgressColumn] = [SpinnerColumn(), plain[0], BarColumn(20), plain[1]]
    with _Bars(*columns, console=Console(stderr=True), transient=True) as drawn:
        yield Watch(drawn, terminal)
