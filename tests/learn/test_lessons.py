"""Lessons: what each text counts on is what its recording answers, and people can write their own."""

import re
from functools import cache
from pathlib import Path

import pytest

from triage.engine.rules.loading import load_rules
from triage.errors import ConfigError, InputMissingError, UsageError
from triage.language.lang import Lang
from triage.learn.cases import Case, find_case
from triage.learn.chrome import say
from triage.learn.lesson import Lesson, Look, load_lessons, pick
from triage.learn.screen import Screen
from triage.learn.show import show_lesson
from triage.learn.steps import found_by
from triage.learn.texts import gaps
from triage.learn.values import Values

pytestmark = pytest.mark.slow

LESSONS = load_lessons()
RULES = load_rules()

GAP = re.compile(r"\{(\w+)\}")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
CHINESE_SPACE = re.compile(r"(?<=[\u4e00-\u9fff])\s(?=[\u4e00-\u9fff])")
NAMES = re.compile(r"\{\w+\}|[A-Za-z_]+\d+|=1\b|95 of 100|95%|status[ =]12")
"""Values, names that have a digit in them, and the meaning of p95."""

XID = re.compile(r"Xid (\d+)")
FIGURE = re.compile(r"\d")

OWN = """\
id: own
title: Mine
goal: None.
incident: engine-hang
steps:
  - text: "Look \\e[31m here."
    look: [{signal: target.up}]
"""


@cache
def case_of(incident: str) -> Case:
    """A recording, read once for all lessons that walk it."""
    return Case(find_case(incident), RULES)


def test_there_are_lessons() -> None:
    """The shipped ones by name, the one to begin with first, then by level."""
    assert list(LESSONS) == [
        "the-way-down",
        "alive-without-steps",
        "busy-is-not-broken",
        "by-hand",
        "heat",
        "retries-make-it-worse",
        "where-waiting-hides",
        "bandwidth-and-memory",
        "half-a-link",
        "loud-and-quiet",
        "missing-rollback",
        "no-kernel-image",
        "power",
        "sum-of-ratios",
        "why-decode-is-slow",
        "xid-and-ecc",
        "absent-data",
        "coarse-histogram",
        "fabric",
        "one-rank-missing",
        "whose-xid",
    ]


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_a_lesson_is_true_to_its_recording(lesson: Lesson) -> None:
    """Every rule, signal and log line that the text counts on answers as the text says, and every value is there."""
    case = case_of(lesson.incident)
    values = Values(lesson, case)
    looks = [look for step in lesson.steps for look in step.look if look.expect]
    assert looks
    assert [(look, found) for look in looks if (found := found_by(case, look)) != look.expect] == []
    assert [name for name, value in values.known.items() if value is None] == []
    assert [values.told(claim) for step in lesson.steps for claim in step.claims if not values.holds(claim)] == []


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_numbers_come_from_the_recording(lesson: Lesson) -> None:
    """No figure is written down in a text: it would not follow the recording. What is called by a number may be, if there."""
    case = case_of(lesson.incident)
    xids = {event.name for event in case.recording.events if event.kind == "xid"}
    for step in lesson.steps:
        for text in step.texts():
            for words in (text.en, text.zh):
                plain = NAMES.sub("", words)
                assert {match[1] for match in XID.finditer(plain)} <= xids, words
                assert not FIGURE.search(XID.sub("", plain)), words


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_a_lesson_says_the_same_in_both_languages(lesson: Lesson) -> None:
    """Both texts are there, each in its language, and speak of the same values."""
    for text in [lesson.title, lesson.goal, *(text for step in lesson.steps for text in step.texts())]:
        assert CHINESE.search(text.zh), text.zh
        assert not CHINESE.search(text.en), text.en
        assert " " not in CHINESE_SPACE.findall(text.zh), text.zh
        assert set(GAP.findall(text.en)) == set(GAP.findall(text.zh)), text.en
    assert all(value.label is None or CHINESE.search(value.label.zh) for value in lesson.values.values())


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_a_lesson_runs_to_its_end(lesson: Lesson, lang: Lang, capsys: pytest.CaptureFixture[str]) -> None:
    """In either language, with all values filled in and nothing that differs from the recording."""
    show_lesson(Screen({"NO_COLOR": "1"}), lesson, case_of(lesson.incident), lang)
    out = capsys.readouterr().out
    assert say("done", lang) in out
    assert not re.search(r"\{\w+\}", out)
    assert "was written for" not in out
    assert "课文所写" not in out


def test_every_value_is_spoken_of() -> None:
    """A value that no text, work or other value uses is a leftover."""
    for lesson in LESSONS.values():
        used = {gap for step in lesson.steps for text in step.texts() for gap in gaps(text)}
        used |= {name for step in lesson.steps for name in step.work}
        used |= {
            one for step in lesson.steps for claim in step.claims for one in (claim.value, claim.bound) if isinstance(one, str)
        }
        used |= {part for value in lesson.values.values() for part in value.parts if isinstance(part, str)}
        assert set(lesson.values) <= used, lesson.id


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_a_lesson_looks_and_asks(lesson: Lesson) -> None:
    """A lesson without anything to look at or to answer is an essay; one rule at least is asked."""
    assert all(step.look or step.work for step in lesson.steps)
    assert any(step.check for step in lesson.steps)
    assert any(look.rule for step in lesson.steps for look in step.look)


def test_a_lesson_shows_evidence_curves_and_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody can press Enter the answer stands directly below its question."""
    lesson = LESSONS["alive-without-steps"]
    screen = Screen({"NO_COLOR": "1"})
    screen.utf8 = False
    show_lesson(screen, lesson, case_of(lesson.incident), "en")
    out = capsys.readouterr().out
    assert "Step 1 of 4" in out
    assert "verdict: present" in out
    assert "replica llm-prod-0: before" in out
    assert out.index("Question: ") < out.index("Answer: ")
    assert "was written for" not in out
    assert out.isascii()


def test_a_lesson_is_chinese_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    """Its text and what is around it."""
    lesson = LESSONS["alive-without-steps"]
    show_lesson(Screen({"NO_COLOR": "1"}), lesson, case_of(lesson.incident), "zh")
    out = capsys.readouterr().out
    assert "判定：成立" in out
    assert lesson.title.zh in out
    assert lesson.title.en not in out


def test_answers_wait_for_enter(capsys: pytest.CaptureFixture[str]) -> None:
    """A person gets to think: each question takes one line of input."""
    lesson = LESSONS["alive-without-steps"]
    lines = iter([""] * 20)
    show_lesson(Screen({"NO_COLOR": "1"}, lines), lesson, case_of(lesson.incident), "en")
    questions = sum(step.check is not None for step in lesson.steps)
    pauses = sum(step.check is None for step in lesson.steps[:-1])
    assert len(list(lines)) == 20 - questions - pauses
    assert capsys.readouterr().out.count("Enter shows the answer") == questions


def test_a_text_that_does_not_fit_its_recording_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """With another recording, or other rules, the reader is told what differs."""
    look = {"rule": "engine-loop-stall", "expect": "absent"}
    lesson = Lesson.model_validate(
        {"id": "x", "title": "x", "goal": "x", "incident": "engine-hang", "steps": [{"text": "x", "look": [look]}]}
    )
    show_lesson(Screen({"NO_COLOR": "1"}), lesson, case_of("engine-hang"), "en")
    assert "'absent'; here it is 'present'" in " ".join(capsys.readouterr().out.split())


def test_who_moved_most_stands_first() -> None:
    """A replica that was not there before says nothing of how a signal moved, so it does not speak for the others."""
    case = case_of("metric-misread-a046")
    assert found_by(case, Look(signal="kv.usage")) == "rises"
    assert found_by(case_of("engine-hang"), Look(signal="engine.steps", subject="llm-prod-1")) == "rises"
    assert found_by(case_of("engine-hang"), Look(signal="engine.steps")) == "falls"


def test_people_write_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in a folder that was named is a lesson, and what it holds cannot reach the terminal as an escape."""
    (tmp_path / "own.yaml").write_text(OWN)
    lesson = pick(load_lessons([tmp_path]), "own")
    show_lesson(Screen({"NO_COLOR": "1"}), lesson, case_of(lesson.incident), "en")
    out = capsys.readouterr().out
    assert "target.up" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("target.up", "target.upp"), "no signal is called target.upp"),
        (("signal: target.up", "signal: target.up, rule: engine-dead"), "exactly one of rule, signal, log and changes"),
        (("target.up}", "target.up, expect: present}"), "can never be present"),
        (("id: own", "id: other"), "must equal the file's name"),
        (("goal:", "gaol:"), "gaol"),
        (("{signal: target.up}", "{sigal: target.up}"), "sigal"),
        (("incident: engine-hang", "incident: ../../etc"), "incident"),
        (("title: Mine", "title: [Mine"), "this is not YAML"),
        (("here.", "{there}."), "speaks of {there}"),
        (("title: Mine", "title: Mine\nvalues: {n: {number: 1, fact: model}}"), "exactly one of signal, fact, number"),
        (("title: Mine", "title: Mine\nvalues: {n: {product: [m, 2]}}"), "speaks of {m}"),
    ],
)
def test_a_wrong_lesson_is_refused_with_its_place(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    """The message names the file and what is wrong in it."""
    (tmp_path / "own.yaml").write_text(OWN.replace(*change))
    with pytest.raises(ConfigError, match=r"own\.yaml") as caught:
        load_lessons([tmp_path])
    assert message in caught.value.message


def test_a_folder_of_lessons_that_is_not_there(tmp_path: Path) -> None:
    """A misspelt folder is no empty one."""
    with pytest.raises(InputMissingError, match="not a folder of lessons"):
        load_lessons([tmp_path / "nowhere"])


def test_an_unknown_lesson_is_answered_with_the_nearest() -> None:
    """A slip of the finger leads on."""
    with pytest.raises(UsageError) as caught:
        pick(LESSONS, "absent-date")
    assert "absent-data" in caught.value.hint


def test_a_missing_recording_says_where_recordings_are(tmp_path: Path) -> None:
    """An installed wheel has none; the reader learns where to get them and how to name them."""
    with pytest.raises(InputMissingError) as caught:
        find_case("no-such-case", [tmp_path])
    assert "--cases DIR" in caught.value.hint


def test_a_folder_that_was_named_comes_first(tmp_path: Path) -> None:
    """People can keep recordings of their own under the same name."""
    (tmp_path / "overload").mkdir()
    (tmp_path / "overload" / "case.toml").write_text("")
    assert find_case("overload", [tmp_path]) == tmp_path / "overload"
