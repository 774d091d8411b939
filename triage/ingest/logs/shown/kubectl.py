"""Events, pods and descriptions of ``kubectl`` in a text of something else; logs of the cluster have them as their own lines."""

from triage.ingest.logs.kube_tables import KubeTables
from triage.ingest.logs.shown.form import Shown, Take
from triage.patterns import Pattern

_TABLE = Pattern(rb"^(?:NAMESPACE +)?(?:LAST SEEN +TYPE +REASON|NAME +READY +STATUS +RESTARTS)")
_DESCRIPTION = Pattern(rb"^Name: {4,}[a-z0-9][a-z0-9.-]*\s*$|^(?:Status|Reason): {4,}[A-Z][A-Za-z]+\s*$")
_ROW = Pattern(rb"^\S+ +\S+.* {2,}\S|^\S+ +(?:\S+ +)?\d+/\d+ ")
_PART = Pattern(rb"^[A-Z][A-Za-z /-]{1,40}:(?: |$)| {2,}\S|\t")


def begins(line: bytes) -> bool:
    """Whether a line heads a table of events or pods, or begins a description."""
    return _TABLE.search(line) is not None or _DESCRIPTION.search(line) is not None


class Kubectl:
    """Reads a table or a description; ages count back from the moment of the output."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._tables = KubeTables(shown.time)
        self._described = False

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line."""
        self._described = self._described or _DESCRIPTION.search(line) is not None
        part = _PART if self._described else _ROW
        if stamped or (line.strip() and part.search(line) is None and not begins(line)) or not (self._described or line.strip()):
            return Take.OVER
        for event in self._tables.feed(line) or ():
            self._shown.kube(event)
        return Take.WHOLE

    def finish(self) -> None:
        """Brings what the end completes."""
        for event in self._tables.finish():
            self._shown.kube(event)
