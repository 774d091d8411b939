"""Chinese: every rule, signal and phrase is there, says the same with the same gaps, and reads as the field writes it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.engine.rules.loading import load_rules
from triage.language.amounts import amount
from triage.language.chinese import phrases, rule_texts
from triage.language.phrases import Book, Phrase
from triage.learn.words import said
from triage.model.rule import Rule
from triage.model.sentence import parts_of
from triage.model.vocabulary import catalogue

CHINESE = re.compile(r"[\u4e00-\u9fff]")
GAP = re.compile(r"\{([a-z_]+)\}")
RULES = load_rules()
WRONG_WORDS = ("词元", "KV 缓存", "金丝雀（", "录制", "屋顶线", "电源刹车")
"""Words that the field does not use."""


def test_every_rule_is_there() -> None:
    """A new rule needs a Chinese text; one that is gone leaves none behind."""
    assert set(rule_texts()) == {rule.id for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_the_same(rule: Rule) -> None:
    """The finding has the gaps of the English one; a question asks, a sentence ends."""
    text = rule_texts()[rule.id]
    for optional in (True, False):
        told = [[p.text for p in parts_of(words) if p.optional is optional] for words in (text.finding, rule.finding)]
        assert sorted(GAP.findall("".join(told[0]))) == sorted(GAP.findall("".join(told[1])))
    assert text.question.endswith("？")
    assert text.first_step.endswith("。")
    assert text.do_not.endswith("。")
    for words in (text.title, text.question, text.finding, text.first_step, text.do_not):
        assert CHINESE.search(words)
        assert not any(wrong in words for wrong in WRONG_WORDS), words
        assert not re.search(
            r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]",
            GAP.sub("", words.replace("[", "").replace("]", "")).replace("Pod", ""),
        ), words


def test_titles_tell_rules_apart() -> None:
    """No two rules are called the same."""
    titles = [text.title for text in rule_texts().values()]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("phrase", phrases(), ids=lambda phrase: phrase.english)
def test_a_phrase_has_the_same_gaps(phrase: Phrase) -> None:
    """Nothing is lost or made up."""
    assert sorted(GAP.findall(phrase.english)) == sorted(GAP.findall(phrase.chinese))


def test_no_phrase_is_there_twice() -> None:
    """The second would never be said."""
    english = [phrase.english for phrase in phrases()]
    assert sorted(set(english)) == sorted(english)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("31 requests", "31 个请求"),
        ("1 request/s", "1 个请求/秒"),
        ("0.905 requests/min", "0.905 个请求/分钟"),
        ("40–160 s", "40–160 秒"),
        ("≥ 10 s", "≥ 10 秒"),
        ("1 min 30 s", "1 分钟 30 秒"),
        ("12.3k tokens", "12.3k token"),
        ("3 replicas", "3 个副本"),
        ("5 KiB", None),
        ("retry-storm", None),
        ("since 3 requests", None),
    ],
)
def test_amounts(english: str, chinese: str | None) -> None:
    """Values with their units; what is none is left to the phrases."""
    assert amount(english) == chinese


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("since 11:35:46", "自 11:35:46 起"),
        ("30.1 % overall, not ≥ 90 % for 3 min (held for 0 s)", "总体 30.1 %，不满足 ≥ 90 % 持续 3 分钟（实际持续 0 秒）"),
        ("1500 requests > 15.6 requests (at least 3)", "1500 个请求 > 15.6 个请求（至少 3）"),
        ("the service", "该服务"),
        ("replica vllm-3", "副本 vllm-3"),
        ("NVRM: Xid (PCI:0000:52:00): 79", "NVRM: Xid (PCI:0000:52:00): 79"),
    ],
)
def test_phrases(english: str, chinese: str) -> None:
    """What the program says is Chinese, what it quotes stays as it is."""
    assert said(english, "zh") == chinese
    assert said(english, "en") == english


def test_the_phrase_with_most_words_wins() -> None:
    """A longer phrase is more than its parts."""
    book = Book([Phrase("{a} of {b}", "{b}的{a}"), Phrase("all of {b}", "全部{b}"), Phrase("cats", "猫")], lambda _text: None)
    assert book.say("all of cats") == "全部猫"
    assert book.say("tail of cats") == "猫的 tail"
    assert book.say("dogs; cats") == "dogs；猫"


@given(st.text(max_size=3000))
def test_any_text_is_answered(text: str) -> None:
    """Whatever somebody's log or name holds, it comes back in bounded time, and not empty."""
    assert bool(said(text, "zh")) == bool(text)


def test_signals_have_names() -> None:
    """Each of the vocabulary, as the field writes it."""
    for signal in catalogue().values():
        assert not any(wrong in signal.noun_zh for wrong in WRONG_WORDS), signal.name
