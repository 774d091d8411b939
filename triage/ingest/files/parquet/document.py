"""The JSON document of a recording's file: everything but the numbers and their labels."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from triage.errors import DataError
from triage.ingest.files.parquet.form import METADATA_KEY, SCHEMA
from triage.ingest.files.parquet.refusals import short
from triage.model.recording import Event, Fact, Origin, Source, Subject, Window

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData


class _Part(BaseModel):
    """Base of what is read from the metadata: nothing unknown, no NaN, no infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Document(_Part):
    """The JSON document in the file's metadata."""

    schema_: Literal["triage.recording/2"] = Field(alias="schema")
    service: str
    window: Window
    step: float = Field(gt=0)
    origins: tuple[Origin, ...]
    events: tuple[Event, ...]
    facts: tuple[Fact, ...]
    links: tuple[tuple[Subject, tuple[Subject, ...]], ...]
    routes: tuple[tuple[Subject, tuple[Subject, ...]], ...] = ()
    strangers: tuple[str, ...] = ()
    objectives: dict[str, float]
    sources: tuple[Source, ...]
    problems: tuple[str, ...]
    rejected: dict[str, str] = Field(default_factory=dict)
    unanswered: dict[str, str] = Field(default_factory=dict)
    begun: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _window_runs_forward(self) -> "Document":
        if not self.window.baseline_start <= self.window.start <= self.window.end:
            raise ValueError("the window ends before it starts")
        return self


class _Version(BaseModel):
    """Just enough of a document that cannot be read to say why."""

    schema_: str = Field(alias="schema")


def read_document(path: Path, metadata: "FileMetaData") -> Document:
    """The JSON document of a file.

    :raises DataError: there is none, it is of another version, or it is not what it should be
    """
    text = (metadata.metadata or {}).get(METADATA_KEY)
    if text is None:
        raise DataError(f"{path} is a Parquet file, but not a recording of triage", "make one with triage record")
    try:
        return Document.model_validate_json(text)
    except ValidationError as error:
        raise _why_not(path, text, error) from error


def _why_not(path: Path, text: bytes, error: ValidationError) -> DataError:
    """Say whether a document is of another version or broken."""
    with suppress(ValidationError):
        version = _Version.model_validate_json(text).schema_
        if version != SCHEMA:
            newer = version.startswith("triage.recording/") and version > SCHEMA
            hint = "use a newer triage" if newer else "record again" if version.startswith("triage.recording/") else ""
            return DataError(f"{path} is a recording of form {short(version)}; this triage reads {SCHEMA}", hint)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return DataError(
        f"{path} is a damaged recording: its metadata is wrong at {short(place) or 'the top'}: {short(first['msg'])}"
    )
