"""What a sentence for people must not be: long, several, with ids or with pieces of raw lines."""

import re

from tests.kinds import kinds
from triage.model.sentence import LONGEST
from triage.model.vocabulary import catalogue

_FAULTS = {
    "several sentences": re.compile(r"[.!?] \S|\.\.|\. \."),
    "no stop at its end": re.compile(r"[^.]$"),
    "no capital": re.compile(r"^[a-z][a-z ]* "),
    "a list behind a colon": re.compile(r": "),
    "the name of a class": re.compile(r"\b(?:event|observed|fact):|\b(?:replica|gpu|node|gateway|client|target|service)/"),
    "a UUID": re.compile(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}|\bGPU-[0-9a-f]{6}"),
    "a piece of a raw line": re.compile(r'[\[\]{}"\\]|\b\d{4}-\d\d-\d\d|\b(?:ERROR|WARN(?:ING)?|INFO|DEBUG|Traceback)\b|\w=\w'),
    "a value that nobody knows": re.compile(r"unknown value|<unknown>|\bnan\b|\bNone\b"),
    "a number that does not agree": re.compile(r"(?<![\d.,])1 (?:requests|replicas|cards|pods|lines|tokens|times|causes)\b"),
}
_OF_A_SENTENCE = ("several sentences", "no stop at its end", "no capital", "a number that does not agree")
_DOTTED = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+")
_HYPHENED = re.compile(r"(?<![\w.-])[a-z0-9]+(?:-[a-z0-9]+)+(?![\w-])")


def faults(sentence: str, service: str = "") -> list[str]:
    """What is wrong with a sentence; nothing if it reads well.

    :param service: its name may begin the sentence in its own letters
    """
    plain = sentence.replace(service, "Service") if service else sentence
    found = [name for name, pattern in _FAULTS.items() if pattern.search(plain)]
    found += ["too long"] if len(sentence) > LONGEST else []
    ids = set(_DOTTED.findall(plain)) & catalogue().keys() | set(_HYPHENED.findall(plain)) & kinds().keys()
    return found + [f"the id {one}" for one in sorted(ids)]


def slips(phrase: str) -> list[str]:
    """What is wrong with a phrase, which is no sentence and may be long; it says something."""
    found = [name for name, pattern in _FAULTS.items() if name not in _OF_A_SENTENCE and pattern.search(phrase)]
    ids = set(_DOTTED.findall(phrase)) & catalogue().keys()
    return found + [f"the id {one}" for one in sorted(ids)] + ([] if phrase else ["nothing said"])
