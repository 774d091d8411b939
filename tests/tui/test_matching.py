"""What fits the words that somebody types, and in which order."""

from tests.tui import case
from triage.tui.matching import BEGINS, EXACT, NAMED, TOLD, rank
from triage.tui.places import link, parts_of, read
from triage.tui.screens.search import sought


def test_a_name_goes_before_what_is_told() -> None:
    """Exactly so, beginning so, holding all words, told somewhere."""
    names = ("kv-exhaustion", "KV cache full")
    assert rank("KV-Exhaustion", names) == EXACT
    assert rank("kv  cache full", names) == EXACT
    assert rank("kv", names) == BEGINS
    assert rank("full cache", names) == NAMED
    assert rank("evicted", names, "blocks are evicted") == TOLD
    assert rank("evicted", names) is None


def test_an_exact_name_is_found_first() -> None:
    """The id of a kind that is not there goes before findings in whose text the id stands, and a signal before both."""
    snapshot = case.snapshot()
    first = sought("timeout-mismatch", snapshot)[0]
    assert not isinstance(first, str)
    assert first.rule == "timeout-mismatch"
    assert sought("queue.waiting", snapshot)[0] == "queue.waiting"
    assert [one for one in sought("", snapshot) if isinstance(one, str)] == []


def test_links_are_read_as_they_were_made() -> None:
    """A place and its moment survive; whatever is no link is the top of the walk at the end."""
    assert read(link("finding/retry-storm", 1764421215.5)) == ("finding/retry-storm", 1764421215.5)
    assert read(link("", None)) == ("", None)
    assert read("#/layer/cuda?at=x") == ("layer/cuda", None)
    assert read("#/layer/cuda?at=nan") == ("layer/cuda", None)
    assert parts_of("vital/ttft%20service%2Fllm") == ("vital", "ttft service/llm")
    assert parts_of("") == ()
