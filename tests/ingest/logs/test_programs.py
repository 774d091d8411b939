"""Lines that engines, gateways and what stands around them print, from their sources and public threads: what is made of them.

Of each an expert says: grave or harmless, the kinds of failure that it speaks for, the classes of statements that it makes.
The figures are floors, so that what is read cannot fall without being noticed.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.kinds import kinds
from triage.engine.diagnose import looked_at
from triage.ingest.logs.emitters import emitter_of
from triage.ingest.logs.reading import read_logs
from triage.ingest.logs.statements import CLASSES
from triage.model.recording import Event, Recording, Subject, Window
from triage.model.vocabulary import Scope

END = datetime(2026, 11, 29, 13, 10, tzinfo=UTC).timestamp()
WINDOW = Window(END - 1800, END, END - 5400)
NAMES = {
    "engine": "vllm-chat-0",
    "gateway": "gateway",
    "ray": "ray",
    "other": "planner",
    "autoscaler": "activator",
    "client": "client-app",
}
BEGIN = "(APIServer pid=9) INFO 11-29 12:00:01 [api_utils.py:286] non-default args: {'model': '/models/a'}"
READY = "INFO:     Application startup complete."
LOAD = (
    "(APIServer pid=9) INFO 11-29 12:30:01 [loggers.py:123] Engine 000: Avg prompt throughput: 120.0 tokens/s,"
    " Avg generation throughput: 300.0 tokens/s, Running: 4 reqs,"
    " Waiting: 0 reqs, GPU KV cache usage: 12.0%, Prefix cache hit rate: 10.0%"
)
WITHOUT_A_CAUSE = frozenset({"start-exception", "engine-exception"})
"""An end of which nobody knows the cause."""

OF_LIVES = frozenset(
    {"engine-started", "engine-ready", "start-failed", "engine-crashed", "start-unfinished", "start-cut-short", "log-stopped"}
)


@dataclass(frozen=True)
class Told:
    """A line and what an expert makes of it."""

    component: str
    emitter: str
    phase: str
    grave: bool
    kinds: frozenset[str]
    classes: frozenset[str]
    text: str


@dataclass(frozen=True)
class Read:
    """What was made of a line.

    :param seen: somebody has to look at it, or a signature tells it as a cause or a consequence
    :param blamed: kinds that it is told as the cause of
    """

    seen: bool
    alarming: bool
    kinds: frozenset[str]
    blamed: tuple[frozenset[str], ...]
    classes: frozenset[str]


def told() -> Iterator[Told]:
    r"""All lines of the table; those of JSON stand as they are, in others ``\n`` and ``\t`` are line ends and tabs."""
    with (Path(__file__).parent / "wordings" / "programs.tsv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            text = row["text"] if row["text"].startswith("{") else row["text"].replace("\\n", "\n").replace("\\t", "\t")
            grave = row["verdict"] == "grave"
            yield Told(
                row["component"], row["emitter"], row["phase"], grave,
                frozenset(row["kinds"].split()), frozenset(row["classes"].split()), text,
            )  # fmt: skip


LINES = tuple(told())


def around(line: Told) -> list[tuple[float, str]]:
    """The line in a log: of an engine that serves, or starts; of a start that failed the engine begins anew behind it."""
    if line.emitter != "engine":
        usual = [(END - 5300 + 60 * minute, "2026-11-29T12:30:00.000Z INFO still here") for minute in range(88)]
    elif line.phase == "running":
        usual = [(END - 5300, BEGIN), (END - 5240, READY), *((END - 5230 + 30 * step, LOAD) for step in range(174))]
    else:
        usual = [(END - 900, BEGIN), (END - 845, BEGIN) if line.grave else (END - 600, READY)]
    starting = line.emitter == "engine" and line.phase == "starting"
    times = (
        (END - 600, END - 540, END - 480) if not starting else (END - 860,) if line.grave else (END - 860, END - 855, END - 850)
    )
    return sorted([*usual, *((time, line.text) for time in times)])


def wrapped(time: float, text: str) -> str:
    """A text as a container runtime writes it."""
    stamp = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
    return "".join(f"{stamp} stderr F {one}\n" for one in text.split("\n"))


def read(line: Told, folder: Path) -> Read:
    """Reads a log with the line in it."""
    path = folder / f"{NAMES[line.emitter]}.log"
    path.write_text("".join(wrapped(time, text) for time, text in around(line)), encoding="utf-8")
    reading = read_logs([path], WINDOW, "chat", alone=True)
    frame = looked_at(reading.as_part_of(Recording("chat", WINDOW)))
    new = [one for one in reading.events if one.time >= END - 870 and one.name not in OF_LIVES]
    lines = [one for one in new if one.kind == "log"]
    bad = [one for one in lines if one.attrs.get("role") in ("cause", "consequence")]
    salient = any(one.sort == "said" and one.salient for one in frame.seen.odd)
    return Read(
        seen=salient or bool(bad),
        alarming=salient or any(one.attrs.get("severity") == "critical" for one in bad),
        kinds=frozenset(kind for one in lines for kind in _kinds(one)),
        blamed=tuple(_kinds(one) for one in bad if one.attrs["role"] == "cause" and one.name not in WITHOUT_A_CAUSE),
        classes=frozenset(one.name for one in new if one.kind == "said"),
    )


def _kinds(event: Event) -> frozenset[str]:
    return frozenset(event.attrs.get("kinds", "").split())


def figures(folder: Path) -> Counter[str]:
    """How many lines are read in which way."""
    counts: Counter[str] = Counter()
    for line in LINES:
        found = read(line, folder)
        if not line.grave:
            counts["false alarms"] += found.alarming
            continue
        knows = bool(line.kinds & found.kinds)
        says = bool(line.classes & found.classes)
        counts["seen"] += found.seen
        counts["understood"] += found.seen and (knows or says or not (line.kinds or line.classes))
        counts["kind"] += knows
        counts["misled"] += bool(line.kinds) and any(not line.kinds & blamed for blamed in found.blamed)
    return counts


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The figures of all lines."""
    return figures(tmp_path_factory.mktemp("programs"))


def test_the_table_speaks_of_what_there_is() -> None:
    """Kinds, classes and emitters of the table exist, and there is nearly as much that is harmless as that is grave."""
    assert frozenset().union(*(line.kinds for line in LINES)) <= frozenset(kinds())
    assert frozenset().union(*(line.classes for line in LINES)) <= frozenset(CLASSES)
    assert {line.emitter for line in LINES} <= NAMES.keys()
    assert 2 * sum(line.grave for line in LINES) <= 4 * sum(not line.grave for line in LINES)


@pytest.mark.parametrize(
    ("figure", "floor"), [("seen", 182), ("understood", 175), ("kind", 140)], ids=["seen", "understood", "kind"]
)
def test_grave_lines_are_seen_and_understood(counts: Counter[str], figure: str, floor: int) -> None:
    """Of 194 grave lines, 184 of them with a kind."""
    assert counts[figure] >= floor


@pytest.mark.parametrize(("figure", "ceiling"), [("false alarms", 10), ("misled", 4)], ids=["false alarms", "misled"])
def test_harmless_lines_alarm_nobody(counts: Counter[str], figure: str, ceiling: int) -> None:
    """Of 121 harmless lines; and of the grave ones that are told as the cause of another kind."""
    assert counts[figure] <= ceiling


def test_who_wrote_is_known_by_the_lines_alone() -> None:
    """Of 30 logs that are called after nothing, each with the lines of one program, at least 27 are known by them."""
    logs: dict[tuple[str, str], list[bytes]] = {}
    for line in LINES:
        if line.component != "shapes":
            logs.setdefault((line.component, line.emitter), []).extend(one.encode() for one in line.text.split("\n"))
    right = [
        (component, emitter)
        for (component, emitter), lines in logs.items()
        if emitter_of("llm-7c9d-x2", lines, lambda _: None, "chat").kind
        in {emitter} | ({"autoscaler"} if emitter == "other" else set())
    ]
    assert len(right) >= 27, sorted(logs.keys() - set(right))


def test_a_gateway_that_is_called_as_the_service_is_none_of_its_replicas() -> None:
    """A name that is the service's is that of a pod of its, unless its lines are those of who passes requests on."""
    lines = [b"03:04:05 - LiteLLM Router:INFO: router.py:2921 - sent"] * 5
    ours = Subject(Scope.REPLICA, "chat")
    assert emitter_of("chat", lines, lambda name: ours if name == "chat" else None, "chat").subject.scope is Scope.GATEWAY
    engine = [b"INFO 01-02 03:04:05 api_server.py:1] vLLM API server version 0.9.2"] * 5
    assert emitter_of("chat", engine, lambda name: ours if name == "chat" else None, "chat").subject == ours


@pytest.mark.parametrize(
    ("name", "service"), [("eval-llm-0", "eval-llm"), ("batch-gpu-01", "edge-chat"), ("edge-chat-0", "edge-chat")]
)
def test_what_a_service_or_a_host_is_called_says_nothing_of_who_writes(name: str, service: str) -> None:
    """The engine of a service that works for evaluations is no evaluation."""
    engine = [b"(EngineCore_0 pid=77) ERROR 10-30 14:21:41 [core.py:700] torch.OutOfMemoryError: CUDA out of memory."] * 5
    hosts = {"batch-gpu-01": Subject(Scope.NODE, "batch-gpu-01")}
    assert emitter_of(name, engine, hosts.get, service).kind == "engine"
    assert emitter_of(f"{service}-eval", [b"score 0.81 of 40 answers"], hosts.get, service).kind == "quality"
