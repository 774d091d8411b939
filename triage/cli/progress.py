"""What happens meanwhile, on stderr: one line for each source, and only where a person watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from triage.collect import Progress


@contextmanager
def progress(*, quiet: bool) -> "Iterator[Progress]":
    """Give something to tell progress to: bars on a terminal, nothing where stderr is a file or nobody wants them."""
    if quiet or not sys.stderr.isatty():
        yield lambda _source, _message, _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    plain = [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("source", "message")]
    with Progress(SpinnerColumn(), plain[0], BarColumn(20), plain[1], console=Console(stderr=True), transient=True) as bars:
        yield _Watch(bars).tell


class _Watch:
    """Keeps one bar for each source; called from many threads."""

    def __init__(self, bars: "Bars") -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._lock = Lock()

    def tell(self, source: str, message: str, done: float) -> None:
        """Show how far a source is, 0 to 1."""
        with self._lock:
            if source not in self._tasks:
                self._tasks[source] = self._bars.add_task("", total=1.0, source=f"{source:12}", message="")
            self._bars.update(self._tasks[source], completed=done, message=message[:60])
