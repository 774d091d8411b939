"""The kinds of failure that triage knows of, and which leads to which: the whole causal graph as a table.

Clustered from 236 public incident records (issue threads, post-mortems, forum answers). A rule's ``leads_to`` and
``look_alikes`` speak of these ids, so that a link may name a kind that no rule judges yet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from triage.model.vocabulary import Cause, Layer


@dataclass(frozen=True, slots=True)
class FailureKind:
    """One kind of failure.

    :param id: stem of its rule, its playbook and its case
    :param title: what people call it
    :param layer: where it sits
    :param cause: what kind of illness it usually is
    :param leads_to: kinds that it can cause
    """

    id: str
    title: str
    layer: Layer
    cause: Cause
    leads_to: tuple[str, ...]


Row = tuple[str, str, Cause, str]

_RUNTIME, _INFRASTRUCTURE, _TOOLING = Cause.RUNTIME, Cause.INFRASTRUCTURE, Cause.TOOLING

_PLATFORM: list[Row] = [
    (
        "true-overload",
        "Demand above capacity",
        _INFRASTRUCTURE,
        "kv-exhaustion-preemption timeout-mismatch retry-storm autoscale-flapping",
    ),
    ("frontend-stall", "Requests lost before the engine", _RUNTIME, "timeout-mismatch"),
    ("silent-quality-degradation", "Worse answers with green dashboards", _TOOLING, "canary-blind-spot"),
    ("fd-or-port-exhaustion", "Descriptors or ports run out", _RUNTIME, "frontend-stall"),
    (
        "probe-kills-loading",
        "Liveness budget shorter than load",
        _INFRASTRUCTURE,
        "model-fetch-failure rollout-deadlock vram-foreign-occupant",
    ),
    ("probe-misconfigured", "Probe asks the wrong thing", _TOOLING, "engine-dead"),
    ("health-false-positive", "Health says up, service is down", _INFRASTRUCTURE, "retry-storm timeout-mismatch"),
    (
        "health-false-negative",
        "Health says down, service works",
        _INFRASTRUCTURE,
        "restart-thundering-herd replica-imbalance failover-without-capacity",
    ),
    ("autoscale-wrong-signal", "Scaling metric does not measure load", _INFRASTRUCTURE, "true-overload"),
    ("autoscale-flapping", "Replica target oscillates", _INFRASTRUCTURE, "restart-thundering-herd prefix-cache-collapse"),
    (
        "cold-start-too-slow",
        "Scale-up or scale-from-zero misses deadlines",
        _INFRASTRUCTURE,
        "timeout-mismatch model-fetch-failure",
    ),
    ("gpu-unschedulable", "No schedulable GPU", _INFRASTRUCTURE, "true-overload failover-without-capacity"),
    ("device-plugin-unhealthy", "Cluster believes GPUs unhealthy", _INFRASTRUCTURE, "gpu-unschedulable"),
    ("replica-imbalance", "Load uneven across replicas", _INFRASTRUCTURE, "kv-exhaustion-preemption autoscale-wrong-signal"),
    (
        "wrong-backend-routing",
        "Requests sent to the wrong server class",
        _INFRASTRUCTURE,
        "silent-quality-degradation prefix-cache-collapse",
    ),
    ("gateway-stale-routing", "Router keeps using a dead or bad backend", _INFRASTRUCTURE, "client-retry-multiplication"),
    ("gateway-cooldown-all", "Gateway ejects every backend", _INFRASTRUCTURE, "retry-storm"),
    ("gateway-own-bottleneck", "The gateway itself is the limit", _INFRASTRUCTURE, "health-false-negative frontend-stall"),
    ("circuit-breaker-overflow", "Proxy limit rejects before the backend", _INFRASTRUCTURE, "retry-storm"),
    (
        "retry-storm",
        "Retries keep the overload alive",
        _INFRASTRUCTURE,
        "true-overload kv-exhaustion-preemption circuit-breaker-overflow host-resource-limit",
    ),
    ("client-retry-multiplication", "Client libraries multiply attempts", _INFRASTRUCTURE, "retry-storm orphan-generation"),
    ("timeout-mismatch", "A hop gives up before the answer", _INFRASTRUCTURE, "client-retry-multiplication orphan-generation"),
    ("keepalive-race", "Idle connection closed as it is reused", _INFRASTRUCTURE, "client-retry-multiplication"),
    ("client-side-cap", "Client pool or ports limit arrivals", _INFRASTRUCTURE, ""),
    (
        "dns-discovery-failure",
        "Names or endpoints do not resolve",
        _INFRASTRUCTURE,
        "discovery-lease-lost retry-storm gateway-stale-routing gateway-dependency-lost",
    ),
    (
        "discovery-lease-lost",
        "Registry lease expires, workers vanish",
        _INFRASTRUCTURE,
        "restart-thundering-herd gateway-stale-routing",
    ),
    (
        "group-partial-restart",
        "One member of a multi-node group restarts alone",
        _INFRASTRUCTURE,
        "collective-hang probe-kills-loading",
    ),
    ("ray-control-failure", "Distributed runtime control plane stuck", _INFRASTRUCTURE, "group-partial-restart"),
    ("failover-without-capacity", "Survivors cannot carry the load", _INFRASTRUCTURE, "true-overload retry-storm"),
    (
        "restart-thundering-herd",
        "Everything restarts or reconnects at once",
        _INFRASTRUCTURE,
        "prefix-cache-collapse model-fetch-failure retry-storm slow-weight-storage",
    ),
    ("model-fetch-failure", "Weights or metadata cannot be fetched", _INFRASTRUCTURE, "cold-start-too-slow probe-kills-loading"),
    (
        "bad-rollout",
        "A change breaks service",
        _TOOLING,
        (
            "engine-dead dns-discovery-failure upgrade-perf-regression rollback-missing-or-slow "
            "client-requests-refused stream-buffered-by-proxy counter-not-wired start-failed-otherwise "
            "engine-software-fault image-lacks-jit-toolchain gpu-injection-failed driver-upgrade-stuck"
        ),
    ),
    ("rollback-missing-or-slow", "Cannot get back to the good state", _TOOLING, "operator-lockout"),
    ("rollout-deadlock", "New revision waits for the old one's GPU", _TOOLING, "rollback-missing-or-slow"),
    ("ungraceful-drain", "Running answers cut on termination", _TOOLING, "client-retry-multiplication"),
    (
        "config-drift",
        "Effective setting differs from intended",
        _TOOLING,
        (
            "shm-too-small startup-memory-misfit upgrade-perf-regression client-requests-refused payload-limit-inside "
            "prompt-truncated prefix-cache-inert ranks-share-a-card wrong-network-interface locked-memory-limit"
        ),
    ),
    (
        "wrong-artifact",
        "Not the version you think",
        _TOOLING,
        (
            "silent-quality-degradation metric-renamed-or-missing counter-not-wired start-failed-otherwise "
            "image-lacks-jit-toolchain accelerator-not-used"
        ),
    ),
    ("canary-blind-spot", "Test stage could not show the fault", _TOOLING, "bad-rollout"),
    ("credential-or-cert-expiry", "Certificate or credential ran out", _TOOLING, "model-fetch-failure gateway-own-bottleneck"),
    ("operator-lockout", "Tools depend on what broke", _TOOLING, "rollback-missing-or-slow"),
    ("unsafe-automation", "Auto-repair makes it worse", _TOOLING, "failover-without-capacity restart-thundering-herd"),
    ("client-requests-refused", "Requests that the service rightly refuses", _TOOLING, "client-retry-multiplication"),
    ("metric-scrape-gap", "Samples missing", _TOOLING, "autoscale-wrong-signal metric-misread"),
    ("metric-stale", "Values frozen", _TOOLING, "autoscale-wrong-signal"),
    ("metric-renamed-or-missing", "Series renamed, removed or unmapped", _TOOLING, "autoscale-wrong-signal replica-imbalance"),
    ("metric-misread", "Number means something else", _TOOLING, "autoscale-wrong-signal"),
    ("metric-label-loss", "Series lose identity", _TOOLING, "metric-misread"),
    ("metric-cardinality", "Too many series", _TOOLING, "metric-scrape-gap"),
    ("metric-blind-spot", "Nothing measures the failing part", _TOOLING, "health-false-positive"),
    ("log-gap", "Log lines missing", _TOOLING, "metric-blind-spot"),
    (
        "stream-buffered-by-proxy",
        "A proxy holds the stream back",
        _INFRASTRUCTURE,
        "timeout-mismatch client-retry-multiplication",
    ),
    ("payload-limit-inside", "A size limit between the parts", _TOOLING, "timeout-mismatch client-retry-multiplication"),
    (
        "volume-not-attached",
        "Volume cannot be attached or mounted",
        _INFRASTRUCTURE,
        "rollout-deadlock cold-start-too-slow failover-without-capacity",
    ),
    (
        "gateway-dependency-lost",
        "Gateway lost its own database or cache",
        _INFRASTRUCTURE,
        "frontend-stall client-retry-multiplication",
    ),
    ("slow-weight-storage", "Weights are read too slowly", _INFRASTRUCTURE, "cold-start-too-slow probe-kills-loading"),
    (
        "preempted-by-cluster",
        "Cluster takes the pod or its node away",
        _INFRASTRUCTURE,
        "failover-without-capacity ungraceful-drain group-partial-restart gpu-unschedulable",
    ),
    (
        "exporter-down",
        "Exporter of cards or hosts is dead or reads nothing",
        _TOOLING,
        "metric-scrape-gap metric-blind-spot autoscale-wrong-signal",
    ),
    (
        "counter-not-wired",
        "A series is there and never moves",
        _TOOLING,
        "metric-misread metric-blind-spot autoscale-wrong-signal",
    ),
]

_ENGINE: list[Row] = [
    (
        "kv-exhaustion-preemption",
        "KV cache full, sequences preempted and recomputed",
        _RUNTIME,
        "client-retry-multiplication timeout-mismatch true-overload engine-loop-stall",
    ),
    ("kv-leak", "KV blocks not returned", _RUNTIME, "kv-exhaustion-preemption engine-loop-stall"),
    ("context-exceeds-kv", "Requested context longer than the KV pool", _RUNTIME, "engine-loop-stall"),
    ("startup-memory-misfit", "Weights plus graphs leave no room at start", _RUNTIME, "probe-kills-loading engine-dead"),
    ("activation-oom", "One request type needs a huge temporary tensor", _RUNTIME, "engine-dead retry-storm"),
    ("prefill-interference", "Long prompts stall running decodes", _RUNTIME, "health-false-negative timeout-mismatch"),
    ("prefix-cache-collapse", "Prefix reuse lost", _RUNTIME, "true-overload prefill-interference"),
    ("concurrency-cap", "Engine admission or batch cap reached", _INFRASTRUCTURE, "client-retry-multiplication"),
    (
        "frontend-cpu-bound",
        "Tokenizer/template/image work saturates the front end",
        _RUNTIME,
        "health-false-negative metric-scrape-gap timeout-mismatch",
    ),
    ("engine-cpu-bound", "Scheduler loop limits the GPU", _RUNTIME, "true-overload"),
    ("engine-loop-stall", "Engine alive but makes no step", _RUNTIME, "health-false-positive timeout-mismatch retry-storm"),
    (
        "engine-dead",
        "Engine process ended (consequence)",
        _RUNTIME,
        "health-false-positive retry-storm restart-thundering-herd vram-foreign-occupant",
    ),
    ("illegal-memory-access", "Kernel bug reads/writes out of bounds", _RUNTIME, "engine-dead app-fault-xid"),
    ("structured-output-stall", "Grammar compile blocks", _RUNTIME, "frontend-cpu-bound health-false-negative timeout-mismatch"),
    ("spec-decode-inefficient", "Draft tokens not accepted", _RUNTIME, "true-overload"),
    ("jit-stall", "Kernel compile during serving", _RUNTIME, "collective-hang timeout-mismatch"),
    ("kernel-fallback", "Slow kernel or eager path chosen", _RUNTIME, "true-overload"),
    ("upgrade-perf-regression", "New version slower", _RUNTIME, "true-overload rollback-missing-or-slow"),
    ("uptime-degradation", "Slows with uptime, restart cures", _RUNTIME, "true-overload"),
    ("orphan-generation", "Work continues for clients that left", _RUNTIME, "kv-exhaustion-preemption true-overload"),
    ("runaway-generation", "Answer never stops", _RUNTIME, "kv-exhaustion-preemption true-overload"),
    ("numerical-garbage", "NaN or wrong arithmetic in output", _RUNTIME, "runaway-generation silent-quality-degradation"),
    ("lora-thrash", "Adapter slots too few", _RUNTIME, "true-overload"),
    ("host-ram-leak", "Host memory grows with requests", _RUNTIME, "host-oom-kill evicted-for-memory"),
    ("kv-offload-stall", "Offload tier useless or blocking", _RUNTIME, "prefill-interference"),
    (
        "pd-kv-transfer-failure",
        "Prefill-to-decode KV transfer fails",
        _INFRASTRUCTURE,
        "kv-leak prefix-cache-collapse timeout-mismatch",
    ),
    (
        "start-failed-otherwise",
        "Start fails with an error no other kind knows",
        _TOOLING,
        "engine-dead rollout-deadlock failover-without-capacity",
    ),
    ("engine-software-fault", "Unhandled exception in the engine's own code", _RUNTIME, "engine-dead"),
    (
        "prompt-truncated",
        "Part of the prompt is thrown away, answer 200",
        _TOOLING,
        "silent-quality-degradation prefix-cache-collapse",
    ),
    ("prefix-cache-inert", "Prefix cache on, no hit ever", _TOOLING, "prefill-interference true-overload"),
]

_FRAMEWORK: list[Row] = [
    ("allocator-fragmentation", "Reserved but unusable allocator memory", _RUNTIME, "engine-dead"),
    ("shm-too-small", "Shared memory segment cannot grow", _RUNTIME, "engine-dead"),
    ("collective-hang", "One rank missing from a collective", _RUNTIME, "engine-dead health-false-negative"),
    ("fabric-fault", "Network between nodes bad", _INFRASTRUCTURE, "collective-hang group-partial-restart"),
    ("ranks-share-a-card", "Two ranks were given one card", _TOOLING, "engine-dead"),
    ("wrong-network-interface", "Ranks announce an address others cannot reach", _TOOLING, "engine-dead group-partial-restart"),
    ("locked-memory-limit", "Limit of locked memory stops RDMA", _TOOLING, "engine-dead pd-kv-transfer-failure"),
    ("image-lacks-jit-toolchain", "Image cannot compile what it must", _TOOLING, "engine-dead rollout-deadlock"),
    ("compile-cache-poisoned", "Stored compile artefact breaks every start", _TOOLING, "engine-dead"),
]

_CUDA: list[Row] = [
    (
        "vram-foreign-occupant",
        "Someone else holds the card's memory",
        _RUNTIME,
        "startup-memory-misfit activation-oom engine-dead accelerator-not-used",
    ),
    ("driver-too-old", "Image needs a newer driver", _TOOLING, "engine-dead"),
    ("arch-not-built", "No kernel for this GPU model", _TOOLING, "engine-dead"),
    (
        "driver-library-mismatch",
        "User libraries upgraded under a loaded module",
        _TOOLING,
        "device-plugin-unhealthy gpu-unschedulable",
    ),
    (
        "fabric-manager-down",
        "NVSwitch system not initialised",
        _RUNTIME,
        "engine-dead probe-kills-loading multinode-nvlink-domain-broken",
    ),
    (
        "gsp-timeout",
        "GPU system processor stops answering",
        _RUNTIME,
        "gpu-off-bus collective-hang device-plugin-unhealthy exporter-down card-needs-reset",
    ),
    ("app-fault-xid", "Xid caused by the program", _RUNTIME, "engine-dead device-plugin-unhealthy"),
    (
        "gpu-injection-failed",
        "Runtime cannot put the card into the container",
        _TOOLING,
        "rollout-deadlock failover-without-capacity device-plugin-unhealthy",
    ),
    ("accelerator-not-used", "Model computes on the CPU beside an idle card", _RUNTIME, "timeout-mismatch true-overload"),
    (
        "multinode-nvlink-domain-broken",
        "NVLink memory across nodes does not work",
        _INFRASTRUCTURE,
        "engine-dead collective-hang group-partial-restart",
    ),
    (
        "driver-upgrade-stuck",
        "Driver upgrade of a node does not finish",
        _TOOLING,
        "gpu-unschedulable gpu-injection-failed exporter-down failover-without-capacity",
    ),
]

_HARDWARE: list[Row] = [
    ("decode-bandwidth-bound", "Normal memory-bandwidth ceiling", _RUNTIME, ""),
    ("host-oom-kill", "Process killed for host memory", _RUNTIME, "engine-dead group-partial-restart vram-foreign-occupant"),
    ("p2p-path-broken", "Direct GPU-to-GPU path does not move data", _RUNTIME, "collective-hang probe-kills-loading"),
    (
        "gpu-detached-from-container",
        "Container lost device access",
        _INFRASTRUCTURE,
        "engine-dead health-false-positive accelerator-not-used",
    ),
    ("ecc-uncorrectable", "Uncorrectable GPU memory error", _RUNTIME, "engine-dead row-remap collective-hang card-needs-reset"),
    ("row-remap", "Row remap pending or failed", _RUNTIME, "ecc-uncorrectable card-needs-reset"),
    ("gpu-off-bus", "GPU gone from the bus", _RUNTIME, "collective-hang device-plugin-unhealthy gpu-unschedulable"),
    ("nvlink-error", "NVLink link error or down", _RUNTIME, "collective-hang app-fault-xid card-needs-reset"),
    ("pcie-degraded", "PCIe link below its width/generation", _RUNTIME, "kv-offload-stall cold-start-too-slow"),
    ("thermal-throttle", "Clocks cut by heat", _RUNTIME, "true-overload collective-hang"),
    ("power-cap", "Clocks cut by power limit or brake", _RUNTIME, "true-overload"),
    ("host-cpu-throttle", "CPU quota or contention starves the engine", _RUNTIME, "engine-cpu-bound health-false-negative"),
    (
        "disk-pressure-eviction",
        "Node disk fills, pods evicted",
        _INFRASTRUCTURE,
        "gpu-unschedulable log-gap gateway-own-bottleneck compile-cache-poisoned",
    ),
    ("node-network-lost", "Hosts lose network", _INFRASTRUCTURE, "failover-without-capacity true-overload volume-not-attached"),
    ("clocks-stuck-low", "Card runs slow at full use and gives no reason", _RUNTIME, "true-overload timeout-mismatch"),
    (
        "card-needs-reset",
        "Driver wants the card reset",
        _RUNTIME,
        "engine-dead device-plugin-unhealthy gpu-unschedulable accelerator-not-used start-failed-otherwise",
    ),
    (
        "host-resource-limit",
        "A table of the host's kernel is full",
        _INFRASTRUCTURE,
        "health-false-negative frontend-stall dns-discovery-failure",
    ),
    (
        "evicted-for-memory",
        "Kubelet evicts for the node's memory",
        _INFRASTRUCTURE,
        "failover-without-capacity group-partial-restart exporter-down",
    ),
]


def _kinds(layer: Layer, rows: Iterable[Row]) -> list[FailureKind]:
    """Rows of one layer as kinds."""
    return [FailureKind(name, title, layer, cause, tuple(leads_to.split())) for name, title, cause, leads_to in rows]


@cache
def kinds() -> dict[str, FailureKind]:
    """All kinds by id, top layer first."""
    known = [
        *_kinds(Layer.PLATFORM, _PLATFORM),
        *_kinds(Layer.ENGINE, _ENGINE),
        *_kinds(Layer.FRAMEWORK, _FRAMEWORK),
        *_kinds(Layer.CUDA, _CUDA),
        *_kinds(Layer.HARDWARE, _HARDWARE),
    ]
    return {kind.id: kind for kind in known}
