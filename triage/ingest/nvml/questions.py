"""What is asked of a card, call by call, and how the answers become readings in base units."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from triage.classes import dataclass
from triage.ingest.host import processes
from triage.ingest.host.sampling import Reading
from triage.ingest.nvml.errors import DEPRECATED, FUNCTION_NOT_FOUND, NOT_SUPPORTED, VERSION
from triage.model.vocabulary import Kind, catalogue

Nvml = Any
"""The module pynvml, which has no types."""

Handle = Any
"""A card, as the driver calls it."""

_ALL_LINKS = 0xFFFFFFFF

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
        return [reading(signal, convert(_part(answer, part)), self.function) for signal, part, convert in self.signals]

    def _answer(self, nvml: Nvml, handle: Handle) -> Any:
        constants = [getattr(nvml, name) for name in self.constants]
        try:
            return getattr(nvml, self.function)(handle, *constants)
        except nvml.NVMLError as error:
            if not self.older or error.value not in {FUNCTION_NOT_FOUND, DEPRECATED}:
                raise
        return getattr(nvml, self.older)(handle, *constants)


def _part(answer: Any, part: str | int | None) -> float:
    if part is None:
        return float(answer)
    return float(answer[part] if isinstance(part, int) else getattr(answer, part))


def reading(signal: str, value: float, metric: str) -> Reading:
    """A value of a signal, as a counter where the vocabulary has it as a rate."""
    return Reading(signal, value, metric, counter=catalogue()[signal].kind is Kind.RATE)


_SAME, _KILO, _MEGA = (_times(scale) for scale in (1.0, 1e3, 1e6))
_PERCENT, _MILLI, _NANO = (_over(divisor) for divisor in (1e2, 1e3, 1e9))

# fmt: off
QUESTIONS = (
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

PCIE_QUESTIONS = (
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
        if getattr(error, "value", FUNCTION_NOT_FOUND) not in {FUNCTION_NOT_FOUND, VERSION}:
            raise
        told = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, reserved = float(told.total), 0.0
    if not total:
        raise nvml.NVMLError(NOT_SUPPORTED)
    return total, reserved, float(told.free), float(told.used)


def memory_readings(nvml: Nvml, handle: Handle) -> list[Reading]:
    """Total, free and used bytes of a card."""
    total, _, free, used = memory(nvml, handle)
    rows = (("gpu.mem_total", total), ("gpu.mem_free", free), ("gpu.mem_used", used))
    return [reading(signal, value, "nvmlDeviceGetMemoryInfo") for signal, value in rows]


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


def memory_temperature(nvml: Nvml, handle: Handle) -> list[Reading]:
    """Temperature of the memory; cards without a sensor there say 0."""
    value = _field(nvml, handle, ("NVML_FI_DEV_MEMORY_TEMP", 0))[0]
    if value == 0:
        raise nvml.NVMLError(NOT_SUPPORTED)
    return [reading("gpu.mem_temp", value, "NVML_FI_DEV_MEMORY_TEMP")]


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


def link_errors(up: list[int], nvml: Nvml, handle: Handle) -> list[Reading]:
    """Errors of all links that are up, by link."""
    readings = []
    for link in up:
        try:
            total = sum(nvml.nvmlDeviceGetNvLinkErrorCounter(handle, link, getattr(nvml, name)) for name in _LINK_COUNTERS)
        except nvml.NVMLError as error:
            if error.value not in {NOT_SUPPORTED, FUNCTION_NOT_FOUND, DEPRECATED}:
                raise
            total = sum(_field(nvml, handle, *[(name, link) for name in _LINK_FIELDS]))
        readings.append(
            Reading("gpu.nvlink_errors", float(total), "nvmlDeviceGetNvLinkErrorCounter", counter=True, part=str(link))
        )
    return readings


def link_traffic(nvml: Nvml, handle: Handle) -> list[Reading]:
    """Bytes over all links in both directions; the driver counts KiB."""
    both = _field(
        nvml, handle, ("NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX", _ALL_LINKS), ("NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX", _ALL_LINKS)
    )
    return [Reading("gpu.nvlink_bytes", sum(both) * 1024.0, "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA", counter=True)]


def other_memory(proc: Path, nvml: Nvml, handle: Handle) -> list[Reading]:
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
            raise nvml.NVMLError(NOT_SUPPORTED)
        total += 0.0 if engine else float(one.usedGpuMemory)
    return [reading("gpu.mem_other", total, "nvmlDeviceGetComputeRunningProcesses")]


Ask = Callable[[Nvml, Handle], list[Reading]]
