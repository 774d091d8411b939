"""Files that the kernel keeps of a control group, as ``cat`` shows them: limits of a container and what it has used of them."""

from pathlib import PurePosixPath

from triage.ingest.logs.shown.form import Shown, Take
from triage.patterns import Pattern

_COMMAND = Pattern(rb"\bcat\b([^|;&<>]*)")
_PATH = Pattern(rb"(/(?:sys/fs/cgroup|proc)/[\w./-]{1,200})")
_VALUE = Pattern(rb"^(max|\d{1,19})(?: (\d{1,19}))?\s*$")
_NAMED = Pattern(rb"^([a-z_]{1,40}) (\d{1,19})\s*$")

_LEVELS: dict[str, tuple[str, float]] = {
    "pids.current": ("container.threads", 1.0),
    "pids.max": ("container.threads_max", 1.0),
    "memory.current": ("container.memory", 1.0),
    "memory.usage_in_bytes": ("container.memory", 1.0),
    "memory.max": ("container.memory_limit", 1.0),
    "memory.limit_in_bytes": ("container.memory_limit", 1.0),
}
"""Files of one number: signal, and base units in one."""

_UNLIMITED = float(1 << 62)
"""What the first version of control groups writes for no limit of memory, or about it."""

_PERIOD = 0.1
"""Seconds: how often the kernel deals out a quota of CPU, unless somebody sets it (``cpu.cfs_period_us``)."""

_TOTALS = {
    "nr_periods": "container.cpu_periods",
    "nr_throttled": "container.cpu_throttled_periods",
    "oom_kill": "container.oom_events",
}
"""Running totals of files that name their numbers."""


class Files:
    """Reads what ``cat`` shows of files that hold a number, two, or named ones, in the order in which they were asked for."""

    def __init__(self, shown: Shown, names: list[str]) -> None:
        self._shown = shown
        self._names = names
        self._periods = 0.0

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line of the next file."""
        named, value = _NAMED.search(line), _VALUE.search(line)
        if stamped or (named is None and value is None):
            return Take.OVER
        if named is not None:
            self._total(named.group(1).decode(), float(named.group(2)))
            return Take.WHOLE
        name = self._next()
        if not name:
            return Take.OVER
        self._level(name, value.group(1), value.group(2))
        return Take.WHOLE

    def _next(self) -> str:
        """The file that a bare number is of: those that name their numbers are passed by."""
        while self._names:
            name = self._names.pop(0)
            if not name.endswith((".stat", ".events")):
                return name
        return ""

    def _level(self, name: str, value: bytes, period: bytes | None) -> None:
        container = self._shown.inside
        if container is None or value == b"max":
            return
        number = float(value)
        if name == "cpu.max" and period:
            self._shown.sample("container.cpu_limit", container, number / float(period))
        signal, scale = _LEVELS.get(name, ("", 1.0))
        if signal and number < _UNLIMITED:
            self._shown.sample(signal, container, number * scale)

    def _total(self, name: str, value: float) -> None:
        """A running total is a rate between two looks; one that is nought has been nought all along.

        Of periods of the quota one look is enough: while the container wants CPU they come at their own pace.
        """
        container, signal = self._shown.inside, _TOTALS.get(name, "")
        if container is None or not signal:
            return
        is_first = self._shown.total(signal, container, value)
        if name == "nr_periods":
            self._periods = value if is_first else 0.0
        elif name == "nr_throttled" and self._periods:
            self._shown.sample("container.cpu_periods", container, 1.0 / _PERIOD)
            self._shown.sample("container.cpu_throttled_periods", container, value / self._periods / _PERIOD)

    def finish(self) -> None:
        """Nothing waits."""


def asked(shown: Shown, command: bytes) -> Files | None:
    """The reader of what a typed command shows; None if it shows no such files."""
    typed = _COMMAND.search(command)
    names = [PurePosixPath(path.decode()).name for path in _PATH.findall(typed.group(1))] if typed is not None else []
    return Files(shown, names) if names else None
