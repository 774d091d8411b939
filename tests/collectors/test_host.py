"""The host collector over a small copy of a machine's /proc and /sys, and over real processes."""

import dataclasses
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event as StopSignal

import pytest

from triage.model.recording import Recording, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope, catalogue
from triage.plugins import load_collector
from triage.sdk import Collector, Request

ROOT = Path(__file__).resolve().parents[2]
TREE = Path(__file__).parent / "host_tree"
START = 1_800_000_000.0
NODE = Subject(Scope.NODE, "box")
Beat = Callable[[int], None]


def nothing(beat: int) -> None:
    """Between two beats nothing happens."""


class SimulatedTime(StopSignal):
    """A stop signal whose waits take no time but move a clock on and let something happen."""

    def __init__(self, between: Beat) -> None:
        super().__init__()
        self.now, self.beat, self.between = START, 0, between

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        self.beat += 1
        self.between(self.beat)
        return self.is_set()

    def clock(self) -> float:
        return self.now


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the machine's files that a test may change, with the mount points that it names."""
    root = tmp_path / "root"
    shutil.copytree(TREE, root)
    (root / "mnt" / "fast disk").mkdir(parents=True)
    return root


@pytest.fixture
def collector() -> Collector:
    return load_collector(ROOT / "collectors" / "host.py")


def request_for(root: Path, between: Beat = nothing, seconds: float = 2, endpoints: tuple[str, ...] = ()) -> Request:
    time = SimulatedTime(between)
    return Request(
        service=Service(name="demo", endpoints=endpoints),
        window=Window(START, START + seconds, START),
        step=1.0,
        timeout=5.0,
        dialects=(),
        clock=time.clock,
        environ={"NODE_NAME": "box", "TRIAGE_HOST_ROOT": str(root)},
        stop=time,
    )


def values(recording: Recording, signal: str, subject: Subject = NODE) -> list[float]:
    found = [one for one in recording.by_signal.get(signal, []) if one.subject == subject]
    return found[0].values.tolist() if found else []


def change(root: Path, path: str, old: str, new: str) -> None:
    """Replaces a text in a file; it must be there."""
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")


def a_busy_second(root: Path) -> None:
    """What changes in the kernel's files while the machine works for a second."""
    change(root, "proc/stat", "cpu  18857 769 6582 249515 747", "cpu  18957 769 6632 249555 757")
    for resource, total in (("cpu", 24971424), ("memory", 24722424), ("io", 25221424)):
        change(root, f"proc/pressure/{resource}", "total=24721424", f"total={total}")
    change(root, "proc/vmstat", "pswpin 12\npswpout 30\noom_kill 1", "pswpin 16\npswpout 35\noom_kill 2")
    change(root, "proc/diskstats", "6120 8121 4410 2000 19200 0 5000", "6120 8121 4410 2010 19200 0 5250")
    change(root, "proc/diskstats", "900 0 500 300 100 10 400 200 0 400", "900 0 504 300 100 10 400 200 0 500")
    change(root, "proc/net/dev", "335124629    7884    1    2", "335125629    7884    4    7")
    change(root, "proc/net/dev", "eth1:1000", "eth1:1500")
    change(root, "proc/net/snmp", "7913 4250 7 0", "7913 4250 18 0")
    change(root, "sys/class/net/eth0/carrier_changes", "3", "5")
    for number, name in enumerate(("port_rcv_errors", "link_downed", "link_error_recovery", "port_xmit_wait"), start=1):
        change(root, f"sys/class/infiniband/mlx5_0/ports/1/counters/{name}", "5", str(5 + number))


def test_every_signal_of_a_node(collector: Collector, tree: Path) -> None:
    """Each file becomes the signals that it holds, in base units, and counters the growth of that second."""
    recording = collector.collect(request_for(tree, lambda beat: a_busy_second(tree), seconds=1))
    disk = os.statvfs(tree)
    expected = {
        "node.cpu_busy": [150 / 200],
        "node.cpu_busy_cores": [1.5],
        "node.cpu_cores": [2.0],
        "node.load1": [0.67, 0.67],
        "node.cpu_pressure": [0.25],
        "node.memory_pressure": [0.001],
        "node.io_pressure": [0.5],
        "node.memory_available": [24195484 * 1024] * 2,
        "node.memory_total": [24684084 * 1024] * 2,
        "node.swap_in": [4],
        "node.swap_out": [5],
        "node.oom_kills": [1],
        "node.disk_read": [4 * 512],
        "node.disk_written": [10 * 512],
        "node.disk_busy": [0.25],
        "node.disk_size": [disk.f_blocks * disk.f_frsize] * 2,
        "node.net_receive": [1500],
        "node.net_transmit": [0],
        "node.net_errors": [3],
        "node.net_drops": [5],
        "node.net_carrier_changes": [2],
        "node.tcp_retransmits": [11],
        "node.tcp_established": [4, 4],
        "node.tcp_time_wait": [9, 9],
        "node.files_open": [703, 703],
        "node.boot_time": [1795961420] * 2,
        "node.clock": [START, START + 1],
        "node.ib_errors": [1],
        "node.ib_link_downed": [2],
        "node.ib_recoveries": [3],
        "node.ib_wait": [4],
    }
    found = {one.signal: one.values.tolist() for one in recording.series if one.signal != "node.disk_available"}
    assert found == {signal: pytest.approx(numbers) for signal, numbers in expected.items()}
    assert 0 < values(recording, "node.disk_available")[0] <= values(recording, "node.disk_size")[0]
    assert [(one.signal, one.subject) for one in recording.series] == sorted(
        (one.signal, one.subject) for one in recording.series
    )


def test_facts_of_a_node(collector: Collector, tree: Path) -> None:
    """What does not change while triage looks is kept as facts."""
    facts = {fact.key: fact.value for fact in collector.collect(request_for(tree)).facts}
    assert (facts["cpu_count"], facts["kernel_version"], facts["disk_mount"]) == (2, "6.8.0-45-generic", "/")
    assert "shm_bytes" not in facts
    (tree / "dev/shm").mkdir(parents=True)
    shared = os.statvfs(tree / "dev/shm")
    facts = {fact.key: fact.value for fact in collector.collect(request_for(tree)).facts}
    assert facts["shm_bytes"] == shared.f_blocks * shared.f_frsize


def test_what_is_not_there_is_unknown(collector: Collector, tree: Path) -> None:
    """Files that a container or an old kernel lacks give no series, and are named; the rest goes on."""
    shutil.rmtree(tree / "proc/pressure")
    shutil.rmtree(tree / "sys")
    (tree / "proc/net/snmp").unlink()
    recording = collector.collect(request_for(tree))
    signals = {one.signal for one in recording.series}
    assert not [name for name in signals if "pressure" in name or "tcp_r" in name or ".ib_" in name or "carrier" in name]
    assert "node.load1" in signals
    assert recording.sources[0].state == "partial"
    names = ", ".join(str(tree / "proc" / name) for name in ("pressure/cpu", "pressure/memory", "pressure/io", "net/snmp"))
    assert f"{names} is not readable" in recording.sources[0].reason


def test_old_kernel_lacks_lines(collector: Collector, tree: Path) -> None:
    """A line that an old kernel does not write is unknown, not zero: no oom kills, no available memory."""
    change(tree, "proc/vmstat", "oom_kill 1\n", "")
    change(tree, "proc/meminfo", "MemAvailable:", "MemDirty:")
    signals = {one.signal for one in collector.collect(request_for(tree)).series}
    assert not signals & {"node.oom_kills", "node.memory_available"}
    assert {"node.swap_in", "node.memory_total"} <= signals


@pytest.mark.parametrize(
    "path", ["proc/stat", "proc/loadavg", "proc/pressure/io", "proc/net/dev", "proc/sys/fs/file-nr", "proc/diskstats"]
)
def test_files_that_say_something_unknown_are_named(collector: Collector, tree: Path, path: str) -> None:
    """A file of another form is named; it stops neither the run nor the other files."""
    (tree / path).write_text((tree / path).read_text().translate(str.maketrans("0123456789", "x" * 10)), encoding="utf-8")
    recording = collector.collect(request_for(tree))
    assert f"{tree / path} says something unknown" in recording.sources[0].reason
    assert "node.memory_total" in {one.signal for one in recording.series}


def test_only_real_file_systems_count(collector: Collector, tree: Path) -> None:
    """Without a local disk that can be written there is no disk signal; a network file system is never asked."""
    kept = [line for line in (tree / "proc/mounts").read_text().splitlines() if "nvme" not in line]
    (tree / "proc/mounts").write_text("\n".join(kept), encoding="utf-8")
    recording = collector.collect(request_for(tree))
    assert values(recording, "node.disk_available") == []
    assert "names no local file system" in recording.sources[0].reason


def test_mounts_of_the_host_seen_from_a_container(collector: Collector, tree: Path) -> None:
    """Below the host's root the mounts of its first process count: /proc/mounts would be the container's own."""
    write(tree, "proc/1", {"mounts": "/dev/nvme1n1 /mnt/fast\\040disk xfs rw,relatime 0 0\n"})
    facts = {fact.key: fact.value for fact in collector.collect(request_for(tree)).facts}
    assert facts["disk_mount"] == "/mnt/fast disk"


def test_counters_that_begin_anew_give_no_negative_rate(collector: Collector, tree: Path) -> None:
    """A counter that falls (an interface that was made anew) counts from its new value."""
    recording = collector.collect(request_for(tree, lambda beat: change(tree, "proc/net/dev", "335124629", "600"), seconds=1))
    assert values(recording, "node.net_receive") == [600]


SERVER = """#!{python}
import socket, sys
server = socket.create_server(("127.0.0.1", {port}))
print("ready", flush=True)
sys.stdin.read()
"""


class Engine:
    """A process that looks like an engine and listens; it can be ended and started anew."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.program = folder / "llama-server"
        self.program.write_text(SERVER.format(python=sys.executable, port=self.port), encoding="utf-8")
        self.program.chmod(0o755)
        self.start()

    def start(self) -> None:
        command = [str(self.program), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            self.process.kill()
            pytest.fail("the engine did not come up")

    def end(self) -> None:
        self.process.communicate()

    @property
    def subject(self) -> Subject:
        return Subject(Scope.REPLICA, f"box:{self.port}")


@contextmanager
def engine_in(tree: Path, tmp_path: Path) -> Iterator[Engine]:
    """An engine whose process the copied machine shows."""
    engine = Engine(tmp_path)
    try:
        show(tree, engine)
        yield engine
    finally:
        engine.end()


def show(tree: Path, engine: Engine, cgroup: str = "0::/\n") -> None:
    """Lets the copied machine's /proc show a real process, in a control group of our choice."""
    folder = tree / "proc" / str(engine.process.pid)
    folder.mkdir()
    for name in ("cmdline", "stat", "net", "fd"):
        (folder / name).symlink_to(f"/proc/{engine.process.pid}/{name}")
    (folder / "cgroup").write_text(cgroup, encoding="utf-8")


def test_process_of_an_engine(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """The process that listens is a replica: its memory, descriptors, limit and start are read, and it is on this node."""
    with engine_in(tree, tmp_path) as engine:
        recording = collector.collect(request_for(tree))
        status = Path(f"/proc/{engine.process.pid}/status").read_text()
    replica = engine.subject
    resident = int(status.split("VmRSS:")[1].split()[0]) * 1024
    assert values(recording, "process.rss", replica)[-1] == pytest.approx(resident, rel=0.2)
    assert values(recording, "process.open_fds", replica)[-1] == 4
    assert len(values(recording, "process.cpu", replica)) == 2
    assert values(recording, "process.start_time", replica)[0] > 1.5e9
    facts = {fact.key: fact.value for fact in recording.facts if fact.subject == replica}
    assert facts["engine"] == "llamacpp"
    assert facts["nofile_limit"] == values(recording, "process.max_fds", replica)[0]
    assert recording.links == {replica: (NODE,)}
    assert recording.sources[0].state == "ok"


def test_replica_is_called_as_the_user_called_it(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """A replica named by its endpoint has the same id here as where its metrics are scraped."""
    with engine_in(tree, tmp_path) as engine:
        recording = collector.collect(request_for(tree, endpoints=(f"http://localhost:{engine.port}/metrics", "192.0.2.7:80")))
    assert [subject.id for subject in recording.subjects[Scope.REPLICA]] == [f"localhost:{engine.port}"]


def test_engines_of_others_are_none_of_the_services(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """Where an engine listens at a named endpoint, or did at an earlier look, those at other ports are other people's."""
    (tmp_path / "other").mkdir()
    with engine_in(tree, tmp_path) as engine, engine_in(tree, tmp_path / "other") as other:
        named = request_for(tree, endpoints=(f"localhost:{engine.port}",))
        recording = collector.collect(named)
        assert [subject.id for subject in recording.subjects[Scope.REPLICA]] == [f"localhost:{engine.port}"]
        shutil.rmtree(tree / "proc" / str(engine.process.pid))
        ended = dataclasses.replace(request_for(tree, endpoints=(f"localhost:{engine.port}",)), earlier=recording)
        assert collector.collect(ended).subjects[Scope.REPLICA] == []
        proxied = collector.collect(request_for(tree, endpoints=(f"localhost:{engine.port}",)))
        assert [subject.id for subject in proxied.subjects[Scope.REPLICA]] == [f"box:{other.port}"]


def test_engine_that_is_replaced_goes_on_as_the_same_replica(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """When an engine's process ends and another listens at its port, the replica's start time moves on."""
    with engine_in(tree, tmp_path) as engine:

        def replace(beat: int) -> None:
            if beat == 2:
                shutil.rmtree(tree / "proc" / str(engine.process.pid))
                engine.end()
                engine.start()
                show(tree, engine)

        recording = collector.collect(request_for(tree, replace, seconds=4))
    starts = values(recording, "process.start_time", engine.subject)
    assert len(starts) == 5
    assert starts[0] == starts[1] < starts[2] == starts[4]


def test_engine_that_ends_ends_its_series(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """The series of an engine that ends stop there; the node's go on."""
    with engine_in(tree, tmp_path) as engine:

        def ends(beat: int) -> None:
            if beat == 2:
                shutil.rmtree(tree / "proc" / str(engine.process.pid))
                engine.end()

        recording = collector.collect(request_for(tree, ends, seconds=4))
    assert len(values(recording, "process.rss", engine.subject)) == 2
    assert len(values(recording, "node.load1")) == 5


def test_no_engine_is_said(collector: Collector, tree: Path) -> None:
    """A machine on which no engine is visible says so instead of showing a healthy nothing."""
    recording = collector.collect(request_for(tree))
    assert recording.sources[0].state == "partial"
    assert "no engine's process that listens is visible here" in recording.sources[0].reason


def write(root: Path, folder: str, files: dict[str, str]) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / folder / name).write_text(text, encoding="utf-8")


CPU_STAT = (
    "usage_usec {usage}\nuser_usec 1\nsystem_usec 1\nnr_periods {periods}\nnr_throttled {throttled}\nthrottled_usec {held}\n"
)
POD = "sys/fs/cgroup/kubepods.slice/pod1"


def unified_groups(root: Path) -> None:
    """Control groups of version 2: the pod has the memory limit, the container in it the CPU quota."""
    write(root, "sys/fs/cgroup", {"cgroup.controllers": "cpu memory\n", "cpu.stat": "usage_usec 99\n"})
    write(
        root,
        POD,
        {
            "cpu.max": "max 100000\n",
            "memory.max": "4000000\n",
            "memory.current": "3000000\n",
            "memory.events": "low 0\noom 3\noom_kill 2\n",
        },
    )
    write(root, POD, {"memory.stat": "anon 2000000\nfile 900000\ninactive_file 500000\n", "cgroup.procs": ""})
    stat = CPU_STAT.format(usage=1_000_000, periods=10, throttled=2, held=500_000)
    write(root, f"{POD}/engine", {"cpu.max": "200000 100000\n", "cpu.stat": stat, "memory.max": "max\n", "cgroup.procs": "1\n"})


def test_container_of_version_2(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """Quota and memory are read where their limits are set, also if that is in a group above the process's own."""
    with engine_in(tree, tmp_path) as engine:
        (tree / "proc" / str(engine.process.pid) / "cgroup").write_text("0::/kubepods.slice/pod1/engine\n")
        unified_groups(tree)

        def throttles(beat: int) -> None:
            later = CPU_STAT.format(
                usage=1_000_000 + beat * 1_500_000, periods=10 + 10 * beat, throttled=2 + 4 * beat, held=500_000 * beat
            )
            write(tree, f"{POD}/engine", {"cpu.stat": later})
            write(tree, POD, {"memory.events": f"low 0\noom 3\noom_kill {2 + beat}\n"})

        recording = collector.collect(request_for(tree, throttles, seconds=2))
    expected = {
        "container.cpu": [1.5, 1.5],
        "container.cpu_limit": [2, 2, 2],
        "container.cpu_periods": [10, 10],
        "container.cpu_throttled_periods": [4, 4],
        "container.memory": [2500000] * 3,
        "container.memory_rss": [2000000] * 3,
        "container.memory_limit": [4000000] * 3,
        "container.oom_events": [1, 1],
    }
    assert {signal: values(recording, signal, engine.subject) for signal in expected} == expected
    assert values(recording, "container.cpu_throttled_seconds", engine.subject)[-1] == pytest.approx(0.5)


def test_container_of_version_1(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """In version 1 each controller has its own tree, in which the group lies by its path or, in a container, at the root."""
    with engine_in(tree, tmp_path) as engine:
        text = "5:memory:/kubepods/pod1/x\n3:cpu,cpuacct:/kubepods/pod1/x\n1:name=systemd:/kubepods/pod1/x\n0::/\n"
        (tree / "proc" / str(engine.process.pid) / "cgroup").write_text(text)
        memory = "sys/fs/cgroup/memory/kubepods/pod1/x"
        cpu = {"cpu.cfs_quota_us": "150000\n", "cpu.cfs_period_us": "100000\n"}
        write(tree, "sys/fs/cgroup/cpu", cpu)
        write(tree, memory, {"memory.limit_in_bytes": "8000000\n", "memory.usage_in_bytes": "7000000\n"})
        write(tree, memory, {"memory.stat": "rss 10\ntotal_rss 5000000\ntotal_inactive_file 1000000\n"})

        def throttles(beat: int) -> None:
            stat = f"nr_periods {10 * beat}\nnr_throttled {5 * beat}\nthrottled_time {beat * 250_000_000}\n"
            write(tree, "sys/fs/cgroup/cpu", {"cpu.stat": stat})
            write(tree, "sys/fs/cgroup/cpuacct", {"cpuacct.usage": f"{beat * 1_250_000_000}\n"})
            write(tree, memory, {"memory.oom_control": f"oom_kill_disable 0\nunder_oom 0\noom_kill {beat}\n"})

        throttles(0)
        recording = collector.collect(request_for(tree, throttles, seconds=2))
    expected = {
        "container.cpu": [1.25, 1.25],
        "container.cpu_limit": [1.5] * 3,
        "container.cpu_periods": [10, 10],
        "container.cpu_throttled_periods": [5, 5],
        "container.cpu_throttled_seconds": [0.25, 0.25],
        "container.memory": [6000000] * 3,
        "container.memory_rss": [5000000] * 3,
        "container.memory_limit": [8000000] * 3,
        "container.oom_events": [1, 1],
    }
    assert {signal: values(recording, signal, engine.subject) for signal in expected} == expected


def test_machine_itself_is_no_container(collector: Collector, tree: Path, tmp_path: Path) -> None:
    """A process in the root group has no container: the machine's own use must not be taken for it."""
    with engine_in(tree, tmp_path) as engine:
        write(tree, "sys/fs/cgroup", {"cgroup.controllers": "cpu memory\n", "cpu.stat": "usage_usec 99\n", "cgroup.procs": "1\n"})
        recording = collector.collect(request_for(tree))
    assert values(recording, "process.rss", engine.subject)
    assert not [one for one in recording.series if one.signal.startswith("container.")]


def test_real_machine(collector: Collector) -> None:
    """On the machine that runs the tests every series is of a known signal, of its scope, within the unit's range."""
    recording = collector.collect(request_for(Path("/")))
    assert "node.memory_total" in {one.signal for one in recording.series}
    for one in recording.series:
        signal = catalogue()[one.signal]
        assert one.subject.scope is signal.scope
        assert (one.values >= signal.low).all()
        assert (one.values <= signal.high).all()


def test_past_is_not_wanted(collector: Collector, tree: Path) -> None:
    """Only what happens now can be sampled."""
    assert collector.wanted(request_for(tree)) == ""
    assert "in the past" in collector.wanted(request_for(tree, seconds=-10))
