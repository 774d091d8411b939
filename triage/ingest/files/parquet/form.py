"""The form of a recording's file: its columns, and the names that they use."""

from functools import partial
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA: Literal["triage.recording/2"] = "triage.recording/2"
METADATA_KEY = b"triage.recording"

LABELS = ("signal", "scope", "subject", "part")
"""Columns of texts of which many rows have the same."""

PARTS = TIMES, VALUE, BUCKET, SUM = ("times", "value", "bucket", "sum")
"""What a row is."""


def schema() -> "pa.Schema":
    """The columns."""
    import pyarrow as pa

    label = partial(pa.field, type=pa.dictionary(pa.int32(), pa.string()), nullable=False)
    fields = [
        *(label(name) for name in LABELS),
        pa.field("bound", pa.float64()),
        pa.field("moments", pa.int32(), nullable=False),
        pa.field("origin", pa.int32()),
        pa.field("born", pa.float64(), nullable=False),
        pa.field("fell", pa.float64(), nullable=False),
        pa.field("series", pa.int32(), nullable=False),
        pa.field("selectors", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
        pa.field("values", pa.list_(pa.field("element", pa.float64())), nullable=False),
    ]
    return pa.schema(fields)
