"""``nvidia-smi --query-gpu`` and ``--query-compute-apps`` with ``--format=csv``, and the columns of ``dmon`` and ``pmon``.

Which column means what is one table, whatever their order; what a state means is asked of the report (``nvidia-smi -q``).
"""

import csv
from collections.abc import Callable, Sequence
from typing import NamedTuple

from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Take
from triage.ingest.logs.shown.quantities import quantity
from triage.ingest.logs.shown.smi_report import SM_CLOCK, is_slow, speaks_of_trouble
from triage.ingest.logs.shown.smi_table import process_on
from triage.ingest.logs.timestamps import Clock
from triage.model.recording import Subject
from triage.patterns import Pattern


class Column(NamedTuple):
    """What a column of the tool means.

    :param signal: a sample of this signal
    :param unit: of numbers that have none: ``--format=nounits`` leaves them out
    :param path: the state under this path of the report
    :param fact: a fact of the card
    """

    signal: str = ""
    unit: str = ""
    path: str = ""
    fact: str = ""


_REASONS = "clocks event reasons/"
_QUERIED: dict[str, Column] = {
    "name": Column(fact="gpu_model"), "gpu_name": Column(fact="gpu_model"), "driver_version": Column(fact="driver_version"),
    "vbios_version": Column(fact="vbios_version"), "persistence_mode": Column(fact="persistence_mode"),
    "compute_mode": Column(fact="compute_mode"), "mig.mode.current": Column(fact="mig_mode"),
    "utilization.gpu": Column("gpu.util", "%"), "utilization.memory": Column("gpu.mem_util", "%"),
    "memory.used": Column("gpu.mem_used", "mib"), "memory.free": Column("gpu.mem_free", "mib"),
    "memory.total": Column("gpu.mem_total", "mib"), "temperature.gpu": Column("gpu.temp"),
    "temperature.memory": Column("gpu.mem_temp"), "power.draw": Column("gpu.power", "w"),
    "power.draw.average": Column("gpu.power", "w"), "power.draw.instant": Column("gpu.power", "w"),
    "enforced.power.limit": Column("gpu.power_limit", "w"), "power.limit": Column("gpu.power_limit", "w"),
    "clocks.sm": Column("gpu.sm_clock", "mhz"), "clocks.current.sm": Column("gpu.sm_clock", "mhz"),
    "clocks.mem": Column("gpu.mem_clock", "mhz"), "clocks.current.memory": Column("gpu.mem_clock", "mhz"),
    "clocks.max.sm": Column("gpu.sm_clock_max", "mhz"), "clocks.applications.graphics": Column("gpu.app_clock", "mhz"),
    "pcie.link.gen.current": Column("gpu.pcie_gen"), "pcie.link.gen.gpucurrent": Column("gpu.pcie_gen"),
    "pcie.link.gen.max": Column("gpu.pcie_gen_max"), "pcie.link.width.current": Column("gpu.pcie_width"),
    "pcie.link.width.max": Column("gpu.pcie_width_max"),
    "ecc.errors.uncorrected.volatile.total": Column("gpu.ecc_uncorrected", path="ecc errors/volatile/dram uncorrectable"),
    "ecc.errors.uncorrected.volatile.dram": Column(path="ecc errors/volatile/dram uncorrectable"),
    "ecc.errors.uncorrected.volatile.sram": Column(path="ecc errors/volatile/sram uncorrectable"),
    "ecc.errors.corrected.volatile.total": Column("gpu.ecc_corrected"),
    "retired_pages.pending": Column(path="retired pages/pending page blacklist"),
    "remapped_rows.pending": Column(path="remapped rows/pending"),
    "remapped_rows.failure": Column(path="remapped rows/remapping failure occurred"),
    "remapped_rows.uncorrectable": Column("gpu.remapped_uncorrectable"),
    "remapped_rows.correctable": Column("gpu.remapped_correctable"),
    "gpu_recovery_action": Column(path="gpu recovery action"), "fabric.state": Column(path="fabric/state"),
    "fabric.status": Column(path="fabric/status"),
    **{
        f"clocks_{word}_reasons.{name}": Column(signal, path=f"{_REASONS}{name.replace('_', ' ')}")
        for word in ("event", "throttle")
        for name, signal in (
            ("hw_slowdown", "gpu.throttle_hw"), ("hw_thermal_slowdown", "gpu.throttle_thermal_hw"),
            ("hw_power_brake_slowdown", "gpu.throttle_brake"), ("sw_thermal_slowdown", "gpu.throttle_thermal_sw"),
            ("sw_power_cap", "gpu.throttle_power"), ("sync_boost", "gpu.throttle_sync"),
            ("applications_clocks_setting", "gpu.clocks_set"), ("gpu_idle", "gpu.clocks_idle"),
        )
    },
}  # fmt: skip
"""Fields of ``nvidia-smi --help-query-gpu``, as it heads its columns."""

_OF_PACE = ("gpu.sm_clock", "gpu.sm_clock_max", "gpu.util")
_FREE = 0x1 | 0x2
"""Bits of reasons that are no lack of power or cold: that it idles, and that somebody set its clocks."""

_MASKS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_BITS: tuple[tuple[int, str, str], ...] = (
    (0x1, "gpu.clocks_idle", ""), (0x2, "gpu.clocks_set", ""), (0x4, "gpu.throttle_power", ""),
    (0x8, "gpu.throttle_hw", "hw slowdown"), (0x10, "gpu.throttle_sync", ""),
    (0x20, "gpu.throttle_thermal_sw", "sw thermal slowdown"), (0x40, "gpu.throttle_thermal_hw", "hw thermal slowdown"),
    (0x80, "gpu.throttle_brake", "hw power brake slowdown"),
)  # fmt: skip
"""Reasons in the mask of all of them: NVML, ``nvmlClocksEventReason*``."""

_STATES = {"active": 1.0, "not active": 0.0, "yes": 1.0, "no": 0.0}
_UUIDS, _PLACES, _NUMBERS, _TIMES = ("uuid", "gpu_uuid"), ("pci.bus_id", "gpu_bus_id"), ("index",), ("timestamp",)
_HEADING = Pattern(r"^([a-z][a-z0-9_.]*)(?: \[\S+\])?$")
_ASKED = Pattern(rb"--query-(gpu|compute-apps)[= ]\"?([\w.,]+)")
_MAX_COLUMNS = 100


def headings(line: bytes) -> list[str]:
    """The fields that a line heads columns of; none if it is no such line."""
    if b"," not in line:
        return []
    cells = [_HEADING.search(cell.strip()) for cell in redacted_bytes(line, 4000).split(",")[:_MAX_COLUMNS]]
    names = [cell.group(1) if cell is not None else "" for cell in cells]
    known = sum(name in _QUERIED or name in (*_MASKS, *_UUIDS, *_PLACES, *_NUMBERS, *_TIMES) for name in names)
    return names if all(names) and known >= 2 and known >= len(names) / 2 else []


def process_headings(line: bytes) -> list[str]:
    """The fields of processes that a line heads columns of; none if it is no such line."""
    cells = [_HEADING.search(cell.strip()) for cell in redacted_bytes(line, 4000).split(",")[:_MAX_COLUMNS]]
    names = [cell.group(1) if cell is not None else "" for cell in cells]
    return names if "pid" in names and {"used_gpu_memory", "used_memory", "process_name", "name"} & set(names) else []


def asked_for(command: bytes) -> tuple[str, list[str]]:
    """What a typed command asks for, ``gpu`` or ``compute-apps``, and the fields: its output may have no heading."""
    found = _ASKED.search(command)
    return (found.group(1).decode(), found.group(2).decode().split(",")) if found is not None else ("", [])


class SmiCsv:
    """Reads rows of cards below a heading, or of a command that was asked for them without one.

    :param clock: reads the column of times
    """

    def __init__(self, shown: Shown, names: Sequence[str], clock: Clock, row: "Row") -> None:
        self._shown = shown
        self._names = names
        self._clock = clock
        self._row = row

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a row; the heading may come again."""
        if headings(line) or process_headings(line):
            return Take.WHOLE
        cells = next(csv.reader([redacted_bytes(line, 4000)], skipinitialspace=True), [])
        if len(cells) != len(self._names) or (stamped and not set(_TIMES) & set(self._names)):
            return Take.OVER
        values = {name: cell.strip().strip("[]") for name, cell in zip(self._names, cells, strict=True)}
        time = next((self._clock.read(values[name].encode()) for name in _TIMES if name in values), None)
        self._row(self._shown, values, time)
        return Take.WHOLE

    def finish(self) -> None:
        """Nothing waits."""


Row = Callable[[Shown, dict[str, str], float | None], None]


def card_row(shown: Shown, values: dict[str, str], time: float | None) -> None:
    """A row of ``--query-gpu``."""
    bus = next((values[name] for name in _PLACES if name in values), "")
    name = next((values[one] for one in _UUIDS if one in values), bus)
    card = shown.card(next((values[one] for one in _NUMBERS if one in values), ""), name)
    if bus:
        shown.fact(card, "pci_bus_id", bus)
    for field, text in values.items():
        column = _QUERIED.get(field)
        if column is not None:
            read_column(shown, card, column, text, time, bus)
        elif field in _MASKS:
            _read_mask(shown, card, text, time, bus)
    _read_clock(shown, card, values, time)


def _read_clock(shown: Shown, card: Subject, values: dict[str, str], time: float | None) -> None:
    """Says that a busy card is slow without a reason: it must have been asked for reasons, and give none that holds it back."""
    amounts = {
        column.signal: quantity(values[field], column.unit)
        for field, column in _QUERIED.items()
        if field in values and column.signal in _OF_PACE
    }
    masks = [mask for field in _MASKS if (mask := _mask(values.get(field, ""))) is not None]
    if masks and not any(mask & ~_FREE for mask in masks) and is_slow(*(amounts.get(signal) for signal in _OF_PACE)):
        shown.state(SM_CLOCK, values.get("clocks.current.sm", values.get("clocks.sm", "")), card, "nvidia-smi", time)


def read_column(shown: Shown, card: Subject, column: Column, text: str, time: float | None, bus: str = "") -> None:
    """A value of a card under its column."""
    if column.fact and text.lower() not in {"n/a", "", "not supported", "unknown error"}:
        shown.fact(card, column.fact, text)
    if column.signal:
        value = _STATES.get(text.lower()) if text.lower() in _STATES else quantity(text, column.unit)
        shown.sample(column.signal, card, value, time)
    if column.path and speaks_of_trouble(column.path, text):
        shown.state(column.path, text, card, "nvidia-smi", time, {"pci": bus} if bus else {})


def _mask(text: str) -> int | None:
    """A number of bits; None if it is none."""
    try:
        return int(text, 16)
    except ValueError:
        return None


def _read_mask(shown: Shown, card: Subject, text: str, time: float | None, bus: str) -> None:
    """All reasons for which clocks are held down, as one number."""
    mask = _mask(text)
    if mask is None:
        return
    for bit, signal, name in _BITS:
        shown.sample(signal, card, float(bool(mask & bit)), time)
        if mask & bit and name:
            shown.state(f"{_REASONS}{name}", "Active", card, "nvidia-smi", time, {"pci": bus} if bus else {})


def process_row(shown: Shown, values: dict[str, str], _time: float | None) -> None:
    """A row of ``--query-compute-apps``."""
    memory = next((values[name] for name in ("used_gpu_memory", "used_memory") if name in values), "")
    amount = quantity(memory, "mib")
    name = next((values[one] for one in ("process_name", "name") if values.get(one)), "-")
    if amount is not None:
        process_on(shown, "0", values["pid"], "C", name.split(" ")[0], f"{amount / 2**20:.0f}MiB")


# ---------------------------------------------------------------- dmon, pmon

_WATCHED: dict[str, Column] = {
    "pwr": Column("gpu.power"), "gtemp": Column("gpu.temp"), "temp": Column("gpu.temp"), "mtemp": Column("gpu.mem_temp"),
    "sm": Column("gpu.util", "%"), "mem": Column("gpu.mem_util", "%"), "mclk": Column("gpu.mem_clock", "mhz"),
    "pclk": Column("gpu.sm_clock", "mhz"), "fb": Column("gpu.mem_used", "mib"), "rxpci": Column("gpu.pcie_rx", "mb"),
    "txpci": Column("gpu.pcie_tx", "mb"),
}  # fmt: skip
"""Columns of ``nvidia-smi dmon``."""

_WATCH = Pattern(rb"^# ?(?:Date +Time +)?gpu +(\w.*)$")


def watches(line: bytes) -> bool:
    """Whether a line heads the columns of ``dmon`` or ``pmon``."""
    return _WATCH.search(line) is not None


class SmiWatch:
    """Reads the rows of ``dmon``; those of ``pmon`` are taken and say nothing that is judged."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._names: list[str] = []
        self._dated = False

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a row or a heading, which comes again after some rows."""
        words = redacted_bytes(line).split()
        if line[:1] == b"#":
            if watches(line):
                self._dated = "Date" in words
                self._names = [word for word in words if word not in {"#", "Date", "Time"}]
            return Take.WHOLE
        cells = words[2:] if self._dated else words
        if len(cells) < len(self._names) or not cells[0].isdigit() or (stamped and not self._dated):
            return Take.OVER
        if "pid" not in self._names:
            card = self._shown.card(cells[0])
            for name, text in zip(self._names[1:], cells[1:], strict=False):
                column = _WATCHED.get(name)
                if column is not None:
                    read_column(self._shown, card, column, text, None)
        return Take.WHOLE

    def finish(self) -> None:
        """Nothing waits."""
