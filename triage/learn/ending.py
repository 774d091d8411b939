"""The end of a drill: whether the cause is right, the learner's path beside the expert's, and the points."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from triage.classes import dataclass
from triage.language.lang import Lang
from triage.learn.cases import Case
from triage.learn.chrome import colon, comma, entry, say
from triage.learn.experts import MINUTES, Seen, Sort, expert_looks, expert_path
from triage.learn.screen import Paper
from triage.learn.words import said
from triage.model.diagnosis import LayerView
from triage.model.rule import Rule
from triage.model.vocabulary import Layer
from triage.render.reading import named, reading
from triage.score.truth import Truth

RIGHT_CAUSE = 60
RIGHT_LAYER = 20
ECONOMY = 40
"""Points: for the cause, for its layer at least, and for needing no more time than the expert does."""

Done = Mapping[tuple[Sort, str], str]
"""What a learner did, each in their words, in their order."""


@dataclass(frozen=True)
class Outcome:
    """How a drill ended.

    :param named: the cause that the learner named, empty if they gave up
    :param score: 0 to 100
    """

    named: str
    score: int


@dataclass(frozen=True)
class Ending:
    """A drill that is over.

    :param truth: what people found out
    :param named: the cause that the learner named, empty if they gave up
    """

    case: Case
    truth: Truth
    named: str
    done: Done
    lang: Lang

    @cached_property
    def path(self) -> tuple[str, ...]:
        """Findings that the expert passes."""
        return expert_path(self.case, self.truth)

    @cached_property
    def looks(self) -> list[Seen]:
        """What the expert looks at."""
        return expert_looks(self.case, self.path)

    @property
    def outcome(self) -> Outcome:
        """The cause and the points."""
        expert = minutes_of(self.looks)
        return Outcome(self.named, score(self.named, self.truth, spent_on(self.done), expert, self.case.rules))

    def show(self, paper: Paper) -> None:
        """Judgement, note, both paths and the points, each with what it is for."""
        rules = self.case.rules
        cause = ", ".join(f"{said(rules[root].title, self.lang)} ({root})" if root in rules else root for root in self.truth.root)
        paper.line()
        paper.line(say(judgement(self.named, self.truth, rules), self.lang, cause=cause), style="bold")
        note = (self.truth.note_zh if self.lang == "zh" else "") or self.truth.note
        if note:
            paper.line(entry("note", self.lang, note))
        self._show_own_path(paper)
        if self.path:
            self._show_expert(paper)
        else:
            paper.line(say("not found", self.lang))
        paper.heading(entry("score", self.lang, f"{self.outcome.score}/100"))
        for line in self._points():
            paper.line(f"- {line}", indent=2)

    def _points(self) -> list[str]:
        """What the points are for."""
        judged = judgement(self.named, self.truth, self.case.rules)
        cause = {"right": RIGHT_CAUSE, "right layer": RIGHT_LAYER}.get(judged, 0)
        lines = [say("points cause", self.lang, points=cause, most=RIGHT_CAUSE)]
        if judged == "right":
            spent, expert, points = spent_on(self.done), minutes_of(self.looks), self.outcome.score - cause
            key = "points economy" if spent else "points guess"
            lines.append(say(key, self.lang, points=points, most=ECONOMY, spent=spent, expert=expert))
        return lines

    def _show_own_path(self, paper: Paper) -> None:
        """What the learner did, in their order, with the minutes."""
        paper.heading(f"{say('yours', self.lang)} ({say('minutes', self.lang, count=spent_on(self.done))})")
        for (sort, _), words in self.done.items():
            cost = say("minutes", self.lang, count=MINUTES[sort])
            paper.line(f"- {entry(f'did {sort}', self.lang, words)} ({cost})", indent=2, hang=2)
        if not self.done:
            paper.line(f"- {say('nothing asked', self.lang)}", indent=2)

    def _show_expert(self, paper: Paper) -> None:
        """The layers from the top down to the root's; in each what the expert looks at, and what follows from it."""
        rules = self.case.rules
        paper.heading(f"{say('expert', self.lang)} ({say('minutes', self.lang, count=minutes_of(self.looks))})")
        for layer in _down_to(self.case.diagnosis.layers, rules[self.path[-1]].layer):
            paper.line(entry(layer.layer.value, self.lang, say(layer.state.value, self.lang)), style="bold", indent=2)
            for rule_id in (one for one in self.path if rules[one].layer is layer.layer):
                for seen in (one for one in self.looks if one.rule == rule_id):
                    self._show_seen(paper, seen)
                paper.line(f"→ {said(rules[rule_id].title, self.lang)} ({rule_id})", indent=4, hang=2)

    def _show_seen(self, paper: Paper, seen: Seen) -> None:
        """One thing that the expert looks at, and what is to be seen there."""
        read = reading(seen.evidence, self.case.recording.window.end)
        subject, compared, when = (said(one, self.lang) for one in (named(seen.evidence.subject), read.compared, read.when))
        value = f"{subject}{colon(self.lang)}{compared} {when}".rstrip()
        what = f"{seen.evidence.signal}{comma(self.lang)}{value}" if seen.sort == "signal" else read.note or value
        cost = say("minutes", self.lang, count=seen.minutes)
        paper.line(f"- {entry(f'did {seen.sort}', self.lang, what)} ({cost})", indent=4, hang=2)


def spent_on(done: Done) -> int:
    """Minutes that somebody needed for what they did."""
    return sum(MINUTES[sort] for sort, _ in done)


def minutes_of(looks: Sequence[Seen]) -> int:
    """Minutes of the expert's path; one where there is none."""
    return max(1, sum(look.minutes for look in looks))


def score(named: str, truth: Truth, spent: int, expert: int, rules: dict[str, Rule]) -> int:
    """Points from 0 to 100.

    :param spent: minutes that the learner needed; a cause named without looking at anything was a guess: no economy
    :param expert: minutes that the expert's path takes, at least 1
    """
    judged = judgement(named, truth, rules)
    if judged != "right":
        return RIGHT_LAYER if judged == "right layer" else 0
    economy = min(1.0, expert / spent) if spent else 0.0
    return RIGHT_CAUSE + round(ECONOMY * economy)


def judgement(named: str, truth: Truth, rules: dict[str, Rule]) -> str:
    """Which phrase says how good the named cause is."""
    if not named:
        return "gave up"
    if named in truth.root:
        return "right"
    layers = {truth.layer} if truth.layer else {rules[root].layer.value for root in truth.root if root in rules}
    return "right layer" if rules[named].layer.value in layers else "wrong"


def _down_to(layers: Sequence[LayerView], last: Layer) -> list[LayerView]:
    """The layers from the top to a certain one."""
    names = [view.layer for view in layers]
    return list(layers[: names.index(last) + 1])
