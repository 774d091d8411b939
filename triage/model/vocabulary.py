"""The vocabulary: every signal that a rule may speak of, engine-neutral, in base units.

A signal is described once, here. Dialects map the names of real exporters onto it, rules refer to it,
reports take unit and wording from it. Base units only: seconds, bytes, tokens, requests, hertz, watts,
degrees Celsius, ratios from 0 to 1. A counter is kept as a rate per second.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from math import inf
from pathlib import Path
from typing import Literal

from triage.classes import dataclass


class Layer(StrEnum):
    """Where to look, top down."""

    PLATFORM = "platform"
    ENGINE = "engine"
    FRAMEWORK = "framework"
    CUDA = "cuda"
    HARDWARE = "hardware"


class Cause(StrEnum):
    """What kind of illness it is."""

    RUNTIME = "runtime"
    INFRASTRUCTURE = "infrastructure"
    TOOLING = "tooling"


class Scale(StrEnum):
    """How far the trouble reaches; each step up means slower links and more ways to break."""

    CARD = "card"
    MACHINE = "machine"
    CLUSTER = "cluster"


class Scope(StrEnum):
    """What a series is about."""

    SERVICE = "service"
    REPLICA = "replica"
    GPU = "gpu"
    NODE = "node"
    GATEWAY = "gateway"
    CLIENT = "client"
    TARGET = "target"


class Kind(StrEnum):
    """How a signal behaves over time, and so how it may be summed, averaged and compared."""

    GAUGE = "gauge"
    RATE = "rate"
    RATIO = "ratio"
    DISTRIBUTION = "distribution"
    STATE = "state"


class Combine(StrEnum):
    """How values of several subjects (or label sets) make one value of the whole."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"


@dataclass(frozen=True, slots=True)
class Signal:
    """One entry of the vocabulary.

    :param name: dotted engine-neutral name
    :param unit: base unit; a rate is per second of this unit's counter
    :param kind: how it behaves over time
    :param scope: what its series are about
    :param layer: the layer whose health it tells of
    :param combine: how several subjects make one value
    :param low: least possible value; below it the reading is broken
    :param high: greatest possible value; above it the reading is broken
    :param meaning: one sentence
    :param noun: what people call it, as it stands inside a sentence and beside its value: ``requests waiting``
    :param noun_zh: the same in Chinese
    :param derived: computed from other signals rather than read from a source
    :param worse: the bad direction, ``up`` or ``down``; empty if neither is bad by itself
    :param bounded: it fills up towards 1: what is left (1 - x) tells how bad it is, not how many times as much it became
    """

    name: str
    unit: str
    kind: Kind
    scope: Scope
    layer: Layer
    combine: Combine
    low: float
    high: float
    meaning: str
    noun: str
    noun_zh: str
    derived: bool = False
    worse: Literal["", "up", "down"] = ""
    bounded: bool = False


_WORSE_UP_NAMES = """
admission.rejected alerts.dropped autoscaler.empty autoscaler.errors autoscaler.excess autoscaler.loop_delay
backend.kv client.itl engine.rank_imbalance engine.sync_wait gateway.check_failures gateway.transfer_failures
pd.kv_held pd.release_pending
autoscaler.read_time backend.cancelled backend.check_failures backend.circuit_open backend.failures backend.latency
backend.stale backend.waiting batch.fill batch.offered_load batch.paused client.latency client.ttft cluster.claims_unbound
cluster.gpu_daemons_unavailable cluster.volumes_waiting container.cpu_pressure container.cpu_throttled
container.cpu_throttled_periods container.cpu_throttled_seconds container.io_pressure container.major_faults
container.memory_limit_hits container.memory_pressure container.memory_ratio container.oom_events control.loop_time
control.nodes_failed control.nodes_pending engine.eager_steps engine.forward_time engine.held_ratio engine.ranks_failed
engine.stalled engine.startup_time engine.step_time engine.time_per_step engine.weights_time exporter.failures finished.abort
finished.abort_ratio finished.error finished.length_ratio finished.repetition gateway.401 gateway.413 gateway.429 gateway.4xx
gateway.5xx gateway.accept_backoff gateway.amplification gateway.circuit_open gateway.client_left gateway.connect_failures
gateway.cooldowns gateway.dependency_failures gateway.dependency_time gateway.ejections gateway.engine_gap gateway.fds_ratio
gateway.headers gateway.host_cpu gateway.host_disk gateway.host_memory gateway.itl gateway.latency
gateway.loop_busy gateway.loop_delay gateway.loop_queue gateway.loop_stalls gateway.metric_errors gateway.no_backend
gateway.open_fds gateway.overflow gateway.overhead gateway.own_time gateway.pending gateway.plugin_time gateway.pool_kv
gateway.pool_saturation gateway.pool_waiting gateway.queue gateway.resets gateway.retries gateway.retries_exhausted
gateway.retry_ratio gateway.stale_backends gateway.timeouts gateway.tokenize_time gateway.transport_errors gateway.ttft
gateway.upstream_5xx gateway.upstream_latency gateway.wrong_model gpu.brake_violation gpu.ecc_corrected gpu.ecc_uncorrected
gpu.lost gpu.mem_other gpu.mem_temp gpu.mem_unowned gpu.nvlink_down gpu.nvlink_errors gpu.pcie_busy gpu.pcie_errors
gpu.pcie_replays gpu.power_violation gpu.recovery_action gpu.remap_failure gpu.remap_pending gpu.remapped_correctable
gpu.remapped_uncorrectable gpu.sram_exhausted gpu.temp gpu.thermal_violation gpu.throttle_brake gpu.throttle_hw
gpu.throttle_power gpu.throttle_sync gpu.throttle_thermal gpu.throttle_thermal_hw gpu.throttle_thermal_sw gpu.unrepairable
gpu.xid_count gpu.xids grammar.compile_time grammar.failures http.413 http.429 http.4xx http.5xx kv.fill kv.needed kv.stranded
kv.usage latency.decode latency.e2e latency.itl latency.prefill latency.queue latency.tpot latency.ttft lora.loads
lora.waiting memory.per_request node.conntrack_ratio node.cpu_busy node.cpu_pressure node.cpu_throttles node.disk_busy
node.disk_errors node.disk_pressure node.disk_readonly node.disk_waiting node.evictions node.files_ratio node.gpu_units_failed
node.ib_errors node.ib_link_downed node.ib_recoveries node.ib_wait node.io_pressure node.io_stalled node.listen_drops
node.listen_overflows node.load1 node.lost node.major_faults node.memory_errors node.memory_pressure node.memory_short
node.memory_stalled node.net_carrier_changes node.net_drops node.net_errors node.network_unavailable node.nfs_timeouts
node.oom_kills node.processes_ratio node.processes_short node.retransmit_ratio node.runtime_check_time node.runtime_errors
node.softnet_dropped node.start_errors node.swap_in node.swap_out node.tcp_retransmits node.tcp_time_wait node.tcp_timeouts
node.units_failed node.unschedulable node.workers_killed node.workers_lost offload.dropped offload.failures offload.load_time
offload.slow offload.store_time output.corrupted pd.expired pd.late_notices pd.notify_failures pd.transfer_failures
pd.transfer_time pod.disrupted pod.ended_in_error pod.evicted pod.failed pod.oom_killed pod.pending pod.restarts
pod.restarts_total pod.starting pod.unschedulable pod.waiting_crash pod.waiting_creating pod.waiting_error pod.waiting_image
preemptions preemptions.per_request prefill.repeated process.fds_ratio process.open_fds prometheus.discovery_failures
prometheus.interval prometheus.limit_hits prometheus.odd_samples prometheus.remote_failures prometheus.remote_pending
prometheus.rule_duration prometheus.rule_failures prometheus.rules_missed prometheus.sample_limit_hits
prometheus.sync_failures prometheus.sync_time queue.capacity queue.deferred queue.frontend queue.grammar queue.growth
queue.waiting release.degraded release.sync_failures replica.falsely_ready replica.lost replica.restarted replicas.turns
replicas.unavailable requests.attempt_ratio requests.failed requests.failed_ratio requests.timeout_ratio requests.timeouts
rollout.analysis_failed rollout.stuck service.abandoned_ratio service.backlog_growth service.error_ratio service.failures
service.failures_at_endings service.outside_share service.refused_ratio service.requests_lost service.requests_vanished
target.scrape_duration token.time ttft.unaccounted version.failures version.slowdown
"""
_WORSE_UP = frozenset(_WORSE_UP_NAMES.split())
"""More of it is bad, whoever has it."""

_WORSE_DOWN_NAMES = """
autoscaler.able autoscaler.active backend.healthy control.loops decode.floor_ratio engine.bandwidth_ratio exporter.collect_ok
exporter.collectors gateway.backends_healthy gateway.cert_ttl gateway.config_ok gpu.bandwidth_ratio gpu.fabric_ready gpu.healthy
gpu.mem_clock gpu.mem_free gpu.pcie_gen gpu.pcie_width gpu.sm_clock kv.capacity node.cert_ttl node.clock_synced
node.disk_available node.disk_ratio node.gpu_allocatable node.ib_ports_up node.inodes_free node.inodes_ratio node.links_up
node.memory_available node.memory_ratio node.ready node.swap_free node.volume_available node.volume_ratio offload.healthy
offload.hit_ratio offload.hit_ratio_reported offload.load_speed pod.ready prefix.hit_ratio prefix.hit_ratio_reported
prometheus.config_ok quality.replica quality.score replicas.available replicas.ready service.goodput service.replicas_alive
spec.acceptance spec.acceptance_reported spec.accepted_length spec.step_tokens target.up
"""
_WORSE_DOWN = frozenset(_WORSE_DOWN_NAMES.split())
"""Less of it is bad. Work done (tokens, requests) is neither: who asks for less gets less."""

_BOUNDED_NAMES = """
batch.fill container.memory_ratio gateway.fds_ratio gateway.host_cpu gateway.host_disk gateway.host_memory gateway.loop_busy
gateway.pool_kv gpu.mem_ratio gpu.pcie_busy kv.fill kv.needed kv.usage node.conntrack_ratio node.cpu_busy node.disk_busy
node.files_ratio node.processes_ratio process.fds_ratio
"""
_BOUNDED = frozenset(_BOUNDED_NAMES.split())
"""Shares of a room that fills up."""

Row = tuple[str, str, Kind, Combine, str]

_GAUGE, _RATE, _RATIO, _DIST, _STATE = Kind.GAUGE, Kind.RATE, Kind.RATIO, Kind.DISTRIBUTION, Kind.STATE
_SUM, _MEAN, _MAX, _MIN = Combine.SUM, Combine.MEAN, Combine.MAX, Combine.MIN


_NOUNS = Path(__file__).parent / "nouns.tsv"
"""Name of each signal, what people call it, the same in Chinese."""


@cache
def _nouns() -> dict[str, tuple[str, str]]:
    """What people call each signal, in English and in Chinese."""
    rows = [line.split("\t") for line in _NOUNS.read_text(encoding="utf-8").splitlines()[1:]]
    return {name: (english, chinese) for name, english, chinese in rows}


def _signals(scope: Scope, layer: Layer, rows: Iterable[Row], *, derived: bool = False, low: float = 0.0) -> list[Signal]:
    """Rows of one scope and layer as signals; a ratio lies between 0 and 1, the rest is not negative unless it is said."""
    return [
        Signal(
            name,
            unit,
            kind,
            scope,
            layer,
            combine,
            low,
            1.0 if kind is _RATIO else inf,
            meaning,
            *_nouns()[name],
            derived,
            "up" if name in _WORSE_UP else "down" if name in _WORSE_DOWN else "",
            name in _BOUNDED,
        )
        for name, unit, kind, combine, meaning in rows
    ]


_ENGINE_ROWS: list[Row] = [
    ("queue.waiting", "requests", _GAUGE, _SUM, "Requests accepted by the engine that wait to be scheduled."),
    ("queue.capacity", "requests", _GAUGE, _SUM, "Waiting requests that wait for room in the batch or the KV cache."),
    ("queue.deferred", "requests", _GAUGE, _SUM, "Waiting requests held back for another reason (grammar, adapter, remote KV)."),
    ("queue.grammar", "requests", _GAUGE, _SUM, "Requests that wait for a grammar to be compiled."),
    ("queue.frontend", "requests", _GAUGE, _SUM, "Requests that the server has taken and not yet given to the engine."),
    ("batch.running", "requests", _GAUGE, _SUM, "Requests in the running batch."),
    ("batch.paused", "requests", _GAUGE, _SUM, "Requests that were running and are paused for lack of room."),
    ("batch.limit", "requests", _GAUGE, _SUM, "Most requests that the engine may run at once."),
    ("kv.usage", "ratio", _RATIO, _MAX, "Share of the KV cache in use."),
    ("kv.evictable", "ratio", _RATIO, _MIN, "Share of the KV cache that holds reusable blocks nobody needs now."),
    ("kv.capacity", "tokens", _GAUGE, _SUM, "Tokens that the KV cache can hold."),
    ("kv.used", "tokens", _GAUGE, _SUM, "Tokens of the KV cache that running requests hold."),
    ("kv.evictable_tokens", "tokens", _GAUGE, _SUM, "Tokens of the KV cache that nobody needs now and that can be reused."),
    ("kv.allocated", "blocks", _RATE, _SUM, "KV blocks taken for new tokens: a heartbeat where no iterations are counted."),
    ("preemptions", "requests", _RATE, _SUM, "Running requests thrown out for lack of KV, to be computed again."),
    ("preemptions.per_request", "times", _DIST, _SUM, "How often a finished request was thrown out for lack of KV."),
    ("admission.rejected", "requests", _RATE, _SUM, "Requests that the engine refused for a limit of its own."),
    ("engine.steps", "steps", _RATE, _SUM, "Engine iterations: the heartbeat of the engine."),
    ("engine.step_tokens", "tokens", _DIST, _SUM, "Tokens computed in one engine iteration."),
    ("engine.step_time", "seconds", _GAUGE, _MEAN, "Time of one engine iteration as the engine reports it."),
    ("engine.forward_time", "seconds", _DIST, _SUM, "Time of one forward pass or batch, as the engine measures it."),
    ("engine.eager_steps", "steps", _RATE, _SUM, "Decode iterations that ran without a captured graph."),
    ("engine.forward_busy", "ratio", _RATIO, _MEAN, "Share of time in forward passes, by the engine's own timer."),
    ("engine.scheduler_cpu", "cores", _RATE, _MAX, "Cores that the engine's scheduler process uses."),
    ("engine.scheduler_idle", "ratio", _RATE, _MEAN, "Share of time in which the engine's scheduler has nothing to do."),
    ("engine.sync_wait", "seconds", _DIST, _SUM, "Time that a rank waits for the slowest one in each step."),
    ("engine.rank_imbalance", "", _DIST, _SUM, "Tokens of the busiest rank as a multiple of the mean: 1 is even."),
    ("engine.startup_time", "seconds", _GAUGE, _MAX, "Time that the engine took to load the model, as it reports it."),
    ("engine.weights_time", "seconds", _GAUGE, _MAX, "Time that the engine took to load its weights, as it reports it."),
    ("engine.ranks_failed", "ranks", _GAUGE, _MAX, "Ranks of the engine that its own watch calls failed."),
    ("engine.sleeping", "", _STATE, _MAX, "1 while the engine is put to sleep on purpose."),
    ("tokens.prompt", "tokens", _RATE, _SUM, "Prompt tokens of the requests being processed, cached ones included."),
    ("tokens.prompt_computed", "tokens", _RATE, _SUM, "Prompt tokens that were really computed."),
    ("tokens.prompt_cached", "tokens", _RATE, _SUM, "Prompt tokens taken from a cache."),
    ("tokens.prompt_offloaded", "tokens", _RATE, _SUM, "Prompt tokens taken from a cache that lies outside the card."),
    ("tokens.generation", "tokens", _RATE, _SUM, "Tokens generated."),
    ("prefix.queries", "tokens", _RATE, _SUM, "Prompt tokens looked up in the prefix cache."),
    ("prefix.hits", "tokens", _RATE, _SUM, "Prompt tokens found in the prefix cache."),
    ("prefix.hits_ever", "tokens", _GAUGE, _SUM, "What was found in the prefix cache since the process began, tokens or blocks."),
    ("prefix.hit_ratio_reported", "ratio", _RATIO, _MEAN, "Prefix hit ratio as the engine reports it, if it counts no tokens."),
    ("offload.queries", "tokens", _RATE, _SUM, "Prompt tokens looked up in an external KV tier."),
    ("offload.hits", "tokens", _RATE, _SUM, "Prompt tokens found in an external KV tier."),
    ("offload.hit_ratio_reported", "ratio", _RATIO, _MEAN, "Hit ratio of the offload tier as it reports it."),
    ("offload.loads", "operations", _RATE, _SUM, "Loads from the offload tier."),
    ("offload.load_time", "seconds", _DIST, _SUM, "Time of one load from the offload tier."),
    ("offload.store_time", "seconds", _DIST, _SUM, "Time of one store to the offload tier."),
    ("offload.slow", "operations", _RATE, _SUM, "Loads from the offload tier that took longer than its own limit."),
    ("offload.dropped", "operations", _RATE, _SUM, "Stores that the offload tier let go because it cannot keep up."),
    ("offload.evictions", "entries", _RATE, _SUM, "Entries that the offload tier threw out for room."),
    ("offload.used", "bytes", _GAUGE, _SUM, "Bytes that the offload tier holds."),
    ("offload.healthy", "", _STATE, _MIN, "1 while the offload tier calls itself healthy."),
    ("offload.load_bytes", "bytes", _RATE, _SUM, "Bytes of KV loaded from the offload tier."),
    ("offload.load_seconds", "seconds", _RATE, _SUM, "Time spent in loads from the offload tier."),
    ("offload.store_bytes", "bytes", _RATE, _SUM, "Bytes of KV stored to the offload tier."),
    ("offload.store_seconds", "seconds", _RATE, _SUM, "Time spent in stores to the offload tier."),
    ("offload.failures", "operations", _RATE, _SUM, "Loads and stores of the offload tier that failed or found no room."),
    ("pd.transfer_failures", "transfers", _RATE, _SUM, "KV transfers between prefill and decode that failed."),
    ("pd.transfer_bytes", "bytes", _RATE, _SUM, "Bytes of KV moved between prefill and decode."),
    ("pd.transfer_time", "seconds", _DIST, _SUM, "Time of one KV transfer between prefill and decode."),
    ("pd.notify_failures", "notifications", _RATE, _SUM, "Notes that a KV transfer is done which did not get through."),
    (
        "pd.late_notices",
        "notifications",
        _RATE,
        _SUM,
        "Notes that a KV transfer is done which came after the blocks were let go.",
    ),
    ("pd.kv_held", "ratio", _RATIO, _MAX, "Share of the KV cache held for requests whose KV is still on its way."),
    ("pd.release_pending", "requests", _GAUGE, _SUM, "Failed requests whose KV cannot be let go yet."),
    ("pd.expired", "requests", _RATE, _SUM, "Requests whose remote KV was given up after a time-out."),
    ("finished", "requests", _RATE, _SUM, "Requests that ended, for whatever reason."),
    ("finished.stop", "requests", _RATE, _SUM, "Requests that ended by a stop token or string."),
    ("finished.length", "requests", _RATE, _SUM, "Requests that ended at their length limit."),
    ("finished.abort", "requests", _RATE, _SUM, "Requests that were aborted, mostly because the client left."),
    ("finished.error", "requests", _RATE, _SUM, "Requests that ended in an error inside the engine."),
    ("finished.repetition", "requests", _RATE, _SUM, "Requests that were ended for repeating themselves."),
    ("latency.ttft", "seconds", _DIST, _SUM, "Time to first token, measured at the engine."),
    ("latency.itl", "seconds", _DIST, _SUM, "Time between two tokens of one answer."),
    ("latency.tpot", "seconds", _DIST, _SUM, "Mean time per token of each finished request: single stalls are averaged away."),
    ("latency.e2e", "seconds", _DIST, _SUM, "Time from arrival at the engine to the last token."),
    ("latency.frontend", "seconds", _DIST, _SUM, "Time in which the server checked and prepared a request before it was queued."),
    ("latency.queue", "seconds", _DIST, _SUM, "Time a request waited before it was first scheduled."),
    ("latency.prefill", "seconds", _DIST, _SUM, "Time from being scheduled to the first token."),
    ("latency.decode", "seconds", _DIST, _SUM, "Time from the first token to the last."),
    ("length.prompt", "tokens", _DIST, _SUM, "Prompt length of finished requests."),
    ("length.generation", "tokens", _DIST, _SUM, "Answer length of finished requests."),
    ("length.asked", "tokens", _DIST, _SUM, "Longest answer that finished requests allowed."),
    ("length.longest", "tokens", _GAUGE, _MAX, "Longest context that the engine has held since its start."),
    ("lora.running", "adapters", _GAUGE, _SUM, "Adapters used by running requests."),
    ("lora.waiting", "adapters", _GAUGE, _SUM, "Adapters that waiting requests need."),
    ("lora.slots", "adapters", _GAUGE, _SUM, "Adapters that fit at once."),
    ("lora.loads", "adapters", _RATE, _SUM, "Adapters loaded."),
    ("spec.drafts", "drafts", _RATE, _SUM, "Speculative drafts verified."),
    ("spec.draft_tokens", "tokens", _RATE, _SUM, "Draft tokens proposed."),
    ("spec.accepted_tokens", "tokens", _RATE, _SUM, "Draft tokens accepted."),
    ("spec.step_tokens", "tokens", _GAUGE, _MEAN, "Tokens per verified draft, the model's own included, as the engine says."),
    ("spec.accepted_first", "tokens", _RATE, _SUM, "Drafts of which the first token was accepted."),
    ("spec.acceptance_reported", "ratio", _RATIO, _MEAN, "Share of draft tokens that are accepted, as the engine says."),
    ("output.corrupted", "requests", _RATE, _SUM, "Requests whose logits held NaN."),
    ("grammar.requests", "requests", _RATE, _SUM, "Requests whose answer must follow a grammar or schema."),
    ("grammar.compile_time", "seconds", _DIST, _SUM, "Time to compile a grammar."),
    (
        "grammar.failures",
        "requests",
        _RATE,
        _SUM,
        "Requests given up because their grammar could not be compiled in time or at all.",
    ),
    ("bytes.read", "bytes", _RATE, _MEAN, "Bytes read from card memory per card, as the engine estimates them."),
    ("bytes.written", "bytes", _RATE, _MEAN, "Bytes written to card memory per card, as the engine estimates them."),
    ("flops", "flop", _RATE, _MEAN, "Floating-point operations per card, as the engine estimates them."),
    ("http.requests", "requests", _RATE, _SUM, "Requests answered by the engine's own HTTP front end."),
    ("http.2xx", "requests", _RATE, _SUM, "Requests that the front end answered with success."),
    ("http.4xx", "requests", _RATE, _SUM, "Requests that the front end refused as the client's fault."),
    ("http.413", "requests", _RATE, _SUM, "Requests that the front end refused for the size of their body."),
    ("http.429", "requests", _RATE, _SUM, "Requests that the front end refused for load."),
    ("http.5xx", "requests", _RATE, _SUM, "Requests that the front end failed."),
    ("http.active", "requests", _GAUGE, _SUM, "Requests in flight at the engine's own HTTP front end."),
    ("process.cpu", "cores", _RATE, _MAX, "Cores that the API process uses."),
    ("process.rss", "bytes", _GAUGE, _SUM, "Resident memory of the API process."),
    ("process.open_fds", "descriptors", _GAUGE, _MAX, "Open file descriptors of the API process."),
    ("process.max_fds", "descriptors", _GAUGE, _MIN, "Limit of file descriptors of the API process."),
    ("process.start_time", "timestamp", _STATE, _MAX, "When the process started, Unix time."),
]

_POD_ROWS: list[Row] = [
    ("pod.ready", "", _STATE, _SUM, "1 while the pod is ready for traffic."),
    ("pod.pending", "", _STATE, _SUM, "1 while the pod waits to be placed or started."),
    ("pod.failed", "", _STATE, _SUM, "1 once the pod has failed."),
    ("pod.evicted", "", _STATE, _SUM, "1 once the pod was evicted."),
    ("pod.unschedulable", "", _STATE, _SUM, "1 while no node can take the pod."),
    ("pod.restarts", "restarts", _RATE, _SUM, "Container restarts."),
    ("pod.restarts_total", "restarts", _GAUGE, _SUM, "Container restarts since the pod was made."),
    ("pod.waiting_crash", "", _STATE, _SUM, "1 while the container backs off after crashes."),
    ("pod.waiting_image", "", _STATE, _SUM, "1 while the container's image cannot be pulled."),
    ("pod.waiting_creating", "", _STATE, _SUM, "1 while the container is being made: volumes, network, images."),
    (
        "pod.waiting_error",
        "",
        _STATE,
        _SUM,
        "1 while the container cannot be made or run: its configuration, its runtime, its devices.",
    ),
    ("pod.scheduled", "", _STATE, _MIN, "1 once the pod has a node."),
    ("pod.disrupted", "", _STATE, _MAX, "1 once the cluster decided to take the pod away (preemption, taint, eviction)."),
    ("pod.deleted", "timestamp", _STATE, _MAX, "When somebody asked for the pod to go, Unix time."),
    ("pod.exit_code", "", _STATE, _MAX, "Exit code of the container's previous run."),
    ("pod.oom_killed", "", _STATE, _SUM, "1 if the container's previous run was ended for memory."),
    ("pod.ended_in_error", "", _STATE, _SUM, "1 if the container's previous run ended by itself in an error."),
    ("pod.started", "timestamp", _STATE, _MAX, "When the container that runs now was started, Unix time."),
    ("pod.created", "timestamp", _STATE, _MAX, "When the pod was made, Unix time."),
    ("container.cpu", "cores", _RATE, _SUM, "Cores that the container uses."),
    ("container.cpu_periods", "periods", _RATE, _SUM, "Scheduler periods in which the container wanted CPU."),
    ("container.cpu_throttled_periods", "periods", _RATE, _SUM, "Scheduler periods in which the container hit its CPU quota."),
    ("container.cpu_throttled_seconds", "seconds", _RATE, _SUM, "Time that threads of the container were held back by quota."),
    ("container.cpu_limit", "cores", _GAUGE, _SUM, "CPU quota of the container."),
    ("container.memory_rss", "bytes", _GAUGE, _SUM, "Resident memory of the container."),
    ("container.memory", "bytes", _GAUGE, _SUM, "Working set of the container, what the limit is held against."),
    ("container.memory_limit", "bytes", _GAUGE, _SUM, "Memory limit of the container."),
    ("container.oom_events", "kills", _RATE, _SUM, "Processes of the container killed for memory."),
    ("container.memory_limit_hits", "events", _RATE, _SUM, "Times that the container ran into its memory limit."),
    ("container.major_faults", "faults", _RATE, _SUM, "Pages that the container had to read from disk."),
    ("container.cpu_pressure", "ratio", _RATE, _MAX, "Share of time that some thread of the container waited for CPU."),
    ("container.memory_pressure", "ratio", _RATE, _MAX, "Share of time that some thread of the container waited for memory."),
    ("container.io_pressure", "ratio", _RATE, _MAX, "Share of time that some thread of the container waited for storage."),
    ("container.files_open", "descriptors", _GAUGE, _SUM, "Open file descriptors of the container."),
    ("container.sockets", "sockets", _GAUGE, _SUM, "Open sockets of the container."),
    ("container.threads", "threads", _GAUGE, _SUM, "Threads and processes of the container."),
    ("container.threads_max", "threads", _GAUGE, _MIN, "Most threads and processes that the container may have."),
    ("container.fs_read", "bytes", _RATE, _SUM, "Bytes that the container reads from disks."),
    ("container.fs_written", "bytes", _RATE, _SUM, "Bytes that the container writes to disks."),
    ("container.start_time", "timestamp", _STATE, _MAX, "When the container started, Unix time."),
    ("container.fs_usage", "bytes", _GAUGE, _SUM, "Disk that the container has written to."),
    ("log.lines", "lines", _RATE, _SUM, "Lines that the engine writes to its log."),
    ("quality.replica", "ratio", _RATIO, _MEAN, "Score of a golden test set or quality probe, asked of this replica."),
]

_GPU_ROWS: list[Row] = [
    ("gpu.util", "ratio", _RATIO, _MEAN, "Share of time with any kernel resident; says nothing of work done."),
    ("gpu.mem_util", "ratio", _RATIO, _MEAN, "Share of time with any memory access; not bandwidth."),
    ("gpu.engine_active", "ratio", _RATIO, _MEAN, "Share of time that the graphics or compute engine was active."),
    ("gpu.sm_active", "ratio", _RATIO, _MEAN, "Share of time that an SM had a warp, over all SMs."),
    ("gpu.tensor_active", "ratio", _RATIO, _MEAN, "Share of cycles that the tensor pipes were active."),
    ("gpu.dram_active", "ratio", _RATIO, _MEAN, "Share of cycles that the memory interface moved data."),
    ("gpu.mem_used", "bytes", _GAUGE, _SUM, "Card memory in use."),
    ("gpu.mem_free", "bytes", _GAUGE, _SUM, "Card memory free."),
    ("gpu.mem_total", "bytes", _GAUGE, _SUM, "Card memory in all."),
    ("gpu.mem_other", "bytes", _GAUGE, _SUM, "Card memory held by processes that are not the engine's."),
    ("gpu.temp", "celsius", _GAUGE, _MAX, "Core temperature."),
    ("gpu.mem_temp", "celsius", _GAUGE, _MAX, "Memory temperature."),
    ("gpu.power", "watts", _GAUGE, _SUM, "Power drawn."),
    ("gpu.power_limit", "watts", _GAUGE, _SUM, "Power limit in force."),
    ("gpu.energy", "joules", _RATE, _SUM, "Energy used, so power by another road."),
    ("gpu.sm_clock", "hertz", _GAUGE, _MIN, "SM clock."),
    ("gpu.sm_clock_max", "hertz", _GAUGE, _MAX, "Highest SM clock of this card."),
    ("gpu.app_clock", "hertz", _GAUGE, _MIN, "SM clock that somebody set for programs."),
    ("gpu.mem_clock", "hertz", _GAUGE, _MIN, "Memory clock."),
    ("gpu.throttle_thermal", "", _STATE, _MAX, "1 while clocks are cut by heat (software or hardware thermal slow-down)."),
    ("gpu.throttle_power", "", _STATE, _MAX, "1 while clocks are cut by the software power cap."),
    ("gpu.throttle_brake", "", _STATE, _MAX, "1 while clocks are cut by the hardware power brake."),
    ("gpu.throttle_hw", "", _STATE, _MAX, "1 while a hardware slow-down of any reason is in force."),
    ("gpu.throttle_thermal_hw", "", _STATE, _MAX, "1 while the card itself cuts its clocks for heat."),
    ("gpu.throttle_thermal_sw", "", _STATE, _MAX, "1 while the driver cuts the clocks for heat."),
    ("gpu.throttle_sync", "", _STATE, _MAX, "1 while clocks are held down to those of another card of a group."),
    ("gpu.clocks_set", "", _STATE, _MAX, "1 while somebody's setting of the clocks is in force."),
    ("gpu.clocks_idle", "", _STATE, _MAX, "1 while clocks are low because nothing runs."),
    ("gpu.brake_violation", "ratio", _RATE, _MAX, "Share of time that clocks were held down by the power brake."),
    ("gpu.thermal_violation", "ratio", _RATE, _MAX, "Share of time that clocks were held down by heat."),
    ("gpu.power_violation", "ratio", _RATE, _MAX, "Share of time that clocks were held down by power."),
    ("gpu.xid", "", _STATE, _MAX, "Last Xid code seen by the exporter; stays until the exporter restarts."),
    ("gpu.xid_count", "reports", _GAUGE, _SUM, "Xids that the exporter counted within its own short window, of all codes."),
    ("gpu.xids", "reports", _RATE, _SUM, "Xids that the exporter counted, of all codes."),
    ("gpu.ecc_uncorrected", "errors", _GAUGE, _SUM, "Uncorrectable memory errors since the driver loaded."),
    ("gpu.ecc_corrected", "errors", _GAUGE, _SUM, "Corrected memory errors since the driver loaded."),
    ("gpu.remap_pending", "", _STATE, _MAX, "1 while a row remap waits for a reset."),
    ("gpu.remap_failure", "", _STATE, _MAX, "1 once a row remap has failed."),
    ("gpu.remapped_uncorrectable", "rows", _GAUGE, _SUM, "Rows remapped for uncorrectable errors."),
    ("gpu.remapped_correctable", "rows", _GAUGE, _SUM, "Rows remapped for corrected errors."),
    (
        "gpu.sram_exhausted",
        "",
        _STATE,
        _MAX,
        "1 once uncorrectable errors of on-chip memory passed the maker's limit: the card is to be replaced.",
    ),
    ("gpu.unrepairable", "", _STATE, _MAX, "1 once the card has memory errors that no spare row can mend."),
    ("gpu.nvlink_errors", "errors", _RATE, _SUM, "NVLink CRC, replay and recovery errors."),
    ("gpu.nvlink_bytes", "bytes/s", _GAUGE, _SUM, "NVLink traffic per second."),
    ("gpu.pcie_gen", "", _GAUGE, _MIN, "PCIe generation in use now."),
    ("gpu.pcie_gen_max", "", _GAUGE, _MAX, "Highest PCIe generation of card and slot."),
    ("gpu.pcie_width", "lanes", _GAUGE, _MIN, "PCIe lanes in use now."),
    ("gpu.pcie_width_max", "lanes", _GAUGE, _MAX, "Most PCIe lanes of card and slot."),
    ("gpu.pcie_replays", "errors", _RATE, _SUM, "PCIe packets sent again."),
    ("gpu.pcie_errors", "errors", _RATE, _SUM, "Corrected errors of the PCIe link."),
    ("gpu.pcie_rx", "bytes/s", _GAUGE, _SUM, "Bytes per second that the card receives over PCIe."),
    ("gpu.pcie_tx", "bytes/s", _GAUGE, _SUM, "Bytes per second that the card sends over PCIe."),
    ("gpu.healthy", "", _STATE, _MIN, "1 while the exporter calls the card healthy."),
    (
        "gpu.recovery_action",
        "",
        _STATE,
        _MAX,
        "What the driver asks for: 0 nothing, 1 reset, 2 reboot, 3 drain, 4 drain and reset, 5 reset of the bus.",
    ),
    ("gpu.fabric_ready", "", _STATE, _MIN, "1 once the card has joined the NVLink fabric, where there is one."),
    ("gpu.nvlink_down", "events", _RATE, _SUM, "Times that an NVLink went down or could not recover."),
    ("gpu.processes", "processes", _GAUGE, _SUM, "Programs that compute on the card."),
]

_NODE_ROWS: list[Row] = [
    ("node.cpu_busy", "ratio", _RATIO, _MAX, "Share of CPU time that is not idle."),
    ("node.cpu_busy_cores", "cores", _RATE, _SUM, "Cores that are not idle."),
    ("node.cpu_cores", "cores", _RATE, _SUM, "Cores of the host: CPU time of all kinds, idle included."),
    ("node.load1", "threads", _GAUGE, _MAX, "Runnable and blocked threads, one-minute mean."),
    ("node.cpu_pressure", "ratio", _RATE, _MAX, "Share of time that some thread waited for CPU."),
    ("node.memory_pressure", "ratio", _RATE, _MAX, "Share of time that some thread waited for memory."),
    ("node.memory_stalled", "ratio", _RATE, _MAX, "Share of time that all threads waited for memory at once."),
    ("node.io_pressure", "ratio", _RATE, _MAX, "Share of time that some thread waited for storage."),
    ("node.io_stalled", "ratio", _RATE, _MAX, "Share of time that all threads waited for storage at once."),
    ("node.major_faults", "faults", _RATE, _SUM, "Pages that had to be read from disk."),
    ("node.memory_available", "bytes", _GAUGE, _MIN, "Host memory that can still be had."),
    ("node.memory_total", "bytes", _GAUGE, _SUM, "Host memory in all."),
    ("node.swap_in", "pages", _RATE, _SUM, "Pages swapped in."),
    ("node.swap_out", "pages", _RATE, _SUM, "Pages swapped out."),
    ("node.swap_free", "bytes", _GAUGE, _SUM, "Free swap."),
    ("node.swap_total", "bytes", _GAUGE, _SUM, "Swap in all."),
    ("node.oom_kills", "kills", _RATE, _SUM, "Processes killed by the kernel for memory."),
    ("node.disk_available", "bytes", _GAUGE, _MIN, "Free disk of the fullest real file system."),
    ("node.disk_size", "bytes", _GAUGE, _MIN, "Size of that file system."),
    ("node.inodes_free", "inodes", _GAUGE, _MIN, "Free inodes of the real file system with the fewest."),
    ("node.inodes", "inodes", _GAUGE, _MIN, "Inodes of that file system."),
    ("node.disk_readonly", "", _STATE, _MAX, "1 while a file system that programs write to is mounted read-only."),
    ("node.disk_errors", "", _STATE, _MAX, "1 while a file system cannot be asked."),
    ("node.volume_available", "bytes", _GAUGE, _MIN, "Free room of the fullest claimed volume."),
    ("node.volume_size", "bytes", _GAUGE, _MIN, "Size of that volume."),
    ("node.volume_inodes_free", "inodes", _GAUGE, _MIN, "Free inodes of the claimed volume with the fewest."),
    ("node.disk_read", "bytes", _RATE, _SUM, "Bytes read from disks."),
    ("node.disk_written", "bytes", _RATE, _SUM, "Bytes written to disks."),
    ("node.disk_busy", "ratio", _RATE, _MAX, "Share of time that a disk was busy."),
    ("node.disk_waiting", "operations", _GAUGE, _MAX, "Operations that a disk works on at once."),
    ("node.nfs_timeouts", "operations", _RATE, _SUM, "Operations on network file systems that got no answer in time."),
    ("node.net_receive", "bytes", _RATE, _SUM, "Bytes received by network interfaces."),
    ("node.net_transmit", "bytes", _RATE, _SUM, "Bytes sent by network interfaces."),
    ("node.net_errors", "packets", _RATE, _SUM, "Packets received with errors."),
    ("node.net_drops", "packets", _RATE, _SUM, "Packets dropped on receipt."),
    ("node.net_carrier_changes", "changes", _RATE, _SUM, "Times that a link went down or up."),
    ("node.links_up", "links", _GAUGE, _SUM, "Network interfaces with a carrier."),
    ("node.softnet_dropped", "packets", _RATE, _SUM, "Packets dropped because a core was too slow to take them."),
    ("node.tcp_retransmits", "segments", _RATE, _SUM, "TCP segments sent again."),
    ("node.tcp_segments", "segments", _RATE, _SUM, "TCP segments sent."),
    ("node.tcp_timeouts", "events", _RATE, _SUM, "TCP connections that waited for an acknowledgement in vain."),
    ("node.listen_overflows", "connections", _RATE, _SUM, "Connections that found a program's queue for new ones full."),
    ("node.listen_drops", "connections", _RATE, _SUM, "New connections that the host dropped."),
    ("node.conntrack", "connections", _GAUGE, _MAX, "Entries of the connection-tracking table."),
    ("node.conntrack_limit", "connections", _GAUGE, _MIN, "Most entries of the connection-tracking table."),
    ("node.sockets", "sockets", _GAUGE, _SUM, "Sockets in use."),
    ("node.tcp_established", "connections", _GAUGE, _SUM, "Open TCP connections."),
    ("node.tcp_time_wait", "connections", _GAUGE, _SUM, "TCP connections in TIME_WAIT."),
    ("node.files_open", "descriptors", _GAUGE, _SUM, "File descriptors allocated on the host."),
    ("node.files_max", "descriptors", _GAUGE, _MIN, "Most file descriptors of the host."),
    ("node.processes", "processes", _GAUGE, _SUM, "Processes and threads of the host."),
    ("node.processes_max", "processes", _GAUGE, _MIN, "Most processes and threads of the host."),
    ("node.units_failed", "units", _GAUGE, _SUM, "Units of the host's init system that have failed."),
    ("node.gpu_units_failed", "units", _GAUGE, _SUM, "Failed units that cards need: fabric manager, persistence, IMEX, DCGM."),
    ("node.memory_errors", "errors", _RATE, _SUM, "Uncorrectable errors of host memory."),
    ("node.cpu_throttles", "events", _RATE, _SUM, "Times that cores were slowed for heat."),
    ("node.workers_killed", "processes", _RATE, _SUM, "Workers that the serving framework's own watch killed for memory."),
    ("node.workers_lost", "processes", _RATE, _SUM, "Workers of the serving framework that died unexpectedly."),
    ("node.ib_errors", "errors", _RATE, _SUM, "InfiniBand receive errors."),
    ("node.ib_link_downed", "events", _RATE, _SUM, "Times that an InfiniBand link went down."),
    ("node.ib_recoveries", "events", _RATE, _SUM, "Times that an InfiniBand link recovered from errors."),
    ("node.ib_wait", "ticks", _RATE, _SUM, "InfiniBand transmit wait: congestion."),
    ("node.ib_ports_up", "ports", _GAUGE, _SUM, "InfiniBand ports that are active."),
    ("node.boot_time", "timestamp", _STATE, _MAX, "When the host booted, Unix time."),
    ("node.clock", "timestamp", _STATE, _MAX, "The host's own clock, Unix time."),
    ("node.clock_synced", "", _STATE, _MIN, "1 while the host's clock is kept in step."),
    ("node.created", "timestamp", _STATE, _MAX, "When the node joined the cluster, Unix time."),
    ("node.deleted", "timestamp", _STATE, _MAX, "When somebody asked for the node to go, Unix time."),
    ("node.taints", "taints", _GAUGE, _SUM, "Marks by which the node keeps pods away."),
    ("node.gpu_allocatable", "cards", _GAUGE, _SUM, "Cards that the cluster may give out on this node."),
    ("node.gpu_capacity", "cards", _GAUGE, _SUM, "Cards that the cluster knows on this node."),
    ("node.unschedulable", "", _STATE, _SUM, "1 while the node takes no new pods."),
    ("node.evictions", "pods", _RATE, _SUM, "Pods that the kubelet evicted for lack of a resource."),
    ("node.runtime_errors", "operations", _RATE, _SUM, "Operations of the container runtime that failed."),
    ("node.runtime_check_time", "seconds", _DIST, _SUM, "Time that the kubelet takes to look at all its containers."),
    ("node.start_errors", "containers", _RATE, _SUM, "Containers that could not be started."),
    (
        "node.device_registrations",
        "registrations",
        _RATE,
        _SUM,
        "Times that a device plugin made itself known: at its start, again and again.",
    ),
    ("node.ready", "", _STATE, _SUM, "1 while the node reports ready."),
    ("node.disk_pressure", "", _STATE, _MAX, "1 while the node evicts for lack of disk."),
    ("node.memory_short", "", _STATE, _MAX, "1 while the node evicts for lack of memory."),
    ("node.processes_short", "", _STATE, _MAX, "1 while the node is short of process ids."),
    ("node.network_unavailable", "", _STATE, _MAX, "1 while the node's network is not set up."),
]

_NODE_BALANCES: list[Row] = [
    ("node.clock_offset", "seconds", _GAUGE, _MAX, "How far the host's clock is from its reference."),
    ("node.cert_ttl", "seconds", _GAUGE, _MIN, "Time until the kubelet's certificate ends."),
]

_SERVICE_ROWS: list[Row] = [
    ("replicas.desired", "replicas", _GAUGE, _SUM, "Replicas that should be there."),
    ("replicas.ready", "replicas", _GAUGE, _SUM, "Replicas ready for traffic."),
    ("replicas.updated", "replicas", _GAUGE, _SUM, "Replicas of the newest revision."),
    ("replicas.unavailable", "replicas", _GAUGE, _SUM, "Replicas that are missing or not ready."),
    ("replicas.available", "replicas", _GAUGE, _SUM, "Replicas that have been ready for long enough to count."),
    ("replicas.terminating", "replicas", _GAUGE, _SUM, "Replicas that are on their way out."),
    ("rollout.generation", "", _STATE, _MAX, "Generation of the deployment's specification."),
    ("rollout.generation_observed", "", _STATE, _MAX, "Generation that the controller has acted on."),
    ("rollout.stuck", "", _STATE, _MAX, "1 while the deployment reports that it makes no progress."),
    ("rollout.paused", "", _STATE, _MAX, "1 while somebody has stopped the roll-out."),
    ("rollout.analysis_failed", "", _STATE, _MAX, "1 once a check of the new version has failed."),
    ("release.out_of_sync", "", _STATE, _MAX, "1 while what runs is not what the release tool was told."),
    ("release.degraded", "", _STATE, _MAX, "1 while the release tool calls the release broken."),
    ("release.suspended", "", _STATE, _MAX, "1 while somebody has stopped the release tool."),
    ("release.syncs", "syncs", _RATE, _SUM, "Releases and rollbacks that the release tool carried out."),
    ("release.sync_failures", "syncs", _RATE, _SUM, "Releases and rollbacks that failed."),
    ("disruptions.allowed", "pods", _GAUGE, _MIN, "Pods that may be taken away on purpose now."),
    ("autoscaler.desired", "replicas", _GAUGE, _MAX, "Replicas that the autoscaler wants."),
    ("autoscaler.min", "replicas", _GAUGE, _MAX, "Fewest replicas that the autoscaler may set."),
    ("autoscaler.max", "replicas", _GAUGE, _MAX, "Most replicas that the autoscaler may set."),
    ("autoscaler.value", "", _GAUGE, _MAX, "Value of the metric that the autoscaler follows."),
    ("autoscaler.target", "", _GAUGE, _MAX, "Value that the autoscaler aims at."),
    ("autoscaler.active", "", _STATE, _MIN, "1 while the autoscaler can read its metric."),
    ("autoscaler.able", "", _STATE, _MIN, "1 while the autoscaler can read and set the number of replicas."),
    ("autoscaler.limited", "", _STATE, _MAX, "1 while the autoscaler wants a number outside its limits."),
    ("autoscaler.paused", "", _STATE, _MAX, "1 while somebody has stopped the autoscaler."),
    ("autoscaler.triggered", "", _STATE, _MAX, "1 while the autoscaler's metric is above its threshold of activity."),
    ("autoscaler.metric", "", _GAUGE, _MAX, "Value that the autoscaler's own reader found, of all replicas together."),
    ("autoscaler.read_time", "seconds", _GAUGE, _MAX, "Time that reading the autoscaler's metric takes."),
    ("autoscaler.loop_delay", "seconds", _GAUGE, _MAX, "Time by which the autoscaler's loop is late."),
    ("autoscaler.errors", "errors", _RATE, _SUM, "Errors of the autoscaler in reading its metric."),
    ("control.loops", "loops", _RATE, _SUM, "Passes of the serving framework's control loop: its heartbeat."),
    ("control.loop_time", "seconds", _GAUGE, _MAX, "Time of one pass of the serving framework's control loop."),
    ("autoscaler.empty", "queries", _RATE, _SUM, "Times that the autoscaler's query found nothing, which it may read as zero."),
    ("quality.score", "ratio", _RATIO, _MEAN, "Score of a golden test set or quality probe."),
]

_GATEWAY_ROWS: list[Row] = [
    ("gateway.requests", "requests", _RATE, _SUM, "Requests that the gateway received for the service."),
    ("gateway.2xx", "requests", _RATE, _SUM, "Answers with success."),
    ("gateway.4xx", "requests", _RATE, _SUM, "Answers that refuse the request, 429 excluded where it can be told."),
    ("gateway.429", "requests", _RATE, _SUM, "Answers that refuse for load."),
    ("gateway.401", "requests", _RATE, _SUM, "Answers 401 or 403."),
    ("gateway.413", "requests", _RATE, _SUM, "Answers that refuse the size of a request's body."),
    ("gateway.5xx", "requests", _RATE, _SUM, "Answers with a server error."),
    ("gateway.upstream_requests", "requests", _RATE, _SUM, "Requests sent to engines, retries included."),
    ("gateway.upstream_2xx", "requests", _RATE, _SUM, "Requests that engines answered with success."),
    ("gateway.upstream_5xx", "requests", _RATE, _SUM, "Server errors answered by engines."),
    ("gateway.latency", "seconds", _DIST, _SUM, "Time of whole requests at the gateway."),
    ("gateway.ttft", "seconds", _DIST, _SUM, "Time to first token at the gateway."),
    ("gateway.itl", "seconds", _DIST, _SUM, "Time between two tokens, or per token of an answer, at the gateway."),
    ("gateway.prompt_tokens", "tokens", _DIST, _SUM, "Prompt length of requests as the gateway counts it."),
    ("gateway.output_tokens", "tokens", _DIST, _SUM, "Answer length of requests as the gateway counts it."),
    (
        "gateway.cached_tokens",
        "tokens",
        _DIST,
        _SUM,
        "Prompt tokens of a request that came from a cache, as the gateway counts them.",
    ),
    ("gateway.request_bytes", "bytes", _DIST, _SUM, "Size of the bodies of requests."),
    ("gateway.upstream_latency", "seconds", _DIST, _SUM, "Time of requests to the engines as the gateway sees it."),
    ("gateway.overhead", "seconds", _DIST, _SUM, "Time that the gateway adds itself."),
    ("gateway.plugin_time", "seconds", _DIST, _SUM, "Time of the gateway's plug-ins, filters and guards."),
    ("gateway.tokenize_time", "seconds", _DIST, _SUM, "Time to make tokens of a prompt at the gateway."),
    ("gateway.loop_delay", "seconds", _DIST, _SUM, "Time by which the gateway's event loop is late."),
    ("gateway.loop_stalls", "events", _RATE, _SUM, "Times that the gateway's event loop stood still."),
    ("gateway.loop_busy", "ratio", _RATIO, _MAX, "Share of time that the gateway's threads are busy."),
    ("gateway.loop_queue", "tasks", _GAUGE, _SUM, "Tasks that wait for the gateway's threads."),
    ("gateway.dependency_failures", "calls", _RATE, _SUM, "Calls of the gateway to its own store (database, cache) that failed."),
    ("gateway.dependency_time", "seconds", _DIST, _SUM, "Time of the gateway's calls to its own store."),
    ("gateway.transport_errors", "errors", _RATE, _SUM, "Errors of the gateway's way to its workers below HTTP."),
    (
        "gateway.transfer_failures",
        "transfers",
        _RATE,
        _SUM,
        "KV transfers between prefill and decode that failed, as the gateway sees it.",
    ),
    ("gateway.check_failures", "checks", _RATE, _SUM, "Health checks of engines that failed."),
    (
        "gateway.accept_backoff",
        "events",
        _RATE,
        _SUM,
        "Times that no connection could be taken for lack of descriptors or memory.",
    ),
    ("gateway.queue", "seconds", _DIST, _SUM, "Time that requests waited in the gateway to be sent on."),
    ("gateway.headers", "seconds", _DIST, _SUM, "Time until an answer's headers: of a stream neither first token nor end."),
    ("gateway.active", "requests", _GAUGE, _SUM, "Requests in flight at the gateway."),
    ("gateway.pending", "requests", _GAUGE, _SUM, "Requests that wait for a connection to an engine."),
    ("gateway.connections", "connections", _GAUGE, _SUM, "Connections from the gateway to engines."),
    ("gateway.connections_open", "connections", _GAUGE, _SUM, "Connections from clients to the gateway."),
    ("gateway.overflow", "requests", _RATE, _SUM, "Requests refused by the gateway's own connection or request limit."),
    ("gateway.circuit_open", "", _STATE, _MAX, "1 while a limit of the gateway is reached or a circuit breaker is open."),
    ("gateway.retries", "requests", _RATE, _SUM, "Requests that the gateway sent again."),
    ("gateway.retries_exhausted", "requests", _RATE, _SUM, "Requests lost because the retry limit or budget was reached."),
    ("gateway.timeouts", "requests", _RATE, _SUM, "Requests that the gateway gave up waiting for."),
    ("gateway.client_left", "requests", _RATE, _SUM, "Requests whose client hung up before the answer."),
    ("gateway.connect_failures", "connections", _RATE, _SUM, "Connections to engines that failed."),
    ("gateway.resets", "requests", _RATE, _SUM, "Requests whose connection an engine closed while they ran."),
    ("gateway.no_backend", "requests", _RATE, _SUM, "Requests for which the gateway had no engine to send them to."),
    ("control.nodes_pending", "nodes", _GAUGE, _SUM, "Nodes that the serving framework has asked for and not got."),
    ("control.nodes_failed", "nodes", _GAUGE, _SUM, "Nodes of the serving framework that failed lately."),
    ("gateway.backends", "backends", _GAUGE, _MAX, "Engines that the gateway knows."),
    ("gateway.backends_healthy", "backends", _GAUGE, _MIN, "Engines that the gateway sends to."),
    ("gateway.ejections", "backends", _GAUGE, _SUM, "Engines that the gateway has put aside."),
    ("gateway.cooldowns", "backends", _RATE, _SUM, "Times that the gateway put an engine into cooldown."),
    ("gateway.metric_errors", "errors", _RATE, _SUM, "Times that the gateway could not read an engine's metrics."),
    (
        "gateway.stale_backends",
        "backends",
        _GAUGE,
        _MAX,
        "Engines whose metrics the gateway has not had for too long, or of which it knows another address.",
    ),
    ("gateway.pool_kv", "ratio", _RATIO, _MAX, "Mean use of the KV cache over the engines, as the gateway sees it."),
    ("gateway.pool_waiting", "requests", _GAUGE, _MAX, "Mean queue of the engines, as the gateway sees it."),
    ("gateway.pool_saturation", "ratio", _GAUGE, _MAX, "How full the engines are, by the gateway's own reckoning: 1 is full."),
    ("gateway.config_ok", "", _STATE, _MIN, "1 if the gateway's last reading of its configuration succeeded."),
    ("gateway.cert_expiry", "timestamp", _STATE, _MIN, "When the first of the gateway's certificates ends, Unix time."),
    ("gateway.host_cpu", "ratio", _RATIO, _MAX, "Share of its host's CPU in use, as the gateway says."),
    ("gateway.host_memory", "ratio", _RATIO, _MAX, "Share of its host's memory in use, as the gateway says."),
    ("gateway.host_disk", "ratio", _RATIO, _MAX, "Share of its host's disk in use, as the gateway says."),
    ("gateway.connections_limit", "connections", _GAUGE, _SUM, "Most connections that the gateway takes."),
    ("gateway.cpu", "cores", _RATE, _MAX, "Cores that the gateway process uses."),
    ("gateway.rss", "bytes", _GAUGE, _SUM, "Resident memory of the gateway process."),
    ("gateway.open_fds", "descriptors", _GAUGE, _MAX, "Open file descriptors of the gateway process."),
    ("gateway.max_fds", "descriptors", _GAUGE, _MIN, "Limit of file descriptors of the gateway process."),
    ("gateway.start_time", "timestamp", _STATE, _MAX, "When the gateway process started, Unix time."),
    ("gateway.log_lines", "lines", _RATE, _SUM, "Lines that the gateway writes to its log."),
    ("gateway.wrong_model", "requests", _RATE, _SUM, "Requests answered by another model than the one asked for."),
]

_GATEWAY_FAILURE_NAMES = """
gateway.401 gateway.429 gateway.4xx gateway.5xx gateway.client_left gateway.connect_failures gateway.no_backend gateway.overflow
gateway.resets gateway.retries_exhausted gateway.timeouts
"""
GATEWAY_FAILURES = frozenset(_GATEWAY_FAILURE_NAMES.split())
"""Requests of a gateway that did not end well. Somebody may have kept the lines of these alone: so many there were at least."""

_NOTICED_NAMES = """
backend.failures backend.requests batch.running client.itl client.latency client.ttft finished finished.abort finished.error
finished.length finished.stop gateway.2xx gateway.401 gateway.429 gateway.4xx gateway.5xx gateway.client_left gateway.itl
gateway.latency gateway.no_backend gateway.overflow gateway.overhead gateway.pending gateway.queue gateway.requests
gateway.resets gateway.retries_exhausted gateway.timeouts gateway.ttft gateway.upstream_2xx gateway.upstream_5xx
gateway.upstream_latency gateway.upstream_requests http.2xx http.4xx http.5xx http.requests kv.usage latency.e2e latency.itl
latency.ttft output.corrupted pod.ready pod.restarts preemptions quality.replica quality.score queue.waiting replicas.desired
replicas.ready requests.attempts requests.distinct requests.failed requests.timeouts target.up tokens.generation
"""
NOTICED = frozenset(_NOTICED_NAMES.split())
"""Signals that sources bring and that promises are read from: where one of them was lost on the way nobody may say that all is
well. They are asked for first."""

_BACKEND_ROWS: list[Row] = [
    ("backend.requests", "requests", _RATE, _SUM, "Requests that the gateway sent to this replica."),
    ("backend.failures", "requests", _RATE, _SUM, "Requests to this replica that failed, as the gateway sees it."),
    ("backend.active", "requests", _GAUGE, _SUM, "Requests in flight from the gateway to this replica."),
    ("backend.waiting", "requests", _GAUGE, _SUM, "Requests that wait at this replica, as the gateway sees it."),
    ("backend.kv", "ratio", _RATIO, _MAX, "Share of the KV cache in use at this replica, as the gateway sees it."),
    ("backend.latency", "seconds", _DIST, _SUM, "Time of requests at this replica, as the gateway or its worker measures it."),
    ("backend.cancelled", "requests", _RATE, _SUM, "Requests to this replica that were given up."),
    (
        "backend.check_failures",
        "checks",
        _RATE,
        _SUM,
        "Health checks of this replica that failed, by the gateway or the framework.",
    ),
    ("backend.healthy", "", _STATE, _SUM, "1 while the gateway sends to this replica."),
    ("backend.circuit_open", "", _STATE, _SUM, "1 while the gateway's circuit breaker for this replica is open."),
]

_CLIENT_ROWS: list[Row] = [
    ("requests.distinct", "requests", _RATE, _SUM, "Requests that people or programs really wanted, each counted once."),
    ("requests.attempts", "requests", _RATE, _SUM, "Requests sent, retries included."),
    ("requests.failed", "requests", _RATE, _SUM, "Distinct requests that failed for good."),
    ("requests.timeouts", "requests", _RATE, _SUM, "Attempts that the client gave up waiting for."),
    ("client.latency", "seconds", _DIST, _SUM, "Time of a request as the client sees it."),
    ("client.itl", "seconds", _DIST, _SUM, "Time between two pieces of one answer as the client sees it."),
    ("client.ttft", "seconds", _DIST, _SUM, "Time to first token as the client sees it."),
    ("client.active", "requests", _GAUGE, _SUM, "Requests that clients wait for."),
    ("client.prompt_tokens", "tokens", _DIST, _SUM, "Prompt length of requests as the client counts it."),
    ("client.output_tokens", "tokens", _DIST, _SUM, "Answer length of requests as the client counts it."),
    ("client.cached_tokens", "tokens", _DIST, _SUM, "Prompt tokens of a request that came from a cache, as answers say."),
    ("client.pool_waiting", "requests", _GAUGE, _SUM, "Requests that wait inside the client for a connection of its own pool."),
    ("client.pool_used", "connections", _GAUGE, _SUM, "Connections of the client's pool in use."),
    ("client.pool_limit", "connections", _GAUGE, _SUM, "Connections that the client's pool may have."),
]

_TARGET_ROWS: list[Row] = [
    ("target.up", "", _STATE, _MIN, "1 if the last scrape of the target succeeded."),
    ("target.scrape_duration", "seconds", _GAUGE, _MAX, "Time that the scrape took."),
    ("target.samples", "samples", _GAUGE, _SUM, "Samples that the scrape brought."),
    ("target.samples_kept", "samples", _GAUGE, _SUM, "Samples of the scrape that were kept."),
    ("target.series_added", "series", _GAUGE, _SUM, "Series that the scrape brought for the first time."),
    ("target.scrape_timeout", "seconds", _GAUGE, _MIN, "Longest time that a scrape may take."),
    ("exporter.collect_ok", "", _STATE, _MIN, "1 if the exporter's last reading of what it measures succeeded."),
    ("exporter.exit_code", "", _STATE, _MAX, "Exit code of the command that the exporter reads."),
    ("exporter.failures", "readings", _RATE, _SUM, "Readings of the exporter that failed."),
    ("exporter.collectors", "collectors", _GAUGE, _SUM, "Parts of the exporter that worked at the last scrape."),
    (
        "cluster.gpu_daemons_unavailable",
        "pods",
        _GAUGE,
        _SUM,
        "Pods of device plugin, driver and exporters that are missing on nodes.",
    ),
    ("cluster.gpu_daemons_desired", "pods", _GAUGE, _SUM, "Pods of device plugin, driver and exporters that should be there."),
    ("cluster.volumes_waiting", "volumes", _GAUGE, _SUM, "Volumes that are not attached to the node that wants them."),
    ("cluster.claims_unbound", "claims", _GAUGE, _SUM, "Claims of volumes that have none."),
    ("cluster.gpu_quota", "cards", _GAUGE, _MAX, "Cards that a name space may ask for."),
    ("cluster.gpu_quota_used", "cards", _GAUGE, _MAX, "Cards that a name space has asked for."),
]

_PROMETHEUS_ROWS: list[Row] = [
    ("prometheus.head_series", "series", _GAUGE, _SUM, "Series that Prometheus holds in memory."),
    ("prometheus.sample_limit_hits", "scrapes", _RATE, _SUM, "Scrapes refused because a target offered too many samples."),
    ("prometheus.rule_failures", "evaluations", _RATE, _SUM, "Rule evaluations that failed."),
    ("prometheus.samples", "samples", _RATE, _SUM, "Samples stored."),
    ("prometheus.limit_hits", "events", _RATE, _SUM, "Targets, labels or bodies refused for a limit other than that of samples."),
    ("prometheus.rules_missed", "evaluations", _RATE, _SUM, "Rule evaluations left out because the one before took too long."),
    ("prometheus.rule_duration", "seconds", _GAUGE, _MAX, "Time of the slowest group of rules."),
    ("prometheus.discovery_failures", "refreshes", _RATE, _SUM, "Refreshes of the list of targets that failed."),
    ("prometheus.discovered", "targets", _GAUGE, _SUM, "Targets that discovery knows."),
    ("prometheus.sync_failures", "targets", _RATE, _SUM, "Targets that could not be set up."),
    ("prometheus.sync_time", "seconds", _DIST, _SUM, "Time to bring the list of targets up to date."),
    ("prometheus.interval", "seconds", _DIST, _SUM, "Time between two scrapes of a target as it really was."),
    ("prometheus.config_ok", "", _STATE, _MIN, "1 if the last reading of the configuration succeeded."),
    ("prometheus.odd_samples", "samples", _RATE, _SUM, "Samples refused as doubled, out of order or out of bounds."),
    ("prometheus.remote_failures", "samples", _RATE, _SUM, "Samples that could not be sent to a remote store."),
    ("prometheus.remote_pending", "samples", _GAUGE, _SUM, "Samples that wait to be sent to a remote store."),
    ("prometheus.remote_sent", "timestamp", _STATE, _MIN, "Time of the newest sample that a remote store has, Unix time."),
    ("alerts.dropped", "notifications", _RATE, _SUM, "Alerts that did not get out."),
    ("alerts.silences", "silences", _GAUGE, _SUM, "Silences in force."),
]

_DERIVED_REPLICA_ROWS: list[Row] = [
    ("prefix.hit_ratio", "ratio", _RATIO, _MEAN, "Share of looked-up prompt tokens found in the prefix cache."),
    ("prefill.per_request", "tokens", _GAUGE, _MEAN, "Prompt tokens computed per finished request."),
    ("offload.hit_ratio", "ratio", _RATIO, _MEAN, "Share of looked-up prompt tokens found in the offload tier."),
    ("offload.load_speed", "bytes/s", _GAUGE, _MIN, "Bytes per second of a load from the offload tier."),
    ("finished.length_ratio", "ratio", _RATIO, _MEAN, "Share of answers that ended at their length limit."),
    ("finished.abort_ratio", "ratio", _RATIO, _MEAN, "Share of requests that were aborted."),
    ("spec.accepted_length", "tokens", _GAUGE, _MEAN, "Draft tokens accepted per draft."),
    ("spec.acceptance", "ratio", _RATIO, _MEAN, "Share of draft tokens that are accepted."),
    ("token.time", "seconds", _GAUGE, _MEAN, "Time from one token of an answer to the next."),
    ("kv.fill", "ratio", _RATIO, _MAX, "Share of the KV cache in use, by the engine's own ratio or by its tokens."),
    ("kv.needed", "ratio", _RATIO, _MAX, "Share of the KV cache that the running requests need if they are of usual length."),
    ("kv.stranded", "ratio", _RATIO, _MAX, "Share of the KV cache in use beyond what the running requests can hold at most."),
    ("kv.per_request", "ratio", _GAUGE, _MAX, "Share of the KV cache in use for each running request."),
    ("prefill.repeated", "", _GAUGE, _MAX, "Prompt tokens worked on per token of prompts that ended: above 1 if done twice."),
    (
        "engine.idle",
        "",
        _STATE,
        _SUM,
        "1 while an engine that answers holds no request and makes no token (of one that counts none: ends no request).",
    ),
    ("container.cpu_throttled", "ratio", _RATIO, _MAX, "Share of scheduler periods in which the container hit its CPU quota."),
    ("container.memory_ratio", "ratio", _RATIO, _MAX, "Container memory as a share of its limit."),
    ("process.fds_ratio", "ratio", _RATIO, _MAX, "Open descriptors as a share of the limit."),
    ("batch.fill", "ratio", _RATIO, _MAX, "Running requests as a share of the batch limit."),
    ("batch.plateau", "", _STATE, _MIN, "1 while requests wait and the batch is about as large as it ever was."),
    ("ttft.queue_share", "ratio", _RATIO, _MEAN, "Share of the time to first token spent in the queue."),
    ("ttft.prefill_share", "ratio", _RATIO, _MEAN, "Share of the time to first token spent in prefill."),
    ("ttft.unaccounted", "seconds", _GAUGE, _MEAN, "Mean time to first token that neither queue nor prefill accounts for."),
    ("ttft.unaccounted_share", "ratio", _RATIO, _MEAN, "Share of it that neither queue nor prefill accounts for."),
    ("e2e.queue_share", "ratio", _RATIO, _MEAN, "Share of a request's time in the engine spent in the queue."),
    ("e2e.prefill_share", "ratio", _RATIO, _MEAN, "Share of a request's time in the engine spent in prefill."),
    ("e2e.decode_share", "ratio", _RATIO, _MEAN, "Share of a request's time in the engine spent in decode."),
    ("engine.held_ratio", "", _GAUGE, _MAX, "Requests inside per completions × time inside (Little's law): 1 while steady."),
    (
        "batch.offered_load",
        "ratio",
        _GAUGE,
        _MAX,
        "Arrivals × time in the batch as a share of its places: above 1, queues grow.",
    ),
    ("engine.bandwidth_ratio", "ratio", _GAUGE, _MEAN, "Bytes per second by the engine's count as a share of its cards' peak."),
    ("engine.compute_ratio", "ratio", _GAUGE, _MEAN, "Operations per second by the engine's count as a share of the dense peak."),
    ("decode.floor", "seconds", _GAUGE, _MAX, "Least time of a decode step: weights and KV in use, read once at peak bandwidth."),
    ("decode.floor_ratio", "ratio", _GAUGE, _MEAN, "Least time of a decode step as a share of the time between tokens."),
    ("engine.time_per_step", "seconds", _GAUGE, _MEAN, "Wall time per engine iteration."),
    ("engine.stalled", "", _STATE, _SUM, "1 while requests are held and no heartbeat (steps, tokens, KV blocks) advances."),
    ("replica.lost", "", _STATE, _SUM, "1 while a replica that was there earlier gives no sign of life."),
    ("replica.falsely_ready", "", _STATE, _SUM, "1 while a replica counts as ready although its engine does not work."),
    ("replica.uptime", "seconds", _GAUGE, _MIN, "Time since the engine process started."),
    ("replica.restarted", "restarts", _RATE, _SUM, "Starts of the engine process anew."),
    ("memory.per_request", "bytes", _GAUGE, _MAX, "Host memory that a replica keeps for each request that has ended."),
    ("kv.context_ratio", "", _GAUGE, _MAX, "Longest request that is allowed as a share of what the KV cache can hold."),
    ("restart.gain", "", _GAUGE, _MAX, "Time per token before a restart as a multiple of that after it."),
]

_DERIVED_REPLICA_FLOWS: list[Row] = [
    ("queue.growth", "requests/s", _GAUGE, _SUM, "Requests by which those inside the engine become more each second."),
]

_DERIVED_SERVICE_FLOWS: list[Row] = [
    ("service.sent", "requests/s", _GAUGE, _SUM, "Requests sent to engines each second, every attempt by itself."),
    ("service.backlog_growth", "requests/s", _GAUGE, _SUM, "Requests sent to engines that do not end, each second."),
    ("service.requests_lost", "requests/s", _GAUGE, _SUM, "Those of them that are not inside an engine, either."),
    ("service.requests_vanished", "requests/s", _GAUGE, _SUM, "Those of the lost ones that nobody outside sees answered."),
]

_DERIVED_POD_ROWS: list[Row] = [
    ("pod.starting", "seconds", _GAUGE, _MAX, "Age of a pod that has never been ready yet."),
    ("backend.stale", "requests", _RATE, _SUM, "Requests sent to a replica that is gone, dead or not ready."),
]

_DERIVED_SERVICE_ROWS: list[Row] = [
    ("replicas.turns", "turns", _RATE, _SUM, "Times that the wanted number of replicas turned from rising to falling or back."),
    ("service.failures", "requests", _RATE, _SUM, "Requests that ended in a server error or a broken connection."),
    ("service.failures_at_endings", "requests", _RATE, _SUM, "Those of the failed requests that fall on the end of a replica."),
    ("service.ending", "", _STATE, _MAX, "1 while a replica has just ended or is about to."),
    ("requests.attempt_ratio", "", _GAUGE, _MAX, "Attempts per distinct request."),
    ("requests.failed_ratio", "ratio", _RATIO, _MAX, "Share of distinct requests that failed."),
    ("requests.timeout_ratio", "ratio", _RATIO, _MAX, "Share of attempts that timed out at the client."),
    ("service.arrivals", "requests/s", _GAUGE, _SUM, "Requests per second that reach the service, retries included."),
    ("service.demand", "requests/s", _GAUGE, _SUM, "Distinct requests per second, or arrivals where nobody counts those."),
    ("service.goodput", "requests/s", _GAUGE, _SUM, "Requests per second that were answered in full."),
    ("service.error_ratio", "ratio", _RATIO, _MAX, "Share of requests answered with a server error or not at all."),
    ("service.refused_ratio", "ratio", _RATIO, _MAX, "Share of requests refused as the client's fault (4xx without 429)."),
    ("service.abandoned_ratio", "ratio", _RATIO, _MAX, "Share of requests whose client hung up before the answer."),
    ("service.replicas_alive", "replicas", _GAUGE, _SUM, "Replicas whose engine gives signs of life."),
    ("service.load_per_replica", "requests/s", _GAUGE, _MEAN, "Arrivals per second and living replica."),
    ("service.pinned", "", _STATE, _MAX, "1 while as many requests are in flight as ever, and none waits at an engine."),
    (
        "service.held_back",
        "",
        _STATE,
        _MAX,
        "1 while engines run as many requests as ever, and more wait before them than in them.",
    ),
    ("version.slowdown", "", _GAUGE, _MAX, "Time per token on the newest version's replicas, as a multiple of the others'."),
    ("version.failures", "ratio", _RATIO, _MAX, "Share of requests that the newest version fails, beyond the others' share."),
    ("autoscaler.share", "", _GAUGE, _MAX, "Value that the autoscaler follows, where its metric is a ratio."),
    ("autoscaler.excess", "", _GAUGE, _MAX, "The ratio that the autoscaler follows, as a multiple of any replica's."),
    (
        "age.order",
        "ratio",
        _RATIO,
        _MAX,
        "Share of pairs of equal replicas, one clearly slower, of which it is the one up for longer.",
    ),
    ("gateway.fds_ratio", "ratio", _RATIO, _MAX, "Open descriptors of the gateway as a share of the limit."),
    ("gateway.retry_ratio", "ratio", _RATIO, _MAX, "Requests that the gateway sent again per request received."),
    ("gateway.engine_gap", "seconds", _GAUGE, _MAX, "Mean latency at the gateway (or at clients) minus that at the engine."),
    ("gateway.own_time", "seconds", _GAUGE, _MAX, "Mean latency at the gateway minus the time that it waits for engines."),
    ("gateway.amplification", "", _GAUGE, _MAX, "Requests sent to engines per request that the gateway received."),
    (
        "service.outside_share",
        "ratio",
        _RATIO,
        _MAX,
        "Share of the time at the gateway (or at clients) that is not the engine's.",
    ),
]

_DERIVED_GATEWAY_ROWS: list[Row] = [
    ("gateway.cert_ttl", "seconds", _GAUGE, _MIN, "Time until the first of the gateway's certificates ends; 0 once it has."),
]

_DERIVED_GPU_ROWS: list[Row] = [
    (
        "gpu.dram_busy",
        "ratio",
        _RATIO,
        _MEAN,
        "Share of cycles that the memory interface moved data, of those in which the card worked.",
    ),
    ("gpu.mem_ratio", "ratio", _RATIO, _MAX, "Card memory in use as a share of the whole."),
    ("gpu.power_ratio", "ratio", _GAUGE, _MAX, "Power drawn as a share of the limit."),
    ("gpu.mem_unowned", "ratio", _RATIO, _MAX, "Share of card memory in use while no engine on the card gives signs of life."),
    ("gpu.lost", "", _STATE, _SUM, "1 while a card that was there has no values and its neighbours have."),
    ("gpu.bandwidth_ratio", "ratio", _GAUGE, _MEAN, "Bytes per second by the engine's count as a share of the card's peak."),
    ("gpu.pcie_busy", "ratio", _RATIO, _MAX, "Traffic as a share of what the PCIe link can, in its busier direction."),
]

_DERIVED_NODE_ROWS: list[Row] = [
    ("node.lost", "", _STATE, _SUM, "1 while everything on a host that was heard earlier is silent and other hosts are heard."),
    ("node.disk_ratio", "ratio", _RATIO, _MIN, "Free disk as a share of the file system."),
    ("node.memory_ratio", "ratio", _RATIO, _MIN, "Available host memory as a share of the whole."),
    ("node.inodes_ratio", "ratio", _RATIO, _MIN, "Free inodes as a share of those of the file system."),
    ("node.volume_ratio", "ratio", _RATIO, _MIN, "Free room of the fullest claimed volume as a share of its size."),
    ("node.conntrack_ratio", "ratio", _RATIO, _MAX, "Entries of the connection-tracking table as a share of its size."),
    ("node.files_ratio", "ratio", _RATIO, _MAX, "File descriptors of the host as a share of their limit."),
    ("node.processes_ratio", "ratio", _RATIO, _MAX, "Processes and threads of the host as a share of their limit."),
    ("node.retransmit_ratio", "ratio", _RATIO, _MAX, "TCP segments sent again as a share of those sent."),
]


@cache
def catalogue() -> dict[str, Signal]:
    """All signals by name, in the order in which they are explained to people."""
    platform, engine, hardware = Layer.PLATFORM, Layer.ENGINE, Layer.HARDWARE
    rows = [
        *_signals(Scope.CLIENT, platform, _CLIENT_ROWS),
        *_signals(Scope.GATEWAY, platform, _GATEWAY_ROWS),
        *_signals(Scope.GATEWAY, platform, _DERIVED_GATEWAY_ROWS, derived=True),
        *_signals(Scope.REPLICA, platform, _BACKEND_ROWS),
        *_signals(Scope.SERVICE, platform, _SERVICE_ROWS),
        *_signals(Scope.SERVICE, platform, _DERIVED_SERVICE_ROWS, derived=True),
        *_signals(Scope.SERVICE, platform, _DERIVED_SERVICE_FLOWS, derived=True, low=-inf),
        *_signals(Scope.TARGET, platform, _TARGET_ROWS),
        *_signals(Scope.TARGET, platform, _PROMETHEUS_ROWS),
        *_signals(Scope.REPLICA, engine, _ENGINE_ROWS),
        *_signals(Scope.REPLICA, engine, _DERIVED_REPLICA_ROWS, derived=True),
        *_signals(Scope.REPLICA, engine, _DERIVED_REPLICA_FLOWS, derived=True, low=-inf),
        *_signals(Scope.REPLICA, platform, _POD_ROWS),
        *_signals(Scope.REPLICA, platform, _DERIVED_POD_ROWS, derived=True),
        *_signals(Scope.GPU, hardware, _GPU_ROWS),
        *_signals(Scope.GPU, hardware, _DERIVED_GPU_ROWS, derived=True),
        *_signals(Scope.NODE, hardware, _NODE_ROWS),
        *_signals(Scope.NODE, hardware, _NODE_BALANCES, low=-inf),
        *_signals(Scope.NODE, hardware, _DERIVED_NODE_ROWS, derived=True),
    ]
    return {signal.name: signal for signal in rows}


def signal(name: str) -> Signal:
    """The catalogue's entry of that name.

    :raises KeyError: no such signal
    """
    return catalogue()[name]
