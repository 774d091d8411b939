"""What ``kubectl`` shows to people: ``describe``, ``get pods``, tables of events. Each is read as events of the cluster."""

from collections.abc import Callable, Iterator
from dataclasses import field
from datetime import datetime

from triage.classes import dataclass
from triage.ingest.logs.changes import KubeEvent
from triage.ingest.logs.durations import age_of
from triage.ingest.logs.redaction import redacted, redacted_bytes
from triage.patterns import Pattern

_KEY = Pattern(rb"^( *)([A-Z][A-Za-z /-]{1,40}):(?: +(.*))?$")
_GAP = Pattern(rb" {2,}|\t+")
_EVENT_ROW = Pattern(
    rb"^ +(Normal|Warning) +([A-Za-z]\w*) +((?:\d+[dhms])+|<unknown>)(?: \(x(\d+) over [^)]*\))? +([^\s,]+(?:, \S+)?) +(\S.*)$"
)
_PLAIN_ROW = Pattern(
    rb"^(?:([\w.-]+) +)?((?:\d+[dhms])+|<unknown>)(?: \(x(\d{1,6}) over [^)]*\))? +(Normal|Warning) +([A-Za-z]\w*)"
    rb" +([A-Za-z][\w.]*)/(\S+) +(\S.*)$"
)
_CELL = Pattern(rb"[^ \t]+(?: [^ \t]+)*")
_WORD = Pattern(rb"(?:LAST|FIRST) SEEN|NOMINATED NODE|READINESS GATES|\S+(?: \([^)]*\))?")
_TABLE = Pattern(rb"^(?:NAMESPACE +)?LAST SEEN +")
_PODS = Pattern(rb"^(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS")
_RESTARTED = Pattern(rb"^(\d+) \(((?:\d+[dhms])+) ago\)")
_CONDITION = Pattern(rb"^  ([A-Z]\w+) +(True|False|Unknown) +(?:.*? {2,})?([A-Z]\w+) +(\S.*)$")
_WELL = frozenset({b"Running", b"Completed", b"Succeeded"})
_NODE_KEYS = frozenset({b"Roles", b"Taints", b"Unschedulable", b"Allocatable", b"PodCIDR"})
_NEWS = frozenset({"Terminated", "Waiting"})


def _parts(line: bytes) -> Iterator[tuple[bytes, int]]:
    """The cells of a line, and where they begin: two blanks apart, or, where none are (pasted as prose), words."""
    cells = _CELL if _GAP.search(line.strip()) is not None else _WORD
    for found in cells.finditer(line.rstrip()):
        yield found.group(), found.start()


PLACED = "Placed"
"""Reason of an event that a list of pods makes of each: on which node it is."""


@dataclass
class _State:
    """``State`` or ``Last State`` of a container, as ``describe`` lays it out over several lines."""

    which: str = ""
    indent: int = 0
    values: dict[str, str] = field(default_factory=dict)


class KubeTables:
    """Reads the tables and descriptions in a text, line by line.

    :param end: Unix time that ages count back from
    """

    def __init__(self, end: float) -> None:
        self._end = end
        self._columns: list[tuple[str, int]] = []
        self._rows: Callable[[bytes], Iterator[KubeEvent]] | None = None
        self._name = ""
        self._namespace = ""
        self._kind = "pod"
        self._reason = ""
        self._state = _State()

    def feed(self, line: bytes) -> list[KubeEvent] | None:
        """The events that a line brings or completes; None if the line is no part of a table or description."""
        if _TABLE.search(line) is not None:
            return self._head(line, self._event_row)
        if _PODS.search(line) is not None:
            return self._head(line, self._pod_row)
        if self._rows is not None and line.strip() and not line.startswith((b"Name:", b"$")):
            return list(self._rows(line))
        self._rows = None
        return self._described(line)

    def finish(self) -> list[KubeEvent]:
        """What the end of the text completes."""
        return self._ended()

    # ------------------------------------------------------------ tables

    def _head(self, line: bytes, rows: Callable[[bytes], Iterator[KubeEvent]]) -> list[KubeEvent]:
        """Remembers where the columns of a table begin."""
        ended = self._ended()
        self._columns = [(redacted_bytes(word), at) for word, at in _parts(line)]
        self._rows = rows
        return ended

    def _cells(self, line: bytes) -> dict[str, bytes]:
        """Cells by the name of their column.

        A row with a cell for each heading is read in their order, wherever the cells stand: who pastes a table or shortens a name
        moves them. Else a cell begins below its heading, and empty ones are left out.
        """
        parts = list(_parts(line))
        if len(parts) == len(self._columns):
            return {name: cell for (name, _), (cell, _) in zip(self._columns, parts, strict=True)}
        cells: dict[str, bytes] = {}
        for cell, at in parts:
            column = next((name for name, begin in reversed(self._columns) if begin <= at), "")
            cells[column] = cells[column] + b"  " + cell if column in cells else cell
        return cells

    def _event_row(self, line: bytes) -> Iterator[KubeEvent]:
        plain = None if any(name == "SUBOBJECT" for name, _ in self._columns) else _PLAIN_ROW.search(line)
        if plain is not None:
            yield self._plain_event(plain.groups())
            return
        cells = self._cells(line)
        kind, _, name = cells.get("OBJECT", b"").partition(b"/")
        if not name or not cells.get("REASON"):
            return
        age = age_of((cells.get("LAST SEEN") or b"").split(b" ")[0])
        count = cells.get("COUNT", b"1")
        yield KubeEvent(
            None if age is None else self._end - age,
            redacted_bytes(cells.get("TYPE", b"Normal"), 20),
            redacted_bytes(cells["REASON"], 100),
            redacted_bytes(kind, 60).lower(),
            redacted_bytes(name, 253),
            redacted_bytes(cells.get("MESSAGE", b"")),
            redacted_bytes(cells.get("NAMESPACE", b""), 253),
            int(count) if count.isdigit() else 1,
        )

    def _plain_event(self, cells: tuple[bytes | None, ...]) -> KubeEvent:
        """A row with the usual columns, also where they no longer stand below their headings."""
        namespace, seen, count, kind_of_event, reason, kind, name, message = (cell or b"" for cell in cells)
        age = age_of(seen)
        return KubeEvent(
            None if age is None else self._end - age, redacted_bytes(kind_of_event), redacted_bytes(reason, 100),
            redacted_bytes(kind, 60).lower(), redacted_bytes(name, 253), redacted_bytes(message), redacted_bytes(namespace, 253),
            int(count or 1),
        )  # fmt: skip

    def _pod_row(self, line: bytes) -> Iterator[KubeEvent]:
        """Where a pod is, and that it is not well or was restarted."""
        cells = self._cells(line)
        name, status = cells.get("NAME", b""), cells.get("STATUS", b"")
        namespace = redacted_bytes(cells.get("NAMESPACE", b""), 253)
        if name and (told := _placed_on(redacted_bytes(cells.get("NODE", b""), 253))):
            yield KubeEvent(self._end, "Normal", PLACED, "pod", redacted_bytes(name, 253), told, namespace)
        ready, _, wanted = cells.get("READY", b"").partition(b"/")
        restarted = _RESTARTED.search(cells.get("RESTARTS", b""))
        well = status in _WELL and (ready == wanted or status != b"Running")
        if not name or not status or (well and restarted is None):
            return
        age = age_of(restarted.group(2)) if restarted is not None else None
        reason = "Restarted" if well else "NotReady" if status in _WELL else redacted_bytes(status, 100)
        told = redacted_bytes(ready + b"/" + wanted, 20)
        message = f"{redacted_bytes(status, 60)}, {told} ready, restarts {redacted_bytes(cells.get('RESTARTS', b'0'), 40)}"
        yield KubeEvent(self._end - (age or 0.0), "Warning", reason, "pod", redacted_bytes(name, 253), message, namespace)

    # ------------------------------------------------------------ descriptions

    def _described(self, line: bytes) -> list[KubeEvent] | None:
        row = _EVENT_ROW.search(line)
        if row is not None:
            return [*self._ended(), self._described_event(row.groups())]
        found = _KEY.search(line)
        if found is not None:
            return self._entry(len(found.group(1)), found.group(2), redacted_bytes(found.group(3) or b""))
        condition = _CONDITION.search(line) if self._kind == "node" else None
        if condition is not None:
            return list(self._condition(*map(redacted_bytes, condition.groups())))
        return None

    def _entry(self, indent: int, key: bytes, value: str) -> list[KubeEvent] | None:
        """``Key:  value`` of a description."""
        if indent == 0:
            if key == b"Name":
                ended = self._ended()
                self._name, self._kind, self._namespace, self._reason = value, "pod", "", ""
                return ended
            if key == b"Message" and self._reason:
                return [*self._ended(), self._event(None, "Warning", self._reason, value)]
            self._reason = value if key == b"Reason" else self._reason
            self._namespace = value if key == b"Namespace" else self._namespace
            self._kind = "node" if key in _NODE_KEYS else self._kind
            placed = [self._event(None, "Normal", PLACED, told)] if key == b"Node" and (told := _placed_on(value)) else []
            return [*self._ended(), *placed] if self._name or self._state.which else None
        if key in {b"State", b"Last State"}:
            ended = self._ended()
            self._state = _State(redacted_bytes(key), indent, {"state": value})
            return ended
        if self._state.which and indent > self._state.indent:
            self._state.values[redacted_bytes(key).lower()] = value
            return []
        return self._ended() if self._state.which else None

    def _ended(self) -> list[KubeEvent]:
        """The event that a container's state makes, once it is told to its end."""
        state, self._state = self._state, _State()
        values = state.values
        if values.get("state") not in _NEWS:
            return []
        code = values.get("exit code", "")
        reason = values.get("reason") or values["state"]
        words = f"{state.which.capitalize()}: {values['state']}, reason {reason}"
        text = f"{words}, exit code {code}" if code else words
        harmless = code == "0" or reason in {"ContainerCreating", "PodInitializing"}
        return [self._event(_date(values.get("finished", "")), "Normal" if harmless else "Warning", reason, text)]

    def _event(self, time: float | None, kind: str, reason: str, message: str, count: int = 1) -> KubeEvent:
        return KubeEvent(
            time if time is not None else self._end,
            kind,
            reason,
            self._kind,
            self._name,
            redacted(message),
            self._namespace,
            count,
        )

    def _described_event(self, cells: tuple[bytes | None, ...]) -> KubeEvent:
        kind, reason, age, count, _, message = cells
        seconds = age_of(age or b"")
        return self._event(
            None if seconds is None else self._end - seconds, redacted_bytes(kind or b""), redacted_bytes(reason or b""),
            redacted_bytes(message or b""), int(count or 1),
        )  # fmt: skip

    def _condition(self, name: str, status: str, reason: str, message: str) -> Iterator[KubeEvent]:
        """A condition of a node that is not as it should be."""
        if (name == "Ready") != (status == "True"):
            told = "NodeNotReady" if name == "Ready" else reason
            yield self._event(None, "Warning", told, f"{name} is {status}: {reason}: {message}")


def _placed_on(node: str) -> str:
    """In words that a pod is on a node (``gpu-4``, or ``gpu-4/10.0.0.4`` in a description); empty if it is on none yet."""
    name = node.partition("/")[0].strip()
    return f"assigned to {name}" if name and name.strip("<>").lower() not in {"none", "unknown"} else ""


def _date(text: str) -> float | None:
    """Unix seconds of ``Mon, 30 Nov 2026 08:00:00 +0000``."""
    try:
        return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S %z").timestamp()
    except ValueError:
        return None
