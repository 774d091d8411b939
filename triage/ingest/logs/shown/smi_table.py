"""The box that ``nvidia-smi`` draws: two lines of values a card, and the processes on them."""

from typing import NamedTuple

from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Take
from triage.ingest.logs.shown.quantities import quantity
from triage.ingest.logs.shown.smi_report import MAX_CARDS
from triage.model.recording import Subject
from triage.patterns import Pattern

_BANNER = Pattern(rb"NVIDIA-SMI +(\S+).*?Driver Version: +(\S+)(?:.*?CUDA Version: +(\S+))?")
_CARD = Pattern(r"^ *(\d{1,3}) +(.+?) +(\S+) *$")
_BUS = Pattern(r"\b([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\b")
_BOARD = Pattern(r"(\d+)C\b.*?(?:\bP\d+|N/A)\s+(\S+) */ *(\S+)")
_MEMORY = Pattern(r"(\d+MiB) */ *(\d+MiB)")
_UTILIZATION = Pattern(r"(\d+%)")
_PROCESS = Pattern(r"^ *(\d{1,3}) +(?:\S+ +\S+ +)?(\d+) +([CGM+]{1,5}) +(\S.*?) +(\d+MiB|N/A) *$")
_BROKEN = "ERR!"

_UNREADABLE = Pattern(r"\bERR!|\bUnknown Error\b|\[?GPU is lost\]?")


class _Card(NamedTuple):
    subject: Subject
    bus: str


def begins(line: bytes) -> bool:
    """Whether a line is the head of the box."""
    return _BANNER.search(line) is not None


class SmiTable:
    """Reads a box, from its banner to the last of its lines."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._card: _Card | None = None
        self._broken: set[str] = set()
        self._seen = 0
        self._processes = False

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line of the box; a process may mean something besides."""
        del stamped  # some write the box into a log, line by line
        bare = line.strip()
        if bare and bare[:1] not in b"|+":
            return Take.OVER
        banner = _BANNER.search(line)
        if banner is not None:
            self._head(*(redacted_bytes(one or b"", 40) for one in banner.groups()))
        elif b"Processes" in bare:
            self._processes = True
        elif bare[:1] == b"|":
            cells = redacted_bytes(bare).strip("|").split("|")
            return self._process(cells[0]) if self._processes else self._row(cells)
        return Take.WHOLE

    def _head(self, _version: str, driver: str, cuda: str) -> None:
        self._shown.fact(self._shown.node, "driver_version", driver)
        if cuda and cuda != "N/A":
            self._shown.fact(self._shown.node, "cuda_version", cuda)

    def _row(self, cells: list[str]) -> Take:
        """A line of a card: the first names it, the second measures it."""
        if len(cells) != 3:
            return Take.WHOLE
        bus = _BUS.search(cells[1])
        if bus is not None:
            self._name(cells, bus.group(1))
        elif self._card is not None:
            self._measure(self._card, cells)
        if self._card is not None and any(_UNREADABLE.search(cell) is not None for cell in cells):
            self._unreadable(self._card)
        return Take.WHOLE

    def _name(self, cells: list[str], bus: str) -> None:
        found = _CARD.search(cells[0])
        self._seen += 1
        if self._seen > MAX_CARDS:
            self._card = None
            return
        shown = self._shown
        number, name, persistence = found.groups() if found is not None else (str(self._seen - 1), "", "")
        card = self._card = _Card(shown.card(number, bus), bus)
        shown.fact(card.subject, "pci_bus_id", bus)
        if name and _BROKEN not in name:
            shown.fact(card.subject, "gpu_model", name)
        if persistence in {"On", "Off"}:
            shown.fact(card.subject, "persistence_mode", persistence)
        errors = quantity(cells[2])
        shown.sample("gpu.ecc_uncorrected", card.subject, errors)
        if errors:
            told = f"{errors:.0f}"
            shown.state("ecc errors/volatile/uncorrectable", told, card.subject, "nvidia-smi", marks={"pci": bus})

    def _measure(self, card: _Card, cells: list[str]) -> None:
        shown = self._shown
        board, memory, busy = _BOARD.search(cells[0]), _MEMORY.search(cells[1]), _UTILIZATION.search(cells[2])
        if board is not None:
            for signal, text, unit in zip(
                ("gpu.temp", "gpu.power", "gpu.power_limit"), board.groups(), ("c", "w", "w"), strict=True
            ):
                shown.sample(signal, card.subject, quantity(text, unit))
        if memory is not None:
            for signal, text in zip(("gpu.mem_used", "gpu.mem_total"), memory.groups(), strict=True):
                shown.sample(signal, card.subject, quantity(text))
        if busy is not None:
            shown.sample("gpu.util", card.subject, quantity(busy.group(1)))

    def _unreadable(self, card: _Card) -> None:
        """The driver cannot read a card."""
        if card.bus not in self._broken:
            self._broken.add(card.bus)
            self._shown.remark(
                f"nvidia-smi: the driver cannot read GPU {card.bus}: ERR! in place of its values", card.subject, "nvidia-smi"
            )

    def _process(self, cell: str) -> Take:
        found = _PROCESS.search(cell)
        if found is not None:
            process_on(self._shown, *found.groups())
        return Take.WHOLE

    def finish(self) -> None:
        """Nothing waits."""


def process_on(shown: Shown, number: str, pid: str, kind: str, name: str, memory: str) -> None:
    """Says which process holds memory of a card, in the words of the box that all versions share."""
    shown.remark(f"|  {number}   N/A  N/A  {pid}  {kind}   {name}   {memory} |", emitter="nvidia-smi")
