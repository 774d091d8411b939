"""Writes a synthetic fleet: replicas of eight cards, each on its own node, behind one gateway; healthy or with one guilty part.

    python bench/fleet.py 100 --fault card /tmp/fleet.parquet     as `triage record` writes it: all at the same moments
    python bench/fleet.py 3 --form folder /tmp/fleet              an incident folder: each target at its own moments

Names, labels and buckets are those of vLLM 0.32, dcgm-exporter 4.5, node exporter 1.12, kube-state-metrics 2.16 and Envoy 1.31.
The same arguments give the same numbers. A folder is written as it is made; a Parquet recording is held whole before that.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from triage.ingest.files.parquet import write_recording
from triage.ingest.language import load_language
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.recording import Floats, Recording, Source, SourceState, Subject, Window, merged
from triage.model.service import Service
from triage.model.vocabulary import Scope

SERVICE = "llm-prod"
END = 1_790_360_000.0
HOUR = 3600.0
CARDS = 8
OBJECTIVES = {"ttft_p95_s": 3.0, "itl_p95_s": 0.1, "error_ratio": 0.01}
FAULTS = ("healthy", "replica", "card", "node")
BEGINS = 1500.0
"""Seconds before the window's end at which the guilty part fails."""

_TTFT = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1.0,
    2.5,
    5.0,
    7.5,
    10.0,
    20.0,
    40.0,
    80.0,
    160.0,
    640.0,
    2560.0,
)
_ITL = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
_LONG = (
    0.3,
    0.5,
    0.8,
    1.0,
    1.5,
    2.0,
    2.5,
    5.0,
    10.0,
    15.0,
    20.0,
    30.0,
    40.0,
    50.0,
    60.0,
    120.0,
    240.0,
    480.0,
    960.0,
    1920.0,
    7680.0,
)
_ENVOY_MS = (0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 600000, 1800000, 3600000)

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Fleet:
    """What to write.

    :param fault: of :data:`FAULTS`; the guilty part is the middle replica, its third card or its node
    :param step: seconds between two scrapes
    :param window: seconds that are judged, and as many before them
    :param aligned: all targets are read at the same moments, as a range query gives them
    """

    replicas: int
    fault: str = "healthy"
    step: float = 30.0
    window: float = HOUR
    aligned: bool = True

    @property
    def guilty(self) -> int:
        """Number of the replica that has to do with the fault."""
        return self.replicas // 2

    @property
    def expected(self) -> tuple[str, Subject] | None:
        """The kind and the subject that a diagnosis must name; None of a healthy fleet."""
        replica, node = Subject(Scope.REPLICA, _pod(self.guilty)), Subject(Scope.NODE, _node(self.guilty))
        return {
            "replica": ("kv-exhaustion-preemption", replica),
            "card": ("thermal-throttle", Subject(Scope.GPU, _uuid(self.guilty, 2))),
            "node": ("disk-pressure-eviction", node),
        }.get(self.fault)

    def span(self) -> Window:
        """The window with its baseline."""
        return Window(END - self.window, END, END - 2 * self.window)


def _pod(number: int) -> str:
    return f"{SERVICE}-cb4bcf49d7-{number:05x}"


def _node(number: int) -> str:
    return f"gpu-node-{number:04d}"


def _uuid(number: int, card: int) -> str:
    return f"GPU-{number:08x}-8866-ceb1-101b-{card:012x}"


class _Target:
    """Whatever one scrape of a target reads: makes its series, all at the same moments.

    :param offset: seconds by which its moments differ from those of others
    """

    def __init__(self, fleet: Fleet, offset: float, labels: Labels, seed: Sequence[int]) -> None:
        count = round(2 * fleet.window / fleet.step)
        self.times = END - fleet.step * np.arange(count, -1.0, -1.0) - (0.0 if fleet.aligned else round(offset % fleet.step, 3))
        self.bad = self.times >= END - BEGINS
        self.chance = np.random.default_rng(seed)
        self.step = fleet.step
        self.labels = dict(labels)
        self.made = [RawSeries("up", self.labels, self.times, np.ones(len(self.times)))]

    def gauge(self, name: str, values: Floats | float, labels: Labels | None = None) -> None:
        """Keeps a gauge, rounded as exporters round."""
        cells = np.broadcast_to(np.asarray(values, dtype=float), self.times.shape).round(4)
        self.made.append(RawSeries(name, {**self.labels, **(labels or {})}, self.times, cells))

    def counter(self, name: str, increments: Floats, labels: Labels | None = None, begin: float = 1e6) -> None:
        """Keeps the running total of what was counted between two scrapes."""
        self.made.append(RawSeries(name, {**self.labels, **(labels or {})}, self.times, (begin + np.cumsum(increments)).round(3)))

    def histogram(self, name: str, bounds: Sequence[float], counts: Floats, middle: Floats, spread: float = 0.5) -> None:
        """Keeps a histogram of values that scatter log-normally around a middle.

        :param counts: observations between two scrapes, shape (T,)
        :param middle: their median, shape (T,)
        """
        with np.errstate(divide="ignore"):
            above = (np.log(np.asarray(bounds))[None, :] - np.log(middle)[:, None]) / spread
        within = np.cumsum(np.rint(counts[:, None] / (1.0 + np.exp(-1.702 * above))), axis=0)  # the logistic form of the normal
        for bound, total in zip(bounds, within.T, strict=True):
            self.made.append(RawSeries(f"{name}_bucket", {**self.labels, "le": f"{bound:g}"}, self.times, total))
        total = np.cumsum(counts)
        self.made.append(RawSeries(f"{name}_bucket", {**self.labels, "le": "+Inf"}, self.times, total))
        self.made.append(RawSeries(f"{name}_count", self.labels, self.times, total))
        mean = middle * np.exp(spread**2 / 2)
        self.made.append(RawSeries(f"{name}_sum", self.labels, self.times, np.cumsum(counts * mean).round(4)))

    def noise(self, middle: Floats | float, scatter: float) -> Floats:
        """Values around a middle, never below zero."""
        return np.asarray(np.abs(np.asarray(middle) + self.chance.normal(0.0, scatter, len(self.times))))

    def steady(self, a_second: Floats | float) -> Floats:
        """What a Poisson process counts between two scrapes."""
        rate = np.broadcast_to(np.asarray(a_second, dtype=float) * self.step, self.times.shape)
        return self.chance.poisson(rate).astype(float)


def _engine(fleet: Fleet, number: int) -> list[RawSeries]:
    """One replica's engine, vLLM."""
    labels = {"instance": f"10.66.{number // 250}.{number % 250}:8000", "job": "vllm", "pod": _pod(number), "service": SERVICE}
    target = _Target(fleet, 1.7 * number, labels, (1, number))
    guilty = number == fleet.guilty
    full = target.bad & (guilty and fleet.fault == "replica")
    slow = target.bad & (guilty and fleet.fault == "card")
    target.labels |= {"engine": "0", "model_name": "llama-3.3-70b-instruct-fp8"}
    pace = np.where(full, 0.075, np.where(slow, 0.052, 0.03)) * target.noise(1.0, 0.02)
    asked = target.steady(2.0)
    ended = np.rint(asked * np.where(full, 0.7, 1.0))
    made = np.rint(ended * 250)
    running = target.noise(np.where(full, 96.0, np.where(slow, 26.0, 15.0)), 2.0).round()
    wait = np.where(full, 8.0, 0.004) * target.noise(1.0, 0.1)
    target.gauge("vllm:num_requests_running", running)
    target.gauge("vllm:num_requests_waiting", np.where(full, target.noise(30.0, 3.0).round(), 0.0))
    target.gauge(
        "vllm:kv_cache_usage_perc", np.where(full, 0.99 + 0.008 * target.chance.random(len(full)), 0.014 * running + 0.05)
    )
    target.counter("vllm:num_preemptions_total", np.where(full, target.steady(0.8), 0.0), begin=0.0)
    target.counter("vllm:prompt_tokens_total", np.rint(asked * 1400))
    target.counter("vllm:generation_tokens_total", made)
    target.counter("vllm:prefix_cache_queries_total", np.rint(asked * 1400))
    target.counter("vllm:prefix_cache_hits_total", np.rint(asked * 590))
    target.counter("vllm:iteration_tokens_total_count", np.rint(target.step / pace))
    target.counter("vllm:iteration_tokens_total_sum", made + np.rint(asked * 810))
    for reason, share in (("stop", 0.9), ("length", 0.1), ("abort", 0.0), ("error", 0.0)):
        target.counter("vllm:request_success_total", np.rint(ended * share), {"finished_reason": reason}, begin=1000.0)
    for reason in ("capacity", "deferred"):
        waiting = np.where(full & (reason == "capacity"), 30.0, 0.0)
        target.gauge("vllm:num_requests_waiting_by_reason", waiting, {"reason": reason})
    target.histogram("vllm:time_to_first_token_seconds", _TTFT, asked, 0.25 * target.noise(1.0, 0.05) + wait)
    target.histogram("vllm:inter_token_latency_seconds", _ITL, made, pace, 0.3)
    target.histogram("vllm:e2e_request_latency_seconds", _LONG, ended, 250 * pace + wait, 0.7)
    target.histogram("vllm:request_queue_time_seconds", _LONG, asked, wait, 0.4)
    for part, mean in (("prefill", 0.2), ("decode", 250 * pace)):
        target.counter(f"vllm:request_{part}_time_seconds_sum", ended * mean)
        target.counter(f"vllm:request_{part}_time_seconds_count", ended)
    for part, length in (("prompt", 1400.0), ("generation", 250.0)):
        target.counter(f"vllm:request_{part}_tokens_sum", ended * length)
        target.counter(f"vllm:request_{part}_tokens_count", ended)
    target.gauge("vllm:cache_config_info", 1.0, {"block_size": "16", "num_gpu_blocks": "14580", "enable_prefix_caching": "True"})
    target.labels = dict(labels)
    target.counter("http_requests_total", ended, {"handler": "/v1/chat/completions", "method": "POST", "status": "2xx"})
    target.counter("process_cpu_seconds_total", target.noise(0.45, 0.03) * target.step)
    target.gauge("process_resident_memory_bytes", target.noise(2.01e9, 1e6))
    target.gauge("process_open_fds", target.noise(119.0, 2.0).round())
    target.gauge("process_max_fds", 65535.0)
    target.gauge("process_start_time_seconds", END - 9.4e4 - number)
    return target.made


def _cards(fleet: Fleet, number: int) -> list[RawSeries]:
    """dcgm-exporter on the node of one replica: all its cards in one target."""
    labels = {"instance": f"10.65.{number // 250}.{number % 250}:9400", "job": "dcgm-exporter", "Hostname": _node(number)}
    target = _Target(fleet, 2.3 * number + 4.0, labels, (2, number))
    for card in range(CARDS):
        hot = target.bad & (number == fleet.guilty and card == 2 and fleet.fault == "card")
        waits = target.bad & (number == fleet.guilty and card != 2 and fleet.fault == "card")
        own = {
            "DCGM_FI_DRIVER_VERSION": "580.95.05", "UUID": _uuid(number, card), "container": "engine", "device": f"nvidia{card}",
            "gpu": str(card), "modelName": "NVIDIA H100 80GB HBM3", "namespace": "llm", "pod": _pod(number),
            "pci_bus_id": f"00000000:{0x1B + 0x10 * card:02X}:00.0",
        }  # fmt: skip
        busy = target.noise(np.where(waits, 0.5, 0.82), 0.03).clip(0.0, 1.0)
        target.gauge("DCGM_FI_DEV_GPU_UTIL", (100 * busy).round(), own)
        target.gauge("DCGM_FI_DEV_MEM_COPY_UTIL", (55 * busy).round(), own)
        target.gauge("DCGM_FI_PROF_GR_ENGINE_ACTIVE", busy, own)
        target.gauge("DCGM_FI_PROF_SM_ACTIVE", 0.8 * busy, own)
        target.gauge("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 0.3 * busy, own)
        target.gauge("DCGM_FI_PROF_DRAM_ACTIVE", 0.62 * busy, own)
        target.gauge("DCGM_FI_DEV_FB_USED", 74_200.0, own)
        target.gauge("DCGM_FI_DEV_FB_FREE", 7_359.0, own)
        target.gauge("DCGM_FI_DEV_GPU_TEMP", target.noise(np.where(hot, 88.0, 62.0), 1.0).round(), own)
        target.gauge("DCGM_FI_DEV_MEMORY_TEMP", target.noise(np.where(hot, 94.0, 70.0), 1.0).round(), own)
        target.gauge("DCGM_FI_DEV_POWER_USAGE", target.noise(np.where(hot, 330.0, 300.0 + 180.0 * busy), 4.0), own)
        target.gauge("DCGM_FI_DEV_POWER_MGMT_LIMIT", 700.0, own)
        target.gauge("DCGM_FI_DEV_SM_CLOCK", np.where(hot, 1095.0 + 15 * target.chance.integers(-3, 3, len(hot)), 1980.0), own)
        target.gauge("DCGM_FI_DEV_MEM_CLOCK", 2619.0, own)
        target.gauge("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", np.where(hot, 0x40, 0.0), own)
        target.counter("DCGM_FI_DEV_THERMAL_VIOLATION", np.where(hot, 0.6e9 * target.step, 0.0), own, begin=0.0)
        target.counter("DCGM_FI_DEV_POWER_VIOLATION", np.zeros(len(hot)), own, begin=0.0)
        for name in ("XID_ERRORS", "ECC_DBE_VOL_TOTAL", "ECC_SBE_VOL_TOTAL", "ROW_REMAP_PENDING", "ROW_REMAP_FAILURE"):
            target.gauge(f"DCGM_FI_DEV_{name}", 0.0, own)
        target.counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", np.zeros(len(hot)), own, begin=0.0)
        target.counter("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", target.noise(440.0, 4.0) * target.step * 1000, own, begin=1e12)
    return target.made


def _host(fleet: Fleet, number: int) -> list[RawSeries]:
    """Node exporter of one node."""
    labels = {"instance": f"10.65.{number // 250}.{number % 250}:9100", "job": "node-exporter", "node": _node(number)}
    target = _Target(fleet, 3.1 * number + 9.0, labels, (3, number))
    fills = target.bad & (number == fleet.guilty and fleet.fault == "node")
    disk, link = {"device": "nvme0n1"}, {"device": "eth0"}
    root = {"device": "/dev/nvme0n1p2", "fstype": "ext4", "mountpoint": "/"}
    for mode, share in (("user", 9.0), ("system", 2.0), ("iowait", 0.1), ("idle", 84.9)):
        target.counter("node_cpu_seconds_total", target.noise(share, 0.02) * target.step, {"cpu": "0", "mode": mode})
    target.gauge("node_load1", target.noise(9.0, 0.5))
    target.gauge("node_memory_MemAvailable_bytes", target.noise(1.0e12, 1e8))
    target.gauge("node_memory_MemTotal_bytes", 1.0995e12)
    target.gauge("node_filesystem_avail_bytes", target.noise(np.where(fills, 3e9, 1.05e12), 1e7), root)
    target.gauge("node_filesystem_size_bytes", 1.75e12, root)
    target.gauge("node_filefd_allocated", target.noise(5005.0, 30.0).round())
    target.gauge("node_filefd_maximum", 9.2e6)
    target.gauge("node_nf_conntrack_entries", target.noise(2100.0, 50.0).round())
    target.gauge("node_nf_conntrack_entries_limit", 262144.0)
    target.gauge("node_netstat_Tcp_CurrEstab", target.noise(215.0, 5.0).round())
    target.gauge("node_sockstat_TCP_tw", target.noise(67.0, 5.0).round())
    target.gauge("node_boot_time_seconds", END - 4e5 - number)
    target.gauge("node_time_seconds", target.times + 0.03)
    for name, a_second, where in (
        ("node_pressure_cpu_waiting_seconds_total", 0.01, {}), ("node_pressure_memory_waiting_seconds_total", 0.0, {}),
        ("node_pressure_io_waiting_seconds_total", 0.01, {}), ("node_disk_io_time_seconds_total", 0.02, disk),
        ("node_disk_read_bytes_total", 2e5, disk), ("node_disk_written_bytes_total", 3e6, disk),
        ("node_network_receive_bytes_total", 4e6, link), ("node_network_transmit_bytes_total", 1.4e7, link),
        ("node_network_receive_errs_total", 0.0, link), ("node_network_receive_drop_total", 0.0, link),
        ("node_network_carrier_changes_total", 0.0, link), ("node_netstat_Tcp_RetransSegs", 0.4, {}),
        ("node_netstat_Tcp_OutSegs", 9000.0, {}), ("node_vmstat_oom_kill", 0.0, {}), ("node_vmstat_pswpin", 0.0, {}),
        ("node_vmstat_pswpout", 0.0, {}),
    ):  # fmt: skip
        target.counter(name, target.noise(a_second, 0.05 * a_second) * target.step, where)
    return target.made


def _cluster(fleet: Fleet, number: int) -> list[RawSeries]:
    """What kube-state-metrics says of one pod and its node."""
    target = _Target(fleet, 7.0, {"instance": "10.66.3.17:8080", "job": "kube-state-metrics"}, (4, number))
    target.made.clear()  # up is the exporter's, said once
    fills = target.bad & (number == fleet.guilty and fleet.fault == "node")
    uid = f"1fc0d437ce02970{number:09x}"
    pod = {"namespace": "llm", "pod": _pod(number), "uid": uid}
    node = {"node": _node(number)}
    owner = {"created_by_kind": "ReplicaSet", "created_by_name": f"{SERVICE}-cb4bcf49d7"}
    place = {"host_ip": f"10.65.{number // 250}.{number % 250}", "pod_ip": f"10.66.{number // 250}.{number % 250}"}
    image = "registry.internal/mirror/vllm/vllm-openai"
    digest = f"{image}@sha256:37a1459eae4844d2f9f070ee23e93eee0813bf01174bc2f2bef1f29d51482e81"
    target.gauge("kube_pod_info", 1.0, {**pod, **node, **owner, **place})
    target.gauge("kube_pod_container_info", 1.0, {**pod, "container": "engine", "image": f"{image}:v0.32.0", "image_id": digest})
    target.gauge("kube_pod_created", END - 9.5e4 - number, pod)
    target.gauge("kube_pod_status_ready", 1.0, {**pod, "condition": "true"})
    target.gauge("kube_pod_status_phase", 0.0, {**pod, "phase": "Pending"})
    target.gauge("kube_pod_status_phase", 0.0, {**pod, "phase": "Failed"})
    target.counter("kube_pod_container_status_restarts_total", np.zeros(len(fills)), {**pod, "container": "engine"}, begin=0.0)
    cards = {"resource": "nvidia_com_gpu", "unit": "integer"}
    target.gauge("kube_pod_container_resource_requests", float(CARDS), {**pod, "container": "engine", **cards})
    target.gauge("kube_node_status_allocatable", float(CARDS), {**node, **cards})
    target.gauge("kube_node_status_capacity", float(CARDS), {**node, **cards})
    target.gauge("kube_node_spec_unschedulable", 0.0, node)
    target.gauge("kube_node_status_condition", 1.0, {**node, "condition": "Ready", "status": "true"})
    for name, bad in (("DiskPressure", fills), ("MemoryPressure", False & fills), ("PIDPressure", False & fills)):
        target.gauge("kube_node_status_condition", bad.astype(float), {**node, "condition": name, "status": "true"})
    return target.made


def _front(fleet: Fleet) -> list[RawSeries]:
    """Envoy before all replicas, and what the cluster says of the deployment."""
    labels = {
        "instance": "10.66.7.209:19001",
        "job": "envoy-gateway",
        "namespace": "ingress",
        "pod": "llm-gateway-7c9d5b8f6-x8q2m",
    }
    target = _Target(fleet, 5.0, {**labels, "service": SERVICE}, (5,))
    count = float(fleet.replicas)
    cluster, listener = {"envoy_cluster_name": SERVICE}, {"envoy_http_conn_manager_prefix": "http-10080"}
    asked = target.steady(2.0 * count)
    target.counter("envoy_http_downstream_rq_total", asked, listener)
    target.counter("envoy_cluster_upstream_rq_total", asked, cluster)
    for digit in "245":
        done = asked if digit == "2" else np.zeros(len(asked))
        target.counter("envoy_http_downstream_rq_xx", done, {**listener, "envoy_response_code_class": digit})
        target.counter("envoy_cluster_upstream_rq_xx", done, {**cluster, "envoy_response_code_class": digit})
    for name in ("retry", "retry_overflow", "timeout", "pending_overflow"):
        target.counter(f"envoy_cluster_upstream_rq_{name}", np.zeros(len(asked)), cluster, begin=0.0)
    for name in ("connect_fail", "destroy_remote_with_active_rq"):
        target.counter(f"envoy_cluster_upstream_cx_{name}", np.zeros(len(asked)), cluster, begin=0.0)
    target.gauge("envoy_http_downstream_rq_active", target.noise(15 * count, 2.0).round(), listener)
    target.gauge("envoy_cluster_upstream_cx_active", target.noise(15 * count, 2.0).round(), cluster)
    target.gauge("envoy_cluster_upstream_rq_pending_active", 0.0, cluster)
    target.gauge("envoy_cluster_membership_total", count, cluster)
    target.gauge("envoy_cluster_membership_healthy", count, cluster)
    target.labels |= cluster
    target.histogram("envoy_cluster_upstream_rq_time", _ENVOY_MS, asked, 7600.0 * target.noise(1.0, 0.02), 0.7)
    state = _Target(fleet, 7.0, {"instance": "10.66.3.17:8080", "job": "kube-state-metrics"}, (6,))
    deployment = {"deployment": SERVICE, "namespace": "llm"}
    for name, value in (
        ("spec_replicas", count), ("status_replicas_ready", count), ("status_replicas_updated", count),
        ("status_replicas_unavailable", 0.0), ("metadata_generation", 5.0), ("status_observed_generation", 5.0),
    ):  # fmt: skip
        state.gauge(f"kube_deployment_{name}", value, deployment)
    return [*target.made, *state.made]


def replica(fleet: Fleet, number: int) -> list[RawSeries]:
    """All that is said of one replica, its cards and its node."""
    return [*_engine(fleet, number), *_cards(fleet, number), *_host(fleet, number), *_cluster(fleet, number)]


def parts(fleet: Fleet) -> Iterator[list[RawSeries]]:
    """All series, the gateway's first and then replica by replica."""
    yield _front(fleet)
    for number in range(fleet.replicas):
        yield replica(fleet, number)


def recording_of(fleet: Fleet) -> Recording:
    """The recording of a fleet, each replica translated by itself: what one says never changes what another means."""
    language, window = load_language(), fleet.span()
    service = Service(name=SERVICE, objectives=OBJECTIVES)
    told = Recording(SERVICE, window, objectives=OBJECTIVES, sources=(Source("metrics", SourceState.OK),), step=fleet.step)
    read = (translate(part, language.dialects, service, window, language.signatures) for part in parts(fleet))
    return merged(chain((told,), (_without_problems(one) for one in read)))


def _without_problems(part: Recording) -> Recording:
    """A part as a part: that a replica's cards say nothing of the gateway is no problem of the whole."""
    return Recording(**{**{name: getattr(part, name) for name in part.__dataclass_fields__}, "problems": (), "strangers": ()})


def write_folder(fleet: Fleet, folder: Path) -> None:
    """An incident folder with an exposition in OpenMetrics."""
    folder.mkdir(parents=True, exist_ok=True)
    window = fleet.span()
    objectives = "\n".join(f"{name} = {value}" for name, value in OBJECTIVES.items())
    case = f'service = "{SERVICE}"\nfrom = {window.start}\nto = {window.end}\n\n[objectives]\n{objectives}\n'
    (folder / "case.toml").write_text(case)
    with (folder / "metrics.om").open("w") as file:
        for part in parts(fleet):
            for one in part:
                labels = ",".join(f'{name}="{value}"' for name, value in sorted(one.labels.items()))
                lines = zip(one.values.tolist(), one.times.tolist(), strict=True)
                file.writelines(f"{one.name}{{{labels}}} {value!r} {time:.3f}\n" for value, time in lines)
        file.write("# EOF\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes a synthetic fleet.")
    parser.add_argument("replicas", type=int)
    parser.add_argument("target", type=Path)
    parser.add_argument("--fault", choices=FAULTS, default="healthy")
    parser.add_argument("--form", choices=("parquet", "folder"), default="parquet")
    parser.add_argument("--step", type=float, default=30.0, help="seconds between two scrapes")
    parser.add_argument("--window", type=float, default=HOUR, help="seconds to judge, and as many before them")
    given = parser.parse_args()
    fleet = Fleet(given.replicas, given.fault, given.step, given.window, aligned=given.form == "parquet")
    if given.form == "folder":
        write_folder(fleet, given.target)
    else:
        write_recording(recording_of(fleet), given.target)


if __name__ == "__main__":
    main()
