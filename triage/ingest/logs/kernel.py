"""A kernel's report of a card (Xid) as an event."""

from typing import NamedTuple

from triage.ingest.logs.keeping import Key
from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.signatures import XidCode
from triage.model.recording import Event
from triage.patterns import Pattern

_XID = Pattern(rb"\bXid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d{1,4}),? ?(.*)$")
_XID_PROCESS = Pattern(rb"^pid=(?:'?<?([\w-]+)>?'?)(?:, name=([^,]*))?,? ?(.*)$")
_XID_PARENT = Pattern(rb"caused by previous Xid (\d+)")


class Xid(NamedTuple):
    """A report of the driver: code, address of the card, and what follows."""

    code: str
    pci: str
    rest: bytes


def xid_of(line: bytes) -> Xid | None:
    """The Xid in a line; None if it has none."""
    found = _XID.search(line)
    if found is None:
        return None
    pci, code, rest = found.groups()
    return Xid(redacted_bytes(code, 10), redacted_bytes(pci, 40), rest)


def xid_event(key: Key, time: float, rest: bytes, line: bytes, emitter: str, source: str, meaning: XidCode | None) -> Event:
    """The event of an Xid line.

    :param meaning: what its code means; None if nobody knows
    """
    attrs = {"pci": key.apart[0], "emitter": emitter} | _xid_details(rest)
    if meaning is not None:
        attrs |= {"class": meaning.fault_class, "meaning": meaning.name, "scope": meaning.scope, "role": meaning.role}
        attrs |= {"kinds": " ".join(meaning.kinds), "action": meaning.action}
    if "parent" in attrs:
        attrs["role"] = "consequence"
    return Event(time, "xid", key.name, key.subject, attrs, redacted_bytes(line), source)


def _xid_details(rest: bytes) -> dict[str, str]:
    """Process, Xid before it and wording of the rest of an Xid line."""
    details: dict[str, str] = {}
    process = _XID_PROCESS.search(rest)
    if process is not None:
        pid, name, rest = process.groups()
        details["pid"] = redacted_bytes(pid, 20)
        if name:
            details["process"] = redacted_bytes(name, 60)
    parent = _XID_PARENT.search(rest)
    if parent is not None:
        details["parent"] = parent.group(1).decode()
    if b"UNRECOGNIZED_CLIENT" in rest:
        details["unrecognized_client"] = "yes"
    if b"Nonfatal" in rest or b"Non-fatal" in rest:
        details["fatal"] = "no"
    elif b"Fatal" in rest or b"fatal" in rest:
        details["fatal"] = "yes"
    if rest.strip():
        details["detail"] = redacted_bytes(rest, 200)
    return details
