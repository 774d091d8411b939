"""The machine-readable report: the diagnosis itself, stable and lossless. docs/json.md explains every field."""

import json

from triage.model.checked import adapter
from triage.model.diagnosis import Diagnosis
from triage.render.safe import json_escaped


def to_json(diagnosis: Diagnosis) -> str:
    """The diagnosis as JSON: keys in the order of the model, facts by name, null for what is no finite number.

    Strings are kept as they are; characters that a terminal would obey are written as escapes.
    ``Diagnosis.model_validate_json`` gives an equal diagnosis back.
    """
    ordered = diagnosis.model_copy(update={"facts": dict(sorted(diagnosis.facts.items()))})
    return json_escaped(ordered.model_dump_json(indent=2)) + "\n"


def json_schema() -> str:
    """JSON Schema of the report, for editors and for programs that read it."""
    return json.dumps(adapter(Diagnosis).json_schema(mode="serialization"), indent=2) + "\n"
