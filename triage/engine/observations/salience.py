"""Which shifts a person would ask about: large, lasting, for the worse, and resting on enough."""

from triage.engine.frame import Frame
from triage.engine.observations.curves import moment
from triage.model.vocabulary import Signal

_LARGE = 2.0
_LEAST_SAMPLES = 6
_PART_OF_WINDOW = 0.3
"""What was over again sooner than after this part of the window was a passing burst."""

_OF_ITSELF_NAMES = """
latency.ttft latency.itl latency.tpot gateway.itl latency.e2e latency.prefill latency.decode latency.queue token.time
engine.time_per_step client.latency client.ttft gateway.latency gateway.ttft gateway.upstream_latency gateway.overhead
gateway.own_time gateway.queue pd.transfer_time grammar.compile_time offload.load_speed service.failures service.error_ratio
service.refused_ratio service.abandoned_ratio service.requests_lost requests.failed requests.failed_ratio requests.timeouts
gateway.5xx gateway.429 gateway.401 gateway.timeouts gateway.resets gateway.no_backend gateway.overflow
gateway.connect_failures gateway.retries_exhausted gateway.wrong_model gateway.upstream_5xx http.5xx http.4xx gateway.4xx
backend.failures finished.error finished.abort engine.stalled replica.falsely_ready replica.lost preemptions
admission.rejected offload.failures pd.transfer_failures pd.notify_failures pd.expired output.corrupted finished.repetition
http.413 http.429 gateway.413 offload.dropped gateway.dependency_failures gateway.transport_errors gateway.loop_stalls
grammar.failures engine.ranks_failed node.listen_overflows node.disk_readonly gpu.brake_violation gpu.throttle_thermal_hw
gpu.nvlink_down quality.score quality.replica spec.acceptance prefix.hit_ratio gpu.sm_clock gpu.mem_clock gpu.pcie_gen
gpu.pcie_width gpu.thermal_violation gpu.power_violation gpu.throttle_thermal gpu.throttle_brake gpu.ecc_uncorrected
gpu.nvlink_errors gpu.pcie_replays container.cpu_throttled
"""
_OF_ITSELF = frozenset(_OF_ITSELF_NAMES.split())
"""Signals that nothing harmless moves far and for long. Queues, fill levels and load of hosts follow demand; members
that come and go are told as lives."""

_SMALL_COUNTS = {"quality.score": 1.05, "quality.replica": 1.05, "gpu.sm_clock": 1.15, "gpu.mem_clock": 1.15}
"""Of these a small part is much already."""


def must_be_explained(
    signal: Signal, against: str, direction: str, size: float, lasted: float, support: int, frame: Frame
) -> bool:
    """Whether a shift has to be explained.

    :param lasted: seconds of the window
    """
    if direction != "worse" or against == "limit" or signal.name not in _OF_ITSELF:
        return False
    if signal.name == "prefix.hit_ratio" and against == "twins":  # a fresh replica's cache is empty
        return False
    grid = frame.grid
    enough = max(2 * moment(frame) * grid.step, _PART_OF_WINDOW * (len(grid.times) - grid.first) * grid.step)
    return size >= _SMALL_COUNTS.get(signal.name, _LARGE) and lasted >= enough and support >= _LEAST_SAMPLES
