"""Work side by side in processes: within its time, and none of it the end of the others."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from triage.checks.workers import Desk, Died, Failed, Late, Limits, Result, worked

pytestmark = pytest.mark.slow


def limits(jobs: int = 3, each: float = 30.0, total: float | None = None, at_a_server: int = 2) -> Limits:
    return Limits(jobs, each, None if total is None else time.monotonic() + total, at_a_server)


def done(work: "object", count: int, limit: Limits, servers: list[str] | None = None) -> list[Result[object]]:
    """Results, with nobody who listens."""
    return worked(servers or [""] * count, work, limit, lambda *_: None)  # type: ignore[arg-type]


def test_results_come_in_the_order_of_the_work_from_processes_of_their_own() -> None:
    """As many processes as were asked for, each used again."""
    results = done(lambda piece, due, desk: (piece, os.getpid()), 20, limits())
    assert [one.value[0] for one in results] == list(range(20))  # type: ignore[index]
    pids = {one.value[1] for one in results}  # type: ignore[index]
    assert os.getpid() not in pids
    assert len(pids) <= 3
    assert done(lambda piece, due, desk: piece, 0, limits()) == []


def test_what_takes_too_long_is_ended_and_the_rest_is_done() -> None:
    """Though it listens to nothing."""

    def stuck(piece: int, due: float, desk: Desk) -> int:
        if piece == 1:
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
            time.sleep(60.0)
        return piece

    results = done(stuck, 5, limits(each=2.0))
    assert [one.value for one in results] == [0, None, 2, 3, 4]
    assert results[1].trouble == Late(begun=True)
    assert results[1].seconds >= 2.0


def test_past_the_time_for_everything_nothing_is_begun() -> None:
    """What was not begun says so, what was begun as well."""
    results = done(lambda piece, due, desk: time.sleep(60.0), 4, limits(jobs=2, total=1.0))
    assert [one.trouble for one in results] == [Late(begun=True)] * 2 + [Late(begun=False)] * 2


def test_work_knows_when_it_is_due() -> None:
    """The earlier of both limits."""
    now = time.monotonic()
    by_each, by_total = (done(lambda piece, due, desk: due, 1, one)[0].value for one in (limits(each=5.0), limits(total=7.0)))
    assert isinstance(by_each, float)
    assert isinstance(by_total, float)
    assert now + 5.0 <= by_each <= time.monotonic() + 5.0
    assert now + 7.0 <= by_total <= time.monotonic() + 7.0


def test_a_process_that_dies_and_work_that_fails_are_told() -> None:
    """Neither takes anything with it."""

    def deadly(piece: int, due: float, desk: Desk) -> int:
        if piece == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if piece == 2:
            raise ValueError("no such thing")
        return piece

    results = done(deadly, 5, limits(jobs=1))
    assert [one.value for one in results] == [0, None, None, 3, 4]
    assert [results[1].trouble, results[2].trouble] == [Died(-signal.SIGKILL), Failed("ValueError: no such thing")]


def test_a_server_is_asked_by_so_many_at_a_time(tmp_path: Path) -> None:
    """Until one says that it does not need it any more; who asks nobody does not wait."""
    servers = ["a"] * 6 + ["b"] * 2 + [""] * 4

    def asking(piece: int, due: float, desk: Desk) -> int:
        server = servers[piece]
        mine = tmp_path / f"{server}-{piece}"
        if server:
            mine.touch()
            time.sleep(0.2)
        there = len(list(tmp_path.glob(f"{server}-*"))) if server else 0
        mine.unlink(missing_ok=True)
        desk.asked()
        time.sleep(0.1)
        return there

    results = done(asking, 12, limits(jobs=8, at_a_server=2), servers)
    there = [int(str(one.value)) for one in results]
    assert max(there) == 2
    assert there[8:] == [0] * 4


def test_what_work_tells_is_heard() -> None:
    """From any of its threads."""
    heard: list[tuple[str, str, float]] = []
    worked(["", ""], lambda piece, due, desk: desk.tell("s", str(piece), 0.5), limits(), lambda *told: heard.append(told))
    assert sorted(heard) == [("s", "0", 0.5), ("s", "1", 0.5)]


PROGRAM = """
import os, time
from triage.checks.workers import Limits, worked
def work(piece, due, desk):
    desk.tell("", str(os.getpid()), 0.0)
    time.sleep(60.0)
worked(["", ""], work, Limits(2, 60.0, None, 1), lambda a, pid, c: print(pid, flush=True))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_outlives_the_program(how: signal.Signals) -> None:
    """However it ends."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout is not None
        workers = [int(program.stdout.readline()) for _ in range(2)]
        program.send_signal(how)
        assert program.stdout.read() == ""  # it ends once the last of them is gone
    while any(map(is_running, workers)):  # it closed its streams and is about to be gone
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Whether a process is more than an entry that nobody has read yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False
