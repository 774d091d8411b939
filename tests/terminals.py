"""Programs behind a pseudo-terminal."""

import os
import pty
import select
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from struct import pack
from subprocess import PIPE, Popen
from termios import TIOCSWINSZ

from tests.servers import ended

_PATIENCE = 120.0


class Terminal:
    """A program on a terminal of 80 columns and 24 rows."""

    def __init__(self, master: int, process: "Popen[bytes]") -> None:
        self._master = master
        self._process = process

    def until(self, words: bytes) -> bytes:
        """What comes until words are there, or the other side closes."""
        seen = b""
        while words not in seen and select.select([self._master], [], [], _PATIENCE)[0]:
            try:
                seen += os.read(self._master, 1 << 16)
            except OSError:
                break
        return seen

    def press(self, key: bytes) -> None:
        """Type something."""
        os.write(self._master, key)

    def interrupt(self) -> None:
        """What Ctrl+C does."""
        self._process.send_signal(signal.SIGINT)

    def output(self) -> bytes:
        """All that it wrote into a pipe, when it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.read()

    def code(self) -> int:
        """What the program ends with; what it still writes is read, as it could not end otherwise."""
        self.until(b"\x00 never written")
        return self._process.wait(timeout=_PATIENCE)


@contextmanager
def interruptible() -> Iterator[None]:
    """Programs that are started here hear of interrupts.

    A shell starts what it runs in the background with interrupts ignored; children inherit that, but no handler.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def on_terminal(command: Sequence[str], folder: Path, environ: Mapping[str, str], *, piped: bool = False) -> Iterator[Terminal]:
    """A program on a terminal, until the block is left.

    :param piped: its standard output goes into a pipe
    """
    master, slave = pty.openpty()
    ioctl(slave, TIOCSWINSZ, pack("HHHH", 24, 80, 0, 0))
    try:
        with interruptible():
            started = Popen(command, cwd=folder, stdin=slave, stdout=PIPE if piped else slave, stderr=slave, env=dict(environ))
        with ended(started) as process:
            os.close(slave)
            yield Terminal(master, process)
    finally:
        os.close(master)
