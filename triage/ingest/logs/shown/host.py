"""What tools of one host show: memory, disks, processes, sockets, and what ``vmstat`` and ``iostat`` count."""

from triage.ingest.logs.shown.form import Shown
from triage.ingest.logs.shown.quantities import quantity, size
from triage.ingest.logs.shown.tables import Row, Table
from triage.patterns import Pattern

_KIB = 1024.0
_PAGE = 4096.0
_VIRTUAL = ("tmpfs", "devtmpfs", "udev", "none", "shm", "efivarfs", "squashfs", "/dev/loop")
"""File systems whose fill is nothing to anybody: in memory, or read-only images that are always full."""

_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a name in what is read


def _memory(shown: Shown, row: Row) -> None:
    """``Mem:`` and ``Swap:`` of ``free``; without ``-h`` and the like in KiB."""
    signals = {
        "Mem:": (("node.memory_total", "total"), ("node.memory_available", "available")),
        "Swap:": (("node.swap_total", "total"), ("node.swap_free", "free")),
    }
    for signal, column in signals.get(row.get("", ""), ()):
        shown.sample(signal, shown.node, size(row.get(column, ""), _KIB))


def _disk(shown: Shown, row: Row) -> None:
    """A row of ``df``; a file system without room is told. Without ``-h`` sizes are in KiB."""
    place, device = row.get("Mounted_on", ""), row.get("Filesystem", "")
    whole = size(row.get("Size") or row.get("1K-blocks") or row.get("1024-blocks", ""), _KIB)
    free = size(row.get("Avail") or row.get("Available", ""), _KIB)
    if place == _SHARED_MEMORY:
        shown.remark(f"{device} {row.get('Size', '')} {row.get('Used', '')} {row.get('Avail', '')} {place}")
    if place and whole and free is not None and not device.startswith(_VIRTUAL):
        shown.least("node.disk_available", "node.disk_size", shown.node, free, whole)
        if free <= 0.0:
            shown.remark(f"no space left on device: file system {place} is full", shown.node)


def _inodes(shown: Shown, row: Row) -> None:
    """A row of ``df -i``."""
    place, device = row.get("Mounted_on", ""), row.get("Filesystem", "")
    whole, free = size(row.get("Inodes", "")), size(row.get("IFree", ""))
    if place and whole and free is not None and not device.startswith(_VIRTUAL):
        shown.least("node.inodes_free", "node.inodes", shown.node, free, whole)
        if free <= 0.0:
            shown.remark(f"no space left on device: file system {place} has used up its inodes", shown.node)


def _process(shown: Shown, row: Row) -> None:
    """A row of ``ps``: what it used is told since it began, and so nothing of now."""
    _stuck(shown, row)


def _task(shown: Shown, row: Row) -> None:
    """A row of ``top``: in a container of ours the busiest process of the front end and of the engine's loop."""
    _stuck(shown, row)
    container, busy, command = shown.inside, quantity(row.get("%CPU", ""), "%"), row.get("COMMAND", "")
    if container is None or busy is None or _SERVES.search(command) is None:
        return
    signal = "engine.scheduler_cpu" if _LOOP.search(command) is not None else "process.cpu"
    shown.sample(signal, container, max(busy, shown.last(signal, container) or 0.0))


_SERVES = Pattern(r"(?i)python|vllm|sglang|trtllm|tgi|text-gen|uvicorn|llama|ollama|triton|lmdeploy|server")
_LOOP = Pattern(r"(?i)enginecor|schedul|worker|launcher")
"""Processes of an engine that are not its front end, by the names that they give themselves."""


def _stuck(shown: Shown, row: Row) -> None:
    """A program that waits for a device cannot be ended; threads of the kernel always wait."""
    command = (row.get("COMMAND") or row.get("CMD", "")).split(" ")[0]
    if (row.get("STAT") or row.get("S", "")).startswith("D") and command[:1] != "[":
        shown.remark(f"{command} is stuck in uninterruptible sleep, process {row.get('PID', '')}", shown.node)


def _virtual_memory(shown: Shown, row: Row) -> None:
    """A row of ``vmstat``."""
    idle = quantity(row.get("id", ""), "%")
    shown.sample("node.cpu_busy", shown.node, None if idle is None else 1.0 - idle)
    for signal, column in (("node.swap_in", "si"), ("node.swap_out", "so")):
        amount = size(row.get(column, ""), _KIB)
        shown.sample(signal, shown.node, None if amount is None else amount / _PAGE)


def _device(shown: Shown, row: Row) -> None:
    """A row of ``iostat -x``: the busiest device of a host counts."""
    busy = quantity(row.get("%util", ""), "%")
    if busy is not None:
        shown.sample("node.disk_busy", shown.node, max(busy, shown.last("node.disk_busy", shown.node) or 0.0))


_SOCKETS = Pattern(rb"^TCP: +\d+ \(estab (\d+),.*?timewait (\d+)")
_LOAD = Pattern(rb"\bup .*load averages?: ([\d.]+)")
_CPU = Pattern(rb"^%?Cpu\(s\):.*?([\d.]+)[ %]*id")
_TOP_MEMORY = Pattern(rb"^([KMG])iB (Mem|Swap) *: *([\d.]+) total,.*?([\d.]+) (?:used[.,] +([\d.]+) avail Mem|buff/cache)")


def line(shown: Shown, text: bytes) -> bool:
    """Takes a line of ``ss -s``, ``uptime`` or the head of ``top`` that stands for itself; false if it is none."""
    sockets, load, cpu, memory = (one.search(text) for one in (_SOCKETS, _LOAD, _CPU, _TOP_MEMORY))
    if sockets is not None:
        shown.sample("node.tcp_established", shown.node, float(sockets.group(1)))
        shown.sample("node.tcp_time_wait", shown.node, float(sockets.group(2)))
    if load is not None:
        shown.sample("node.load1", shown.node, quantity(load.group(1).decode()))
    if cpu is not None:
        idle = quantity(cpu.group(1).decode(), "%")
        shown.sample("node.cpu_busy", shown.node, None if idle is None else 1.0 - idle)
    if memory is not None:
        unit, what, total, _, available = (b"" if one is None else one for one in memory.groups())
        if what == b"Mem":
            shown.sample("node.memory_total", shown.node, size((total + unit).decode()))
        elif available:
            shown.sample("node.memory_available", shown.node, size((available + unit).decode()))
    return any(one is not None for one in (sockets, load, cpu, memory))


TABLES: tuple[Table, ...] = (
    Table(frozenset({"total", "used", "free", "available"}), _memory, ("", r":$"), spaced=False),
    Table(frozenset({"Filesystem", "Inodes", "IFree", "IUse%", "Mounted_on"}), _inodes, ("IUse%", r"^(?:\d+%|-)$"), spaced=False),
    Table(frozenset({"Filesystem", "Avail", "Use%", "Mounted_on"}), _disk, ("Use%", r"^(?:\d+%|-)$"), spaced=False),
    Table(frozenset({"Filesystem", "Available", "Use%", "Mounted_on"}), _disk, ("Use%", r"^(?:\d+%|-)$"), spaced=False),
    Table(frozenset({"PID", "STAT", "COMMAND"}), _process, ("PID", r"^\d+$"), spaced=False, also=True),
    Table(frozenset({"PID", "STAT", "CMD"}), _process, ("PID", r"^\d+$"), spaced=False, also=True),
    Table(frozenset({"PID", "S", "%CPU", "COMMAND"}), _task, ("PID", r"^\d+$"), spaced=False, also=True),
    Table(frozenset({"swpd", "free", "si", "so", "id", "wa"}), _virtual_memory, ("id", r"^\d+$"), spaced=False),
    Table(frozenset({"Device", "%util"}), _device, ("%util", r"^[\d.]+$"), spaced=False),
    Table(frozenset({"Device:", "%util"}), _device, ("%util", r"^[\d.]+$"), spaced=False),
)
"""Tables of a host."""
