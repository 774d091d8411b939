"""The JSON Schema of each kind of file that people write, for editors."""

from typing import Any

from pydantic import TypeAdapter

from triage.ingest.logs.loading import FORMS, adapter_of
from triage.model.checked import adapter
from triage.model.dialect import Dialect
from triage.model.rule import Rule
from triage.model.vocabulary import catalogue
from triage.ruletest.files import TestFile

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file, with the names of all signals where one is asked for, so that they can be completed."""
    adapters: dict[str, TypeAdapter[Any]] = {
        "rule": adapter(Rule),
        "dialect": adapter(Dialect),
        "tests": TypeAdapter(TestFile),
        **{form: adapter_of(form) for form in FORMS},
    }
    schema = {"$schema": _DRAFT, **adapters[kind].json_schema()}
    parts = schema.get("$defs", {})
    places = [
        parts[name]["properties"][key]
        for name, key in (("Measure", "signal"), ("Gone", "gone"), ("Entry", "signal"))
        if name in parts
    ]
    for place in places:
        place["enum"] = list(catalogue())
    return schema
