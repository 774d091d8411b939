"""Every query that a report prints gives the value that stands above it: asked of a real Prometheus that holds the recordings.

A sample of the recorded cases, by a hash of their names, is enough for a run of all tests; ``TRIAGE_ALL_CASES=1`` asks all.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import inf, isnan
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.servers import Stored, get, prometheus_holding, settings, victoria_metrics_with
from triage.cli import main
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.ingest.metrics.openmetrics import read_text
from triage.model.diagnosis import Diagnosis, Evidence, Input, Promised, Verdict, Vital
from triage.render.chain import Node, began_by, seen_late, trees
from triage.render.reading import FLOORS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
MEASURED = sorted(path.parent for folder in ("incidents", "quiet") for path in (HERE / folder).glob("*/metrics.om*"))
ALWAYS = ("retry-storm", "overload", "bad-release", "kv-exhaustion")
"""Recorded from real engines, every two seconds."""

HARD = ("kv-offload-stall-p19", "cold-start-too-slow-a044", "upgrade-perf-regression-a112", "probe-misconfigured-a088")
"""Torn histograms, totals that were 0, replicas that begin in the window, and some that begin again and again."""

SAMPLE = 10
"""One case in so many is asked."""

TOLERANCE = 0.05
"""Scrapes do not fall on the ends of a window, and servers extrapolate a rate to them: of a window of ten scrapes that is a part
in twenty."""

OTHER_TOLERANCE = 0.15
"""VictoriaMetrics extrapolates nothing, and takes the sample before a range for a part of it."""

ONE_OF_MANY = 1e-3
"""What is collected live are rates over four scrapes, which reach back before the window: one of a thousand requests, say."""

LOOKBACK = 600.0
"""Cases must lie so far apart to be in one server, seconds."""

Shown = Evidence | Vital


def is_asked(case: Path) -> bool:
    """Whether a case is in the sample."""
    chosen = int(sha256(case.name.encode()).hexdigest(), 16) % SAMPLE == 0
    return chosen or case.name in (*ALWAYS, *HARD) or bool(os.environ.get("TRIAGE_ALL_CASES"))


@cache
def samples(case: Path) -> bytes:
    """A case's samples as OpenMetrics, without NaN: that is how a recording tells that a series had ended, and a server knew."""
    lines = read_text(next(case.glob("metrics.om*"))).splitlines(keepends=True)
    return b"".join(line for line in lines if b" NaN " not in line and not line.startswith(b"#"))


@cache
def span(case: Path) -> tuple[float, float]:
    """First and last sample of a case, Unix seconds."""
    times = [float(line.rpartition(b" ")[2]) for line in samples(case).splitlines()]
    return min(times), max(times)


def apart(cases: list[Path]) -> list[list[Path]]:
    """The cases in groups whose times do not overlap: they have the same names."""
    groups: list[list[Path]] = []
    for case in sorted(cases, key=span):
        free = (group for group in groups if span(group[-1])[1] + LOOKBACK < span(case)[0])
        if (group := next(free, None)) is not None:
            group.append(case)
        else:
            groups.append([case])
    return groups


@cache
def judged(case: Path) -> Diagnosis:
    """What is said of a case."""
    return diagnose(read_incident(case), load_rules())


def shown(diagnosis: Diagnosis) -> Iterator[Shown]:
    """Everything measured that a report can show; lines of logs are counted by other means."""
    yield from diagnosis.vitals
    every = [symptom.evidence for symptom in diagnosis.symptoms]
    every += [one for finding in diagnosis.findings for one in (*finding.evidence, *finding.contradicts)]
    every += [one for out in diagnosis.ruled_out for one in out.evidence]
    yield from (one for one in every if not one.signal.startswith(("event:", "fact:", "observed:")))


@dataclass(frozen=True)
class Answer:
    """What a server says; several values, or none, are no answer to one question."""

    values: tuple[float, ...]
    error: str = ""

    def is_near(self, one: Shown, tolerance: float, least: float = 1e-9) -> bool:
        """Whether it is one value, and that one; a count is shown as a whole number."""
        if len(self.values) != 1 or one.value is None:
            return False
        half = 0.5 if isinstance(one, Evidence) and one.stat == "sum" else least
        return abs(self.values[0] - one.value) <= tolerance * max(abs(self.values[0]), abs(one.value)) + half


def asking(server: Stored) -> Callable[[str], Answer]:
    """Asks a server for a query just as it is printed (of a server that took nothing from the future: by its time)."""

    @cache
    def ask(query: str) -> Answer:
        moved = re.sub(r"@ (\d+(?:\.\d+)?)", lambda found: f"@ {float(found[1]) - server.moved:.3f}", query)
        status, body = get(f"{server.address}/api/v1/query?{urlencode({'query': moved if server.moved else query})}")
        if status != 200:
            return Answer((), body.decode()[:300])
        data = json.loads(body)["data"]
        return Answer(tuple(float(one["value"][1]) for one in data["result"]))

    return ask


def wrong(case: Path, ask: Callable[[str], Answer], tolerance: float) -> Iterator[str]:
    """Queries of a case that do not give what stands above them, and inputs without data."""
    for one in shown(judged(case)):
        name = one.signal if isinstance(one, Evidence) else one.name
        if one.query and one.value is not None and not (answer := ask(one.query)).is_near(one, tolerance):
            yield f"{case.name}: {name} is {one.value:.6g}, and {one.query} gives {answer}"
        for source in one.derived_from:
            yield from _unanswered(case, name, source, ask)


def _unanswered(case: Path, name: str, source: Input, ask: Callable[[str], Answer]) -> Iterator[str]:
    answer = ask(source.query)
    if not answer.values or any(isnan(value) for value in answer.values[1:]):
        yield f"{case.name}: {name} is derived from {source.signal}, and {source.query} gives {answer}"


def test_each_query_gives_the_value_above_it(tmp_path: Path) -> None:
    """As it is printed, of a Prometheus that holds the case; inputs of what is derived have data."""
    told: list[str] = []
    for number, group in enumerate(apart([case for case in MEASURED if is_asked(case)])):
        with prometheus_holding([samples(case) for case in group], tmp_path / str(number)) as server:
            told += [line for case in group for line in wrong(case, asking(server), TOLERANCE)]
    assert not told, f"{len(told)} queries:\n" + "\n".join(told)


def test_victoria_metrics_gives_about_the_same(tmp_path: Path) -> None:
    """It has rules of its own for rates and for the ends of a range."""
    for case in (HERE / "incidents" / "prefix-cache-collapse-a068", HERE / "incidents" / "retry-storm"):
        folder = tmp_path / case.name
        folder.mkdir()
        with victoria_metrics_with(samples(case), folder) as server:
            assert list(wrong(case, asking(server), OTHER_TOLERANCE)) == []


def test_a_value_that_was_measured_has_a_query_or_says_what_it_comes_from() -> None:
    """Nothing that a Prometheus brought is shown without a way to look at it."""
    for case in (case for case in MEASURED if is_asked(case)):
        without = {
            one.signal
            for finding in judged(case).findings
            for one in finding.evidence
            if one.value is not None and one.stat and not one.signal.startswith(("event:", "fact:", "observed:"))
            if not (one.query or one.derived_from)
        }
        assert not without & MEASURED_BY_PROMETHEUS, case


MEASURED_BY_PROMETHEUS = {"queue.waiting", "kv.usage", "latency.ttft", "tokens.generation", "gpu.sm_clock", "gateway.requests"}


ASKED = [case for case in MEASURED if is_asked(case)]


def bounds(one: Shown) -> tuple[float, float]:
    """Between what a value lies."""
    value = one.value or 0.0
    if one.low is None and one.high is None:
        return value, value
    return one.low if one.low is not None else -inf, one.high if one.high is not None else inf


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.name)
def test_nothing_denies_itself(case: Path) -> None:
    """What holds surely holds, a bucket that straddles its limit is open; what is kept agrees with its value or says why not."""
    for one in shown(judged(case)):
        limit = one.limit if isinstance(one, Vital) else one.threshold
        if one.value is None or limit is None or (isinstance(one, Evidence) and (one.lasting is not None or not one.stat)):
            continue
        low, high = bounds(one)
        if isinstance(one, Vital):
            floor = one.name in FLOORS
            broken = high < limit if floor else low > limit * (1 - 1e-9)
            kept = low >= limit if floor else high <= limit * (1 + 1e-9)
            assert one.state is not Promised.BROKEN or broken, one
            assert one.state is not Promised.KEPT or kept or one.reason, one
        elif one.verdict is Verdict.PRESENT and one.op in (">", ">="):
            assert low >= limit * (1 - 1e-9), one
        elif one.verdict is Verdict.PRESENT and one.op in ("<", "<="):
            assert high <= limit * (1 + 1e-9), one


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.name)
def test_no_value_stands_twice_and_no_peak_below_its_mean(case: Path) -> None:
    """Of one finding; and no extreme is less extreme than what it is the extreme of."""
    for finding in judged(case).findings:
        measured = [one for one in finding.evidence if one.value is not None and one.stat]
        keys = [(one.signal, one.subject, one.stat, one.value, one.verdict, one.lasting, one.op) for one in measured]
        assert len(keys) == len(set(keys)), finding.rule
        for one in measured:
            for other in measured:
                if (one.signal, one.subject, one.stat, other.stat) == (other.signal, other.subject, "peak", "mean"):
                    assert (one.value or 0.0) >= (other.value or 0.0) * (1 - TOLERANCE), finding.rule


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.name)
def test_no_effect_stands_before_its_cause(case: Path) -> None:
    """In the chain times go down, or the cause says that it shows itself later."""

    def check(node: Node) -> None:
        mine = began_by(node)
        for child in node.follows:
            theirs = began_by(child)
            assert mine is None or theirs is None or mine <= theirs or seen_late(node) > 0, (
                node.finding.rule,
                child.finding.rule,
            )
            check(child)

    for tree in trees(judged(case).findings):
        check(tree)


# Live


def asked_live(case: Path, server: Stored, folder: Path, capsys: pytest.CaptureFixture[str]) -> Diagnosis:
    """What is said of a case when its metrics are asked from a server."""
    window = read_incident(case).window
    before = f"{window.start - window.baseline_start:.0f}s"
    asked = ["diagnose", "--service", "llm-prod", "--prometheus", server.address, "--config", str(settings(case, folder))]
    asked += ["--from", str(window.start), "--to", str(window.end), "--baseline", before, "--logs", str(case / "logs")]
    main([*asked, "--format", "json"])
    return Diagnosis.model_validate_json(capsys.readouterr().out)


def without_node_of_exporters(metrics: bytes) -> bytes:
    """The same where node exporters, as they come, say nothing of the node that they are on."""
    return re.sub(rb'(?m)^(node_[^{]*\{[^}\n]*?),?node="[^"]*"', rb"\1", metrics)


def on_the_host_network(metrics: bytes) -> bytes:
    """The same where pods have the addresses of their nodes."""
    told = re.findall(rb'kube_pod_info\{[^}\n]*host_ip="([^"]*)"[^}\n]*pod_ip="([^"]*)"', metrics)
    for host_ip, pod_ip in set(told):
        metrics = metrics.replace(b'"' + pod_ip + b'"', b'"' + host_ip + b'"').replace(
            b'"' + pod_ip + b":", b'"' + host_ip + b":"
        )
    return metrics


@pytest.mark.parametrize("change", [bytes, without_node_of_exporters, on_the_host_network], ids=lambda change: change.__name__)
def test_a_report_made_live_prints_what_that_server_answers(
    change: Callable[[bytes], bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No label that was put on, or put together, on our side gets into a selector: nothing is empty, whatever the labels are."""
    case = HERE / "incidents" / "pcie-degraded-a050"
    with prometheus_holding([change(samples(case))], tmp_path / "prometheus") as server:
        diagnosis, ask = asked_live(case, server, tmp_path, capsys), asking(server)
        asked = [one for one in shown(diagnosis) if one.query and one.value is not None]
        assert len(asked) > 20
        off = [
            f"{one.value:.6g}: {one.query} gives {ask(one.query)}"
            for one in asked
            if not ask(one.query).is_near(one, OTHER_TOLERANCE, ONE_OF_MANY)
        ]
        assert not off, "\n".join(off)
        inputs = [source.query for one in shown(diagnosis) for source in one.derived_from]
        assert [query for query in inputs if not ask(query).values] == []
