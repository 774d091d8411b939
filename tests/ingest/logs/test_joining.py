"""Tracebacks as one event, and the exception by which each is known."""

import pytest

from triage.ingest.logs.forms import record_of
from triage.ingest.logs.joining import Joiner, Trace

CHAINED = """\
Traceback (most recent call last):
  File "/a.py", line 1, in resolve
    x()
socket.gaierror: [Errno -2] Name or service not known

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/b.py", line 1, in from_pretrained
    y()
OSError: cannot reach the hub
for three reasons
"""


def traces(text: str) -> list[Trace]:
    joiner = Joiner()
    ended = []
    for line in map(str.encode, text.splitlines()):
        inside, more = joiner.feed(line, record_of(line), 0.0)
        ended += more
        if not inside:
            joiner.pass_by(line)
    return [*ended, *joiner.finish()]


GO = "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n"
RUST = "thread 'main' panicked at src/x.rs:1:2:\nno tensor\nnote: run\n"
CPP = "terminate called after throwing an instance of 'c10::Error'\n  what():  no card\n"
NATIVE = """\
2026-09-16T12:00:00.200Z /src/backend.cpp:1488: no place for this graph
2026-09-16T12:00:00.210Z libggml-base.so(ggml_abort+0x152)[0x7f1a2c0dd902]
2026-09-16T12:00:00.211Z /usr/lib/libc.so.6(+0x29d90) [0x7f1a27ed7e11]
2026-09-16T12:00:05.000Z found 1 device
"""
WRAPPED = CHAINED.replace(
    "OSError: cannot reach the hub\nfor three reasons", "RuntimeError: Engine failed. See root cause above."
)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (CHAINED, b"OSError", b"cannot reach the hub for three reasons"),
        (WRAPPED, b"socket.gaierror", b"[Errno -2] Name or service not known"),
        (GO, b"panic", b"runtime error: index out of range"),
        (RUST, b"panic", b"no tensor note: run"),
        (CPP, b"c10::Error", b"no card"),
        (NATIVE, b"abort", b"no place for this graph"),
        ("GPU hang detected\n#1  0x00007f1a27ed7e11 in wait4 () from libc.so.6\n", b"abort", b"GPU hang detected"),
    ],
    ids=["chained", "wrapped", "go", "rust", "c++", "glibc", "gdb"],
)
def test_cause(text: str, name: bytes, message: bytes) -> None:
    """A traceback is known by its last exception that is more than a word about another one."""
    (trace,) = traces(text)
    assert trace.cause is not None
    assert (trace.cause.name, trace.cause.message) == (name, message)


def test_mixed_threads() -> None:
    """Lines of several workers that are mixed make a traceback each."""
    head = "(Worker_TP{} pid={}) ERROR 09-16 12:00:38 [w.py:1] "
    lines = ["Traceback (most recent call last):", '  File "a.py", line 1, in load', "KeyError: 'q{}'"]
    text = "\n".join((head.format(rank, rank) + line).replace("q{}", f"q{rank}") for line in lines for rank in (0, 1))
    assert sorted(trace.cause.message for trace in traces(text) if trace.cause) == [b"'q0'", b"'q1'"]


def test_an_endless_traceback() -> None:
    """A traceback that does not end is kept in part."""
    (first, *_) = traces("Traceback (most recent call last):\n" + "  File x, line 1, in f\n" * 2000)
    assert len(first.lines) <= 400
