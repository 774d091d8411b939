"""Memories that outlive the program."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tests.memory.test_memory import OVERLOAD, blind, every, ill, remembered, well
from triage.errors import ConfigError, DataError, InputMissingError
from triage.memory.life import Holds, Turn
from triage.memory.memory import STATE, Memory, after
from triage.memory.store import _MEMORY, KEEP, Store, state_file
from triage.model.diagnosis import Status

HOLDS = Holds(raise_looks=1)
LOOKS = [
    *map(well, every(60, 1000, 1300)),
    *(ill(at, since=1350.0) for at in every(60, 1360, 1900)),
    *map(blind, (1960, 2020, 2080)),
    *(ill(at, since=at) for at in every(60, 2140, 2300)),
    *map(well, every(60, 2320, 2800)),
]

WRITER = """
import sys
from pathlib import Path
from tests.memory.test_memory import ill, well
from triage.memory.life import Holds
from triage.memory.store import Store
store, service, first = Store(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for number in range(first, first + 100_000):
    store.remember(service, (ill if number // 5 % 2 else well)(float(number)), Holds(raise_looks=1, clear_after=2.0))
    if number == first:
        print("writes", flush=True)
    if number == first + int(sys.argv[4]):
        break
"""


def writer(path: Path, service: str, first: int, count: int = 100_000) -> "subprocess.Popen[str]":
    """Another program that writes."""
    words = [sys.executable, "-c", WRITER, str(path), service, str(first), str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    """Each look by a program of its own gives the same history as all of them by one."""
    memory = Memory()
    for look in LOOKS:
        memory = Store(tmp_path / "h.sqlite").remember("llm", look, HOLDS)
    whole = remembered(*LOOKS, holds=HOLDS)
    assert (memory.lives, memory.state, memory.cause) == (whole.lives, whole.state, whole.cause)
    store = Store(tmp_path / "h.sqlite")
    assert store.turns("llm", 0.0) == list(whole.turns)
    assert store.runs("llm", 0.0) == list(whole.runs)
    (known,) = store.services()
    assert (known.service, known.looked, known.memory.status) == ("llm", 2800.0, Status.HEALTHY)


def test_services_do_not_mix(tmp_path: Path) -> None:
    """Each has a memory of its own; a look that comes late is left out."""
    store = Store(tmp_path / "h.sqlite")
    store.remember("a", ill(1000.0), HOLDS)
    store.remember("b", well(1000.0), HOLDS)
    assert store.remember("a", well(900.0), HOLDS).status is Status.INCIDENT
    assert [(one.service, one.memory.status) for one in store.services()] == [("a", Status.INCIDENT), ("b", Status.HEALTHY)]
    assert {one.key for one in store.turns("b", 0.0)} == {STATE}
    assert store.turns("nobody", 0.0) == []


def test_several_writers_do_not_harm_each_other(tmp_path: Path) -> None:
    """Two programs on one service and one on another, at the same time, from the making of the file on."""
    path = tmp_path / "deep" / "h.sqlite"
    writers = [writer(path, service, first, 40) for service, first in (("a", 1000), ("a", 1001), ("b", 1000))]
    for one in writers:
        one.communicate(timeout=120)
    assert [one.returncode for one in writers] == [0, 0, 0]
    store = Store(path)
    for service in ("a", "b"):
        turns = [one for one in store.turns(service, 0.0) if one.key == OVERLOAD]
        assert [one.time for one in turns] == sorted(one.time for one in turns)
        up = [one.turn in (Turn.NEW, Turn.FLAPPING) for one in turns if one.turn is not Turn.CHANGED]
        assert all(now != then for then, now in pairwise(up))
        runs = store.runs(service, 0.0)
        assert all(then.end < now.start for then, now in pairwise(runs))


def test_a_program_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    """At whatever moment: the file can be read, its history goes with its memory, and the next program goes on."""
    path = tmp_path / "h.sqlite"
    first = 0
    for pause in (0.0, 0.01, 0.05, 0.11):
        process = writer(path, "a", first)
        assert process.stdout is not None
        assert process.stdout.readline() == "writes\n"
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with closing(sqlite3.connect(path)) as base, base:
            assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (known,) = Store(path).services()
        turns = [one for one in Store(path).turns("a", 0.0) if one.key == OVERLOAD]
        life = known.memory.lives.get(OVERLOAD)
        assert (life is not None and life.is_up) == bool(turns and turns[-1].turn in (Turn.NEW, Turn.FLAPPING, Turn.STEADY))
        first = int(known.looked) + 1


def test_old_history_is_left_out(tmp_path: Path) -> None:
    """What is older than what is kept goes with the next look."""
    store = Store(tmp_path / "h.sqlite")
    store.remember("a", ill(1000.0), HOLDS)
    store.remember("a", blind(1000.0 + KEEP / 2), HOLDS)
    assert len(store.turns("a", 0.0)) > 1
    store.remember("a", blind(1100.0 + KEEP), HOLDS)
    assert [one.time for one in store.turns("a", 0.0)] == [1100.0 + KEEP]
    assert store.services()[0].memory.lives[OVERLOAD].is_up


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    """It names services and what ails them."""
    path = tmp_path / "deep" / "h.sqlite"
    Store(path).remember("a", well(1.0), HOLDS)
    assert path.stat().st_mode & 0o077 == 0


def test_what_is_no_history_is_left_alone(tmp_path: Path) -> None:
    """Another program's database, a text, a later version, a damaged memory: a sentence, and not a byte changed."""
    other, text, later, damaged = (tmp_path / name for name in ("other", "text", "later", "damaged"))
    with closing(sqlite3.connect(other)) as base, base:
        base.execute("CREATE TABLE turns (a)")
    text.write_text("not a database at all, but long enough to be taken for one\n" * 20, encoding="utf-8")
    for path in (later, damaged):
        Store(path).remember("a", well(1.0), HOLDS)
    with closing(sqlite3.connect(later)) as base, base:
        base.execute("PRAGMA user_version = 99")
    with closing(sqlite3.connect(damaged)) as base, base:
        base.execute('UPDATE memories SET memory = \'{"time": "never"}\'')
    for path, words in ((other, "is no history"), (text, "is damaged"), (later, "has version 99"), (damaged, "cannot be read")):
        before = path.read_bytes()
        with pytest.raises(DataError, match=words):
            Store(path).remember("a", ill(2.0), HOLDS)
        with pytest.raises(DataError, match=words):
            Store(path).services()
        assert path.read_bytes() == before


def test_where_there_is_none(tmp_path: Path) -> None:
    """Asking makes no file; a folder that is none is told."""
    with pytest.raises(InputMissingError):
        Store(tmp_path / "none").services()
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        Store(tmp_path / "file" / "h.sqlite").remember("a", well(1.0), HOLDS)


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, Path("/s/triage/history.sqlite")),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, Path("/h/.local/state/triage/history.sqlite")),
        ({}, None),
    ],
)
def test_the_usual_place(environ: dict[str, str], path: Path | None) -> None:
    """As the XDG base directories have it."""
    assert state_file(environ) == path


def test_a_memory_survives_its_writing() -> None:
    """What was written and read is what was remembered."""
    memory = Memory()
    for look in LOOKS[:8]:
        memory = after(memory, look, HOLDS)
    assert _MEMORY.validate_json(_MEMORY.dump_json(memory)) == memory
