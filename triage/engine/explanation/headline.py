"""The headline: what is wrong and since when, or what was measured and is well, or what could not be seen, in one sentence."""

from collections.abc import Sequence

from triage.engine.explanation.called import Called
from triage.engine.explanation.sentence import clock
from triage.engine.explanation.state import barely_looked
from triage.model.diagnosis import Finding, Odd, Promised, Status, Unread, Vital
from triage.model.recording import Recording, Source, SourceState
from triage.model.sentence import LONGEST
from triage.model.units import quantity
from triage.model.vocabulary import NOTICED, Scope, catalogue

_MOST_TOLD = 3
"""Chosen: a headline of more is not read."""

_TOLD_OF = ("ttft", "itl", "e2e", "error_ratio")
"""Promises that are worth a figure in the headline of a healthy service."""


def headline(
    status: Status,
    findings: Sequence[Finding],
    vitals: Sequence[Vital],
    odd: Sequence[Odd],
    unread: Sequence[Unread],
    recording: Recording,
    judged: tuple[int, int],
    called: Called,
) -> str:
    """The answer in one sentence.

    :param judged: how many kinds of failure could be judged, and how many there are
    :param called: what people call subjects
    """
    roots = [finding for finding in findings if finding.role == "root"]
    broken = [vital for vital in vitals if vital.state is Promised.BROKEN]
    if roots:
        return _with(roots[0].summary, _over(broken), _others(len(roots) - 1))
    refused = _refused(vitals, recording)
    if refused is not None:
        return f"{_clause(_where(refused))}{_consequence(status, recording)}"
    if broken:
        return _unexplained(broken, called)
    if status is Status.HEALTHY:
        told = [f"{_short(one)} {_value(one)}" for one in vitals if one.name.startswith(_TOLD_OF) and one.value is not None]
        what = ", ".join(told[:_MOST_TOLD]) or "every promise kept"
        return f"Healthy for users ({what}); {judged[0]} of {judged[1]} kinds of failure could be judged."
    if status is not Status.INCONCLUSIVE:
        return _by_word(odd, recording, called)
    doubt = _clause(_doubt(vitals, unread, recording, judged))
    if doubt.startswith(_WELL):
        return f"{doubt[0].upper()}{doubt[1:]}."
    return f"Nobody can tell how {recording.service} is, since {doubt}."


_WELL = "users are well"


_SHORT = {"ttft": "TTFT", "itl": "ITL", "e2e": "E2E", "error": "errors", "ratio": ""}
"""What an engineer calls them in a list."""


def _short(vital: Vital) -> str:
    """A vital sign in a word: ``TTFT p95``, ``errors``."""
    words = vital.name.removesuffix("_s").split("_")
    return " ".join(word for one in words if (word := _SHORT.get(one, one)))


def _with(sentence: str, *more: str) -> str:
    """A sentence with what else there is to say, as far as it fits."""
    told = _clause(sentence)
    for one in more:
        if one and len(told) + len(one) + 1 <= LONGEST:
            told += one
    return f"{told}."


def _others(count: int) -> str:
    """That there is more than one thing to mend."""
    return f"; {count} more {'cause' if count == 1 else 'causes'} found" if count else ""


def _refused(vitals: Sequence[Vital], recording: Recording) -> Source | None:
    """A source that failed, where nothing else is known: then that is the answer."""
    failed = [source for source in recording.sources if source.state is SourceState.FAILED and source.reason]
    known = any(vital.state is Promised.KEPT for vital in vitals)
    return failed[0] if failed and not known else None


def _where(source: Source) -> str:
    """What became of a source, with its name where the reason does not begin with an address."""
    what, _, _hint = source.reason.partition("; ")
    if source.name == "prometheus" and what.startswith("http"):
        return f"Prometheus at {what}"
    return what if source.name == "endpoints" else f"{source.name}: {what}"


def _consequence(status: Status, recording: Recording) -> str:
    """What follows from a source that failed."""
    if status is Status.INCONCLUSIVE:
        return f"; nothing is known of {recording.service}."
    return f"; nobody gets an answer from {recording.service}."


def _over(broken: Sequence[Vital]) -> str:
    """That the trouble is over, if all of it is."""
    if not broken or any(vital.until is None for vital in broken):
        return ""
    return f"; over since {clock(max(vital.until or 0.0 for vital in broken))}"


def _unexplained(broken: Sequence[Vital], called: Called) -> str:
    """The worst of the broken promises, and that nothing explains it."""
    worst = max(broken, key=lambda vital: vital.harm)
    when = f" since {clock(worst.since)}" if worst.since is not None else ""
    where = "" if worst.subject.startswith(f"{Scope.SERVICE.value}/") else f" of {called.of_id(worst.subject)}"
    value = f" ({_value(worst)}, {_limit(worst)})" if _has_figures(worst) else ""
    if worst.name == "answers" and worst.reason:
        value = f" ({_clause(worst.reason)})"
    text = f"{worst.title[0].upper()}{worst.title[1:]}{where} is beyond its limit{when}"
    return _with(text, value, _over(broken), "; no rule explains it")


def _limit(vital: Vital) -> str:
    """What a value is held against, and whose limit that is."""
    limit = quantity(vital.limit, vital.unit, like=vital.value)
    return f"promised is {limit}" if vital.limit_of.startswith("objective") else f"the limit is {limit} ({vital.limit_of})"


def _by_word(odd: Sequence[Odd], recording: Recording, called: Called) -> str:
    """What stands for trouble where no promise is broken and no kind was found: the first odd thing that nothing explains."""
    left = [one for one in odd if one.salient and not one.explained_by]
    left.sort(key=lambda one: one.sort != "said")
    if not left:
        return f"Something is wrong with {recording.service}, and no rule explains it with the data at hand."
    first = left[0]
    who = called.of_id(first.subject)
    when = f" since {clock(first.since)}" if first.since is not None else ""
    verb = "logs" if first.sort == "said" else "shows"
    return _with(f"{who[:1].upper()}{who[1:]} {verb} something odd{when}", f" ({_clause(first.phrase)})", "; no rule explains it")


def _has_figures(vital: Vital) -> bool:
    return vital.value is not None and vital.limit is not None


def _value(vital: Vital) -> str:
    """A value as a person reads it; at least so much where it has no upper bound."""
    if vital.low is not None and vital.high is None:
        return f"at least {quantity(vital.low, vital.unit)}"
    return quantity(vital.value or 0.0, vital.unit)


def _doubt(vitals: Sequence[Vital], unread: Sequence[Unread], recording: Recording, judged: tuple[int, int]) -> str:
    """Why nobody can say how the service is."""
    open_ = [vital for vital in vitals if vital.state is Promised.OPEN and vital.reason]
    failed = [one for one in recording.sources if one.reason and one.state in (SourceState.FAILED, SourceState.PARTIAL)]
    failed.sort(key=lambda source: source.state is not SourceState.FAILED)
    stranger = _stranger(recording)
    if any(vital.state is Promised.KEPT for vital in vitals):
        if lost := sorted(NOTICED & recording.unanswered.keys()):
            return _lost(lost, recording)
        if open_:
            return f"{open_[0].title}: {open_[0].reason}"
        if unread:
            who = unread[0].emitter or "one"
            return f"{_WELL}, but the {who} log says what no rule understands"
        if barely_looked(*judged):
            return f"{_WELL}, but none of {judged[1]} kinds of failure could be judged"
        return f"{_WELL} as far as it was seen, but something odd is explained by nothing"
    if stranger and not (failed and failed[0].state is SourceState.FAILED):
        return stranger
    if failed:
        return _where(failed[0])
    return "nothing that users notice (latency, errors) was measured in the window"


def _lost(lost: Sequence[str], recording: Recording) -> str:
    """Which of the signals that promises are read from were lost on the way, and why."""
    told = [catalogue()[name].noun for name in lost[:_MOST_TOLD]]
    more = f" and {len(lost) - len(told)} more" if len(lost) > len(told) else ""
    return f"{', '.join(told)}{more} {'were' if len(lost) > 1 else 'was'} asked for in vain: {recording.unanswered[lost[0]]}"


def _stranger(recording: Recording) -> str:
    """That a server was asked and has nothing of the service, with the names that it has: most likely this one was mistyped."""
    reasons = [one.reason for one in recording.sources if one.name == "prometheus" and one.state is SourceState.ABSENT]
    return next((f"Prometheus at {reason}" for reason in reasons if reason.startswith("http")), "")


def _clause(text: str) -> str:
    """A text that goes on: without its stop, and with commas where it has colons and stops inside."""
    return text.rstrip(".?! ").replace(": ", ", ").replace(". ", ", ")
