"""Which shifts a person would ask about: large, lasting, for the worse, and resting on enough."""

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.observations.curves import moment
from triage.model.vocabulary import Signal


@dataclass(frozen=True, slots=True)
class Asked:
    """From where on people ask about signals.

    :param size: least size
    :param part: it lasts for at least this part of the window (and two moments; of failures one)
    :param samples: least support
    :param names: the signals
    """

    size: float
    part: float
    samples: int
    names: str


_ASKED: tuple[Asked, ...] = (
    # requests that fail are asked about however short it was; of their shares the ledger judges, which counts requests
    Asked(
        3.0,
        0.0,
        10,
        """service.failures requests.failed requests.timeouts gateway.5xx gateway.429 gateway.413 gateway.401 gateway.timeouts
        gateway.resets gateway.no_backend gateway.overflow gateway.connect_failures gateway.retries_exhausted
        gateway.wrong_model gateway.upstream_5xx gateway.4xx http.5xx http.4xx http.413 http.429 backend.failures
        finished.error finished.abort finished.repetition output.corrupted admission.rejected grammar.failures
        gateway.dependency_failures gateway.transport_errors""",
    ),
    # slow answers, and what makes them slow: for a time that is no passing burst
    Asked(
        2.0,
        0.3,
        6,
        """latency.ttft latency.itl latency.tpot gateway.itl latency.e2e latency.prefill latency.decode latency.queue token.time
        engine.time_per_step client.latency client.ttft client.itl gateway.latency gateway.ttft gateway.upstream_latency
        gateway.overhead gateway.headers gateway.own_time gateway.queue pd.transfer_time grammar.compile_time offload.load_speed
        engine.stalled replica.falsely_ready preemptions offload.failures offload.dropped pd.transfer_failures
        pd.notify_failures pd.expired spec.acceptance prefix.hit_ratio gateway.loop_stalls engine.ranks_failed
        gpu.pcie_gen gpu.pcie_width gpu.thermal_violation gpu.power_violation gpu.brake_violation gpu.throttle_thermal
        gpu.throttle_thermal_hw gpu.throttle_brake gpu.ecc_uncorrected gpu.nvlink_errors gpu.nvlink_down gpu.pcie_replays
        container.cpu_throttled node.listen_overflows node.disk_readonly""",
    ),
    # what follows demand must go far beyond it
    Asked(10.0, 0.3, 6, "queue.waiting queue.frontend gateway.pending"),
    Asked(4.0, 0.3, 6, "finished.length_ratio service.goodput control.loops"),
    # states that do not pass by themselves
    Asked(
        3.0,
        0.3,
        6,
        """rollout.stuck gpu.remap_pending gpu.remap_failure pod.waiting_crash pod.waiting_image autoscaler.active
        release.degraded""",
    ),
    # what stands still while all is well
    Asked(1.05, 0.3, 6, "quality.score quality.replica"),
    Asked(1.15, 0.3, 6, "gpu.sm_clock gpu.mem_clock"),
)
"""Fill levels and load of hosts follow demand; members that come and go are told as lives, broken sources as instruments."""

_BY_NAME = {name: asked for asked in _ASKED for name in asked.names.split()}

_EMPTY_WHEN_FRESH = frozenset({"prefix.hit_ratio"})
"""A fresh replica differs from its twins in these for a while."""


def must_be_explained(
    signal: Signal, against: str, direction: str, size: float, lasted: float, support: int, frame: Frame
) -> bool:
    """Whether a shift has to be explained.

    :param lasted: seconds of the window
    """
    asked = _BY_NAME.get(signal.name)
    if asked is None or direction != "worse" or against == "limit":
        return False
    if against == "twins" and signal.name in _EMPTY_WHEN_FRESH:
        return False
    grid = frame.grid
    moments = (2 if asked.part else 1) * moment(frame) * grid.step
    enough = max(moments, asked.part * (len(grid.times) - grid.first) * grid.step)
    return size >= asked.size and lasted >= enough and support >= asked.samples
