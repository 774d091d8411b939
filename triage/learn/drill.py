"""Drills: an incident with the answer hidden. The learner looks at signals, logs and changes, may ask, and names the cause."""

from collections.abc import Callable
from dataclasses import field

from triage.classes import dataclass
from triage.language.lang import Lang
from triage.learn.cases import Case
from triage.learn.chrome import colon, comma, entry, say
from triage.learn.ending import Ending, Outcome, spent_on
from triage.learn.experts import MINUTES, Sort
from triage.learn.logs import log_names
from triage.learn.screen import Paper, Screen
from triage.learn.steps import ask_rule, show_changes, show_lines, show_signal, show_told, signal_told
from triage.learn.words import said
from triage.model.diagnosis import Promised
from triage.model.rule import Rule
from triage.model.vocabulary import Layer, catalogue
from triage.render.reading import vital_reading, vitals_of
from triage.score.truth import Truth

LOOKS_FIRST = 2
"""Things to look at before the first question: a judgement that is asked for at once teaches nothing."""

_MOST_LINES = 12
_COMMANDS = {
    "signals": "signals", "信号": "signals", "signal": "signal", "查看": "signal", "logs": "logs", "log": "log", "日志": "log",
    "grep": "grep", "搜索": "grep", "changes": "changes", "变更": "changes", "ask": "ask", "提问": "ask", "cause": "cause",
    "原因": "cause", "help": "help", "帮助": "help", "?": "help", "quit": "quit", "q": "quit", "退出": "quit",
}  # fmt: skip
"""What may be typed, in both languages."""


@dataclass
class Drill:
    """One drill on one case.

    :param number: what the learner knows the case by
    :param level: 1 easy to 3 hard
    :param truth: what people found out; shown at the end only
    :param paper: what is written on
    """

    case: Case
    truth: Truth
    number: int
    level: int
    paper: Paper
    lang: Lang
    done: dict[tuple[Sort, str], str] = field(default_factory=dict)
    named: str | None = None

    def __post_init__(self) -> None:
        order = list(Layer)
        self.questions: list[Rule] = sorted(self.case.rules.values(), key=lambda rule: (order.index(rule.layer), rule.id))
        frame = self.case.frame
        self.signals = [name for name in catalogue() if frame.subjects_of(name)]

    def words(self) -> list[str]:
        """What may be typed, for completion."""
        return [*_COMMANDS, *self.signals, *log_names(self.case.path), *self.case.rules]

    def begin(self) -> None:
        """Show what users notice, and what can be done."""
        self._show_symptoms()
        self._tell("help")

    def obey(self, line: str) -> bool:
        """Do what was typed; whether the drill is over."""
        words = line.strip().split()
        if not words:
            return False
        head, rest = words[0].casefold(), " ".join(words[1:])
        command = _COMMANDS.get(head)
        if command is None:
            self._open(" ".join(words))
        elif command == "quit":
            self.named = ""
        else:
            self._doing[command](rest)
        return self.named is not None

    def finish(self) -> Outcome:
        """Right or wrong, what people found out, both paths, the score."""
        ending = Ending(self.case, self.truth, self.named or "", self.done, self.lang)
        ending.show(self.paper)
        return ending.outcome

    @property
    def _doing(self) -> dict[str, Callable[[str], None]]:
        """What each command does."""
        return {
            "signals": self._list_signals,
            "signal": self._look_at,
            "logs": lambda _rest: self._list_logs(),
            "log": self._read_log,
            "grep": self._search,
            "changes": lambda _rest: self._see_changes(),
            "ask": self._ask,
            "cause": self._name,
            "help": lambda _rest: self._tell("help"),
        }

    def _open(self, typed: str) -> None:
        """List the questions of a layer, or show a signal by its bare name."""
        for number, layer in enumerate(Layer, start=1):
            if typed.casefold() in (str(number), layer.value, say(layer.value, self.lang).casefold()):
                self._show_questions(layer)
                return
        if typed in self.signals:
            self._look_at(typed)
            return
        self._tell("not understood", text=typed)
        self._tell("help")

    # Looking

    def _list_signals(self, which: str) -> None:
        """Names of the signals that are there: how many in each layer, or those of a layer or with a word in their names."""
        if not which:
            for layer in Layer:
                names = [name for name in self.signals if catalogue()[name].layer is layer]
                self.paper.line(entry(layer.value, self.lang, say("signal count", self.lang, count=len(names))), indent=2)
            self._tell("which signals")
            return
        word = which.casefold()
        shown = [
            name
            for name in self.signals
            if word in (catalogue()[name].layer.value, say(catalogue()[name].layer.value, self.lang))
        ]
        for name in shown or [name for name in self.signals if word in name]:
            self.paper.line(signal_told(name, self.lang), indent=2, hang=4)

    def _look_at(self, rest: str) -> None:
        """A signal of its subjects, or of the one that is named, too."""
        name, _, subject = rest.partition(" ")
        if name not in self.signals:
            self._tell("no signal", text=rest)
            return
        show_signal(self.paper, self.case, name, self.lang, subject=subject.strip(), most=12)
        self._charge("signal", name, name)

    def _list_logs(self) -> None:
        """The logs by name."""
        names = log_names(self.case.path)
        for name in names:
            self.paper.line(f"- {name}", indent=2)
        self._tell("which logs" if names else "none seen")

    def _read_log(self, rest: str) -> None:
        """The lines of one log, or those of them that hold a text; without a name the logs."""
        name, _, text = rest.partition(" ")
        if not name:
            self._list_logs()
            return
        if not any(name.casefold() in one.casefold() for one in log_names(self.case.path)):
            self._search(rest)
            return
        show_lines(self.paper, self.case, text.strip(), self.lang, log=name, most=_MOST_LINES)
        self._charge("log", rest, rest)

    def _search(self, text: str) -> None:
        """The lines of all logs that hold a text."""
        if not text:
            self._tell("which logs")
            return
        show_lines(self.paper, self.case, text, self.lang, most=_MOST_LINES)
        self._charge("log", text, text)

    def _see_changes(self) -> None:
        """The changes to the service."""
        show_changes(self.paper, self.case, self.lang)
        self._charge("changes", "", say("changes", self.lang))

    # Asking and naming

    def _meant(self, word: str) -> Rule | None:
        """The rule of a number or id; a complaint if there is none."""
        for number, rule in enumerate(self.questions, start=1):
            if word.casefold() in (str(number), rule.id):
                return rule
        self._tell("no question", text=word)
        return None

    def _ask(self, word: str) -> None:
        """Answer a question, once something was looked at."""
        rule = self._meant(word)
        if rule is None:
            return
        if sum(sort != "question" for sort, _ in self.done) < LOOKS_FIRST:
            self._tell("look first", count=LOOKS_FIRST)
            return
        self.paper.line(said(rule.question, self.lang), style="bold", indent=2)
        told = ask_rule(self.case, rule.id)
        show_told(self.paper, self.case, told, self.lang)
        self._charge("question", rule.id, f"{said(rule.question, self.lang)} {say(told.verdict.value, self.lang)}")

    def _name(self, word: str) -> None:
        """Name the cause, which ends the drill."""
        rule = self._meant(word)
        self.named = rule.id if rule is not None else None

    def _charge(self, sort: Sort, what: str, said: str) -> None:
        """Say what it cost; the same again costs nothing."""
        if (sort, what) in self.done:
            self.paper.line(say("again", self.lang), style="dim", indent=4)
            return
        self.done[sort, what] = said
        cost, whole = (say("minutes", self.lang, count=count) for count in (MINUTES[sort], self._spent()))
        self.paper.line(entry("cost", self.lang, say("cost so far", self.lang, cost=cost, whole=whole)), style="dim", indent=4)

    def _spent(self) -> int:
        """Minutes that the learner needed."""
        return spent_on(self.done)

    # What is shown

    def _tell(self, key: str, **values: object) -> None:
        self.paper.line(say(key, self.lang, **values))

    def _show_symptoms(self) -> None:
        """What users notice and what is known of the service; nothing that judges."""
        diagnosis = self.case.diagnosis
        self.paper.heading(f"{say('drill', self.lang, number=self.number)} ({say(f'level {self.level}', self.lang)})")
        broken = [vital for vital in vitals_of(diagnosis) if vital.state is Promised.BROKEN]
        self._tell("symptoms" if broken else "no symptoms")
        for vital in broken:
            read = vital_reading(vital, diagnosis.window.end)
            name = said(f"{vital.title} of {read.part}" if read.part else vital.title, self.lang)
            limit = f"{said(read.limit, self.lang)} ({said(read.whose, self.lang)})" if read.limit else ""
            usual = f"{say('before', self.lang)} {said(read.usual, self.lang)}" if read.usual else ""
            parts = [said(read.value or read.reason, self.lang), limit, usual]
            self.paper.line(f"- {name}{colon(self.lang)}{comma(self.lang).join(part for part in parts if part)}", indent=2)
        if diagnosis.facts:
            self._tell("known")
        for key, value in sorted(diagnosis.facts.items()):
            self.paper.line(f"- {key}: {value}", indent=2)

    def _show_questions(self, layer: Layer) -> None:
        """The questions of a layer; those that were asked carry a sign."""
        self.paper.heading(say(layer.value, self.lang))
        for number, rule in enumerate(self.questions, start=1):
            if rule.layer is layer:
                sign = "*" if ("question", rule.id) in self.done else " "
                self.paper.line(f"{number:>3}{sign} {said(rule.question, self.lang)}", indent=2, hang=5)


def run(drill: Drill, screen: Screen) -> Outcome:
    """A drill in the terminal, until a cause is named or the learner gives up."""
    drill.begin()
    screen.offer(drill.words())
    while (line := screen.ask("> ")) is not None and not drill.obey(line):
        pass
    return drill.finish()
