"""The kernel's text files; the whole set over a real tree is tested with the host collector."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.host import procfs
from triage.ingest.host.sampling import Reading

PARSERS: list[Callable[[str], list[Reading]]] = [
    procfs.stat,
    procfs.loadavg,
    lambda text: procfs.pressure("cpu", text),
    procfs.meminfo,
    procfs.vmstat,
    procfs.diskstats,
    procfs.net_dev,
    procfs.snmp,
    procfs.sockstat,
    procfs.file_nr,
    procfs.cgroup_cpu_stat,
    procfs.cgroup_kills,
    lambda text: procfs.cgroup_memory(text, text),
    lambda text: procfs.carrier_changes("eth0", text),
]
_WORDS = st.sampled_from(
    ["cpu", "some", "total=1", "MemTotal:", "Tcp:", "12", "-3", "eth0:", "oom_kill", "x", "CurrEstab", "tw", "\n", "sda"]
)
TEXTS = st.lists(_WORDS, max_size=40).map(" ".join) | st.text(max_size=200)


@pytest.mark.parametrize("parse", PARSERS)
@given(text=TEXTS)
def test_any_text_gives_readings_or_is_refused(parse: Callable[[str], list[Reading]], text: str) -> None:
    """A text that is not the kernel's gives readings or ValueError or IndexError, nothing else."""
    try:
        readings = parse(text)
    except (ValueError, IndexError):
        return
    assert all(isinstance(one.value, float | int) for one in readings)


@pytest.mark.parametrize("parse", PARSERS)
def test_nothing_gives_nothing(parse: Callable[[str], list[Reading]]) -> None:
    """An empty file is unknown, not zero."""
    assert parse("") == []


@pytest.mark.parametrize("name", ["eth0", "ens5", "enp1s0f0", "ib0", "bond0", "wlan0"])
def test_links_that_lead_out(name: str) -> None:
    """Real interfaces count."""
    assert procfs.is_real_link(name)


@pytest.mark.parametrize(
    "name", ["lo", "veth1a2b", "docker0", "br-4711", "cni0", "flannel.1", "cali123", "virbr0", "tun0", "ifb1"]
)
def test_links_among_containers(name: str) -> None:
    """What bridges and containers pass among themselves does not count a second time."""
    assert not procfs.is_real_link(name)


@pytest.mark.parametrize("disk", ["sda", "vda", "xvda", "nvme0n1", "nvme10n12", "mmcblk0"])
def test_whole_disks_count(disk: str) -> None:
    """Whole disks of all kinds are read."""
    assert {one.part for one in procfs.diskstats(f" 8 0 {disk} 1 0 2 1 3 0 4 1 0 5 6 0 0 0 0 0 0")} == {disk}


@pytest.mark.parametrize(
    "disk", ["sda1", "vda2", "xvda15", "nvme0n1p1", "mmcblk0p2", "loop3", "ram0", "zram0", "dm-0", "md127", "sr0"]
)
def test_parts_and_virtual_disks_do_not(disk: str) -> None:
    """Partitions and disks made of disks would be counted twice."""
    assert procfs.diskstats(f" 8 0 {disk} 1 0 2 1 3 0 4 1 0 5 6 0 0 0 0 0 0") == []


def test_control_groups_of_both_versions() -> None:
    """The unified group and the groups by controller are told apart; named hierarchies have no controller."""
    found = procfs.groups("9:name=systemd:/a\n4:cpu,cpuacct:/b\n3:memory:/c:d\n0::/e\n")
    assert found.unified == "/e"
    assert found.by_controller == {"cpu": "/b", "cpuacct": "/b", "memory": "/c:d"}


def test_groups_above() -> None:
    """The groups that a group lies in, nearest first, down to the root; no path leads out of the tree."""
    assert procfs.with_parents("/a/b/c") == ["/a/b/c", "/a/b", "/a", ""]
    assert procfs.with_parents("/") == [""]
    assert procfs.with_parents("/../../etc") == ["/etc", ""]


@pytest.mark.parametrize(
    ("text", "cores"),
    [("200000 100000\n", 2.0), ("50000 100000", 0.5), ("max 100000", None), ("-1 100000", None), ("", None), ("1 0", None)],
)
def test_cpu_quota(text: str, cores: float | None) -> None:
    """A quota is cores; without one there is no limit."""
    assert procfs.cgroup_cpu_limit(text) == cores


@pytest.mark.parametrize(("text", "limit"), [("4096\n", 4096.0), ("max\n", None), ("9223372036854771712\n", None), ("", None)])
def test_memory_limit(text: str, limit: float | None) -> None:
    """The largest number of version 1 and the word of version 2 both mean that there is no limit."""
    assert procfs.cgroup_memory_limit(text) == limit


def test_mount_points_with_blanks_and_of_other_kinds() -> None:
    """Blanks are written as octal escapes; read-only, network and memory file systems are left out."""
    text = (
        "/dev/sda1 / ext4 rw,relatime 0 0\n/dev/sdb1 /with\\040blank xfs rw 0 0\nnas:/x /nas nfs4 rw 0 0\n"
        "tmpfs /tmp tmpfs rw 0 0\n/dev/sdc /ro ext4 ro 0 0\noverlay /merged overlay rw,lowerdir=/a 0 0\n"
    )
    assert procfs.real_mounts(text) == ["/", "/with blank", "/merged"]


def test_infiniband_port_without_counters_is_unknown() -> None:
    """A port that says N/A gives nothing; one with counters gives them by port."""
    assert procfs.infiniband("mlx5_1/1", dict.fromkeys(procfs.infiniband_files(), "N/A (no PMA)\n")) == []
    assert [one.part for one in procfs.infiniband("mlx5_0/1", {"link_downed": "3\n"})] == ["mlx5_0/1"]
