"""Ways on which a library can move data between machines, as ``ucx_info -d`` lists them."""

from triage.ingest.logs.shown.form import Shown, Take
from triage.patterns import Pattern

_TRANSPORT = Pattern(rb"^# +Transport: ([a-z][\w]{1,30})\s*$")
_RDMA = Pattern(r"^(?:rc|ud|dc|gga|srd)(?:_\w+|x)?$")


def begins(line: bytes) -> bool:
    """Whether a line names a transport."""
    return _TRANSPORT.search(line) is not None


class Transports:
    """Reads the list, all lines of which are comments; what lies between two transports says how fast each could be."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._names: set[str] = set()

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line."""
        if stamped or line[:1] != b"#":
            return Take.OVER
        found = _TRANSPORT.search(line)
        if found is not None:
            self._names.add(found.group(1).decode())
        return Take.WHOLE

    def finish(self) -> None:
        """Says if data goes to other machines by TCP alone."""
        if "tcp" in self._names and not any(_RDMA.search(name) is not None for name in self._names):
            self._shown.remark("UCX without RDMA transports: only tcp reaches other machines", emitter="engine")
