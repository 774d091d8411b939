"""The machine that triage runs on: processor, memory, disks, network, and the containers and processes of the engines on it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from triage.sdk import (
    Fact,
    Reading,
    Recording,
    Request,
    Samples,
    Scope,
    Source,
    SourceState,
    Subject,
    beats,
)
from triage.sdk.parts import engines, processes, procfs

if TYPE_CHECKING:
    import psutil

Parse = Callable[[str], list[Reading]]

_NODE_FILES: Mapping[str, Parse] = {
    "proc/stat": procfs.stat,
    "proc/loadavg": procfs.loadavg,
    "proc/pressure/cpu": partial(procfs.pressure, "cpu"),
    "proc/pressure/memory": partial(procfs.pressure, "memory"),
    "proc/pressure/io": partial(procfs.pressure, "io"),
    "proc/meminfo": procfs.meminfo,
    "proc/vmstat": procfs.vmstat,
    "proc/diskstats": procfs.diskstats,
    "proc/net/dev": procfs.net_dev,
    "proc/net/snmp": procfs.snmp,
    "proc/net/sockstat": procfs.sockstat,
    "proc/sys/fs/file-nr": procfs.file_nr,
}
_CGROUP = "sys/fs/cgroup"


@dataclass
class _Machine:
    """The files of one machine below a root, and which of them could not be read."""

    root: Path
    unread: dict[str, str] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """A file's text; empty if it is not there or may not be read."""
        try:
            return (self.root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def readings(self) -> Iterator[Reading]:
        """Everything about the node."""
        for path, parse in _NODE_FILES.items():
            yield from self._parsed(path, parse)
        yield from self._disk()
        yield from self._links()

    def _parsed(self, path: str, parse: Parse) -> list[Reading]:
        text = self.text(path)
        try:
            readings = parse(text) if text else []
        except (ValueError, IndexError):
            self.unread[path] = "says something unknown"
            return []
        if not text:
            self.unread[path] = "is not readable"
        return readings

    def fullest_disk(self) -> tuple[str, float, float] | None:
        """Mount point, free and whole bytes of the real file system that has the smallest share free."""
        found = []
        for point in procfs.real_mounts(self._mounts()):
            try:
                status = os.statvfs(self.root / point.lstrip("/"))
            except OSError:
                continue
            if status.f_blocks:
                free, size = float(status.f_bavail * status.f_frsize), float(status.f_blocks * status.f_frsize)
                found.append((free / size, point, free, size))
        return min(found)[1:] if found else None

    def _mounts(self) -> str:
        """The mount table; below another root that of the first process, because one's own is the container's."""
        return (self.text("proc/1/mounts") if self.root != Path("/") else "") or self.text("proc/mounts")

    def _disk(self) -> list[Reading]:
        disk = self.fullest_disk()
        if disk is None:
            self.unread["proc/mounts"] = "names no local file system"
            return []
        point, free, size = disk
        return [Reading("node.disk_available", free, f"statvfs {point}"), Reading("node.disk_size", size, f"statvfs {point}")]

    def _links(self) -> Iterator[Reading]:
        """What /sys/class tells of network and InfiniBand links; a machine without InfiniBand has none of its files."""
        for link in sorted((self.root / "sys/class/net").glob("*")):
            if procfs.is_real_link(link.name):
                yield from procfs.carrier_changes(link.name, self.text(f"sys/class/net/{link.name}/carrier_changes"))
        for counters in sorted((self.root / "sys/class/infiniband").glob("*/ports/*/counters")):
            place = counters.relative_to(self.root)
            texts = {name: self.text(str(place / name)) for name in procfs.infiniband_files()}
            yield from procfs.infiniband(f"{counters.parts[-4]}/{counters.parts[-2]}", texts)

    def facts(self, node: Subject) -> Iterator[Fact]:
        """What holds for the machine as long as it runs."""
        processors = sum(line[:3] == "cpu" and line[3:4].isdigit() for line in self.text("proc/stat").splitlines())
        if processors:
            yield Fact(node, "cpu_count", float(processors), "host")
        if kernel := self.text("proc/sys/kernel/osrelease").strip():
            yield Fact(node, "kernel_version", kernel, "host")
        yield from self.shared_memory(node, "dev/shm")
        if disk := self.fullest_disk():
            yield Fact(node, "disk_mount", disk[0], "host")

    def shared_memory(self, subject: Subject, path: str) -> Iterator[Fact]:
        """Size of the shared memory file system that a subject sees."""
        try:
            status = os.statvfs(self.root / path)
        except OSError:
            return
        yield Fact(subject, "shm_bytes", float(status.f_blocks * status.f_frsize), "host")


@dataclass(frozen=True)
class _Container:
    """Reads the control groups of a process, in either version; a group without a limit of its own obeys the one above it."""

    machine: _Machine
    groups: procfs.Groups

    def readings(self) -> Iterator[Reading]:
        """Use, limits and what they cost."""
        if self.groups.unified and (self.machine.root / _CGROUP / "cgroup.controllers").exists():
            yield from self._cpu("", self.groups.unified, "cpu.max")
            yield from self._memory("", self.groups.unified, ("memory.max", "memory.current", "memory.events"))
            return
        for controller, read in (("cpu", self._cpu_old), ("memory", self._memory_old)):
            if path := self.groups.by_controller.get(controller):
                yield from read(controller, path)

    def _text(self, controller: str, group: str, name: str) -> str:
        return self.machine.text("/".join(part for part in (_CGROUP, controller, group.strip("/"), name) if part))

    def _limited(self, controller: str, path: str, limit: Callable[[str], float | None]) -> tuple[str, float | None] | None:
        """The nearest group with a limit, and the limit; without any the process's own; None if only the machine's is there."""
        chain = procfs.with_parents(path)
        for group in chain:
            if (value := limit(group)) is not None:
                return group, value
        here = [
            group for group in chain if self._text(controller, group, "cgroup.procs") or self._text(controller, group, "cpu.stat")
        ]
        return (here[0], None) if here and here[0] else None

    def _cpu(self, controller: str, path: str, name: str) -> Iterator[Reading]:
        found = self._limited(controller, path, lambda group: procfs.cgroup_cpu_limit(self._text(controller, group, name)))
        if found is None:
            return
        group, limit = found
        yield from procfs.cgroup_cpu_stat(self._text(controller, group, "cpu.stat"))
        if limit is not None:
            yield Reading("container.cpu_limit", limit, name)

    def _cpu_old(self, controller: str, path: str) -> Iterator[Reading]:
        def quota(group: str) -> float | None:
            pair = [self._text(controller, group, f"cpu.cfs_{word}_us").strip() for word in ("quota", "period")]
            return procfs.cgroup_cpu_limit(" ".join(pair))

        found = self._limited(controller, path, quota)
        if found is None:
            return
        group, limit = found
        yield from procfs.cgroup_cpu_stat(self._text(controller, group, "cpu.stat"))
        if limit is not None:
            yield Reading("container.cpu_limit", limit, "cpu.cfs_quota_us")
        used = self._text("cpuacct", group, "cpuacct.usage").strip()
        if used.isdigit():
            yield Reading("container.cpu", int(used) / 1e9, "cpuacct.usage", counter=True)

    def _memory(self, controller: str, path: str, names: tuple[str, str, str]) -> Iterator[Reading]:
        limit_name, current, kills = names
        found = self._limited(
            controller, path, lambda group: procfs.cgroup_memory_limit(self._text(controller, group, limit_name))
        )
        if found is None:
            return
        group, limit = found
        yield from procfs.cgroup_memory(self._text(controller, group, current), self._text(controller, group, "memory.stat"))
        yield from procfs.cgroup_kills(self._text(controller, group, kills))
        if limit is not None:
            yield Reading("container.memory_limit", limit, limit_name)

    def _memory_old(self, controller: str, path: str) -> Iterator[Reading]:
        return self._memory(controller, path, ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"))


@dataclass(frozen=True)
class _Replica:
    """An engine's process that listens, with what is read of it."""

    subject: Subject
    process: "psutil.Process"
    engine: str

    def readings(self, machine: _Machine) -> list[Reading]:
        """Its process and its container; empty once it is gone."""
        import psutil

        try:
            found = list(self._process())
        except psutil.Error:
            return []
        groups = procfs.groups(machine.text(f"proc/{self.process.pid}/cgroup"))
        return found + list(_Container(machine, groups).readings())

    def _process(self) -> Iterator[Reading]:
        import psutil

        with self.process.oneshot():
            times = self.process.cpu_times()
            yield Reading("process.cpu", times.user + times.system, "cpu_times", counter=True)
            yield Reading("process.rss", float(self.process.memory_info().rss), "memory_info")
            yield Reading("process.start_time", self.process.create_time(), "create_time")
        try:
            yield Reading("process.open_fds", float(self.process.num_fds()), "num_fds")
            yield Reading("process.max_fds", float(self.process.rlimit(psutil.RLIMIT_NOFILE)[0]), "rlimit")
        except psutil.AccessDenied:
            return

    def facts(self, machine: _Machine) -> Iterator[Fact]:
        """What holds for the process as long as it runs."""
        import psutil

        yield Fact(self.subject, "engine", self.engine, "host")
        yield from machine.shared_memory(self.subject, f"proc/{self.process.pid}/root/dev/shm")
        try:
            yield Fact(self.subject, "nofile_limit", float(self.process.rlimit(psutil.RLIMIT_NOFILE)[0]), "host")
        except psutil.Error:
            return


def _own_names() -> set[str]:
    """Names and addresses of this machine."""
    import psutil

    addresses = {address.address.partition("%")[0] for link in psutil.net_if_addrs().values() for address in link}
    return addresses | {engines.this_node({})}


def _replicas(request: Request, root: Path) -> list[_Replica]:
    """The engines' processes that listen, by replica.

    Where endpoints are named, and engines listen at them, the other engines of this machine are other people's.
    """
    import psutil

    named = [engines.parse_address(text) for text in request.service.endpoints]
    node, own = engines.this_node(request.environ), _own_names()
    found: dict[Subject, _Replica] = {}
    engines_here = [(one, [listener.port for listener in one.listeners]) for one in processes.engine_processes(root / "proc")]
    wanted_ports = {address.port for address in named}
    ours = [(one, ports) for one, ports in engines_here if wanted_ports & {*ports}]
    for one, ports in ours if ours or _were_here(named, request.earlier) else engines_here:
        wanted = [address.port for address in named if address.port in ports] + [one.usual] * (one.usual in ports) + ports
        subject = Subject(Scope.REPLICA, engines.replica_id(wanted[0], named, own, node))
        with suppress(psutil.Error):
            found.setdefault(subject, _Replica(subject, psutil.Process(one.process.pid), one.engine.name))
    return [found[subject] for subject in sorted(found)]


def _were_here(named: Iterable[engines.Address], earlier: Recording | None) -> bool:
    """Whether an engine that is named was seen as a process of this machine at an earlier look: then it has ended."""
    names = {address.instance for address in named}
    return earlier is not None and any(one.subject.id in names for one in earlier.by_signal.get("process.rss", ()))


class Host:
    """Samples /proc, /sys and the engines' processes."""

    name = "host"
    sees = "processor, memory, disks and network of this machine, and the containers and processes of the engines on it"

    def wanted(self, request: Request) -> str:
        """Only if the service runs here and the window lies ahead."""
        return engines.why_not_here(request.service, request.window.end, request.clock(), _own_names())

    def collect(self, request: Request) -> Recording:
        """Samples until the window ends."""
        machine = _Machine(Path(request.environ.get("TRIAGE_HOST_ROOT", "/")))
        node = Subject(Scope.NODE, engines.this_node(request.environ))
        samples, seen = Samples(), dict[Subject, _Replica]()
        replicas = _replicas(request, machine.root)
        facts = list(machine.facts(node))
        recording = partial(_recording, request, machine, node, samples, facts, seen)
        for number, (now, done) in enumerate(beats(request.window.end, request.step, request.clock, request.stop)):
            request.progress(f"sampling host {node.id}", done)
            for reading in machine.readings():
                samples.add(now, node, reading)
            samples.add(now, node, Reading("node.clock", now, "clock"))
            if any(not replica.process.is_running() for replica in replicas):
                replicas = _replicas(request, machine.root)
            for replica in replicas:
                if replica.subject not in seen:
                    facts += replica.facts(machine)
                seen.setdefault(replica.subject, replica)
                for reading in replica.readings(machine):
                    samples.add(now, replica.subject, reading)
            if number:
                request.so_far(recording)
        return recording()


def _recording(
    request: Request, machine: _Machine, node: Subject, samples: Samples, facts: Sequence[Fact], seen: Mapping[Subject, _Replica]
) -> Recording:
    """What was read until now."""
    return Recording(
        service=request.service.name,
        window=request.window,
        series=samples.series(Host.name, request.step),
        facts=tuple(facts),
        links=dict.fromkeys(sorted(seen), (node,)),
        sources=(_source(machine, seen),),
        step=request.step,
    )


def _source(machine: _Machine, seen: Mapping[Subject, _Replica]) -> Source:
    """What this run could not see."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in machine.unread.items():
        by_reason.setdefault(reason, []).append(str(machine.root / path))
    missing = [f"{', '.join(paths)} {reason}" for reason, paths in by_reason.items()]
    if not seen:
        missing.append("no engine's process that listens is visible here, so nothing is known of its container and process")
    return Source("host", SourceState.PARTIAL if missing else SourceState.OK, "; ".join(missing))


collector = Host()
