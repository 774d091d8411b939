"""How far a learner is: a small file of their own, written by drills and by nothing else."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triage.errors import DataError, UsageError
from triage.wholefile import whole

_LARGEST = 1 << 20


class Result(BaseModel):
    """What became of one drill.

    :param best: highest score of all tries, 0 to 100
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    best: int = Field(ge=0, le=100)
    tries: int = Field(ge=1)


class Progress(BaseModel):
    """Finished drills by the name of their case."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    drills: dict[str, Result] = Field(default_factory=dict)

    def after(self, case: str, score: int) -> "Progress":
        """The progress with one more try."""
        old = self.drills.get(case)
        new = Result(best=max(score, old.best if old else 0), tries=(old.tries if old else 0) + 1)
        return Progress(drills={**self.drills, case: new})


def progress_file(environ: Mapping[str, str]) -> Path:
    """Where progress is kept: below $XDG_STATE_HOME, or ~/.local/state."""
    home = environ.get("XDG_STATE_HOME", "")
    return (Path(home) if home.startswith("/") else Path.home() / ".local" / "state") / "triage" / "learn.json"


def read_progress(path: Path) -> Progress:
    """The progress in a file; none if there is no file.

    :raises DataError: the file is not ours or damaged
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST)
        return Progress.model_validate_json(data)
    except FileNotFoundError:
        return Progress()
    except (OSError, ValidationError) as error:
        raise DataError(f"{path} does not hold progress of drills", "move it away to begin anew") from error


def write_progress(path: Path, progress: Progress) -> None:
    """Write the file in one go: a crash leaves the old one.

    :raises UsageError: the place cannot be written to
    """
    text = json.dumps(progress.model_dump(), indent=1, sort_keys=True) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as beside:
            beside.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}", "set XDG_STATE_HOME to a folder of yours"
        ) from error
