"""The page on logs says what the program knows."""

from pathlib import Path

import pytest

from triage.ingest.logs.access_summary import SORTS
from triage.ingest.logs.emitters import KINDS
from triage.ingest.logs.engine_facts import arguments_of
from triage.ingest.logs.signatures import Signature
from triage.ingest.logs.statements import CLASSES

from .books import SIGNATURES

PAGE = (Path(__file__).parents[3] / "docs" / "logs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("one", SIGNATURES, ids=lambda one: one.id)
def test_every_signature_has_its_row(one: Signature) -> None:
    """Role, severity, kinds, emitters and meaning of a signature stand in the table as in the data."""
    emitters = ", ".join(one.emitters) or "any"
    assert f"| `{one.id}` | {one.role} | {one.severity} | {', '.join(one.kinds)} | {emitters} | {one.meaning} |\n" in PAGE


def test_no_row_too_many() -> None:
    """The table of signatures holds nothing that is gone from the data."""
    table = PAGE.split("The shipped signatures:")[1].split("### Computed")[0]
    assert table.count("\n| `") == len(SIGNATURES)


@pytest.mark.parametrize(
    "name",
    [
        *(sort.name for sort in SORTS),
        "log-stopped",
        "quality-drop",
        "start-cut-short",
        "start-exception",
        "engine-exception",
        *KINDS,
        *CLASSES,
    ],
)
def test_other_names_are_told(name: str) -> None:
    """Each way for a request to fail, each computed event and each kind of emitter is on the page."""
    assert f"`{name}`" in PAGE


def test_arguments_are_told_by_their_common_names() -> None:
    """Arguments of two engines come under one name, which the page tells; a secret among them is not taken."""
    line = b"server_args=ServerArgs(model_path='/m', max_running_requests=64, mem_fraction_static=0.88, api_key='x', tp_size=8)"
    found = arguments_of(line)
    assert found == {"model_path": "/m", "max_num_seqs": "64", "gpu_memory_utilization": "0.88", "tensor_parallel_size": "8"}
    assert all(f"`{name}`" in PAGE for name in found)
