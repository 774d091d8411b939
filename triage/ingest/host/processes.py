"""The processes of a machine as /proc shows them: their command lines, their ancestors, where they listen, which are engines."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from triage.classes import dataclass
from triage.ingest.host.engines import Engine, engine_of, metrics_port

_LISTEN = "0A"
_HOST_PIDS = "pid:[4026531836]"
"""The kernel's fixed name for the first namespace of process ids (PROC_PID_INIT_INO, 0xEFFFFFFC)."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process. ``command`` is empty for a kernel thread."""

    pid: int
    parent: int
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listener:
    """Where a process listens: an address of this machine and a port."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class EngineProcess:
    """An engine's process that takes requests.

    :param listeners: where it listens, by port
    :param usual: the port that its command line or its engine's habit names
    """

    process: Process
    engine: Engine
    listeners: tuple[Listener, ...]
    usual: int


def process(proc: Path, pid: int) -> Process | None:
    """The process of that id; None if it is gone or may not be seen."""
    folder = proc / str(pid)
    try:
        command = (folder / "cmdline").read_bytes().decode("utf-8", errors="replace")
        after_name = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        parent = int(after_name[1])
    except (OSError, ValueError, IndexError):
        return None
    words = command.rstrip("\0").split("\0")
    if len(words) == 1:
        words = words[0].split(" ")
    return Process(pid, parent, tuple(word for word in words if word))


def ancestry(proc: Path, pid: int) -> Iterator[Process]:
    """The process of that id and its ancestors, nearest first; nothing if it is gone."""
    seen = set[int]()
    while pid > 0 and pid not in seen and (one := process(proc, pid)) is not None:
        seen.add(pid)
        yield one
        pid = one.parent


def serves_engine(proc: Path, pid: int) -> bool | None:
    """Whether a process is an engine's: it or an ancestor is one (workers are spawned under names that say nothing).

    :returns: None if it is gone or may not be seen
    """
    line = list(ancestry(proc, pid))
    return any(engine_of(one.command) is not None for one in line) if line else None


def sees_host_pids(proc: Path) -> bool:
    """Whether process ids here are the machine's own, of which the driver speaks; in a container they usually are not."""
    try:
        return str((proc / "self/ns/pid").readlink()) == _HOST_PIDS
    except OSError:
        return False


def engine_processes(proc: Path) -> list[EngineProcess]:
    """The engines that listen here, by process id; a worker that listens below its own engine is not one more.

    Where another user's sockets are hidden, the port that the command line names counts if somebody listens at it.
    """
    found: dict[int, EngineProcess] = {}
    for pid in sorted(int(folder.name) for folder in proc.glob("[0-9]*") if folder.name.isdigit()):
        one = process(proc, pid)
        engine = engine_of(one.command) if one else None
        if one is None or engine is None:
            continue
        usual = metrics_port(one.command, engine)
        if own := _listeners(proc, pid, usual):
            found[pid] = EngineProcess(one, engine, own, usual)
    return [one for one in found.values() if not any(above.pid in found for above in ancestry(proc, one.process.parent))]


def listeners(proc: Path, pid: int | str = "self") -> dict[int, Listener]:
    """Inode -> where a socket of the process's network listens."""
    found = {}
    for name in ("tcp", "tcp6"):
        try:
            lines = (proc / str(pid) / "net" / name).read_text(encoding="ascii", errors="replace").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            if len(words) > 9 and words[3] == _LISTEN and words[9].isdigit():
                found[int(words[9])] = _listener(words[1])
    return found


def _listeners(proc: Path, pid: int, usual: int) -> tuple[Listener, ...]:
    """Where one process listens, by port."""
    everywhere = listeners(proc, pid)
    try:
        links = [str(link.readlink()) for link in (proc / str(pid) / "fd").iterdir()]
    except OSError:
        own = {listener for listener in everywhere.values() if listener.port == usual}
    else:
        own = {listener for inode, listener in everywhere.items() if f"socket:[{inode}]" in links}
    return tuple(sorted(own, key=lambda listener: (listener.port, listener.host)))


def _listener(text: str) -> Listener:
    """``0100007F:1F90`` as 127.0.0.1 and 8080: words of four bytes, the lowest byte first."""
    address, _, port = text.partition(":")
    data = bytes.fromhex(address)
    turned = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    host = str(IPv4Address(turned)) if len(turned) == 4 else _plain(IPv6Address(turned))
    return Listener(host, int(port, 16))


def _plain(address: IPv6Address) -> str:
    return str(address.ipv4_mapped or address)
