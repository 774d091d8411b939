"""One run at a time: a second one of the same services says who is at it, and leaves."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triage.errors import BusyError, quoted
from triage.model.units import clock

_LONGEST = 300


@contextmanager
def held(path: Path, what: str, now: float) -> Iterator[None]:
    """Hold a lock while the block runs. The system lets go of it when the process ends, however it ends: no lock is ever stale.

    :param path: the file that is locked; its text says who holds it, and it stays when the lock is free
    :param what: what is held, for the message
    :param now: Unix seconds
    :raises BusyError: another process holds it
    :raises OSError: the file cannot be made
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = quoted(os.read(descriptor, _LONGEST).decode("utf-8", "replace")) or "a process that has just begun"
            raise BusyError(f"{what} at this moment: {who}", "wait for it, or end it; nothing was checked") from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {clock(now, now)} UTC\n".encode())
        yield
    finally:
        os.close(descriptor)
