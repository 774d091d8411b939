"""Recordings of cases, read once: in memory while a case is worked on, and on disk between runs if that is wanted."""

import hashlib
import os
import pickle
from functools import cache
from importlib import import_module
from pathlib import Path

import triage
from triage.classes import dataclass
from triage.ingest.files.incident import joined, logs_of, metrics_of, open_incident
from triage.ingest.language import Language, load_language
from triage.model.recording import Recording
from triage.score.cases import Case
from triage.wholefile import whole

_READING = ("ingest", "model")
"""Packages whose files decide what a recording is, beside dialects and signatures."""


@dataclass(frozen=True)
class Loaded:
    """A case with its recording.

    :param metrics: the recording of its metrics alone, for sweeps that read the logs again
    """

    case: Case
    recording: Recording
    metrics: Recording


def load(case: Case, folder: Path | None = None, language: Language | None = None) -> Loaded:
    """The recording of a case.

    :param folder: where recordings are kept between runs; nowhere if None
    :param language: how it is read; the shipped one if None
    :raises DataError: a part of the case is damaged
    :raises InputMissingError: a part cannot be read
    """
    language = language or load_language()
    kept = folder / f"{_key(case.path, language)}.pickle" if folder else None
    if kept is not None and kept.exists():
        with kept.open("rb") as stream:
            recording, metrics = pickle.load(stream)  # noqa: S301 - the user's own folder, written below and by nobody else
        return Loaded(case, recording, metrics)
    incident = open_incident(case.path, language=language)
    metrics = metrics_of(incident)
    recording = joined(metrics, logs_of(case.path), case.path / "changes.jsonl", language)
    if kept is not None:
        _keep(kept, (recording, metrics))
    return Loaded(case, recording, metrics)


def cache_folder() -> Path:
    """Where recordings are kept between runs: ``triage/score`` of the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "triage" / "score"


def _keep(path: Path, value: object) -> None:
    """Writes a file that is there as a whole or not at all, and that nobody else can write."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with whole(path) as beside:
        beside.write_bytes(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def _key(case: Path, language: Language) -> str:
    """What a recording depends on: the case's files and all that reads them."""
    told = hashlib.sha256(_reading(language).encode())
    for path in sorted(path for path in case.rglob("*") if path.is_file() and path.name != "truth.toml"):
        told.update(f"{path.relative_to(case)}\0{path.stat().st_size}\0".encode())
        told.update(path.read_bytes())
    told.update(str(case.name).encode())
    return told.hexdigest()


@cache
def _reading(language: Language) -> str:
    """What all that reads cases is now."""
    root = Path(triage.__file__).parent
    told = hashlib.sha256(repr(language).encode())
    for package in _READING:
        folder = Path(str(import_module(f"triage.{package}").__file__)).parent
        for path in sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".yaml", ".toml", ".tsv"}):
            told.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return told.hexdigest()
