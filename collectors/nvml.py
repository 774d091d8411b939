"""The NVIDIA cards of this machine, asked through the driver's own library."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import psutil

from triage.sdk import (
    Event,
    Fact,
    Kind,
    Reading,
    Recording,
    Request,
    Samples,
    Scope,
    Source,
    SourceState,
    Subject,
    beats,
    catalogue,
    in_background,
)
from triage.sdk.parts import engines, processes

Nvml = Any
"""The module pynvml, which has no types."""
Handle = Any

_PROC = Path("/proc")
_PATIENCE_TO_OPEN = 3.0
"""Opening the driver may take this many times the time-out: without persistence mode it wakes every card first."""

_UNIFIED = re.compile(r"GB10\b|Orin|Thor|Xavier|Tegra", re.IGNORECASE)
"""Cards that share the host's memory. Some drivers refuse to tell their memory, some tell wrong figures."""

_ALL_LINKS = 0xFFFFFFFF

# Codes of NVML's answers (nvml.h, nvmlReturn_t). pynvml gives them as ``NVMLError.value``.
_NOT_SUPPORTED, _NO_PERMISSION, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _FUNCTION_NOT_FOUND = 3, 4, 9, 12, 13
_GPU_IS_LOST, _RESET_REQUIRED, _MISMATCH, _VERSION, _DEPRECATED, _UNKNOWN = 15, 16, 18, 25, 26, 999
_FOR_EVER = {
    2: "is not supported",
    _NOT_SUPPORTED: "is not supported",
    _NO_PERMISSION: "needs more rights",
    _FUNCTION_NOT_FOUND: "is not known to this driver",
    _VERSION: "is not known to this driver",
    _DEPRECATED: "is not known to this driver",
}
_GONE = {_GPU_IS_LOST: "fell off the bus", _RESET_REQUIRED: "needs a reset", 28: "is not found any more"}


@dataclass(frozen=True)
class _OpenFailure:
    """Why the driver could not be opened: the state of the source, an event's name, the driver's own words, what it means."""

    state: SourceState
    name: str
    said: str
    meaning: str


_OPEN_FAILURES = {
    _LIBRARY_NOT_FOUND: _OpenFailure(
        SourceState.ABSENT,
        "",
        "",
        "libnvidia-ml.so.1 is not here: there is no NVIDIA driver, or triage runs in a container that was not given the cards",
    ),
    _DRIVER_NOT_LOADED: _OpenFailure(
        SourceState.FAILED,
        "driver-not-loaded",
        "Failed to initialize NVML: Driver Not Loaded",
        "the driver's library is here but its kernel module is not loaded: look at lsmod and dmesg for nvidia",
    ),
    _MISMATCH: _OpenFailure(
        SourceState.FAILED,
        "driver-library-mismatch",
        "Failed to initialize NVML: Driver/library version mismatch",
        "the library was upgraded while the old kernel module is still loaded: no new program can use the cards until a reboot",
    ),
    _NO_PERMISSION: _OpenFailure(
        SourceState.FAILED,
        "no-permission",
        "Failed to initialize NVML: Insufficient Permissions",
        "this user may not open /dev/nvidiactl and /dev/nvidia*: run as a user who may",
    ),
    _UNKNOWN: _OpenFailure(
        SourceState.FAILED,
        "unknown-error",
        "Failed to initialize NVML: Unknown Error",
        "a container has lost access to the devices (a reload of systemd does that): compare with nvidia-smi on the host",
    ),
    _GPU_IS_LOST: _OpenFailure(
        SourceState.FAILED,
        "gpu-lost",
        "Failed to initialize NVML: GPU is lost",
        "a card fell off the bus: look for Xid 79 in the kernel log",
    ),
}


class CardGoneError(Exception):
    """The driver says that a card is gone."""


Convert = Callable[[float], float]


def _times(scale: float) -> Convert:
    return lambda value: value * scale


def _over(divisor: float) -> Convert:
    return lambda value: value / divisor


def _bit(mask: int) -> Convert:
    return lambda value: float(int(value) & mask != 0)


@dataclass(frozen=True)
class Question:
    """One call that tells signals of a card.

    :param what: what it tells, in words
    :param function: name in pynvml
    :param signals: signal, attribute or index of the answer that holds it (None: the answer itself), conversion to base units
    :param constants: names of pynvml's constants that follow the handle
    :param older: name of the same function in older drivers (or of its successor in newer ones)
    """

    what: str
    function: str
    signals: tuple[tuple[str, str | int | None, Convert], ...]
    constants: tuple[str, ...] = ()
    older: str = ""

    def ask(self, nvml: Nvml, handle: Handle) -> list[Reading]:
        """Readings of one card.

        :raises pynvml.NVMLError: the driver does not tell
        """
        answer = self._answer(nvml, handle)
        return [_reading(signal, convert(_part(answer, part)), self.function) for signal, part, convert in self.signals]

    def _answer(self, nvml: Nvml, handle: Handle) -> Any:
        constants = [getattr(nvml, name) for name in self.constants]
        try:
            return getattr(nvml, self.function)(handle, *constants)
        except nvml.NVMLError as error:
            if not self.older or error.value not in {_FUNCTION_NOT_FOUND, _DEPRECATED}:
                raise
        return getattr(nvml, self.older)(handle, *constants)


def _part(answer: Any, part: str | int | None) -> float:
    if part is None:
        return float(answer)
    return float(answer[part] if isinstance(part, int) else getattr(answer, part))


def _reading(signal: str, value: float, metric: str) -> Reading:
    return Reading(signal, value, metric, counter=catalogue()[signal].kind is Kind.RATE)


_SAME, _KILO, _MEGA = (_times(scale) for scale in (1.0, 1e3, 1e6))
_PERCENT, _MILLI, _NANO = (_over(divisor) for divisor in (1e2, 1e3, 1e9))

# fmt: off
_QUESTIONS = (
    Question("utilisation", "nvmlDeviceGetUtilizationRates",
             (("gpu.util", "gpu", _PERCENT), ("gpu.mem_util", "memory", _PERCENT))),
    Question("temperature", "nvmlDeviceGetTemperature", (("gpu.temp", None, _SAME),), ("NVML_TEMPERATURE_GPU",),
             older="nvmlDeviceGetTemperatureV"),
    Question("power", "nvmlDeviceGetPowerUsage", (("gpu.power", None, _MILLI),)),
    Question("power limit", "nvmlDeviceGetEnforcedPowerLimit", (("gpu.power_limit", None, _MILLI),)),
    Question("energy", "nvmlDeviceGetTotalEnergyConsumption", (("gpu.energy", None, _MILLI),)),
    Question("SM clock", "nvmlDeviceGetClockInfo", (("gpu.sm_clock", None, _MEGA),), ("NVML_CLOCK_SM",)),
    Question("highest SM clock", "nvmlDeviceGetMaxClockInfo", (("gpu.sm_clock_max", None, _MEGA),), ("NVML_CLOCK_SM",)),
    Question("memory clock", "nvmlDeviceGetClockInfo", (("gpu.mem_clock", None, _MEGA),), ("NVML_CLOCK_MEM",)),
    Question("reasons for cut clocks", "nvmlDeviceGetCurrentClocksEventReasons",
             (("gpu.throttle_power", None, _bit(0x4)), ("gpu.throttle_hw", None, _bit(0x8)),
              ("gpu.throttle_thermal", None, _bit(0x20 | 0x40)), ("gpu.throttle_brake", None, _bit(0x80))),
             older="nvmlDeviceGetCurrentClocksThrottleReasons"),
    Question("time held down by heat", "nvmlDeviceGetViolationStatus", (("gpu.thermal_violation", "violationTime", _NANO),),
             ("NVML_PERF_POLICY_THERMAL",)),
    Question("time held down by power", "nvmlDeviceGetViolationStatus", (("gpu.power_violation", "violationTime", _NANO),),
             ("NVML_PERF_POLICY_POWER",)),
    Question("ECC errors", "nvmlDeviceGetTotalEccErrors", (("gpu.ecc_uncorrected", None, _SAME),),
             ("NVML_MEMORY_ERROR_TYPE_UNCORRECTED", "NVML_VOLATILE_ECC")),
    Question("corrected ECC errors", "nvmlDeviceGetTotalEccErrors", (("gpu.ecc_corrected", None, _SAME),),
             ("NVML_MEMORY_ERROR_TYPE_CORRECTED", "NVML_VOLATILE_ECC")),
    Question("remapped rows", "nvmlDeviceGetRemappedRows",
             (("gpu.remapped_correctable", 0, _SAME), ("gpu.remapped_uncorrectable", 1, _SAME),
              ("gpu.remap_pending", 2, _bit(1)), ("gpu.remap_failure", 3, _bit(1)))),
)

_PCIE_QUESTIONS = (
    Question("PCIe generation", "nvmlDeviceGetCurrPcieLinkGeneration", (("gpu.pcie_gen", None, _SAME),)),
    Question("highest PCIe generation", "nvmlDeviceGetMaxPcieLinkGeneration", (("gpu.pcie_gen_max", None, _SAME),)),
    Question("PCIe width", "nvmlDeviceGetCurrPcieLinkWidth", (("gpu.pcie_width", None, _SAME),)),
    Question("greatest PCIe width", "nvmlDeviceGetMaxPcieLinkWidth", (("gpu.pcie_width_max", None, _SAME),)),
    Question("PCIe replays", "nvmlDeviceGetPcieReplayCounter", (("gpu.pcie_replays", None, _SAME),)),
    Question("PCIe receive rate", "nvmlDeviceGetPcieThroughput", (("gpu.pcie_rx", None, _KILO),), ("NVML_PCIE_UTIL_RX_BYTES",)),
    Question("PCIe send rate", "nvmlDeviceGetPcieThroughput", (("gpu.pcie_tx", None, _KILO),), ("NVML_PCIE_UTIL_TX_BYTES",)),
)
# fmt: on


def memory(nvml: Nvml, handle: Handle) -> tuple[float, float, float, float]:
    """Total, reserved, free and used bytes of a card.

    What the driver keeps for itself is reserved; old drivers count it as used and tell no reserve.

    :raises pynvml.NVMLError: the driver does not tell
    """
    try:
        told = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        total, reserved = float(told.total), float(told.reserved)
    except (nvml.NVMLError, nvml.NVMLLibraryMismatchError) as error:
        if getattr(error, "value", _FUNCTION_NOT_FOUND) not in {_FUNCTION_NOT_FOUND, _VERSION}:
            raise
        told = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, reserved = float(told.total), 0.0
    if not total:
        raise nvml.NVMLError(_NOT_SUPPORTED)
    return total, reserved, float(told.free), float(told.used)


def _memory_readings(nvml: Nvml, handle: Handle) -> list[Reading]:
    total, _, free, used = memory(nvml, handle)
    rows = (("gpu.mem_total", total), ("gpu.mem_free", free), ("gpu.mem_used", used))
    return [_reading(signal, value, "nvmlDeviceGetMemoryInfo") for signal, value in rows]


_VALUE_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Members of nvmlValue_t by nvmlValueType_t."""


def _field(nvml: Nvml, handle: Handle, *fields: tuple[str, int]) -> list[float]:
    """Values of fields by name and scope, those that the driver tells.

    :raises pynvml.NVMLError: it tells none of them
    """
    answers = nvml.nvmlDeviceGetFieldValues(handle, [(getattr(nvml, name), scope) for name, scope in fields])
    kept = [one for one in answers if one.nvmlReturn == 0]
    if not kept:
        raise nvml.NVMLError(answers[0].nvmlReturn)
    return [float(getattr(one.value, _VALUE_MEMBERS[one.valueType])) for one in kept]


def _memory_temperature(nvml: Nvml, handle: Handle) -> list[Reading]:
    """Temperature of the memory; cards without a sensor there say 0."""
    value = _field(nvml, handle, ("NVML_FI_DEV_MEMORY_TEMP", 0))[0]
    if value == 0:
        raise nvml.NVMLError(_NOT_SUPPORTED)
    return [_reading("gpu.mem_temp", value, "NVML_FI_DEV_MEMORY_TEMP")]


def links(nvml: Nvml, handle: Handle) -> tuple[list[int], int]:
    """Numbers of the NVLinks that are up, and how many there are; none on a card without NVLink."""
    up, count = [], 0
    for link in range(nvml.NVML_NVLINK_MAX_LINKS):
        try:
            if nvml.nvmlDeviceGetNvLinkState(handle, link):
                up.append(link)
        except nvml.NVMLError:
            break
        count += 1
    return up, count


_LINK_COUNTERS = tuple(f"NVML_NVLINK_ERROR_DL_{kind}" for kind in ("REPLAY", "RECOVERY", "CRC_FLIT", "CRC_DATA"))
_LINK_FIELDS = (
    "NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS",
    "NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS",
    "NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS",
)
"""Counters of the fifth NVLink generation, whose drivers have given up the older ones."""


def _link_errors(up: list[int], nvml: Nvml, handle: Handle) -> list[Reading]:
    """Errors of all links that are up, by link."""
    readings = []
    for link in up:
        try:
            total = sum(nvml.nvmlDeviceGetNvLinkErrorCounter(handle, link, getattr(nvml, name)) for name in _LINK_COUNTERS)
        except nvml.NVMLError as error:
            if error.value not in {_NOT_SUPPORTED, _FUNCTION_NOT_FOUND, _DEPRECATED}:
                raise
            total = sum(_field(nvml, handle, *[(name, link) for name in _LINK_FIELDS]))
        readings.append(
            Reading("gpu.nvlink_errors", float(total), "nvmlDeviceGetNvLinkErrorCounter", counter=True, part=str(link))
        )
    return readings


def _link_traffic(nvml: Nvml, handle: Handle) -> list[Reading]:
    """Bytes over all links in both directions; the driver counts KiB."""
    both = _field(
        nvml, handle, ("NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX", _ALL_LINKS), ("NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX", _ALL_LINKS)
    )
    return [Reading("gpu.nvlink_bytes", sum(both) * 1024.0, "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA", counter=True)]


def _other_memory(proc: Path, nvml: Nvml, handle: Handle) -> list[Reading]:
    """Memory of the processes that are no engine's. A process that cannot be looked at makes the sum unknown."""
    try:
        running = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except nvml.NVMLLibraryMismatchError:
        running = nvml.nvmlDeviceGetComputeRunningProcesses_v2(handle)
    total = 0.0
    for one in running:
        engine = processes.serves_engine(proc, one.pid)
        if engine is None:
            return []
        if one.usedGpuMemory is None:
            raise nvml.NVMLError(_NOT_SUPPORTED)
        total += 0.0 if engine else float(one.usedGpuMemory)
    return [_reading("gpu.mem_other", total, "nvmlDeviceGetComputeRunningProcesses")]


Ask = Callable[[Nvml, Handle], list[Reading]]


@dataclass
class _Card:
    """One card (or one MIG instance) and what is asked of it.

    :param questions: what it tells -> how to ask; a question that the driver refuses for good is dropped
    :param refused: what it does not tell -> why
    :param errors: questions that failed now and then, with the driver's words
    :param instance: it is a part of a card
    """

    subject: Subject
    handle: Handle
    model: str
    questions: list[tuple[str, Ask]]
    refused: dict[str, str] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    instance: bool = False
    pending: "Future[list[Reading]] | None" = None
    begun: tuple[float, float] = (0.0, 0.0)

    def read(self, nvml: Nvml) -> list[Reading]:
        """Asks everything once.

        :raises CardGoneError: the card is gone
        """
        readings: list[Reading] = []
        for what, ask in list(self.questions):
            try:
                readings += ask(nvml, self.handle)
            except nvml.NVMLError as error:
                self._excuse(what, ask, error)
            except (AttributeError, nvml.NVMLLibraryMismatchError):
                self._drop(what, ask, "is not known to this driver")
        return readings

    def _excuse(self, what: str, ask: Ask, error: Any) -> None:
        if error.value in _GONE:
            raise CardGoneError(_GONE[error.value]) from error
        if error.value in _FOR_EVER:
            self._drop(what, ask, _FOR_EVER[error.value])
        else:
            self.errors[f"{what}: {error}"] += 1

    def _drop(self, what: str, ask: Ask, why: str) -> None:
        self.questions.remove((what, ask))
        self.refused[what] = why


@dataclass
class _Driver:
    """The open driver: its cards, what it says of them for good, and the reports of Xid that it is asked for."""

    nvml: Nvml
    node: Subject
    cards: list[_Card] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reports: Any = None
    reporting: dict[Subject, float] = field(default_factory=dict)

    def open(self, now: float) -> None:
        """Finds all cards.

        :raises pynvml.NVMLError: the driver cannot be opened
        """
        self.nvml.nvmlInit()
        self._fact(self.node, "driver_version", self.nvml.nvmlSystemGetDriverVersion)
        self._fact(self.node, "cuda_driver_version", lambda: _cuda(self.nvml.nvmlSystemGetCudaDriverVersion_v2()))
        count = self.nvml.nvmlDeviceGetCount()
        for number in range(count):
            try:
                self._add_card(self.nvml.nvmlDeviceGetHandleByIndex(number))
            except self.nvml.NVMLError as error:
                if error.value not in {*_GONE, _NO_PERMISSION, _UNKNOWN}:
                    raise
                self._refused_card(number, error, now)
        self.facts.append(Fact(self.node, "gpu_count", float(count), "nvml"))
        self._listen()

    def _refused_card(self, number: int, error: Any, now: float) -> None:
        """Notes a card that is counted but cannot be asked."""
        self.notes.append(f"card {number} cannot be asked: {error}")
        if error.value in _GONE:
            self.events.append(Event(now, "gpu-lost", f"card {number}", self.node, {}, f"card {number}: {error}", "nvml"))

    def _add_card(self, handle: Handle) -> None:
        nvml = self.nvml
        subject = Subject(Scope.GPU, str(nvml.nvmlDeviceGetUUID(handle)))
        model = str(nvml.nvmlDeviceGetName(handle))
        split = list(self._instances(handle))
        unified = not split and self._is_unified(handle, model)
        card = _Card(subject, handle, model, [(one.what, one.ask) for one in _QUESTIONS])
        card.questions.append(("memory temperature", _memory_temperature))
        if not unified:
            card.questions += [(one.what, one.ask) for one in _PCIE_QUESTIONS]
        if not unified and not split:
            card.questions.append(("memory", _memory_readings))
        if not split:
            card.questions += self._process_question(card)
        up, count = links(nvml, handle)
        if up:
            card.questions += [("NVLink errors", partial(_link_errors, up)), ("NVLink traffic", _link_traffic)]
        if count:
            told = (("nvlink_links", float(count)), ("nvlink_links_up", float(len(up))))
            self.facts += [Fact(subject, key, value, "nvml") for key, value in told]
        self.cards += [card, *split]
        self._card_facts(card, unified)

    def _process_question(self, card: _Card) -> list[tuple[str, Ask]]:
        """Asks for other processes' memory where the driver's process ids mean something here."""
        if processes.sees_host_pids(_PROC):
            return [("memory of other processes", partial(_other_memory, _PROC))]
        card.refused["memory of other processes"] = "cannot be told in a container that has process ids of its own"
        return []

    def _is_unified(self, handle: Handle, model: str) -> bool:
        """Whether a card has no memory of its own."""
        if _UNIFIED.search(model):
            return True
        try:
            memory(self.nvml, handle)
        except self.nvml.NVMLError as error:
            return bool(error.value == _NOT_SUPPORTED)
        return False

    def _instances(self, handle: Handle) -> Iterator[_Card]:
        """MIG instances of a card. Use and heat are told of the whole card only, memory of each instance."""
        try:
            if self.nvml.nvmlDeviceGetMigMode(handle)[0] != 1:
                return
            count = self.nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
        except self.nvml.NVMLError:
            return
        for number in range(count):
            with suppress(self.nvml.NVMLError):
                part = self.nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
                subject = Subject(Scope.GPU, str(self.nvml.nvmlDeviceGetUUID(part)))
                card = _Card(subject, part, str(self.nvml.nvmlDeviceGetName(part)), [("memory", _memory_readings)], instance=True)
                card.questions += self._process_question(card)
                self.facts += [
                    Fact(subject, "gpu_model", card.model, "nvml"),
                    Fact(subject, "mig_parent", str(self.nvml.nvmlDeviceGetUUID(handle)), "nvml"),
                ]
                yield card

    def _card_facts(self, card: _Card, unified: bool) -> None:
        nvml, handle, subject = self.nvml, card.handle, card.subject
        self.facts.append(Fact(subject, "gpu_model", card.model, "nvml"))
        self._fact(subject, "compute_capability", lambda: "{}.{}".format(*nvml.nvmlDeviceGetCudaComputeCapability(handle)))
        self._fact(subject, "mig_mode", lambda: "on" if nvml.nvmlDeviceGetMigMode(handle)[0] else "off")
        self._fact(subject, "power_limit_default_watts", lambda: nvml.nvmlDeviceGetPowerManagementDefaultLimit(handle) / 1e3)
        self._fact(subject, "power_limit_max_watts", lambda: nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle)[1] / 1e3)
        self._fact(subject, "vbios_version", lambda: nvml.nvmlDeviceGetVbiosVersion(handle))
        self._fact(subject, "pci_bus_id", lambda: nvml.nvmlDeviceGetPciInfo(handle).busId)
        if unified:
            self.facts.append(Fact(subject, "unified_memory", "true", "nvml"))
        elif any(what == "memory" for what, _ in card.questions):
            self._fact(subject, "gpu_mem_reserved_bytes", lambda: memory(nvml, handle)[1])

    def _fact(self, subject: Subject, key: str, tell: Callable[[], Any]) -> None:
        """Adds a fact if the driver tells it."""
        try:
            value = tell()
        except (self.nvml.NVMLError, self.nvml.NVMLLibraryMismatchError, AttributeError):
            return
        if isinstance(value, bytes):
            value = value.decode("utf-8", errors="replace")
        if value != "":
            self.facts.append(Fact(subject, key, value if isinstance(value, str) else float(value), "nvml"))

    def _listen(self) -> None:
        """Asks the driver to report Xid; without the rights for it the kernel log is the only witness."""
        nvml = self.nvml
        try:
            self.reports = nvml.nvmlEventSetCreate()
        except nvml.NVMLError:
            self.notes.append("Xid cannot be watched, only the kernel log shows it")
            return
        for card in self.cards:
            with suppress(nvml.NVMLError):
                if not card.instance:
                    nvml.nvmlDeviceRegisterEvents(card.handle, nvml.nvmlEventTypeXidCriticalError, self.reports)
                    self.reporting[card.subject] = 0.0

    def reported(self) -> list[tuple[Subject, int]]:
        """Cards and codes of Xid since the last call. Does not wait."""
        found: list[tuple[Subject, int]] = []
        while self.reporting and len(found) < 100:
            try:
                report = self.nvml.nvmlEventSetWait_v2(self.reports, 0)
                found.append((Subject(Scope.GPU, str(self.nvml.nvmlDeviceGetUUID(report.device))), int(report.eventData)))
            except self.nvml.NVMLError:
                break
        return found

    def close(self) -> None:
        """Lets go of the driver."""
        with suppress(self.nvml.NVMLError):
            if self.reports is not None:
                self.nvml.nvmlEventSetFree(self.reports)
            self.nvml.nvmlShutdown()


def _cuda(version: int) -> str:
    """13000 as 13.0, 12040 as 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"


class _Run:
    """One run over an open driver: what the cards said, which of them went or fell silent."""

    def __init__(self, driver: _Driver, request: Request) -> None:
        self.driver, self.request = driver, request
        self.samples = Samples()
        self.living = list(driver.cards)
        self.listening: Future[list[tuple[Subject, int]]] | None = None
        self.silent = False

    def sample(self) -> None:
        """Asks all cards until the window ends or none is left."""
        request = self.request
        for now, done in beats(request.window.end, request.step, request.clock, request.stop):
            request.progress(f"sampling {len(self.living)} card{'s' * (len(self.living) != 1)}", done)
            for card in self.living:
                if card.pending is None:
                    card.begun = (now, monotonic())
                    card.pending = in_background(partial(card.read, self.driver.nvml))
            if self.listening is None:
                self.listening = in_background(self.driver.reported)
            self._harvest(now, min(request.timeout, 0.9 * request.step))
            if not self.living:
                break
        self._harvest(request.clock(), 0.0 if request.stop.is_set() else request.timeout)

    def _harvest(self, now: float, timeout: float) -> None:
        """Takes what came back within the timeout, and gives up on what has been away for too long."""
        away: list[Future[Any] | None] = [self.listening, *(card.pending for card in self.living)]
        wait([one for one in away if one], timeout=timeout)
        for card in list(self.living):
            if card.pending is None:
                continue
            if card.pending.done():
                self._take(card, now)
                card.pending = None
            elif monotonic() - card.begun[1] >= self.request.timeout:
                self._give_up(card, now)
        if self.listening and self.listening.done():
            self._report(self.listening.result(), now)
            self.listening = None

    def _take(self, card: _Card, now: float) -> None:
        assert card.pending is not None
        try:
            readings = card.pending.result()
        except CardGoneError as error:
            self._lose(card, now, "gpu-lost", str(error))
            return
        for reading in readings:
            self.samples.add(card.begun[0], card.subject, reading)

    def _give_up(self, card: _Card, now: float) -> None:
        self.silent = True
        self._lose(card, now, "gpu-hung", f"did not answer the driver within {self.request.timeout:g} s")

    def _lose(self, card: _Card, now: float, kind: str, why: str) -> None:
        """Ends a card's series."""
        self.living.remove(card)
        self.driver.notes.append(f"{card.model} {card.subject.id} {why}")
        if not card.instance:
            self.driver.events.append(Event(now, kind, kind, card.subject, {}, f"{card.model} {why}", "nvml"))

    def _report(self, reports: list[tuple[Subject, int]], now: float) -> None:
        """Adds Xids as events, and the last code as a signal of the cards that can report one."""
        reporting = self.driver.reporting
        for subject, code in reports:
            reporting[subject] = float(code)
            self.driver.events.append(Event(now, "xid", str(code), subject, {}, f"the driver reports Xid {code}", "nvml"))
        for card in self.living:
            if card.subject in reporting:
                self.samples.add(now, card.subject, _reading("gpu.xid", reporting[card.subject], "nvmlEventSetWait"))


def _own_names() -> set[str]:
    """Names and addresses of this machine."""
    addresses = {address.address.partition("%")[0] for link in psutil.net_if_addrs().values() for address in link}
    return addresses | {engines.this_node({})}


class NvmlCollector:
    """Samples all cards of this machine."""

    name = "nvml"
    sees = "the NVIDIA cards of this machine: memory, clocks and what holds them down, heat, power, errors, links"

    def wanted(self, request: Request) -> str:
        """Only if the service runs here and the window lies ahead."""
        if find_spec("pynvml") is None:
            return "the Python package nvidia-ml-py is not installed"
        return engines.why_not_here(request.service, request.window.end, request.clock(), _own_names())

    def collect(self, request: Request) -> Recording:
        """Samples until the window ends. A driver or card that does not answer ends its own series, not the run."""
        import pynvml

        driver = _Driver(pynvml, Subject(Scope.NODE, engines.this_node(request.environ)))
        opening = in_background(partial(driver.open, request.clock()))
        try:
            opening.result(timeout=_PATIENCE_TO_OPEN * request.timeout)
        except TimeoutError:
            return self._closed(request, driver, _mute(_PATIENCE_TO_OPEN * request.timeout))
        except pynvml.NVMLError as error:
            return self._closed(request, driver, _open_failure(error))
        run = _Run(driver, request)
        if driver.cards:
            run.sample()
        if not run.silent:
            wait([in_background(driver.close)], timeout=min(request.timeout, 1.0))
        return self._recording(request, run)

    def _recording(self, request: Request, run: _Run) -> Recording:
        driver = run.driver
        return Recording(
            service=request.service.name,
            window=request.window,
            series=run.samples.series(self.name, request.step),
            events=tuple(driver.events),
            facts=tuple(driver.facts),
            links={card.subject: (driver.node,) for card in sorted(driver.cards, key=lambda card: card.subject)},
            sources=(_source(driver),),
            step=request.step,
        )

    def _closed(self, request: Request, driver: _Driver, failure: _OpenFailure) -> Recording:
        """The recording of a driver that could not be opened; that it could not is an event."""
        event = Event(request.clock(), "nvml", failure.name, driver.node, {}, failure.said, "nvml")
        reason = f"{failure.said}: {failure.meaning}" if failure.said else failure.meaning
        return Recording(
            request.service.name,
            request.window,
            events=(event,) if failure.name else (),
            sources=(Source(self.name, failure.state, reason),),
            step=request.step,
        )


def _open_failure(error: Any) -> _OpenFailure:
    """What an error at the opening means."""
    if error.value in _OPEN_FAILURES:
        return _OPEN_FAILURES[error.value]
    return _OpenFailure(SourceState.FAILED, "driver-error", f"Failed to initialize NVML: {error}", "compare with nvidia-smi")


def _mute(seconds: float) -> _OpenFailure:
    """What it means that the driver does not even open."""
    return _OpenFailure(
        SourceState.FAILED,
        "driver-hung",
        f"NVML did not open within {seconds:g} s",
        "nvidia-smi will hang as well; look for Xid 119 or 120 (GSP time-outs) in the kernel log",
    )


def _source(driver: _Driver) -> Source:
    """What became of the cards. That a kind of card lacks something is told, but is no failure."""
    if not driver.cards and not driver.notes:
        return Source("nvml", SourceState.FAILED, "the driver is loaded but knows no card: look at lspci and the kernel log")
    troubles = list(driver.notes)
    lacking: dict[tuple[str, str], list[str]] = {}
    for card in driver.cards:
        troubles += [f"{card.model} {card.subject.id}: {text} ({count} times)" for text, count in sorted(card.errors.items())]
        for what, why in card.refused.items():
            told = lacking.setdefault((card.model, why), [])
            if what not in told:
                told.append(what)
    state = SourceState.FAILED if not driver.cards else SourceState.PARTIAL if troubles else SourceState.OK
    return Source(
        "nvml", state, "; ".join(troubles + [f"{model}: {', '.join(what)} {why}" for (model, why), what in lacking.items()])
    )


collector = NvmlCollector()
