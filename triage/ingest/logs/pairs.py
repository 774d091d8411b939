"""What takes time between two lines: one says that it begins, a later one that the same is done."""

from dataclasses import field
from typing import NamedTuple

from triage.classes import dataclass
from triage.ingest.logs.templates import template_of
from triage.patterns import Pattern

BEGINS = (
    r"\b(?:begin(?:s|ning)?|start(?:s|ing)?|loading|compiling|recompiling|building|captur(?:e|ing)|initiali[sz]ing|(?:auto)?tuning|warming"
    r"|downloading|generating|allocating|preparing|running)\b"
)
"""Words of a line that may say that something begins."""

ENDS = (
    r"\b(?:end(?:s|ed)?|finish(?:ed|es)|complet(?:ed|es)|done|loaded|compiled|recompiled|built|captured|initiali[sz]ed|(?:auto)?tuned|warmed"
    r"|downloaded|generated|allocated|prepared)\b"
)
"""Words of a line that may say that it is done."""

_TURNS = frozenset(
    ("begin", "start", "end", "finish", "complet", "done", "proces", "successfully", "now",
     "the", "a", "of", "for", "with", "is", "to")
)  # fmt: skip
"""Stems of words that turn, or say nothing of what."""

_ENDING = Pattern(r"(?:ing|ed|es|s|e)$")
_IRREGULAR = {"built": "build"}
_SENTENCE = Pattern(r"[.;,]\s|\.\.\.|\s-\s|[({=]")
_WORD = Pattern(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*")
_MANY = Pattern(r"\b(?:request|response|batch|session|connection|stream|prefill|decode|sequence|client|slot)s?\b|\bhttp\b")

_PROGRESS = Pattern(r"\d ?%|\b\d+ ?/ ?\d+\b")
"""A bar or a count of progress: every line of it says that something is done."""

_OPEN = 32
"""Things begun that are remembered; an engine does few at once."""

_TOLD = 5.0
"""Seconds that are worth telling: less is a part of any work."""

_LONGEST = 3600.0
"""Seconds after which an end belongs to another beginning."""

_COMMON = 2
"""Words that both lines share at least: what it is that began and ended."""


class Took(NamedTuple):
    """What took time.

    :param what: its words
    :param began: when, Unix seconds
    """

    what: str
    began: float
    seconds: float


@dataclass
class Pairs:
    """Remembers what has begun in the lines of one emitter.

    What is begun twice before it ends goes on in parallel and is no pair.
    """

    _open: dict[frozenset[str], float | None] = field(default_factory=dict)

    def begins(self, message: str, time: float) -> None:
        """Takes a line that may say that something begins."""
        words = _words(message)
        if len(words) < _COMMON:
            return
        again = words in self._open
        self._open.pop(words, None)
        self._open[words] = None if again else time
        if len(self._open) > _OPEN:
            del self._open[next(iter(self._open))]

    def ends(self, message: str, time: float) -> Took | None:
        """What a line ends that began in an earlier one, if that is worth telling."""
        words = _words(message)
        begun = next(
            (one for one in reversed(self._open) if len(one & words) >= _COMMON and (one <= words or words <= one)), None
        )
        if begun is None:
            return None
        began = self._open.pop(begun)
        if began is None or not _TOLD <= time - began <= _LONGEST:
            return None
        return Took(" ".join(sorted(begun)), began, time - began)


def _words(message: str) -> frozenset[str]:
    """The words of the first sentence that say what it is about, by their stems; none of what goes on for many at a time."""
    sentence = _SENTENCE.split(template_of(message), 1)[0]
    if _MANY.search(sentence) or _PROGRESS.search(message):
        return frozenset()
    stems = (_ENDING.sub("", _IRREGULAR.get(word, word)) or word for word in _WORD.findall(sentence))
    return frozenset(stem for stem in stems if stem not in _TURNS)
