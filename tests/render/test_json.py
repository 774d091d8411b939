"""The JSON report is the contract: lossless, ordered, documented."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from tests.render.fixtures import ALL, degraded, incident
from triage.model import diagnosis as model
from triage.model.checked import Checked
from triage.model.diagnosis import Diagnosis
from triage.render.json import json_schema, to_json

GUIDE = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())


@EVERY
def test_a_report_read_back_is_the_same_diagnosis(make: Callable[[], Diagnosis]) -> None:
    """Nothing is lost or rounded on the way."""
    assert Diagnosis.model_validate_json(to_json(make())) == make()


@EVERY
def test_the_document_is_plain_json_with_a_final_newline(make: Callable[[], Diagnosis]) -> None:
    """Two spaces of indent, the schema's version first, and nothing that only Python reads."""
    document = to_json(make())
    assert document.startswith('{\n  "schema": "triage.diagnosis/2",\n  "service"')
    assert document.endswith("}\n")
    json.loads(document, parse_constant=pytest.fail)


def test_what_is_no_finite_number_is_null() -> None:
    """Not-a-number and infinity do not exist in JSON."""
    finding = incident().findings[0]
    evidence = finding.evidence[0].model_copy(update={"value": float("nan"), "baseline": float("inf")})
    odd = incident().model_copy(update={"findings": (finding.model_copy(update={"evidence": (evidence,)}),)})
    read = json.loads(to_json(odd), parse_constant=pytest.fail)
    assert read["findings"][0]["evidence"][0]["value"] is None
    assert read["findings"][0]["evidence"][0]["baseline"] is None


def test_the_order_of_facts_does_not_show() -> None:
    """Equal diagnoses give equal bytes."""
    turned = incident().model_copy(update={"facts": dict(reversed(incident().facts.items()))})
    assert to_json(turned) == to_json(incident())


def test_the_published_schema_is_that_of_the_report() -> None:
    """Every key of a report is described, under its public name."""
    schema = json.loads(json_schema())
    assert set(schema["properties"]) == set(json.loads(to_json(incident())))
    assert schema["properties"]["schema"]["const"] == "triage.diagnosis/2"


def test_the_guide_shows_a_whole_report_that_is_valid() -> None:
    """The example in docs/json.md is the degraded report, to the byte."""
    example = re.search(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    assert example
    assert Diagnosis.model_validate_json(example[1]) == degraded()
    assert example[1] == to_json(degraded())


def parts() -> Iterator[type[Checked]]:
    """All classes that a report is made of."""
    for value in vars(model).values():
        if isinstance(value, type) and issubclass(value, Checked) and is_dataclass(value):
            yield value


@pytest.mark.parametrize("part", parts())
def test_the_guide_explains_every_field(part: type[Checked]) -> None:
    """Each part has its section with a row for each of its fields, and no row too many."""
    section = re.search(rf"^### {part.__name__}\n(.*?)(?=^##|\Z)", GUIDE, re.DOTALL | re.MULTILINE)
    assert section, f"docs/json.md has no section on {part.__name__}"
    rows = set(re.findall(r"^\| `(\w+)` \|", section[1], re.MULTILINE))
    assert rows == set(part.model_keys().values())
