"""What the walk remembers from one time to the next: colours, language, how the panes share the room. A small file of the user's.

It is never a reason not to start: what cannot be read, or is not ours, is as good as nothing; what cannot be written is lost.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triage.language.lang import Lang
from triage.statehome import state_path
from triage.wholefile import whole

_LARGEST = 4096
_LEAST, _MOST, _STEP = 20, 80, 10
_EVEN = 50

Share = Annotated[int, Field(ge=_LEAST, le=_MOST)]


class Layout(BaseModel):
    """How much of the room the list has, in percent; None: as much as each screen finds best.

    :param columns: where the panes stand side by side
    :param rows: where they stand below each other
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)
    columns: Share | None = None
    rows: Share | None = None

    def moved(self, steps: int, *, wide: bool) -> "Layout":
        """With more or less room for the list."""
        share = (self.columns if wide else self.rows) or _EVEN
        moved = min(max(share + steps * _STEP, _LEAST), _MOST)
        return self.model_copy(update={"columns" if wide else "rows": moved})


class Remembered(BaseModel):
    """What is kept.

    :param theme: name of the colours; empty: none was chosen
    :param language: of the screens
    :param walked: whether somebody has walked before
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)
    theme: Annotated[str, Field(max_length=40, pattern="^[a-z0-9-]*$")] = ""
    language: Lang = "en"
    layout: Layout = Layout()
    walked: bool = False


def remembered_file(environ: Mapping[str, str]) -> Path | None:
    """Where it is kept; None where there is no home."""
    return state_path("walk.json", environ)


def read_remembered(path: Path | None) -> Remembered:
    """What is kept in a file."""
    if path is None:
        return Remembered()
    try:
        if not path.is_file():  # a pipe would wait for whoever fills it
            return Remembered()
        with path.open("rb") as stream:
            return Remembered.model_validate_json(stream.read(_LARGEST))
    except (OSError, ValidationError):
        return Remembered()


def write_remembered(path: Path | None, kept: Remembered) -> None:
    """Keep it, in one go: a crash leaves the old file."""
    if path is None:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as beside:
            beside.write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
