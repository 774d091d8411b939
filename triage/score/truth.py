"""The truth of a case: what people found out. Only scoring reads it, never a diagnosis."""

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from triage.errors import DataError

Sort = Literal["fault", "healthy", "unknowable"]
Origin = Literal["real", "public", "simulated"]
"""Where a case comes from: recorded from a real service, built from a public report, or made by a simulation."""


class Truth(BaseModel):
    """``[truth]`` of a case: what people found out.

    :param root: ids accepted as the first-ranked root cause, best first; empty if there is none, or none that can be known
    :param also: ids that may be present besides
    :param not_: ids that must not be reported
    :param status: what the service may be called; anything if empty
    :param note: how a person reasons about it; ``note_zh`` in Chinese, of cases that are taught with
    :param origin: where the case comes from, if its folder does not say so
    :param known_wrong: why the case is known to come out wrong; such a case is kept and counted, and breaks nothing
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    root: tuple[str, ...] = ()
    cause: str = ""
    layer: str = ""
    also: tuple[str, ...] = ()
    not_: tuple[str, ...] = Field(default=(), alias="not")
    status: tuple[str, ...] = ()
    note: str = ""
    note_zh: str = ""
    origin: Origin | None = None
    known_wrong: str = ""

    @field_validator("status", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @property
    def sort(self) -> Sort:
        """A fault that can be found, a healthy service, or a case in which nobody can know."""
        if self.root:
            return "fault"
        return "healthy" if self.status == ("healthy",) or not self.status else "unknowable"


def read_truth(path: Path) -> Truth:
    """The truth of a case.

    :raises DataError: it is not of the form that docs/cases.md describes
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        return Truth.model_validate(told.get("truth", told))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise DataError(f"{path} is no truth: {error}") from error
