"""``nvidia-smi -q`` as facts of cards and as states that speak of trouble."""

from collections.abc import Iterator, Mapping
from dataclasses import field

import re2

from triage.classes import dataclass
from triage.ingest.logs.redaction import redacted_bytes
from triage.model.recording import Event, Fact, Subject
from triage.model.vocabulary import Scope

MAX_CARDS = 64
_MAX_ENTRIES = 600
_CARD = re2.compile(rb"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*$")
_ENTRY = re2.compile(rb"^( *)(\S.*?) *: (.*)$")
_HEADING = re2.compile(rb"^( +)(\S[^:]*?)\s*$")
_NUMBER = re2.compile(r"^(\d+(?:\.\d+)?)(?: (MiB|GiB|W|C|MHz|%))?$")

_CARD_FACTS: dict[str, str] = {
    "product name": "gpu_model", "gpu uuid": "gpu_uuid", "persistence mode": "persistence_mode", "mig mode/current": "mig_mode",
    "ecc mode/current": "ecc_mode", "pci/bus id": "pci_bus_id", "fb memory usage/total": "memory_total_mib",
    "fb memory usage/used": "memory_used_mib", "gpu recovery action": "recovery_action", "compute mode": "compute_mode",
    "pci/gpu link info/pcie generation/current": "pcie_generation", "pci/gpu link info/link width/current": "pcie_width",
}  # fmt: skip
"""Facts of a card, by the path of headings under which the report gives them."""

_NODE_FACTS = {"driver version": "driver_version", "cuda version": "cuda_version"}

_WELL: dict[str, frozenset[str]] = {
    "gpu recovery action": frozenset({"none"}),
    "remapped rows/pending": frozenset({"no"}),
    "remapped rows/remapping failure occurred": frozenset({"no"}),
    "retired pages/pending page blacklist": frozenset({"no"}),
    "ecc errors/aggregate/sram threshold exceeded": frozenset({"no"}),
    "fabric/state": frozenset({"completed", "in progress", "not started"}),
    "fabric/status": frozenset({"success"}),
}
"""What a healthy card says; anything else is a state that somebody should know of."""

_COUNTS = re2.compile(
    r"^(?:remapped rows/uncorrectable error|ecc errors/volatile/(?:sram|dram) uncorrectable.*|retired pages/double bit ecc)$"
)
_SLOWED = re2.compile(r"^clocks (?:event|throttle) reasons/.*(?:slowdown|thermal|brake).*$")
_UNKNOWN = frozenset({"", "n/a", "[n/a]", "not supported", "unknown error"})


@dataclass
class _Card:
    bus: str
    values: dict[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> Subject:
        """The card by its UUID, or by its place if the report does not tell that."""
        return Subject(Scope.GPU, self.values.get("gpu uuid") or self.bus)


class SmiReport:
    """Reads a report line by line; bounded however long it is."""

    def __init__(self, node: Subject, source: str) -> None:
        self._node = node
        self._source = source
        self._time: float | None = None
        self._head: dict[str, str] = {}
        self._cards: list[_Card] = []
        self._path: list[tuple[int, str]] = []

    def feed(self, line: bytes, time: float) -> None:
        """Takes a line of the report; others are nothing to it."""
        card = _CARD.search(line)
        if card is not None:
            if len(self._cards) < MAX_CARDS:
                self._cards.append(_Card(redacted_bytes(card.group(1), 20)))
            self._path, self._time = [], time
            return
        entry = _ENTRY.search(line)
        if entry is not None:
            self._entry(len(entry.group(1)), redacted_bytes(entry.group(2), 80), redacted_bytes(entry.group(3), 120))
            return
        heading = _HEADING.search(line) if self._cards else None
        if heading is not None:
            self._enter(len(heading.group(1)), redacted_bytes(heading.group(2), 80).lower())

    def _enter(self, indent: int, name: str) -> None:
        self._path = [one for one in self._path if one[0] < indent][:6]
        self._path.append((indent, name))

    def _entry(self, indent: int, name: str, value: str) -> None:
        values = self._cards[-1].values if self._cards else self._head
        outer = [one for at, one in self._path if at < indent]
        if len(values) < _MAX_ENTRIES:
            values.setdefault("/".join((*outer, name.lower())), value)

    def facts(self) -> Iterator[Fact]:
        """What the report says of the node and of its cards."""
        if not self._cards:
            return
        yield from _facts(self._node, self._head, _NODE_FACTS, self._source)
        for card in self._cards:
            yield from _facts(card.subject, {"pci/bus id": card.bus, **card.values}, _CARD_FACTS, self._source)

    def events(self) -> Iterator[Event]:
        """States of cards that speak of trouble, as statements."""
        for card in self._cards:
            for path, value in card.values.items():
                if _speaks_of_trouble(path, value) or _is_short_of_lanes(path, card.values):
                    attrs = {
                        "what": path.rpartition("/")[2],
                        "value": value,
                        "emitter": "nvidia-smi",
                        "pci": card.bus,
                        "path": path,
                    }
                    text = f"{path}: {value} (card {card.bus})"
                    yield Event(self._time or 0.0, "said", "state", card.subject, attrs, text, self._source)


def _speaks_of_trouble(path: str, value: str) -> bool:
    """Whether a healthy card would have said something else."""
    told = value.lower()
    if told in _UNKNOWN:
        return False
    if path in _WELL:
        return told not in _WELL[path]
    if _COUNTS.search(path) is not None:
        return told.isdigit() and told != "0"
    return _SLOWED.search(path) is not None and told == "active"


_LANES = "pci/gpu link info/link width/"
_WIDTH = re2.compile(r"^(\d{1,2})x$")


def _is_short_of_lanes(path: str, values: Mapping[str, str]) -> bool:
    """Whether this is the width of a link with fewer lanes than it could have: those are not given up to save power."""
    if path != f"{_LANES}current":
        return False
    now, most = (_WIDTH.search(values.get(f"{_LANES}{which}", "")) for which in ("current", "max"))
    return now is not None and most is not None and int(now.group(1)) < int(most.group(1))


def _facts(subject: Subject, values: Mapping[str, str], wanted: Mapping[str, str], source: str) -> Iterator[Fact]:
    for path, key in wanted.items():
        value = values.get(path, "")
        if value.lower() in _UNKNOWN:
            continue
        number = _NUMBER.search(value)
        is_plain = number is not None and key.endswith(("_mib", "_generation"))
        yield Fact(subject, key, float(number.group(1)) if is_plain and number is not None else value, f"log {source}")
