"""``nvidia-smi -q`` as facts of cards, as their vital signs, and as states that speak of trouble."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from triage.classes import dataclass
from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Take
from triage.ingest.logs.shown.quantities import quantity
from triage.model.recording import Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

MAX_CARDS = 64
_MAX_ENTRIES = 600
_CARD = Pattern(rb"^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*$")
_BANNER = Pattern(rb"^=+NVSMI LOG=+\s*$|^(?:Driver Version|Attached GPUs) +: ")
_ENTRY = Pattern(rb"^( *)(\S.*?) *: (.*)$")
_HEADING = Pattern(rb"^( +)(\S[^:]*?)\s*$")
_NUMBER = Pattern(r"^(\d+(?:\.\d+)?)(?: (MiB|GiB|W|C|MHz|%))?$")

_CARD_FACTS: dict[str, str] = {
    "product name": "gpu_model", "gpu uuid": "gpu_uuid", "persistence mode": "persistence_mode", "mig mode/current": "mig_mode",
    "ecc mode/current": "ecc_mode", "pci/bus id": "pci_bus_id", "fb memory usage/total": "memory_total_mib",
    "fb memory usage/used": "memory_used_mib", "gpu recovery action": "recovery_action", "compute mode": "compute_mode",
    "pci/gpu link info/pcie generation/current": "pcie_generation", "pci/gpu link info/link width/current": "pcie_width",
}  # fmt: skip
"""Facts of a card, by the path of headings under which the report gives them."""

_NODE_FACTS = {"driver version": "driver_version", "cuda version": "cuda_version"}

_SAMPLES: dict[str, str] = {
    "utilization/gpu": "gpu.util", "utilization/memory": "gpu.mem_util", "fb memory usage/total": "gpu.mem_total",
    "fb memory usage/used": "gpu.mem_used", "fb memory usage/free": "gpu.mem_free", "temperature/gpu current temp": "gpu.temp",
    "temperature/memory current temp": "gpu.mem_temp", "gpu power readings/power draw": "gpu.power",
    "gpu power readings/average power draw": "gpu.power", "power readings/power draw": "gpu.power",
    "gpu power readings/current power limit": "gpu.power_limit", "power readings/power limit": "gpu.power_limit",
    "clocks/sm": "gpu.sm_clock", "clocks/memory": "gpu.mem_clock", "max clocks/sm": "gpu.sm_clock_max",
}  # fmt: skip
"""Vital signs of a card, by the same paths."""

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

_COUNTS = Pattern(
    r"^(?:remapped rows/uncorrectable error|ecc errors/volatile/(?:sram|dram) uncorrectable.*|retired pages/double bit ecc)$"
)
_SLOWED = Pattern(r"^clocks (?:event|throttle) reasons/.*(?:slowdown|thermal|brake).*$")
_UNKNOWN = frozenset({"", "n/a", "[n/a]", "not supported", "[not supported]", "unknown error", "[unknown error]"})


def begins(line: bytes) -> bool:
    """Whether a line is the first of a report, or of a card in one."""
    return _BANNER.search(line) is not None or _CARD.search(line) is not None


@dataclass
class _Card:
    bus: str
    time: float
    values: dict[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> Subject:
        """The card by its UUID, or by its place if the report does not tell that."""
        return Subject(Scope.GPU, self.values.get("gpu uuid") or self.bus)


class SmiReport:
    """Reads a report line by line; bounded however long it is. Its lines may say more than what is read here."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._head: dict[str, str] = {}
        self._cards: list[_Card] = []
        self._path: list[tuple[int, str]] = []

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line of the report."""
        card = _CARD.search(line)
        if card is not None:
            if len(self._cards) < MAX_CARDS:
                self._cards.append(_Card(redacted_bytes(card.group(1), 20), self._shown.time))
            self._path = []
            return Take.ALSO
        entry = _ENTRY.search(line)
        if self._cards and line[:1].strip() and line[:1] != b"=":
            return Take.OVER
        if stamped and (entry is None or entry.group(2) != b"Timestamp"):
            return Take.OVER
        if entry is not None:
            self._entry(len(entry.group(1)), redacted_bytes(entry.group(2), 80), redacted_bytes(entry.group(3), 120))
            return Take.ALSO
        heading = _HEADING.search(line) if self._cards else None
        if heading is not None:
            self._enter(len(heading.group(1)), redacted_bytes(heading.group(2), 80).lower())
        return Take.ALSO

    def _enter(self, indent: int, name: str) -> None:
        self._path = [one for one in self._path if one[0] < indent][:6]
        self._path.append((indent, name))

    def _entry(self, indent: int, name: str, value: str) -> None:
        values = self._cards[-1].values if self._cards else self._head
        outer = [one for at, one in self._path if at < indent]
        if len(values) < _MAX_ENTRIES:
            values.setdefault("/".join((*outer, name.lower())), value)

    def finish(self) -> None:
        """Brings what the report says of the machine and of its cards."""
        shown = self._shown
        if not self._cards:
            return
        for key, value in _facts(self._head, _NODE_FACTS):
            shown.fact(shown.node, key, value)
        for card in self._cards:
            for key, value in _facts({"pci/bus id": card.bus, **card.values}, _CARD_FACTS):
                shown.fact(card.subject, key, value)
            for path, signal in _SAMPLES.items():
                shown.sample(signal, card.subject, quantity(card.values.get(path, "")), card.time)
            for path, text in card.values.items():
                if speaks_of_trouble(path, text) or _is_short_of_lanes(path, card.values):
                    shown.state(path, text, card.subject, "nvidia-smi", card.time, {"pci": card.bus})
            if _is_slow_for_nothing(card.values):
                shown.state(SM_CLOCK, card.values[SM_CLOCK], card.subject, "nvidia-smi", card.time, {"pci": card.bus})


def speaks_of_trouble(path: str, value: str) -> bool:
    """Whether a healthy card would have said something else."""
    told = value.lower()
    if told in _UNKNOWN:
        return False
    if path in _WELL:
        return told not in _WELL[path]
    if _COUNTS.search(path) is not None:
        return told.isdigit() and told != "0"
    return _SLOWED.search(path) is not None and told == "active"


SM_CLOCK, _MOST, _USE = "clocks/sm", "max clocks/sm", "utilization/gpu"
_HELD = Pattern(r"^clocks (?:event|throttle) reasons/(?:sw power cap|sync boost|hw .*|sw thermal.*)$")


def is_slow(clock: float | None, most: float | None, use: float | None) -> bool:
    """Whether a card that works all the time runs far below the clock that it could have: a busy card without a reason does not.

    :param clock: of its multiprocessors now, and ``most`` at best, both hertz
    :param use: share of the time in which it works
    """
    return clock is not None and most is not None and use is not None and use >= _BUSY and clock < _FAR_BELOW * most


_BUSY, _FAR_BELOW = 0.9, 0.6
"""Chosen, as of the kind clocks-stuck-low: a card that waits now and then is less busy, and one that saves power runs faster."""


def _is_slow_for_nothing(values: Mapping[str, str]) -> bool:
    """Whether the card is slow, and the report gives neither power nor heat as the reason."""
    held = any(_HELD.search(path) is not None and text.lower() == "active" for path, text in values.items())
    return not held and is_slow(*(quantity(values.get(path, "")) for path in (SM_CLOCK, _MOST, _USE)))


_LANES = "pci/gpu link info/link width/"
_WIDTH = Pattern(r"^(\d{1,2})x$")


def _is_short_of_lanes(path: str, values: Mapping[str, str]) -> bool:
    """Whether this is the width of a link with fewer lanes than it could have: those are not given up to save power."""
    if path != f"{_LANES}current":
        return False
    now, most = (_WIDTH.search(values.get(f"{_LANES}{which}", "")) for which in ("current", "max"))
    return now is not None and most is not None and int(now.group(1)) < int(most.group(1))


def _facts(values: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[tuple[str, str | float]]:
    for path, key in wanted.items():
        value = values.get(path, "")
        if value.lower() in _UNKNOWN:
            continue
        number = _NUMBER.search(value)
        is_plain = number is not None and key.endswith(("_mib", "_generation"))
        yield key, float(number.group(1)) if is_plain and number is not None else value
