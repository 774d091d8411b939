"""The answer in five lines, the same in every view: what, how sure and where, what to do first, what not to do, where is more."""

from triage.classes import dataclass
from triage.model.diagnosis import CauseState, Diagnosis, Finding, Odd, Promised, Rival, Status, Unread, Vital
from triage.model.units import clock
from triage.render.reading import (
    counted,
    first_way,
    gaps,
    lasted,
    listed,
    muted_line,
    named,
    poor_source,
    shortened,
    those,
    whom,
    window,
)

_SORTS = ("said", "identity", "coincides", "outlier", "driver", "life", "change", "instrument", "shift")
"""Of what nothing explains first what was said in words: a person understands it at once."""

_TOLD_ANYWAY = frozenset({"said", "identity", "coincides", "instrument"})
"""Worth a line where the cause is open, even if nobody would ask about it otherwise."""

_AS_WRITTEN = frozenset({"said"})
"""What nobody explains is best told in the words of who wrote it."""

_LINE = 200
_MOST = 3
_SUBJECTS = 2
_WHAT = 260
_STEP = 240
"""Characters of the longest line: five of them and their labels fit a screen of 80 columns with room to spare."""

_KEEP_LOGS = "restart or drain what still answers before its log is saved; the cause may stand nowhere else."
_UNDECIDED = "restart or change anything before that is decided; what cures one of them feeds another."
_NOT_HEALTH = "take this for health; too little was seen to say so."


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


def five_lines(diagnosis: Diagnosis, flags: str = "") -> tuple[Told, Told, Told, Told, Told]:
    """What a person needs to act: what is wrong; since when, where, how sure; the first step; the usual mistake; how to see more.

    :param flags: what names the incident on the command line, for the command that shows more
    """
    return (
        Told("what", shortened(diagnosis.headline or window(diagnosis), _WHAT)),
        Told("when", _standing(diagnosis), _muted(diagnosis)),
        Told("do first", shortened(_first(diagnosis), _STEP)),
        Told("do not", shortened(_not(diagnosis), _STEP)),
        _more(diagnosis, flags),
    )


def _standing(diagnosis: Diagnosis) -> str:
    """Since when, where, and how sure; of a service that nothing befell which time was judged."""
    return "; ".join(part for part in ("" if span(diagnosis) else _window_of(diagnosis), standing(diagnosis)) if part)


def standing(diagnosis: Diagnosis) -> str:
    """Since when if anything began, where, and how sure."""
    when = span(diagnosis)
    return "; ".join(part for part in (f"{when} UTC" if when else "", _where(diagnosis), how_sure(diagnosis)) if part)


def _window_of(diagnosis: Diagnosis) -> str:
    """The window that was judged, where nothing began in it."""
    return window(diagnosis).partition(",")[0]


def _muted(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What was found and is muted: it stands where the eye is, since the state may look better for it."""
    return tuple(muted_line(one) for one in diagnosis.muted if one.found and one.state == "heeded")


def how_sure(diagnosis: Diagnosis) -> str:
    """The kind and how sure it is, what it may be, or how much is open; where nothing is to be explained how much was judged."""
    cause = diagnosis.cause
    if cause.state is CauseState.NONE:
        return _judged(diagnosis)
    if cause.state is CauseState.NAMED:
        found = next((one for one in diagnosis.findings if one.rule in cause.rules), None)
        return f"{found.confidence}: {found.rule}" if found else f"named: {listed(cause.rules, _MOST)}"
    names = [rival.rule for rival in cause.rivals] or list(cause.rules)
    if cause.state is CauseState.NARROWED and names:
        return f"not certain, perhaps {names[0]}" if len(names) == 1 else f"one of {listed(names, _MOST)}"
    if not diagnosis.coverage.rules_evaluated:
        seen = listed(diagnosis.coverage.dialects, _MOST)
        return f"nothing could be judged by what was seen: {seen}" if seen else "nothing could be judged"
    first = first_finding(diagnosis)
    effect = f"; {first.rule} is an effect" if first is not None and "is an effect" in cause.text else ""
    return f"cause open, {_not_ruled_out(diagnosis)}{effect}"


def _not_ruled_out(diagnosis: Diagnosis) -> str:
    """How many kinds the cause is open among."""
    return f"{counted(len(diagnosis.not_evaluated), 'kind')} could not be ruled out"


def _judged(diagnosis: Diagnosis) -> str:
    """How many kinds could be judged, if the headline does not say so."""
    coverage = diagnosis.coverage
    share = f"{coverage.rules_evaluated} of {coverage.rules_total}"
    return "" if share in diagnosis.headline else f"{share} kinds of failure could be judged"


def _where(diagnosis: Diagnosis) -> str:
    """On whom and in which layer, or on whom users notice it."""
    first = first_finding(diagnosis)
    if first is not None:
        return f"{first.layer.value} layer, {whom(first, _SUBJECTS)}"
    broken = dict.fromkeys(vital.subject for vital in _broken(diagnosis))
    parts = tuple(subject for subject in broken if not subject.startswith("service/"))
    return f"users notice it on {those(parts, _SUBJECTS)}" if parts else ""


def _first(diagnosis: Diagnosis) -> str:
    """The first step of what was found, else what would decide, else what to read, else what to let be seen."""
    first = first_finding(diagnosis)
    if first is not None and first.first_step:
        return first.first_step
    poor = poor_source(diagnosis)
    if poor is not None:
        return f"mend source {poor.name}: {poor.reason}"
    decides = [rival for rival in diagnosis.cause.rivals if rival.decides]
    if decides:
        return f"decide on {decides[0].rule}: {first_way(decides[0].decides)}"
    if diagnosis.status is Status.HEALTHY:
        return "nothing; users are well."
    if is_open(diagnosis) and diagnosis.unread:
        return f"read what no rule understands: {unread_line(diagnosis.unread[0])}"
    odd = left_over(diagnosis, anyway=True) if is_open(diagnosis) else []
    if odd:
        return f"look at what nothing explains: {odd_line(odd[0], diagnosis.window.end)}"
    ways = gaps(diagnosis.not_evaluated)
    return ways[0].how if ways else "look at the service by hand; nothing that was seen tells more."


def _not(diagnosis: Diagnosis) -> str:
    """The usual mistake: that of the kind that was found, else that of the state."""
    first = first_finding(diagnosis)
    if first is not None and first.do_not:
        return first.do_not
    if diagnosis.status is Status.HEALTHY:
        unseen = diagnosis.coverage.rules_total - diagnosis.coverage.rules_evaluated
        return f"read that as proof: {counted(unseen, 'kind')} could not be judged." if unseen else "change what works."
    if diagnosis.status is Status.INCONCLUSIVE:
        return _NOT_HEALTH
    return _UNDECIDED if diagnosis.cause.state is CauseState.NARROWED else _KEEP_LOGS


def _more(diagnosis: Diagnosis, flags: str) -> Told:
    """The playbook of what was found or may be; else what was judged and how."""
    first = first_finding(diagnosis)
    kind = first.playbook if first is not None else next((rival.rule for rival in diagnosis.cause.rivals), "")
    if kind:
        return Told("see more", " ".join(["triage playbook", kind, *([flags] if flags else [])]), is_command=True)
    return Told("see more", "--verbose shows how each kind was judged, and how to judge the others")


def span(diagnosis: Diagnosis) -> str:
    """Since when, and until when if it is over: of the broken promises, else of the first finding; empty if all is well."""
    broken = _broken(diagnosis)
    first = first_finding(diagnosis)
    begins = [vital.since for vital in broken] or ([first.onset] if first else [])
    since = min((begin for begin in begins if begin is not None), default=None)
    ends = [vital.until for vital in broken] or ([first.until] if first else [])
    over = [end for end in ends if end is not None]
    near = diagnosis.window.end
    if ends and len(over) == len(ends):
        return f"{'users noticed it ' if broken else ''}{lasted(since, max(over), near)}"
    if since is None:
        return ""
    return f"users notice it since {clock(since, near)}" if broken else f"since {clock(since, near)}"


def is_said_on_top(finding: Finding, diagnosis: Diagnosis) -> bool:
    """Whether the first line has the sentence of a finding already."""
    return finding is first_finding(diagnosis) and finding.summary.rstrip(".") in diagnosis.headline


def _broken(diagnosis: Diagnosis) -> list[Vital]:
    """What users notice and is not well."""
    return [vital for vital in diagnosis.vitals if vital.state is Promised.BROKEN and vital.noticed]


def first_finding(diagnosis: Diagnosis) -> Finding | None:
    """The first root cause, None if there is none."""
    return next((finding for finding in diagnosis.findings if finding.role == "root"), None)


def rival_line(rival: Rival) -> str:
    """Why it may be this kind, and what would decide."""
    decides = f"; what decides: {rival.decides}" if rival.decides else ""
    return f"{rival.title} ({rival.rule}): {rival.why.rstrip('.')}{decides}."


def odd_line(odd: Odd, near: float) -> str:
    """Something odd in one sentence: whom it is about, what, since when."""
    told = odd.phrase if odd.phrase and odd.sort not in _AS_WRITTEN else odd.text
    when = f", {lasted(odd.since, odd.until, near)}" if odd.since is not None else ""
    who = "" if odd.subject.partition("/")[2] in told else f"{odd.who or named(odd.subject)}: "
    return f"{who}{shortened(told, _LINE)}{when}"


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
    """Lines that nothing understands, and odd things that nothing explains.

    :param everything: also what nobody would ask about
    """
    odd = left_over(diagnosis, anyway=everything or is_open(diagnosis))
    return [unread_line(one) for one in diagnosis.unread], [odd_line(one, diagnosis.window.end) for one in odd]


def _is_promise_again(odd: Odd, diagnosis: Diagnosis) -> bool:
    """Whether, of a named cause, it is the signal that a broken promise was read from, or the same wait seen from inside."""
    if odd.sort != "shift" or diagnosis.cause.state is not CauseState.NAMED:
        return False
    signals = {symptom.evidence.signal for symptom in diagnosis.symptoms}
    waits = any(symptom.unit == "seconds" for symptom in diagnosis.symptoms)
    return odd.of in signals or (waits and odd.of.startswith("latency."))


def is_open(diagnosis: Diagnosis) -> bool:
    """Whether something has to be explained and no finding that was made can be called its cause."""
    if diagnosis.cause.state is CauseState.NARROWED:
        found = {finding.rule for finding in diagnosis.findings}
        return not found & set(diagnosis.cause.rules)
    return diagnosis.cause.state is CauseState.OPEN


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
