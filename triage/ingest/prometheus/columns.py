"""Reads answers of Prometheus with the numbers of all series at once: a reader of JSON makes two objects of each sample."""

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from triage.ingest.numbers import columns
from triage.model.recording import Floats

_BEGIN, _END = b'"values":[[', b"]]"
_MARK = b'"":'
"""Key under which a series' samples are remembered by their number; no answer has it."""

_IN_A_TIME = np.zeros(256, dtype=bool)
_IN_A_TIME[list(b"0123456789.")] = True


def loads(body: bytes) -> Any:
    """What JSON stands for; the ``values`` of a series are one array, as :func:`read_plain` says, if all are written plainly.

    :raises ValueError: it is no JSON
    """
    plain = read_plain(body)
    return json.loads(body) if plain is None else plain


def read_plain(body: bytes) -> Any:
    """An answer in which the ``values`` of each series are one array of times and values, shape (T, 2).

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


def _cut(body: bytes) -> tuple[bytes, list[Floats]] | None:
    """The answer with a number in the place of each series' samples, and the samples; None if they are not plainly written.

    No text in JSON can hold the bytes with which they begin: its quotation mark would be escaped.
    """
    rest: list[bytes] = []
    found: list[bytes] = []
    start = 0
    while (begin := body.find(_BEGIN, start)) >= 0:
        first = begin + len(_BEGIN)
        end = body.find(_END, first)
        if end < 0 or body[begin - 1 : begin] == b"\\":
            return None
        rest += (body[start:begin], b'"values":{%b%d}' % (_MARK, len(found)))
        found.append(body[first:end])
        start = end + len(_END)
    samples = _samples(found)
    return None if samples is None or _MARK in body else (b"".join((*rest, body[start:])), samples)


def _samples(found: list[bytes]) -> list[Floats] | None:
    """Times and values of series, each written ``time,"value"],[time,"value"``; None if one is written otherwise."""
    text = b"],[".join(found)
    if not text.endswith(b'"'):
        return None
    text = text[:-1].replace(b'"],[', b"\n").replace(b',"', b" ") + b"\n"
    counts = [one.count(b"],[") + 1 for one in found]
    told = columns(text, sum(counts))
    if told is None or not _are_times(np.frombuffer(text, np.uint8)):
        return None
    return np.split(np.stack(told, axis=1), np.cumsum(counts)[:-1])


def _are_times(marks: npt.NDArray[np.uint8]) -> bool:
    """Whether the first number of each line is one that JSON knows too, without a sign or an exponent.

    :param marks: lines of two numbers with a space between them, by byte
    """
    blank = np.flatnonzero(marks <= ord(" "))
    begins, ends = np.concatenate(([0], blank[1:-1:2] + 1)), blank[::2]
    odd = np.flatnonzero(~_IN_A_TIME[marks])  # of times none is, and of each line its space and its end
    inside = np.searchsorted(odd, ends) - np.searchsorted(odd, begins)
    firsts, lasts = marks[begins], marks[ends - 1]
    return bool((inside == 0).all() and (firsts > ord("0")).all() and (firsts <= ord("9")).all() and (lasts != ord(".")).all())
