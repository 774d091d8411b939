"""Reads the text files with which the Linux kernel tells of itself: host, network, disks, control groups.

Each function takes a file's text and returns readings in base units. What a text does not say gives no reading: an old kernel may
not know the line, and that is unknown, not zero. A text that is not the kernel's raises ValueError.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from triage.classes import dataclass
from triage.ingest.host.sampling import Reading

SECTOR = 512
"""Bytes of a sector in /proc/diskstats, whatever the disk's own sectors are (kernel documentation, iostats)."""

TICKS_PER_SECOND = 100.0
"""Unit of /proc/stat: USER_HZ, which is 100 on every machine that runs engines, whatever the kernel's own tick is."""

_REAL_FILE_SYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "reiserfs", "bcachefs", "overlay"})
_VIRTUAL_LINK = re.compile(r"(lo|veth|docker|br-|cni|flannel|cali|virbr|vnet|tun|tap|ifb|dummy|kube-|nodelocaldns|cilium|lxc)")
_PART_OR_VIRTUAL_DISK = re.compile(r"(loop|ram|zram|dm-|md|sr|fd)\d|nvme\d+n\d+p\d|mmcblk\d+p\d|(sd|hd|vd|xvd)[a-z]+\d")
_UNLIMITED_V1 = 1 << 60
"""Control groups of version 1 write the largest page-aligned number where there is no limit."""


def _numbers(text: str) -> dict[str, int]:
    """``name number`` lines as a mapping; colons and units are left out."""
    found = {}
    for line in text.splitlines():
        words = line.replace(":", " ").split()
        if len(words) >= 2 and words[1].lstrip("-").isdigit():
            found[words[0]] = int(words[1])
    return found


def stat(text: str) -> list[Reading]:
    """/proc/stat: share of CPU time that is busy, and when the host booted.

    Waiting for storage is idle time of the CPU. Guest time is already part of user time.
    """
    readings = []
    for line in text.splitlines():
        words = line.split()
        if line.startswith("cpu ") and len(words) >= 5:
            ticks = [float(word) for word in words[1:9]]
            whole, busy = sum(ticks), sum(ticks) - sum(ticks[3:5])
            readings.append(Reading("node.cpu_busy", busy, "/proc/stat", counter=True, whole=whole))
            readings.append(Reading("node.cpu_busy_cores", busy / TICKS_PER_SECOND, "/proc/stat", counter=True))
            readings.append(Reading("node.cpu_cores", whole / TICKS_PER_SECOND, "/proc/stat", counter=True))
        elif line.startswith("btime ") and len(words) == 2:
            readings.append(Reading("node.boot_time", float(words[1]), "/proc/stat"))
    return readings


def loadavg(text: str) -> list[Reading]:
    """/proc/loadavg: the one-minute mean."""
    words = text.split()
    return [Reading("node.load1", float(words[0]), "/proc/loadavg")] if words else []


def pressure(resource: str, text: str) -> list[Reading]:
    """/proc/pressure/cpu, memory, io: time that some thread waited, in microseconds since boot."""
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "some" and words[-1].startswith("total="):
            seconds = int(words[-1].removeprefix("total=")) / 1e6
            return [Reading(f"node.{resource}_pressure", seconds, f"/proc/pressure/{resource}", counter=True)]
    return []


def meminfo(text: str) -> list[Reading]:
    """/proc/meminfo: memory in all and what can still be had; the kernel writes KiB."""
    found = _numbers(text)
    rows = (("node.memory_available", "MemAvailable"), ("node.memory_total", "MemTotal"))
    return [Reading(signal, found[key] * 1024.0, "/proc/meminfo") for signal, key in rows if key in found]


def vmstat(text: str) -> list[Reading]:
    """/proc/vmstat: pages swapped and processes killed for memory, since boot."""
    found = _numbers(text)
    rows = (("node.swap_in", "pswpin"), ("node.swap_out", "pswpout"), ("node.oom_kills", "oom_kill"))
    return [Reading(signal, found[key], "/proc/vmstat", counter=True) for signal, key in rows if key in found]


def diskstats(text: str) -> list[Reading]:
    """/proc/diskstats: bytes and busy time of whole disks, since boot (fields 6, 10 and 13; milliseconds)."""
    readings = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 13 or _PART_OR_VIRTUAL_DISK.match(words[2]):
            continue
        rows = (
            ("node.disk_read", float(words[5]) * SECTOR),
            ("node.disk_written", float(words[9]) * SECTOR),
            ("node.disk_busy", int(words[12]) / 1e3),
        )
        readings += [Reading(signal, value, "/proc/diskstats", counter=True, part=words[2]) for signal, value in rows]
    return readings


_NET_COLUMNS = (("node.net_receive", 0), ("node.net_errors", 2), ("node.net_drops", 3), ("node.net_transmit", 8))


def net_dev(text: str) -> list[Reading]:
    """/proc/net/dev: bytes, errors and drops of the interfaces that lead out of the host."""
    readings = []
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        name, words = name.strip(), rest.split()
        if colon and len(words) >= 16 and is_real_link(name):
            readings += [
                Reading(signal, float(words[at]), "/proc/net/dev", counter=True, part=name) for signal, at in _NET_COLUMNS
            ]
    return readings


def is_real_link(name: str) -> bool:
    """Whether an interface leads out of the host; what bridges and containers pass among themselves would be counted twice."""
    return not _VIRTUAL_LINK.match(name)


def snmp(text: str) -> list[Reading]:
    """/proc/net/snmp: TCP segments sent again, connections open. Names and values stand on two lines."""
    rows = [line.split() for line in text.splitlines() if line.startswith("Tcp:")]
    if len(rows) != 2:
        return []
    found = dict(zip(*rows, strict=False))
    readings = []
    if "RetransSegs" in found:
        readings.append(Reading("node.tcp_retransmits", float(found["RetransSegs"]), "/proc/net/snmp", counter=True))
    if "CurrEstab" in found:
        readings.append(Reading("node.tcp_established", float(found["CurrEstab"]), "/proc/net/snmp"))
    return readings


def sockstat(text: str) -> list[Reading]:
    """/proc/net/sockstat: connections in TIME_WAIT."""
    match = re.search(r"^TCP: .*\btw (\d+)", text, re.MULTILINE)
    return [Reading("node.tcp_time_wait", float(match.group(1)), "/proc/net/sockstat")] if match else []


def file_nr(text: str) -> list[Reading]:
    """/proc/sys/fs/file-nr: descriptors allocated."""
    words = text.split()
    return [Reading("node.files_open", float(words[0]), "/proc/sys/fs/file-nr")] if words else []


def real_mounts(text: str) -> list[str]:
    """/proc/mounts: mount points of writable local file systems.

    Network file systems are left out: asking one whose server is gone hangs.
    """
    points = []
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 4 and words[2] in _REAL_FILE_SYSTEMS and "rw" in words[3].split(","):
            points.append(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), words[1]))
    return points


@dataclass(frozen=True, slots=True)
class Groups:
    """The control groups of one process, as paths below /sys/fs/cgroup.

    :param unified: path of version 2, or empty
    :param by_controller: controller -> path of version 1, below the controller's own folder
    """

    unified: str
    by_controller: Mapping[str, str]


def groups(text: str) -> Groups:
    """/proc/<pid>/cgroup."""
    unified, old = "", {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            unified = path
        for controller in controllers.split(","):
            if controller and "=" not in controller:
                old[controller] = path
    return Groups(unified, old)


def with_parents(path: str) -> list[str]:
    """A group's path and those of the groups it lies in, nearest first, the root last and as an empty string."""
    parts = [part for part in path.split("/") if part and part != ".."]
    return ["/" + "/".join(parts[:count]) for count in range(len(parts), 0, -1)] + [""]


def cgroup_cpu_limit(text: str) -> float | None:
    """cpu.max (version 2): the quota in cores; None if there is none."""
    words = text.split()
    if len(words) != 2 or not (words[0].isdigit() and words[1].isdigit() and int(words[1])):
        return None
    return int(words[0]) / int(words[1])


def cgroup_memory_limit(text: str) -> float | None:
    """memory.max (version 2) or memory.limit_in_bytes (version 1): bytes; None if there is none."""
    word = text.strip()
    return float(word) if word.isdigit() and int(word) < _UNLIMITED_V1 else None


_CPU_STAT = (
    ("container.cpu", "usage_usec", 1e-6),
    ("container.cpu_periods", "nr_periods", 1.0),
    ("container.cpu_throttled_periods", "nr_throttled", 1.0),
    ("container.cpu_throttled_seconds", "throttled_usec", 1e-6),
    ("container.cpu_throttled_seconds", "throttled_time", 1e-9),
)


def cgroup_cpu_stat(text: str) -> list[Reading]:
    """cpu.stat of either version: use (version 2 only) and what the quota held back; microseconds, in version 1 nanoseconds."""
    found = _numbers(text)
    return [Reading(signal, found[key] * scale, "cpu.stat", counter=True) for signal, key, scale in _CPU_STAT if key in found]


def cgroup_memory(current: str, stat_text: str) -> list[Reading]:
    """Working set and resident memory of a group: file pages that nobody used lately do not count, they can be given back."""
    found = _numbers(stat_text)
    readings = []
    inactive = next((found[key] for key in ("total_inactive_file", "inactive_file") if key in found), None)
    if current.strip().isdigit() and inactive is not None:
        readings.append(Reading("container.memory", max(0.0, float(current) - inactive), "memory.current"))
    resident = next((found[key] for key in ("anon", "total_rss", "rss") if key in found), None)
    if resident is not None:
        readings.append(Reading("container.memory_rss", float(resident), "memory.stat"))
    return readings


def cgroup_kills(text: str) -> list[Reading]:
    """memory.events (version 2) or memory.oom_control (version 1): processes of the group killed for memory."""
    found = _numbers(text)
    return [Reading("container.oom_events", found["oom_kill"], "memory.events", counter=True)] if "oom_kill" in found else []


_INFINIBAND = (
    ("node.ib_errors", "port_rcv_errors"),
    ("node.ib_link_downed", "link_downed"),
    ("node.ib_recoveries", "link_error_recovery"),
    ("node.ib_wait", "port_xmit_wait"),
)


def infiniband_files() -> Sequence[str]:
    """Names of the files in /sys/class/infiniband/*/ports/*/counters that are read."""
    return [name for _, name in _INFINIBAND]


def infiniband(port: str, texts: Mapping[str, str]) -> list[Reading]:
    """Counters of one InfiniBand port by file name; a port without the counters says ``N/A (no PMA)``."""
    rows: Iterable[tuple[str, str]] = ((signal, texts.get(name, "").strip()) for signal, name in _INFINIBAND)
    return [
        Reading(signal, float(text), "infiniband counters", counter=True, part=port) for signal, text in rows if text.isdigit()
    ]


def carrier_changes(link: str, text: str) -> list[Reading]:
    """/sys/class/net/<link>/carrier_changes."""
    word = text.strip()
    return (
        [Reading("node.net_carrier_changes", float(word), "carrier_changes", counter=True, part=link)] if word.isdigit() else []
    )
