"""What people call signals: every one has a name for people, in both languages."""

import re
from pathlib import Path

import triage.model.vocabulary
from triage.model.vocabulary import Signal, catalogue

NOUNS = Path(triage.model.vocabulary.__file__).parent / "nouns.tsv"
LONGEST = 64
"""A noun stands beside its value in a row of a table."""


def is_noun(text: str) -> bool:
    """A phrase without an id, a stop or a capital that it would not have inside a sentence."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    inside = first[:1].islower() or first[1:] != first[1:].lower() or first in {"Prometheus", "Xids"}
    return bool(first) and inside and len(text) <= LONGEST and not re.search(r"[a-z0-9_]+\.[a-z0-9_]+|[_:;]|\.$|^\s|\s$", text)


def test_every_signal_has_a_name_for_people_in_both_languages() -> None:
    assert [one.name for one in catalogue().values() if not is_noun(one.noun)] == []
    chinese = re.compile(r"[\u4e00-\u9fff]|TTFT|ITL")  # the field writes these two as they are
    assert [one.name for one in catalogue().values() if not chinese.search(one.noun_zh)] == []


def test_names_are_given_to_signals_that_there_are_in_their_order() -> None:
    given = [line.partition("\t")[0] for line in NOUNS.read_text(encoding="utf-8").splitlines()[1:]]
    assert given == list(catalogue())


def test_signals_of_one_name_differ_in_unit_or_are_two_roads_to_one_thing() -> None:
    """A reader could not tell which is meant."""
    named: dict[tuple[str, str], list[Signal]] = {}
    for signal in catalogue().values():
        named.setdefault((signal.noun, signal.unit), []).append(signal)
    doubled = {tuple(one.name for one in signals) for signals in named.values() if len(signals) > 1}
    assert doubled <= {
        ("kv.usage", "kv.fill"),
        ("pod.started", "container.start_time"),
        ("engine.bandwidth_ratio", "gpu.bandwidth_ratio"),
    }
