"""What an engine says of itself in its log: load every few seconds, its arguments, and how each of its lives began and ended."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import re2

from triage.ingest.logs.forms import record_of
from triage.ingest.logs.joining import Raised, Trace
from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.signatures import Match
from triage.model.recording import Event, Fact, Origin, Series, Subject, Window
from triage.model.vocabulary import Combine, catalogue

GRID = 15.0
"""Distance of the samples, seconds: vLLM writes its load every 10 s, SGLang every 40 steps."""

FRESH = 5.0
"""Two start lines within this many seconds belong to one start."""

ONE_FAILURE = 30.0
"""Lines within this many seconds tell of one failure, and its cause may be printed after its consequences."""

BEFORE_THE_END = 180.0
"""An error this long, in seconds, before an engine's last words is taken for its end; an older one it survived."""

# ---------------------------------------------------------------- load


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
    """

    marker: bytes
    fields: tuple[Field, ...]
    index: bytes = b""
    skip: bytes = b""


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


def _reader(line: LoadLine) -> _Reader:
    return _Reader(
        line,
        tuple((one, re2.compile(one.pattern).search) for one in line.fields),
        re2.compile(line.index).search if line.index else None,
        re2.compile(line.skip).search if line.skip else None,
    )


_SLOT = re2.compile(rb"slot +(launch_slot_|release): id +(\d{1,4})").search
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

    def series(self) -> Iterator[Series]:
        """Series on a grid of 15 s; several engines of one process are put together as their signal says."""
        for signal in sorted({signal for signal, _ in self._bins}):
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


# ---------------------------------------------------------------- arguments and other facts

ARGUMENTS: dict[str, str] = {
    "model": "model_path", "model_path": "model_path", "model_id": "model_path", "model_tag": "model_path",
    "served_model_name": "served_model_name", "dtype": "dtype", "quantization": "quantization", "revision": "revision",
    "max_num_seqs": "max_num_seqs", "max_running_requests": "max_num_seqs", "max_batch_size": "max_num_seqs",
    "max_concurrent_requests": "max_concurrent_requests", "max_queued_requests": "max_queued_requests",
    "max_model_len": "max_model_len", "context_length": "max_model_len", "context_len": "max_model_len",
    "max_seq_len": "max_model_len",
    "max_num_batched_tokens": "max_num_batched_tokens", "max_num_tokens": "max_num_batched_tokens",
    "max_batch_prefill_tokens": "max_num_batched_tokens", "chunked_prefill_size": "chunked_prefill_size",
    "gpu_memory_utilization": "gpu_memory_utilization", "mem_fraction_static": "gpu_memory_utilization",
    "cuda_memory_fraction": "gpu_memory_utilization", "free_gpu_memory_fraction": "gpu_memory_utilization",
    "tensor_parallel_size": "tensor_parallel_size", "tp_size": "tensor_parallel_size", "num_shard": "tensor_parallel_size",
    "pipeline_parallel_size": "pipeline_parallel_size", "pp_size": "pipeline_parallel_size",
    "data_parallel_size": "data_parallel_size", "dp_size": "data_parallel_size",
    "enforce_eager": "enforce_eager", "disable_cuda_graph": "enforce_eager",
    "disable_overlap_schedule": "disable_overlap_schedule",
    "kv_cache_dtype": "kv_cache_dtype", "block_size": "block_size", "page_size": "block_size", "swap_space": "swap_space",
    "num_gpu_blocks_override": "num_gpu_blocks_override", "attention_backend": "attention_backend",
    "enable_prefix_caching": "enable_prefix_caching", "disable_radix_cache": "disable_radix_cache",
    "enable_chunked_prefill": "enable_chunked_prefill",
    "speculative_algorithm": "speculative_algorithm", "num_speculative_tokens": "num_speculative_tokens",
    "kv_offloading_size": "kv_offloading_size", "kv_offloading_backend": "kv_offloading_backend",
    "cpu_offload_gb": "cpu_offload_gb",
    "max_loras": "max_loras", "max_lora_rank": "max_lora_rank", "disaggregation_mode": "disaggregation_mode",
}  # fmt: skip
"""Arguments that are kept, by the names that engines give them: nothing else of a start-up line is (it may hold secrets)."""

_ARGUMENT_LINES = (
    b"non-default args:",
    b"server_args=",
    b"Starting trtllm-serve",
    b"Args {",
    b"LLM engine (v",
    b"max_total_num_tokens=",
    b"Using max model len",
)
_STARTS = (b"non-default args:", b"server_args=", b"Starting trtllm-serve", b"text_generation_launcher: Args {")
_ARGUMENT = re2.compile(rb"['\"]?\b(\w+)['\"]?(?:\s*[:=]\s*|\s+)(?:Some\()?('[^']*'|\"[^\"]*\"|\[[^\]]*\]|[\w.+/-]+)")


@dataclass(frozen=True, slots=True)
class FactLine:
    """A start-up line that says one thing.

    :param key: fact key
    :param pattern: RE2 with one group
    :param number: the value is a number
    """

    key: str
    marker: bytes
    pattern: bytes
    number: bool = True


_FACT_LINES: tuple[FactLine, ...] = (
    FactLine(
        "engine_version",
        b"version ",
        rb"(?:vLLM API server version|(?:\]|\x{2588}) +version|engine version) v?(\d+\.\d+[\w.+-]*)(?: |$)",
        number=False,
    ),
    FactLine("engine_version", b"LLM engine (v", rb"LLM engine \(v(\d+\.\d+[^)]*)\)", number=False),
    FactLine("engine_version", b"trtllm-serve", rb"trtllm-serve v?(\d+\.\d+[\w.+-]*)", number=False),
    FactLine("engine_version", b"TensorRT-LLM version", rb"TensorRT-LLM version: v?(\d+\.\d+[\w.+-]*)", number=False),
    FactLine("kv_cache_tokens", b"KV cache size:", rb"KV cache size: ([\d,]+) tokens"),
    FactLine("kv_cache_tokens", b"max_total_num_tokens=", rb"max_total_num_tokens=(\d+)"),
    FactLine("kv_cache_tokens", b"paged KV cache", rb"paged KV cache \((\d+)\)"),
    FactLine("weights_load_seconds", b"Loading weights", rb"Loading weights(?: took|:) ([\d.]+) s"),
    FactLine("weights_gib", b"Model loading took", rb"Model loading took ([\d.]+) GiB"),
    FactLine("init_seconds", b"init engine", rb"init engine .*took ([\d.]+) s"),
    FactLine(
        "attention_backend",
        b"ackend",
        rb"[Uu]s(?:ing|e) ((?:AttentionBackendEnum\.)?[A-Z][A-Z_]+\d?|Flash ?(?:Attention|Infer|MLA)|fa\d|flashinfer|[Tt]riton"
        rb"|[xX][Ff]ormers)(?: [Aa]ttention)? backend",
        number=False,
    ),
    FactLine("attention_backend", b"alling back to", rb"Cannot use .* backend: .*Falling back to ([\w.-]*\w)", number=False),
)
_BANNER: Search = re2.compile(_FACT_LINES[0].pattern).search
_FACT_READERS = tuple((one, re2.compile(one.pattern).search) for one in _FACT_LINES)

_ENGINES: tuple[tuple[bytes, str], ...] = (
    (b"vLLM", "vllm"), (b"non-default args:", "vllm"), (b"V1 LLM engine", "vllm"), (b"server_args=ServerArgs", "sglang"),
    (b"[TRT-LLM]", "trtllm"), (b"text_generation_", "tgi"), (b"update_slots", "llamacpp"),
)  # fmt: skip

_WEIGHTS_BEGIN = (b"Load weight begin", b"Starting to load model")
_WEIGHTS_END = b"Load weight end"


def _plain(value: bytes) -> str:
    text = redacted_bytes(value, 200).strip("'\"[]")
    return text.strip("'\"")


def _typed(text: str, *, number: bool) -> str | float:
    if number:
        try:
            return float(text.replace(",", ""))
        except ValueError:
            pass
    return text


def arguments_of(line: bytes) -> dict[str, str]:
    """The known arguments in a start-up line, by their common names."""
    found: dict[str, str] = {}
    for name, value in _ARGUMENT.findall(line):
        key = ARGUMENTS.get(name.decode("ascii", "replace"))
        if key is not None and _plain(value) not in {"None", "null", ""}:
            found[key] = _plain(value).removeprefix("torch.")
    return found


# ---------------------------------------------------------------- lives


@dataclass
class Life:
    """One run of the engine's process.

    :param began: Unix time of its first line; None if the log begins in the middle of it
    :param ready: when it began to take requests, if it did
    :param error: the first error that could have ended it
    :param said: time of its latest line
    :param stopping: when it was asked to stop
    :param killed: a signal from outside ended it
    :param dead: its own words say that it ends
    :param followed: when the next life began
    :param raised: its first exception that says more than that something else went wrong
    :param raised_at: time of its latest exception, which may be another one
    :param failed: its words that it cannot start
    :param after: lines since the latest of these
    :param of_a_start: what was raised or said is what goes wrong in a start
    :param assumed: the log begins with its error: it is taken for running unless it says that it could not start
    """

    began: float | None
    ready: float | None = None
    error: Match | None = None
    error_at: float = 0.0
    error_text: str = ""
    said: float = 0.0
    stopping: float | None = None
    killed: bool = False
    dead: bool = False
    followed: float | None = None
    raised: Trace | None = None
    raised_at: float = 0.0
    failed: Trace | None = None
    after: int = 0
    assumed: bool = False
    of_a_start: bool = False
    arguments: dict[str, str] = field(default_factory=dict)


class EngineLog:
    """Follows one engine's log.

    :param subject: its replica
    :param source: name of the file
    """

    def __init__(self, subject: Subject, window: Window, source: str) -> None:
        self._subject = subject
        self._window = window
        self._source = source
        self._facts: dict[str, str | float] = {}
        self._life: Life | None = None
        self._events: list[Event] = []
        self._weights_begin: float | None = None
        self._previous: dict[str, str] | None = None
        self._serving = False
        self._stray: Trace | None = None

    @property
    def ending(self) -> str:
        """What the engine said at last: ``shutdown``, ``error``, or ``nothing`` that tells of an end."""
        life = self._life
        if life is None:
            return "nothing"
        if life.stopping is not None:
            return "shutdown"
        return "error" if life.dead else "nothing"

    @property
    def phase(self) -> str:
        """``starting`` or ``running``; empty while nothing was seen that tells."""
        if self._life is not None:
            return "running" if self._life.ready is not None else "starting"
        return "running" if self._serving else ""

    def served(self, time: float) -> None:
        """The engine did some work: it is up, and whatever went wrong before did not end it."""
        self._serving = True
        if self._life is not None:
            if self._life.ready is None:
                self._life.ready = time
            self._life.said = time

    def begins(self, line: bytes) -> bool:
        """Whether a line is the first of a life."""
        return any(mark in line for mark in _STARTS) or (b"version " in line and _BANNER(line) is not None)

    def feed(self, line: bytes, time: float) -> None:
        """Takes a line for facts and starts; lines from before the baseline count, too."""
        if time > self._window.end:
            return
        if self.begins(line) or (self._life is None and not self._serving and _LOADING.search(line) is not None):
            self._start(time)
        elif self._life is not None:
            self._life.said = max(self._life.said, time)
        if self.phase != "running":
            self._read_facts(line, time)

    def _read_facts(self, line: bytes, time: float) -> None:
        for mark, name in _ENGINES:
            if mark in line:
                self._facts.setdefault("engine", name)
        if any(mark in line for mark in _ARGUMENT_LINES):
            self._read_arguments(line)
        for one, search in _FACT_READERS:
            if one.marker in line:
                found = search(line)
                if found is not None:
                    self._facts[one.key] = _typed(_plain(found.group(1)), number=one.number)
        if any(mark in line for mark in _WEIGHTS_BEGIN):
            self._weights_begin = time
        elif _WEIGHTS_END in line and self._weights_begin is not None:
            self._facts["weights_load_seconds"] = time - self._weights_begin

    def _read_arguments(self, line: bytes) -> None:
        arguments = arguments_of(line)
        for key, value in arguments.items():
            self._facts[key] = _typed(value, number=True)
        if self._life is not None:
            self._life.arguments.update(arguments)

    def _start(self, time: float) -> None:
        """A new life begins, unless the last one has only just."""
        if self._life is not None and self._life.ready is None and time - (self._life.began or 0.0) < FRESH:
            return
        self._close(restarted_at=time)
        self._life = Life(time, said=time)
        self._facts = {key: value for key, value in self._facts.items() if key == "engine"}

    def saw(self, match: Match, time: float, line: bytes) -> None:
        """Takes a signature that a line of this engine has."""
        name = match.signature.id
        if name == "engine-ready" and self._life is not None and self._life.ready is None:
            self._life.ready = time
            if self._life.began is not None:
                self._facts["startup_seconds"] = time - self._life.began
        elif name == "engine-shutdown":
            self._stop(time)
        elif name == "process-ended-from-outside" and self._life is not None:
            self._life.killed = True
        elif match.signature.role != "info" and match.signature.severity == "critical":
            self._err(match, time, line)

    def told(self, line: bytes, time: float) -> None:
        """Takes a line outside of tracebacks that may name an exception or a failed start."""
        if time > self._window.end:
            return
        if self._life is not None:
            self._life.after += 1
        found = _EXCEPTION_LINE.search(line)
        if found is not None:
            if self._goes_on(time):
                return
            level = record_of(line).level
            self.raised(Trace(time, level, [line], [Raised(found.group(1), found.group(2).strip())]))
        elif (self.phase != "running" or self._is_assumed) and _fails_to_start(line):
            record = record_of(line)
            if record.level in _LETHAL:
                self._fail(self._unready(time), Trace(time, record.level, [line], [Raised(b"", record.message.strip())]))

    @staticmethod
    def _fail(life: Life, words: Trace) -> None:
        """Keeps the first words of a failure: those after it say less."""
        if life.failed is None or words.time - life.failed.time > BEFORE_THE_END:
            life.failed = words
        life.after, life.of_a_start = 0, True

    def raised(self, trace: Trace) -> None:
        """Takes a traceback, or a line that names an exception."""
        cause = trace.cause
        if cause is None or trace.level not in _LETHAL or trace.time > self._window.end:
            return
        if trace.is_interruption:
            self._interrupted(trace.time)
            return
        starting = _is_of_a_start(cause, trace)
        if self._life is None and (self._serving or not starting):
            self._stray = trace
            return
        life = self._unready(trace.time)
        life.of_a_start = life.of_a_start or starting
        before = life.raised
        known = before.cause if before is not None else None
        late = trace.time - life.raised_at > BEFORE_THE_END
        if before is None or known is None or late or (known.is_wrapper and trace.time - before.time <= ONE_FAILURE):
            life.raised = trace
        life.after, life.raised_at = 0, trace.time

    def _interrupted(self, time: float) -> None:
        """A signal ended it: a start is cut short, and what served was asked to stop."""
        if self._life is None:
            return
        if self._life.ready is None:
            self._life.killed = True
        else:
            self._stop(time)

    def _goes_on(self, time: float) -> bool:
        """Whether an exception is known already, which this one follows: the first one tells most."""
        life = self._life
        known = life.raised.cause if life is not None and life.raised is not None else None
        if life is None or known is None or known.is_wrapper or time - life.raised_at > BEFORE_THE_END:
            return False
        life.after, life.raised_at = 0, time
        return True

    @property
    def _is_assumed(self) -> bool:
        return self._life is not None and self._life.assumed and not self._serving

    def _unready(self, time: float) -> Life:
        """The life that goes on; one whose begin the log does not show, if there is none."""
        if self._life is None:
            self._life = Life(None, said=time)
        return self._life

    def _stop(self, time: float) -> None:
        if self._life is None:
            self._life = Life(None, ready=time, said=time)
        raised = self._life.raised
        if raised is not None and time - raised.time <= ONE_FAILURE and self._life.after <= _LAST_LINES:
            self._life.dead = True  # it stops because of what was raised, and nobody asked it to
        elif self._life.stopping is None:
            self._life.stopping = time

    def _err(self, match: Match, time: float, line: bytes) -> None:
        life = self._life
        if life is None:
            life = self._life = Life(None, ready=time, said=time, assumed=not self._serving)
            if self._stray is not None and abs(time - self._stray.time) <= ONE_FAILURE:
                life.raised, life.raised_at = self._stray, self._stray.time
        if life.stopping is not None:
            return
        first = life.error is None or time - life.error_at > BEFORE_THE_END
        better = life.error is not None and life.error.signature.role == "consequence" and match.signature.role == "cause"
        if first or (better and time - life.error_at <= ONE_FAILURE):
            life.error, life.error_at, life.error_text = match, time, redacted_bytes(line)
        life.dead = life.dead or match.signature.id in _DEATHS

    def _close(self, restarted_at: float | None = None) -> None:
        """The life ends (or the log does); says how, if it did not end as it should."""
        life = self._life
        if life is None:
            return
        restarted = restarted_at is not None
        life.followed = restarted_at
        self._previous = self._say_arguments(life)
        erred = life.error is not None and life.said - life.error_at < BEFORE_THE_END
        last_words = life.after <= _LAST_LINES and (life.raised is not None or life.failed is not None)
        if life.of_a_start and self._is_assumed:
            life.ready = None
        ended = restarted or life.dead or (last_words and life.ready is None)
        if life.stopping is None and ended and (erred or last_words):
            self._say_failure("engine-crashed" if life.ready is not None else "start-failed", life)
        elif life.ready is None and (restarted or life.killed):
            self._say("start-cut-short", life.said, life, None)
        elif life.ready is None and life.stopping is None:
            self._say("start-unfinished", life.said, life, None)
        elif restarted and life.stopping is None:
            self._say("ended-without-a-word", life.said, life, None)

    def _say_failure(self, name: str, life: Life) -> None:
        """An end with an error: the signature that was first, and the exception."""
        trace = life.raised or life.failed
        time = life.error_at if life.error is not None else trace.time if trace is not None else life.said
        cause = trace.cause if trace is not None else None
        more = {} if cause is None else {
            "exception": redacted_bytes(cause.name, 120), "message": redacted_bytes(cause.message, 300),
        }  # fmt: skip
        told = {key: value for key, value in more.items() if value}
        self._say(name, time, life, life.error, told)
        if cause is not None and not cause.is_wrapper and (life.error is None or life.error.signature.role != "cause"):
            self._say("engine-exception" if life.ready is not None else "start-exception", time, life, None, told)

    def _say(
        self, name: str, time: float, life: Life, error: Match | None, more: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        role, kinds, text = _ENDS[name]
        attrs = {"role": role, "kinds": kinds}
        if life.began is not None:
            attrs["seconds"] = f"{time - life.began:.0f}"
            if life.followed is not None:
                attrs["next_start_after"] = f"{life.followed - life.began:.0f}"
        if error is not None:
            attrs |= {"first": error.signature.id, "first_role": error.signature.role, "kinds": " ".join(error.signature.kinds)}
        if more and (error is None or not _is_wrapper(life)):
            text = ": ".join(more.values())
        elif error is not None:
            text = life.error_text
        attrs |= more
        self._add(Event(time, "log", name, self._subject, attrs, text, self._source))

    def _say_arguments(self, life: Life) -> dict[str, str] | None:
        """An event with the arguments of a start, and what differs from the start before."""
        if not life.arguments or life.began is None:
            return self._previous
        before, now = self._previous, life.arguments
        changed = [
            f"{key} {before.get(key, 'default')} -> {now.get(key, 'default')}"
            for key in sorted({*before, *now})
            if before.get(key) != now.get(key)
        ] if before is not None else []  # fmt: skip
        attrs = dict(sorted(now.items())) | ({"changed": ", ".join(changed)} if changed else {})
        text = ", ".join(f"{key}={value}" for key, value in sorted(now.items()))
        self._add(Event(life.began, "engine-args", now.get("model_path", ""), self._subject, attrs, text, self._source))
        return now

    def _add(self, event: Event) -> None:
        if self._window.baseline_start <= event.time <= self._window.end and len(self._events) < 500:
            self._events.append(event)

    def finish(self) -> tuple[list[Event], list[Fact]]:
        """The events of all lives and the facts of the last one."""
        self._close()
        self._life = None
        facts = [Fact(self._subject, key, value, f"log {self._source}") for key, value in sorted(self._facts.items())]
        return self._events, facts


_LAST_LINES = 10
"""Lines after an exception that still belong to the end: farewells of other processes, and what the shell says."""

_LETHAL = frozenset({"", "error", "critical"})
"""Levels at which an exception may end a process; one that is logged as a warning was caught."""

_EXCEPTION_LINE = re2.compile(
    rb"(?:^|[\]:] |\s)((?:(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Failure))|[Aa]ssertion failed): (\S.*)$"
)
_FAILED_START = re2.compile(
    rb"(?i)\bfail(?:ed|ure|s)?\b.{0,30}\b(?:start|initiali[sz]\w*|load)\b|\b(?:start-?up|initiali[sz]ation|loading)\b.{0,20}\bfailed"
    rb"|\berror (?:loading|starting|initiali[sz]ing)\b|\bunable to (?:load|start|initiali[sz]e)\b|\bexiting due to\b"
)
_SERVER = re2.compile(rb"(?i)model|engine|server|worker|executor|backend|runner|weights|tokenizer|application|shard")
"""What a start is of; a library or tool that cannot be initialized (NVML) may be missed or not."""

_LOADING = re2.compile(
    rb"(?i)\b(?:loading|starting to load|load(?:ed)? meta ?data|llama_model_loader|starting runner|init\w* engine)\b.{0,60}"
    rb"\b(?:model|weights|checkpoints?|shards?|safetensors|gguf|tensors?|runner|engine|kv pairs)\b"
)
_OF_A_START = re2.compile(
    rb"(?i)init|load|setup|build|from_(?:engine_args|pretrained|config)|launch|warm_?up|capture|compile|profile|create"
)
_OF_SERVING = re2.compile(
    rb"(?i)busy_loop|event_loop|execute_model|forward|step\b|output_handler|generate|process_(?:input|batch)|handle_|serve_"
)


def _fails_to_start(words: bytes) -> bool:
    """Whether words say that something which serves did not come up."""
    return _FAILED_START.search(words) is not None and _SERVER.search(words) is not None


def _is_of_a_start(cause: Raised, trace: Trace) -> bool:
    """Whether an exception of an engine whose start the log does not show was raised while it started: its functions say so."""
    frames = b" ".join(cause.frames)
    words = b" ".join(trace.lines[:1]) + b" " + cause.message
    if cause.frames and cause.frames[-1] == b"<module>":
        return True  # a module is run once, when it is loaded
    if _OF_SERVING.search(frames) is not None:
        return False
    return _OF_A_START.search(frames) is not None or _fails_to_start(words)


def _is_wrapper(life: Life) -> bool:
    """Whether the exception of a life only says that something else went wrong."""
    trace = life.raised or life.failed
    return trace is not None and trace.cause is not None and trace.cause.is_wrapper


_DEATHS = frozenset({
    "engine-dead", "engine-core-failed", "worker-failed", "native-crash", "scheduler-watchdog", "collective-teardown",
})  # fmt: skip
"""Signatures by which an engine says that it ends."""

_ENDS: dict[str, tuple[str, str, str]] = {
    "engine-crashed": ("consequence", "engine-dead", "the engine ended with an error"),
    "start-failed": ("consequence", "engine-dead", "the engine did not start"),
    "start-exception": ("cause", "start-failed-otherwise", "a start ended with an exception that no signature knows"),
    "engine-exception": (
        "cause",
        "engine-software-fault",
        "an engine ended with an exception that no signature knows, after it had served",
    ),
    "start-cut-short": (
        "consequence",
        "probe-kills-loading host-oom-kill",
        "a start ended before the engine was ready, without an error",
    ),
    "start-unfinished": ("info", "cold-start-too-slow group-partial-restart", "the engine was still starting when the log ended"),
    "ended-without-a-word": (
        "consequence",
        "host-oom-kill engine-dead",
        "the engine started anew without having said why it ended",
    ),
}
"""Ways in which a life of an engine ends badly: role, kinds, sentence."""
