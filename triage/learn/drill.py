"""Drills: an incident with the answer hidden, questions that cost time, and the expert's path beside the learner's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triage.learn.cases import Case
from triage.learn.chrome import entry, say
from triage.learn.screen import Screen
from triage.learn.steps import Told, ask_rule, cost_of, show_told, total_cost
from triage.learn.texts import Lang
from triage.model.diagnosis import Finding, LayerView, Promised
from triage.model.rule import Rule
from triage.model.vocabulary import Layer
from triage.render.reading import vital_reading, vitals_of
from triage.score.truth import Truth

RIGHT_CAUSE = 60
RIGHT_LAYER = 20
ECONOMY = 40
"""Points: for the cause, for its layer at least, and for asking no more than the expert does."""


@dataclass(frozen=True)
class Outcome:
    """How a drill ended.

    :param named: the cause that the learner named, empty if they gave up
    :param score: 0 to 100
    """

    named: str
    score: int


@dataclass
class Drill:
    """One drill on one case.

    :param number: what the learner knows the case by
    :param truth: what people found out; shown at the end only
    """

    case: Case
    truth: Truth
    number: int
    screen: Screen
    lang: Lang
    asked: dict[str, Told] = field(default_factory=dict)

    def __post_init__(self) -> None:
        order = list(Layer)
        self.questions: list[Rule] = sorted(self.case.rules.values(), key=lambda rule: (order.index(rule.layer), rule.id))

    def run(self) -> Outcome:
        """Show the symptoms, answer until a cause is named or the learner gives up, then compare with the expert."""
        self._show_symptoms()
        self._show_layers()
        self._tell("help")
        named = self._converse()
        outcome = Outcome(named, score(named, self.truth, self._spent(), self._expert_cost(), self.case.rules))
        self._show_outcome(outcome)
        return outcome

    def _converse(self) -> str:
        """Obey one line after the other; the cause that was named in the end, empty if none was."""
        while (line := self.screen.ask("> ")) is not None:
            words = line.strip().casefold().split()
            if words[:1] in (["quit"], ["q"]):
                break
            if len(words) == 2 and words[0] in ("cause", "ask"):
                rule = self._meant(words[1])
                if rule is not None and words[0] == "cause":
                    return rule.id
                if rule is not None:
                    self._ask(rule)
            elif words:
                self._open(" ".join(words))
        return ""

    def _meant(self, word: str) -> Rule | None:
        """The rule of a number or id; a complaint if there is none."""
        for number, rule in enumerate(self.questions, start=1):
            if word in (str(number), rule.id):
                return rule
        self._tell("no question", text=word)
        return None

    def _open(self, word: str) -> None:
        """List the questions of a layer."""
        for number, layer in enumerate(Layer, start=1):
            if word in (str(number), layer.value):
                self._show_questions(layer)
                return
        if word not in ("help", "?"):
            self._tell("not understood", text=word)
        self._tell("help")

    def _ask(self, rule: Rule) -> None:
        """Answer a question and say what it cost."""
        self.screen.line(rule.question, style="bold", indent=2)
        told = self.asked.get(rule.id) or ask_rule(self.case, rule.id)
        show_told(self.screen, self.case, told, self.lang)
        if rule.id in self.asked:
            self.screen.line(say("again", self.lang), style="dim", indent=4)
            return
        self.asked[rule.id] = told
        spent, sum_ = (say("minutes", self.lang, count=count) for count in (cost_of(told), self._spent()))
        self.screen.line(entry("cost", self.lang, f"{spent}, {say('so far', self.lang)} {sum_}"), style="dim", indent=4)

    def _spent(self) -> int:
        """Minutes that the learner's questions took."""
        return total_cost(list(self.asked.values()))

    # What is shown

    def _tell(self, key: str, **values: object) -> None:
        self.screen.line(say(key, self.lang, **values))

    def _show_symptoms(self) -> None:
        """What users notice and what is known of the service; nothing that judges."""
        diagnosis = self.case.diagnosis
        self.screen.heading(say("drill", self.lang, number=self.number))
        broken = [vital for vital in vitals_of(diagnosis) if vital.state is Promised.BROKEN]
        self._tell("symptoms" if broken else "no symptoms")
        for vital in broken:
            read = vital_reading(vital, diagnosis.window.end)
            part = f" of {read.part}" if read.part else ""
            usual = f", {say('before', self.lang)} {read.usual}" if read.usual else ""
            limit = f", {read.limit} ({read.whose})" if read.limit else ""
            self.screen.line(f"- {vital.title}{part}: {read.value or read.reason}{limit}{usual}", indent=2)
        if diagnosis.facts:
            self._tell("known")
        for key, value in sorted(diagnosis.facts.items()):
            self.screen.line(f"- {key}: {value}", indent=2)

    def _show_layers(self) -> None:
        """The layers with their numbers."""
        names = [f"{number} {say(layer.value, self.lang)}" for number, layer in enumerate(Layer, start=1)]
        self.screen.line(entry("layers", self.lang, ", ".join(names)))

    def _show_questions(self, layer: Layer) -> None:
        """The questions of a layer; those that were asked carry a sign."""
        self.screen.heading(say(layer.value, self.lang))
        for number, rule in enumerate(self.questions, start=1):
            if rule.layer is layer:
                self.screen.line(f"{number:>3}{'*' if rule.id in self.asked else ' '} {rule.question}", indent=2, hang=5)

    def _show_outcome(self, outcome: Outcome) -> None:
        """Right or wrong, what people found out, both paths, the score."""
        cause = ", ".join(self.truth.root)
        self.screen.line()
        self._tell(_judgement(outcome.named, self.truth, self.case.rules), cause=cause)
        if self.truth.note:
            self.screen.line(entry("note", self.lang, self.truth.note))
        self._show_path("yours", self._paths(self.asked))
        expert = expert_path(self.case, self.truth)
        if expert:
            self._show_expert(expert)
        else:
            self._tell("not found")
        self.screen.heading(entry("score", self.lang, f"{outcome.score}/100"))

    def _paths(self, rule_ids: Iterable[str]) -> list[str]:
        """One line for each question on a path."""
        lines = []
        for rule_id in rule_ids:
            told, rule = ask_rule(self.case, rule_id), self.case.rules[rule_id]
            cost = say("minutes", self.lang, count=cost_of(told))
            lines.append(entry(rule.layer.value, self.lang, f"{rule.question} {say(told.verdict.value, self.lang)} ({cost})"))
        return lines

    def _show_path(self, title: str, lines: Sequence[str]) -> None:
        self.screen.heading(say(title, self.lang))
        for line in lines or (say("nothing asked", self.lang),):
            self.screen.line(f"- {line}", indent=2, hang=2)

    def _show_expert(self, path: Sequence[str]) -> None:
        """The layers from the top down to the root's, the questions asked on the way, the deciding evidence."""
        root = self.case.rules[path[-1]]
        self.screen.heading(say("expert", self.lang))
        for layer in _down_to(self.case.diagnosis.layers, root.layer):
            self.screen.line(f"{say(layer.layer.value, self.lang)}: {say(layer.state.value, self.lang)}", indent=2)
            here = [rule_id for rule_id in path if self.case.rules[rule_id].layer is layer.layer]
            for line in self._paths(here):
                self.screen.line(f"- {line.partition(': ')[2]}", indent=4, hang=2)
        show_told(self.screen, self.case, ask_rule(self.case, root.id), self.lang)

    def _expert_cost(self) -> int:
        """Minutes that the expert's path takes; one where there is none."""
        return max(1, total_cost([ask_rule(self.case, rule_id) for rule_id in expert_path(self.case, self.truth)]))


def expert_path(case: Case, truth: Truth) -> tuple[str, ...]:
    """The questions that an expert asks: what the root led to, from the top layer down, then the root itself.

    In each layer above the root's one consequence is enough. Empty if no accepted cause is found present.
    """
    root = next((finding for finding in case.diagnosis.findings if finding.rule in truth.root), None)
    if root is None:
        return ()
    order = list(Layer)
    above: dict[Layer, Finding] = {}
    for finding in case.diagnosis.findings:
        if root.rule in finding.explained_by and order.index(finding.layer) < order.index(root.layer):
            above.setdefault(finding.layer, finding)
    return (*(above[layer].rule for layer in order if layer in above), root.rule)


def score(named: str, truth: Truth, spent: int, expert: int, rules: dict[str, Rule]) -> int:
    """Points from 0 to 100.

    :param spent: minutes that the learner's questions took; a cause named without asking anything was a guess: no economy
    :param expert: minutes that the expert's path takes, at least 1
    """
    judged = _judgement(named, truth, rules)
    if judged != "right":
        return RIGHT_LAYER if judged == "right layer" else 0
    economy = min(1.0, expert / spent) if spent else 0.0
    return RIGHT_CAUSE + round(ECONOMY * economy)


def _judgement(named: str, truth: Truth, rules: dict[str, Rule]) -> str:
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
