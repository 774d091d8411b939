"""A finding in one sentence: the rule's template with whom, when and how much, in words, figures and extracted fields alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from triage.engine.explanation.called import Called
from triage.engine.phrases import details
from triage.engine.rules.evaluate import Answer
from triage.model.diagnosis import Evidence, Verdict
from triage.model.recording import Subject
from triage.model.rule import Measure, Observed, Occurrence, Rule, leaves
from triage.model.sentence import LONGEST, Part, filled, names_in, parts_of
from triage.model.units import clock as moment
from triage.model.units import quantity
from triage.model.vocabulary import Kind, Scope, catalogue

_TOLD = ("event:", "observed:")
"""Evidence that is told in words, not by its number."""

_OPS = {">": "above", ">=": "at least", "<": "below", "<=": "at most"}
_LEAST_SUBJECT = 12
"""Letters of a name that are left of it however long it is."""


def clock(time: float | None) -> str:
    """A moment in words, UTC."""
    return "before the recording" if time is None else moment(time, time)


def sentence(rule: Rule, answer: Answer, subjects: Sequence[Subject], onset: float | None, called: Called) -> str:
    """The rule's sentence, of no more than :data:`LONGEST` letters where names allow it.

    :param subjects: all that have it, the worst first
    """
    parts, count = parts_of(rule.finding), len(subjects)
    bare, told = bare_names(rule), _told(rule, answer)
    known = {"subject": _whom(rule, subjects, called), "onset": clock(onset)}
    known |= {name: _plain(one) for name, one in told.items() if name in bare}
    room = LONGEST - sum(len(_fixed(part, known, count)) for part in parts)
    if room < 0:
        known["subject"] = _cut(known["subject"], len(known["subject"]) + room)
    phrases = {name: candidates(one) for name, one in told.items() if name not in bare}
    text = _joined(parts, known, phrases, count)
    is_own_name = rule.finding.startswith("{subject}") and known["subject"] == subjects[0].id
    return text if is_own_name else text[:1].upper() + text[1:]


_ONE_OF = {Scope.REPLICA: "a replica", Scope.GPU: "a card", Scope.NODE: "a host"}


def _whom(rule: Rule, subjects: Sequence[Subject], called: Called) -> str:
    """Those that have it; where nobody knows which card or host it is, one of its host's or its service's."""
    coarser = subjects[0].scope is not rule.scope and subjects[0].scope in (Scope.NODE, Scope.SERVICE)
    if coarser and rule.scope in _ONE_OF:
        return f"{_ONE_OF[rule.scope]} of {called.several(subjects)}"
    return called.several(subjects)


def _joined(parts: Sequence[Part], known: Mapping[str, str], phrases: Mapping[str, tuple[str, ...]], count: int) -> str:
    """The pieces as one sentence; of those that may be left out each in its longest form that fits, in the template's order."""
    room = LONGEST - sum(len(_fixed(part, known, count)) for part in parts)
    pieces: list[str] = []
    for part in parts:
        piece = _fixed(part, known, count)
        if part.optional:
            said = _words("".join(_fixed(one, known, count) for one in parts))
            forms = (form for form in _forms(part, known, phrases, count) if len(form) <= room and not _is_known(form, said))
            piece = next(forms, "")
            room -= len(piece)
        pieces.append(piece)
    return "".join(pieces).replace("at before the recording", "before the recording")


_KNOWN = 0.7
"""Chosen: of a phrase of which so many words stand in the sentence already nobody learns anything."""


def _words(text: str) -> frozenset[str]:
    """The words that carry the meaning of a text, without their endings."""
    return frozenset(word[:6] for word in re.findall(r"[a-z]{4,}", text.lower()))


def _is_known(form: str, said: frozenset[str]) -> bool:
    """Whether a phrase without figures says again what the sentence says."""
    words = _words(form)
    return bool(words) and not re.search(r"\d", form) and len(words & said) >= _KNOWN * len(words)


def _fixed(part: Part, known: Mapping[str, str], count: int) -> str:
    """A piece that is always told; one that may be left out takes no room yet."""
    if part.optional:
        return ""
    return filled(part.text, {name: known.get(name, "an unknown value") for name in names_in(part.text)}, count)


def _forms(part: Part, known: Mapping[str, str], phrases: Mapping[str, tuple[str, ...]], count: int) -> Iterator[str]:
    """A piece with its values in ever shorter words; none where one of them is not known."""
    names = [name for name in names_in(part.text) if name not in known]
    if all(phrases.get(name) for name in names):
        lists = [phrases[name] for name in names]
        for words in zip_longest(*lists) if lists else [()]:
            chosen = {name: word or phrases[name][-1] for name, word in zip(names, words, strict=True)}
            yield filled(part.text, {**known, **chosen}, count)


def _cut(name: str, most: int) -> str:
    """A name that is too long for its sentence, without its middle."""
    most = max(most, _LEAST_SUBJECT)
    return name if len(name) <= most else f"{name[: most - most // 2 - 1]}…{name[len(name) - most // 2 :]}"


def _told(rule: Rule, answer: Answer) -> dict[str, Evidence]:
    """The evidence behind each name that the sentence speaks of: of what holds alone."""
    spoken = {name for part in parts_of(rule.finding) for name in names_in(part.text)}
    found: dict[str, Evidence] = {}
    for name, look in (pair for way in answer.holding for pair in way.outcome.named):
        if name in spoken and name not in found and look.verdict is Verdict.PRESENT:
            found[name] = look.evidence
    return found


def bare_names(rule: Rule) -> frozenset[str]:
    """Names that stand for a figure alone, since all that gives them is measured in one unit; others stand for a phrase."""
    units: dict[str, set[str]] = {}
    for condition in (part for way in rule.shows for part in leaves(way.condition)):
        if isinstance(condition, Measure | Observed | Occurrence) and condition.as_name:
            units.setdefault(condition.as_name, set()).add(_unit(condition))
    return frozenset(name for name, found in units.items() if len(found) == 1 and "" not in found)


def _unit(condition: Measure | Observed | Occurrence) -> str:
    """Unit in which a condition measures; empty where it is told in words."""
    if not isinstance(condition, Measure) or condition.lasting is not None:
        return ""
    signal = catalogue()[condition.signal]
    return "" if signal.kind is Kind.STATE else f"{signal.unit or 'number'} {condition.stat in ('sum', 'changes', 'slope')}"


def _plain(evidence: Evidence) -> str:
    """A figure with its unit."""
    if evidence.low is not None and evidence.high is None:
        return f"at least {quantity(evidence.low, evidence.unit)}"
    return quantity(evidence.value, evidence.unit)


def candidates(evidence: Evidence) -> tuple[str, ...]:
    """What a piece of evidence says inside a sentence, the longest form first; nothing where only its raw line tells."""
    if evidence.signal.startswith(_TOLD):
        return _told_forms(evidence)
    signal = catalogue().get(evidence.signal)
    if signal is None:
        return ()
    if evidence.op == "gone":
        return (f"{signal.noun} no longer measured",)
    held = "" if evidence.held is None else f" for {quantity(evidence.held, 'seconds')}"
    was = "" if evidence.baseline is None else _figure(evidence.baseline, evidence)
    usual = f", usually {was}" if was and was != _figure(evidence.value, evidence) else ""
    if signal.kind is Kind.STATE:
        missing = evidence.op in ("<", "<=")
        return tuple(dict.fromkeys(f"{'no ' if missing else ''}{signal.noun}{rest}" for rest in (held, "")))
    if evidence.held is not None:
        value = f"{signal.noun} {_OPS.get(evidence.op, evidence.op)} {_figure(evidence.threshold, evidence)}{held}"
        return tuple(dict.fromkeys((value + usual, value)))
    if evidence.value is None:
        return ()
    at_least = "at least " if evidence.low is not None and evidence.high is None else ""
    figure = _figure(evidence.low if at_least else evidence.value, evidence)
    value = f"{signal.noun} {at_least}{figure}"
    return tuple(dict.fromkeys((value + usual, value)))


def _figure(value: float | None, evidence: Evidence) -> str:
    """A figure beside the noun of what it counts: without the unit where the noun names it."""
    text = quantity(value, evidence.unit, like=evidence.value)
    number, _, unit = text.partition(" ")
    what, slash, per = unit.partition("/")
    named = what.removesuffix("s") in catalogue()[evidence.signal].noun if len(what) > 2 else False
    return f"{number}{slash}{per}" if named else text


def _told_forms(evidence: Evidence) -> tuple[str, ...]:
    """An event or something odd: its phrase with its values, fewer of them, the values alone, the phrase alone."""
    words = evidence.phrase
    if not words:
        return ()
    is_read = evidence.signal.startswith("event:") or evidence.signal == "observed:said"
    values = details(evidence.fields) if is_read else ()
    forms = [", ".join((words, *values[:most])) for most in range(len(values), -1, -1)]
    short = re.split(r", | \(", words)[0]
    return tuple(dict.fromkeys([*forms, short, *(details(evidence.fields, 1, alone=True) if is_read else ())]))
