"""Shows the map and the lessons."""

from collections.abc import Iterable, Mapping, Sequence

from triage.language.lang import Lang
from triage.learn.cases import Case
from triage.learn.chrome import entry, say
from triage.learn.glossary import Term
from triage.learn.lesson import Lesson, Step
from triage.learn.progress import Progress
from triage.learn.screen import Paper, Screen
from triage.learn.steps import show_look
from triage.learn.values import Values
from triage.model.vocabulary import Layer, catalogue


def show_map(screen: Screen, terms: Iterable[Term], lang: Lang) -> None:
    """Words under the headings of their layers."""
    by_layer: dict[Layer | None, list[Term]] = {}
    for term in terms:
        by_layer.setdefault(term.layer, []).append(term)
    for layer, words in by_layer.items():
        screen.heading(say(layer.value if layer else "way", lang).upper())
        for term in words:
            _show_term(screen, term, lang)


def _show_term(screen: Screen, term: Term, lang: Lang) -> None:
    """One word: meaning, way of measuring, signals with their units, rules about it."""
    other = "" if lang == "en" or term.term.en == term.term.zh else f" ({term.term.en})"
    screen.line(f"{term.term.of(lang)}{other}", style="bold cyan", indent=2)
    screen.line(term.means.of(lang), indent=4)
    screen.line(entry("measured", lang, term.measured.of(lang)), indent=4)
    if term.signals:
        names = [f"{name} [{unit}]" if (unit := catalogue()[name].unit) else name for name in term.signals]
        screen.line(entry("signals", lang, ", ".join(names)), style="dim", indent=4)
    if term.kinds:
        screen.line(entry("kinds", lang, ", ".join(term.kinds)), style="dim", indent=4)


def show_list(screen: Screen, lessons: Iterable[Lesson], lang: Lang) -> None:
    """Numbers, ids and titles of lessons, by level."""
    level = None
    for number, lesson in enumerate(lessons):
        if lesson.level != level:
            level = lesson.level
            screen.heading(say(f"level {level}", lang).upper())
        screen.line(f"{number:>3}  {lesson.title.of(lang)} ({lesson.id})", style="bold")
        screen.line(lesson.goal.of(lang), indent=5)


def show_drills(screen: Screen, levels: Sequence[int], lang: Lang) -> None:
    """Which numbers the drills of each level have.

    :param levels: of all drills, in their order
    """
    screen.heading(say("drills", lang).upper())
    for level in sorted(set(levels)):
        first, count = levels.index(level) + 1, levels.count(level)
        screen.line(f"{first:>3}–{first + count - 1}  {say(f'level {level}', lang)}", indent=0)
    screen.line(say("how to drill", lang))


def show_lesson(screen: Screen, lesson: Lesson, case: Case, lang: Lang) -> None:
    """A lesson from its first step to its last."""
    show_beginning(screen, lesson, case, lang)
    values = Values(lesson, case)
    for number, step in enumerate(lesson.steps, start=1):
        show_step(screen, lesson, number, case, values, lang)
        if step.check is not None:
            screen.line(entry("check", lang, values.fill(step.check.question, lang)), style="bold")
            screen.wait(say("press", lang))
            show_answer(screen, step, values, lang)
        elif number < len(lesson.steps):
            screen.wait(say("next", lang))
    screen.line()
    screen.line(say("done", lang))


def show_beginning(screen: Paper, lesson: Lesson, case: Case, lang: Lang) -> None:
    """Title, goal and recording."""
    screen.line(lesson.title.of(lang), style="bold")
    screen.line(entry("goal", lang, lesson.goal.of(lang)))
    screen.line(entry("recording", lang, str(case.path)), style="dim")


def show_step(screen: Paper, lesson: Lesson, number: int, case: Case, values: Values, lang: Lang) -> None:
    """One step without its question: the text, what the recording says, the arithmetic.

    :param number: from 1
    """
    step = lesson.steps[number - 1]
    screen.heading(say("step", lang, number=number, total=len(lesson.steps)))
    screen.line(values.fill(step.text, lang))
    for look in step.look:
        show_look(screen, case, look, lang)
    for name in step.work:
        screen.line(values.working(name, lang), style="cyan", indent=4, hang=2)
    for claim in step.claims:
        if not values.holds(claim):
            screen.line(say("not so", lang, claim=values.told(claim, lang)), style="yellow", indent=4)


def show_answer(screen: Paper, step: Step, values: Values, lang: Lang) -> None:
    """The answer to the question of a step, if it has one."""
    if step.check is not None:
        screen.line(entry("answer", lang, values.fill(step.check.answer, lang)), style="green")


def show_progress(screen: Screen, progress: Progress, numbers: Mapping[str, int], lang: Lang) -> None:
    """Finished drills with their best scores; the names of cases that are at hand stay hidden behind their numbers."""
    if not progress.drills:
        screen.line(say("no progress", lang))
    for name, number in _numbered(progress, numbers):
        result = progress.drills[name]
        what = say("drill", lang, number=number) if number else name
        screen.line(f"{what}: {say('best', lang)} {result.best}, {say('tries', lang)} {result.tries}")


def _numbered(progress: Progress, numbers: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    """Names of finished drills with their numbers, 0 for those that are not at hand."""
    pairs = [(name, numbers.get(name, 0)) for name in progress.drills]
    return sorted(pairs, key=lambda pair: (not pair[1], pair[1], pair[0]))
