"""The app: it takes recordings, has them diagnosed away from the screen, and hands each screen what to show."""

import gc
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.worker import Worker, WorkerState

from triage.errors import TriageError
from triage.model.playbook import Playbook
from triage.model.units import clock
from triage.model.vocabulary import catalogue
from triage.render import Format, render
from triage.render.markdown import finding_in_markdown
from triage.render.reading import counted
from triage.render.safe import inert_text
from triage.tui import messages
from triage.tui.in_thread import in_thread
from triage.tui.kept import Kept
from triage.tui.keys import bindings
from triage.tui.places import link, parts_of, read
from triage.tui.remembered import Remembered
from triage.tui.rhythm import Rhythm
from triage.tui.screens.dialogs import GatherScreen, HelpScreen, SaveScreen
from triage.tui.screens.happened import HappenedScreen
from triage.tui.screens.history import HistoryScreen
from triage.tui.screens.layer import LayerScreen
from triage.tui.screens.overview import ChainScreen, MissingScreen, OddScreen, WhyNotScreen
from triage.tui.screens.palette import WalkCommands
from triage.tui.screens.playbook import PlaybookScreen
from triage.tui.screens.question import PieceScreen, QuestionScreen, VitalScreen
from triage.tui.screens.routes import SPARES, screen_at
from triage.tui.screens.search import SearchScreen
from triage.tui.screens.sides import SidesScreen
from triage.tui.screens.sources import Progress, SourcesScreen
from triage.tui.screens.stack import StackScreen
from triage.tui.screens.walk import BREAKPOINTS, WalkScreen
from triage.tui.snapshot import Scene, Snapshot, compared, found_now, news_of
from triage.tui.theme import THEMES
from triage.tui.webdriver import WalkDriver
from triage.tui.widgets.timeline import inside, jumped, stepped

if TYPE_CHECKING:
    from triage.tui.session import Session, State

_MOST_NEWS = 20
_REPORT_WIDTH = 100
_BEFORE_SPARES, _BETWEEN_SPARES = 0.3, 0.05
_OWN_THEMES = {theme.name: theme for theme in THEMES.values()}
_BETWEEN_TIDYING = 5.0
"""Seconds between two looks for garbage in circles: at what is new only, milliseconds, so that none is due within a key."""

_THOROUGH = (240, 12)
"""Each so many looks one goes through all that a start has not made, and one through what was left by the looks before."""

_FORMATS: dict[str, Format] = {".html": "html", ".md": "markdown", ".json": "json", ".txt": "text"}
"""Formats of a report by the ends of file names."""


class WalkApp(App[BaseException]):
    """The walk. What it ends with is the error that ended it, if one did.

    :param session: does what takes time
    :param playbook: gives the playbook of a kind; raises a TriageError if it has none
    :param remembered: what was kept from the walk before
    :param keep: keeps what is to be remembered
    :param theme: ``dark`` or ``light``, whatever is remembered; empty: what is remembered, else dark
    """

    TITLE = "triage"
    CSS_PATH = "triage.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {WalkCommands}
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS[0]
    VERTICAL_BREAKPOINTS = BREAKPOINTS[1]

    def __init__(
        self,
        session: "Session",
        playbook: Callable[[str], Playbook],
        theme: str = "",
        *,
        remembered: Remembered | None = None,
        keep: Callable[[Remembered], None] = lambda _kept: None,
    ) -> None:
        super().__init__()
        for one in THEMES.values():
            self.register_theme(one)
        self._remembered = remembered or Remembered()
        self._keep = keep
        chosen = THEMES[theme].name if theme else self._remembered.theme
        self.theme = chosen if chosen in self.available_themes else THEMES["dark"].name
        self.copies: list[str] = []
        self._session = session
        self._playbook = playbook
        self._state: State | None = None
        self._newest: Snapshot | None = None
        self._snapshot: Snapshot | None = None
        self._framed: Snapshot | None = None
        self._moment: float | None = None
        self._progress: Progress = {}
        self._rhythm = Rhythm(session.pause, session.lasts)
        self._arrived: list[Snapshot] = []
        self._news: list[str] = []
        self._is_thinking = False
        self._wants_thought = False
        self._wanted: dict[type[Message], messages.CurveWanted | messages.SidesWanted] = {}
        self._pin = ""
        self._link = ""
        self._shown_place = ("", "")
        self._is_drawing = False
        self._kept = Kept()
        self._spares = iter(SPARES)
        self._looks = 0

    def get_theme(self, theme_name: str) -> Theme | None:
        """A theme by its name; Textual puts its table of all of them together anew for each line that is drawn."""
        return _OWN_THEMES.get(theme_name) or super().get_theme(theme_name)

    # What goes on away from the screen

    def on_mount(self) -> None:
        """Start to take recordings."""
        self.theme_changed_signal.subscribe(self, lambda theme: self._remember(theme=theme.name))
        self.push_screen(GatherScreen(inert_text(self._session.name)))
        self._work(self._take(), "recordings")
        if self._session.pause or self._session.lasts:
            self.set_interval(1.0, self._show_progress)

    def _work(self, work: Coroutine[None, None, None], group: str) -> None:
        """Start a worker."""
        self.run_worker(work, group=group, exit_on_error=False)

    @on(Worker.StateChanged)
    def end_with_error(self, event: Worker.StateChanged) -> None:
        """A defect ends the walk; the caller says so without showing what was in memory, as Textual would."""
        if event.state is WorkerState.ERROR:
            self._end_with(event.worker.error, return_code=1)

    def _end_with(self, error: BaseException | None, return_code: int = 0) -> None:
        """Leave for a reason, which a browser shows, too."""
        if isinstance(self._driver, WalkDriver):
            self._driver.say_why_it_ended(error.message if isinstance(error, TriageError) else "It has met a defect of its own.")
        self.exit(error, return_code=return_code)

    async def _take(self) -> None:
        """Take one recording, or one after the other while the service is watched."""
        while True:
            self._rhythm.begin()
            try:
                state = await in_thread(partial(self._session.take, self._tell))
            except TriageError as error:
                if self._state is None:
                    self._end_with(error)
                    return
                self._say(error.message, severity="error")
            else:
                self.post_message(messages.Recorded(state))
            if not self._session.live:
                return
            await self._rhythm.rest()

    def _tell(self, source: str, text: str, done: float) -> None:
        """Pass on what a source says; called from its thread."""
        self.post_message(messages.Told(source, text, done))

    def _think(self) -> None:
        """Have what is wanted now diagnosed; while that goes on for something else, afterwards."""
        self._wants_thought = True
        if not self._is_thinking and self._state is not None:
            self._is_thinking = True
            self._work(self._diagnose(), "diagnose")

    async def _diagnose(self) -> None:
        """Snapshot at the newest state, and as of the moment that is wanted, until nothing new is wanted."""
        try:
            while self._wants_thought and self._state is not None:
                self._wants_thought = False
                is_new = self._newest is None or self._newest.number != self._state.number
                for as_of in dict.fromkeys([*([None] if is_new else []), self._moment]):
                    self.post_message(messages.Diagnosed(await in_thread(partial(self._session.snapshot, as_of))))
        finally:
            self._is_thinking = False

    async def _draw(self) -> None:
        """Make what was asked for last: a curve, subjects side by side. Both are handed over together, and drawn once."""
        made: list[Message] = []
        try:
            while self._wanted:
                wanted = self._wanted.pop(next(iter(self._wanted)))
                about = (wanted.snapshot.as_of, wanted.evidence)
                if isinstance(wanted, messages.SidesWanted):
                    sides = await in_thread(partial(self._session.sides, *about))
                    made.append(messages.SidesDrawn(wanted.snapshot, wanted.evidence, sides))
                    continue
                curve = await in_thread(partial(self._session.curve, *about))
                made.append(messages.CurveDrawn(wanted.snapshot, wanted.evidence, curve))
        finally:
            self._is_drawing = False
            for one in made:
                self.post_message(one)

    # What came of it

    @on(messages.Told)
    def show_progress(self, told: messages.Told) -> None:
        """Keep what each source says, for the screens that show it."""
        self._progress[inert_text(told.source)] = (inert_text(told.text), told.done)
        self._show_progress()

    @on(messages.Recorded)
    def judge_recording(self, recorded: messages.Recorded) -> None:
        """A new recording is diagnosed at once."""
        self._state = recorded.state
        self._think()
        self._show_progress()

    @on(messages.Diagnosed)
    def show_snapshot(self, diagnosed: messages.Diagnosed) -> None:
        """Every screen shows the new snapshot, and keeps its place."""
        snapshot = diagnosed.snapshot
        if snapshot.spoken != self.has_class("-words"):
            snapshot = replace(snapshot, spoken=self.has_class("-words"))
        if snapshot.as_of is None and self._rhythm.is_paused and self._newest is not None:
            self._arrived = [*self._arrived, snapshot]
            self._show_progress()
            return
        self._take_in(snapshot)
        self._show()

    def _take_in(self, snapshot: Snapshot) -> None:
        """The snapshot takes the place of the one before it."""
        if snapshot.as_of is None and (self._newest is None or snapshot.number != self._newest.number):
            self._newest = compared(snapshot, self._newest)
            self._add_news(self._newest)
        if snapshot.as_of == self._moment:
            self._snapshot = snapshot if snapshot.as_of is not None else self._newest

    @on(messages.CurveWanted)
    @on(messages.SidesWanted)
    def draw(self, wanted: messages.CurveWanted | messages.SidesWanted) -> None:
        """A chart wants all cells, a list all subjects; what was asked for before and is not begun is not wanted any more."""
        self._wanted[type(wanted)] = wanted
        if not self._is_drawing:
            self._is_drawing = True
            self._work(self._draw(), "draw")

    @on(messages.CurveDrawn)
    def show_curve(self, drawn: messages.CurveDrawn) -> None:
        """Hand all cells to the screens."""
        self._framed = drawn.snapshot
        if self._walk:
            self._walk[-1].refine(drawn)

    @on(messages.SidesDrawn)
    def show_sides(self, drawn: messages.SidesDrawn) -> None:
        """Hand the subjects to the screen."""
        if self._walk and self._walk[-1].is_whole:
            self._walk[-1].show_sides(drawn)

    @on(messages.PinChosen)
    def pin(self, chosen: messages.PinChosen) -> None:
        """All charts show one subject, or the whole again."""
        self._pin = "" if chosen.subject == self._pin else chosen.subject
        self._show()

    @property
    def _walk(self) -> list[WalkScreen]:
        """The screens of the walk, from the top of it down."""
        return [screen for screen in self.screen_stack if isinstance(screen, WalkScreen)]

    @property
    def scene(self) -> Scene | None:
        """What screens show; None before the first snapshot."""
        if self._snapshot is None or self._newest is None:
            return None
        kept = self._remembered
        return Scene(
            self._snapshot,
            self._newest,
            self._moment,
            self._activity(),
            tuple(self._news),
            kept.layout,
            not kept.walked,
            self._pin,
            is_framed=self._framed is self._snapshot,
        )

    def _activity(self) -> str:
        """While the service is watched when it is looked at again, else the source that lags behind most, and how far it is."""
        if not self._session.live:
            return ""
        if self._rhythm.is_paused:
            return f"paused ({counted(len(self._arrived), 'look')} since)" if self._arrived else "paused"
        busy = [(done, name) for name, (_, done) in self._progress.items() if done < 1.0]
        return self._rhythm.told() or (f"{min(busy)[1]} {min(busy)[0]:.0%}" if busy else "")

    def _show(self) -> None:
        """Hand the scene to the screen on top, or begin the walk with it. Those below get theirs when they are on top again."""
        scene = self.scene
        if scene is None:
            return
        if not self._walk:
            self.switch_screen(StackScreen(scene))
            self.set_timer(_BEFORE_SPARES, self._make_spare)
        elif self._walk[-1].is_whole:
            self._walk[-1].show(scene)

    def _show_progress(self) -> None:
        """Show how far the sources are, where that is shown."""
        if isinstance(self.screen, GatherScreen):
            self.screen.show(self._progress, thinking=self._state is not None)
        elif self.scene is not None and self._walk and self._walk[-1].is_whole:
            self._walk[-1].show_activity(self.scene)

    def _add_news(self, snapshot: Snapshot) -> None:
        """Note what became different while watching; what was found now is said at once, too."""
        self._news = [*news_of(snapshot), *self._news][:_MOST_NEWS]
        fresh = found_now(snapshot)
        if fresh:
            self._say("\n".join(fresh[:3]), title="found now", severity="warning")

    def _say(self, words: str, severity: SeverityLevel = "information", title: str = "") -> None:
        """Show a note. What errors and names hold is only text."""
        told = "\n".join(inert_text(line) for line in words.splitlines())
        self.notify(told, severity=severity, title=title, markup=False)

    # Where to go

    @on(messages.LayerChosen)
    def go_to_layer(self, chosen: messages.LayerChosen) -> None:
        """Down into a layer."""
        self._push(lambda scene: LayerScreen(scene, chosen.layer))

    @on(messages.VitalChosen)
    def go_to_vital(self, chosen: messages.VitalChosen) -> None:
        """Down to what users notice."""
        self._push(lambda scene: VitalScreen(scene, chosen.name))

    @on(messages.QuestionChosen)
    def go_to_question(self, chosen: messages.QuestionChosen) -> None:
        """Down to one question, or from one to another."""
        self._push(lambda scene: QuestionScreen(scene, chosen.rule))

    @on(messages.PieceChosen)
    def go_to_piece(self, chosen: messages.PieceChosen) -> None:
        """Down to one piece of evidence."""
        self._push(lambda scene: PieceScreen(scene, chosen.owner, chosen.where))

    @on(messages.PlaceChosen)
    def go_to_place(self, chosen: messages.PlaceChosen) -> None:
        """To a place by its address: back to its screen if that is open, else there from the top of the walk."""
        scene = self.scene
        if scene is None or not self._walk:
            return
        if not isinstance(self.screen, WalkScreen):
            self.pop_screen()
        keep = next((place for place, screen in enumerate(self._walk) if screen.address == chosen.address), None)
        screen = self._screen_at(chosen.address, scene) if keep is None else None
        if keep is None and screen is None:
            self._say(f"The walk has no place {chosen.address!r}.", severity="warning")
            return
        while len(self._walk) > (keep or 0) + 1:
            self._leave()
        if screen is not None:
            self._remember(walked=True)
            self._open(screen)
        else:
            self.call_later(self._show)

    @on(messages.LinkFollowed)
    def follow(self, followed: messages.LinkFollowed) -> None:
        """To a place at a moment; before the first snapshot this waits for it."""
        if self._newest is None or not self._walk:
            self._link = followed.link
            return
        self._link = ""
        self._shown_place = ("", "")
        address, moment = read(followed.link)
        self._go_to(None if moment is None else inside(self._newest, moment))
        self.go_to_place(messages.PlaceChosen(address))

    @on(messages.Arrived)
    def tell_browser(self, arrived: messages.Arrived) -> None:
        """A browser shows where the walk is, unless it is on its way to where the browser wants to be."""
        if self._link:
            self.follow(messages.LinkFollowed(self._link))
        elif isinstance(self._driver, WalkDriver) and self._newest is not None:
            service = self._newest.diagnosis.service
            place = (link(arrived.address, self._moment), f"{arrived.name} · {service}" if arrived.address else service)
            if place != self._shown_place:
                self._shown_place = place
                self._driver.show_place(*place)

    def _screen_at(self, address: str, scene: Scene) -> WalkScreen | None:
        """The screen of an address; None if there is no such place."""
        match parts_of(address):
            case ("playbook", rule):
                return self._playbook_screen(rule, scene)
            case ("sources",):
                return SourcesScreen(scene, self._progress)
            case parts:
                return screen_at(parts, scene)

    def _push(self, make: Callable[[Scene], WalkScreen]) -> None:
        """Go to a screen; one of the same kind that is open already takes its place."""
        scene = self.scene
        if scene is None or not isinstance(self.screen, WalkScreen):
            return
        self._remember(walked=True)
        self._open(make(scene))

    def _open(self, screen: WalkScreen) -> None:
        """Show a place: on the screen on top if that is of its kind, else on one that was kept, else on its own."""
        here = self.screen
        if isinstance(here, WalkScreen) and type(here) is type(screen) and here.is_whole:
            here.turn_to(screen)
            return
        kept = self._kept.take(screen)
        if kept is not None:
            kept.turn_to(screen)
        else:
            self._keep_mounted(screen)
        self.push_screen(kept or screen)

    def _leave(self) -> None:
        """Back from the screen on top, which is kept."""
        left = self.screen
        self.pop_screen()
        if isinstance(left, WalkScreen):
            self._kept.give(left)

    def _keep_mounted(self, screen: WalkScreen) -> None:
        """Have Textual leave a screen mounted when the walk leaves it."""
        self._kept.know(screen)
        self.install_screen(screen, f"walk-{id(screen)}")

    def _tidy(self) -> None:
        """Look for garbage in circles."""
        self._looks += 1
        gc.collect(next((2 - place for place, each in enumerate(_THOROUGH) if self._looks % each == 0), 0))

    def _make_spare(self) -> None:
        """Mount a screen that the walk may lead to, one after the other while nobody waits: a key then need not."""
        scene = self.scene
        kind = next(self._spares, None)
        if kind is None or scene is None:
            gc.freeze()  # what a start has made stays, and is not to be looked through for garbage while somebody waits
            self.set_interval(_BETWEEN_TIDYING, self._tidy)
            return
        screen = kind(scene)
        if not self._kept.has(screen):
            screen.is_spare = True
            self._get_screen(screen)  # mounts it, and does not show it
            screen.call_after_refresh(screen.get_ready)
            self._keep_mounted(screen)
            self._kept.give(screen)
        self.set_timer(_BETWEEN_SPARES, self._make_spare)

    def action_up(self) -> None:
        """Back to where this screen was opened, or first to all rows of its list; the top of the walk stays."""
        if isinstance(self.screen, WalkScreen) and self.screen.widen():
            return
        if len(self._walk) > 1 and isinstance(self.screen, WalkScreen):
            self._leave()
            self.call_later(self._show)

    def _say_nothing(self, words: str) -> None:
        """That there is nothing to go to; before the first diagnosis nobody knows."""
        self._say(words if self._snapshot is not None else "The first diagnosis is still on its way.")

    def action_next_finding(self, direction: int) -> None:
        """To the next finding in order of rank, from the one on the screen."""
        findings = [finding.rule for finding in self._snapshot.diagnosis.findings] if self._snapshot is not None else []
        if not findings:
            self._say_nothing("Nothing was found.")
            return
        here = self.screen.kind if isinstance(self.screen, QuestionScreen) else ""
        place = findings.index(here) + direction if here in findings else (0 if direction > 0 else -1)
        self.post_message(messages.QuestionChosen(findings[place % len(findings)]))

    def action_why_not(self) -> None:
        """What was ruled out."""
        self._push(WhyNotScreen)

    def action_missing(self) -> None:
        """What could not be judged."""
        self._push(MissingScreen)

    def action_odd(self) -> None:
        """What nothing explains and nothing understands."""
        self._push(OddScreen)

    def action_chain(self) -> None:
        """What follows from what."""
        self._push(ChainScreen)

    def action_sources(self) -> None:
        """Where the data comes from."""
        self._push(lambda scene: SourcesScreen(scene, self._progress))

    def action_events(self) -> None:
        """What happened, in order of time."""
        self._push(HappenedScreen)

    def action_beside(self) -> None:
        """The highlighted signal over all subjects."""
        evidence = self.screen.detail().evidence if isinstance(self.screen, WalkScreen) else None
        if evidence is None or evidence.signal not in catalogue():
            self._say("No signal is highlighted; highlight one, or find it with /.")
            return
        self._push(lambda scene: SidesScreen(scene, evidence.signal, evidence))

    def action_search(self) -> None:
        """Search."""
        self._push(SearchScreen)

    def action_playbook(self) -> None:
        """What to do about what is on the screen, else about the first finding."""
        first = self._snapshot.first_finding if self._snapshot is not None else None
        here = self.screen.rule() if isinstance(self.screen, WalkScreen) else ""
        rule = here or (first.rule if first is not None else "")
        if not rule:
            self._say_nothing("Nothing was found; highlight a kind to see its playbook.")
            return
        screen = self._playbook_screen(rule, self.scene) if self.scene is not None else None
        if screen is not None:
            self._push(lambda _scene: screen)

    def _playbook_screen(self, rule: str, scene: Scene) -> PlaybookScreen | None:
        """The playbook of a kind; None, and a note, if there is none."""
        try:
            return PlaybookScreen(scene, self._playbook(rule))
        except TriageError as error:
            self._say(error.message, severity="warning")
            return None

    def action_learn(self) -> None:
        """Lessons and drills."""
        if not isinstance(self.screen, ModalScreen):
            from triage.tui.screens.learning import LearnScreen

            self.push_screen(LearnScreen())

    def action_help(self) -> None:
        """Keys and signs."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    # What the screen looks like

    def action_open(self) -> None:
        """Where Enter leads; for the foot of the screen, and for panes that are no list."""
        if isinstance(self.screen, WalkScreen):
            self.screen.open_chosen()

    def action_filter(self) -> None:
        """Narrow the list."""
        if isinstance(self.screen, WalkScreen):
            self.screen.narrow()

    def action_zoom(self) -> None:
        """One pane on the whole screen, or all of them."""
        if isinstance(self.screen, WalkScreen):
            self.screen.zoom()

    def action_split(self, steps: int) -> None:
        """More or less room for the list, on all screens."""
        if isinstance(self.screen, WalkScreen):
            self._remember(layout=self._remembered.layout.moved(steps, wide=self.screen.has_class("-wide")))
            self.screen.lay_out(self._remembered.layout)

    def action_theme(self) -> None:
        """Dark or light."""
        self.theme = THEMES["light" if self.current_theme.dark else "dark"].name

    def _remember(self, **what: object) -> None:
        """Keep something for this walk and the next."""
        changed = self._remembered.model_copy(update=what)
        if changed != self._remembered:
            self._remembered = changed
            self._keep(changed)

    # Looks

    def action_pause(self) -> None:
        """The screens stand still while looks go on, or follow again."""
        if self._session.live:
            self._rhythm.is_paused = not self._rhythm.is_paused
            self._catch_up()

    def action_look_now(self) -> None:
        """Look now; screens that stand still show what has come meanwhile, and go on standing still."""
        if self._session.live:
            self._rhythm.now()
            self._work(in_thread(self._session.look_now), "hurry")
            self._catch_up()

    def _catch_up(self) -> None:
        """Show what has come while the screens stood still."""
        arrived, self._arrived = self._arrived, []
        for snapshot in arrived:
            self._take_in(snapshot)
        self._show()

    def action_history(self) -> None:
        """What became different while the service was watched."""
        if self._session.live:
            self._push(HistoryScreen)
        else:
            self._say("A recording is one look: it has no history. A service that is watched has one.")

    # Time

    def action_step(self, steps: int) -> None:
        """Step through time."""
        if self._newest is not None:
            self._go_to(stepped(self._newest, self._moment, steps))

    def action_jump(self, direction: int) -> None:
        """Jump to the next moment worth a look."""
        if self._newest is not None:
            self._go_to(jumped(self._newest, self._moment, direction))

    def action_now(self) -> None:
        """To the end."""
        self._go_to(None)

    @on(messages.MomentChosen)
    def go_to_moment(self, chosen: messages.MomentChosen) -> None:
        """Look at a moment that was pointed at."""
        self._go_to(chosen.moment)

    def _go_to(self, moment: float | None) -> None:
        """Snapshot at another moment; what is shown stays until that is diagnosed."""
        if moment == self._moment:
            return
        self._moment = moment
        if moment is None:
            self._snapshot = self._newest
        else:
            self._think()
        self._show()

    # To take along

    def action_copy(self) -> None:
        """Copy the line that checks what is highlighted by hand."""
        copies = self.screen.detail().copies if isinstance(self.screen, WalkScreen) else ()
        if not copies:
            self._say("There is no command for this.")
            return
        self.copy_to_clipboard(copies[0])
        self.copies = [*(line for line in self.copies if line != copies[0]), copies[0]]
        self._say(f"{copies[0][:300]}\n\nCopied. It is printed again when you quit.", title="by hand")

    def action_copy_finding(self) -> None:
        """Copy the finding on the screen, else the first one, as Markdown."""
        snapshot = self._snapshot
        if snapshot is None or snapshot.first_finding is None:
            self._say_nothing("Nothing was found that could be copied.")
            return
        found = {finding.rule for finding in snapshot.diagnosis.findings}
        here = self.screen.rule() if isinstance(self.screen, WalkScreen) else ""
        rule = here if here in found else snapshot.first_finding.rule
        told = finding_in_markdown(rule, snapshot.diagnosis)
        self.copy_to_clipboard(told)
        self.copies = [*(copy for copy in self.copies if copy != told), told]
        self._say(f"{rule} as Markdown.\n\nCopied. It is printed again when you quit.", title="finding")

    def action_export(self) -> None:
        """Write the report as of the moment that is looked at: in a browser it is downloaded, else a name is asked for."""
        if self._snapshot is None:
            return
        name = f"{_file_name(self._snapshot.diagnosis.service, self._snapshot.near)}.html"
        if self.is_web:
            self._work(self._deliver_report(self._snapshot, name), "export")
        else:
            asked = "Export the report as .html, .md, .json or .txt"
            self.push_screen(SaveScreen(name, asked), partial(self._export_as, self._snapshot))

    def _export_as(self, snapshot: Snapshot, path: str | None) -> None:
        """Export under a name, if one was given."""
        if path:
            self._work(self._export(snapshot, Path(path).expanduser()), "export")

    async def _export(self, snapshot: Snapshot, path: Path) -> None:
        """Write the report in the format that the name asks for; a file that is there is left alone."""
        wanted = _FORMATS.get(path.suffix.lower())
        if wanted is None:
            self._say(f"{path.name} ends with none of {', '.join(_FORMATS)}", severity="error")
            return
        try:
            told = await in_thread(partial(render, snapshot.diagnosis, wanted, width=_REPORT_WIDTH, verbose=True))
            with path.open("x", encoding="utf-8") as file:
                file.write(told)
        except FileExistsError:
            self._say(f"{path} exists; choose another name", severity="error")
        except OSError as error:
            self._say(f"{path} cannot be written: {error.strerror or error}", severity="error")
        else:
            self._say(f"The report is in {path.absolute()}.")

    async def _deliver_report(self, snapshot: Snapshot, name: str) -> None:
        """Hand the report to the browser."""
        told = await in_thread(partial(render, snapshot.diagnosis, "html"))
        self.deliver_binary(BytesIO(told.encode("utf-8")), save_filename=name)

    def action_words(self) -> None:
        """Words instead of signs and curves, or signs and curves again."""
        self.toggle_class("-words")
        spoken = self.has_class("-words")
        self._newest = replace(self._newest, spoken=spoken) if self._newest is not None else None
        self._snapshot = replace(self._snapshot, spoken=spoken) if self._snapshot is not None else None
        self._show()

    def action_save(self) -> None:
        """Save the recording: in a browser it is downloaded, else a name is asked for."""
        if self._state is None:
            return
        name = f"{_file_name(self._state.service, self._state.end)}.parquet"
        if self.is_web:
            self._work(self._download(name), "save")
        else:
            self.push_screen(SaveScreen(name, "Save the recording as"), self._save_as)

    def _save_as(self, path: str | None) -> None:
        """Save under a name, if one was given."""
        if path:
            self._work(self._save(Path(path).expanduser()), "save")

    async def _save(self, path: Path) -> None:
        """Write the recording."""
        if path.exists():
            self._say(f"{path} exists; choose another name", severity="error")
            return
        try:
            await in_thread(partial(self._session.save, path))
        except (TriageError, OSError) as error:
            self._say(str(error), severity="error")
            return
        self._say(f"Saved as {path}; triage replay {path} diagnoses it again.")

    async def _download(self, name: str) -> None:
        """Hand the recording to the browser."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "recording.parquet"
            await in_thread(partial(self._session.save, path))
            data = path.read_bytes()
        self.deliver_binary(BytesIO(data), save_filename=name)


def _file_name(service: str, end: float) -> str:
    """What a file about a service at a moment is called, without the end of the name."""
    plain = "".join(char if char.isalnum() or char in "-_." else "-" for char in service).lstrip(".")
    return f"{plain or 'recording'}-{clock(end).replace(' ', 'T').replace(':', '')}"
