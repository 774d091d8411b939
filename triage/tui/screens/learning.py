"""Learning in the walk: a list of lessons and drills, a lesson step by step, a drill with a line to type."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from triage.errors import TriageError
from triage.language.speaking import is_foreign
from triage.learn.cases import Case
from triage.learn.chrome import entry, say
from triage.learn.drill import Drill
from triage.learn.lesson import Lesson
from triage.learn.show import show_answer, show_beginning, show_step
from triage.learn.values import Values
from triage.tui.drawn import Drawn
from triage.tui.in_thread import in_thread
from triage.tui.learning import Task, case_of, keep_score, language, lessons, read_case, tasks
from triage.tui.sheet import Sheet
from triage.tui.words import STYLES, heading

_BACK: list[BindingType] = [Binding("escape", "dismiss", "Back", key_display="esc")]


class LearnScreen(ModalScreen[None]):
    """Lessons by level, then drills by level; Enter opens one."""

    BINDINGS: ClassVar[list[BindingType]] = [*_BACK, Binding("q,L", "dismiss", "Back", show=False)]

    def compose(self) -> ComposeResult:
        """One list."""
        yield OptionList(id="learning")

    def on_mount(self) -> None:
        """Fill the list."""
        self._fill()

    def _fill(self) -> None:
        """Lessons and drills, each under the name of its level."""
        lang, width = language(foreign=is_foreign()), max(self.app.size.width - 6, 20)
        shown = self.query_one(OptionList)
        at = shown.highlighted
        shown.clear_options()
        level = -1
        for lesson in lessons().values():
            if lesson.level != level:
                level = lesson.level
                shown.add_option(Option(heading(say(f"level {level}", lang), width), disabled=True))
            goal = Content.styled(f"  {lesson.goal.of(lang)}", STYLES["dim"])
            shown.add_option(Option(Content.assemble(lesson.title.of(lang), goal), id=f"lesson:{lesson.id}"))
        for task in tasks():
            if task.level != level:
                level = task.level
                title = f"{say('drills', lang)}: {say(f'level {level}', lang)}"
                shown.add_option(Option(heading(title, width), disabled=True))
            best = f"  {say('best', lang)} {task.best}" if task.best is not None else ""
            name = Content.assemble(say("drill", lang, number=task.number), (best, STYLES["good"]))
            shown.add_option(Option(name, id=f"drill:{task.number}"))
        shown.highlighted = 1 if at is None else at

    @on(OptionList.OptionSelected)
    def open(self, event: OptionList.OptionSelected) -> None:
        """Begin what was chosen."""
        sort, _, name = (event.option_id or "").partition(":")
        if sort == "lesson":
            self.app.push_screen(LessonScreen(lessons()[name]))
        elif sort == "drill":
            task = next(task for task in tasks() if task.number == int(name))
            self.app.push_screen(DrillScreen(task), lambda _done: self._fill())


class CaseScreen(ModalScreen[None]):
    """A screen that reads a recording first.

    :param read: reads it, away from the screen
    """

    BINDINGS: ClassVar[list[BindingType]] = _BACK

    def __init__(self, read: Callable[[], Case]) -> None:
        super().__init__()
        self._read = read
        self.sheet = Sheet()
        self.lang = language(foreign=is_foreign())

    def compose(self) -> ComposeResult:
        """One text that scrolls."""
        with VerticalScroll(id="sheet"):
            yield Drawn(id="page")

    def on_mount(self) -> None:
        """Read the recording."""
        self.sheet.line(say("reading", self.lang), style="dim")
        self.show()
        self.run_worker(self._take(), exit_on_error=False)

    async def _take(self) -> None:
        """Begin once the recording is there."""
        try:
            case = await in_thread(self._read)
        except TriageError as error:
            self.sheet.lines.clear()
            self.sheet.line(error.message, style="yellow")
            self.sheet.line(error.hint)
        else:
            self.sheet.lines.clear()
            self.begin(case)
        self.show()

    def begin(self, case: Case) -> None:
        """Show what comes first."""
        raise NotImplementedError

    def show(self, *, down: bool = False) -> None:
        """Show the sheet as it is now.

        :param down: scroll to its end
        """
        if not self.is_mounted:
            return
        self.query_one("#page", Drawn).show(self.sheet.draw)
        scroll = self.query_one("#sheet", VerticalScroll)
        if down:
            self.call_after_refresh(scroll.scroll_end, animate=False)
        else:
            scroll.scroll_home(animate=False)


class LessonScreen(CaseScreen):
    """One step at a time: Enter shows the answer, then the next step."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right,l,space", "forward", "Next", key_display="⏎", priority=True),
        Binding("left,h,backspace", "backward", "Before", show=False, priority=True),
    ]

    def __init__(self, lesson: Lesson) -> None:
        super().__init__(partial(case_of, lesson))
        self.lesson = lesson
        self.step = 0
        self._answered = False
        self._case: Case | None = None
        self._values: Values | None = None

    def begin(self, case: Case) -> None:
        """The first step."""
        self._case, self._values = case, Values(self.lesson, case)
        self._write()

    def action_forward(self) -> None:
        """The answer, the next step, or out."""
        if self._values is None:
            return
        if self.lesson.steps[self.step].check is not None and not self._answered:
            self._answered = True
            self._write(down=True)
        elif self.step + 1 < len(self.lesson.steps):
            self.step, self._answered = self.step + 1, False
            self._write()
        else:
            self.dismiss()

    def action_backward(self) -> None:
        """The step before."""
        if self._values is not None and self.step:
            self.step, self._answered = self.step - 1, False
            self._write()

    def _write(self, *, down: bool = False) -> None:
        """The step anew."""
        if self._case is None or self._values is None:
            return
        sheet, step = self.sheet, self.lesson.steps[self.step]
        sheet.lines.clear()
        if not self.step:
            show_beginning(sheet, self.lesson, self._case, self.lang)
        show_step(sheet, self.lesson, self.step + 1, self._case, self._values, self.lang)
        if step.check is not None:
            sheet.line()
            sheet.line(entry("check", self.lang, self._values.fill(step.check.question, self.lang)), style="bold")
            if self._answered:
                show_answer(sheet, step, self._values, self.lang)
        last = self.step + 1 == len(self.lesson.steps)
        waits = step.check is not None and not self._answered
        sheet.line()
        sheet.line(say("press" if waits else "leave" if last else "next", self.lang), style="dim")
        self.show(down=down)


class DrillScreen(CaseScreen):
    """What was typed and what came of it, with a line to type at the foot."""

    def __init__(self, task: Task) -> None:
        super().__init__(partial(read_case, task.path))
        self.chosen = task
        self._drill: Drill | None = None

    def compose(self) -> ComposeResult:
        """The text, and the line."""
        yield from super().compose()
        yield Input(id="typed", disabled=True)

    def begin(self, case: Case) -> None:
        """Symptoms and what can be typed."""
        self._drill = Drill(case, self.chosen.truth, self.chosen.number, self.chosen.level, self.sheet, self.lang)
        self._drill.begin()
        typed = self.query_one("#typed", Input)
        typed.suggester = SuggestFromList(self._drill.words(), case_sensitive=False)
        typed.disabled = False
        typed.focus()

    @on(Input.Submitted, "#typed")
    def obey(self, event: Input.Submitted) -> None:
        """Do what was typed; the end of a drill is kept."""
        event.stop()
        drill = self._drill
        if drill is None or not event.value.strip():
            return
        event.input.clear()
        self.sheet.line(f"> {event.value}", style="bold cyan")
        if drill.obey(event.value):
            outcome = drill.finish()
            if outcome.named:
                keep_score(self.chosen, outcome.score)
            self.sheet.line(say("leave", self.lang), style="dim")
            event.input.disabled = True
            self.query_one("#sheet").focus()
        self.show(down=True)
