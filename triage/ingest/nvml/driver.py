"""The open driver and its cards."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from triage.classes import dataclass
from triage.ingest.host import processes
from triage.ingest.host.sampling import Reading
from triage.ingest.nvml.errors import FOR_EVER, GONE, NO_PERMISSION, NOT_SUPPORTED, UNKNOWN
from triage.ingest.nvml.questions import (
    PCIE_QUESTIONS,
    QUESTIONS,
    Ask,
    Handle,
    Nvml,
    link_errors,
    link_traffic,
    links,
    memory,
    memory_readings,
    memory_temperature,
    other_memory,
)
from triage.model.recording import Event, Fact, Subject
from triage.model.vocabulary import Scope

_UNIFIED = re.compile(r"GB10\b|Orin|Thor|Xavier|Tegra", re.IGNORECASE)
"""Cards that share the host's memory. Some drivers refuse to tell their memory, some tell wrong figures."""


class CardGoneError(Exception):
    """The driver says that a card is gone."""


@dataclass
class Card:
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
        if error.value in GONE:
            raise CardGoneError(GONE[error.value]) from error
        if error.value in FOR_EVER:
            self._drop(what, ask, FOR_EVER[error.value])
        else:
            self.errors[f"{what}: {error}"] += 1

    def _drop(self, what: str, ask: Ask, why: str) -> None:
        self.questions.remove((what, ask))
        self.refused[what] = why


@dataclass
class Driver:
    """The open driver: its cards, what it says of them for good, and the reports of Xid that it is asked for.

    :param proc: where processes are looked up
    """

    nvml: Nvml
    node: Subject
    proc: Path
    cards: list[Card] = field(default_factory=list)
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
                if error.value not in {*GONE, NO_PERMISSION, UNKNOWN}:
                    raise
                self._refused_card(number, error, now)
        self.facts.append(Fact(self.node, "gpu_count", float(count), "nvml"))
        self._listen()

    def _refused_card(self, number: int, error: Any, now: float) -> None:
        """Notes a card that is counted but cannot be asked."""
        self.notes.append(f"card {number} cannot be asked: {error}")
        if error.value in GONE:
            self.events.append(Event(now, "gpu-lost", f"card {number}", self.node, {}, f"card {number}: {error}", "nvml"))

    def _add_card(self, handle: Handle) -> None:
        nvml = self.nvml
        subject = Subject(Scope.GPU, str(nvml.nvmlDeviceGetUUID(handle)))
        model = str(nvml.nvmlDeviceGetName(handle))
        split = list(self._instances(handle))
        unified = not split and self._is_unified(handle, model)
        card = Card(subject, handle, model, [(one.what, one.ask) for one in QUESTIONS])
        card.questions.append(("memory temperature", memory_temperature))
        if not unified:
            card.questions += [(one.what, one.ask) for one in PCIE_QUESTIONS]
        if not unified and not split:
            card.questions.append(("memory", memory_readings))
        if not split:
            card.questions += self._process_question(card)
        up, count = links(nvml, handle)
        if up:
            card.questions += [("NVLink errors", partial(link_errors, up)), ("NVLink traffic", link_traffic)]
        if count:
            told = (("nvlink_links", float(count)), ("nvlink_links_up", float(len(up))))
            self.facts += [Fact(subject, key, value, "nvml") for key, value in told]
        self.cards += [card, *split]
        self._card_facts(card, unified)

    def _process_question(self, card: Card) -> list[tuple[str, Ask]]:
        """Asks for other processes' memory where the driver's process ids mean something here."""
        if processes.sees_host_pids(self.proc):
            return [("memory of other processes", partial(other_memory, self.proc))]
        card.refused["memory of other processes"] = "cannot be told in a container that has process ids of its own"
        return []

    def _is_unified(self, handle: Handle, model: str) -> bool:
        """Whether a card has no memory of its own."""
        if _UNIFIED.search(model):
            return True
        try:
            memory(self.nvml, handle)
        except self.nvml.NVMLError as error:
            return bool(error.value == NOT_SUPPORTED)
        return False

    def _instances(self, handle: Handle) -> Iterator[Card]:
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
                card = Card(subject, part, str(self.nvml.nvmlDeviceGetName(part)), [("memory", memory_readings)], instance=True)
                card.questions += self._process_question(card)
                self.facts += [
                    Fact(subject, "gpu_model", card.model, "nvml"),
                    Fact(subject, "mig_parent", str(self.nvml.nvmlDeviceGetUUID(handle)), "nvml"),
                ]
                yield card

    def _card_facts(self, card: Card, unified: bool) -> None:
        nvml, handle, subject = self.nvml, card.handle, card.subject
        self.facts.append(Fact(subject, "gpu_model", card.model, "nvml"))
        self._fact(subject, "compute_capability", lambda: "{}.{}".format(*nvml.nvmlDeviceGetCudaComputeCapability(handle)))
        self._fact(subject, "mig_mode", lambda: "on" if nvml.nvmlDeviceGetMigMode(handle)[0] else "off")
        self._fact(subject, "power_limit_default_watts", lambda: nvml.nvmlDeviceGetPowerManagementDefaultLimit(handle) / 1e3)
        self._fact(subject, "power_limit_max_watts", lambda: nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle)[1] / 1e3)
        self._fact(subject, "vbios_version", lambda: nvml.nvmlDeviceGetVbiosVersion(handle))
        self._fact(subject, "gpu_index", lambda: str(nvml.nvmlDeviceGetIndex(handle)))
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
