"""Processes as /proc shows them, from a small tree of files."""

import os
from pathlib import Path

import pytest

from triage.ingest.host.processes import (
    Listener,
    Process,
    ancestry,
    engine_processes,
    listeners,
    process,
    sees_host_pids,
    serves_engine,
)

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def row(address: str, state: str, inode: int) -> str:
    queues = "00000000:00000000 00:00000000 00000000"
    return f"   0: {address} 00000000:0000 {state} {queues}  1000        0 {inode} 1 0000 100 0 0 10 0\n"


NET = {
    "tcp": HEADER + row("0100007F:1F90", "0A", 11) + row("00000000:1F41", "0A", 12) + row("0100007F:1F90", "01", 13),
    "tcp6": HEADER
    + row("00000000000000000000000001000000:0050", "0A", 14)
    + row("0000000000000000FFFF00000100000A:1F92", "0A", 15),
}


def add(proc: Path, pid: int, parent: int, command: str, inodes: tuple[int, ...] | None = ()) -> None:
    """A process; ``inodes`` None hides its sockets."""
    folder = proc / str(pid)
    (folder / "net").mkdir(parents=True)
    (folder / "cmdline").write_bytes(command.replace(" ", "\0").encode() + b"\0" if "::" not in command else command.encode())
    (folder / "stat").write_text(f"{pid} (odd ) name) S {parent} 1 1 0 -1\n")
    for name, text in NET.items():
        (folder / "net" / name).write_text(text)
    if inodes is not None:
        (folder / "fd").mkdir()
        for number, inode in enumerate(inodes):
            (folder / "fd" / str(number)).symlink_to(f"socket:[{inode}]")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    add(tmp_path, 1, 0, "/sbin/init")
    add(tmp_path, 100, 1, "python3 /usr/bin/vllm serve model --port 8001", (12,))
    add(tmp_path, 101, 100, "VLLM::EngineCore", (11,))
    add(tmp_path, 102, 101, "python3 -c from_multiprocessing")
    add(tmp_path, 200, 1, "bash")
    add(tmp_path, 201, 200, "python3 train.py", (14,))
    return tmp_path


def test_process_is_read(proc: Path) -> None:
    """Command line and parent are read, also if the process has a bracket in its name or a title with blanks."""
    assert process(proc, 100) == Process(100, 1, ("python3", "/usr/bin/vllm", "serve", "model", "--port", "8001"))
    assert process(proc, 101) == Process(101, 100, ("VLLM::EngineCore",))
    assert process(proc, 999) is None


def test_ancestry(proc: Path) -> None:
    """Ancestors follow from the nearest to the first; a circle ends."""
    assert [one.pid for one in ancestry(proc, 102)] == [102, 101, 100, 1]
    add(proc, 300, 301, "a")
    add(proc, 301, 300, "b")
    assert [one.pid for one in ancestry(proc, 300)] == [300, 301]


def test_workers_belong_to_their_engine(proc: Path) -> None:
    """A worker spawned under a name that says nothing is the engine's; a stranger is not; what is gone is unknown."""
    assert serves_engine(proc, 102) is True
    assert serves_engine(proc, 201) is False
    assert serves_engine(proc, 999) is None


def test_listeners(proc: Path) -> None:
    """Sockets that listen are read from both tables; connections are not; addresses are turned round."""
    assert listeners(proc, 100) == {
        11: Listener("127.0.0.1", 8080),
        12: Listener("0.0.0.0", 8001),
        14: Listener("::1", 80),
        15: Listener("10.0.0.1", 8082),
    }


def test_only_the_outermost_engine_counts(proc: Path) -> None:
    """An engine's worker that listens for its own purposes is no second engine."""
    found = engine_processes(proc)
    assert [(one.process.pid, one.engine.name, one.usual, one.listeners) for one in found] == [
        (100, "vllm", 8001, (Listener("0.0.0.0", 8001),))
    ]


def test_hidden_sockets_are_taken_from_the_command_line(proc: Path) -> None:
    """Where another user's descriptors cannot be seen, the port on the command line counts if somebody listens at it."""
    add(proc, 400, 1, "llama-server --port 8080", None)
    add(proc, 401, 1, "llama-server --port 7777", None)
    assert [(one.process.pid, one.listeners) for one in engine_processes(proc)][1:] == [(400, (Listener("127.0.0.1", 8080),))]


def test_engine_that_does_not_listen_is_left_out(proc: Path) -> None:
    """A launcher without a socket is not an engine that can be asked."""
    add(proc, 500, 1, "text-generation-launcher --port 3000")
    assert [one.process.pid for one in engine_processes(proc)] == [100]


def test_namespace_of_process_ids(tmp_path: Path) -> None:
    """Only in the first namespace are process ids the machine's own; where nothing can be read they are not."""
    assert sees_host_pids(tmp_path) is False
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026531836]")
    assert sees_host_pids(tmp_path) is True


def test_this_very_process() -> None:
    """The real /proc is read the same way."""
    me = process(Path("/proc"), os.getpid())
    assert me is not None
    assert me.parent == os.getppid()
    assert [one.pid for one in ancestry(Path("/proc"), os.getpid())][:2] == [os.getpid(), os.getppid()]
