"""Reads answers of Prometheus with the numbers of all series at once: a reader of JSON makes two objects of each sample."""

import json
import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.ingest.numbers import blanks, second_column
from triage.model.recording import Floats, Ints

_BEGIN, _BETWEEN, _END = b'"values":[[', b'"],[', b'"]]'
_MARK = b'"":'
"""Key under which a series' samples are remembered by their number; no answer has it."""

_TIMES = re.compile(rb"(?:[1-9][0-9]*(?:\.[0-9]+)? +)+")
_LONGEST_TIME = 24
"""Characters of a moment, and of the space behind it: milliseconds of this era take fourteen."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of a series.

    :param times: Unix seconds, shape (T,); series that were read at the same moments share them
    :param values: shape (T,)
    :param in_order: they are finite, and of ascending times
    """

    times: Floats
    values: Floats
    in_order: bool


def in_columns(told: Samples | Sequence[Sequence[Any]]) -> tuple[Floats, Floats]:
    """Times and values of samples, or of ``[[time, "value"], …]``, as they are told.

    :raises TypeError, ValueError: they are no pairs of numbers
    """
    if isinstance(told, Samples):
        return told.times, told.values
    pairs = np.array([(float(time), float(value)) for time, value in told], dtype=np.float64).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def loads(body: bytes) -> Any:
    """What JSON stands for; the ``values`` of a series are :class:`Samples` if all are written plainly.

    :raises ValueError: it is no JSON
    """
    plain = read_plain(body)
    return json.loads(body) if plain is None else plain


def read_plain(body: bytes) -> Any:
    """An answer in which the ``values`` of each series are :class:`Samples`.

    None if there are none, one of them is not written as servers write it, or it is no JSON.
    """
    cut = _cut(body)
    if cut is None:
        return None
    rest, samples = cut

    def whole(told: dict[str, Any]) -> Any:
        number = told.get("")
        return told if number is None else samples[number]

    try:
        return json.loads(rest, object_hook=whole)
    except (ValueError, RecursionError):
        return None


def _cut(body: bytes) -> tuple[bytes, list[Samples]] | None:
    """The answer with a number in the place of each series' samples, and the samples; None if they are not plainly written.

    No text in JSON can hold the bytes with which they begin: its quotation mark would be escaped.
    """
    first, *others = body.split(_BEGIN)
    parts = [one.partition(_END) for one in others]
    before = [first, *(rest for _, _, rest in parts)]
    whole = all(end for _, end, _ in parts) and not any(one.endswith(b"\\") or _MARK in one for one in before)
    samples = _samples([told for told, _, _ in parts]) if parts and whole else None
    if samples is None:
        return None
    marked = (b'%b"values":{%b%d}' % (one, _MARK, number) for number, one in enumerate(before[:-1]))
    return b"".join((*marked, before[-1])), samples


def _samples(found: list[bytes]) -> list[Samples] | None:
    """Samples of series, each written ``time,"value"],[time,"value``; None if one is written otherwise.

    Most series of an answer have the same moments: these are read once for all of them.
    """
    text = b"\n".join((*found, b"")).replace(_BETWEEN, b"\n").replace(b',"', b" ")
    counts = [one.count(_BETWEEN) + 1 for one in found]
    blank = blanks(text, sum(counts))
    moments = None if blank is None else _first_words(text, blank)
    values = None if moments is None else second_column(text)
    if moments is None or values is None:
        return None
    is_finite = bool(np.isfinite(values).all())
    read: dict[bytes, tuple[Floats, bool] | None] = {}
    samples: list[Samples] = []
    for begin, end in pairwise(accumulate(counts, initial=0)):
        written = moments[begin:end].tobytes()
        if written not in read:
            read[written] = _times(written)
        told = read[written]
        if told is None:
            return None
        samples.append(Samples(told[0], values[begin:end], is_finite and told[1]))
    return samples


def _first_words(text: bytes, blank: Ints) -> npt.NDArray[np.uint8] | None:
    """The first word of each line, filled up with spaces and a space behind it, a row a line; None if one is too long.

    :param blank: where the space and the end of each line stand, by turns
    """
    begins = np.concatenate(([0], blank[1:-1:2] + 1))
    lengths = blank[::2] - begins
    longest = int(lengths.max()) + 1
    if longest > _LONGEST_TIME:
        return None
    marks = np.frombuffer(text + b" " * longest, np.uint8)
    words = np.lib.stride_tricks.sliding_window_view(marks, longest)[begins]
    if (lengths + 1 == longest).all():
        return words
    return np.where(np.arange(longest) < lengths[:, None], words, np.uint8(ord(" ")))


def _times(written: bytes) -> tuple[Floats, bool] | None:
    """Moments, with a space behind each, and whether they are in order; None if JSON has other numbers or none."""
    if not _TIMES.fullmatch(written):
        return None
    times = np.array(written.split(), dtype=np.float64)
    return times, bool((times[1:] > times[:-1]).all())
