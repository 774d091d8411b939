"""The answer in a few lines, the same in every view: how the service is and since when, the cause, where, what to do first."""

from dataclasses import dataclass

from triage.model.diagnosis import CauseState, Diagnosis, Finding, Odd, Promised, Rival, Status, Unread
from triage.model.units import clock
from triage.render.reading import counted, first_way, gaps, is_refused, lasted, listed, muted_line, named, shortened, those

_SORTS = ("said", "identity", "coincides", "outlier", "driver", "life", "change", "instrument", "shift")
"""Of what nothing explains first what was said in words: a person understands it at once."""

_TOLD_ANYWAY = frozenset({"said", "identity", "coincides", "instrument"})
"""Worth a line where the cause is open, even if nobody would ask about it otherwise."""

_LINE = 200
_MOST = 3
_MOST_UNREAD = 1
_SUBJECTS = 3


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the answer.

    :param label: what the line tells
    :param text: what there is to say
    :param below: what else belongs to it
    :param is_command: the text is a command
    """

    label: str
    text: str
    below: tuple[str, ...] = ()
    is_command: bool = False


def answer(diagnosis: Diagnosis) -> list[Told]:
    """The lines below the headline that suffice to act: cause, what nothing explains if it is open, where, first step, more."""
    lines = [_cause(diagnosis), *_muted(diagnosis), *_left(diagnosis), _where(diagnosis), _first(diagnosis), _more(diagnosis)]
    return [line for line in lines if line is not None]


def _muted(diagnosis: Diagnosis) -> list[Told]:
    """What was found and is muted: it stands where the eye is, since the state may look better for it."""
    told = [muted_line(one) for one in diagnosis.muted if one.found and one.state == "heeded"]
    return [Told("muted", told[0], tuple(told[1:]))] if told else []


def span(diagnosis: Diagnosis) -> str:
    """Since when, and until when if it is over: of the broken promises, else of the first finding; empty if all is well."""
    broken = [vital for vital in diagnosis.vitals if vital.state is Promised.BROKEN]
    first = first_finding(diagnosis)
    begins = [vital.since for vital in broken] or ([first.onset] if first else [])
    since = min((begin for begin in begins if begin is not None), default=None)
    ends = [vital.until for vital in broken] or ([first.until] if first else [])
    over = [end for end in ends if end is not None]
    near = diagnosis.window.end
    if ends and len(over) == len(ends):
        return f"over since {clock(max(over), near)}" + (f", began at {clock(since, near)}" if since is not None else "")
    return f"since {clock(since, near)}" if since is not None else ""


def first_finding(diagnosis: Diagnosis) -> Finding | None:
    """The first root cause, None if there is none."""
    return next((finding for finding in diagnosis.findings if finding.role == "root"), None)


def cause_line(diagnosis: Diagnosis) -> str:
    """The cause axis in plain words; empty where nothing has to be explained."""
    cause = diagnosis.cause
    if cause.state is CauseState.NONE:
        return ""
    if cause.state is CauseState.NAMED:
        found = next((one for one in diagnosis.findings if one.rule in cause.rules), None)
        return f"named, {found.confidence}: {found.title} ({found.rule})" if found else f"named: {', '.join(cause.rules)}"
    effect = f" {cause.text}" if "is an effect" in cause.text else ""
    if cause.state is CauseState.OPEN:
        return f"open; {_not_ruled_out(diagnosis)}.{effect}"
    names = [f"{rival.title} ({rival.rule})" for rival in cause.rivals]
    if len(names) == 1:
        return f"not certain, perhaps {names[0]}.{effect}"
    return f"one of {len(names)}: {', '.join(names[:-1])} or {names[-1]}.{effect}"


def _not_ruled_out(diagnosis: Diagnosis) -> str:
    """How many kinds the cause is open among."""
    return f"{counted(len(diagnosis.not_evaluated), 'kind')} of failure could not be ruled out"


def rival_line(rival: Rival) -> str:
    """Why it may be this kind, and what would decide."""
    decides = f"; what decides: {rival.decides}" if rival.decides else ""
    return f"{rival.title} ({rival.rule}): {rival.why.rstrip('.')}{decides}."


def odd_line(odd: Odd, near: float) -> str:
    """Something odd in one sentence: whom it is about, what, since when."""
    told = odd.text
    when = f", {lasted(odd.since, odd.until, near)}" if odd.since is not None else ""
    whom = "" if odd.subject.partition("/")[2] in told else f"{named(odd.subject)}: "
    return f"{whom}{shortened(told, _LINE)}{when}"


def unread_line(unread: Unread) -> str:
    """A line that nothing understands, how often it came and where it stands."""
    count = "" if unread.count == 1 else f"{unread.count} × "
    return f"{count}{unread.source or unread.emitter or 'a log'}: {shortened(unread.text, _LINE)}"


def left_over(diagnosis: Diagnosis, *, anyway: bool = False) -> list[Odd]:
    """What is odd and explained by nothing, what a person would ask about first; broken promises stand among the vital signs.

    :param anyway: also what was said and nobody would ask about if the cause were known
    """
    open_ = [one for one in diagnosis.observations if not one.explained_by and one.sort != "promise"]
    kept = [one for one in open_ if one.salient or (anyway and one.sort in _TOLD_ANYWAY and one.of != "residue")]
    kept = [one for one in kept if not _is_promise_again(one, diagnosis)]
    kept.sort(key=lambda one: (not one.salient, _SORTS.index(one.sort) if one.sort in _SORTS else len(_SORTS)))
    told = [one.text for one in diagnosis.unread]
    left: list[Odd] = []
    for one in kept:
        if not any(one.text in text for text in told):
            left.append(one)
            told.append(one.text)
    return left


def rest(diagnosis: Diagnosis, *, everything: bool = False) -> tuple[list[str], list[str]]:
    """What stands below the answer: lines that nothing understands, and odd things that nothing explains, without those on top.

    :param everything: also what was told on top, and what nobody would ask about
    """
    unread, is_told = list(diagnosis.unread), is_open(diagnosis) and not everything
    odd = left_over(diagnosis, anyway=everything or is_open(diagnosis))
    if is_told:
        unread, odd = unread[_MOST_UNREAD:], odd[_MOST:]
    return [unread_line(one) for one in unread], [odd_line(one, diagnosis.window.end) for one in odd]


def _is_promise_again(odd: Odd, diagnosis: Diagnosis) -> bool:
    """Whether, of a named cause, it is the signal that a broken promise was read from, or the same wait seen from inside."""
    if odd.sort != "shift" or diagnosis.cause.state is not CauseState.NAMED:
        return False
    signals = {symptom.evidence.signal for symptom in diagnosis.symptoms}
    waits = any(symptom.unit == "seconds" for symptom in diagnosis.symptoms)
    return odd.of in signals or (waits and odd.of.startswith("latency."))


def _cause(diagnosis: Diagnosis) -> Told | None:
    """The cause, and of several what would decide."""
    line = cause_line(diagnosis)
    if not line:
        return None
    if diagnosis.cause.state is CauseState.NAMED:
        found = next((one for one in diagnosis.findings if one.rule in diagnosis.cause.rules), None)
        return Told("cause", f"named, {found.confidence}: {found.rule}" if found else line)
    ways: dict[str, list[str]] = {}
    for rival in diagnosis.cause.rivals:
        if rival.decides:
            ways.setdefault(first_way(rival.decides), []).append(rival.rule)
    alone = len(diagnosis.cause.rivals) == 1
    decide = [f"what decides{'' if alone else f' on {listed(rules, _MOST)}'}: {way}" for way, rules in ways.items()]
    return Told("cause", line, tuple(decide[:_MOST]))


def _left(diagnosis: Diagnosis) -> list[Told]:
    """Where the cause is not known, what nothing explains and what nothing understands: the answer may stand there."""
    if not is_open(diagnosis):
        return []
    lines = [Told("unread", f"not understood by any rule: {unread_line(one)}") for one in diagnosis.unread[:_MOST_UNREAD]]
    near = diagnosis.window.end
    odd = [Told("odd", odd_line(one, near)) for one in left_over(diagnosis, anyway=True)[:_MOST]]
    return [*lines, *odd]


def is_open(diagnosis: Diagnosis) -> bool:
    """Whether something has to be explained and no finding that was made can be called its cause."""
    if diagnosis.cause.state is CauseState.NARROWED:
        found = {finding.rule for finding in diagnosis.findings}
        return not found & set(diagnosis.cause.rules)
    return diagnosis.cause.state is CauseState.OPEN


def _where(diagnosis: Diagnosis) -> Told | None:
    """Layer, scale and subjects."""
    first = first_finding(diagnosis)
    if first is not None:
        subjects = those(first.subjects or (first.subject,), _SUBJECTS)
        return Told("where", f"{first.layer.value} layer, {first.scale.value} scale, on {subjects}")
    broken = dict.fromkeys(vital.subject for vital in diagnosis.vitals if vital.state is Promised.BROKEN)
    parts = tuple(subject for subject in broken if not subject.startswith("service/"))
    return Told("where", f"users notice it on {those(parts, _SUBJECTS)}") if parts else None


def _first(diagnosis: Diagnosis) -> Told | None:
    """What to do first."""
    first = first_finding(diagnosis)
    return Told("do first", first.first_step) if first is not None and first.first_step else None


def _more(diagnosis: Diagnosis) -> Told | None:
    """How to see more."""
    first = first_finding(diagnosis)
    if first is not None:
        return Told("then", f"triage playbook {first.playbook}", is_command=True)
    if is_refused(diagnosis):
        failed = next(source for source in diagnosis.coverage.sources if source.state == "failed")
        return Told("do first", f"mend source {failed.name}: {failed.reason}")
    rivals = diagnosis.cause.rivals
    if rivals:
        return Told("then", f"triage playbook {rivals[0].rule}", is_command=True)
    ways = gaps(diagnosis.not_evaluated)
    is_well = diagnosis.status is Status.HEALTHY
    return Told("see more", ways[0].how) if ways and not is_well else None


def titles_of_roots(diagnosis: Diagnosis) -> list[tuple[str, Finding]]:
    """The findings that no other explains, each with what it is called: the cause only as far as it is known to be."""
    roots = [finding for finding in diagnosis.findings if finding.role == "root"]
    called = [_title_of_root(finding, diagnosis) for finding in roots]
    titled = []
    for number, (title, finding) in enumerate(zip(called, roots, strict=True)):
        of = called.count(title)
        titled.append((title if of == 1 else f"{title} ({called[:number].count(title) + 1} of {of})", finding))
    return titled


def _title_of_root(finding: Finding, diagnosis: Diagnosis) -> str:
    """What one of them is called."""
    cause = diagnosis.cause
    if finding.rule not in cause.rules:
        return "Also found" if cause.state is CauseState.NAMED else "Found"
    return "Root cause" if cause.state is CauseState.NAMED else "Possible cause"


def rivals_of(diagnosis: Diagnosis) -> list[Rival]:
    """The kinds that it may be and that no finding tells of in full."""
    if diagnosis.cause.state is not CauseState.NARROWED:
        return []
    found = {finding.rule for finding in diagnosis.findings}
    return [rival for rival in diagnosis.cause.rivals if rival.rule not in found]
