"""What an engine's log tells of its lives: how each began and ended, with the facts that it stated."""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from triage.classes import dataclass
from triage.ingest.logs.engine_facts import arguments_of, begins, engine_of, facts_in, opens_cards, states_arguments, typed
from triage.ingest.logs.forms import record_of
from triage.ingest.logs.joining import Raised, Trace
from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.signatures import Match, slow_weights
from triage.model.recording import Event, Fact, Subject, Window
from triage.patterns import Pattern

FRESH = 5.0
"""Two start lines within this many seconds belong to one start."""

ONE_FAILURE = 30.0
"""Lines within this many seconds tell of one failure, and its cause may be printed after its consequences."""

BEFORE_THE_END = 180.0
"""An error this long, in seconds, before an engine's last words is taken for its end; an older one it survived."""

_WEIGHTS_BEGIN = Pattern(rb"(?i)\bload weights? begin\b")
_WEIGHTS_END = Pattern(
    rb"(?i)\bload weights? end\b"
    rb"|\b(?:model|weights?|checkpoints?|tensors?)(?: (?:is|are|was|were|has|have|been|fully|all))*[ :]+loaded\b"
    rb"|\b(?:finished|done) loading (?:the )?(?:model|weights?|tensors?)\b"
)
"""An engine says that all weights are there; it reads them since the first line that it loads anything (``_LOADING``)."""


@dataclass
class Life:
    """One run of the engine's process.

    :param began: Unix time of its first line; None if the log begins in the middle of it
    :param ready: when it began to take requests, if it did
    :param error: the first error that could have ended it
    :param said: time of its latest line
    :param stopping: when it was asked to stop
    :param killed: a signal from outside ended it
    :param dead: its own words say that it ends
    :param followed: when the next life began
    :param raised: its first exception that says more than that something else went wrong
    :param raised_at: time of its latest exception, which may be another one
    :param failed: its words that it cannot start
    :param after: lines since the latest of these
    :param complained: before it was ready, its latest line of the level of an error
    :param since_complaint: lines since then
    :param of_a_start: what was raised or said is what goes wrong in a start
    :param opened: it has opened its cards
    :param loads: since when it reads its weights
    :param loaded: when it had read them
    :param told: it says itself how long that took
    :param assumed: the log begins with its error: it is taken for running unless it says that it could not start
    """

    began: float | None
    ready: float | None = None
    error: Match | None = None
    error_at: float = 0.0
    error_text: str = ""
    said: float = 0.0
    stopping: float | None = None
    killed: bool = False
    dead: bool = False
    followed: float | None = None
    raised: Trace | None = None
    raised_at: float = 0.0
    failed: Trace | None = None
    after: int = 0
    complained: Trace | None = None
    since_complaint: int = 0
    assumed: bool = False
    of_a_start: bool = False
    opened: bool = False
    loads: float | None = None
    loaded: float | None = None
    told: bool = False
    arguments: dict[str, str] = field(default_factory=dict)

    @property
    def end(self) -> float | None:
        """When it told its end: that it was asked to stop, cannot start, or goes down with an error; None if it did not."""
        told = [self.stopping, self.failed.time if self.failed is not None else None, self.error_at if self.dead else None]
        return max((time for time in told if time is not None), default=None)


class EngineLog:
    """Follows one engine's log.

    :param subject: its replica
    :param source: name of the file
    """

    def __init__(self, subject: Subject, window: Window, source: str) -> None:
        self._subject = subject
        self._window = window
        self._source = source
        self._facts: dict[str, str | float] = {}
        self._life: Life | None = None
        self._events: list[Event] = []
        self._previous: dict[str, str] | None = None
        self._serving = False
        self._unowned: Trace | None = None

    @property
    def ending(self) -> str:
        """What the engine said at last: ``shutdown``, ``error``, or ``nothing`` that tells of an end."""
        life = self._life
        if life is None:
            return "nothing"
        if life.stopping is not None:
            return "shutdown"
        return "error" if life.dead else "nothing"

    @property
    def phase(self) -> str:
        """``starting`` or ``running``; empty while nothing was seen that tells."""
        if self._life is not None:
            return "running" if self._life.ready is not None else "starting"
        return "running" if self._serving else ""

    def served(self, time: float) -> None:
        """The engine did some work: it is up, and whatever went wrong before did not end it."""
        self._serving = True
        if self._life is not None:
            if self._life.ready is None:
                self._life.ready = time
            self._life.said = time

    def feed(self, line: bytes, time: float) -> None:
        """Takes a line for facts and starts; lines from before the baseline count, too."""
        if time > self._window.end:
            return
        if begins(line) or (self._may_load(time) and _LOADING.search(line) is not None):
            self._start(time)
        elif opens_cards(line):
            self._open_cards(time)
        elif self._life is not None:
            self._life.said = max(self._life.said, time)
        if self.phase != "running":
            self._read_facts(line, time)

    def _may_load(self, time: float) -> bool:
        """Whether a model that is loaded now is that of a new life: none is known yet, or the last one ended a while ago."""
        if self._life is None:
            return not self._serving
        end = self._life.end
        return end is not None and time - end > ONE_FAILURE

    def _open_cards(self, time: float) -> None:
        """A process opens its cards once, as it starts; one that serves may load another model in a child of its own."""
        life = self._life
        if life is None or life.opened or life.ready is not None or life.end is not None:
            self._start(time, sure=life is not None and (life.ready is None or life.end is not None))
        if self._life is not None:
            self._life.opened = True

    def _read_facts(self, line: bytes, time: float) -> None:
        engine = engine_of(line)
        if engine is not None:
            self._facts.setdefault("engine", engine)
        if states_arguments(line):
            self._read_arguments(line)
        self._facts.update(facts_in(line))
        life = self._life
        if life is None:
            return
        if life.loads is None and (_WEIGHTS_BEGIN.search(line) or _LOADING.search(line)) is not None:
            life.loads = time
        elif life.loads is not None and _WEIGHTS_END.search(line) is not None:
            life.loaded = time
            self._facts["weights_load_seconds"] = time - life.loads

    def _read_arguments(self, line: bytes) -> None:
        arguments = arguments_of(line)
        for key, value in arguments.items():
            self._facts[key] = typed(value, number=True)
        if self._life is not None:
            self._life.arguments.update(arguments)

    def _start(self, time: float, *, sure: bool = True) -> None:
        """A new life begins, unless the last one has only just.

        :param sure: the last one is over
        """
        if self._life is not None and self._life.ready is None and time - (self._life.began or 0.0) < FRESH:
            return
        self._close(restarted_at=time if sure else None)
        self._life = Life(time, said=time)
        self._facts = {key: value for key, value in self._facts.items() if key == "engine"}

    def saw(self, match: Match, time: float, line: bytes) -> None:
        """Takes a signature that a line of this engine has."""
        name = match.signature.id
        if name == "engine-ready" and self._life is not None and self._life.ready is None:
            self._life.ready = time
            if self._life.began is not None:
                self._facts["startup_seconds"] = time - self._life.began
            self._say_loading(self._life)
        elif name in ("weights-loaded", "weights-slow") and self._life is not None:
            self._life.told = True
        elif name == "lora-swapped":
            self.served(time)  # a slot changes hands only while there are requests
        elif name == "engine-shutdown":
            self._stop(time)
        elif name == "process-ended-from-outside" and self._life is not None:
            self._life.killed = True
        elif match.signature.role != "info" and match.signature.severity == "critical":
            self._err(match, time, line)

    def read_failure(self, line: bytes, time: float) -> None:
        """Takes a line outside of tracebacks that may name an exception or a failed start."""
        if time > self._window.end:
            return
        if self._life is not None:
            self._life.after += 1
            self._life.since_complaint += 1
        found = _EXCEPTION_LINE.search(line)
        if found is not None:
            if self._goes_on(time):
                return
            level = record_of(line).level
            self.raised(Trace(time, level, [line], [Raised(found.group(1), found.group(2).strip())]))
        elif (self.phase != "running" or self._is_assumed) and _fails_to_start(line):
            record = record_of(line)
            if record.level in _LETHAL:
                self._fail(self._unready(time), Trace(time, record.level, [line], [Raised(b"", record.message.strip())]))
        elif self.phase == "starting":
            self._hear_complaint(line, time)

    def _hear_complaint(self, line: bytes, time: float) -> None:
        """Keeps an error that a starting engine tells in words of its own: if they are its last ones, it did not start."""
        record = record_of(line)
        if self._life is not None and record.level in _BAD:
            self._life.complained = Trace(time, record.level, [line], [Raised(b"", record.message.strip())])
            self._life.since_complaint = 0

    @staticmethod
    def _fail(life: Life, words: Trace) -> None:
        """Keeps the first words of a failure: those after it say less."""
        if life.failed is None or words.time - life.failed.time > BEFORE_THE_END:
            life.failed = words
        life.after, life.of_a_start = 0, True

    def raised(self, trace: Trace) -> None:
        """Takes a traceback, or a line that names an exception."""
        cause = trace.cause
        if cause is None or trace.level not in _LETHAL or trace.time > self._window.end:
            return
        if trace.is_interruption:
            self._interrupted(trace.time)
            return
        starting = _is_of_a_start(cause, trace)
        if self._life is None and (self._serving or not starting):
            self._unowned = trace
            return
        life = self._unready(trace.time)
        life.of_a_start = life.of_a_start or starting
        before = life.raised
        known = before.cause if before is not None else None
        late = trace.time - life.raised_at > BEFORE_THE_END
        if before is None or known is None or late or (known.is_wrapper and trace.time - before.time <= ONE_FAILURE):
            life.raised = trace
        life.after, life.raised_at = 0, trace.time

    def _interrupted(self, time: float) -> None:
        """A signal ended it: a start is cut short, and what served was asked to stop."""
        if self._life is None:
            return
        if self._life.ready is None:
            self._life.killed = True
        else:
            self._stop(time)

    def _goes_on(self, time: float) -> bool:
        """Whether an exception is known already, which this one follows: the first one tells most."""
        life = self._life
        known = life.raised.cause if life is not None and life.raised is not None else None
        if life is None or known is None or known.is_wrapper or time - life.raised_at > BEFORE_THE_END:
            return False
        life.after, life.raised_at = 0, time
        return True

    @property
    def _is_assumed(self) -> bool:
        return self._life is not None and self._life.assumed and not self._serving

    def _unready(self, time: float) -> Life:
        """The life that goes on; one whose begin the log does not show, if there is none."""
        if self._life is None:
            self._life = Life(None, said=time)
        return self._life

    def _stop(self, time: float) -> None:
        if self._life is None:
            self._life = Life(None, ready=time, said=time)
        failure = self._life.raised or self._life.failed
        if failure is not None and time - failure.time <= ONE_FAILURE and self._life.after <= _LAST_LINES:
            self._life.dead = True  # it stops because of what went wrong, and nobody asked it to
        elif self._life.stopping is None:
            self._life.stopping = time

    def _err(self, match: Match, time: float, line: bytes) -> None:
        life = self._life
        if life is None:
            life = self._life = Life(None, ready=time, said=time, assumed=not self._serving)
            if self._unowned is not None and abs(time - self._unowned.time) <= ONE_FAILURE:
                life.raised, life.raised_at = self._unowned, self._unowned.time
        if life.stopping is not None:
            return
        first = life.error is None or time - life.error_at > BEFORE_THE_END
        better = life.error is not None and _says_more(match, life.error)
        if first or (better and time - life.error_at <= ONE_FAILURE):
            life.error, life.error_at, life.error_text = match, time, redacted_bytes(line)
        life.dead = life.dead or match.signature.id in _DEATHS

    def _close(self, restarted_at: float | None = None) -> None:
        """The life ends (or the log does); says how, if it did not end as it should."""
        life = self._life
        if life is None:
            return
        restarted = restarted_at is not None
        life.followed = restarted_at
        self._previous = self._say_arguments(life)
        erred = life.error is not None and life.said - life.error_at < BEFORE_THE_END
        if restarted and _ends_in_a_complaint(life):
            life.failed, life.after = life.complained, life.since_complaint
        last_words = life.after <= _LAST_LINES and (life.raised is not None or life.failed is not None)
        if life.of_a_start and self._is_assumed:
            life.ready = None
        ended = restarted or life.dead or (last_words and life.ready is None)
        if life.stopping is None and ended and (erred or last_words):
            self._say_failure("engine-crashed" if life.ready is not None else "start-failed", life)
        elif life.ready is None and (restarted or life.killed):
            self._say("start-cut-short", life.said, life, None)
        elif life.ready is None and life.stopping is None:
            self._say("start-unfinished", life.said, life, None)
        elif restarted and life.stopping is None:
            self._say("ended-without-a-word", life.said, life, None)

    def _say_failure(self, name: str, life: Life) -> None:
        """An end with an error: the signature that was first, and the exception."""
        trace = life.raised or life.failed
        time = life.error_at if life.error is not None else trace.time if trace is not None else life.said
        cause = trace.cause if trace is not None else None
        more = {} if cause is None else {
            "exception": redacted_bytes(cause.name, 120), "message": redacted_bytes(cause.message, 300),
        }  # fmt: skip
        told = {key: value for key, value in more.items() if value}
        self._say(name, time, life, life.error, told)
        if cause is None or cause.is_wrapper or _is_known(life, cause):
            return
        if life.ready is None:
            self._say("start-exception", time, life, None, told)
        elif _WAIT.search(cause.name) is None:
            self._say("engine-exception", time, life, None, told)

    def _say(
        self, name: str, time: float, life: Life, error: Match | None, more: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        role, kinds, text = _ENDS[name]
        attrs = {
            "role": role,
            "kinds": kinds,
            "meaning": error.signature.meaning if error is not None else text.partition(" that no ")[0],
        }
        if life.began is not None:
            attrs["seconds"] = f"{time - life.began:.0f}"
            if life.followed is not None:
                attrs["next_start_after"] = f"{life.followed - life.began:.0f}"
        if error is not None:
            attrs |= {"first": error.signature.id, "first_role": error.signature.role, "kinds": " ".join(error.signature.kinds)}
        if more and (error is None or not _is_wrapper(life)):
            text = ": ".join(more.values())
        elif error is not None:
            text = life.error_text
        attrs |= more
        self._add(Event(time, "log", name, self._subject, attrs, text, self._source))

    def _say_loading(self, life: Life) -> None:
        """An event of slow weights, where two lines tell what other engines tell in one."""
        if life.told or life.loads is None or life.loaded is None:
            return
        size = self._facts.get("weights_gib")
        groups = {"seconds": f"{life.loaded - life.loads:g}"} | ({} if size is None else {"gib": f"{size}"})
        if slow_weights(groups):
            text = f"weights were read for {groups['seconds']} s" + (f", {size} GiB" if size is not None else "")
            self._add(Event(life.loads, "log", "weights-slow", self._subject, groups | _SLOW_WEIGHTS, text, self._source))

    def _say_arguments(self, life: Life) -> dict[str, str] | None:
        """An event with the arguments of a start, and what differs from the start before."""
        if not life.arguments or life.began is None:
            return self._previous
        before, now = self._previous, life.arguments
        changed = [
            f"{key} {before.get(key, 'default')} -> {now.get(key, 'default')}"
            for key in sorted({*before, *now})
            if before.get(key) != now.get(key)
        ] if before is not None else []  # fmt: skip
        attrs = dict(sorted(now.items())) | ({"changed": ", ".join(changed)} if changed else {})
        text = ", ".join(f"{key}={value}" for key, value in sorted(now.items()))
        self._add(Event(life.began, "engine-args", now.get("model_path", ""), self._subject, attrs, text, self._source))
        return now

    def _add(self, event: Event) -> None:
        if self._window.baseline_start <= event.time <= self._window.end and len(self._events) < 500:
            self._events.append(event)

    def finish(self) -> tuple[list[Event], list[Fact]]:
        """The events of all lives and the facts of the last one."""
        self._close()
        self._life = None
        facts = [Fact(self._subject, key, value, f"log {self._source}") for key, value in sorted(self._facts.items())]
        return self._events, facts


_LAST_LINES = 10
"""Lines after an exception that still belong to the end: farewells of other processes, and what the shell says."""

_LETHAL = frozenset({"", "error", "critical"})
"""Levels at which an exception may end a process; one that is logged as a warning was caught."""

_BAD = frozenset({"error", "critical"})

_EXCEPTION_LINE = Pattern(
    rb"(?:^|[\]:] |\s)((?:(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Failure))|[Aa]ssertion failed): (\S.*)$"
)
_FAILED_START = Pattern(
    rb"(?i)\bfail(?:ed|ure|s)?\b.{0,30}\b(?:start|initiali[sz]\w*|load)\b|\b(?:start-?up|initiali[sz]ation|creation|loading)\b.{0,20}\bfailed"
    rb"|\berror (?:loading|starting|initiali[sz]ing)\b|\bunable to (?:load|start|initiali[sz]e)\b|\bexiting due to\b"
)
_WAIT = Pattern(rb"(?i)time_?out")
"""A wait that ran out is no fault of the code that waited: whom it waited for is the question."""

_SERVER = Pattern(rb"(?i)model|engine|server|worker|executor|backend|runner|weights|tokenizer|application|shard")
"""What a start is of; a library or tool that cannot be initialized (NVML) may be missed or not."""

_LOADING = Pattern(
    rb"(?i)\b(?:loading|starting to load|load(?:ed)? meta ?data|llama_model_loader|starting runner|init\w* engine)\b.{0,60}"
    rb"\b(?:model|weights|checkpoints?|shards?|safetensors|gguf|tensors?|runner|engine|kv pairs)\b"
)
_OF_A_START = Pattern(
    rb"(?i)init|load|setup|build|from_(?:engine_args|pretrained|config)|launch|warm_?up|capture|compile|profile|create"
)
_OF_SERVING = Pattern(
    rb"(?i)busy_loop|event_loop|execute_model|forward|step\b|output_handler|generate|process_(?:input|batch)|handle_|serve_"
)


def _fails_to_start(words: bytes) -> bool:
    """Whether words say that something which serves did not come up."""
    return _FAILED_START.search(words) is not None and _SERVER.search(words) is not None


def _is_of_a_start(cause: Raised, trace: Trace) -> bool:
    """Whether an exception of an engine whose start the log does not show was raised while it started: its functions say so."""
    frames = b" ".join(cause.frames)
    words = b" ".join(trace.lines[:1]) + b" " + cause.message
    if cause.frames and cause.frames[-1] == b"<module>":
        return True  # a module is run once, when it is loaded
    if _OF_SERVING.search(frames) is not None:
        return False
    return _OF_A_START.search(frames) is not None or _fails_to_start(words)


def _ends_in_a_complaint(life: Life) -> bool:
    """Whether an engine that never was ready, and that nobody ended, has an error among its last words and says no more of it."""
    told = life.raised is not None or life.failed is not None or life.error is not None
    ended = life.ready is not None or life.stopping is not None or life.killed
    return not told and not ended and life.complained is not None and life.since_complaint <= _LAST_LINES


def _is_wrapper(life: Life) -> bool:
    """Whether the exception of a life only says that something else went wrong."""
    trace = life.raised or life.failed
    return trace is not None and trace.cause is not None and trace.cause.is_wrapper


def _is_known(life: Life, cause: Raised) -> bool:
    """Whether a signature tells what an exception comes of.

    That of a cause does, and one that reads the exception's own line and names more than an end.
    """
    told = 0 if life.error is None else _tells(life.error)
    return told == _OF_WHAT or (told > 0 and redacted_bytes(cause.name, 120) in life.error_text)


def _says_more(match: Match, than: Match) -> bool:
    """Whether a line tells more of what goes wrong than another one."""
    return than.signature.role == "consequence" and _tells(match) > _tells(than)


def _tells(match: Match) -> int:
    """How much a line tells of what goes wrong: that something ends, what follows from the cause, or the cause."""
    if match.signature.role == "cause":
        return _OF_WHAT
    return int(not _ENDS_ALONE.issuperset(match.signature.kinds))


_OF_WHAT = 2

_ENDS_ALONE = frozenset({"engine-dead", "bad-rollout"})
"""Kinds that say that something ended, and not of what."""

_DEATHS = frozenset({
    "engine-dead", "engine-core-failed", "worker-failed", "native-crash", "scheduler-watchdog", "collective-teardown",
})  # fmt: skip
"""Signatures by which an engine says that it ends."""

_SLOW_WEIGHTS = {
    "role": "cause",
    "kinds": "slow-weight-storage cold-start-too-slow",
    "meaning": "The weights were read far below the rate of any usual storage.",
    "severity": "warning",
    "emitter": "engine",
}
"""What the signature ``weights-slow`` says of one line, said of two."""

_ENDS: dict[str, tuple[str, str, str]] = {
    "engine-crashed": ("consequence", "engine-dead", "the engine ended with an error"),
    "start-failed": ("consequence", "engine-dead", "the engine did not start"),
    "start-exception": ("cause", "start-failed-otherwise", "a start ended with an exception that no signature knows"),
    "engine-exception": (
        "cause",
        "engine-software-fault",
        "an engine ended with an exception that no signature knows, after it had served",
    ),
    "start-cut-short": (
        "consequence",
        "probe-kills-loading host-oom-kill",
        "a start ended before the engine was ready, without an error",
    ),
    "start-unfinished": ("info", "cold-start-too-slow group-partial-restart", "the engine was still starting when the log ended"),
    "ended-without-a-word": (
        "consequence",
        "host-oom-kill engine-dead",
        "the engine started anew without having said why it ended",
    ),
}
"""Ways in which a life of an engine ends badly: role, kinds, sentence."""
