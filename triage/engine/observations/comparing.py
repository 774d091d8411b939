"""How each signal is compared: at which work, beyond which smallest difference, with which limit. Data, no logic."""

from triage.classes import dataclass
from triage.model.vocabulary import Kind, Signal

_LEAST_SIZE = 1.25
"""Ratios below this are what one moment differs from the next."""

_SIZES = {"quality.score": 1.05, "quality.replica": 1.05, "gpu.sm_clock": 1.1, "gpu.mem_clock": 1.1, "kv.capacity": 1.05}
"""Of these a small part is much: they stand still while all is well."""

BEYOND = 4.0
"""What is odd is at least so many times as far off as what it is held against scatters."""

SPENT = frozenset({"ratio", "seconds", "cores", "bytes", "joules", "ticks", "flop"})
"""Units of counters that count no single events."""

_UNCOMPARED_NAMES = """
pod.exit_code gpu.xid rollout.generation rollout.generation_observed replica.uptime age.order restart.gain version.slowdown
engine.sleeping gpu.sm_clock_max gpu.pcie_gen_max gpu.pcie_width_max gpu.mem_total node.memory_total node.disk_size
length.longest pod.scheduled exporter.exit_code service.ending autoscaler.value autoscaler.target autoscaler.share
pod.restarts_total engine.held_ratio batch.plateau service.pinned
service.held_back
"""
UNCOMPARED = frozenset(_UNCOMPARED_NAMES.split())
"""Names and marks that happen to be numbers, what never changes, and what is a comparison already."""


def is_compared(signal: Signal) -> bool:
    """Whether a signal is a quantity of which more or less can be odd."""
    return signal.unit != "timestamp" and signal.name not in UNCOMPARED


@dataclass(frozen=True, slots=True)
class While:
    """A signal tells something only while another one of the same subject is above a value.

    :param else_always: it tells something all the time where the other one is not measured; otherwise never
    """

    signal: str
    above: float
    else_always: bool = False


WHILE: dict[str, While] = {
    "gpu.sm_clock": While("gpu.util", 0.3),
    "gpu.mem_clock": While("gpu.util", 0.3),
    "gpu.pcie_gen": While("gpu.util", 0.3),
    "gpu.pcie_width": While("gpu.util", 0.3),
    "prefix.hit_ratio_reported": While("batch.running", 0.0),
    "prefix.hit_ratio": While("prefix.queries", 0.0, else_always=True),
    "token.time": While("batch.running", 0.0),
    "engine.time_per_step": While("batch.running", 0.0),
    "engine.step_time": While("batch.running", 0.0),
    "engine.bandwidth_ratio": While("batch.running", 0.0),
    "decode.floor_ratio": While("batch.running", 0.0),
    "spec.acceptance": While("spec.drafts", 0.0),
}
"""Cards lower their clocks and links while they rest; ratios of nothing are nothing."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a signal grows with, all else equal.

    :param exponent: the signal grows at most as the work to this power
    """

    signal: str
    exponent: float


_BATCH, _PROMPT, _ANSWER = Work("batch.running", 0.5), Work("length.prompt", 1.0), Work("length.generation", 1.0)

PER: dict[str, tuple[Work, ...]] = {
    "latency.itl": (_BATCH,),
    "latency.tpot": (_BATCH,),
    "gateway.itl": (_BATCH,),
    "token.time": (_BATCH,),
    "engine.time_per_step": (_BATCH,),
    "engine.step_time": (_BATCH,),
    "latency.ttft": (_PROMPT,),
    "client.ttft": (_PROMPT,),
    "gateway.ttft": (_PROMPT,),
    "latency.prefill": (_PROMPT,),
    "latency.decode": (_ANSWER, _BATCH),
    "latency.e2e": (_ANSWER,),
    "client.latency": (_ANSWER,),
    "gateway.latency": (_ANSWER,),
    "gateway.upstream_latency": (_ANSWER,),
}
"""A decode step reads the weights once whatever the batch, so its time grows more slowly than the batch; a prefill's grows with
its tokens, and an answer's with its own."""

_FLOORS: dict[str, float] = {
    "seconds": 0.005,
    "ratio": 0.02,
    "requests": 1.0,
    "bytes": 64e6,
    "bytes/s": 1e6,
    "tokens": 8.0,
    "hertz": 60e6,
    "watts": 20.0,
    "celsius": 5.0,
    "cores": 0.25,
    "descriptors": 64.0,
    "connections": 16.0,
    "replicas": 0.5,
    "backends": 0.5,
    "": 0.25,
}
"""By unit: differences below this are of no account, and values below it count as this much when one is divided by another."""

_FLOOR_OF: dict[str, float] = {
    "latency.ttft": 0.03,
    "client.ttft": 0.03,
    "gateway.ttft": 0.03,
    "latency.queue": 0.03,
    "latency.e2e": 0.2,
    "client.latency": 0.2,
    "gateway.latency": 0.2,
    "gateway.upstream_latency": 0.2,
    "latency.decode": 0.2,
    "latency.itl": 0.002,
    "latency.tpot": 0.002,
    "gateway.itl": 0.002,
    "token.time": 0.002,
    "gateway.engine_gap": 0.05,
    "target.scrape_duration": 0.1,
    "pod.starting": 60.0,
    "engine.startup_time": 30.0,
    "service.error_ratio": 0.01,
    "queue.growth": 0.1,
    "service.backlog_growth": 0.1,
    "service.requests_lost": 0.1,
    "service.requests_vanished": 0.1,
}
"""By signal, where its unit's floor is too coarse or too fine. Chosen: what a person or a proxy between does not notice."""

_RATE_FLOOR = 0.01
"""Of counters, per second: less than one in a minute and a half is told by the number of events, not by its rate."""

_RATE_FLOORS: dict[str, float] = {"tokens": 5.0, "bytes": 1e6, "ratio": 0.02, "cores": 0.25, "flop": 1e9, "joules": 20.0}
"""By unit of a counter, per second. Chosen: what background work does without any request."""


def floor_of(signal: Signal) -> float:
    """The smallest difference of a signal that counts, base units (of a counter per second)."""
    if signal.name in _FLOOR_OF:
        return _FLOOR_OF[signal.name]
    if signal.kind is Kind.RATE:
        return _RATE_FLOORS.get(signal.unit, _RATE_FLOOR)
    return _FLOORS.get(signal.unit, 0.5)


def least_size_of(signal: Signal) -> float:
    """The smallest ratio that counts as a shift of a signal."""
    return _SIZES.get(signal.name, _LEAST_SIZE)


@dataclass(frozen=True, slots=True)
class Limit:
    """How near a signal is to what it can be at most.

    :param part: the signal, and what the observation is about
    :param whole: signal of the same subject that is the limit; 1 if empty (the signal is a share already)
    :param near: the share from which it counts as at its limit
    :param below: it is odd if it stays *below* this share of what it can be, instead
    """

    part: str
    whole: str = ""
    near: float = 0.95
    below: bool = False


LIMITS: tuple[Limit, ...] = (
    Limit("kv.fill", near=0.93),
    Limit("batch.fill", near=0.95),
    Limit("container.memory_ratio", near=0.92),
    Limit("container.cpu", "container.cpu_limit", near=0.9),
    Limit("process.fds_ratio", near=0.8),
    Limit("gateway.fds_ratio", near=0.8),
    Limit("node.conntrack_ratio", near=0.9),
    Limit("node.files_ratio", near=0.8),
    Limit("node.processes_ratio", near=0.9),
    Limit("container.threads", "container.threads_max", near=0.9),
    Limit("gateway.connections", "gateway.connections_limit", near=0.95),
    Limit("target.scrape_duration", "target.scrape_timeout", near=0.9),
    Limit("node.inodes_ratio", near=0.05, below=True),
    Limit("node.volume_ratio", near=0.08, below=True),
    Limit("lora.running", "lora.slots", near=1.0),
    Limit("node.cpu_busy", near=0.93),
    Limit("node.disk_busy", near=0.93),
    Limit("gpu.pcie_busy", near=0.8),
    Limit("gpu.power", "gpu.power_limit", near=0.98),
    Limit("autoscaler.desired", "autoscaler.max", near=1.0),
    Limit("node.disk_ratio", near=0.08, below=True),
    Limit("node.memory_ratio", near=0.05, below=True),
    Limit("gpu.sm_clock", "gpu.sm_clock_max", near=0.7, below=True),
    Limit("gpu.pcie_gen", "gpu.pcie_gen_max", near=0.9, below=True),
    Limit("gpu.pcie_width", "gpu.pcie_width_max", near=0.9, below=True),
    Limit("replicas.ready", "replicas.desired", near=0.99, below=True),
    Limit("gateway.backends_healthy", "gateway.backends", near=0.99, below=True),
    Limit("node.gpu_allocatable", "node.gpu_capacity", near=0.99, below=True),
)
"""Most of these are where the owner of the resource begins to act: a kubelet evicts at 10 % of the disk, an engine preempts with
its last blocks; a card under load that runs below 70 % of its clock is held down."""
