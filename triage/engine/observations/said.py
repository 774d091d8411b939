"""What was said: loud lines of the window, each statement once, with who said it of whom, how often and since when."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from operator import attrgetter

from triage.classes import dataclass
from triage.engine.belonging import homes, is_of_others
from triage.engine.frame import Frame
from triage.engine.promises import users_are_well
from triage.model.observation import Judged, Observation, Seen
from triage.model.recording import Event, SourceState, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_LOUD = Pattern(r"(?i)^(?:w|warn(?:ing)?|e|err(?:or)?|f|fatal|crit(?:ical)?|panic|emerg(?:ency)?|alert|severe)$")
_GRAVE = Pattern(r"(?i)^(?:e|err(?:or)?|f|fatal|crit(?:ical)?|panic|emerg(?:ency)?|alert|severe)$")

_ALWAYS_LOUD = frozenset({"killed", "raised", "exhausted", "stuck", "command-failed", "denied", "invalid"})
"""Statements that tell of a fault at any level."""

_OF_ASKERS = Pattern(
    r"(?i)\b(?:requests?|prompts?|body|payload|headers?|method|ur[il]|query|(?:json|ebnf|structural|stop|guided|tool|response)_\w+"
    r"|regex|grammar|temperature|top_[pk])\b"
)
"""What others send: that it is damaged or not allowed is their doing, and what is refused is counted."""

_HUNG_UP = Pattern(
    r"(?i)\b(?:clients?|peers?|callers?|users?|remote|other side)\b"
    r".{0,40}\b(?:disconnect\w*|left|clos\w+|cancel\w*|gone|abort\w*|hung)"
    r"|disconnected (?:client|peer)|broken pipe"
)
"""What is said of somebody who went away before his answer was there: those who give up are counted."""

_COUNT = Pattern(r"^[0-9]{1,9}$")
_MOMENT = Pattern(r"^[0-9]{1,11}(?:\.[0-9]{1,9})?$")
_LAST_WORDS = 60.0
"""What is said so many seconds before a life ends may be why."""

_TWICE = 2
"""Chosen: what is said once may be a slip of the program; who says it again means it."""

_NUMBERS = Pattern(r"[0-9a-f]{6,}|\d+")


@dataclass
class _Statement:
    """Lines of one meaning about one subject."""

    first: Event
    events: list[Event] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return sum(_lines(event) for event in self.events)


def said(frame: Frame) -> Seen:
    """Statements, lines of causes, and what nobody understands: all that is loud in the window."""
    window = frame.recording.window
    before: set[tuple[str, ...]] = set()
    inside: dict[tuple[str, ...], _Statement] = {}
    for event in _loud(frame):
        key = _key(event)
        if event.time < window.start:
            before.add(key)
        else:
            inside.setdefault(key, _Statement(event)).events.append(event)
    deaths, hung_up = _deaths(frame), _hang_ups(frame)
    odd = [_observation(one, key in before, deaths, hung_up, frame) for key, one in inside.items()]
    return Seen(tuple(sorted(odd, key=lambda one: (one.since or 0.0, one.subject, one.of, one.text))), _judged(frame))


def _judged(frame: Frame) -> frozenset[Judged]:
    """Statements would be known where a log was read whole and nothing loud in it stayed unread."""
    unread = {event.attrs.get("emitter", "") for event in frame.recording.events_of("residue") if event.attrs.get("new")}
    read = {
        one.name.removeprefix("log:")
        for one in frame.recording.sources
        if one.name.startswith("log:") and one.state is SourceState.OK
    }
    scopes = {
        "engine": Scope.REPLICA,
        "gateway": Scope.GATEWAY,
        "kernel": Scope.NODE,
        "kubelet": Scope.NODE,
        "journal": Scope.NODE,
    }
    clear = {scopes[emitter] for emitter in read - unread if emitter in scopes}
    names = ("residue", *_STATEMENTS)
    return frozenset(("said", name, scope) for name in names for scope in clear)


_KILL = "host-oom-kill"
"""Kind of which the lines tell of the end of one process and not of its host."""

_STATEMENTS = (
    "unreachable",
    "unresolved",
    "denied",
    "limited",
    "exhausted",
    "timed-out",
    "slow",
    "lost",
    "overridden",
    "mismatch",
    "missing",
    "invalid",
    "counted",
    "acted",
    "command-failed",
    "killed",
    "raised",
    "stuck",
    "state",
)
"""Classes of statements; docs/logs.md explains each."""


def _loud(frame: Frame) -> Iterator[Event]:
    """Events of lines that a person would stop at."""
    recording = frame.recording
    every: Iterable[Event] = (*recording.events_of("said"), *recording.events_of("log"), *recording.events_of("residue"))
    for event in sorted(every, key=attrgetter("time")):
        if (
            event.kind == "residue"
            or (event.kind == "log" and event.attrs.get("role") == "cause")
            or (event.kind == "said" and (event.name in _ALWAYS_LOUD or _LOUD.search(event.attrs.get("level", "")) is not None))
            or (event.kind == "said" and event.attrs.get("fails") == "yes")
        ):
            yield event


def _key(event: Event) -> tuple[str, ...]:
    """What makes two lines one statement: class, subject, emitter, and the words without their numbers."""
    words = event.attrs.get("template", "") if event.kind != "log" else ""
    return event.kind, event.name, str(event.subject or ""), event.attrs.get("emitter", ""), _NUMBERS.sub("#", words)


def _lines(event: Event) -> int:
    """How many lines an event stands for."""
    told = event.attrs.get("count", "1")
    return int(told) if _COUNT.search(told) is not None else 1


def _last(event: Event) -> float:
    """When the last of the lines was written that an event stands for."""
    told = event.attrs.get("last", "")
    return max(event.time, float(told)) if _MOMENT.search(told) is not None else event.time


def _deaths(frame: Frame) -> Sequence[Observation]:
    """Ends of lives that nobody planned."""
    return [one for one in frame.seen.odd if one.sort == "life" and one.attrs.get("planned") == "no" and one.onset is not None]


def _hang_ups(frame: Frame) -> frozenset[tuple[Subject | None, int]]:
    """Who told of somebody that went away, and in which seconds: other lines of that moment tell of the same."""
    told = (event for event in frame.recording.events_of("said") if event.name == "raised" and _is_a_hang_up(event))
    return frozenset((event.subject, int(event.time) + near) for event in told for near in (-1, 0, 1))


def _is_a_hang_up(event: Event) -> bool:
    words = f"{event.attrs.get('exception', '')} {event.attrs.get('message', '')}"
    return _HUNG_UP.search(words) is not None


def _observation(
    one: _Statement, usual: bool, deaths: Sequence[Observation], hung_up: frozenset[tuple[Subject | None, int]], frame: Frame
) -> Observation:
    """A statement as an observation."""
    first = one.first
    told = first.attrs
    of = "residue" if first.kind == "residue" else first.name
    subject = first.subject or Subject(Scope.SERVICE, frame.recording.service)
    new = "no" if usual else _newness(first, frame)
    ends = next((death for death in deaths if _is_last_word(one, death)), None)
    kept = {key: value for key, value in told.items() if key not in ("count", "first", "last", "new") and value}
    attrs = {**kept, "kind": first.kind, "new": new}
    if ends is not None:
        attrs["ends"] = ends.of
    strangers = _is_strangers(first, frame)
    if strangers:
        attrs["stranger"] = "yes"
    left = ends is None and all((event.subject, int(event.time)) in hung_up for event in one.events)
    elsewhere = users_are_well(frame) and (left or _is_elsewhere(first, frame))
    if elsewhere:
        attrs["elsewhere"] = "yes"
    last = max(_last(event) for event in one.events)
    still = last >= frame.recording.window.end - 2 * _LAST_WORDS
    return Observation(
        sort="said",
        of=of,
        subject=subject,
        text=first.text,
        onset=(first.time, first.time),
        end=None if still else last,
        size=float(one.count),
        value=float(one.count),
        unit="lines",
        support=one.count,
        source=f"{told.get('emitter', 'any')} log",
        attrs=attrs,
        salient=not strangers
        and not elsewhere
        and (new == "yes" or (new == "unknown" and _is_grave(first)))
        and _asks_for_a_reason(one, ends is not None)
        and not left
        and not (ends is None and _is_retried(one, frame)),
    )


def _newness(event: Event, frame: Frame) -> str:
    """Whether a line that was not seen before the window is new: not known where its time or what was said before is not.

    Where users suffer, what nobody can date may be why.
    """
    if event.kind == "residue" and not event.attrs.get("new"):
        return "no"
    undated = event.attrs.get("untimed") == "yes" or event.attrs.get("new") == "unknown"
    return "unknown" if undated and users_are_well(frame) else "yes"


def _is_last_word(one: _Statement, death: Observation) -> bool:
    """Whether something was said of or by somebody shortly before his end."""
    if death.onset is None or one.first.subject != death.subject:
        return False
    return any(death.onset[0] - _LAST_WORDS <= event.time <= death.onset[1] for event in one.events)


def _is_strangers(event: Event, frame: Frame) -> bool:
    """Whether a line is about another service than ours."""
    return is_of_others(event, frame) or _kills_elsewhere(event, frame)


_THIRD = frozenset({"other", "journal"})
"""Emitters that are no part of a service by their kind: schedulers, controllers, programs of a host."""


_NAME = Pattern(r"(?:^|[\s\"'=(,])[a-z]+(?:[a-z0-9]*[-/.][a-z0-9]*[a-z][a-z0-9/.-]*|\d+)(?:[\s\"'),;:]|$)")
"""A name of a host, a pod, a volume or a certificate: words or digits joined to a word."""


def _is_elsewhere(event: Event, frame: Frame) -> bool:
    """Whether a line is about nothing of ours.

    That is a host on which none of ours runs, or that was taken out on purpose; what a third program says of somebody who
    is nobody of ours, or of nobody where it speaks of such all the time; and what a gateway says of another model.
    """
    if _is_of_another_model(event, frame):
        return True
    host = event.subject
    if host is not None and host.scope is Scope.NODE:
        ours = homes(frame)
        return (bool(ours) and host not in ours) or any(
            one.subject == host and one.attrs.get("planned") == "yes" and _is_near(one, event)
            for one in frame.seen.odd
            if one.sort == "life"
        )
    return _is_a_thirds(event) and not _names_ours(event, frame) and (_names_somebody(event) or event.source in _of_others(frame))


def _is_of_another_model(event: Event, frame: Frame) -> bool:
    """Whether a gateway, which may serve many, tells of a request for a model that none of ours serves."""
    if event.attrs.get("emitter", "") != "gateway":
        return False
    asked = {_bare(found.group(1)) for found in _ASKED.finditer(event.text)}
    ours = frame.remembered("models of ours", lambda: frozenset(_models(frame)))
    return bool(asked) and bool(ours) and not any(one in name or name in one for one in asked for name in ours)


_ASKED = Pattern(r"(?i)\bmodel(?:[_ -]?(?:group|name|id))?[\"']?(?: is)?[=: ]{1,2}[\"']?([a-z0-9][\w./:@-]{2,127})")
"""How a gateway names the model of a request: ``model=azure/gpt``, ``model_group: gpt``, ``"model": "gpt"``."""


def _models(frame: Frame) -> Iterator[str]:
    """Names under which the service and its replicas serve."""
    yield frame.recording.service.lower()
    for fact in frame.recording.facts:
        if fact.key in ("model", "model_path", "served_model_name") and isinstance(fact.value, str):
            yield _bare(fact.value)


def _bare(model: str) -> str:
    """A model's name without who made it."""
    return model.rstrip("/.:").rpartition("/")[2].lower()


def _is_a_thirds(event: Event) -> bool:
    """Whether a program that is no part of a service tells of nobody whom the recording knows."""
    return event.attrs.get("emitter", "") in _THIRD and (event.subject is None or event.subject.scope is Scope.SERVICE)


def _names_somebody(event: Event) -> bool:
    return _NAME.search(event.text) is not None


def _names_ours(event: Event, frame: Frame) -> bool:
    return any(name in event.text for name in _names_of_ours(frame))


def _of_others(frame: Frame) -> frozenset[str]:
    """Logs of third programs that name somebody, and never one of ours: what names nobody in them is about the same."""
    return frame.remembered("logs of others", lambda: _logs_of_others(frame))


def _logs_of_others(frame: Frame) -> frozenset[str]:
    naming: set[str] = set()
    about_us: set[str] = set()
    for event in (one for kind in ("log", "said", "residue") for one in frame.recording.events_of(kind)):
        if event.attrs.get("emitter", "") in _THIRD and _names_somebody(event):
            (about_us if not _is_a_thirds(event) or _names_ours(event, frame) else naming).add(event.source)
    return frozenset(naming - about_us)


def _names_of_ours(frame: Frame) -> frozenset[str]:
    """Names of the service, its replicas, gateways, and the hosts that carry them; of all hosts where nobody says which do."""
    return frame.remembered("names of ours", lambda: frozenset(_names(frame)))


def _names(frame: Frame) -> Iterator[str]:
    recording = frame.recording
    yield recording.service
    hosts = homes(frame) or recording.subjects[Scope.NODE]
    for one in (*recording.subjects[Scope.REPLICA], *recording.subjects[Scope.GATEWAY], *hosts):
        yield one.id.partition(":")[0]


def _kills_elsewhere(event: Event, frame: Frame) -> bool:
    """Whether a kernel ends a stranger's process, or one on a host where no replica runs of all whose hosts are known."""
    host = event.subject
    if host is None or host.scope is not Scope.NODE or _KILL not in event.attrs.get("kinds", "").split():
        return False
    if any(
        one.attrs.get("stranger") and one.subject == host and _is_near(one, event) for one in frame.seen.odd if one.sort == "life"
    ):
        return True
    return bool(homes(frame)) and host not in homes(frame)


def _is_near(life: Observation, event: Event) -> bool:
    """Whether a line was written about when a life ended."""
    return life.since is not None and abs(life.since - event.time) <= _LAST_WORDS


def _asks_for_a_reason(one: _Statement, ends: bool) -> bool:
    """Whether lines that are new have to be explained: causes, errors that repeat while serving, last words of a life.

    A statement of a line that a signature knows is told by the signature.
    """
    first = one.first
    grave = _is_grave(first)
    if first.kind == "log":
        return grave or ends or one.count >= _TWICE
    serving = first.attrs.get("phase", "running") != "starting"
    if first.kind == "residue":
        return ends or (serving and one.count >= _TWICE)
    known = bool(first.attrs.get("signature")) or (not grave and _is_an_askers(first))
    loud = grave or first.name in _ALWAYS_LOUD or first.attrs.get("fails") == "yes"
    return not known and (ends or (serving and one.count >= _TWICE)) and loud


def _is_retried(one: _Statement, frame: Frame) -> bool:
    """Whether a cluster says once that something failed, which it then tries again, while users are well."""
    return one.count < _TWICE and one.first.attrs.get("emitter") == "kube-events" and users_are_well(frame)


def _is_an_askers(event: Event) -> bool:
    """Whether a line finds fault with what somebody sent: port scanners and clients that err are everywhere."""
    return event.name in ("invalid", "denied") and _OF_ASKERS.search(event.attrs.get("what", "")) is not None


def _is_grave(event: Event) -> bool:
    """Whether a line tells of an error by its level or by what its signature means."""
    return _GRAVE.search(event.attrs.get("level", "")) is not None or event.attrs.get("severity") == "critical"
