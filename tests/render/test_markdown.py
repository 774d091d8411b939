"""The Markdown report: fit to paste into a ticket or a channel."""

import re
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from tests.render.fixtures import ALL, healthy, incident
from triage.model.diagnosis import Diagnosis
from triage.render.markdown import to_markdown

EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())


@EVERY
@pytest.mark.parametrize("verbose", [False, True])
def test_tables_have_one_width(make: Callable[[], Diagnosis], verbose: bool) -> None:
    """Every row of a table has as many cells as its head, so that it renders as a table everywhere."""
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(make(), verbose=verbose))
    heads = cells = 0
    for token in tokens:
        if token.type == "table_open":
            heads = 0
        heads += token.type == "th_open"
        if token.type == "tr_open":
            cells = 0
        cells += token.type == "td_open"
        if token.type == "tr_close" and cells:
            assert cells == heads
    assert any(token.type == "table_open" for token in tokens)


def test_the_parts_are_there_in_order() -> None:
    """The same order as the text report."""
    titles = re.findall(r"^#{2,4} (.*)$", to_markdown(incident()), re.MULTILINE)
    assert titles == [
        "Vital signs",
        "Layers",
        "Root cause: Prefix reuse lost",
        "Also found: Clocks cut by heat",
        "What follows from what",
        "Contributing",
        "Not understood by any rule",
        "Odd, and explained by nothing",
        "What it is not",
        "What could not be looked at",
        "Check by hand",
    ]


def test_the_chain_is_a_nested_list_with_its_loop() -> None:
    """Each consequence hangs under its cause."""
    text = to_markdown(incident())
    assert "\n- 12:01:30 **Prefix reuse lost** `prefix-cache-collapse`\n  - 12:03:10 **KV cache full" in text
    assert "loop: feeds `kv-exhaustion-preemption` again; set off by `prefix-cache-collapse`" in text


def test_queries_can_be_copied_from_a_block() -> None:
    """What to run stands in a fenced block, unescaped."""
    assert '\nrate(vllm:prompt_tokens_total{pod="vllm-3"}[5m])\n' in to_markdown(incident())


def test_a_healthy_report_is_short() -> None:
    """No list of what is not there."""
    assert "What it is not" not in to_markdown(healthy())
    assert "What it is not" in to_markdown(healthy(), verbose=True)
