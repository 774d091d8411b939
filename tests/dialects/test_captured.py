"""Expositions of other people's installations: what each says is read, in base units, and nothing that is off is a fault."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.naming import index_names
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.recording import Recording, Window
from triage.model.service import Service

PAYLOADS = Path(__file__).parent / "payloads_captured"
STEP = 15.0
SUFFIXES = ("", "_total", "_bucket", "_sum", "_count")
ENGINE = {"job": "vllm", "instance": "10.0.0.4:8000", "service": "llm-prod", "pod": "llm-prod-0"}
EXPORTER = {"job": "cadvisor", "instance": "gpu-node-1:9100"}
NEIGHBOUR = RawSeries(
    "vllm:kv_cache_usage_perc",
    {"job": "vllm", "instance": "testcontaineralias:8000", "service": "llm-prod"},
    np.array([0.0, STEP]),
    np.array([0.5, 0.5]),
)
"""An engine that is scraped at the name of its container."""


@cache
def reading(name: str) -> Recording:
    """What becomes of two scrapes of an exposition, in which running totals have grown from 0, beside an engine."""
    text = (PAYLOADS / f"{name}.txt").read_bytes()
    scraper = ENGINE if "vllm" in name else EXPORTER
    exposition = parse(text, STEP)
    series = [] if "vllm" in name else [NEIGHBOUR]
    for one in exposition.series:
        kinds = {exposition.types.get(one.name.removesuffix(end)) for end in SUFFIXES if one.name.endswith(end)}
        first = 0.0 if kinds & {"counter", "histogram", "summary"} else 1.0
        if len(one.values):
            values = one.values[-1] * np.array([first, 1.0])
            series.append(RawSeries(one.name, {**scraper, **one.labels}, np.array([0.0, STEP]), values))
    return translate(series, load_dialects(), Service(name="llm-prod"), Window(0.0, STEP, 0.0))


LAST: dict[str, dict[str, float]] = {
    "node-exporter-1.12-e2e": {
        "node.conntrack": 123,
        "node.conntrack_limit": 65536,
        "node.files_open": 1024,
        "node.files_max": 1631329,
        "node.listen_overflows": 0,
        "node.sockets": 229,
    },
    "nvsmi-h200-590-load": {
        "gpu.fabric_ready": 1,
        "gpu.recovery_action": 0,
        "gpu.healthy": 1,
        "gpu.processes": 3,
        "gpu.sram_exhausted": 0,
        "gpu.clocks_idle": 0,
        "exporter.collect_ok": 1,
        "exporter.exit_code": 0,
        "exporter.failures": 0,
    },
    "nvsmi-h200-mig-590-load": {"gpu.fabric_ready": 1, "exporter.collect_ok": 1},
    "cadvisor-0.60-testdata": {"container.memory_rss": 15, "container.memory_limit_hits": 5 / STEP},
    "keda-2.16-labels": {"autoscaler.paused": 1, "autoscaler.metric": 44},
    "ray-node-metrics-2.40": {
        "node.memory_total": 500e9,
        "node.memory_available": 10e9,
        "node.cpu_busy": 0.97,
        "gpu.mem_used": 79000 * 1048576,
        "node.workers_lost": 3 / STEP,
        "control.nodes_pending": 2,
        "control.nodes_failed": 1,
    },
    "production-stack-router-issue318": {"gateway.host_cpu": 0.99, "gateway.host_memory": 0.41, "gateway.host_disk": 0.12},
    "epp-gaie-1.0-plus-gke": {"gateway.pool_kv": 0.93, "gateway.pool_waiting": 44, "gateway.active": 70},
    "dcgm-4.5-mig-a30-mixed-issue736": {},
    "vllm-0.33-pd-mooncake": {
        "pd.transfer_failures": 15 / STEP,
        "pd.expired": 2 / STEP,
        "pd.late_notices": 0,
        "offload.dropped": 44 / STEP,
    },
    "vllm-lmcache": {
        "offload.queries": 900000 / STEP,
        "offload.hits": 20000 / STEP,
        "offload.failures": 16 / STEP,
        "offload.slow": 11 / STEP,
        "offload.used": 21e9,
        "offload.healthy": 1,
    },
    "vllm-v0-0.5-datadog": {"kv.usage": 0.62, "queue.waiting": 3},
    "ray-vllm-2.32-datadog": {},
    "vllm-0.10.2-dynamo-worker": {"batch.running": 5},
}  # fmt: skip
"""Last values by payload and signal: gauges in base units, running totals as what was counted a second."""

UNREAD: dict[str, set[str]] = {
    "cadvisor-0.60-testdata": {
        "container_cpu_cfs_burst_periods_total", "container_cpu_cfs_burst_seconds_total", "container_memory_events_high_total",
        "container_memory_workingset_refault_anon_total", "container_memory_workingset_refault_file_total",
        "container_pressure_cpu_stalled_seconds_total", "container_pressure_io_stalled_seconds_total",
        "container_pressure_memory_stalled_seconds_total", "container_spec_cpu_period", "container_spec_cpu_shares",
    },
    "epp-gaie-1.0-plus-gke": {
        "inference_extension_prefix_indexer_hit_ratio", "inference_model_normalized_time_per_output_token_seconds",
    },
    "node-exporter-1.12-e2e": {"node_pressure_irq_stalled_seconds_total"},
    "nvsmi-h200-590-load": {
        "nvidia_smi_clocks_current_graphics_clock_hz", "nvidia_smi_clocks_current_video_clock_hz",
        "nvidia_smi_clocks_event_reasons_counters_sync_boost_seconds", "nvidia_smi_clocks_event_reasons_supported",
        "nvidia_smi_compute_apps_last_collect_success", "nvidia_smi_pcie_link_gen_gpucurrent", "nvidia_smi_pcie_link_gen_gpumax",
        "nvidia_smi_utilization_decoder_ratio", "nvidia_smi_utilization_encoder_ratio", "nvidia_smi_utilization_jpeg_ratio",
        "nvidia_smi_utilization_ofa_ratio",
    },
    "nvsmi-h200-mig-590-load": {"nvidia_smi_mig_mode_pending"},
    "production-stack-router-issue318": {
        "vllm:avg_decoding_length", "vllm:avg_itl", "vllm:avg_latency", "vllm:current_qps", "vllm:num_decoding_requests",
        "vllm:num_prefill_requests",
    },
    "ray-node-metrics-2.40": {
        "ray_actors", "ray_node_cpu_count", "ray_node_disk_utilization_percentage", "ray_node_mem_used",
        "ray_serve_num_scheduling_tasks_in_backoff", "ray_tasks",
    },
    "ray-vllm-2.32-datadog": {
        "ray_vllm:avg_generation_throughput_toks_per_s", "ray_vllm:avg_prompt_throughput_toks_per_s",
        "ray_vllm:cpu_cache_usage_perc", "ray_vllm:cpu_prefix_cache_hit_rate",
    },
    "vllm-0.10.2-dynamo-worker": {"dynamo_component_request_bytes_total", "dynamo_component_uptime_seconds"},
    "vllm-lmcache": {
        "lmcache:num_lookup_requests_total", "lmcache:num_store_requests_total", "lmcache:num_stored_tokens_total",
        "lmcache:remote_ping_latency", "lmcache:retrieve_speed",
    },
    "vllm-v0-0.5-datadog": {
        "vllm:avg_generation_throughput_toks_per_s", "vllm:avg_prompt_throughput_toks_per_s", "vllm:cpu_cache_usage_perc",
        "vllm:cpu_prefix_cache_hit_rate",
    },
}  # fmt: skip
"""Families that nobody reads: parts, means over a life, other units of what is read."""


def test_every_payload_has_its_expectations() -> None:
    """A captured exposition without expectations would prove nothing."""
    assert {path.stem for path in PAYLOADS.glob("*.txt")} == set(LAST)


@pytest.mark.parametrize("name", LAST)
def test_payload_is_read_in_base_units_without_a_fault(name: str) -> None:
    """Each signal is there, and no value is out of range: -1 and NaN are no readings."""
    found = reading(name)
    assert (found.problems, dict(found.rejected)) == ((), {})
    last = {
        one.signal: float(one.values[-1])
        for one in found.series
        if one.subject.id != "testcontaineralias:8000" or "container" in one.signal
    }
    assert {signal: last.get(signal) for signal in LAST[name]} == pytest.approx(LAST[name])


@pytest.mark.parametrize("name", LAST)
def test_payload_is_read_but_for_known_families(name: str) -> None:
    """A name that ought to be read and is misspelt in a dialect turns up here."""
    index = index_names(load_dialects())
    families = parse((PAYLOADS / f"{name}.txt").read_bytes(), STEP).types
    unread = {family for family in families if not any(family + end in index for end in SUFFIXES)}
    assert unread == UNREAD.get(name, set())


def test_prefix_caching_that_is_off_is_no_ratio() -> None:
    """V0 prints -1 while prefix caching is off, under Ray as well."""
    for name in ("vllm-v0-0.5-datadog", "ray-vllm-2.32-datadog"):
        assert "prefix.hit_ratio_reported" not in reading(name).by_signal


def test_a_card_with_instances_is_told_from_one_without() -> None:
    """With MIG each instance is a card of its own, and the whole has no utilisation."""
    busy = {one.subject.id for one in reading("dcgm-4.5-mig-a30-mixed-issue736").by_signal["gpu.util"]}
    assert busy == {"GPU-00000001-aaaa-bbbb-cccc-dddddddddddd"}


def test_loads_from_a_tier_are_distributions() -> None:
    """LMCache's calls and vLLM's promotions are times of one load."""
    means = {}
    for name in ("vllm-lmcache", "vllm-0.33-pd-mooncake"):
        (loads,) = [one for one in reading(name).histograms if one.signal == "offload.load_time"]
        means[name] = float(loads.sums[-1] / loads.rates[-1].sum())
    assert means == pytest.approx({"vllm-lmcache": 190 / 400, "vllm-0.33-pd-mooncake": 0.9})
