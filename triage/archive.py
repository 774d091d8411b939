"""Recordings that are kept by themselves when something became different at a service, so that it can be looked at again."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import time as now
from urllib.parse import quote

from triage.classes import dataclass
from triage.errors import InputMissingError, UsageError
from triage.ingest.files.parquet import read_recording, write_recording
from triage.memory.life import Turn
from triage.memory.memory import STATE, Memory, Transition
from triage.memory.store import KEEP, Kept, Store
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording

_LONGEST_NAME = 100
_STRAY = 3600.0
"""Seconds after which a file that the index does not know was left by a program that was killed."""


@dataclass(frozen=True)
class Archive:
    """Where recordings are kept.

    :param store: the history that has their index
    :param folder: where their files are
    :param budget: bytes for all files together; 0 keeps none
    """

    store: Store
    folder: Path
    budget: int


def archive_of(state: Path, budget: int) -> Archive:
    """The archive that belongs to a file of history: a folder beside it, ``history.kept`` of ``history.sqlite``."""
    return Archive(Store(state), state.with_suffix(".kept"), budget)


def keep_on_change(archive: Archive, recording: Recording, diagnosis: Diagnosis, memory: Memory) -> Kept | None:
    """Keep a recording if something became different with the look that was made of it; else, or without a budget, None.

    What is kept is what ``triage record`` keeps, so the same secrets are left out. The oldest files make room for the newest; one
    that is larger than the whole budget is not kept.

    :param recording: that was judged
    :param diagnosis: what was found
    :param memory: after this look, as :meth:`Store.remember` gives it
    :raises TriageError: it cannot be written; how the service is does not depend on it
    """
    if not archive.budget or memory.time is None or not is_change(memory.news):
        return None
    file = f"{_folder_name(recording.service)}/{memory.time:.3f}.parquet"
    path = archive.folder / file
    try:
        archive.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(exist_ok=True)
        write_recording(recording, path)
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(f"cannot keep {path}: {error.strerror or error}", "name another file with --state") from error
    if size > archive.budget:
        path.unlink(missing_ok=True)
        return None
    roots = tuple(one.rule for one in diagnosis.findings if one.role == "root")
    ruleset = f"{diagnosis.ruleset.version} {diagnosis.ruleset.digest}" if diagnosis.ruleset else ""
    kept = Kept(recording.service, memory.time, file, size, diagnosis.status, roots, ruleset, recording.begun)
    archive.store.add_kept(kept)
    _make_room(archive)
    return kept


def is_change(news: tuple[Transition, ...]) -> bool:
    """Whether what became different is worth a recording: all but a first look that finds nothing, and what nobody can judge."""
    return any(one.turn not in (Turn.LOST, Turn.STEADY) and not _is_first_and_well(one) for one in news)


def recalled_recording(archive: Archive, kept: Kept) -> Recording:
    """A recording that was kept, with what was known of earlier looks then.

    :raises InputMissingError: its file is gone
    :raises DataError: its file is damaged
    """
    path = archive.folder / kept.file
    if kept.dropped:
        raise InputMissingError(
            f"the recording {kept.id} of {kept.service} is gone: it made room for newer ones", "give them more room with --keep"
        )
    if not path.is_file():
        raise InputMissingError(f"the recording {kept.id} of {kept.service} is gone: {path} is not there any more")
    recording = read_recording(path)
    return replace(recording, begun=kept.begun)


def _is_first_and_well(one: Transition) -> bool:
    return one.key == STATE and not one.before and one.now == Status.HEALTHY


def _folder_name(service: str) -> str:
    """A service's folder: its name where that is a plain file name; nothing in it can lead out of the archive."""
    name = quote(service, safe=" ")
    if name.startswith(".") or len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(service.encode()).hexdigest()[:16]
        return f"{name.lstrip('.')[:_LONGEST_NAME]}-{digest}"
    return name


def _make_room(archive: Archive) -> None:
    """Drop the oldest files until the rest is within the budget, and what is older than the history."""
    left = [one for one in archive.store.kept() if not one.dropped]
    newest = max(one.time for one in left)
    total = sum(one.bytes for one in left)
    dropped: list[int] = []
    for one in left:
        if total <= archive.budget and newest - one.time <= KEEP:
            break
        (archive.folder / one.file).unlink(missing_ok=True)
        total -= one.bytes
        dropped += [one.id] if one.id is not None else []
    if dropped:
        archive.store.drop_kept(dropped)
    _sweep(archive, {one.file for one in left})


def _sweep(archive: Archive, known: set[str]) -> None:
    """Remove files that a program left which was killed between writing one and telling the index."""
    for path in _files(archive.folder):
        with suppress(OSError):
            if path.relative_to(archive.folder).as_posix() not in known and now() - path.stat().st_mtime > _STRAY:
                path.unlink()


def _files(folder: Path) -> Iterator[Path]:
    """The recordings in the folders of services, whole ones and partial ones."""
    yield from folder.glob("*/*.parquet")
    yield from folder.glob("*/.*.partial")
