"""Memories that outlive the program: a file of SQLite, for many services, that several programs may write at the same time."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from triage.classes import dataclass
from triage.errors import ConfigError, DataError, InputMissingError
from triage.memory.life import Holds, Turn
from triage.memory.looks import Look
from triage.memory.memory import Memory, Run, Transition, after
from triage.memory.reference import Pace, Reference, after_look
from triage.model.diagnosis import Status
from triage.model.recording import Window
from triage.statehome import state_path

VERSION = 1
"""Of the tables, as ``PRAGMA user_version``."""

_MARK = 0x74726961
"""``PRAGMA application_id``: "tria". A file without it is not ours, and is left alone."""

_PATIENCE = 10.0
"""Seconds that a writer waits for another; a write takes milliseconds."""

KEEP = 90 * 86400.0
"""Chosen: seconds for which history is kept: a quarter of a year, over which people compare."""

_MOST_ROWS = 20_000
"""Chosen: turns, and runs, that are kept of one service; what flaps for months fills no disk."""

_TABLES = f"""
CREATE TABLE IF NOT EXISTS memories (service TEXT PRIMARY KEY, looked REAL NOT NULL, memory TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS turns (
  id INTEGER PRIMARY KEY, service TEXT NOT NULL, time REAL NOT NULL, turn TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL,
  now TEXT NOT NULL, before TEXT NOT NULL, severity TEXT NOT NULL, since REAL, until REAL
) STRICT;
CREATE INDEX IF NOT EXISTS turns_of ON turns (service, time);
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY, service TEXT NOT NULL, status TEXT NOT NULL, start REAL NOT NULL, end REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS runs_of ON runs (service, start);
PRAGMA application_id = {_MARK};
PRAGMA user_version = {VERSION};
"""

_USUAL = "CREATE TABLE IF NOT EXISTS usual (service TEXT PRIMARY KEY, reference TEXT NOT NULL) STRICT"
"""Made at each writing: a file without it is one of ours, too."""

_KEPT = """
CREATE TABLE IF NOT EXISTS kept (
  id INTEGER PRIMARY KEY AUTOINCREMENT, service TEXT NOT NULL, time REAL NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL,
  status TEXT NOT NULL, roots TEXT NOT NULL, ruleset TEXT NOT NULL, begun TEXT NOT NULL, dropped INTEGER NOT NULL DEFAULT 0
) STRICT
"""
"""Recordings that were kept; made at each writing, like the table above."""

_TURNS = """
SELECT time, turn, key, title, now, before, severity, since, until FROM turns WHERE service = ? AND time >= ? ORDER BY id
"""
_PRUNED = (
    "DELETE FROM turns WHERE service = ?1 AND id <= (SELECT id FROM turns WHERE service = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
    "DELETE FROM runs WHERE service = ?1 AND id <= (SELECT id FROM runs WHERE service = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
)

_KEPT_ROWS = "SELECT id, service, time, file, bytes, status, roots, ruleset, begun, dropped FROM kept"

_MEMORY = TypeAdapter(Memory)
_ROOTS = TypeAdapter(tuple[str, ...])
_BEGUN = TypeAdapter(dict[str, float])
_REFERENCE = TypeAdapter(Reference)


Along = Callable[[sqlite3.Connection, Memory], None]
"""Is given the open transaction and the memory after the look."""


def state_file(environ: Mapping[str, str]) -> Path | None:
    """Where history is kept if nobody says otherwise; None where there is no home."""
    return state_path("history.sqlite", environ)


@dataclass(frozen=True, slots=True)
class Known:
    """A service of which something is remembered.

    :param looked: time of the last look, Unix seconds
    :param reference: which time is usual; None where nobody said which window was judged
    """

    service: str
    looked: float
    memory: Memory
    reference: Reference | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A recording that was kept when something became different.

    :param id: number by which people name it; None before it is in the index
    :param time: of the look, Unix seconds
    :param file: path below the folder of kept recordings
    :param bytes: size of the file
    :param status: how the service was judged then, with ``roots`` as the kinds that nothing explained
    :param ruleset: version and digest of what it was judged with; empty if nobody said
    :param begun: what was known then of earlier looks (``Recording.begun``)
    :param dropped: the file made room for newer ones
    """

    service: str
    time: float
    file: str
    bytes: int
    status: Status
    roots: tuple[str, ...] = ()
    ruleset: str = ""
    begun: Mapping[str, float] = field(default_factory=dict)
    dropped: bool = False
    id: int | None = None


class Store:
    """A file of memories. Each call is one transaction: it is done whole or not at all, whatever ends the program.

    :param path: the file
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def remember(
        self,
        service: str,
        look: Look,
        holds: Holds,
        judged: tuple[Window, Pace] | None = None,
        along: Along | None = None,
    ) -> Memory:
        """The memory of a service after one more look, which is kept. A look that is no later than the last changes nothing.

        :param judged: the window of the look, and how the service is watched, where what is usual is to be remembered, too
        :param along: writes what follows from it in the same transaction: whatever ends the program, both are there or neither
        :raises ConfigError: the file cannot be made or written
        :raises DataError: the file is not ours, or is damaged
        """
        with self._open(make=True) as base, base:
            base.execute("BEGIN IMMEDIATE")
            before = _memory_of(base, service, self._path)
            memory = after(before, look, holds)
            if memory is not before:
                _write(base, service, before, memory)
                if judged is not None:
                    _write_reference(base, service, memory, look, *judged)
                _prune(base, service, look.time)
                if along is not None:
                    along(base, memory)
        return memory

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A look at tables of somebody else in the same file.

        :raises InputMissingError: there is no such file
        """
        with self._open() as base:
            yield base

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction on tables of somebody else in the same file."""
        with self._open(make=True) as base, base:
            base.execute("BEGIN IMMEDIATE")
            yield base

    def services(self) -> list[Known]:
        """All services, by name.

        :raises InputMissingError: there is no such file
        """
        with self._open() as base:
            rows = base.execute("SELECT service, looked FROM memories ORDER BY service").fetchall()
            return [
                Known(service, looked, _memory_of(base, service, self._path), _reference_of(base, service))
                for service, looked in rows
            ]

    def turns(self, service: str, since: float) -> list[Transition]:
        """What became different from a moment on, in order of time.

        :param since: Unix seconds
        """
        with self._open() as base:
            rows = base.execute(_TURNS, (service, since))
            return [Transition(time, Turn(turn), *rest) for time, turn, *rest in rows]

    def runs(self, service: str, since: float) -> list[Run]:
        """The states that looks told from a moment on, in order of time.

        :param since: Unix seconds
        """
        with self._open() as base:
            rows = base.execute(
                "SELECT status, start, end FROM runs WHERE service = ? AND end >= ? ORDER BY id", (service, since)
            )
            return [Run(Status(status), start, end) for status, start, end in rows]

    def add_kept(self, one: Kept) -> None:
        """Note that a recording was kept."""
        row = (one.service, one.time, one.file, one.bytes, one.status, list(one.roots), one.ruleset, dict(one.begun))
        told = [json.dumps(cell) if isinstance(cell, (list, dict)) else cell for cell in row]
        with self._open(make=True) as base:
            base.execute(
                "INSERT INTO kept (service, time, file, bytes, status, roots, ruleset, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                told,
            )

    def kept(self, service: str | None = None) -> list[Kept]:
        """The recordings that were kept, of one service or of all, in order of time.

        :raises InputMissingError: there is no such file
        """
        where = "" if service is None else " WHERE service = ?"
        with self._open() as base, suppress(sqlite3.OperationalError):  # nobody has kept anything yet
            rows = base.execute(f"{_KEPT_ROWS}{where} ORDER BY time, id", () if service is None else (service,))
            return [_kept_of(*row) for row in rows]
        return []

    def drop_kept(self, numbers: Iterable[int]) -> None:
        """Note that the files of some recordings made room for newer ones."""
        with self._open(make=True) as base, base:
            base.executemany("UPDATE kept SET dropped = 1 WHERE id = ?", [(number,) for number in numbers])

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        """The open file, closed at the end; what goes wrong is one sentence.

        :param make: make it where there is none
        """
        if make:
            self._make_folder()
        elif not self._path.exists():
            raise self._missing()
        try:
            base = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)
            try:
                self._prepare(base, make=make)
                yield base
            finally:
                base.close()
        except sqlite3.OperationalError as error:
            raise ConfigError(f"the history {self._path} cannot be used: {error}", "name another file with --state") from error
        except (sqlite3.DatabaseError, ValueError) as error:
            raise self._damaged(error) from error

    def _make_folder(self) -> None:
        """The folder of the file, and the file, which is nobody else's business: it names services and what ails them."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        except OSError as error:
            raise ConfigError(
                f"the history {self._path} cannot be written: {error.strerror or error}", "name another file with --state"
            ) from error

    def _prepare(self, base: sqlite3.Connection, *, make: bool) -> None:
        """The tables, made if the file is empty; a file of somebody else, or of a later version, is left alone."""
        if not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            if not make:
                raise self._missing()
            base.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        (mark,), (version,) = base.execute("PRAGMA application_id").fetchone(), base.execute("PRAGMA user_version").fetchone()
        if mark != _MARK:
            raise DataError(f"{self._path} is no history of triage", "name another file with --state")
        if version != VERSION:
            raise DataError(
                f"the history {self._path} has version {version}, and this triage knows {VERSION}",
                "use the triage that wrote it, or name another file with --state",
            )
        if make:
            with suppress(sqlite3.OperationalError):  # another program is at it; the journal is as safe, only slower
                base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            base.execute(_USUAL)
            base.execute(_KEPT)

    def _missing(self) -> InputMissingError:
        return InputMissingError(f"there is no history at {self._path}", "triage check keeps it; name another file with --state")

    def _damaged(self, error: Exception) -> DataError:
        return DataError(f"the history {self._path} is damaged: {error}", "move it away; a new one is begun")


def _kept_of(
    number: int, service: str, time: float, file: str, size: int, status: str, roots: str, ruleset: str, begun: str, dropped: int
) -> Kept:
    """A row of the index of kept recordings."""
    told = _ROOTS.validate_json(roots), ruleset, _BEGUN.validate_json(begun)
    return Kept(service, time, file, size, Status(status), *told, bool(dropped), number)


def _memory_of(base: sqlite3.Connection, service: str, path: Path) -> Memory:
    """The memory of a service; an empty one of a service that nobody has looked at."""
    row = base.execute("SELECT memory FROM memories WHERE service = ?", (service,)).fetchone()
    if row is None:
        return Memory()
    try:
        return _MEMORY.validate_json(row[0])
    except ValidationError as error:
        raise DataError(f"the history {path} is damaged: its memory of {service!r} cannot be read", "move it away") from error


def _write(base: sqlite3.Connection, service: str, before: Memory, memory: Memory) -> None:
    """The memory, what became different with it, and the last run of states."""
    base.executemany(
        "INSERT INTO turns (service, time, turn, key, title, now, before, severity, since, until) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (service, one.time, one.turn, one.key, one.title, one.now, one.before, one.severity, one.since, one.until)
            for one in memory.news
        ],
    )
    run = memory.runs[-1]
    if before.runs and before.runs[-1].start == run.start:
        base.execute("UPDATE runs SET end = ? WHERE service = ? AND start = ?", (run.end, service, run.start))
    else:
        base.execute(
            "INSERT INTO runs (service, status, start, end) VALUES (?, ?, ?, ?)", (service, run.status, run.start, run.end)
        )
    kept = replace(memory, turns=(), latest=0, runs=(run,))
    base.execute(
        "INSERT INTO memories (service, looked, memory) VALUES (?, ?, ?) "
        "ON CONFLICT (service) DO UPDATE SET looked = excluded.looked, memory = excluded.memory",
        (service, memory.time, _MEMORY.dump_json(kept).decode()),
    )


def _reference_of(base: sqlite3.Connection, service: str) -> Reference | None:
    """Which time is usual for a service; None if that is not known, or cannot be read: then it is what it is without a memory."""
    with suppress(sqlite3.OperationalError, ValidationError):  # nobody has written this table yet
        row = base.execute("SELECT reference FROM usual WHERE service = ?", (service,)).fetchone()
        return None if row is None else _REFERENCE.validate_json(row[0])
    return None


def _write_reference(base: sqlite3.Connection, service: str, memory: Memory, look: Look, window: Window, pace: Pace) -> None:
    """Which time is usual after a look."""
    before = _reference_of(base, service) or Reference(window.baseline_start)
    told = _REFERENCE.dump_json(after_look(before, memory, window, pace, look)).decode()
    base.execute("INSERT OR REPLACE INTO usual (service, reference) VALUES (?, ?)", (service, told))


def _prune(base: sqlite3.Connection, service: str, time: float) -> None:
    """Leave out what is too old, and of too much the oldest."""
    base.execute("DELETE FROM turns WHERE service = ? AND time < ?", (service, time - KEEP))
    base.execute("DELETE FROM runs WHERE service = ? AND end < ?", (service, time - KEEP))
    base.execute("DELETE FROM kept WHERE dropped AND time < ?", (time - KEEP,))
    for delete in _PRUNED:
        base.execute(delete, (service, _MOST_ROWS))
