"""The load that engines write into their logs every few seconds, as series."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import re2

from triage.classes import dataclass
from triage.model.recording import Origin, Series, Subject, Window
from triage.model.vocabulary import Combine, catalogue
from triage.patterns import Pattern

GRID = 15.0
"""Distance of the samples, seconds: vLLM writes its load every 10 s, SGLang every 40 steps."""


@dataclass(frozen=True, slots=True)
class Field:
    """A number in a line of load.

    :param signal: what it is
    :param pattern: RE2 with one group
    :param scale: factor to the base unit
    :param adds: numbers of one interval add up to a count, rather than each being a level
    :param rounded: what a printed nought stands for, in the base unit: half of what the last digit still shows
    """

    signal: str
    pattern: bytes
    scale: float = 1.0
    adds: bool = False
    rounded: float = 0.0


@dataclass(frozen=True, slots=True)
class LoadLine:
    """One program's line of load.

    :param marker: bytes that only such lines hold
    :param index: RE2 with one group: which of several engines in one process speaks
    :param skip: RE2 of lines that repeat what another rank says
    :param step: RE2 with one group: number of the step that the line tells of, where not every step need have a line
    """

    marker: bytes
    fields: tuple[Field, ...]
    index: bytes = b""
    skip: bytes = b""
    step: bytes = b""


_TP = rb"\b(?:TP|PP)[1-9]\d*\b"

_LOAD_LINES: tuple[LoadLine, ...] = (
    LoadLine(
        b"Avg prompt throughput",
        (
            Field("tokens.prompt_computed", rb"Avg prompt throughput: ([\d.]+)"),
            Field("tokens.generation", rb"Avg generation throughput: ([\d.]+)"),
            Field("batch.running", rb"Running: (\d+)"),
            Field("queue.waiting", rb"(?:Waiting|Pending): (\d+)"),
            Field("queue.deferred", rb"Deferred: (\d+)"),
            Field("preemptions", rb"Preemptions: (\d+)", adds=True),
            Field("kv.usage", rb"KV cache usage: ([\d.]+)%", 0.01, rounded=0.00025),
            Field("prefix.hit_ratio_reported", rb"Prefix cache hit rate: (?:GPU: )?([\d.]+)%", 0.01),
        ),
        index=rb"Engine (\d+)",
    ),
    LoadLine(
        b"SpecDecoding metrics",
        (
            Field("spec.accepted_tokens", rb"Accepted throughput: ([\d.]+)"),
            Field("spec.draft_tokens", rb"Drafted throughput: ([\d.]+)"),
            Field("spec.step_tokens", rb"Mean acceptance length: ([\d.]+)"),
        ),
    ),
    LoadLine(
        b"Decode batch",
        (
            Field("batch.running", rb"#running-req: (\d+)"),
            Field("queue.waiting", rb"#queue-req: (\d+)"),
            Field("kv.usage", rb"token usage: ([\d.]+)", rounded=0.0025),
            Field("tokens.generation", rb"gen throughput \(token/s\): ([\d.]+)"),
            Field("spec.step_tokens", rb"accept len: ([\d.]+)"),
            Field("spec.acceptance_reported", rb"accept rate: ([\d.]+)"),
        ),
        index=rb"\bDP(\d+)\b",
        skip=_TP,
    ),
    LoadLine(
        b"Prefill batch",
        (
            Field("queue.waiting", rb"#queue-req: (\d+)"),
            Field("tokens.prompt_computed", rb"#new-token: (\d+)", adds=True),
            Field("prefix.hits", rb"#cached-token: (\d+)", adds=True),
            Field("prefix.queries", rb"#new-token: (\d+)", adds=True),
            Field("prefix.queries", rb"#cached-token: (\d+)", adds=True),
        ),
        index=rb"\bDP(\d+)\b",
        skip=_TP,
    ),
    LoadLine(
        b"num_scheduled_requests",
        (
            Field("batch.running", rb"num_scheduled_requests[:=\s]+(\d+)"),
            Field("queue.waiting", rb"num_unscheduled = (\d+)"),
            Field("kv.usage", rb"kv_cache_util = ([\d.]+)", rounded=0.00025),
            Field("tokens.prompt_computed", rb"'num_ctx_tokens': (\d+)", adds=True),
            Field("tokens.generation", rb"'num_generation_tokens': (\d+)", adds=True),
            Field("engine.steps", rb"\b(1)?iter = \d", adds=True),
        ),
        skip=rb"global_rank = [1-9]",
        step=rb"\biter = (\d+)",
    ),
    LoadLine(
        b"ms per token",
        (Field("engine.time_per_step", rb"eval time =[^(]*\( *([\d.]+) ms per token", 0.001),),
        skip=rb"prompt eval time",
    ),
    LoadLine(
        b'"Active Request Count"',
        (
            Field("batch.running", rb'"Scheduled Requests":(\d+)'),
            Field("queue.waiting", rb'"Active Request Count":(\d+)'),
        ),
    ),
)
"""Lines of load of vLLM (two generations), SGLang, TensorRT-LLM, llama.cpp and Triton. Wording: vllm loggers.py and metrics.py,
sglang scheduler metrics, TensorRT-LLM py_executor.py (print_iter_log), triton-inference-server/tensorrtllm_backend#217."""


Search = Callable[[bytes], Any]


@dataclass(frozen=True, slots=True)
class _Reader:
    line: LoadLine
    fields: tuple[tuple[Field, Search], ...]
    index: Search | None
    skip: Search | None
    step: Search | None


def _reader(line: LoadLine) -> _Reader:
    return _Reader(
        line,
        tuple((one, re2.compile(one.pattern).search) for one in line.fields),
        re2.compile(line.index).search if line.index else None,
        re2.compile(line.skip).search if line.skip else None,
        re2.compile(line.step).search if line.step else None,
    )


_SLOT = Pattern(rb"slot +(launch_slot_|release): id +(\d{1,4})").search
_READERS = tuple(_reader(line) for line in _LOAD_LINES)


@dataclass
class _Bin:
    """Values of one signal of one engine in one interval."""

    total: float = 0.0
    count: int = 0


class LoadSeries:
    """Collects lines of load and makes series of them."""

    def __init__(self, subject: Subject, window: Window, source: str) -> None:
        self._subject = subject
        self._window = window
        self._source = source
        self._bins: dict[tuple[str, int], dict[int, _Bin]] = {}
        self._adds: set[str] = set()
        self._span: tuple[int, int] | None = None
        self._slots: set[bytes] = set()
        self._steps: dict[int, int] = {}
        self._followed = 0
        self._jumped = 0

    def feed(self, line: bytes, time: float | None) -> bool:
        """Takes a line; true if it is one of load."""
        turn = _SLOT(line) if b"slot " in line else None
        if turn is not None:
            self._turn(turn.group(1), turn.group(2), time)
            return False
        for reader in _READERS:
            if reader.line.marker in line:
                if time is not None and self._window.baseline_start <= time <= self._window.end:
                    self._take(reader, line, int(time // GRID))
                return True
        return False

    def _turn(self, what: bytes, slot: bytes, time: float | None) -> None:
        """A slot of llama.cpp takes a request or is done with it: as many run as slots are taken, this one included."""
        self._slots.add(slot)
        running = len(self._slots)
        if what == b"release":
            self._slots.discard(slot)
        if time is not None and self._window.baseline_start <= time <= self._window.end:
            bucket = self._bins.setdefault(("batch.running", 0), {}).setdefault(int(time // GRID), _Bin())
            bucket.total += running
            bucket.count += 1

    def _take(self, reader: _Reader, line: bytes, number: int) -> None:
        if reader.skip is not None and reader.skip(line):
            return
        index = _first_number(reader.index(line)) if reader.index is not None else None
        self._follow(reader, line, int(index or 0))
        low, high = self._span or (number, number)
        self._span = (min(low, number), max(high, number))
        for one, search in reader.fields:
            found = search(line)
            if found is None:
                continue
            value = _first_number(found)
            if one.adds:
                self._adds.add(one.signal)
            bucket = self._bins.setdefault((one.signal, int(index or 0)), {}).setdefault(number, _Bin())
            bucket.total += (1.0 if value is None else value) * one.scale or one.rounded
            bucket.count += 1

    def _follow(self, reader: _Reader, line: bytes, index: int) -> None:
        """Notes whether the step of a line comes right after that of the line before."""
        step = _first_number(reader.step(line)) if reader.step is not None else None
        if step is None:
            return
        before = self._steps.get(index)
        self._steps[index] = int(step)
        if before is not None:
            self._followed += 1
            self._jumped += int(step) > before + 1

    @property
    def _is_sample(self) -> bool:
        """Whether most steps have no line: their amounts add up to nothing that anybody has counted."""
        return 2 * self._jumped > self._followed

    def series(self) -> Iterator[Series]:
        """Series on a grid of 15 s; several engines of one process are put together as their signal says."""
        for signal in sorted({signal for signal, _ in self._bins}):
            if signal in self._adds and self._is_sample:
                continue
            bins = self._combined(signal)
            numbers = sorted(bins)
            if signal in self._adds and self._span is not None:
                numbers = list(range(self._span[0], self._span[1] + 1))
            times = np.minimum((np.array(numbers, dtype=np.float64) + 1.0) * GRID, self._window.end)
            values = np.array([bins.get(number, 0.0) for number in numbers])
            yield Series(signal, self._subject, times, values, Origin("log", self._source))

    def _combined(self, signal: str) -> dict[int, float]:
        parts: dict[int, list[float]] = {}
        for (name, _), bins in self._bins.items():
            if name == signal:
                for number, one in bins.items():
                    parts.setdefault(number, []).append(one.total / (GRID if signal in self._adds else one.count))
        combine = _COMBINE[catalogue()[signal].combine]
        return {number: combine(values) for number, values in parts.items()}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


_COMBINE: dict[Combine, Callable[[list[float]], float]] = {
    Combine.SUM: sum,
    Combine.MAX: max,
    Combine.MIN: min,
    Combine.MEAN: _mean,
}


def _first_number(found: Any) -> float | None:
    """The number in the first group of a match."""
    text = found.group(1) if found is not None else None
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
