"""Files that a command writes: refused at once if they cannot be, and never the reason why an answer is lost."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from triage.errors import TriageError, UsageError

if TYPE_CHECKING:
    from triage.model.recording import Recording


def refuse_unwritable(path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is asked that takes time.

    :raises UsageError: its folder is not there, it is a folder itself, or one may not write
    """
    if path is None:
        return
    folder = path.resolve().parent
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "name a file in it")
    if not folder.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {folder}", "make the folder, or name another")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"cannot write {path}: permission denied", "name a file where you may write")


def kept(recording: "Recording", path: Path | None) -> TriageError | None:
    """Write a recording; what goes wrong is given back, to be told when the answer is out.

    :param path: None to write nothing
    """
    if path is None:
        return None
    from triage.ingest.files.parquet import write_recording  # with the library that knows the format

    try:
        write_recording(recording, path)
    except TriageError as error:
        return error
    return None
