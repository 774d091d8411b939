"""What commands showed to a person who kept it: each form is known by how it begins, and has a reader of its own."""

from triage.ingest.logs.shown.form import Exposed, Happened, Remark, Shown, Take
from triage.ingest.logs.shown.reading import ShownForms

__all__ = ["Exposed", "Happened", "Remark", "Shown", "ShownForms", "Take"]
