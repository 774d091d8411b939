"""The states of services as JUnit XML, which every system of continuous integration shows: a test case for each service."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from triage.checks.outcome import WORDS, Checked
from triage.model.diagnosis import Status


def junit(outcomes: Sequence[Checked]) -> str:
    """A document. A service that is not well is a failure, one that nobody can judge an error; its type is the state."""
    sick = [one for one in outcomes if one.status in (Status.DEGRADED, Status.INCIDENT)]
    dark = [one for one in outcomes if one.status is Status.INCONCLUSIVE]
    counts = {"tests": len(outcomes), "failures": len(sick), "errors": len(dark)}
    told = {"name": "triage check", **{key: str(value) for key, value in counts.items()}, "time": _time(outcomes)}
    suites = Element("testsuites", told)
    suite = SubElement(suites, "testsuite", {**told, "skipped": "0"})
    for one in outcomes:
        _case(suite, one)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _case(suite: Element, one: Checked) -> None:
    """One service."""
    case = SubElement(suite, "testcase", {"classname": "triage", "name": _allowed(one.service), "time": f"{one.seconds:.3f}"})
    if one.status is not Status.HEALTHY:
        word = "error" if one.status is Status.INCONCLUSIVE else "failure"
        told = SubElement(case, word, {"type": WORDS[one.status], "message": _allowed(one.headline)})
        told.text = _allowed(one.brief or one.line)
    SubElement(case, "system-out").text = _allowed(one.line)


def _time(outcomes: Sequence[Checked]) -> str:
    """Seconds that all took together."""
    return f"{sum(one.seconds for one in outcomes):.3f}"


def _allowed(text: str) -> str:
    """The text without characters that XML does not know at all."""
    return "".join(char if _is_allowed(ord(char)) else "\ufffd" for char in text)


def _is_allowed(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
