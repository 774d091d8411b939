"""Conditions on what happened: events of logs, clusters and people, and observations."""

import re
from collections.abc import Callable, Sequence
from functools import cache

import re2

from triage.classes import dataclass
from triage.engine.belonging import is_of_others
from triage.engine.frame import Frame
from triage.engine.phrases import of_event, of_observation, values_of
from triage.engine.promises import users_are_well
from triage.engine.rules.context import Context, Look
from triage.errors import ConfigError
from triage.model.diagnosis import Evidence, Verdict
from triage.model.observation import Observation
from triage.model.recording import CHANGE_KINDS, Event, SourceState, Subject
from triage.model.rule import Observed, Occurrence
from triage.model.vocabulary import Scope

PRESENT, ABSENT, UNKNOWN = Verdict.PRESENT, Verdict.ABSENT, Verdict.UNKNOWN

_EARLIER = 600.0
"""An event without ``within`` counts from ten minutes before the window: a cause often comes a little before what it causes."""

_COUNT = re.compile(r"[0-9]{1,9}")

_GRACE = 60.0
"""Clocks of event sources and metrics differ, and a scrape is late: an event may be stamped this much after the onset."""


@dataclass(slots=True)
class Counted:
    """Events that are asked for and concern somebody.

    :param number: of lines, or of whom they happened to
    :param unseen: why the verdict is unknown; empty if it is not
    """

    verdict: Verdict
    found: Sequence[Event]
    number: int
    unseen: str


def counted(occurrence: Occurrence, context: Context) -> Counted:
    """Events of a kind, counted."""
    asked = candidates(occurrence, context.frame, context.onset)
    found = [one for one in asked if _is_about(one, occurrence, context)] if asked else asked
    number = len({event.subject for event in found}) if occurrence.distinct else sum(map(lines, found))
    if occurrence.at_least is not None:
        verdict = PRESENT if number >= occurrence.at_least else ABSENT
    else:
        verdict = PRESENT if number <= (occurrence.at_most or 0) else ABSENT
    proven = verdict is PRESENT if occurrence.at_least is not None else verdict is ABSENT
    unseen = "" if proven else _why_unseen(occurrence, context)
    return Counted(UNKNOWN if unseen else verdict, found, number, unseen)


def occurred(occurrence: Occurrence, context: Context) -> Look:
    """Events of a kind, counted, with what can be shown of them."""
    told = counted(occurrence, context)
    verdict, found, number, unseen = told.verdict, told.found, told.number, told.unseen
    signal, stat = f"event:{occurrence.event}", ", ".join(occurrence.name)
    first = min(found, key=lambda event: event.time) if found else None
    return Look(
        verdict,
        signal,
        f"{signal} ({stat})" if stat else signal,
        lambda: (_begun(found), _until(found, context.frame)),
        lambda span: Evidence(
            signal=signal,
            subject=str(first.subject if first and first.subject else context.subject),
            stat=stat,
            value=float(number),
            op=">=" if occurrence.at_least is not None else "<=",
            threshold=float(occurrence.at_least if occurrence.at_least is not None else occurrence.at_most or 0),
            verdict=verdict,
            since=span[0],
            until=span[1],
            text=_event_text(first) if first else unseen or _why_unseen(occurrence, context) or "none seen",
            phrase=of_event(first) if first else "",
            fields=values_of(first.attrs) if first else {},
        ),
        occurrence.as_name,
        frozenset(event.name for event in found),
    )


def _begun(found: Sequence[Event]) -> float | None:
    """When the first of several happened; None if somebody only saw how things stood, which was so before he looked."""
    return min((event.time for event in found if event.attrs.get("snapshot") != "yes"), default=None)


def _until(found: Sequence[Event], frame: Frame) -> float | None:
    """When what lines told of was over: the lives that it ended came back, and nothing was said since. None if nobody can say."""
    ends = [_came_back(event, frame) for event in found if event.kind in _READ_FROM_LINES]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(found) else None


def _came_back(event: Event, frame: Frame) -> float | None:
    """When a replica ran again whose life ended right after an event; None if it did not end, or did not come back."""
    if event.subject is None or event.subject.scope is not Scope.REPLICA:
        return None
    lives = [one for one in frame.seen.of_sort("life") if one.subject == event.subject and one.end is not None and one.onset]
    return next((one.end for one in lives if one.onset and one.onset[0] - _GRACE <= event.time <= (one.end or 0.0)), None)


def is_news(occurrence: Occurrence, context: Context) -> bool:
    """Whether lines that are counted tell of this window.

    They do not if nobody knows when they were written, or if they came as often before it, and users are well all the same.
    What is grave need not be news; and where nobody measures users, or they suffer, what a log says all along may be why.
    """
    if occurrence.event not in _READ_FROM_LINES or occurrence.at_least is None or not users_are_well(context.frame):
        return True
    frame = context.frame
    found = [one for one in candidates(occurrence, frame, context.onset) if _is_about(one, occurrence, context)]
    if any(event.attrs.get("severity") == "critical" for event in found):
        return True
    dated = [event for event in found if event.attrs.get("untimed") != "yes"]
    if not dated:
        return False
    window = frame.recording.window
    before = [event for event in _of_kind(occurrence.event, frame) if _came_earlier(event, frame)]
    earlier = sum(lines(one) for one in before if _fits(one, occurrence, frame) and _is_about(one, occurrence, context))
    usual = earlier / max(1.0, window.start - _EARLIER - window.baseline_start)
    return sum(map(lines, dated)) / (window.end - window.start + _EARLIER) > _AS_OFTEN * usual


def _came_earlier(event: Event, frame: Frame) -> bool:
    """Whether an event came before the span that is asked for."""
    return event.time < frame.recording.window.start - _EARLIER and event.attrs.get("untimed") != "yes"


_AS_OFTEN = 2.0
"""Lines that come up to this many times as often as before are what this service says every day."""


def _why_unseen(occurrence: Occurrence, context: Context) -> str:
    """Why that nothing was seen proves nothing; empty if it does prove something. Asked again it is remembered."""
    key = occurrence.event, occurrence.emitter
    if (told := context.unseen.get(key)) is None:
        told = context.unseen[key] = _unseen(occurrence, context)
    return told


def _unseen(occurrence: Occurrence, context: Context) -> str:
    if not emitter_seen(occurrence, context.frame):
        return f"no {occurrence.emitter or occurrence.event} source to look at"
    number = sum(lines(event) for event in unread(occurrence, context.frame) if concerns(event.subject, context))
    return f"none seen, but {number} error-like lines were understood by nobody" if number else ""


def unread(occurrence: Occurrence, frame: Frame) -> list[Event]:
    """Error-like lines of the window, new in it, that nothing understands and that could mean what is asked for."""
    if occurrence.event not in _READ_FROM_LINES:
        return []
    return frame.remembered(("unread", occurrence.emitter), lambda: _unread(occurrence.emitter, frame))


def _unread(emitter: str, frame: Frame) -> list[Event]:
    """Those of an emitter, of any if it is empty."""
    return [
        event
        for event in frame.recording.events_of("residue")
        if event.attrs.get("new")
        and event.time >= frame.recording.window.start
        and emitter in ("", event.attrs.get("emitter", ""))
        and not is_of_others(event, frame)
    ]


_READ_FROM_LINES = frozenset({"log", "said"})
"""Kinds of events that stand in lines, any of which may be written in words that nobody knows."""


def lines(event: Event) -> int:
    """How many lines an event stands for."""
    told = event.attrs.get("count", "1")
    return int(told) if _COUNT.fullmatch(told) else 1


def _event_text(event: Event) -> str:
    """An event in words: its line or note, with the change it stands for."""
    if event.text.startswith(f"{event.kind} "):
        return event.text
    parts = [event.name, event.text] if event.kind in CHANGE_KINDS | {"xid"} else [event.text or event.name]
    words = " ".join(part for part in dict.fromkeys(parts) if part)
    return f"{event.kind} {words}" if event.kind in CHANGE_KINDS | {"xid"} else words


def candidates(occurrence: Occurrence, frame: Frame, onset: float | None) -> list[Event]:
    """The events that are asked for, whomever they concern."""
    if occurrence.name and frame.recording.event_names(occurrence.event).isdisjoint(occurrence.name):
        return []
    return [
        event
        for event in _of_kind(occurrence.event, frame)
        if _in_time(event, occurrence, frame, onset) and _fits(event, occurrence, frame)
    ]


def _of_kind(kind: str, frame: Frame) -> list[Event]:
    """The events of a kind, by time; ``change`` is any change."""
    recording = frame.recording
    if kind != "change":
        return recording.events_of(kind)
    return frame.remembered("changes", lambda: [event for event in recording.events if event.kind in CHANGE_KINDS])


def _fits(event: Event, occurrence: Occurrence, frame: Frame) -> bool:
    """Whether an event of the kind is one that is asked for, whenever it was and whomever it concerns."""
    if occurrence.name and event.name not in occurrence.name:
        return False
    if occurrence.at is not None and (event.subject is None or event.subject.scope is not occurrence.at):
        return False
    if occurrence.own is not None and _is_own(event, frame.recording.service) != occurrence.own:
        return False
    if not all(matches(wanted, event.attrs.get(key, "")) for key, wanted in occurrence.where.items()):
        return False
    return occurrence.anywhere or not is_of_others(event, frame)


def _is_about(event: Event, occurrence: Occurrence, context: Context) -> bool:
    """Whether an event that is asked for concerns the subject, where that matters."""
    return occurrence.anywhere or concerns(event.subject, context)


def matches(pattern: str, text: str) -> bool:
    """Whether all of a text, which anybody may have written, is what a rule asks for; takes linear time."""
    return _matcher(pattern)(text.encode("utf-8", "replace")) is not None


@cache
def _matcher(text: str) -> Callable[[bytes], object]:
    """What matches a rule's regular expression with whole texts.

    :raises ConfigError: it is none that can be matched in linear time
    """
    options = re2.Options()
    options.log_errors = False
    try:
        matcher: Callable[[bytes], object] = re2.compile(text.encode(), options).fullmatch
        return matcher
    except re2.error as error:
        raise ConfigError(
            f"a rule asks for {text!r}, which is no regular expression", "triage rules lint shows the place"
        ) from error


def _is_own(event: Event, service: str) -> bool:
    """Whether an event happened to the service itself."""
    told = event.attrs.get("service")
    return (
        told == service
        if told
        else event.subject is None or event.subject.scope is not Scope.SERVICE or event.subject.id == service
    )


def _in_time(event: Event, occurrence: Occurrence, frame: Frame, onset: float | None) -> bool:
    """Whether an event lies in the span that is asked for."""
    window = frame.recording.window
    if occurrence.within is None:
        return window.start - _EARLIER <= event.time <= window.end
    earliest, latest = _span(occurrence.within, frame, onset)
    return earliest <= event.time <= latest


def _span(within: float, frame: Frame, onset: float | None) -> tuple[float, float]:
    """From so long before the onset of the symptom to it; where no symptom is noticed it may lie anywhere in the window."""
    if onset is None:
        return frame.recording.window.start - within, frame.recording.window.end
    return onset - within, onset + max(_GRACE, 2 * frame.grid.step)


def concerns(about: Subject | None, context: Context) -> bool:
    """Whether what was seen on somebody is about the subject: it, a part of it, what it is part of, or nobody in particular."""
    subject = context.subject
    if about is None or about == subject or Scope.SERVICE in (about.scope, subject.scope):
        return True
    if Scope.GATEWAY in (about.scope, subject.scope) or Scope.CLIENT in (about.scope, subject.scope):
        return False
    if Scope.GPU in (about.scope, subject.scope) and Scope.REPLICA in (about.scope, subject.scope):
        return _share_a_card(context.frame, about, subject)
    if Scope.NODE in (about.scope, subject.scope) and _is_unplaced(context.frame, about, subject):
        return True
    return about in context.frame.related(subject, about.scope) or subject in context.frame.related(about, subject.scope)


def _is_unplaced(frame: Frame, one: Subject, other: Subject) -> bool:
    """Whether nobody knows on which node the replica or card of a pair is."""
    part = other if one.scope is Scope.NODE else one
    return part.scope is not Scope.NODE and all(target.scope is not Scope.NODE for target in frame.recording.links.get(part, ()))


def _share_a_card(frame: Frame, one: Subject, other: Subject) -> bool:
    """Whether a card and a replica belong together: by their link, or by their node where no link tells whose the card is."""
    card, replica = (one, other) if one.scope is Scope.GPU else (other, one)
    owners = [target for target in frame.recording.links.get(card, ()) if target.scope is Scope.REPLICA]
    return replica in owners if owners else bool({*frame.related(card, Scope.NODE)} & {*frame.related(replica, Scope.NODE)})


def emitter_seen(occurrence: Occurrence, frame: Frame) -> bool:
    """Whether a source was there that would have shown the event; asked again it is remembered."""
    key = ("emitter seen", occurrence.event, occurrence.emitter)
    return frame.remembered(key, lambda: _emitter_seen(occurrence, frame))


def _emitter_seen(occurrence: Occurrence, frame: Frame) -> bool:
    seen = {source.name for source in frame.recording.sources if source.state in (SourceState.OK, SourceState.PARTIAL)}
    if occurrence.event in CHANGE_KINDS:
        return "changes" in seen
    if occurrence.event == "xid":
        return "log:kernel" in seen
    if occurrence.emitter:
        return f"log:{occurrence.emitter}" in seen
    if occurrence.event == "metric":
        return bool(frame.recording.series)
    if occurrence.event == "drift":
        return any(fact.subject.scope is Scope.REPLICA for fact in frame.recording.facts)
    return any(name.startswith("log:") for name in seen)


# Observations


@dataclass(slots=True)
class Found:
    """Observations that are asked for and concern somebody.

    :param judged: that nothing was found would prove something
    """

    verdict: Verdict
    odd: Sequence[Observation]
    judged: bool


def found(asked: Observed, context: Context) -> Found:
    """Observations of a class, counted."""
    meant = observations(asked, context.frame, context.onset)
    odd = [one for one in meant if asked.anywhere or concerns(one.subject, context)]
    holds = len(odd) <= asked.at_most if asked.at_most is not None else len(odd) >= _least(asked)
    judged = context.frame.seen.could_tell(asked.observed, asked.of, asked.at, asked.against)
    proven = holds if asked.at_most is None else not holds
    return Found((PRESENT if holds else ABSENT) if proven or judged else UNKNOWN, odd, judged)


def _least(asked: Observed) -> int:
    return 1 if asked.at_least is None else asked.at_least


def seen(asked: Observed, context: Context) -> Look:
    """Observations of a class, counted, with what can be shown of them."""
    told = found(asked, context)
    odd, judged, verdict = told.odd, told.judged, told.verdict
    first = min(odd, key=lambda one: (one.since or 0.0, one.subject)) if odd else None
    shown = first.evidence if first is not None else None
    signal = f"observed:{asked.observed}"
    since = first.since if first else None
    if shown is not None:
        span = shown.since, shown.until
        evidence = shown
        return Look(
            verdict,
            evidence.signal,
            _lacks(evidence),
            lambda: span,
            lambda _: evidence.model_copy(update={"verdict": verdict}),
            asked.as_name,
        )
    return Look(
        verdict,
        signal,
        signal,
        lambda: (since, _over(odd)),
        lambda span: Evidence(
            signal=signal,
            subject=str(first.subject if first else context.subject),
            stat=", ".join(asked.of),
            value=float(len(odd)),
            op="<=" if asked.at_most is not None else ">=",
            threshold=float(asked.at_most if asked.at_most is not None else _least(asked)),
            verdict=verdict,
            since=since,
            since_low=first.onset[0] if first and first.onset else None,
            until=span[1],
            text=first.text if first else "nothing odd seen" if judged else "nothing that could be judged",
            phrase=of_observation(first) if first else "",
            fields=values_of(first.attrs) if first else {},
        ),
        asked.as_name,
    )


def _over(found: Sequence[Observation]) -> float | None:
    """When all that was seen of an instrument had ended; None if any of it goes on.

    Of an instrument its own data say so: samples came back, values move again. That a line is said no more, or a process runs
    again, does not say that what it told of is over.
    """
    ends = [one.end for one in found if one.sort == "instrument" and one.end is not None]
    return max(ends) if ends and len(ends) == len(found) else None


def _lacks(evidence: Evidence) -> str:
    """What is missing where an observation's own evidence leaves the verdict open."""
    if evidence.signal.startswith("event:"):
        return f"{evidence.signal} ({evidence.stat})" if evidence.stat else evidence.signal
    compared = evidence.value is None or evidence.threshold is not None
    return evidence.signal if compared else f"{evidence.signal} ({evidence.text})"


def observations(asked: Observed, frame: Frame, onset: float | None) -> list[Observation]:
    """The observations that are asked for, whomever they concern."""
    found = frame.seen.of_sort(asked.observed, asked.of)
    return [one for one in found if _is_meant(one, asked, frame, onset)]


def _is_meant(one: Observation, asked: Observed, frame: Frame, onset: float | None) -> bool:
    """Whether an observation of what is asked for is one that is asked for, whomever it concerns."""
    if (asked.at and one.subject.scope is not asked.at) or (asked.against and one.against != asked.against):
        return False
    if (asked.direction and one.direction != asked.direction) or (asked.still is not None and (one.end is None) != asked.still):
        return False
    if asked.size is not None and (one.size is None or one.size < asked.size):
        return False
    if not all(matches(wanted, one.attrs.get(key, "")) for key, wanted in asked.where.items()):
        return False
    strangers = "stranger" in one.attrs and "stranger" not in asked.where
    return not strangers and _began_in_time(one, asked, frame, onset)


def _began_in_time(one: Observation, asked: Observed, frame: Frame, onset: float | None) -> bool:
    """Whether an observation began near the onset of the symptom, where that is asked for."""
    if asked.within is None:
        return True
    if one.onset is None:
        return False
    earliest, latest = _span(asked.within, frame, onset)
    return earliest <= one.onset[1] and one.onset[0] <= latest
