"""A small made-up incident for the walk: queues grow after a release, clients retry. Its diagnosis is written out by hand.

So the pictures of screens change when a screen does, and not when a rule does.
"""

from pathlib import Path

import numpy as np

from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.engine.sparks import spark_of
from triage.engine.statistics import together
from triage.model.diagnosis import (
    CauseState,
    CauseView,
    Coverage,
    Diagnosis,
    Evidence,
    Finding,
    LayerState,
    LayerView,
    NotEvaluated,
    Odd,
    Promised,
    RuledOut,
    SignalCoverage,
    SourceView,
    Span,
    Spark,
    Status,
    Symptom,
    Unread,
    Verdict,
    Vital,
)
from triage.model.playbook import Command, Playbook, Section, Step, Variant
from triage.model.recording import Event, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.rule import Alternative, LookAlike, Measure, Rule
from triage.model.vocabulary import Cause, Combine, Layer, Scale, Scope
from triage.tui.recordings import Recordings, Replay
from triage.tui.session import LocalSession
from triage.tui.snapshot import Scene, Snapshot, snapshot_of

START = 1_800_000_000.0
"""Begin of the window; the baseline is as long as the window, ten minutes."""

LENGTH = 600.0
STEP = 10.0
ONSET = START + 120.0
SERVICE = "service/llm"
HOSTILE = "\x1b[31mred\x1b[0m [bold]loud[/bold] [@click=app.quit]press[/] \u202egnorw \x07 end"
"""A log line that tries to paint, to be markup, to be clicked, and to turn the text around."""


def recording(end: float = START + LENGTH) -> Recording:
    """Queue lengths of two replicas, a release, and log lines."""
    times = np.arange(START - LENGTH + STEP, end + 1.0, STEP)
    series = [
        Series(
            "queue.waiting",
            Subject(Scope.REPLICA, name),
            times,
            np.where(times < ONSET, 2.0, 2.0 + share * (times - ONSET) / 10.0),
            Origin("vllm", "vllm:num_requests_waiting", f'vllm:num_requests_waiting{{pod="{name}"}}'),
        )
        for name, share in (("vllm-0", 1.0), ("vllm-1", 2.0))
    ]
    events = (
        Event(START + 60.0, "deploy", "v43", text="engine arguments changed", source="changes"),
        Event(ONSET + 5.0, "log", "proxy-timeouts", text=HOSTILE, source="gateway.log"),
        Event(ONSET + 30.0, "log", "proxy-timeouts", text="upstream timed out", source="gateway.log"),
    )
    sources = (Source("prometheus", SourceState.OK), Source("nvml", SourceState.ABSENT, "no NVIDIA driver is here"))
    window = Window(START, end, START - LENGTH)
    return Recording("llm", window, series, events=events, sources=sources, step=STEP)


def curve_of(held: Recording) -> Spark | None:
    """The curve of both queues together, as the engine makes it."""
    frame = Frame(held)
    derive(frame)
    cells = together(list(frame.of("queue.waiting").values()), Combine.SUM)
    return spark_of(cells, frame.grid, ONSET if held.window.end > ONSET else None)


def evidence(signal: str, verdict: Verdict, **more: object) -> Evidence:
    """A piece of evidence of the service."""
    return Evidence.model_validate({"signal": signal, "subject": SERVICE, "verdict": verdict, **more})


def queue(held: Recording) -> Evidence:
    """The queues are long."""
    return evidence(
        "queue.waiting",
        Verdict.PRESENT,
        stat="mean",
        value=84.0,
        unit="requests",
        op=">",
        threshold=8.0,
        threshold_of="2 × baseline",
        baseline=4.0,
        since=ONSET,
        query='sum(avg_over_time(vllm:num_requests_waiting{service="llm"}[10m]))',
        spark=curve_of(held),
    )


TIMEOUTS = evidence(
    "event:log",
    Verdict.PRESENT,
    stat="proxy-timeouts",
    value=2.0,
    op=">=",
    threshold=1.0,
    since=ONSET + 5.0,
    text=HOSTILE,
)
RETRIES = evidence(
    "requests.attempt_ratio",
    Verdict.PRESENT,
    stat="peak",
    value=4.5,
    op=">",
    threshold=1.3,
    threshold_of="1.3 × baseline",
    baseline=1.0,
    since=ONSET + 60.0,
)
DEMAND = evidence(
    "service.demand",
    Verdict.ABSENT,
    stat="mean",
    value=3.0,
    unit="requests/s",
    op=">",
    threshold=4.5,
    threshold_of="1.5 × baseline",
    baseline=3.0,
)
FULL = evidence("kv.usage", Verdict.ABSENT, stat="max", value=0.61, unit="ratio", op=">=", threshold=0.95, lasting=60.0, held=0.0)
XID = evidence("event:xid", Verdict.ABSENT, stat="79, 46, 62, 110", value=0.0, op=">=", threshold=1.0, text="none seen")


def _finding(rule: str, title: str, summary: str, shown: tuple[Evidence, ...], **more: object) -> Finding:
    """A finding of the platform layer."""
    values: dict[str, object] = {
        "cause": Cause.INFRASTRUCTURE,
        "layer": Layer.PLATFORM,
        "scale": Scale.CLUSTER,
        "subject": SERVICE,
        "subjects": (SERVICE,),
        "severity": "critical",
        "onset": ONSET,
        "confidence": "proven",
        "playbook": rule,
        "first_step": "Cut the load at the gateway, and let it back in slowly.",
        **more,
    }
    return Finding.model_validate({"rule": rule, "title": title, "summary": summary, "evidence": shown, **values})


def findings(held: Recording) -> tuple[Finding, ...]:
    """A retry storm, and what follows from it."""
    storm = _finding(
        "retry-storm",
        "Retries keep the overload alive",
        "Repeated attempts (4.5) keep 84 requests waiting since 08:02:00.",
        (queue(held), RETRIES),
        role="root",
        leads_to=("timeout-mismatch",),
        check=("kubectl get pods -l app=llm",),
        loop=("timeout-mismatch",),
    )
    hop = _finding(
        "timeout-mismatch",
        "A hop gives up before the answer",
        "The gateway gave up on 2 requests at 08:02:05.",
        (TIMEOUTS,),
        role="consequence",
        severity="warning",
        onset=ONSET + 5.0,
        explained_by=("retry-storm",),
        leads_to=("retry-storm",),
    )
    return (storm, hop)


RULED_OUT = (
    RuledOut(rule="true-overload", title="Demand above capacity", layer=Layer.PLATFORM, evidence=(DEMAND,)),
    RuledOut(rule="kv-exhaustion-preemption", title="KV cache full", layer=Layer.ENGINE, evidence=(FULL,)),
    RuledOut(rule="gpu-off-bus", title="GPU gone from the bus", layer=Layer.HARDWARE, evidence=(XID,)),
)
OPEN = (
    NotEvaluated(
        rule="thermal-throttle",
        title="Clocks cut by heat",
        layer=Layer.HARDWARE,
        missing=("gpu.throttle_thermal", "gpu.sm_clock"),
        how_to_get="run dcgm-exporter on the nodes",
    ),
    NotEvaluated(
        rule="bad-rollout",
        title="A change breaks the service",
        layer=Layer.PLATFORM,
        missing=("event:deploy",),
        how_to_get="give a file of changes (--changes FILE)",
    ),
)


STARVED = Odd(
    sort="shift",
    of="container.cpu_pressure",
    subject="replica/vllm-1",
    text="container.cpu_pressure 41 % against 2 % before",
    since=ONSET - 30.0,
    size=20.0,
    salient=True,
)
UNREAD = Unread(
    text=f"W cannot renew lease 4711 {HOSTILE}",
    template="W cannot renew lease <n>",
    count=7,
    emitter="gateway",
    subject="gateway/front",
    source="gateway.log",
    first=ONSET - 10.0,
    last=ONSET + 60.0,
)


def vitals(held: Recording) -> tuple[Vital, ...]:
    """Requests are answered; from a moment on many fail; nobody measures time to first token."""
    is_bad = held.window.end > ONSET
    return (
        Vital(
            name="answers",
            title="answers at all",
            subject=SERVICE,
            state=Promised.KEPT,
            value=0.98,
            unit="ratio",
            limit=0.5,
            limit_of="requests that are answered",
        ),
        Vital(
            name="ttft_p95_s",
            title="time to first token (p95)",
            subject=SERVICE,
            state=Promised.OPEN,
            unit="seconds",
            limit=3.0,
            limit_of="objective ttft_p95_s",
            reason="nobody measures it",
        ),
        Vital(
            name="error_ratio",
            title="share of failed requests",
            subject=SERVICE,
            state=Promised.BROKEN if is_bad else Promised.KEPT,
            value=0.25 if is_bad else 0.0,
            now=0.31 if is_bad else 0.0,
            unit="ratio",
            limit=0.01,
            limit_of="objective error_ratio",
            baseline=0.0,
            since=ONSET + 20.0 if is_bad else None,
            harm=1.2 if is_bad else 0.0,
            reason="now 31 % failed requests" if is_bad else "",
            spark=curve_of(held),
        ),
    )


def diagnosis(held: Recording) -> Diagnosis:
    """What is wrong at the end of a recording: nothing before the queues grow."""
    is_bad = held.window.end > ONSET
    shown = findings(held) if is_bad else ()
    if any(source.state is SourceState.FAILED for source in held.sources):
        return blind(held)
    return Diagnosis(
        service=held.service,
        window=Span(start=held.window.start, end=held.window.end, baseline_start=held.window.baseline_start),
        status=Status.INCIDENT if is_bad else Status.HEALTHY,
        headline=f"{shown[0].title}: {shown[0].summary}" if is_bad else "Nothing found.",
        cause=CauseView(state=CauseState.NAMED, rules=("retry-storm",)) if is_bad else CauseView(state=CauseState.NONE),
        vitals=vitals(held),
        symptoms=(_symptom(held),) if is_bad else (),
        findings=shown,
        ruled_out=RULED_OUT if is_bad else (*RULED_OUT, _absent("retry-storm"), _absent("timeout-mismatch")),
        not_evaluated=OPEN,
        layers=_layers(2 if is_bad else 0),
        observations=(STARVED,) if is_bad else (),
        unread=(UNREAD,) if is_bad else (),
        coverage=_coverage(held, 5),
        facts={"engine": "vllm"},
    )


def blind(held: Recording) -> Diagnosis:
    """The answer when the source of all metrics has died."""
    rules = ("retry-storm", "timeout-mismatch", "true-overload", "kv-exhaustion-preemption", "gpu-off-bus")
    gone = tuple(
        NotEvaluated(
            rule=rule,
            title=rule,
            layer=RULES[rule].layer,
            missing=("queue.waiting",),
            how_to_get="let Prometheus scrape the engines",
        )
        for rule in rules
    )
    return Diagnosis(
        service=held.service,
        window=Span(start=held.window.start, end=held.window.end, baseline_start=held.window.baseline_start),
        status=Status.INCONCLUSIVE,
        cause=CauseView(state=CauseState.OPEN),
        headline="Cannot tell how llm is: prometheus: connection refused.",
        symptoms=(),
        findings=(),
        ruled_out=(),
        not_evaluated=(*gone, *OPEN),
        layers=_layers(0),
        coverage=_coverage(held, 0),
    )


def _absent(rule: str) -> RuledOut:
    """A kind that is not there yet."""
    return RuledOut(rule=rule, title=RULES[rule].title, layer=RULES[rule].layer, evidence=(DEMAND,))


def _symptom(held: Recording) -> Symptom:
    """Requests fail."""
    failed = evidence(
        "service.error_ratio",
        Verdict.PRESENT,
        stat="mean",
        unit="ratio",
        op=">",
        threshold_of="objective error_ratio",
        spark=curve_of(held),
    )
    return Symptom(
        name="error_ratio",
        summary="share of failed requests is beyond its objective error_ratio",
        value=0.25,
        unit="ratio",
        threshold=0.01,
        baseline=0.0,
        onset=ONSET + 20.0,
        evidence=failed,
    )


def _layers(found: int) -> tuple[LayerView, ...]:
    """States of the layers."""
    states = {Layer.PLATFORM: LayerState.IMPLICATED if found else LayerState.PARTLY, Layer.ENGINE: LayerState.CLEARED}
    return tuple(
        LayerView(
            layer=layer,
            state=states.get(layer, LayerState.NOT_EVALUATED),
            findings=("retry-storm", "timeout-mismatch")[:found] if layer is Layer.PLATFORM else (),
            ruled_out=sum(one.layer is layer for one in RULED_OUT),
            not_evaluated=sum(one.layer is layer for one in OPEN),
        )
        for layer in Layer
    )


def _coverage(held: Recording, judged: int) -> Coverage:
    """Sources and signals."""
    return Coverage(
        sources=tuple(SourceView(name=s.name, state=s.state.value, reason=s.reason) for s in held.sources),
        signals=(
            SignalCoverage(signal="queue.waiting", state="present", subjects=2),
            SignalCoverage(signal="gpu.sm_clock", state="missing", subjects=0, reason="run dcgm-exporter on the nodes"),
        ),
        rules_evaluated=judged,
        rules_total=7,
        problems=("kv.usage of vllm-1 was 140 %",),
    )


def _rule(rule: str, title: str, question: str, layer: Layer, *alike: str) -> Rule:
    """A rule of which only the words count here."""
    return Rule(
        id=rule,
        title=title,
        question=question,
        cause=Cause.INFRASTRUCTURE,
        layer=layer,
        scale=Scale.CLUSTER,
        scope=Scope.SERVICE,
        severity="critical",
        shows=(Alternative(strong=Measure(signal="queue.waiting", above=1.0)),),
        finding="{subject}",
        look_alikes=tuple(LookAlike(rule=one, because="no request is asked for twice then") for one in alike),
    )


RULES = {
    rule.id: rule
    for rule in (
        _rule(
            "retry-storm",
            "Retries keep the overload alive",
            "Do repeated attempts keep the service full?",
            Layer.PLATFORM,
            "true-overload",
        ),
        _rule(
            "timeout-mismatch",
            "A hop gives up before the answer",
            "Does a hop give up while the engine still works?",
            Layer.PLATFORM,
        ),
        _rule("true-overload", "Demand above capacity", "Do more distinct requests arrive than can be served?", Layer.PLATFORM),
        _rule("bad-rollout", "A change breaks the service", "Did trouble begin with a change?", Layer.PLATFORM),
        _rule("kv-exhaustion-preemption", "KV cache full", "Is the KV cache full?", Layer.ENGINE),
        _rule("gpu-off-bus", "GPU gone from the bus", "Has a card vanished from the bus?", Layer.HARDWARE),
        _rule("thermal-throttle", "Clocks cut by heat", "Are a card's clocks cut because it is hot?", Layer.HARDWARE),
    )
}
"""Rules by id."""


def _steps(*steps: Step) -> tuple[Step, ...]:
    return steps


def playbook(kind: str) -> Playbook:
    """A short playbook of any kind."""
    look = Step(mark="read", text="Look at the queue of {service}.", commands=(Command(language="sh", text="kubectl top {pod}"),))
    cut = Step(
        mark="change",
        text="Cut the load.",
        risk="Requests are refused.",
        variants=(Variant(engine="vllm", text="--max-num-seqs"), Variant(engine="sglang", text="--max-running-requests")),
    )
    return Playbook(
        id=kind,
        title="Retries keep the overload alive",
        layer=Layer.PLATFORM,
        cause=Cause.INFRASTRUCTURE,
        owner="platform team",
        first_step="Cut the load at the gateway.",
        sections=(
            Section(heading="What it means", text="The retries themselves keep the service overloaded."),
            Section(heading="Confirm", steps=_steps(look)),
            Section(heading="Mitigate now", steps=_steps(cut)),
            Section(heading="Fix", steps=_steps(look)),
            Section(heading="Prevent", steps=_steps(look)),
            Section(heading="Who owns it", text="The platform team."),
        ),
    )


def snapshot(end: float = START + LENGTH) -> Snapshot:
    """The snapshot of the incident."""
    held = recording(end)
    return snapshot_of(diagnosis(held), RULES.values(), held)


def scene(end: float = START + LENGTH) -> Scene:
    """What a screen is given."""
    shown = snapshot(end)
    return Scene(shown, shown)


def session(recordings: Recordings | None = None) -> LocalSession:
    """A session with the incident on it, or with what a source of recordings brings."""
    return LocalSession(recordings or Replay("llm.parquet", lambda _tell: recording()), tuple(RULES.values()), diagnosis, write)


def write(held: Recording, path: Path) -> None:
    """Writes a recording, in the only way that matters to these tests."""
    path.write_text(f"{held.service} until {held.window.end:.0f}\n", encoding="utf-8")
