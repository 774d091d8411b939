"""Recordings that are kept by themselves on a change of state."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.dumps import FULL, dump
from tests.memory.test_memory import blind, ill, well
from triage.archive import Archive, archive_of, is_change, keep_on_change, recalled_recording
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.errors import DataError, InputMissingError, UsageError
from triage.ingest.files.incident import read_any
from triage.memory.life import Holds, Turn
from triage.memory.looks import Look, look_of
from triage.memory.memory import Transition
from triage.memory.store import KEEP, Kept, Store
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording
from triage.model.service import Service

HOLDS = Holds(raise_looks=1)
SECRET = "hf_abcdefghijklmnopqrstuvwxyzabcdefgh"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, Diagnosis]:
    """A recording of a full KV cache, with a log that holds a secret, and what is found in it."""
    folder = tmp_path_factory.mktemp("full")
    (folder / "metrics.prom").write_text(dump(FULL), encoding="utf-8")
    (folder / "logs").mkdir()
    line = f"2026-05-01 12:00:00 ERROR request failed: Authorization: Bearer {SECRET} was refused\n"
    (folder / "logs" / "engine-a.log").write_text(line, encoding="utf-8")
    recording = replace(read_any(folder, Service(name="llm")), service="llm")
    return recording, diagnose(recording, load_rules())


def archive(path: Path, budget: int = 10_000_000) -> Archive:
    return archive_of(path / "state" / "h.sqlite", budget)


def looked(into: Archive, look: Look, judged: tuple[Recording, Diagnosis], service: str = "llm") -> Kept | None:
    """One look that is remembered and, if it made a difference, kept."""
    recording, diagnosis = judged
    memory = into.store.remember(service, look, HOLDS)
    return keep_on_change(into, replace(recording, service=service), diagnosis, memory)


def files(into: Archive) -> list[str]:
    return sorted(path.relative_to(into.folder).as_posix() for path in into.folder.glob("*/*"))


def test_what_became_different_is_kept_and_what_stays_is_not(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """A first look that finds nothing, and looks that say the same, leave nothing; beginning and end of trouble do."""
    into = archive(tmp_path)
    kept = {at: looked(into, look(at), judged) for look, at in [(well, 900.0), (ill, 1000.0), (ill, 1060.0), (well, 1120.0)]}
    kept |= {at: looked(into, well(at), judged) for at in (1180.0, 1240.0, 1300.0)}
    assert [at for at, one in kept.items() if one is not None] == [1000.0, 1240.0]
    assert files(into) == ["llm/1000.000.parquet", "llm/1240.000.parquet"]
    assert [(one.id, one.time, one.dropped) for one in into.store.kept("llm")] == [(1, 1000.0, False), (2, 1240.0, False)]
    assert into.folder.stat().st_mode & 0o077 == 0


def test_a_kept_recording_is_judged_as_it_was(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """It gives the same diagnosis, with the onset that an earlier look knew, and says what was found then."""
    recording, diagnosis = judged
    known = replace(recording, begun={"kv-exhaustion-preemption": recording.window.start - 600.0})
    first = diagnose(known, load_rules())
    into = archive(tmp_path)
    memory = into.store.remember("llm", look_of(first), HOLDS)
    kept = keep_on_change(into, known, first, memory)
    assert kept is not None
    (listed,) = archive(tmp_path).store.kept("llm")
    assert (listed.status, listed.roots) == (Status.INCIDENT, ("kv-exhaustion-preemption",))
    again = recalled_recording(into, listed)
    assert again.begun == known.begun
    assert diagnose(again, load_rules()) == first != diagnosis


def test_a_kept_recording_holds_no_secret(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """What goes through logs is cleaned before it is anywhere."""
    into = archive(tmp_path)
    looked(into, ill(1000.0), judged)
    (path,) = into.folder.glob("*/*")
    recording = recalled_recording(into, into.store.kept()[0])
    assert any("request failed" in event.text for event in recording.events)
    assert SECRET.encode() not in path.read_bytes()
    assert SECRET not in repr(recording)


def test_the_oldest_make_room_for_the_newest(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """Over all services; what is gone is still listed, as gone."""
    first = looked(archive(tmp_path), ill(1000.0), judged, "a")
    assert first is not None
    into = archive(tmp_path, int(first.bytes * 2.5))
    for number, service in enumerate(("b", "c", "d")):
        looked(into, ill(1001.0 + number), judged, service)
    assert files(into) == ["c/1002.000.parquet", "d/1003.000.parquet"]
    gone, *_ = into.store.kept()
    assert [one.dropped for one in into.store.kept()] == [True, True, False, False]
    with pytest.raises(InputMissingError, match="recording 1 of a is gone: it made room for newer ones"):
        recalled_recording(into, gone)


def test_what_is_larger_than_the_budget_is_not_kept(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """Neither is anything without one."""
    into = archive(tmp_path, 100)
    assert looked(into, ill(1000.0), judged) is None
    assert files(into) == []
    assert looked(archive(tmp_path / "none", 0), ill(1000.0), judged) is None


def test_a_file_that_is_gone_or_damaged_says_so(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """By the number that people name it by."""
    into = archive(tmp_path)
    looked(into, ill(1000.0), judged)
    (kept,) = into.store.kept()
    path = into.folder / kept.file
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError):
        recalled_recording(into, kept)
    path.unlink()
    with pytest.raises(InputMissingError, match=r"recording 1 of llm is gone: .*parquet is not there any more"):
        recalled_recording(into, kept)


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", ".hidden", "a/b", "x" * 300, "überlast", "a\nb", "llm prod"])
def test_no_name_of_a_service_leads_out_of_the_archive(name: str, tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """And two names never share a folder."""
    into = archive(tmp_path)
    looked(into, ill(1000.0), judged, name)
    looked(into, ill(1000.0), judged, "passwd")
    found = list(tmp_path.rglob("*.parquet"))
    assert len({path.parent for path in found}) == len(found) == 2
    assert {path.parent.parent for path in found} == {into.folder}
    assert recalled_recording(into, into.store.kept(name)[0]).service == name


def test_files_that_a_killed_program_left_are_removed(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """Once they are so old that nobody can still be writing them."""
    into = archive(tmp_path)
    looked(into, ill(1000.0), judged)
    for name, age in [("old.parquet", 7200.0), (".old.parquet.partial", 7200.0), ("new.parquet", 0.0)]:
        path = into.folder / "llm" / name
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    looked(into, ill(1000.0), judged, "other")
    assert files(into) == ["llm/1000.000.parquet", "llm/new.parquet", "other/1000.000.parquet"]


def test_what_is_older_than_the_history_goes(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """The file goes with what it was about, and so does its line."""
    into = archive(tmp_path)
    looked(into, ill(1000.0), judged, "a")
    looked(into, ill(1000.0 + KEEP + 60.0), judged, "b")
    assert files(into) == [f"b/{1060.0 + KEEP:.3f}.parquet"]
    into.store.remember("a", ill(1000.0 + KEEP + 120.0), HOLDS)
    assert [one.service for one in into.store.kept()] == ["b"]


def test_what_cannot_be_kept_is_told(tmp_path: Path, judged: tuple[Recording, Diagnosis]) -> None:
    """A folder that is a file, for instance."""
    into = archive(tmp_path)
    into.folder.parent.mkdir()
    into.folder.write_text("in the way", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot keep"):
        looked(into, ill(1000.0), judged)


def test_a_history_of_an_older_triage_has_kept_nothing(tmp_path: Path) -> None:
    """Its file has no such table."""
    store = Store(tmp_path / "h.sqlite")
    store.remember("llm", blind(1000.0), HOLDS)
    with store._open() as base:
        base.execute("DROP TABLE kept")
    assert store.kept() == []
    with pytest.raises(InputMissingError):
        Store(tmp_path / "nowhere.sqlite").kept()


@pytest.mark.parametrize(("turn", "worth"), [(turn, turn not in (Turn.LOST, Turn.STEADY)) for turn in Turn])
def test_what_is_a_change(turn: Turn, worth: bool) -> None:
    """What nobody can judge any more, and what stays, need no recording."""
    assert is_change((Transition(0.0, turn, "kind x"),)) is worth
    assert not is_change(())
