"""The map: every word that the tool uses, in its layer, with its meaning and how it is measured."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from triage.errors import UsageError
from triage.learn.files import read
from triage.learn.texts import Both
from triage.model.vocabulary import Layer
from triage.validation import did_you_mean

FILE = Path(__file__).parent / "glossary.yaml"


class Term(BaseModel):
    """One word.

    :param layer: where what it names lives; none of a word of the way down itself
    :param means: what it is, one sentence
    :param measured: how it is measured, one sentence
    :param signals: signals of the vocabulary that tell of it
    :param kinds: rules about it, which are in the same layer
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    term: Both
    layer: Layer | None = None
    means: Both
    measured: Both
    signals: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class Glossary(BaseModel):
    """All words, in the order in which they are explained."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    terms: tuple[Term, ...]


def load_glossary() -> tuple[Term, ...]:
    """All words: those of the way, then by layer from the top down."""
    order = [None, *Layer]
    return tuple(sorted(read(FILE, Glossary).terms, key=lambda term: order.index(term.layer)))


def find(terms: Sequence[Term], word: str) -> tuple[Term, ...]:
    """The words that are called so or, failing that, have it in their name or measure that signal.

    :raises UsageError: there is none
    """
    wanted = word.casefold()
    exact = tuple(term for term in terms if wanted in (term.term.en.casefold(), term.term.zh.casefold()))
    near = exact or tuple(
        term for term in terms if wanted in f"{term.term.en} {term.term.zh}".casefold() or wanted in term.signals
    )
    if near:
        return near
    names = {name.casefold() for term in terms for name in (term.term.en, term.term.zh)}
    raise UsageError(f"the map has no word {word!r}", did_you_mean(wanted, names) or "triage learn map shows all words")
