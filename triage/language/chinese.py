"""What is known in Chinese: phrases, names of signals, rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from triage.language.amounts import amount
from triage.language.phrases import Book, Phrase
from triage.model.playbook import Advice
from triage.model.rule import Rule
from triage.model.sentence import filled, names_in, parts_of
from triage.model.vocabulary import catalogue
from triage.yamltext import load

_HERE = Path(__file__).parent


class RuleText(BaseModel):
    """A rule in Chinese.

    :param finding: with the gaps of the rule's own, and with as many parts in brackets that may be left out
    :param first_step: of its playbook
    :param do_not: of its playbook
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1)
    question: str = Field(min_length=1)
    finding: str = Field(min_length=1)
    first_step: str = Field(min_length=1)
    do_not: str = Field(min_length=1)


@cache
def rule_texts() -> dict[str, RuleText]:
    """Every shipped rule in Chinese, by id."""
    return TypeAdapter(dict[str, RuleText]).validate_python(load((_HERE / "rules.yaml").read_bytes()))


@cache
def phrases() -> tuple[Phrase, ...]:
    """The phrases of reports, screens and commands: ``phrases.tsv``, English and Chinese in two columns."""
    lines = (_HERE / "phrases.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return tuple(Phrase(*line.split("\t")) for line in lines if line)


def book(rules: Iterable[Rule], advice: Callable[[str], Advice]) -> Book:
    """Everything that is known in Chinese: phrases, names of signals, rules and what their playbooks advise.

    :param advice: what a kind's playbook says to do first and not to do
    """
    return Book([*phrases(), *_signals(), *(one for rule in rules for one in of_rule(rule, advice(rule.id)))], amount)


def _signals() -> Iterator[Phrase]:
    """Names of signals, and what they mean."""
    for signal in catalogue().values():
        yield Phrase(signal.noun, signal.noun_zh)
        yield Phrase(signal.meaning, f"{signal.noun_zh}。")


def of_rule(rule: Rule, advice: Advice) -> Iterator[Phrase]:
    """The texts of a rule; none of one that is the user's own."""
    text = rule_texts().get(rule.id)
    if text is None:
        return
    yield Phrase(rule.title, text.title)
    yield Phrase(rule.question, text.question)
    yield from _sentences(rule.finding, text.finding)
    yield Phrase(advice.first_step, text.first_step)
    yield Phrase(advice.do_not, text.do_not)


def _sentences(english: str, chinese: str) -> Iterator[Phrase]:
    """A sentence of a rule as it may be told: with each of its parts that may be left out or without it, of one or of several."""
    optional = [sum(part.optional for part in parts_of(text)) for text in (english, chinese)]
    for told in product((True, False), repeat=min(optional)):
        for count in (1, 2):
            one, other = (_told(text, told, count) for text in (english, chinese))
            for form in dict.fromkeys((one, one.replace("at {onset}", "{onset}"))):
                yield Phrase(form, other)
                yield Phrase(form.rstrip("."), other)


def _told(text: str, told: Sequence[bool], count: int) -> str:
    """A sentence with some of its parts, and with the words for so many; its values stay gaps."""
    parts, kept = parts_of(text), iter(told)
    chosen = "".join(part.text for part in parts if not part.optional or next(kept))
    return filled(chosen, {name: f"{{{name}}}" for name in names_in(chosen)}, count)
