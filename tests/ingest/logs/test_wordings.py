"""Lines as other programs and versions print them: whatever the wording, they speak for their kind."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kinds import kinds

from .books import BOOK

with (Path(__file__).parent / "wordings" / "lines.tsv").open(encoding="utf-8", newline="") as _stream:
    LINES = [
        (row["emitter"], row["kind"], row["line"]) for row in csv.DictReader(_stream, delimiter="\t", quoting=csv.QUOTE_NONE)
    ]


@pytest.mark.parametrize("written", [str, str.lower], ids=["as-is", "lower"])
@pytest.mark.parametrize(("emitter", "kind", "line"), LINES)
def test_a_line_speaks_for_its_kind(emitter: str, kind: str, line: str, written: Callable[[str], str]) -> None:
    """Some signature of the line names the kind."""
    found = {one for match in BOOK.match(written(line).encode(), emitter) for one in match.signature.kinds}
    assert kind in kinds()
    assert kind in found
