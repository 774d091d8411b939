"""What lines say that something is: digests, revisions, fingerprints, by key and subject, in any program's words."""

from collections.abc import Iterator
from typing import NamedTuple

from triage.ingest.logs.redaction import redacted, redacted_bytes
from triage.ingest.logs.statements import Names
from triage.model.recording import Event, Subject, Window
from triage.patterns import Pattern

IDENTITY = (
    r"(?:digest|checksum|sha(?:1|256|512)?|md5|crc(?:32)?|hash|fingerprint|revision|commit|etag|build|snapshot)[a-z0-9_.]{0,20}"
    r"[\"']?\s?[=:]\s?[\"']?(?:sha256:)?[0-9a-z]"
)
"""A line with a key that stands for what something is; one of the patterns that are looked for in every line."""

_KEY = Pattern(
    r"(?i)(?:^|[._-])(?:digest|checksum|sha(?:1|256|512)?|md5|crc(?:32)?|hash|fingerprint|revision|commit|etag|build|snapshot)"
    r"(?:$|[._-])"
)
_PAIR = Pattern(r"([A-Za-z][A-Za-z0-9_.-]{1,60})[\"']?\s?[=:]\s?[\"']?(?:sha256:)?([0-9A-Za-z][\w.+-]{5,127})")
_COUNTED = Pattern(
    r"(?i)mismatch|count|total|error|fail|time|size|second|bytes|hits|miss|request|prompt|prefix|block|session|trace"
)
"""Keys that count or measure, and identities of what passes by: a request, a prompt, a block of the cache."""

_PLACES = Pattern(
    r"(?i)\b(?:replica|pod|node|host|hostname|worker|instance|backend|target)[\"']?\s?[=:]\s?[\"']?([\w.:-]{1,253})"
)

MAX_VALUES = 8
"""What has more values than this at one subject is no identity: it changes with each request or batch."""

MAX_KEYS = 500


class _Seen(NamedTuple):
    """A value that a key had from a moment on."""

    time: float
    value: str
    text: bytes


class Identities:
    """Keeps the values of identities in the lines of one emitter: each when it is first said, and when it turns.

    :param names: knows the names of the recording
    """

    def __init__(self, emitter: str, window: Window, source: str, names: Names) -> None:
        self._emitter, self._window, self._source, self._names = emitter, window, source, names
        self._values: dict[tuple[str, Subject], list[_Seen]] = {}

    def add(self, text: bytes, time: float, about: Subject) -> None:
        """Takes a line with such a key; what is said after the window's end is of no use."""
        if time > self._window.end:
            return
        words = text.decode("utf-8", "replace")
        subject = next((found for name in _PLACES.findall(words) if (found := self._names(name)) is not None), about)
        for key, value in _PAIR.findall(words):
            if _KEY.search(key) is None or _COUNTED.search(key) is not None or not any(letter.isdigit() for letter in value):
                continue
            seen = self._values.get((key.lower(), subject))
            if seen is None:
                if len(self._values) >= MAX_KEYS:
                    continue
                seen = self._values[key.lower(), subject] = []
            if len(seen) <= MAX_VALUES and (not seen or seen[-1].value != value):
                seen.append(_Seen(time, value, text))

    def events(self) -> Iterator[Event]:
        """Events of kind ``identity``, named by the key; nothing more comes."""
        for (key, subject), values in self._values.items():
            if len(values) > MAX_VALUES:
                continue
            for one in values:
                attrs = {"value": redacted(one.value, 128), "emitter": self._emitter}
                yield Event(one.time, "identity", redacted(key, 60), subject, attrs, redacted_bytes(one.text), self._source)
