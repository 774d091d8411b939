"""The whole way: statuses, roles, what is told of what was not seen, and the same answer every time."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from tests.engine.making import BEGIN, Buckets, Shift, at, make_recording, rule
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.model.diagnosis import Diagnosis, LayerState, Status
from triage.model.playbook import Advice
from triage.model.recording import Recording, Source, SourceState, Window
from triage.model.rule import Grade, Rule

nan = float("nan")
ROOT = Path(__file__).parent.parent.parent
FAST, SLOW = Buckets((0.1, 1, 5), (9, 1, 0, 0)), Buckets((0.1, 1, 5), (0, 0, 9, 1), (9, 1, 0, 0))

FULL = rule("full", {"signal": "kv.usage", "stat": "max", "at_least": 0.95, "as": "kv"}, finding="{subject} reached {kv}")
GRAVE = rule("grave", {"signal": "preemptions", "stat": "sum", "at_least": 1}, severity="critical")
NOTE = rule("note", {"signal": "kv.usage", "above": 0.1}, severity="info")


def of(signals: Mapping[str, object], *rules: Rule, ttft: Buckets | None = None, **told: object) -> Diagnosis:
    """The diagnosis of a made recording."""
    histograms = {} if ttft is None else {"latency.ttft": ttft}
    return diagnose(make_recording(signals, histograms=histograms, **told), rules)  # type: ignore[arg-type]


# Statuses


def test_healthy_needs_what_users_notice() -> None:
    """Nothing found is healthy only where answers were measured; else it is inconclusive."""
    assert of({"kv.usage": 0.5}, FULL, ttft=FAST).status is Status.HEALTHY
    assert of({"kv.usage": 0.5}, FULL).status is Status.INCONCLUSIVE
    assert of({}).status is Status.INCONCLUSIVE


def test_latency_that_cannot_be_believed_is_not_healthy() -> None:
    """A distribution with broken readings is as good as none, though another one is fine."""
    broken = {"latency.itl": "milliseconds where seconds belong"}
    assert of({}, ttft=FAST, rejected=broken).status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    ("usage", "preempted", "status"),
    [(0.5, 0, Status.HEALTHY), (0.97, 0, Status.DEGRADED), (0.5, 1, Status.INCIDENT), (0.97, 1, Status.INCIDENT)],
)
def test_the_gravest_finding_decides(usage: float, preempted: float, status: Status) -> None:
    """A warning degrades, something critical is an incident; a note is neither."""
    assert of({"kv.usage": usage, "preemptions": preempted}, FULL, GRAVE, NOTE, ttft=FAST).status is status


def test_a_symptom_without_a_cause_is_degraded() -> None:
    """Users suffer and no rule explains it: that is said, and it is not healthy."""
    diagnosis = of({"kv.usage": 0.5}, FULL, ttft=SLOW)
    assert diagnosis.status is Status.DEGRADED
    assert "no rule explains it" in diagnosis.headline
    assert [symptom.name for symptom in diagnosis.symptoms] == ["ttft_p95_s"]


def test_an_inconclusive_answer_says_why() -> None:
    """The source that failed, or that nothing users notice was measured."""
    recording = replace(make_recording({}), sources=(Source("prometheus", SourceState.FAILED, "connection refused"),))
    assert "prometheus, connection refused" in diagnose(recording, ()).headline
    assert "nothing that users notice" in of({}).headline


# Findings


def test_a_finding_names_subject_value_and_time() -> None:
    """Its sentence is filled in; its onset is that of the condition; the worst subject is the one that began first."""
    signals = {
        "kv.usage@replica/a": lambda t: 0.99 if t > 300 else 0.5,
        "kv.usage@replica/b": lambda t: 0.97 if t > 150 else 0.5,
        "kv.usage@replica/c": 0.5,
    }
    (finding,) = of(signals, FULL, ttft=FAST).findings
    assert finding.summary == "Replica b and 1 more reached 97 %"
    assert (finding.subject, finding.subjects) == ("replica/b", ("replica/b", "replica/a"))
    assert finding.onset == BEGIN + 600 + 165
    assert (finding.role, finding.playbook) == ("root", "full")


def test_roles() -> None:
    """The cause is the root, what follows from it a consequence, a note contributes."""
    cause = rule("cause", {"signal": "kv.usage", "above": 0.9}, leads_to={"grave": "it digs"})
    diagnosis = of({"kv.usage": 0.97, "preemptions": Shift(0, 1)}, GRAVE, cause, NOTE, ttft=FAST)
    assert [(finding.rule, finding.role) for finding in diagnosis.findings] == [
        ("cause", "root"),
        ("note", "contributing"),
        ("grave", "consequence"),
    ]
    assert diagnosis.findings[0].leads_to == ("grave",)
    assert diagnosis.findings[0].because == {"grave": "it digs"}
    assert diagnosis.findings[2].explained_by == ("cause",)
    assert diagnosis.headline == f"{diagnosis.findings[0].summary}."


def test_less_seen_is_less_sure() -> None:
    """Confidence falls with evidence that was asked for and not there, and with how little it proves."""
    both = {"any": [{"signal": "kv.usage", "above": 0.9}, {"signal": "preemptions", "stat": "sum", "at_least": 1}]}
    against = {"signal": "queue.waiting", "below": 1}
    told, alone = (
        of(signals, rule("x", both, refuted_by=against)).findings[0].confidence
        for signals in ({"kv.usage": 0.97, "queue.waiting": 3}, {"kv.usage": 0.97})
    )
    assert (told, alone) == ("likely", "possible")
    assert of({"kv.usage": 0.97}, rule("x", both, "weak")).findings[0].confidence == "possible"
    assert of({"kv.usage": 0.97}, rule("x", both, "proof")).findings[0].confidence == "proven"


def test_an_effect_that_is_measured_and_missing_speaks_against() -> None:
    """A kind that should have brought something about is less sure without it, and says so."""
    full = rule("x", {"signal": "kv.usage", "above": 0.9}, "proof", expects=[{"signal": "queue.waiting", "above": 1}])
    (unseen,) = of({"kv.usage": 0.97}, full).findings
    (missing,) = of({"kv.usage": 0.97, "queue.waiting": 0}, full).findings
    assert (unseen.confidence, unseen.contradicts) == ("proven", ())
    assert (missing.confidence, [e.signal for e in missing.contradicts]) == ("likely", ["queue.waiting"])


def test_what_to_do_and_not_to_do_is_that_of_the_playbook() -> None:
    """Whoever diagnoses says where playbooks are."""
    (finding,) = diagnose(make_recording({"kv.usage": 0.97}), [FULL], lambda kind: Advice(f"see {kind}", "look away")).findings
    assert (finding.first_step, finding.do_not) == ("see full", "look away")


# What was ruled out, what was not seen


def test_look_alikes_of_what_was_found_come_first_among_the_ruled_out() -> None:
    """Each with the evidence that decides against it."""
    found = rule("found", {"signal": "kv.usage", "above": 0.9}, look_alikes=[{"rule": "zebra", "because": "it has stripes"}])
    others = [rule(name, {"signal": "preemptions", "stat": "sum", "at_least": 1}) for name in ("ape", "zebra")]
    diagnosis = of({"kv.usage": 0.97, "preemptions": 0}, found, *others)
    assert [one.rule for one in diagnosis.ruled_out] == ["zebra", "ape"]
    assert diagnosis.ruled_out[0].evidence[0].signal == "preemptions"


def test_what_could_not_be_judged_says_what_is_missing_and_how_to_get_it() -> None:
    """Named once over all subjects."""
    (one,) = of({"kv.usage@replica/a": 0.8, "kv.usage@replica/b": 0.8}, GRAVE).not_evaluated
    assert (one.rule, one.missing) == ("grave", ("preemptions",))
    assert "/metrics" in one.how_to_get


def test_layers() -> None:
    """Implicated by a finding, cleared by what was ruled out, else not evaluated."""
    card = rule("card", {"signal": "gpu.temp", "above": 90}, layer="hardware", scope="gpu")
    states = {view.layer.value: view.state for view in of({"kv.usage": 0.97, "gpu.temp": 50}, FULL, card).layers}
    assert (states["engine"], states["hardware"], states["cuda"]) == (
        LayerState.IMPLICATED,
        LayerState.CLEARED,
        LayerState.NOT_EVALUATED,
    )


@pytest.mark.parametrize(
    ("signals", "state"),
    [
        ({"gpu.temp": 50, "gpu.power": 100}, LayerState.CLEARED),
        ({"gpu.temp": 50}, LayerState.PARTLY),
        ({"gpu.temp": 50, "gpu.power": 400}, LayerState.PARTLY),
        ({"gpu.temp": 95, "gpu.power": 400}, LayerState.IMPLICATED),
        ({"gpu.temp": 95}, LayerState.IMPLICATED),
        ({"gpu.power": 400}, LayerState.NOT_EVALUATED),
        ({}, LayerState.NOT_EVALUATED),
    ],
)
def test_a_layer_is_cleared_only_where_each_of_its_kinds_is_ruled_out(signals: dict[str, float], state: LayerState) -> None:
    """One that stays open, and a note that was found, leave it looked at in part; what was found is worth a warning or more."""
    hot = rule("hot", {"signal": "gpu.temp", "above": 90}, layer="hardware", scope="gpu")
    note = rule("thirsty", {"signal": "gpu.power", "above": 300}, layer="hardware", scope="gpu", severity="info")
    view = next(one for one in of(signals, hot, note).layers if one.layer.value == "hardware")
    assert view.state is state
    assert view.ruled_out + view.not_evaluated + len(view.findings) == 2


@pytest.mark.parametrize(
    ("grade", "queue", "confidence"),
    [
        ("proof", 3, "proven"), ("proof", None, "likely"), ("proof", 1, "likely"),
        ("strong", 3, "likely"), ("strong", None, "possible"), ("strong", 1, "possible"),
        ("weak", 3, "possible"), ("weak", None, "possible"), ("weak", 1, "possible"),
    ],
)  # fmt: skip
def test_confidence_is_the_grade_less_one_step_for_doubt(grade: Grade, queue: float | None, confidence: str) -> None:
    """One step, whether what would refute it was not seen (None) or what it expects is missing (1); none is below possible."""
    signals = {"kv.usage": 0.97} if queue is None else {"kv.usage": 0.97, "queue.waiting": queue}
    against, expected = {"signal": "queue.waiting", "below": 1}, {"signal": "queue.waiting", "above": 2}
    full = rule("x", {"signal": "kv.usage", "above": 0.9}, grade, refuted_by=against, expects=[expected])
    (finding,) = of(signals, full).findings
    assert finding.confidence == confidence
    assert [one.signal for one in finding.contradicts] == (["queue.waiting"] if queue == 1 else [])


def test_coverage_of_signals() -> None:
    """Present, stale, missing, or out of range; distributions go stale as well."""
    names = ("kv.usage", "preemptions", "finished", "batch.running", "latency.itl")
    recording = make_recording(
        {"kv.usage": 0.8, "finished": lambda t: 1.0 if t < 0 else nan},
        histograms={"latency.itl": Buckets((1,), (1, 0))},
        rejected={"batch.running": "a broken reading"},
    )
    whole = recording.histograms[0]
    stopped = replace(whole, times=whole.times[:30], rates=whole.rates[:30], sums=whole.sums[:30])
    asked = rule("x", {"all": [{"signal": name, "above": 0} for name in names]})
    diagnosis = diagnose(replace(recording, histograms=(stopped,)), [asked])
    states = {one.signal: one.state for one in diagnosis.coverage.signals}
    assert [states[name] for name in names] == ["present", "missing", "stale", "out_of_range", "stale"]
    assert (diagnosis.coverage.rules_total, diagnosis.coverage.rules_evaluated) == (1, 0)


# The same answer every time

SHIPPED = load_rules()


@pytest.fixture(scope="module")
def recorded() -> Recording:
    """A recorded incident with metrics, logs and changes."""
    return read_incident(ROOT / "tests" / "incidents" / "engine-loop-stall-a028")


T = TypeVar("T")


def shuffled(recording: Recording, seed: int) -> Recording:
    """The same recording as sources that speak in another order would make it."""
    shuffler = random.Random(seed)

    def mixed(items: Iterable[T]) -> list[T]:
        out = list(items)
        shuffler.shuffle(out)
        return out

    return replace(
        recording,
        series=mixed(recording.series),
        histograms=mixed(recording.histograms),
        events=mixed(recording.events),
        facts=mixed(recording.facts),
        links=dict(mixed(recording.links.items())),
    )


@pytest.mark.slow
def test_the_order_in_which_sources_speak_moves_no_digit(recorded: Recording) -> None:
    """Series, events, facts, links and rules in any order: the same bytes."""
    told = diagnose(recorded, SHIPPED).model_dump_json()
    for seed in (1, 2):
        rules = list(SHIPPED)
        random.Random(seed).shuffle(rules)
        assert diagnose(shuffled(recorded, seed), rules).model_dump_json() == told


def test_a_recording_is_not_changed(recorded: Recording) -> None:
    """A second diagnosis of the same recording gives the same answer."""
    assert diagnose(recorded, SHIPPED) == diagnose(recorded, SHIPPED)


@pytest.fixture
def far_away() -> Iterator[None]:
    """Another time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Pacific/Kiritimati"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def test_the_time_zone_does_not_matter(recorded: Recording, far_away: None) -> None:
    """Times in sentences are UTC wherever the program runs."""
    onset = rule("full", {"signal": "kv.usage", "above": 0.9}, finding="since {onset}")
    signals = {"kv.usage": lambda t: 0.97 if t > 0 else 0.5}
    (finding,) = diagnose(make_recording(signals), [onset]).findings
    assert finding.onset == BEGIN + 615
    assert finding.summary == "Since " + time.strftime("%H:%M:%S", time.gmtime(BEGIN + 615))


SCRIPT = """
import sys
from pathlib import Path
from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
print(diagnose(read_incident(Path(sys.argv[1])), load_rules()).model_dump_json())
"""


@pytest.mark.slow
def test_a_fresh_process_with_another_hash_seed_and_locale_says_the_same(recorded: Recording) -> None:
    """Sets and dictionaries of strings have another order there."""
    told = diagnose(recorded, SHIPPED).model_dump_json()
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    case = ROOT / "tests" / "incidents" / "engine-loop-stall-a028"
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(case)], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == told


# Hostile and odd recordings

HOSTILE = ["\x1b[31mred\x1b[0m", "x" * 50_000, "a\nb", "{subject}", "{0}", "%s%n", "\u202e", "'; DROP TABLE"]


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_labels_are_data(name: str) -> None:
    """Names of subjects, facts, events and sources of any content go through to a diagnosis that is valid JSON."""
    recording = make_recording(
        {f"kv.usage@replica/{name}": 0.97, f"gpu.temp@gpu/{name}": 70.0},
        facts={"model": name, "gpu_model": name, "engine": name},
        events=[at(5, "log", "cuda-oom", subject=f"replica/{name}", text=name), at(6, "deploy", name, service=name)],
        links={f"gpu/{name}": [f"replica/{name}"]},
        sources=["log:engine", "changes", name],
    )
    diagnosis = diagnose(recording, SHIPPED)
    assert Diagnosis.model_validate_json(diagnosis.model_dump_json()) == diagnosis


def test_an_empty_recording_is_answered() -> None:
    """No series, no events, a window without a baseline, all shipped rules: inconclusive, and nothing is ruled out."""
    diagnosis = diagnose(Recording("svc", Window(BEGIN, BEGIN + 600, BEGIN)), SHIPPED)
    assert diagnosis.status is Status.INCONCLUSIVE
    assert diagnosis.findings == ()
    assert diagnosis.ruled_out == ()
    assert len(diagnosis.not_evaluated) == len(SHIPPED)
    assert all(view.state is LayerState.NOT_EVALUATED for view in diagnosis.layers)


@pytest.mark.parametrize("inside", [1.0, 15.0, 86400.0 * 30])
def test_windows_of_any_length(inside: float) -> None:
    """A second, a scrape, a month."""
    recording = make_recording({"kv.usage": 0.97}, inside=inside, before=0.0, step=15.0 if inside < 1e5 else 3600.0)
    assert diagnose(recording, [FULL, GRAVE]).service == "svc"
