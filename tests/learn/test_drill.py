"""Drills: the answer stays hidden, questions cost time, and the score is fair."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.cli import main
from triage.engine.rules.loading import load_rules
from triage.errors import DataError, InputMissingError
from triage.language.lang import Lang
from triage.learn.cases import Case, drill_cases, find_case, level_of, levels
from triage.learn.chrome import PHRASES, say
from triage.learn.drill import Drill, run
from triage.learn.ending import Outcome, score
from triage.learn.experts import MINUTES, expert_looks, expert_path
from triage.learn.lesson import load_lessons
from triage.learn.progress import Progress, progress_file, read_progress, write_progress
from triage.learn.screen import Screen, completer
from triage.learn.steps import ask_rule
from triage.model.diagnosis import Verdict
from triage.score.truth import Truth, read_truth

pytestmark = pytest.mark.slow

RULES = {rule.id: rule for rule in load_rules()}


@cache
def case_of(name: str) -> tuple[Case, Truth]:
    """A case with its truth, read once."""
    path = find_case(name)
    return Case(path, tuple(RULES.values())), read_truth(path / "truth.toml")


def drilled(name: str, *lines: str, lang: Lang = "en") -> Outcome:
    """What becomes of a drill in which somebody types these lines."""
    case, truth = case_of(name)
    screen = Screen({"NO_COLOR": "1"}, iter(lines))
    return run(Drill(case, truth, 7, 2, screen, lang), screen)


def test_the_answer_is_hidden_until_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the name of the case nor a title of a finding is shown before a cause is named."""
    drilled("engine-loop-stall-a079", "1", "2", "engine.steps", "logs", "ask engine-dead", "cause engine-dead")
    before, _, after = capsys.readouterr().out.partition("> cause engine-dead")
    assert "engine-loop-stall" not in before
    assert RULES["engine-loop-stall"].title not in before
    assert RULES["engine-loop-stall"].question.split(",")[0] in " ".join(before.split())
    assert "engine-loop-stall" in after


def test_the_right_cause_after_one_look(capsys: pytest.CaptureFixture[str]) -> None:
    """The deciding signal alone is as good as any expert."""
    outcome = drilled("retry-storm", "requests.attempt_ratio", "cause retry-storm")
    assert outcome == Outcome("retry-storm", 100)
    out = capsys.readouterr().out
    assert "cost: 1 min, so far 1 min" in out
    assert "Right: Retries keep the overload alive (retry-storm)" in out
    assert "The expert's path" in out
    assert "economy: 40 of 40; you needed 1 min, the expert" in out


def test_looking_comes_before_asking(capsys: pytest.CaptureFixture[str]) -> None:
    """A question is answered only after two looks, and costs more than they do."""
    drilled("retry-storm", "ask true-overload", "queue.waiting", "ask true-overload", "changes", "ask true-overload", "quit")
    out = capsys.readouterr().out
    assert out.count("Look at 2 things first") == 2
    assert out.count("verdict:") == 1
    assert "cost: 4 min, so far 6 min" in out
    assert MINUTES["question"] > MINUTES["log"] > MINUTES["signal"]


def test_the_same_costs_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever looks again has seen it already."""
    drilled("retry-storm", "queue.waiting", "signal queue.waiting", "batch.running", "quit")
    out = capsys.readouterr().out
    assert "seen before, costs nothing" in out
    assert "so far 2 min" in out
    assert "Given up" in out


def test_signals_and_logs_are_listed_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Names of what there is: by layer, by a word, and no value among them."""
    drilled("power-cap-a106", "signals", "signals hardware", "signals throttle_br", "logs", "log", "signal gpu.nonsense", "quit")
    out = capsys.readouterr().out.partition("Your path")[0]
    assert "hardware: 6" in out
    assert "gpu.throttle_brake" in out
    assert "- bmc-hgx056" in out
    assert "No signal gpu.nonsense was measured here" in out
    assert "cost" not in out.partition("> signals")[2]


def test_lines_of_logs_are_shown_as_they_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    """Of one log or of all, with how many there are; what nobody wrote is not seen."""
    drilled("power-cap-a106", "log bmc", "grep power brake", "grep no such words", "log no such log", "quit")
    out = " ".join(capsys.readouterr().out.partition("Your path")[0].split())
    assert out.count("PSU 2 input lost, redundancy degraded, power brake asserted to accelerators") == 2
    assert out.count("none seen") == 2


def test_a_drill_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    """Commands may be Chinese, too, and so is all that is no data."""
    drilled(
        "power-cap-a106",
        "信号 硬件",
        "查看 gpu.sm_clock",
        "日志 bmc",
        "变更",
        "硬件",
        "提问 power-cap",
        "原因 power-cap",
        lang="zh",
    )
    out = capsys.readouterr().out
    assert "正确：功率上限或制动压低时钟 (power-cap)" in out
    assert "是否有功率制动或被调低的上限" in out
    assert "信号：gpu.throttle_brake" in out
    assert "之前 1.98 GHz，窗口 844 MHz" in out
    assert "用时：4 分钟，累计" in out
    assert "事后结论：一个节点的两张卡" in out


def test_drills_that_are_shipped_have_their_note_in_both_languages() -> None:
    """Whoever has an installed program reads the end of each in their language."""
    for lesson in load_lessons().values():
        truth = find_case(lesson.incident) / "truth.toml"
        told = read_truth(truth)
        assert not told.root or (told.note and told.note_zh), truth


def test_the_end_of_input_is_giving_up() -> None:
    """A pipe that closes ends the drill without points."""
    assert drilled("retry-storm", "queue.waiting") == Outcome("", 0)


def test_what_is_not_understood_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Slips are answered, hostile ones without obeying them."""
    drilled("retry-storm", "", "what", "ask 0", "cause nonsense", "ask \x1b[2Jx", "?", "quit")
    out = capsys.readouterr().out
    assert "not understood: what" in out
    assert "no question or cause nonsense" in out
    assert "cost:" not in out.partition("Your path")[0]
    assert "\x1b" not in out


def test_tab_completes_what_may_be_typed() -> None:
    """Commands, signals, logs and rules, each offered once."""
    case, truth = case_of("retry-storm")
    offered = Drill(case, truth, 1, 2, Screen({}, iter(())), "en").words()
    assert {"signals", "queue.waiting", "retry-storm"} <= set(offered)
    complete = completer(offered)
    assert complete("queue.wait", 0) == "queue.waiting"
    assert complete("queue.wait", 1) is None


def test_a_hostile_case_stays_inert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Facts and notes of a case that somebody handed over cannot reach the terminal as escapes or markup."""
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "case.toml").write_text(
        'service = "llm"\nfrom = 1000\nto = 1600\n[facts]\nmodel = "\\u001b]0;owned\\u0007[bold]x[/bold]"\n'
    )
    (folder / "metrics.om").write_text('# TYPE up gauge\nup{job="vllm",instance="a:1"} 1 1100\n# EOF\n')
    (folder / "truth.toml").write_text('[truth]\nroot = ["engine-dead"]\nnote = "\\u001b[2J gone"\n')
    case = Case(folder, tuple(RULES.values()))
    screen = Screen({}, iter(["quit"]))
    run(Drill(case, read_truth(folder / "truth.toml"), 1, 2, screen, "en"), screen)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[bold]x[/bold]" in out
    assert "gone" in out


def test_the_expert_goes_from_the_top_down() -> None:
    """What the root led to in a layer above is asked first, the root last."""
    case, truth = case_of("engine-loop-stall-a079")
    path = expert_path(case, truth)
    assert path[-1] == "engine-loop-stall"
    assert [RULES[rule].layer.value for rule in path] == ["platform", "engine"]
    assert all(ask_rule(case, rule).verdict is Verdict.PRESENT for rule in path)


def test_there_is_no_expert_where_the_cause_is_not_found() -> None:
    """The program does not pretend to know the way to an answer that it does not find."""
    case, _ = case_of("retry-storm")
    assert expert_path(case, Truth(root=("gpu-off-bus",))) == ()


@pytest.mark.parametrize(
    ("named", "spent", "expert", "points"),
    [
        ("retry-storm", 2, 2, 100),
        ("retry-storm", 1, 2, 100),
        ("retry-storm", 4, 2, 80),
        ("retry-storm", 0, 2, 60),
        ("bad-rollout", 1, 2, 20),
        ("engine-dead", 1, 2, 0),
        ("", 1, 2, 0),
    ],
)
def test_points(named: str, spent: int, expert: int, points: int) -> None:
    """The cause counts most, its layer a little, and economy only for whoever was right and asked."""
    assert score(named, Truth(root=("retry-storm",), layer="platform"), spent, expert, RULES) == points


@given(spent=st.integers(0, 400), expert=st.integers(1, 20))
def test_points_of_the_right_cause_stay_in_bounds(spent: int, expert: int) -> None:
    """Asking more never pays, and the right cause is always worth more than the right layer."""
    truth = Truth(root=("retry-storm",))
    points = score("retry-storm", truth, spent, expert, RULES)
    assert 60 <= points <= 100
    if spent:
        assert points >= score("retry-storm", truth, spent + 1, expert, RULES)


def test_an_expert_looks_and_does_not_ask() -> None:
    """Each step is a signal, lines of a log or changes that hold, and none is looked at twice."""
    case, truth = case_of("gpu-off-bus-a054")
    path = expert_path(case, truth)
    looks = expert_looks(case, path)
    assert [RULES[rule].layer.value for rule in path] == ["platform", "engine", "hardware"]
    assert {look.rule for look in looks} == set(path)
    assert all(look.evidence.verdict is Verdict.PRESENT and look.sort != "question" for look in looks)
    assert any("Xid" in look.evidence.text for look in looks if look.rule == "gpu-off-bus")


def test_drills_have_levels() -> None:
    """Easy ones come first; each level has some, of those that are installed, too; no name is there twice or of no case."""
    paths = drill_cases()
    order = [level_of(path) for path in paths]
    assert order == sorted(order)
    assert set(order) == {1, 2, 3}
    assert not levels().easy & levels().hard
    assert levels().easy | levels().hard <= {path.name for path in paths}


def test_the_order_of_drills_tells_nothing() -> None:
    """Every case has a known cause, and neighbours in the list are no neighbours by name."""
    paths = drill_cases()
    names = [path.name for path in paths]
    assert len(names) > 50
    assert names != sorted(names)
    assert paths == drill_cases()
    assert not any(name.startswith("unknowable") for name in names)


def test_no_cases_says_where_they_are(tmp_path: Path) -> None:
    """An empty folder is no drill."""
    with pytest.raises(InputMissingError) as caught:
        drill_cases([tmp_path])
    assert "--cases DIR" in caught.value.hint


def test_every_phrase_stands_in_both_languages() -> None:
    """No phrase is empty, and gaps have the same names in both."""
    for key, (english, chinese) in PHRASES.items():
        assert english.isascii(), key
        assert chinese, key
        assert sorted(_gaps(english)) == sorted(_gaps(chinese)), key
    assert say("step", "zh", number=1, total=2).startswith("第 1 步")


def _gaps(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]


def test_progress_keeps_the_best(tmp_path: Path) -> None:
    """A later and worse try counts as a try only, and the file survives being read again."""
    place = progress_file({"XDG_STATE_HOME": str(tmp_path)})
    assert read_progress(place) == Progress()
    write_progress(place, Progress().after("a", 60).after("a", 20).after("b", 0))
    assert place == tmp_path / "triage" / "learn.json"
    assert json.loads(place.read_text()) == {"drills": {"a": {"best": 60, "tries": 2}, "b": {"best": 0, "tries": 1}}}
    assert read_progress(place).drills["a"].tries == 2


@pytest.mark.parametrize("text", ["", "[]", '{"drills": {"a": {"best": 900, "tries": 1}}}', "\x00"])
def test_a_damaged_file_of_progress_is_not_overwritten(tmp_path: Path, text: str) -> None:
    """What cannot be read is named instead of being thrown away."""
    place = tmp_path / "learn.json"
    place.write_text(text)
    with pytest.raises(DataError, match="does not hold progress"):
        read_progress(place)


def test_a_drill_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers come from a file, the result is kept, and progress shows the number instead of the name."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("TRIAGE_CONFIG", "")
    answers = tmp_path / "answers"
    answers.write_text("requests.attempt_ratio\ncause retry-storm\n")
    assert main(["learn", "drill", "retry-storm", "--answers", str(answers), "--lang", "zh"]) == 0
    assert "得分：100/100" in capsys.readouterr().out
    assert main(["learn", "progress"]) == 0
    shown = capsys.readouterr().out
    assert "best 100, tries 1" in shown
    assert "retry-storm" not in shown


def test_the_other_ways_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The map and the list need no recording."""
    assert main(["learn", "map", "--lang", "zh", "little's", "law"]) == 0
    assert "利特尔法则" in capsys.readouterr().out
    assert main(["learn", "list"]) == 0
    assert "(coarse-histogram)" in capsys.readouterr().out
    assert main(["learn", "drill", "no-such-case"]) == 64
    assert "no drill 'no-such-case'" in capsys.readouterr().err
