"""Diagnoses written by hand, as the engine gives them: an incident with a chain and a loop, the other states, a large fleet."""

from math import sin
from typing import Any

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
    Rival,
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
from triage.model.vocabulary import Cause, Layer, Scale

START = 1772366400.0
"""2026-03-01 12:00:00 UTC."""

WINDOW = Span(start=START, end=START + 1800, baseline_start=START - 3600)
_STEP = 90.0
_FIRST = 40
_ALL = 60


def curve(before: float, after: float, onset: float | None, *, wiggle: float = 0.04, gap: range = range(0)) -> Spark:
    """A curve over baseline and window that goes from one level to the other within three values of the onset."""
    index = None if onset is None else int((onset - WINDOW.baseline_start) // _STEP)
    values: list[float | None] = []
    for i in range(_ALL):
        share = 0.0 if index is None else min(max((i - index + 1) / 3, 0.0), 1.0)
        level = before + (after - before) * share
        values.append(None if i in gap else round(level * (1 + wiggle * sin(i * 1.7)), 6))
    return Spark(start=WINDOW.baseline_start, end=WINDOW.end, values=tuple(values), window=_FIRST, onset=index)


def symptom(
    name: str,
    value: float,
    unit: str,
    objective: float,
    baseline: float,
    onset: float,
    signal: str,
    bounds: tuple[float, float] | None = None,
) -> Symptom:
    """A promise that is not kept."""
    low, high = bounds or (None, None)
    return Symptom(
        name=name,
        summary=f"The service keeps its promise on {name} no longer.",
        value=value,
        unit=unit,
        threshold=objective,
        baseline=baseline,
        onset=onset,
        evidence=Evidence(
            signal=signal,
            subject="service/llm-prod",
            stat="p95" if "p95" in name else "mean",
            value=value,
            low=low,
            high=high,
            unit=unit,
            op=">",
            threshold=objective,
            threshold_of=f"objective {name}",
            baseline=baseline,
            verdict=Verdict.PRESENT,
            since=onset,
            query=f'{signal.replace(".", "_")}{{service="llm-prod"}}',
            spark=curve(baseline, value, onset),
        ),
    )


def broken(one: Symptom, title: str, harm: float) -> Vital:
    """The vital sign of a promise that is not kept."""
    evidence = one.evidence
    return Vital(
        name=one.name,
        title=title,
        subject=evidence.subject,
        state=Promised.BROKEN,
        value=one.value,
        low=evidence.low,
        high=evidence.high,
        now=one.value,
        unit=one.unit,
        limit=one.threshold,
        limit_of=evidence.threshold_of,
        baseline=one.baseline,
        since=one.onset,
        harm=harm,
        reason=f"now more of it is bad than {evidence.threshold_of} allows",
        query=evidence.query,
        spark=evidence.spark,
    )


def kept(name: str, title: str, value: float, unit: str, limit: float, limit_of: str, baseline: float) -> Vital:
    """A promise that is kept."""
    told: dict[str, Any] = {
        "value": value,
        "now": value,
        "unit": unit,
        "limit": limit,
        "limit_of": limit_of,
        "baseline": baseline,
    }
    spark = curve(baseline, value, None)
    return Vital(name=name, title=title, subject="service/llm-prod", state=Promised.KEPT, spark=spark, **told)


def open_(name: str, title: str, limit: float, unit: str, reason: str) -> Vital:
    """A promise of which nobody can say whether it is kept."""
    subject = "service/llm-prod"
    return Vital(
        name=name, title=title, subject=subject, state=Promised.OPEN, unit=unit, limit=limit, limit_of="default", reason=reason
    )


_ANSWERS = kept("answers", "answers at all", 0.96, "ratio", 0.5, "requests or replicas that answer", 1.0)
_ITL = kept("itl_p95_s", "time between tokens (p95)", 0.031, "seconds", 0.06, "objective itl_p95_s", 0.029)
_ERRORS = kept("error_ratio", "share of failed requests", 0.0002, "ratio", 0.01, "objective error_ratio", 0.0002)
_TTFT = kept("ttft_p95_s", "time to first token (p95)", 0.44, "seconds", 2.0, "objective ttft_p95_s", 0.41)
_QUEUE = open_("queue_wait_s", "wait of a newcomer at the engines", 2.0, "seconds", "nobody counts those that wait")

_CARD = Odd(
    sort="shift",
    of="gpu.nvlink_errors",
    subject="gpu/node-b/5",
    text="NVLink errors 3.2 errors/min against 0 errors/min before",
    since=START + 600,
    size=9.0,
    salient=True,
)
_UNREAD = Unread(
    text="[router] WARN ring rebuilt with 3 of 6 members, 214 keys moved",
    template="[router] WARN ring rebuilt with <n> of <n> members, <n> keys moved",
    count=214,
    emitter="router",
    subject="gateway/router",
    source="router.log",
    first=START + 95,
    last=START + 1790,
)


def ruled_out(rule: str, title: str, layer: Layer, evidence: Evidence) -> RuledOut:
    """A kind that is not there."""
    return RuledOut(rule=rule, title=title, layer=layer, evidence=(evidence,))


def absent(signal: str, subject: str, stat: str, value: float, unit: str, op: str, threshold: float, of: str = "") -> Evidence:
    """A condition that does not hold."""
    return Evidence(
        signal=signal,
        subject=subject,
        stat=stat,
        value=value,
        unit=unit,
        op=op,
        threshold=threshold,
        threshold_of=of,
        verdict=Verdict.ABSENT,
    )


_SLOW = symptom("ttft_p95_s", 8.2, "seconds", 2.0, 0.41, START + 240, "latency.ttft", (7.5, 10.0))
_FAILING = symptom("error_ratio", 0.041, "ratio", 0.01, 0.0002, START + 330, "service.error_ratio")
_CHOPPY = symptom("itl_p95_s", 0.062, "seconds", 0.06, 0.031, START + 690, "latency.itl")

_PREFIX = Finding(
    rule="prefix-cache-collapse",
    title="Prefix reuse lost",
    summary="The prefix cache of replica vllm-3 answers 12 % of looked-up tokens instead of 68 % since 12:01:30, right after"
    " deploy router v2.4.0.",
    cause=Cause.RUNTIME,
    layer=Layer.ENGINE,
    scale=Scale.CLUSTER,
    subject="replica/vllm-3",
    subjects=("replica/vllm-3", "replica/vllm-1", "replica/vllm-0"),
    severity="critical",
    role="root",
    onset=START + 90,
    confidence="proven",
    evidence=(
        Evidence(
            signal="prefix.hit_ratio",
            subject="replica/vllm-3",
            stat="mean",
            value=0.121,
            unit="ratio",
            op="<",
            threshold=0.34,
            threshold_of="0.5 × baseline",
            baseline=0.68,
            verdict=Verdict.PRESENT,
            since=START + 90,
            query='rate(vllm:prefix_cache_hits_total{pod="vllm-3"}[5m])'
            ' / rate(vllm:prefix_cache_queries_total{pod="vllm-3"}[5m])',
            spark=curve(0.68, 0.121, START + 90),
        ),
        Evidence(
            signal="tokens.prompt_computed",
            subject="replica/vllm-3",
            stat="mean",
            value=41200.0,
            unit="tokens/s",
            op=">",
            threshold=26800.0,
            threshold_of="2 × baseline",
            baseline=13400.0,
            verdict=Verdict.PRESENT,
            since=START + 90,
            query='rate(vllm:prompt_tokens_total{pod="vllm-3"}[5m])',
            spark=curve(13400, 41200, START + 90, gap=range(22, 27)),
        ),
        Evidence(
            signal="service.demand",
            subject="service/llm-prod",
            stat="mean",
            value=31.8,
            unit="requests/s",
            op="<",
            threshold=39.3,
            threshold_of="1.25 × baseline",
            baseline=31.4,
            verdict=Verdict.PRESENT,
            spark=curve(31.4, 31.8, None),
        ),
        Evidence(
            signal="event:deploy",
            subject="service/llm-prod",
            value=1.0,
            op=">=",
            threshold=1.0,
            verdict=Verdict.PRESENT,
            since=START + 65,
            text="deploy router v2.4.0 (was v2.3.1): consistent hashing by session replaced by round robin",
        ),
    ),
    leads_to=("kv-exhaustion-preemption",),
    because={"kv-exhaustion-preemption": "shared blocks are held once for each request"},
    check=("kubectl rollout history deployment/router -n llm-prod",),
    playbook="prefix-cache-collapse",
    first_step="Take the router back to v2.3.1, whose hashing keeps a session on one replica.",
    do_not="restart replicas; that empties what is left in their caches.",
)

_KV = Finding(
    rule="kv-exhaustion-preemption",
    title="KV cache full, sequences preempted and recomputed",
    summary="The KV cache of replica vllm-3 is 99.6 % full and 3.1 requests/s are thrown out of it since 12:03:10.",
    cause=Cause.RUNTIME,
    layer=Layer.ENGINE,
    scale=Scale.MACHINE,
    subject="replica/vllm-3",
    subjects=("replica/vllm-3", "replica/vllm-1"),
    severity="critical",
    role="consequence",
    onset=START + 190,
    confidence="likely",
    evidence=(
        Evidence(
            signal="kv.usage",
            subject="replica/vllm-3",
            stat="p95",
            value=0.996,
            unit="ratio",
            op=">",
            threshold=0.95,
            baseline=0.61,
            verdict=Verdict.PRESENT,
            since=START + 190,
            query='vllm:kv_cache_usage_perc{pod="vllm-3"}',
            spark=curve(0.61, 0.996, START + 190, wiggle=0.003),
        ),
        Evidence(
            signal="preemptions",
            subject="replica/vllm-3",
            stat="mean",
            value=3.1,
            unit="requests/s",
            op=">",
            threshold=0.05,
            baseline=0.0,
            verdict=Verdict.PRESENT,
            since=START + 190,
            query='rate(vllm:num_preemptions_total{pod="vllm-3"}[5m])',
            spark=curve(0.0, 3.1, START + 190),
        ),
    ),
    leads_to=("retry-storm",),
    explained_by=("prefix-cache-collapse", "retry-storm"),
    loop=("retry-storm",),
    playbook="kv-exhaustion-preemption",
    first_step="Lower --max-num-seqs to what the KV cache holds.",
    do_not="raise the number of requests that run at once, or restart replicas; both cost work that is done.",
)

_RETRY = Finding(
    rule="retry-storm",
    title="Retries keep the overload alive",
    summary="Clients send 2.7 attempts for each request since 12:05:00, and goodput falls.",
    cause=Cause.INFRASTRUCTURE,
    layer=Layer.PLATFORM,
    scale=Scale.CLUSTER,
    subject="service/llm-prod",
    subjects=("service/llm-prod",),
    severity="critical",
    role="consequence",
    onset=START + 300,
    confidence="likely",
    evidence=(
        Evidence(
            signal="requests.attempt_ratio",
            subject="service/llm-prod",
            stat="mean",
            value=2.7,
            op=">",
            threshold=1.3,
            baseline=1.01,
            verdict=Verdict.PRESENT,
            since=START + 300,
            spark=curve(1.01, 2.7, START + 300),
        ),
        Evidence(
            signal="service.goodput",
            subject="service/llm-prod",
            stat="mean",
            value=14.2,
            unit="requests/s",
            op="<",
            threshold=25.1,
            threshold_of="0.8 × baseline",
            baseline=31.4,
            verdict=Verdict.PRESENT,
            since=START + 300,
            spark=curve(31.4, 14.2, START + 300),
        ),
    ),
    leads_to=("kv-exhaustion-preemption",),
    explained_by=("kv-exhaustion-preemption",),
    loop=("kv-exhaustion-preemption",),
    playbook="retry-storm",
    first_step="Set a retry budget of 10 % at the gateway.",
    do_not="restart or delete replicas; each one gone gives the storm more to feed on.",
)

_AUTOSCALE = Finding(
    rule="autoscale-wrong-signal",
    title="Scaling metric does not measure load",
    summary="The autoscaler follows GPU utilisation, which stands at its target while 212 requests wait.",
    cause=Cause.INFRASTRUCTURE,
    layer=Layer.PLATFORM,
    scale=Scale.CLUSTER,
    subject="service/llm-prod",
    subjects=("service/llm-prod",),
    severity="warning",
    role="contributing",
    onset=START + 420,
    confidence="possible",
    evidence=(
        Evidence(
            signal="queue.waiting",
            subject="service/llm-prod",
            stat="mean",
            value=212.0,
            unit="requests",
            op=">",
            threshold=50.0,
            baseline=1.2,
            verdict=Verdict.PRESENT,
            since=START + 420,
            spark=curve(1.2, 212, START + 420),
        ),
        Evidence(
            signal="autoscaler.desired",
            subject="service/llm-prod",
            stat="changes",
            value=0.0,
            unit="replicas",
            op="<=",
            threshold=0.0,
            verdict=Verdict.PRESENT,
        ),
    ),
    playbook="autoscale-wrong-signal",
    first_step="Scale on waiting requests.",
    do_not="raise only the most replicas it may have; its metric does not ask for more.",
)

_THERMAL = Finding(
    rule="thermal-throttle",
    title="Clocks cut by heat",
    summary="GPU node-b/5 runs at 1.29 GHz instead of 1.98 GHz at 89 °C since 12:11:00.",
    cause=Cause.RUNTIME,
    layer=Layer.HARDWARE,
    scale=Scale.CARD,
    subject="gpu/node-b/5",
    subjects=("gpu/node-b/5",),
    severity="warning",
    role="root",
    onset=START + 660,
    confidence="likely",
    evidence=(
        Evidence(
            signal="gpu.throttle_thermal",
            subject="gpu/node-b/5",
            stat="mean",
            value=0.93,
            op=">",
            threshold=0.5,
            baseline=0.0,
            verdict=Verdict.PRESENT,
            since=START + 660,
            query='DCGM_FI_DEV_CLOCKS_EVENT_REASONS{Hostname="node-b",gpu="5"}',
            spark=curve(0.0, 0.93, START + 660),
        ),
        Evidence(
            signal="gpu.sm_clock",
            subject="gpu/node-b/5",
            stat="median",
            value=1.29e9,
            unit="hertz",
            op="<",
            threshold=1.683e9,
            threshold_of="0.85 × highest SM clock",
            baseline=1.98e9,
            verdict=Verdict.PRESENT,
            since=START + 660,
            query='DCGM_FI_DEV_SM_CLOCK{Hostname="node-b",gpu="5"}',
            spark=curve(1.98e9, 1.29e9, START + 660, wiggle=0.002),
        ),
        Evidence(
            signal="gpu.temp",
            subject="gpu/node-b/5",
            stat="max",
            value=89.0,
            unit="celsius",
            op=">=",
            threshold=86.0,
            baseline=71.0,
            verdict=Verdict.PRESENT,
            since=START + 630,
            spark=curve(70.0, 88.0, START + 630, wiggle=0.01),
        ),
        Evidence(
            signal="latency.itl",
            subject="replica/vllm-5",
            stat="p95",
            value=0.062,
            low=0.05,
            high=0.075,
            unit="seconds",
            op=">",
            threshold=0.06,
            threshold_of="objective itl_p95_s",
            baseline=0.031,
            verdict=Verdict.UNKNOWN,
            text="the bucket 50 ms to 75 ms straddles the threshold",
        ),
    ),
    contradicts=(absent("latency.itl", "replica/vllm-6", "mean", 0.031, "seconds", ">", 0.045, "1.5 × baseline"),),
    check=("nvidia-smi -i 5 -q -d PERFORMANCE,TEMPERATURE", "kubectl describe node node-b"),
    playbook="thermal-throttle",
    first_step="Look at inlet temperature and fans of node-b; drain the node if it does not cool within minutes.",
    do_not="raise its power limit or lock its clocks up; it is heat that holds it.",
)

_NO_XID = Evidence(
    signal="event:xid",
    subject="service/llm-prod",
    value=0.0,
    op=">=",
    threshold=1.0,
    verdict=Verdict.ABSENT,
    text="none seen",
)

_RULED_OUT = (
    ruled_out(
        "true-overload",
        "Demand above capacity",
        Layer.PLATFORM,
        absent("service.demand", "service/llm-prod", "mean", 31.8, "requests/s", ">", 39.3, "1.25 × baseline"),
    ),
    ruled_out(
        "prefill-interference",
        "Long prefills stall decode",
        Layer.ENGINE,
        absent("preemptions", "replica/vllm-3", "mean", 3.1, "requests/s", "<=", 0.0),
    ),
    ruled_out(
        "kv-leak",
        "KV blocks never given back",
        Layer.ENGINE,
        absent("batch.running", "replica/vllm-3", "mean", 117.0, "requests", "<", 8.0),
    ),
    ruled_out(
        "power-cap",
        "Clocks held down by the power limit",
        Layer.HARDWARE,
        absent("gpu.throttle_power", "gpu/node-b/5", "mean", 0.0, "", ">", 0.2),
    ),
    ruled_out(
        "replica-imbalance",
        "Load lies on few replicas",
        Layer.PLATFORM,
        absent("batch.running", "replica/vllm-3", "mean", 117.0, "requests", ">", 168.0, "1.5 × median of its peers"),
    ),
    ruled_out(
        "host-cpu-throttle",
        "CPU quota or contention starves the engine",
        Layer.HARDWARE,
        absent("container.cpu_throttled", "replica/vllm-3", "p95", 0.002, "ratio", ">", 0.05),
    ),
)

_UNSEEN = (
    ruled_out("gpu-off-bus", "Card fell off the bus", Layer.HARDWARE, _NO_XID),
    ruled_out("ecc-uncorrectable", "Uncorrectable memory error", Layer.HARDWARE, _NO_XID),
)

_NOT_EVALUATED = (
    NotEvaluated(
        rule="collective-hang",
        title="Collective never completes",
        layer=Layer.FRAMEWORK,
        missing=("event:log from engine",),
        how_to_get="give the engines' logs with --logs",
    ),
    NotEvaluated(
        rule="app-fault-xid",
        title="A kernel of the application faulted",
        layer=Layer.CUDA,
        missing=("event:xid",),
        how_to_get="give the kernel log with --logs, or let the DCGM exporter report DCGM_FI_DEV_XID_ERRORS",
    ),
    NotEvaluated(
        rule="gsp-timeout",
        title="GPU firmware does not answer",
        layer=Layer.CUDA,
        missing=("event:xid",),
        how_to_get="give the kernel log with --logs, or let the DCGM exporter report DCGM_FI_DEV_XID_ERRORS",
    ),
    NotEvaluated(
        rule="decode-bandwidth-bound",
        title="Decode limited by memory bandwidth",
        layer=Layer.HARDWARE,
        missing=("gpu.dram_active",),
        how_to_get="let the DCGM exporter report DCGM_FI_PROF_DRAM_ACTIVE",
    ),
)


def _layers(*rows: tuple[Layer, LayerState, tuple[str, ...], int, int]) -> tuple[LayerView, ...]:
    """Rows of the five layers."""
    return tuple(
        LayerView(layer=layer, state=state, findings=findings, ruled_out=out, not_evaluated=unknown)
        for layer, state, findings, out, unknown in rows
    )


def incident() -> Diagnosis:
    """A router change loses prefix reuse; the KV cache fills and retries keep the overload alive; a card is hot besides."""
    return Diagnosis(
        service="llm-prod",
        window=WINDOW,
        status=Status.INCIDENT,
        headline="Prefix reuse is lost on replica vllm-3 and 2 more since 12:01:30;"
        " a full KV cache and a retry storm follow from it.",
        cause=CauseView(state=CauseState.NAMED, rules=("prefix-cache-collapse",), text=_PREFIX.summary),
        vitals=(
            _ANSWERS,
            broken(_SLOW, "time to first token (p95)", 1.9),
            _ITL,
            broken(_FAILING, "share of failed requests", 1.1),
            _QUEUE,
        ),
        symptoms=(_SLOW, _FAILING),
        findings=(_PREFIX, _THERMAL, _KV, _RETRY, _AUTOSCALE),
        ruled_out=_RULED_OUT,
        unseen=_UNSEEN,
        not_evaluated=_NOT_EVALUATED,
        layers=_layers(
            (Layer.PLATFORM, LayerState.IMPLICATED, ("retry-storm", "autoscale-wrong-signal"), 38, 6),
            (Layer.ENGINE, LayerState.IMPLICATED, ("prefix-cache-collapse", "kv-exhaustion-preemption"), 19, 2),
            (Layer.FRAMEWORK, LayerState.PARTLY, (), 3, 1),
            (Layer.CUDA, LayerState.NOT_EVALUATED, (), 0, 7),
            (Layer.HARDWARE, LayerState.IMPLICATED, ("thermal-throttle",), 12, 1),
        ),
        observations=(_CARD,),
        unread=(_UNREAD,),
        coverage=Coverage(
            sources=(
                SourceView(name="prometheus", state="ok"),
                SourceView(name="log:kernel", state="failed", reason="permission denied: /var/log/kern.log"),
                SourceView(name="changes", state="ok"),
            ),
            signals=(
                SignalCoverage(signal="kv.usage", state="present", subjects=6),
                SignalCoverage(signal="gpu.dram_active", state="missing", subjects=0, reason="no dialect found it"),
                SignalCoverage(signal="gpu.mem_temp", state="out_of_range", subjects=6, reason="the exporter reports 255 °C"),
            ),
            rules_evaluated=84,
            rules_total=101,
            problems=("the clock of node-b is 4.2 s ahead of the others",),
        ),
        facts={
            "engine": "vllm",
            "engine_version": "0.11.0",
            "model": "Llama-3.3-70B-Instruct",
            "gpu_model": "H100 80GB",
            "replicas": 6.0,
        },
    )


def degraded() -> Diagnosis:
    """One hot card makes one replica slow; whether the power cap has a part in it cannot be told."""
    return Diagnosis(
        service="llm-prod",
        window=WINDOW,
        status=Status.DEGRADED,
        headline="GPU node-b/5 is throttled by heat since 12:11:00.",
        cause=CauseView(
            state=CauseState.NARROWED,
            rules=("thermal-throttle", "power-cap"),
            rivals=(
                Rival(
                    rule="thermal-throttle",
                    title="Clocks cut by heat",
                    layer=Layer.HARDWARE,
                    cause=Cause.RUNTIME,
                    why=_THERMAL.summary,
                ),
                Rival(
                    rule="power-cap",
                    title="Clocks held down by the power limit",
                    layer=Layer.HARDWARE,
                    cause=Cause.RUNTIME,
                    why="what was seen of it would fit: SM clock",
                    decides="let the DCGM exporter report DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
                ),
            ),
            text="One of: clocks cut by heat, clocks held down by the power limit.",
        ),
        vitals=(_ANSWERS, _TTFT, broken(_CHOPPY, "time between tokens (p95)", 0.4), _ERRORS),
        symptoms=(_CHOPPY,),
        findings=(_THERMAL,),
        ruled_out=_RULED_OUT[:3],
        not_evaluated=(
            NotEvaluated(
                rule="power-cap",
                title="Clocks held down by the power limit",
                layer=Layer.HARDWARE,
                missing=("gpu.throttle_power",),
                how_to_get="let the DCGM exporter report DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
            ),
        ),
        layers=_layers(
            (Layer.PLATFORM, LayerState.PARTLY, (), 40, 6),
            (Layer.ENGINE, LayerState.PARTLY, (), 21, 2),
            (Layer.FRAMEWORK, LayerState.PARTLY, (), 3, 1),
            (Layer.CUDA, LayerState.CLEARED, (), 7, 0),
            (Layer.HARDWARE, LayerState.IMPLICATED, ("thermal-throttle",), 11, 1),
        ),
        coverage=Coverage(
            sources=(SourceView(name="prometheus", state="ok"),),
            signals=(SignalCoverage(signal="gpu.sm_clock", state="present", subjects=8),),
            rules_evaluated=91,
            rules_total=101,
        ),
        facts={"engine": "vllm", "model": "Llama-3.3-70B-Instruct"},
    )


def healthy() -> Diagnosis:
    """Nothing is wrong, and most kinds could be judged."""
    return Diagnosis(
        service="llm-prod",
        window=WINDOW,
        status=Status.HEALTHY,
        headline="All is well, nothing found.",
        vitals=(_ANSWERS, _TTFT, _ITL, _ERRORS),
        symptoms=(),
        findings=(),
        ruled_out=_RULED_OUT,
        unseen=_UNSEEN,
        not_evaluated=_NOT_EVALUATED,
        layers=_layers(
            (Layer.PLATFORM, LayerState.PARTLY, (), 43, 6),
            (Layer.ENGINE, LayerState.PARTLY, (), 25, 2),
            (Layer.FRAMEWORK, LayerState.PARTLY, (), 3, 1),
            (Layer.CUDA, LayerState.NOT_EVALUATED, (), 0, 7),
            (Layer.HARDWARE, LayerState.PARTLY, (), 13, 1),
        ),
        coverage=Coverage(
            sources=(SourceView(name="prometheus", state="ok"),),
            signals=(SignalCoverage(signal="kv.usage", state="present", subjects=6),),
            rules_evaluated=84,
            rules_total=101,
        ),
        facts={"engine": "vllm", "model": "Llama-3.3-70B-Instruct"},
    )


def inconclusive() -> Diagnosis:
    """Prometheus did not answer, so nothing can be said."""
    reach = "make the Prometheus server reachable, or name the engines' own addresses with --endpoint"
    return Diagnosis(
        service="llm-prod",
        window=WINDOW,
        status=Status.INCONCLUSIVE,
        cause=CauseView(state=CauseState.OPEN, text="No kind of failure could be named with what was seen."),
        headline="Nothing can be said: no source brought engine metrics.",
        symptoms=(),
        findings=(),
        ruled_out=(),
        not_evaluated=(
            *(
                NotEvaluated(rule=rule, title=title, layer=Layer.ENGINE, missing=missing, how_to_get=reach)
                for rule, title, missing in (
                    (
                        "kv-exhaustion-preemption",
                        "KV cache full, sequences preempted and recomputed",
                        ("kv.usage", "preemptions"),
                    ),
                    ("engine-loop-stall", "Engine loop stands still", ("engine.steps", "batch.running")),
                    ("prefix-cache-collapse", "Prefix reuse lost", ("prefix.hits", "prefix.queries")),
                )
            ),
            *_NOT_EVALUATED,
        ),
        layers=_layers(*((layer, LayerState.NOT_EVALUATED, (), 0, 20) for layer in Layer)),
        coverage=Coverage(
            sources=(
                SourceView(name="prometheus", state="failed", reason="http://prometheus:9090: connection refused"),
                SourceView(name="nvml", state="absent", reason="no NVIDIA driver on this machine"),
            ),
            signals=(SignalCoverage(signal="kv.usage", state="missing", subjects=0),),
            rules_evaluated=0,
            rules_total=101,
        ),
    )


def fleet() -> Diagnosis:
    """The incident on a hundred replicas."""
    replicas = tuple(f"replica/vllm-llama-70b-7c9f8d6b5-{i:05x}" for i in range(100))
    many = _KV.model_copy(
        update={
            "subject": replicas[0],
            "subjects": replicas,
            "role": "root",
            "explained_by": (),
            "leads_to": (),
            "loop": (),
            "evidence": tuple(one.model_copy(update={"subject": replicas[0]}) for one in _KV.evidence),
        }
    )
    base = incident()
    return base.model_copy(
        update={
            "headline": "The KV cache is full on 100 replicas since 12:03:10.",
            "findings": (many,),
            "symptoms": base.symptoms[:1],
            "layers": _layers(
                (Layer.PLATFORM, LayerState.PARTLY, (), 40, 6),
                (Layer.ENGINE, LayerState.IMPLICATED, ("kv-exhaustion-preemption",), 20, 2),
                (Layer.FRAMEWORK, LayerState.PARTLY, (), 3, 1),
                (Layer.CUDA, LayerState.NOT_EVALUATED, (), 0, 7),
                (Layer.HARDWARE, LayerState.PARTLY, (), 13, 1),
            ),
        }
    )


ALL = {"incident": incident, "degraded": degraded, "healthy": healthy, "inconclusive": inconclusive, "fleet": fleet}
