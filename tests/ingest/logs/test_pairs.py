"""Two lines that together say how long something took."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.pairs import Pairs


def took(begin: str, end: str, after: float = 60.0) -> float | None:
    """Seconds that two messages tell together."""
    pairs = Pairs()
    pairs.begins(begin, 1000.0)
    found = pairs.ends(end, 1000.0 + after)
    return found.seconds if found is not None else None


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("Loading JIT ops: sampling", "Finished loading JIT ops: sampling"),
        ("flashinfer.jit: Loading JIT ops: norm", "Finished loading JIT ops: norm"),
        ("Capture cuda graph begin. This can take up to several minutes.", "Capture cuda graph end. Time elapsed: 15.10 s."),
        ("[Autotuner]: Autotuning process starts ...", "[Autotuner]: Autotuning process ends"),
        ("Compiling kernel mla_decode", "Compiled kernel mla_decode"),
        ("Start building the grammar table", "grammar table built"),
    ],
)
def test_a_begin_and_its_end_are_a_pair(begin: str, end: str) -> None:
    """Whatever the words and their order, what both name is the same."""
    assert took(begin, end) == 60.0


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("Loading JIT ops: sampling", "Finished loading JIT ops: norm"),
        ("started processing request", "finished processing request"),
        (
            "Loading safetensors checkpoint shards: 0% Completed | 0/163",
            "Loading safetensors checkpoint shards: 12% Completed | 20/163",
        ),
        ("starting", "done"),
    ],
)
def test_what_is_another_thing_or_many_at_a_time_is_no_pair(begin: str, end: str) -> None:
    """Another thing, requests, progress and bare words pair with nothing."""
    assert took(begin, end) is None


@pytest.mark.parametrize("after", [1.0, 7200.0])
def test_what_is_short_or_hours_apart_is_not_told(after: float) -> None:
    """A second is a part of any work, and hours belong to another beginning."""
    assert took("Capture cuda graph begin", "Capture cuda graph end", after) is None


def test_what_begins_again_before_its_end_goes_on_in_parallel() -> None:
    """Of two that run at once nobody knows which one ended."""
    pairs = Pairs()
    pairs.begins("Compiling kernel gemm", 0.0)
    pairs.begins("Compiling kernel gemm", 10.0)
    assert pairs.ends("Compiled kernel gemm", 100.0) is None


@given(st.lists(st.text(max_size=60), max_size=80))
def test_any_lines_are_taken(lines: list[str]) -> None:
    """Nothing that a log holds breaks it, and what is remembered stays bounded."""
    pairs = Pairs()
    for number, line in enumerate(lines):
        pairs.begins(f"compiling kernel {line}", float(number))
        pairs.ends(line, float(number))
    assert len(pairs._open) <= 32
