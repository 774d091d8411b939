"""The linter: each check fires where it should, and only there."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.kinds import kinds
from triage.bundle import bundled
from triage.engine.rules.loading import read_rule
from triage.errors import ConfigError, InputMissingError
from triage.lint import CHECKS, gather, lint
from triage.lint.levels import asked_numbers
from triage.lint.measures import reachable
from triage.lint.problem import Problem, Severity, shown
from triage.lint.ruleset import Case, Checked, Ruleset, read_levels
from triage.model.vocabulary import Scope

SOUND = """\
id: kv-leak
title: KV blocks not returned
question: Does the cache stay full when traffic ends?
cause: runtime
layer: engine
scale: machine
scope: replica
severity: warning
shows:
  - strong:
      all:
        - {signal: kv.usage, at_least: 0.9, as: kv}
        - {signal: batch.running, stat: max, at_most: {baseline: 0.2}}
        - {event: log, at_least: 1, where: {path: "a.*"}}
refuted_by: {signal: kv.usage, below: 0.5}
finding: "The cache of {subject} is full since {onset}[ ({kv})]."
leads_to: {kv-exhaustion-preemption: too few blocks are left}
look_alikes:
  - {rule: runaway-generation, because: one long request explains it}
sources: ["a lab: nothing was above 0.9 or below 50 %"]
one_family: a lab
"""

BESIDE = Ruleset((), kinds(), {"kv-leak": bundled("playbooks")}, frozenset({"sglang-deepep-deadlock"}))


def problems(folder: Path, old: str = "", new: str = "", beside: Ruleset = BESIDE) -> list[Problem]:
    """What the linter says of the sound rule with one part exchanged."""
    assert old in SOUND
    path = folder / "kv-leak.yaml"
    path.write_text(SOUND.replace(old, new) if old else SOUND)
    return lint(replace(beside, files=(read_rule(path),)))


def test_a_sound_rule_has_no_problem(tmp_path: Path) -> None:
    """The rule that the other tests break is itself clean."""
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "check", "place", "word"),
    [
        ("title: KV", "titel: KV", "schema", (1, 1), "'title' is missing"),
        ("{kv-exhaustion-preemption:", "{kv-exhaustion:", "reference", (17, 12), "'kv-exhaustion'"),
        ("{kv-exhaustion-preemption:", "{kv-leak:", "reference", (17, 12), "names itself"),
        ("rule: runaway-generation", "rule: runaway", "reference", (19, 12), "'runaway'"),
        ('{event: log, at_least: 1, where: {path: "a.*"}}', "{gone: kv.usag}", "signal", (14, 18), "kv.usag"),
        ("one_family", "incidents: [sglang-depep-deadlock]\none_family", "incident", (21, 13), "'sglang-depep-deadlock'"),
        ("event: log,", "event: log, name: [cuda-oomm],", "event", (14, 31), "'cuda-oomm'"),
        ("event: log,", 'event: xid, name: ["79", "1079"],', "event", (14, 37), "no Xid 1079"),
        ("{subject} is", "{subjekt} is", "placeholder", (16, 10), "{subjekt}"),
        ("({kv})", "({kv:.2f})", "placeholder", (16, 10), "is no name"),
        ("({kv})", "({kv.real})", "placeholder", (16, 10), "{kv.real}"),
        ("({kv})", "({kv)", "placeholder", (16, 10), "cannot be filled in"),
        ("scope: replica", "scope: target", "scope", (12, 20), "nothing links it to a target"),
        ("at_least: 0.9", "at_least: 90", "range", (12, 40), "lies between 0 and 1"),
        ('"a.*"', '"(["', "pattern", (14, 51), "missing ]"),
        (
            '{event: log, at_least: 1, where: {path: "a.*"}}',
            '{fact: engine, matches: "(?=x)"}',
            "pattern",
            (14, 35),
            "perl operator",
        ),
    ],
)
def test_an_error_is_found_at_its_place(
    tmp_path: Path, old: str, new: str, check: str, place: tuple[int, int], word: str
) -> None:
    """Each check says what is wrong, and exactly where."""
    found = [problem for problem in problems(tmp_path, old, new) if problem.check == check]
    assert [(problem.severity, problem.line, problem.column) for problem in found][:1] == [(Severity.ERROR, *place)]
    assert word in found[0].summary


@pytest.mark.parametrize(
    ("old", "new", "check", "place", "word"),
    [
        ("[ ({kv})]", "", "unused", (12, 49), "does not use 'kv'"),
        ("below: 0.5}", "below: 0.5, as: low}", "unused", (15, 48), "named in 'refuted_by'"),
        ("{onset}[ ({kv})].", "{onset}[ ({kv})]", "sentence", (16, 10), "is not one sentence"),
        ("{onset}[ ({kv})].", "{onset}[ ({kv})]. It is full.", "sentence", (16, 10), "is not one sentence"),
        ("{onset}[ ({kv})].", "{onset}[ ({kv})]..", "sentence", (16, 10), "is not one sentence"),
        ("[ ({kv})]", "[: {kv}]", "sentence", (16, 10), "behind a colon"),
        ("The cache", "the cache", "sentence", (16, 10), "does not begin with a capital"),
        ("The cache of {subject}", "{subject}", "sentence", (16, 10), "says 'is' also of several"),
        ("The cache of", "By kv.usage the cache of", "sentence", (16, 10), "holds the id 'kv.usage'"),
        ("The cache of", "By config-drift the cache of", "sentence", (16, 10), "holds the id 'config-drift'"),
        ("The cache of", f"The {'very ' * 17}full cache of", "sentence", (16, 10), "more than 140 letters"),
        ("one_family", "hold: {keep_firing_for: 700}\none_family", "hold", (21, 25), "where the 700 s of keep_firing_for come"),
        ("above 0.9", "above 0.95", "threshold", (12, 40), "where 0.9 of kv.usage comes from"),
        ("{kv-exhaustion-preemption:", "{config-drift:", "loop", (17, 12), "leads to config-drift and on to"),
        (
            "leads_to: {kv-exhaustion-preemption:",
            "feeds_back: {kv-exhaustion-preemption:",
            "loop",
            (17, 14),
            "nothing is fed back",
        ),
        ("one_family: a lab\n", "", "family", (10, 3), "(any log and engine metrics)"),
    ],
)
def test_a_warning_is_found_at_its_place(
    tmp_path: Path, old: str, new: str, check: str, place: tuple[int, int], word: str
) -> None:
    """What makes a rule less good is a warning."""
    found = [problem for problem in problems(tmp_path, old, new) if problem.check == check]
    assert [(problem.severity, problem.line, problem.column) for problem in found][:1] == [(Severity.WARNING, *place)]
    assert word in found[0].summary


KV = "{signal: kv.usage, at_least: 0.9, as: kv}"
LOG = "{event: log, at_least: 1}"


@pytest.mark.parametrize(
    ("shows", "apart"),
    [
        (f"{{strong: {{any: [{KV}, {LOG}]}}}}", True),
        (f"{{strong: {{all: [{KV}, {LOG}]}}}}", False),
        (f"{{strong: {KV}}}, {{weak: {LOG}}}", True),
        (f"{{strong: {{all: [{KV}, {LOG}]}}}}, {{weak: {LOG}}}", False),
        (f"{{strong: {{all: [{KV}, {{any: [{LOG}, {{gone: kv.usage}}]}}]}}}}, {{weak: {LOG}}}", True),
    ],
)
def test_two_ways_are_independent_where_they_share_no_family(tmp_path: Path, shows: str, apart: bool) -> None:
    """A part of an ``any`` is a way of its own; what an ``all`` asks besides is needed, too."""
    head, tail = SOUND.split("shows:\n")
    text = head + f"shows: [{shows}]\n" + tail[tail.index("refuted_by") :].replace("one_family: a lab\n", "")
    path = tmp_path / "kv-leak.yaml"
    path.write_text(text)
    found = lint(replace(BESIDE, files=(read_rule(path),)))
    assert [problem.check for problem in found] == ([] if apart else ["family"])


def test_a_misspelt_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    """Help offers the id that was probably meant."""
    (problem,) = problems(tmp_path, "{kv-exhaustion-preemption:", "{kv-exhaustion-premption:")
    assert problem.help == "did you mean 'kv-exhaustion-preemption'?"


def test_a_rule_without_playbook_is_an_error(tmp_path: Path) -> None:
    """Whoever gets a finding must be told what to do."""
    beside = replace(BESIDE, playbooks={})
    assert [problem.check for problem in problems(tmp_path, beside=beside)] == ["playbook"]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("title: KV blocks not returned", "title: KV blocks kept", "has the title 'KV blocks kept'"),
        ("layer: engine", "layer: cuda", "has the layer 'cuda'"),
        ("## Fix", "## Mend", "cannot be used"),
    ],
)
def test_a_playbook_tells_what_its_rule_tells(tmp_path: Path, old: str, new: str, word: str) -> None:
    """Its title, layer and cause are the rule's, and it can be read."""
    shipped = (bundled("playbooks") / "kv-leak.md").read_text(encoding="utf-8")
    assert old in shipped
    (tmp_path / "kv-leak.md").write_text(shipped.replace(old, new, 1), encoding="utf-8")
    (problem,) = problems(tmp_path, beside=replace(BESIDE, playbooks={"kv-leak": tmp_path}))
    assert problem.check == "playbook"
    assert word in problem.summary


def test_what_is_left_to_fill_in_is_told_in_all_files_of_a_kind(tmp_path: Path) -> None:
    """In the rule, its playbook and its case, each at its place."""
    (tmp_path / "kv-leak.md").write_text((bundled("playbooks") / "kv-leak.md").read_text() + "TODO\n")
    (tmp_path / "truth.toml").write_text('[truth]\nroot = ["kv-leak"]\nnote = "TODO why"\n')
    own, alike = Case(("kv-leak",), path=tmp_path), Case(("runaway-generation",))
    beside = replace(BESIDE, playbooks={"kv-leak": tmp_path}, cases=(own, alike))
    found = [one for one in problems(tmp_path, "a lab: nothing", "TODO a lab: nothing", beside) if one.check == "todo"]
    assert [(one.path.name, one.column) for one in found] == [("kv-leak.yaml", 12), ("kv-leak.md", 1), ("truth.toml", 9)]


def test_a_number_of_events_or_a_state_needs_no_source(tmp_path: Path) -> None:
    """One death is one death: only measured quantities need a reason for their bound."""
    text = SOUND.replace("sources:", "false_positives:").replace("kv.usage, at_least: 0.9", "replica.lost, at_least: 1")
    path = tmp_path / "kv-leak.yaml"
    path.write_text(text.replace("refuted_by: {signal: kv.usage, below: 0.5}\n", ""))
    assert lint(replace(BESIDE, files=(read_rule(path),))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.9, as: kv}", "0.9, as: kv}  # a lab"),
        ("        - {signal: kv.usage", "        # a lab\n        - {signal: kv.usage"),
    ],
)
def test_a_comment_beside_a_number_says_where_it_comes_from(tmp_path: Path, old: str, new: str) -> None:
    """At its line or in the line above; of other numbers it says nothing."""
    text = SOUND.replace("sources:", "false_positives:").replace(old, new)
    path = tmp_path / "kv-leak.yaml"
    path.write_text(text)
    found = lint(replace(BESIDE, files=(read_rule(path),)))
    assert [problem.summary for problem in found] == ["nothing says where 0.5 of kv.usage comes from"]


def test_a_table_beside_the_rules_says_where_numbers_come_from(tmp_path: Path) -> None:
    """A folder's own table adds to the shipped one; one that is not sound is refused with its place."""
    (tmp_path / "levels.toml").write_text('[[level]]\nsignal = "kv.usage"\nat = [0.5]\nbecause = "a lab"\n')
    levels = read_levels([tmp_path, bundled("rules")])
    assert {0.5, 0.9} <= levels["kv.usage"]
    (tmp_path / "levels.toml").write_text('[[level]]\nsignal = "kv.usage"\nat = [0.5]\n')
    with pytest.raises(ConfigError, match=r"levels\.toml is no table of levels"):
        read_levels([tmp_path])


def test_no_number_of_the_table_is_left_over() -> None:
    """Each is asked for by some rule, of a signal or a class of observation that there is."""
    ruleset = gather()
    rules = [Checked(file, file.rule, ruleset) for file in ruleset.files if file.rule is not None]
    asked = {(about, number) for checked in rules for _, about, number in asked_numbers(checked)}
    assert {(about, number) for about, numbers in ruleset.levels.items() for number in numbers} <= asked


def test_a_rule_is_tried_on_its_own_kind_and_on_its_look_alikes(tmp_path: Path) -> None:
    """Where there are incidents, one must have the kind as its root, and one of each look-alike must exclude it."""
    none = replace(BESIDE, cases=())
    assert [(problem.check, problem.line) for problem in problems(tmp_path, beside=none)] == [("case", 1), ("case", 19)]
    own = Case(("kv-leak",))
    blurred = Case(("runaway-generation",), frozenset({"kv-leak"}))
    beside = replace(BESIDE, cases=(own, blurred))
    assert [problem.line for problem in problems(tmp_path, beside=beside)] == [19]
    other = Case(("runaway-generation",))
    both = replace(BESIDE, cases=(own, other))
    assert problems(tmp_path, beside=both) == []


LIVED = Case(("kv-leak",), lived=True)
MADE = Case(("kv-leak", "kv-exhaustion-preemption"))
ALIKE = Case(("runaway-generation",))


@pytest.mark.parametrize(
    ("cases", "lacks"),
    [
        ((LIVED, MADE, ALIKE), []),
        ((LIVED, ALIKE), ["fewer than two"]),
        ((MADE, MADE, ALIKE), ["recorded or built"]),
        ((LIVED, replace(MADE, wrong=True), ALIKE), ["known to come out wrong"]),
        ((LIVED, replace(MADE, roots=("runaway-generation", "kv-leak"))), ["fewer than two"]),
    ],
)
def test_a_stable_rule_has_earned_it(tmp_path: Path, cases: tuple[Case, ...], lacks: list[str]) -> None:
    """Two cases of its own, one of them lived through, none known to come out wrong."""
    shows = "  - weak: {event: log, name: [cuda-oom], at_least: 1}\n"
    stable = SOUND.replace("refuted_by: {signal: kv.usage", f"{shows}status: stable\nrefuted_by: {{signal: kv.usage")
    (tmp_path / "kv-leak.yaml").write_text(stable)
    found = lint(replace(BESIDE, cases=cases, files=(read_rule(tmp_path / "kv-leak.yaml"),)))
    told = [problem.summary for problem in found if problem.check == "status"]
    assert told[:1] == ["not stable: all its evidence comes from one family of sources"]
    assert [word for word, summary in zip(lacks, told[1:], strict=True) if word not in summary] == []


@pytest.mark.parametrize(
    ("rule", "signal", "expected"),
    [
        (Scope.REPLICA, Scope.GPU, True),
        (Scope.GPU, Scope.NODE, True),
        (Scope.GATEWAY, Scope.REPLICA, True),
        (Scope.NODE, Scope.SERVICE, True),
        (Scope.REPLICA, Scope.TARGET, True),
        (Scope.GPU, Scope.TARGET, False),
        (Scope.TARGET, Scope.REPLICA, False),
        (Scope.TARGET, Scope.TARGET, True),
    ],
)
def test_signals_are_within_reach_by_links(rule: Scope, signal: Scope, expected: bool) -> None:
    """Reach follows the links of a recording."""
    assert reachable(rule, signal) is expected


def test_a_problem_is_shown_under_its_source_line(tmp_path: Path) -> None:
    """The mark stands under the guilty word."""
    (problem,) = problems(tmp_path, "{kv-exhaustion-preemption:", "{kv-exhaustion-premption:")
    text = (tmp_path / "kv-leak.yaml").read_text()
    assert shown(problem, text).splitlines() == [
        f"{tmp_path}/kv-leak.yaml:17:12: error: no kind of failure is called 'kv-exhaustion-premption' [reference]",
        "  17 | leads_to: {kv-exhaustion-premption: too few blocks are left}",
        "     |            ^^^^^^^^^^^^^^^^^^^^^^^",
        "  help: did you mean 'kv-exhaustion-preemption'?",
    ]


def test_hostile_source_lines_are_shown_inert() -> None:
    """A rule file cannot paint the terminal of whoever lints it."""
    problem = Problem("schema", Severity.ERROR, "bad", Path("x.yaml"), 1, 4)
    assert "\x1b" not in shown(problem, "id: \x1b[2Jx\n")


def test_the_shipped_rules_are_gathered_with_their_playbooks() -> None:
    """Without folders the shipped rules are checked."""
    ruleset = gather()
    assert len(ruleset.files) == len(list(bundled("rules").rglob("*.yaml")))
    assert set(ruleset.playbooks) == {path.stem for path in bundled("playbooks").glob("*.md")}


def test_named_folders_are_checked_alone(tmp_path: Path) -> None:
    """With folders only those are checked, and they may refer to shipped rules."""
    (tmp_path / "kv-leak.yaml").write_text(SOUND)
    ruleset = gather([tmp_path])
    assert [file.path.name for file in ruleset.files] == ["kv-leak.yaml"]
    assert ruleset.cases is None
    with pytest.raises(InputMissingError):
        gather([tmp_path / "missing"])


@pytest.mark.parametrize(
    ("old", "new", "sure"),
    [
        ("stat: max, at_most", "stat: max, at_most", True),
        ("all:\n", "any:\n", False),
        ("at_least: 0.9, as", "at_least: 0.9, lasting: 60, as", False),
        ("stat: max, at_most: {baseline: 0.2}", "as: kv, at_most: {baseline: 0.2}", False),
    ],
)
def test_a_sentence_always_speaks_only_of_figures_that_every_way_gives(tmp_path: Path, old: str, new: str, sure: bool) -> None:
    """Of one unit, and where their condition must hold: another may be left out."""
    plain = SOUND.replace("[ ({kv})]", " at {kv}").replace('        - {event: log, at_least: 1, where: {path: "a.*"}}\n', "")
    path = tmp_path / "kv-leak.yaml"
    path.write_text(plain.replace(old, new))
    found = [one.check for one in lint(replace(BESIDE, files=(read_rule(path),)))]
    assert ("sentence" not in found) is sure


def test_every_check_is_in_the_reference() -> None:
    """docs/rules.md explains every check."""
    text = (Path(__file__).parent.parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")
    ids = {check.__doc__.split("``")[1] for check in CHECKS if check.__doc__} | {"schema"}
    assert sorted(name for name in ids if f"| `{name}` |" not in text) == []


def test_a_hold_is_usual_or_told(tmp_path: Path) -> None:
    """The usual value may be written out; another one has its reason; a proof waits for nothing."""
    assert problems(tmp_path, "one_family", "hold: {for: 60, keep_firing_for: 120}\none_family") == []
    assert problems(tmp_path, "one_family", "hold: {for: 90}        # three scrapes of the lab\none_family") == []
    proof = "hold: {for: 60}\none_family"
    path = tmp_path / "kv-leak.yaml"
    path.write_text(SOUND.replace("- strong:", "- proof:").replace("one_family", proof))
    assert [one.check for one in lint(replace(BESIDE, files=(read_rule(path),)))] == ["hold"]
