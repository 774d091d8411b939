"""Reads answers of Prometheus with the numbers of all series at once: a reader of JSON makes two objects of each sample.

Many series of an answer say the same, most often that nothing has changed, and series of many metrics have the same labels. What
is written alike is read once.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from operator import methodcaller
from typing import Any

import numpy as np

from triage.classes import dataclass
from triage.ingest.numbers import indented_columns
from triage.ingest.raw import RawSeries
from triage.model.recording import Floats

_RESULT, _METRIC, _VALUES = b'"result":[', b'{"metric":', b',"values":[['
_BETWEEN, _END = b'"],[', b'"]]}'
_NAME = b'"__name__":"'
_TEXTS = frozenset({str})

_NUMBERS = b"0123456789.eE+-NaInf"
_AS_LINES = bytes(
    {ord("]"): ord("\n"), ord(","): ord(" ")}.get(sign, sign if sign in _NUMBERS else ord("!")) for sign in range(256)
)
"""Makes lines of samples, of ``],[1,"2`` one with a space before each number; what has other signs becomes no number."""

_WRITTEN = re.compile(rb'(?:[1-9][0-9]*(?:\.[0-9]+)?,"[^"]*"(?:\],\[|\]\]\},))+')
"""Samples with moments as servers write them: JSON has other numbers."""

_Head = tuple[bytes, bytes]
"""What is written of a series' labels before and behind its name; behind it stands something, unless there is no name."""


@dataclass(slots=True)
class Known:
    """What answers said before: what the next one says again is the same object.

    :param labels: labels by what they are
    :param by_head: the same by how they are written, without the name of the metric
    :param names: names of metrics by how they are written
    :param moments: times in order by their bytes
    """

    labels: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = field(default_factory=dict)
    by_head: dict[_Head, Mapping[str, str]] = field(default_factory=dict)
    names: dict[bytes, str] = field(default_factory=dict)
    moments: dict[bytes, Floats] = field(default_factory=dict)

    def same(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        """Labels without a name, the same object for the same ones."""
        return self.labels.setdefault(tuple(labels.items()), labels)


def loads(body: bytes, known: Known | None = None) -> Any:
    """What JSON stands for; the ``result`` of an answer is :class:`RawSeries` if all are written plainly.

    :raises ValueError: it is no JSON
    """
    plain = read_plain(body, known)
    return json.loads(body) if plain is None else plain


def read_plain(body: bytes, known: Known | None = None) -> Any:
    """An answer whose ``result`` is a list of series, times ascending and values finite; a series without any is left out.

    None if there are none, one of them is not written as servers write it, or it is no JSON.
    """
    known = known or Known()
    first, *told = body.split(_METRIC)
    if not told or not first.endswith(_RESULT):
        return None
    end = told[-1].rfind(_END) + len(_END)
    rest = first + told[-1][end:]
    told[-1] = told[-1][:end] + b","
    try:
        answer = json.loads(rest)
        result = answer["data"]["result"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    series = _series(told, known) if result == [] and rest.count(_RESULT) == 1 else None
    if series is None:
        return None
    result += series
    return answer


def _series(told: Sequence[bytes], known: Known) -> list[RawSeries] | None:
    """The series of an answer; None if one is not plainly written.

    No text in JSON can hold the bytes by which they are cut: its quotation marks would be escaped.

    :param told: what is written behind ``"metric":`` of each, with the comma before the next one
    """
    heads: list[tuple[bytes, _Head]] = []
    places: list[int] = []
    texts: dict[bytes, int] = {}
    for one in told:
        labels, _, text = one.partition(_VALUES)
        before, _, rest = labels.partition(_NAME)
        name, _, behind = rest.partition(b'"')
        heads.append((name, (before, behind)))
        places.append(texts.setdefault(text, len(texts)))
    is_read = _read_names({name for name, _ in heads}, known) and _read_labels({head for _, head in heads}, known)
    samples = _samples(list(texts), known) if is_read else None
    if samples is None:
        return None
    names, labels_of = known.names, known.by_head
    told_of = ((name, head, *samples[place]) for (name, head), place in zip(heads, places, strict=True))
    return [RawSeries(names[name], labels_of[head], times, values) for name, head, times, values in told_of if len(times)]


def _read_names(written: set[bytes], known: Known) -> bool:
    """Takes note of names of metrics; whether all are texts of JSON."""
    fresh = list(written - known.names.keys())
    told = _parsed(b"[%b]" % b",".join([b'"%b"' % name for name in fresh]))
    if told is None or len(told) != len(fresh):
        return False
    known.names.update(zip(fresh, told, strict=True))
    return True


def _read_labels(written: set[_Head], known: Known) -> bool:
    """Takes note of labels; whether all are texts, and none of them is another name."""
    fresh = list(written - known.by_head.keys())
    told = _parsed(b"[%b]" % b",".join([b'%b"__name__":""%b' % head if head[1] else head[0] for head in fresh]))
    if told is None or len(told) != len(fresh):
        return False
    for head, labels in zip(fresh, told, strict=True):
        if not isinstance(labels, dict) or labels.pop("__name__", "") or not _TEXTS.issuperset(map(type, labels.values())):
            return False
        known.by_head[head] = known.same(labels)
    return True


def _parsed(text: bytes) -> Any:
    """What JSON stands for; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _samples(found: Sequence[bytes], known: Known) -> list[tuple[Floats, Floats]] | None:
    """Times and values of series, each written ``time,"value"],[time,"value"]]},``; None if one is written otherwise.

    Most series of an answer have the same moments: these are one object.
    """
    if not all(map(methodcaller("endswith", _END + b","), found)):
        return None
    counts = [one.count(_BETWEEN) + 1 for one in found]
    text = b"],[".join((b"", *[one[: -len(_END)] for one in found]))
    lines, rows = text.translate(_AS_LINES, b'"['), sum(counts)
    if text.count(b',"') != rows or len(text) - len(lines) != 3 * rows:
        return None
    read = indented_columns(lines, rows)
    return None if read is None else _parts(*read, found, counts, known)


def _parts(
    times: Floats, values: Floats, found: Sequence[bytes], counts: Sequence[int], known: Known
) -> list[tuple[Floats, Floats]] | None:
    """Times and values of each series out of those of all; None if moments are not as servers write them.

    :param found: how the samples of each are written
    :param counts: how many there are of each
    """
    is_finite = bool(np.isfinite(values).all())
    parts: list[tuple[Floats, Floats]] = []
    begin = 0
    for text, end in zip(found, accumulate(counts), strict=True):
        own, part = times[begin:end], values[begin:end]
        moments = own.tobytes()
        shared = known.moments.get(moments)
        if shared is None:
            if not _WRITTEN.fullmatch(text):
                return None
            if (own[1:] > own[:-1]).all():
                shared = known.moments.setdefault(moments, own.copy())
        is_known = is_finite or bool(np.isfinite(part).all())
        parts.append((shared, part) if shared is not None and is_known else measured(own, part))
        begin = end
    return parts


def measured(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Finite samples in order of time, the last one where there are several at one moment."""
    kept = np.isfinite(times) & np.isfinite(values)
    times, values = times[kept][::-1], values[kept][::-1]
    times, first = np.unique(times, return_index=True)
    return times, values[first]


def in_columns(told: Sequence[Sequence[Any]]) -> tuple[Floats, Floats]:
    """Times and values of samples ``[[time, "value"], …]``.

    :raises TypeError, ValueError: they are no pairs of numbers
    """
    pairs = np.array([(float(time), float(value)) for time, value in told], dtype=np.float64).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
