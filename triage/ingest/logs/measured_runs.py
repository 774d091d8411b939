"""What somebody measured, run by run: figures under a heading or in a line of pairs, and which run is slower than which.

Benchmarks, load scripts and tables in a ticket tell delays and throughput by name and unit, whatever program printed them. A run
is known by the version that its heading names, and by the words that its line gives (``kind=plain``). Two runs that differ in one
of these and are alike in the rest are a comparison, whenever they were made.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from triage.classes import dataclass
from triage.ingest.logs.durations import unit
from triage.ingest.logs.measured_tables import DrawnTable, Row
from triage.ingest.logs.redaction import redacted
from triage.model.recording import Event, Subject, Window
from triage.patterns import Pattern

SLOWER = 1.2
"""How many times as slow a version is to be told: runs of one version on one machine differ by some per cent."""

SLOWER_KIND = 1.5
"""Chosen: the same for another kind of request, which may well have a little more work; a setting is judged as a version is."""

ALIKE = 1.1
"""How much the load of two runs that are compared may differ: generated prompts vary a little in length."""

_MAX_RUNS = 400
_MAX_LINE = 1000
_RUN = "run"
"""Label of what a heading says a run was with, or without."""

_MAX_TOLD = 20
_MAX_FLAGS = 60

_TIME = r"ns|us|µs|ms|msecs?|s|secs?|seconds?|millis(?:econds)?"
_PAIR = Pattern(rf"([A-Za-z][\w.]{{0,40}})=([0-9]+(?:\.[0-9]+)?)({_TIME})?(?:[\s,;)]|$)")
_ROW = Pattern(
    r"([A-Za-z][\w .%/-]{1,48}?)(?: ?\(([\w./%]{1,20})\))?\s*[:|]\s*([0-9]+(?:\.[0-9]+)?)"
    rf"(?: ?({_TIME}|tok(?:en)?s?/s))?(?:[\s,;|]|$)"
)
_RATE = Pattern(r"(?i)(?:^|[\s~:=(])([0-9]+(?:\.[0-9]+)?) ?(?:tok(?:en)?s?|t)/s(?:ec(?:ond)?)?(?:[\s,;.)]|$)")
_LABEL = Pattern(r"(?:^|[\s,;(])([A-Za-z][\w.-]{0,40})=([A-Za-z][\w./:-]{0,80})(?:[\s,;)]|$)")
_IMAGE = Pattern(r"(?:^|[\s\"'(=])[a-z][\w.-]*(?:/[\w.-]+)*:(v?[0-9]+\.[0-9][\w.+-]*|[0-9a-f]{7,40})(?:[\s,;)\"':]|$)")
_VERSION = Pattern(
    r"(?:^|[\s\"'(=@_-])(v[0-9]+(?:\.[0-9]+)+(?:[.-]?[a-z]+[0-9]*)*|[0-9]+\.[0-9]+\.[0-9]+(?:[.-]?(?:rc|post|dev|a|b)\.?[0-9]+)?)(?:[\s,;)\"':]|$)"
)
_MACHINE = Pattern(r"\b(?:[ABHLTV][0-9]{1,3}[0S]?|GB?[0-9]{2,3}|MI[0-9]{3}\w?|RTX ?\w+|Gaudi ?[0-9]|Instinct \w+|TPU ?v?\w+)\b")
"""What cards a heading says were used."""

_FLAG = Pattern(r"(?:^|\s)(--[a-z][\w-]*)(?:[= ]([^\s-][^\s]*))?")
_NO_MATTER = Pattern(
    r"(?i)port|host|seed|path|name|file|output|save|result|log|url|key|tokenizer|endpoint|dataset|model$|rm$|gpus$|ipc|shm"
)
_VARIANT = Pattern(r"(?i)\b((?:with|without)(?: [A-Za-z][\w-]*){1,4})")
"""How people say what one run had and another had not."""

_HEADS = Pattern(r"^\s*(?:#|\$ |> )")
"""A remark or a command: what follows was run so. Rules of a table with a title in them divide one run."""

_MEASURES = (
    ("time to the first token", Pattern(r"(?i)\bttft\b|\bttfb\b|time to (?:the )?first (?:token|byte)|first token")),
    ("time per token", Pattern(r"(?i)\btpot\b|time per (?:output )?token")),
    ("time between tokens", Pattern(r"(?i)\bitl\b|inter token|token latency|time between tokens")),
    (
        "time of a request",
        Pattern(r"(?i)\be2el?\b|end to end|request (?:latency|time|duration)|^latency\b|\blatency$|^total\b"),
    ),
    ("throughput", Pattern(r"(?i)throughput|\btok(?:en)?s? (?:s|per s(?:ec(?:ond)?)?)\b|^t s$|\btps\b|\bqps\b|\brps\b")),
)  # fmt: skip
"""What is measured, by the words of its name."""

_NOT_MEASURED = Pattern(r"(?i)\b(?:max|min|std|stdev|p99|p999|limit|timeout|target|slo|goodput|peak|requested)\b")
"""Of few requests the extremes say nothing; what is asked for is not measured."""

_LOAD = Pattern(
    r"(?i)concurren|\brate\b|request|prompt|input|generated|output|\busers?\b|\bclients?\b|batch|\bn\b|tokens|\blen|http|status|code"
)
_NO_LOAD = Pattern(r"(?i)peak|success|fail|error|throughput|duration")
_STATS = (("p50", Pattern(r"(?i)median|\bp50\b")), ("mean", Pattern(r"(?i)mean|avg|average")))


_MAY_MEASURE = Pattern(
    rb"(?i)^\s*[#$>|]|\x{2502}|\x{2503}|tt[fl][tb]|tpot|\bitl|e2e|throughput|latency|tok|\bt/s|total|time to|reque|concurren"
    rb"|[0-9]\.[0-9]+\.[0-9]"
)


def may_measure(line: bytes) -> bool:
    """Whether a line may be a figure, or the heading of figures: most are neither."""
    return _MAY_MEASURE.search(line) is not None


class Measure(NamedTuple):
    """What a figure is of.

    :param stat: ``mean``, ``p50`` … or empty
    """

    what: str
    stat: str


@dataclass(frozen=True)
class Run:
    """One run.

    :param time: Unix seconds
    :param version: what its heading says was run; empty if that says nothing
    :param machine: the cards that its heading names, if it names some
    :param labels: words by name
    :param loads: numbers that say how much was asked
    :param figures: seconds, or per second
    """

    time: float
    version: str
    machine: str
    labels: Mapping[str, str]
    loads: Mapping[str, float] = field(default_factory=dict)
    figures: Mapping[Measure, float] = field(default_factory=dict)

    def is_comparable(self, other: "Run") -> bool:
        """Whether as much was asked of both on the same cards, as far as both say."""
        if self.machine and other.machine and self.machine != other.machine:
            return False
        shared = self.loads.keys() & other.loads.keys()
        return all(max(self.loads[key], other.loads[key]) <= ALIKE * min(self.loads[key], other.loads[key]) for key in shared)


class MeasuredRuns:
    """Reads the runs of one text.

    :param name: of the file, which often names the version that was run
    """

    def __init__(self, name: str) -> None:
        self.runs: list[Run] = []
        self._version = _version_in(name.rpartition(".")[0] or name)
        self._machine = ""
        self._variant: dict[str, str] = {}
        self._commands: dict[str, dict[str, str]] = {}
        self._labels: dict[str, str] = {}
        self._loads: dict[str, float] = {}
        self._figures: dict[Measure, float] = {}
        self._time = 0.0
        self._table = DrawnTable(lambda name, its: _measure_of(name, its.lower()) is not None, _version_in)

    def feed(self, line: bytes, time: float) -> None:
        """Takes a line."""
        if len(self.runs) >= _MAX_RUNS or not may_measure(line):
            return
        text = line[:_MAX_LINE].decode("utf-8", "replace")
        drawn, is_drawn = self._table.feed(text)
        self._drawn(drawn, time)
        if is_drawn:
            return
        numbers = [*_pairs(text), *_rows(text)]
        figures = _figures_of(numbers) or _figures_of(_spoken(text))
        if _HEADS.search(text) is not None or ((figures or not numbers) and _version_in(text)):
            self._head(text)
        if any(measure in self._figures for measure in figures):
            self._end()
        if figures and not self._figures:
            self._time = time
        self._figures.update(figures)
        self._loads.update({one.name.strip().lower(): float(one.value) for one in numbers if _is_load(one)})
        if figures and any(one.is_pair for one in numbers):
            self._labels.update(_LABEL.findall(text)[:_MAX_TOLD])
            self._end()

    def _drawn(self, rows: Sequence[Row], time: float) -> None:
        """Takes runs out of a table."""
        for row in rows:
            self._end()
            numbers = [_Number(*number, is_pair=False) for number in row.numbers]
            self._figures = _figures_of(numbers)
            self._labels, self._time = dict(row.labels), time
            before, self._version = self._version, row.version or self._version
            self._end()
            self._version = before

    def _head(self, text: str) -> None:
        """A heading: a new run begins, of the version that it names, or of the one before."""
        self._end()
        self._version = _version_in(text) or self._version
        cards = set(_MACHINE.findall(text))
        self._machine = cards.pop() if len(cards) == 1 else "" if cards else self._machine
        program, flags = _command_in(text)
        if program in self._commands or (flags and len(self._commands) < _MAX_TOLD):
            self._commands[program] = flags
        variant = _variant_in(text)
        self._variant = {_RUN: variant} if variant else self._variant

    def _end(self) -> None:
        """The figures of a run are complete."""
        if self._figures:
            flags = {name: value for each in self._commands.values() for name, value in each.items()}
            labels = flags | self._variant | self._labels
            self.runs.append(Run(self._time, self._version, self._machine, labels, self._loads, self._figures))
        self._labels, self._loads, self._figures, self._time = {}, {}, {}, 0.0

    def close(self) -> Sequence[Run]:
        """All runs: nothing more comes."""
        self._drawn(self._table.close(), self._time)
        self._end()
        return self.runs


def _command_in(text: str) -> tuple[str, dict[str, str]]:
    """The program that a command starts, by its first words, and its flags, but for those that change no pace."""
    flags = {name: value for name, value in _FLAG.findall(text)[:_MAX_FLAGS] if _NO_MATTER.search(name) is None}
    return " ".join(text.partition(" --")[0].split()[1:4]), flags


def _variant_in(text: str) -> str:
    """What a heading says a run was with, or without; the version is told by itself."""
    found = _VARIANT.search(text)
    phrase = " ".join(found.group(1).split()).lower() if found is not None else ""
    return "" if _version_in(phrase) else phrase


class _Number(NamedTuple):
    """A named number of a line.

    :param its: its unit; empty if none is told
    :param is_pair: it stands as ``name=value``, not in a table
    """

    name: str
    value: str
    its: str
    is_pair: bool


def _pairs(text: str) -> Iterator[_Number]:
    for name, value, its in _PAIR.findall(text)[:_MAX_TOLD]:
        yield _Number(name.replace("_", " "), value, its, is_pair=True)


def _rows(text: str) -> Iterator[_Number]:
    for name, said, value, its in _ROW.findall(text)[:_MAX_TOLD]:
        yield _Number(name, value, said or its, is_pair=False)


def _spoken(text: str) -> Iterator[_Number]:
    """``57.3 tok/s`` of a sentence, if there is one such number in it."""
    found = _RATE.findall(text)
    if len(found) == 1 and "throughput" not in text:
        yield _Number("output token throughput", found[0], "tok/s", is_pair=False)


def _version_in(text: str) -> str:
    """The version that a heading names: the tag of an image before anything else; empty where it names none, or several."""
    for pattern in (_IMAGE, _VERSION):
        found = set(pattern.findall(text[:_MAX_LINE]))
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def _figures_of(numbers: Iterable[_Number]) -> dict[Measure, float]:
    return {measure: figure for number in numbers for measure, figure in _figures(number)}


def _figures(number: _Number) -> Iterator[tuple[Measure, float]]:
    """What a named number measures, in seconds or per second; nothing if it is no measure."""
    measure = _measure_of(number.name, number.its.lower())
    if measure is not None:
        what, stat, factor = measure
        yield Measure(what, stat), float(number.value) * factor


@lru_cache(maxsize=1024)
def _measure_of(name: str, its: str) -> tuple[str, str, float] | None:
    words = " ".join(name.replace("/", " ").replace("-", " ").replace("_", " ").split())
    if _NOT_MEASURED.search(words):
        return None
    what = next((what for what, pattern in _MEASURES if pattern.search(words)), "")
    if not what:
        return None
    stat = next((stat for stat, pattern in _STATS if pattern.search(words)), "") or _quantile(words)
    if what == "throughput" and _OF_AN_ENGINE.search(words) is not None:
        return None
    if what == "throughput":
        return (f"{what} of {_kind_of_throughput(words)}", stat, 1.0)
    in_name = words.rpartition(" ")[2].lower()
    try:
        return (what, stat, unit(its or in_name))
    except KeyError:
        return None


_OF_AN_ENGINE = Pattern(r"(?i)\b(?:avg|gen|generation|prompt|decode|prefill|last)\b")
"""How engines call what they make just now, which is as much as they are asked for."""


def _kind_of_throughput(words: str) -> str:
    """Throughput of requests, of all tokens and of those generated are three quantities."""
    lower = words.lower()
    return next((spoken for kind, spoken in _THROUGHPUTS.items() if kind in lower), "generated tokens")


_THROUGHPUTS = {"request": "requests", "total": "all tokens", "input": "prompt tokens", "prompt": "prompt tokens"}


def _quantile(words: str) -> str:
    return next((word for word in words.lower().split() if word in ("p75", "p90", "p95")), "")


def _is_load(number: _Number) -> bool:
    return not number.its and _LOAD.search(number.name) is not None and _NO_LOAD.search(number.name) is None


# ---------------------------------------------------------------- runs side by side


class _Slower(NamedTuple):
    """One side of a comparison is slower.

    :param times: how many times as slow
    """

    times: float
    measure: Measure
    slow: float
    fast: float
    since: float


def slower_runs(runs: Iterable[Run], service: Subject, window: Window) -> Iterator[Event]:
    """Versions that are slower than the one before them, and kinds of requests that are slower than others.

    :param runs: of all texts
    :param service: whose they are
    """
    ordered = sorted(runs, key=lambda run: run.time)
    told = [*_by_version(ordered, service), *_by_label(ordered, service)]
    yield from (event for event in told if window.baseline_start <= event.time <= window.end)


def _by_version(runs: Sequence[Run], service: Subject) -> Iterator[Event]:
    kinds = list({tuple(sorted(run.labels.items())): None for run in runs})
    for kind in kinds:
        same = [run for run in runs if tuple(sorted(run.labels.items())) == kind and run.version]
        versions = list({run.version: None for run in same})
        for before, after in pairwise(versions):
            old, new = ([run for run in same if run.version == one] for one in (before, after))
            found = _slower(new, old, SLOWER)
            if found is not None:
                back = "yes" if old[-1].time > new[0].time else "no"
                which = " ".join(f"{key}={value}" for key, value in kind)
                yield _event(found, service, "version", after, before, {"back": back, "which": which})


def _by_label(runs: Sequence[Run], service: Subject) -> Iterator[Event]:
    names = sorted({name for run in runs for name, value in run.labels.items() if not value.replace(".", "").isdecimal()})
    for name in names:
        is_setting = name.startswith("--") or name == _RUN
        least = SLOWER if is_setting else SLOWER_KIND
        groups: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, list[Run]]] = {}
        for run in runs:
            rest = tuple(sorted((key, value) for key, value in run.labels.items() if key != name))
            groups.setdefault((run.version, rest), {}).setdefault(run.labels.get(name, ""), []).append(run)
        found = [
            (slower, slow, fast)
            for values in groups.values()
            for slow in values
            for fast in values
            if slow != fast
            and (is_setting or (slow and fast))
            and (slower := _slower(values[slow], values[fast], least)) is not None
        ]
        if found:
            worst, slow, fast = max(found, key=lambda one: one[0].times)
            yield _event(worst, service, name, _spoken_label(name, slow), _spoken_label(name, fast), {"which": f"{name}={slow}"})


def _spoken_label(name: str, value: str) -> str:
    if not name.startswith("--"):
        return value
    return f"{name} {value}" if value else f"without {name}"


def _slower(new: Sequence[Run], old: Sequence[Run], times: float) -> _Slower | None:
    """How some runs are slower than others: all of them than each of the others, and in nothing as much faster."""
    compared = [(one, other) for one in new for other in old if one.is_comparable(other)]
    if not compared:
        return None
    news, olds = {id(one): one for one, _ in compared}.values(), {id(other): other for _, other in compared}.values()
    found: list[_Slower] = []
    for measure in sorted({key for run in news for key in run.figures} & {key for run in olds for key in run.figures}):
        of_new, of_old = ([run.figures[measure] for run in some if measure in run.figures] for some in (news, olds))
        ratio = _ratio(of_new, of_old, higher_is_better=measure.what.startswith("throughput"))
        if ratio <= 1.0 / times:
            return None
        if ratio >= times:
            found.append(_Slower(ratio, measure, _middle(of_new), _middle(of_old), min(run.time for run in news)))
    return max(found, key=lambda one: (one.measure.what.startswith("time"), one.times), default=None)


def _ratio(new: Sequence[float], old: Sequence[float], *, higher_is_better: bool) -> float:
    """How many times as slow the fastest of the new ones is as the slowest of the old ones; below one if all are faster."""
    if min(*new, *old) <= 0.0:
        return 1.0
    if higher_is_better:
        new, old = [1.0 / one for one in new], [1.0 / one for one in old]
    if min(new) >= max(old):
        return min(new) / max(old)
    return max(new) / min(old) if max(new) <= min(old) else 1.0


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _event(found: _Slower, service: Subject, by: str, slow: str, fast: str, more: Mapping[str, str]) -> Event:
    slow, fast = redacted(slow, 80), redacted(fast, 80)
    name = " ".join(word for word in (_SPOKEN.get(found.measure.stat, found.measure.stat), found.measure.what) if word)
    text = f"{name} is {_told(found.slow, found.measure)} {_with(slow)} and {_told(found.fast, found.measure)} {_with(fast)}"
    attrs = {
        "by": redacted(by, 40), "value": slow, "against": fast, "of": found.measure.what, "times": f"{found.times:.2f}",
        "slow": f"{found.slow:g}", "fast": f"{found.fast:g}",
        **{key: redacted(value, 120) for key, value in more.items() if value},
        "role": "cause" if by == "version" else "info", "kinds": "upgrade-perf-regression" if by == "version" else "",
        "severity": "warning", "meaning": text,
    }  # fmt: skip
    return Event(found.since, "log", "runs-slower", service, attrs, text, "measured runs")


_SPOKEN = {"p50": "median"}


def _with(label: str) -> str:
    return label if label.startswith("with") else f"with {label}"


def _told(value: float, measure: Measure) -> str:
    if measure.what.startswith("throughput"):
        return f"{value:.4g}/s"
    return f"{value * 1e3:.3g} ms" if value < 1.0 else f"{value:.3g} s"
