"""Shows the map and the lessons."""

from collections.abc import Iterable, Mapping, Sequence

from triage.learn.cases import Case
from triage.learn.chrome import Lang, say
from triage.learn.glossary import Term
from triage.learn.lesson import Lesson, Step
from triage.learn.progress import Progress
from triage.learn.screen import Screen
from triage.learn.steps import show_look
from triage.model.vocabulary import Layer, catalogue


def show_map(screen: Screen, terms: Iterable[Term], lang: Lang) -> None:
    """Words under the headings of their layers."""
    by_layer: dict[Layer, list[Term]] = {}
    for term in terms:
        by_layer.setdefault(term.layer, []).append(term)
    for layer, words in by_layer.items():
        screen.heading(say(layer.value, lang).upper())
        for term in words:
            _show_term(screen, term, lang)


def _show_term(screen: Screen, term: Term, lang: Lang) -> None:
    """One word: meaning, way of measuring, signals with their units."""
    other = "" if lang == "en" or term.term.en == term.term.zh else f" ({term.term.en})"
    screen.line(f"{term.term.of(lang)}{other}", style="bold cyan", indent=2)
    screen.line(term.means.of(lang), indent=4)
    screen.line(f"{say('measured', lang)}: {term.measured.of(lang)}", indent=4)
    if term.signals:
        names = [f"{name} [{unit}]" if (unit := catalogue()[name].unit) else name for name in term.signals]
        screen.line(f"{say('signals', lang)}: {', '.join(names)}", style="dim", indent=4)


def show_list(screen: Screen, lessons: Iterable[Lesson]) -> None:
    """Ids and titles of lessons."""
    for lesson in lessons:
        screen.line(f"{lesson.id}: {lesson.title}", style="bold")
        screen.line(lesson.goal, indent=4)


def show_lesson(screen: Screen, lesson: Lesson, case: Case, lang: Lang) -> None:
    """A lesson from its first step to its last."""
    screen.line(lesson.title, style="bold")
    screen.line(f"{say('goal', lang)}: {lesson.goal}")
    screen.line(f"{say('recording', lang)}: {case.path}", style="dim")
    for number, step in enumerate(lesson.steps, start=1):
        screen.heading(say("step", lang, number=number, total=len(lesson.steps)))
        _show_step(screen, case, step, lang)
        if step.check is None and number < len(lesson.steps):
            screen.wait(say("next", lang))
    screen.line()
    screen.line(say("done", lang))


def _show_step(screen: Screen, case: Case, step: Step, lang: Lang) -> None:
    """One step: text, what the recording says, the question and its answer."""
    screen.line(step.text)
    for look in step.look:
        show_look(screen, case, look, lang)
    if step.check is not None:
        screen.line(f"{say('check', lang)}: {step.check.question}", style="bold")
        screen.wait(say("press", lang))
        screen.line(f"{say('answer', lang)}: {step.check.answer}", style="green")


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
