"""The map: complete in both languages, and true to the vocabulary."""

import re

import pytest

from triage.engine.rules.loading import load_rules
from triage.errors import UsageError
from triage.learn.glossary import Term, find, load_glossary
from triage.model.vocabulary import Layer, catalogue

TERMS = load_glossary()
CHINESE = re.compile(r"[\u4e00-\u9fff]")

WANTED = {
    "TTFT",
    "ITL",
    "Prefill",
    "Decode",
    "KV cache",
    "Preemption",
    "Batch",
    "Prefix cache",
    "Goodput",
    "Retry storm",
    "Little's law",
    "Roofline",
    "Memory bandwidth",
    "NVLink",
    "Xid",
    "ECC error",
    "Row remap",
    "Throttle reasons",
    "Collective",
    "NCCL",
    "Allocator",
    "Liveness probe",
    "Readiness probe",
    "Roll-out",
    "Rollback",
    "Canary",
    "Scrape",
    "Histogram quantile",
    "Layer",
    "Runtime illness",
    "Infrastructure illness",
    "Tooling illness",
    "Scale",
    "Ridge",
}


def test_the_words_that_reports_lean_on_are_there() -> None:
    """Some sixty words, among them all that no reader can do without."""
    names = {term.term.en for term in TERMS}
    assert len(names) == len(TERMS) >= 60
    assert names >= WANTED


def test_the_layers_come_from_the_top_down() -> None:
    """Words of the way itself first; then every layer has words, and they stand in the order of the walk."""
    assert list(dict.fromkeys(term.layer for term in TERMS)) == [None, *Layer]


@pytest.mark.parametrize("term", [term for term in TERMS if term.kinds], ids=lambda term: term.term.en)
def test_a_word_stands_where_the_walk_has_it(term: Term) -> None:
    """The rules about it are in its layer: a reader must find it in the walk where the map says."""
    layers = {rule.id: rule.layer for rule in load_rules()}
    assert {layers[kind] for kind in term.kinds} == {term.layer}


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.term.en)
def test_a_word_names_only_signals_that_exist(term: Term) -> None:
    """A renamed signal would leave the reader looking for nothing."""
    assert [name for name in term.signals if name not in catalogue()] == []


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.term.en)
def test_a_word_is_explained_in_both_languages(term: Term) -> None:
    """The Chinese texts are Chinese, the English ones are not, and each is a sentence."""
    for text in (term.means, term.measured):
        assert CHINESE.search(text.zh)
        assert text.zh.endswith("。")
        assert text.en.endswith(".")
        assert text.en.isascii()
    assert term.term.en.isascii()


def test_a_word_is_found_by_either_name_and_by_its_signal() -> None:
    """Case does not matter, and a part of the name is enough."""
    assert [term.term.en for term in find(TERMS, "ttft")] == ["TTFT"]
    assert [term.term.en for term in find(TERMS, "抢占")] == ["Preemption"]
    assert "Throttle reasons" in [term.term.en for term in find(TERMS, "gpu.throttle_power")]
    assert {"KV cache", "KV offload"} <= {term.term.en for term in find(TERMS, "kv")}


def test_an_unknown_word_is_answered_with_the_nearest() -> None:
    """A slip of the finger leads on."""
    with pytest.raises(UsageError) as caught:
        find(TERMS, "prefil cash")
    assert caught.value.hint
    with pytest.raises(UsageError) as caught:
        find(TERMS, "rooflime")
    assert "roofline" in caught.value.hint
