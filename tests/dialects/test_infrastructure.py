"""What gateways, cards, hosts, the cluster and clients say, translated; and the pitfalls of each source."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import re2

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.model.dialect import Dialect
from triage.model.recording import Histogram, Recording, Series, Window
from triage.model.service import Service
from triage.model.vocabulary import Kind, Scope, catalogue

PAYLOADS = Path(__file__).parent / "payloads_infra"

OURS = (
    "aibrix", "amd_gpu", "argo_rollouts", "cadvisor", "dcgm", "envoy", "envoy_ai_gateway", "gaie", "istio", "keda",
    "kube_state_metrics", "kubelet", "litellm", "nginx_ingress", "node_exporter", "nvidia_gpu_exporter", "otel_genai",
    "otel_http_client", "production_stack_router", "prometheus", "sglang_router", "vllm_router",
)  # fmt: skip

GENERIC = ("process_",)
CONTAINERS = "container_"
"""Names that cAdvisor has with Kubernetes and with Docker: labels tell which of the two."""
SHARED = {
    "vllm:num_requests_running": {"vllm", "production_stack_router"},
    "gen_ai_server_time_per_output_token_seconds": {"otel_genai", "envoy_ai_gateway"},
    "gen_ai_server_request_duration_seconds": {"otel_genai", "envoy_ai_gateway"},
    "gen_ai_server_request_duration_seconds_count": {"otel_genai", "envoy_ai_gateway"},
    "gen_ai_server_time_to_first_token_seconds": {"otel_genai", "envoy_ai_gateway"},
}
"""Names that two sources use; a label or the target tells whose a series is."""

MIB = 1048576.0


@dataclass(frozen=True)
class Reading:
    """What a payload became."""

    recording: Recording

    def series(self, signal: str, subject: str) -> Series:
        """The series of a signal and a subject's id."""
        found = [one for one in self.recording.series if (one.signal, one.subject.id) == (signal, subject)]
        assert found, f"no {signal} of {subject} among {sorted({(s.signal, s.subject.id) for s in self.recording.series})}"
        return found[0]

    def last(self, signal: str, subject: str) -> float:
        """The last value of a signal, in base units."""
        return float(self.series(signal, subject).values[-1])

    def histogram(self, signal: str, subject: str) -> Histogram:
        """The distribution of a signal and a subject's id."""
        return next(one for one in self.recording.histograms if (one.signal, one.subject.id) == (signal, subject))

    def mean(self, signal: str, subject: str) -> float:
        """Mean of all observations of a distribution, in base units."""
        one = self.histogram(signal, subject)
        return float(one.sums.sum() / one.rates.sum())

    def signals(self) -> set[str]:
        """Everything that was measured."""
        return {one.signal for one in self.recording.series} | {one.signal for one in self.recording.histograms}

    def subjects(self, signal: str) -> list[str]:
        """Ids of the subjects of a signal."""
        return sorted(one.subject.id for one in self.recording.series if one.signal == signal)

    def facts(self, subject: str) -> dict[str, str | float]:
        """The facts of a subject."""
        return {fact.key: fact.value for fact in self.recording.facts if fact.subject.id == subject}


def read(text: str) -> Reading:
    """What all dialects together make of an exposition."""
    series = parse(text.encode()).series
    return Reading(translate(series, load_dialects(), Service(name="llm-prod"), Window(0.0, 2e9, 0.0)))


@cache
def payload(name: str) -> Reading:
    """What all dialects together make of a payload."""
    return read((PAYLOADS / f"{name}.om").read_text())


def dialect(name: str) -> Dialect:
    """One of the shipped dialects."""
    return next(one for one in load_dialects() if one.name == name)


LAST: dict[str, dict[tuple[str, str], float]] = {
    "vllm_router": {
        ("gateway.requests", "127.0.0.1:29001"): 4.5,
        ("gateway.2xx", "127.0.0.1:29001"): 4.5,
        ("gateway.5xx", "127.0.0.1:29001"): 0,
        ("gateway.backends", "127.0.0.1:29001"): 2,
        ("gateway.backends_healthy", "127.0.0.1:29001"): 2,
        ("gateway.circuit_open", "127.0.0.1:29001"): 1,
        ("gateway.ejections", "127.0.0.1:29001"): 1,
        ("backend.requests", "llm-prod-0"): 4.5,
        ("backend.circuit_open", "llm-prod-0"): 0,
        ("backend.circuit_open", "127.0.0.1:8102"): 1,
        ("backend.healthy", "127.0.0.1:8102"): 1,
    },
    "envoy": {
        ("gateway.requests", "gw-0"): 10,
        ("gateway.2xx", "gw-0"): 6,
        ("gateway.4xx", "gw-0"): 1,
        ("gateway.429", "gw-0"): 2,
        ("gateway.401", "gw-0"): 0.5,
        ("gateway.5xx", "gw-0"): 1,
        ("gateway.upstream_requests", "gw-0"): 11,
        ("gateway.upstream_5xx", "gw-0"): 0.8,
        ("gateway.active", "gw-0"): 12,
        ("gateway.pending", "gw-0"): 3,
        ("gateway.connections", "gw-0"): 40,
        ("gateway.overflow", "gw-0"): 0.3,
        ("gateway.circuit_open", "gw-0"): 1,
        ("gateway.retries", "gw-0"): 1,
        ("gateway.retries_exhausted", "gw-0"): 10.1,
        ("gateway.timeouts", "gw-0"): 0.4,
        ("gateway.client_left", "gw-0"): 0.2,
        ("gateway.connect_failures", "gw-0"): 0.5,
        ("gateway.resets", "gw-0"): 0.6,
        ("gateway.no_backend", "gw-0"): 0.7,
        ("gateway.backends", "gw-0"): 3,
        ("gateway.backends_healthy", "gw-0"): 2,
        ("gateway.ejections", "gw-0"): 1,
        ("gateway.rss", "gw-0"): 5e7,
    },
    "envoy_classes": {("gateway.requests", "gw-0"): 10, ("gateway.4xx", "gw-0"): 3},
    "istio": {
        ("gateway.requests", "istio-ingressgateway-0"): 15.5,
        ("gateway.2xx", "istio-ingressgateway-0"): 10,
        ("gateway.4xx", "istio-ingressgateway-0"): 0.6,
        ("gateway.429", "istio-ingressgateway-0"): 1,
        ("gateway.401", "istio-ingressgateway-0"): 0.1,
        ("gateway.5xx", "istio-ingressgateway-0"): 3.3,
        ("gateway.upstream_5xx", "istio-ingressgateway-0"): 0.2,
        ("gateway.overflow", "istio-ingressgateway-0"): 0.3,
        ("gateway.timeouts", "istio-ingressgateway-0"): 0.4,
        ("gateway.client_left", "istio-ingressgateway-0"): 0.6,
        ("gateway.resets", "istio-ingressgateway-0"): 0.7,
        ("gateway.connect_failures", "istio-ingressgateway-0"): 0.8,
        ("gateway.retries_exhausted", "istio-ingressgateway-0"): 0.8,
        ("gateway.no_backend", "istio-ingressgateway-0"): 0.9,
    },
    "nginx_ingress": {
        ("gateway.requests", "ingress-nginx-0"): 14.2,
        ("gateway.2xx", "ingress-nginx-0"): 10,
        ("gateway.4xx", "ingress-nginx-0"): 0.6,
        ("gateway.429", "ingress-nginx-0"): 1,
        ("gateway.401", "ingress-nginx-0"): 0.1,
        ("gateway.5xx", "ingress-nginx-0"): 0.6,
        ("gateway.client_left", "ingress-nginx-0"): 2,
        ("gateway.timeouts", "ingress-nginx-0"): 0.4,
        ("gateway.active", "ingress-nginx-0"): 25,
        ("gateway.cpu", "ingress-nginx-0"): 0.5,
        ("gateway.rss", "ingress-nginx-0"): 1e8,
        ("gateway.start_time", "ingress-nginx-0"): 900,
    },
    "litellm": {
        ("gateway.requests", "litellm-0"): 11.8,
        ("gateway.2xx", "litellm-0"): 10,
        ("gateway.4xx", "litellm-0"): 0.6,
        ("gateway.429", "litellm-0"): 1,
        ("gateway.401", "litellm-0"): 0.1,
        ("gateway.5xx", "litellm-0"): 0.2,
        ("gateway.timeouts", "litellm-0"): 0.4,
        ("gateway.connect_failures", "litellm-0"): 0.2,
        ("gateway.upstream_requests", "litellm-0"): 12,
        ("gateway.upstream_5xx", "litellm-0"): 0.3,
        ("gateway.active", "litellm-0"): 17,
        ("gateway.cooldowns", "litellm-0"): 0.1,
        ("gateway.circuit_open", "litellm-0"): 1,
        ("gateway.ejections", "litellm-0"): 2,
        ("gateway.wrong_model", "litellm-0"): 0.1,
        ("gateway.cpu", "litellm-0"): 0.9,
        ("gateway.open_fds", "litellm-0"): 900,
        ("gateway.max_fds", "litellm-0"): 1024,
        ("gateway.start_time", "litellm-0"): 950,
        ("backend.requests", "llm-prod-0"): 7,
        ("backend.requests", "llm-prod-1"): 5,
        ("backend.failures", "llm-prod-1"): 0.3,
        ("backend.healthy", "llm-prod-0"): 1,
        ("backend.healthy", "llm-prod-1"): 0,
        ("backend.circuit_open", "llm-prod-0"): 0,
        ("backend.circuit_open", "llm-prod-1"): 1,
    },
    "sglang_gateway": {
        ("gateway.requests", "smg-0"): 10,
        ("gateway.2xx", "smg-0"): 8,
        ("gateway.4xx", "smg-0"): 0.5,
        ("gateway.429", "smg-0"): 1,
        ("gateway.5xx", "smg-0"): 0.5,
        ("gateway.upstream_requests", "smg-0"): 10,
        ("gateway.overflow", "smg-0"): 0.3,
        ("gateway.timeouts", "smg-0"): 0.2,
        ("gateway.no_backend", "smg-0"): 0.1,
        ("gateway.retries", "smg-0"): 0.4,
        ("gateway.retries_exhausted", "smg-0"): 0.1,
        ("gateway.active", "smg-0"): 12,
        ("gateway.backends", "smg-0"): 1,
        ("gateway.backends_healthy", "smg-0"): 1,
        ("gateway.circuit_open", "smg-0"): 1,
        ("gateway.ejections", "smg-0"): 1,
        ("backend.requests", "llm-prod-0"): 5,
        ("backend.failures", "llm-prod-0"): 1,
        ("backend.active", "llm-prod-1"): 7,
        ("backend.healthy", "llm-prod-0"): 1,
        ("backend.healthy", "llm-prod-1"): 0,
        ("backend.circuit_open", "llm-prod-0"): 1,
        ("backend.circuit_open", "llm-prod-1"): 0,
    },
    "sglang_router_old": {
        ("gateway.requests", "10.4.0.2:29000"): 10,
        ("gateway.2xx", "10.4.0.2:29000"): 8,
        ("gateway.5xx", "10.4.0.2:29000"): 1,
        ("gateway.4xx", "10.4.0.2:29000"): 0.5,
        ("gateway.backends", "10.4.0.2:29000"): 2,
        ("gateway.ejections", "10.4.0.2:29000"): 1,
        ("backend.requests", "llm-prod-1"): 5,
        ("backend.failures", "llm-prod-1"): 1,
        ("backend.circuit_open", "llm-prod-1"): 1,
        ("backend.active", "llm-prod-0"): 4,
    },
    "sglang_router_new": {
        ("gateway.requests", "10.4.0.2:29000"): 10,
        ("gateway.2xx", "10.4.0.2:29000"): 9,
        ("gateway.5xx", "10.4.0.2:29000"): 1,
        ("gateway.backends", "10.4.0.2:29000"): 3,
        ("gateway.backends_healthy", "10.4.0.2:29000"): 1,
        ("gateway.circuit_open", "10.4.0.2:29000"): 0,
        ("backend.requests", "llm-prod-1"): 6,
        ("backend.failures", "llm-prod-1"): 1,
        ("backend.active", "llm-prod-0"): 8,
        ("backend.healthy", "llm-prod-1"): 0,
    },
    "production_stack_router": {
        ("batch.running", "llm-prod-0"): 6,
        ("queue.waiting", "llm-prod-0"): 1,
        ("backend.active", "llm-prod-0"): 40,
        ("gateway.active", "10.5.0.1:80"): 42,
        ("gateway.requests", "10.5.0.1:80"): 10,
        ("gateway.upstream_requests", "10.5.0.1:80"): 8,
        ("gateway.5xx", "10.5.0.1:80"): 0.3,
        ("gateway.timeouts", "10.5.0.1:80"): 0.1,
        ("gateway.connect_failures", "10.5.0.1:80"): 0.2,
        ("gateway.backends_healthy", "10.5.0.1:80"): 1,
        ("backend.requests", "llm-prod-0"): 8,
        ("backend.failures", "llm-prod-1"): 0.3,
        ("backend.healthy", "llm-prod-1"): 0,
    },
    "gaie_llm_d_epp": {
        ("gateway.requests", "epp-0"): 10,
        ("gateway.5xx", "epp-0"): 0.2,
        ("gateway.4xx", "epp-0"): 0.3,
        ("gateway.429", "epp-0"): 1,
        ("gateway.active", "epp-0"): 14,
        ("gateway.pending", "epp-0"): 5,
        ("gateway.overflow", "epp-0"): 1,
        ("gateway.backends_healthy", "epp-0"): 2,
        ("gateway.metric_errors", "epp-0"): 0.5,
        ("gateway.upstream_requests", "epp-0"): 5,
        ("backend.requests", "llm-prod-0"): 5,
        ("backend.active", "llm-prod-0"): 9,
    },
    "gaie_llm_d_router_epp": {
        ("gateway.requests", "epp-0"): 10,
        ("gateway.pending", "epp-0"): 5,
        ("backend.requests", "llm-prod-0"): 5,
    },
    "gaie_inference_objective": {
        ("gateway.requests", "epp-0"): 10,
        ("gateway.active", "epp-0"): 14,
        ("gateway.pending", "epp-0"): 5,
        ("gateway.backends_healthy", "epp-0"): 2,
        ("backend.requests", "llm-prod-0"): 5,
    },
    "gaie_inference_model": {("gateway.requests", "epp-0"): 10, ("gateway.429", "epp-0"): 1},
    "gen_ai": {
        ("gateway.requests", "10.7.0.1:1064"): 11,
        ("gateway.2xx", "10.7.0.1:1064"): 10,
        ("finished", "llm-prod-0"): 10,
        ("requests.distinct", "app"): 9,
        ("requests.failed", "app"): 1,
        ("requests.timeouts", "app"): 1,
    },
    "aibrix": {
        ("gateway.requests", "aibrix-gw-0"): 10,
        ("gateway.2xx", "aibrix-gw-0"): 9,
        ("gateway.5xx", "aibrix-gw-0"): 0.5,
        ("gateway.429", "aibrix-gw-0"): 0.3,
        ("gateway.4xx", "aibrix-gw-0"): 0.2,
        ("gateway.active", "aibrix-gw-0"): 11,
    },
    "dcgm": {
        ("gpu.util", "GPU-a"): 0.87,
        ("gpu.mem_util", "GPU-a"): 0.42,
        ("gpu.engine_active", "GPU-a"): 0.83,
        ("gpu.dram_active", "GPU-a"): 0.6,
        ("gpu.mem_used", "GPU-a"): 70000 * MIB,
        ("gpu.mem_free", "GPU-a"): 10000 * MIB,
        ("gpu.temp", "GPU-a"): 58,
        ("gpu.mem_temp", "GPU-a"): 71,
        ("gpu.power", "GPU-a"): 400.5,
        ("gpu.power_limit", "GPU-a"): 600,
        ("gpu.energy", "GPU-a"): 400,
        ("gpu.sm_clock", "GPU-a"): 1.98e9,
        ("gpu.mem_clock", "GPU-a"): 2.619e9,
        ("gpu.thermal_violation", "GPU-a"): 0.5,
        ("gpu.power_violation", "GPU-a"): 0.1,
        ("gpu.xid", "GPU-a"): 79,
        ("gpu.ecc_uncorrected", "GPU-a"): 2,
        ("gpu.remap_pending", "GPU-a"): 1,
        ("gpu.remap_failure", "GPU-a"): 0,
        ("gpu.remapped_uncorrectable", "GPU-a"): 3,
        ("gpu.nvlink_errors", "GPU-a"): 2,
        ("gpu.nvlink_bytes", "GPU-a"): 20e9,
        ("gpu.pcie_gen", "GPU-a"): 5,
        ("gpu.pcie_width", "GPU-a"): 8,
        ("gpu.pcie_width_max", "GPU-a"): 16,
        ("gpu.pcie_replays", "GPU-a"): 0.1,
        ("gpu.pcie_rx", "GPU-a"): 5e6,
        ("gpu.pcie_tx", "GPU-a"): 2e6,
        ("gpu.healthy", "GPU-a"): 0,
    },
    "dcgm_renamed": {
        ("gpu.util", "GPU-b"): 0.87,
        ("gpu.temp", "GPU-b"): 58,
        ("gpu.power", "GPU-b"): 400,
        ("gpu.power_limit", "GPU-b"): 600,
        ("gpu.dram_active", "GPU-b"): 0.6,
        ("gpu.xid", "GPU-b"): 48,
        ("gpu.nvlink_errors", "GPU-b"): 1,
        ("gpu.pcie_rx", "GPU-b"): 99000,
        ("gpu.engine_active", "GPU-c/mig-1"): 0.4,
    },
    "amd_gpu": {
        ("gpu.util", "2a00323e-8d58"): 1,
        ("gpu.mem_util", "2a00323e-8d58"): 0.08,
        ("gpu.mem_total", "2a00323e-8d58"): 196592 * MIB,
        ("gpu.mem_used", "2a00323e-8d58"): 176671 * MIB,
        ("gpu.temp", "2a00323e-8d58"): 58,
        ("gpu.mem_temp", "2a00323e-8d58"): 67,
        ("gpu.power", "2a00323e-8d58"): 385,
        ("gpu.energy", "2a00323e-8d58"): 385,
        ("gpu.sm_clock", "2a00323e-8d58"): 1.9e9,
        ("gpu.mem_clock", "2a00323e-8d58"): 1.3e9,
        ("gpu.throttle_power", "2a00323e-8d58"): 0.25,
        ("gpu.ecc_uncorrected", "2a00323e-8d58"): 4,
        ("gpu.pcie_replays", "2a00323e-8d58"): 0.1,
        ("gpu.healthy", "2a00323e-8d58"): 0,
    },
    "nvidia_gpu_exporter": {
        ("gpu.util", "df6e7a7c"): 0.87,
        ("gpu.mem_used", "df6e7a7c"): 2e10,
        ("gpu.mem_other", "df6e7a7c"): 1.5e9,
        ("gpu.power", "df6e7a7c"): 70,
        ("gpu.power_limit", "df6e7a7c"): 72,
        ("gpu.sm_clock", "df6e7a7c"): 2.04e9,
        ("gpu.throttle_thermal", "df6e7a7c"): 1,
        ("gpu.throttle_power", "df6e7a7c"): 1,
        ("gpu.throttle_hw", "df6e7a7c"): 0,
        ("gpu.power_violation", "df6e7a7c"): 0.5,
        ("gpu.ecc_uncorrected", "df6e7a7c"): 1,
        ("gpu.throttle_thermal", "old"): 1,
    },
    "node_exporter": {
        ("node.memory_total", "gpu-node-1"): 25276510208,
        ("node.disk_size", "gpu-node-1"): 270553174016,
        ("node.oom_kills", "gpu-node-1"): 0,
        ("node.net_carrier_changes", "gpu-node-1"): 0,
    },
    "node_exporter_devices": {
        ("node.net_receive", "gpu-node-1"): 200,
        ("node.net_carrier_changes", "gpu-node-1"): 0.1,
        ("node.disk_read", "gpu-node-1"): 200,
        ("node.disk_busy", "gpu-node-1"): 0.9,
        ("node.disk_available", "gpu-node-1"): 9e10,
        ("node.disk_size", "gpu-node-1"): 9e11,
        ("node.tcp_established", "gpu-node-1"): 8,
        ("node.tcp_retransmits", "gpu-node-1"): 1,
        ("node.oom_kills", "gpu-node-1"): 0.1,
        ("node.ib_link_downed", "gpu-node-1"): 0.2,
    },
    "cadvisor": {
        ("container.cpu", "llm-prod-0"): 2,
        ("container.cpu_limit", "llm-prod-0"): 4,
        ("container.cpu_periods", "llm-prod-0"): 10,
        ("container.cpu_throttled_periods", "llm-prod-0"): 5,
        ("container.cpu_throttled_seconds", "llm-prod-0"): 4,
        ("container.memory", "llm-prod-0"): 6e9,
        ("container.memory_rss", "llm-prod-0"): 5e9,
        ("container.memory_limit", "llm-prod-0"): 8e9,
        ("container.oom_events", "llm-prod-0"): 0.1,
        ("container.fs_usage", "llm-prod-0"): 2e9,
        ("node.evictions", "gpu-node-1"): 0.2,
    },
    "kube_state_metrics": {
        ("pod.ready", "llm-prod-0"): 0,
        ("pod.pending", "llm-prod-0"): 0,
        ("pod.failed", "llm-prod-0"): 0,
        ("pod.restarts", "llm-prod-0"): 0.1,
        ("pod.restarts_total", "llm-prod-0"): 5,
        ("pod.waiting_crash", "llm-prod-0"): 1,
        ("pod.oom_killed", "llm-prod-0"): 1,
        ("pod.exit_code", "llm-prod-0"): 137,
        ("pod.created", "llm-prod-0"): 900,
        ("pod.unschedulable", "llm-prod-2"): 1,
        ("pod.waiting_image", "llm-prod-2"): 1,
        ("container.cpu_limit", "llm-prod-0"): 8,
        ("container.memory_limit", "llm-prod-0"): 64e9,
        ("replicas.desired", "llm-prod"): 3,
        ("replicas.ready", "llm-prod"): 2,
        ("replicas.updated", "llm-prod"): 1,
        ("replicas.unavailable", "llm-prod"): 1,
        ("rollout.generation", "llm-prod"): 6,
        ("rollout.generation_observed", "llm-prod"): 5,
        ("rollout.stuck", "llm-prod"): 1,
        ("autoscaler.desired", "llm-prod"): 3,
        ("autoscaler.min", "llm-prod"): 1,
        ("autoscaler.max", "llm-prod"): 3,
        ("autoscaler.value", "llm-prod"): 40,
        ("autoscaler.target", "llm-prod"): 10,
        ("autoscaler.active", "llm-prod"): 0,
        ("node.gpu_allocatable", "gpu-node-1"): 7,
        ("node.gpu_capacity", "gpu-node-1"): 8,
        ("node.unschedulable", "gpu-node-1"): 1,
        ("node.ready", "gpu-node-1"): 0,
        ("node.disk_pressure", "gpu-node-1"): 1,
    },
    "prometheus": {
        ("target.up", "vllm/10.0.0.10:8000"): 0,
        ("target.scrape_duration", "vllm/10.0.0.10:8000"): 10,
        ("target.samples", "vllm/10.0.0.10:8000"): 0,
        ("target.up", "chat-app/10.0.9.1:9000"): 1,
        ("prometheus.head_series", "prometheus/prom:9090"): 900000,
        ("prometheus.sample_limit_hits", "prometheus/prom:9090"): 0.1,
        ("prometheus.rule_failures", "prometheus/prom:9090"): 0.2,
        ("prometheus.samples", "prometheus/prom:9090"): 11000,
    },
    "autoscaling": {
        ("autoscaler.errors", "llm-prod"): 0.1,
        ("autoscaler.empty", "llm-prod"): 1,
        ("replicas.desired", "llm-prod"): 3,
        ("replicas.ready", "llm-prod"): 2,
        ("replicas.updated", "llm-prod"): 1,
        ("replicas.unavailable", "llm-prod"): 1,
        ("rollout.stuck", "llm-prod"): 1,
    },
    "chat_client": {("requests.attempts", "chat-app"): 28, ("requests.timeouts", "chat-app"): 28},
    "clients": {
        ("requests.attempts", "java-app"): 10,
        ("requests.timeouts", "java-app"): 2,
        ("requests.distinct", "java-app"): 7,
        ("requests.failed", "java-app"): 0.5,
        ("requests.attempts", "go-app"): 10,
        ("requests.distinct", "go-app"): 3.3,
        ("requests.failed", "go-app"): 0.3,
        ("requests.timeouts", "go-app"): 1,
        ("requests.attempts", "otel-app"): 5.5,
        ("requests.timeouts", "otel-app"): 2,
    },
}  # fmt: skip

MEAN: dict[str, dict[tuple[str, str], float]] = {
    "vllm_router": {("gateway.headers", "127.0.0.1:29001"): (19.05087555999999 - 16.406509609999993) / 13},
    "envoy": {("gateway.latency", "gw-0"): 2.0, ("gateway.upstream_latency", "gw-0"): 1.5},
    "istio": {("gateway.latency", "istio-ingressgateway-0"): 2.0},
    "nginx_ingress": {("gateway.latency", "ingress-nginx-0"): 20.0, ("gateway.headers", "ingress-nginx-0"): 0.2},
    "litellm": {
        ("gateway.latency", "litellm-0"): 8.0,
        ("gateway.ttft", "litellm-0"): 0.3,
        ("gateway.overhead", "litellm-0"): 0.005,
        ("gateway.queue", "litellm-0"): 0.1,
    },
    "sglang_gateway": {("gateway.ttft", "smg-0"): 0.4, ("gateway.headers", "smg-0"): 0.05},
    "sglang_router_old": {("gateway.headers", "10.4.0.2:29000"): 0.05},
    "sglang_router_new": {("gateway.latency", "10.4.0.2:29000"): 5.0},
    "production_stack_router": {("gateway.latency", "10.5.0.1:80"): 5.0},
    "gaie_llm_d_epp": {("gateway.latency", "epp-0"): 4.0, ("gateway.queue", "epp-0"): 0.2, ("gateway.ttft", "epp-0"): 0.3},
    "gaie_inference_objective": {("gateway.latency", "epp-0"): 4.0, ("gateway.overhead", "epp-0"): 0.01},
    "gaie_inference_model": {("gateway.latency", "epp-0"): 4.0},
    "gen_ai": {
        ("gateway.latency", "10.7.0.1:1064"): 1230 / 330,
        ("gateway.ttft", "10.7.0.1:1064"): 0.2,
        ("latency.e2e", "llm-prod-0"): 3.0,
        ("client.latency", "app"): 3300 / 270,
    },
    "clients": {("client.latency", "java-app"): 4.0, ("client.latency", "otel-app"): 2.0},
}


def cases(table: dict[str, dict[tuple[str, str], float]]) -> list[tuple[str, str, str, float]]:
    """Rows of a table of expectations."""
    return [(name, signal, subject, value) for name, rows in table.items() for (signal, subject), value in rows.items()]


@pytest.mark.parametrize(("name", "signal", "subject", "value"), cases(LAST))
def test_last_value(name: str, signal: str, subject: str, value: float) -> None:
    """Each metric of a payload becomes the signal in base units, of the right subject."""
    assert payload(name).last(signal, subject) == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("name", "signal", "subject", "value"), cases(MEAN))
def test_mean_of_a_distribution(name: str, signal: str, subject: str, value: float) -> None:
    """Each histogram and summary becomes a distribution in base units."""
    assert payload(name).mean(signal, subject) == pytest.approx(value)


@pytest.mark.parametrize("path", sorted(PAYLOADS.glob("*.om")), ids=lambda path: path.stem)
def test_every_payload_is_read_without_complaint(path: Path) -> None:
    """No value of a payload lies outside its unit's range, and every payload has expectations."""
    assert payload(path.stem).recording.rejected == {}
    assert path.stem in LAST


@pytest.mark.parametrize("name", OURS)
def test_dialect_is_measured_by_a_payload(name: str) -> None:
    """A dialect that no payload speaks would be untested."""
    spoken = {one.origin.dialect for path in PAYLOADS.glob("*.om") for one in payload(path.stem).recording.series}
    assert name in spoken


@pytest.mark.parametrize("name", OURS)
def test_patterns_are_those_of_prometheus(name: str) -> None:
    """Conditions on labels are also sent to Prometheus, whose expressions know no look-around."""
    one = dialect(name)
    patterns = [pattern.removeprefix("!") for entry in one.metrics for pattern in entry.where.values()]
    for pattern in [*patterns, one.jobs]:
        re2.compile(pattern)


@pytest.mark.parametrize("name", OURS)
def test_source_of_replica_series_is_named(name: str) -> None:
    """A replica that a gateway speaks of is found by a label that the dialect names, not by the gateway's own pod."""
    one = dialect(name)
    about_replicas = [entry for entry in one.metrics if entry.signal and catalogue()[entry.signal].name.startswith("backend.")]
    assert not about_replicas or one.identity.get(Scope.REPLICA)


def test_names_are_claimed_once() -> None:
    """A metric that two dialects read would be taken for either; the few that two sources share are listed here."""
    claims: dict[str, set[str]] = {}
    for one in load_dialects():
        for entry in one.metrics:
            for name in entry.names:
                claims.setdefault(name, set()).add(one.name)
    shared = {
        name: who
        for name, who in claims.items()
        if len(who) > 1 and who & set(OURS) and not name.startswith((*GENERIC, CONTAINERS))
    }
    assert shared == SHARED


@pytest.mark.parametrize("name", [name for name in OURS if name != "prometheus"])
def test_generic_names_come_from_gateways_only(name: str) -> None:
    """process_* of an exporter tells of the exporter, so only a gateway's own are read."""
    one = dialect(name)
    generic = [entry.signal for entry in one.metrics if entry.names[0].startswith(GENERIC)]
    assert all(signal.startswith("gateway.") for signal in generic)
    assert not generic or one.scope is Scope.GATEWAY


def test_router_duration_is_no_latency() -> None:
    """The routers of vLLM and SGLang stop the clock at the headers, which of a stream come before the first token."""
    for name in ("vllm_router", "sglang_gateway", "sglang_router_old"):
        assert "gateway.latency" not in payload(name).signals()
        assert "gateway.headers" in payload(name).signals()


def test_requests_that_failed_are_requests() -> None:
    """vllm-router's own total leaves out what failed; the requests that it sent do not."""
    received = payload("vllm_router").series("gateway.requests", "127.0.0.1:29001").values.sum()
    succeeded = payload("vllm_router").series("gateway.2xx", "127.0.0.1:29001").values.sum()
    failed = payload("vllm_router").series("gateway.5xx", "127.0.0.1:29001").values.sum()
    assert failed > 0
    assert received == succeeded + failed - 0.5  # one request that failed was sent before the first of the three scrapes


def test_breaker_knows_what_the_health_gauge_does_not() -> None:
    """In the recording of a killed engine the router kept calling it healthy while its circuit breaker was open."""
    dead = "127.0.0.1:8102"
    assert payload("vllm_router").last("backend.healthy", dead) == 1
    assert payload("vllm_router").series("backend.circuit_open", dead).values.tolist() == [0, 1, 1]


def test_router_is_not_taken_for_the_engine() -> None:
    """production-stack's router repeats the engine's names; the engine keeps its values and the router makes no replica."""
    reading = payload("production_stack_router")
    assert reading.subjects("batch.running") == ["llm-prod-0"]
    assert reading.subjects("queue.waiting") == ["llm-prod-0"]
    assert "10.5.0.1:80" not in reading.subjects("backend.active")


def test_removed_worker_is_no_value_below_zero() -> None:
    """SGLang's gateway leaves -1 behind for a removed worker: it is not sent to, and its breaker is not open."""
    reading = payload("sglang_gateway")
    assert reading.series("backend.healthy", "llm-prod-1").values.min() == 0
    assert reading.series("backend.circuit_open", "llm-prod-1").values.min() == 0


def test_request_refused_before_routing_is_no_replica() -> None:
    """The new SGLang router counts what it refused under an empty worker, which must not become a replica."""
    assert payload("sglang_router_new").subjects("backend.requests") == ["llm-prod-0", "llm-prod-1"]


def test_two_generations_of_names_are_not_added() -> None:
    """llm-d's router shows old and new names together; a request counts once."""
    assert payload("gaie_llm_d_epp").series("gateway.requests", "epp-0").origin.metric == "llm_d_epp_request_total"


def test_streamed_answers_make_the_first_token() -> None:
    """Of an answer that is not streamed the picker's time to first token is the whole answer's, so it is left out."""
    assert payload("gaie_llm_d_epp").mean("gateway.ttft", "epp-0") == pytest.approx(0.3)


def test_mesh_request_counts_once() -> None:
    """Sender and receiver both report a request; another service's requests are not ours."""
    reading = payload("istio")
    assert reading.subjects("gateway.requests") == ["istio-ingressgateway-0"]
    assert reading.last("gateway.2xx", "istio-ingressgateway-0") == 10


def test_exact_codes_are_preferred_to_classes() -> None:
    """A class of 4xx has 429 in it; where Envoy shows exact codes they are taken instead."""
    assert payload("envoy").last("gateway.4xx", "gw-0") + payload("envoy").last("gateway.429", "gw-0") == pytest.approx(3)
    assert "gateway.429" not in payload("envoy_classes").signals()


def test_any_circuit_breaker_of_envoy_counts() -> None:
    """Envoy has breakers for connections, requests, waiting requests and retries: one that is open is enough."""
    assert payload("envoy").series("gateway.circuit_open", "gw-0").values.tolist()[-1] == 1


def test_duration_beyond_the_last_bucket_stays_open() -> None:
    """ingress-nginx knows no bound above 10 s: nine tenths of these answers are just longer than that."""
    one = payload("nginx_ingress").histogram("gateway.latency", "ingress-nginx-0")
    assert one.bounds.tolist() == [10.0, np.inf]
    assert one.rates[-1].tolist() == pytest.approx([1.0, 9.0])


def test_milliseconds_become_seconds_in_bounds_too() -> None:
    """Envoy's and Istio's bounds are milliseconds."""
    assert payload("envoy").histogram("gateway.upstream_latency", "gw-0").bounds.tolist() == [0.5, np.inf]
    assert payload("istio").histogram("gateway.latency", "istio-ingressgateway-0").bounds.tolist() == [5.0, np.inf]


def test_partial_outage_is_still_sent_to() -> None:
    """LiteLLM's state 1 means that a call failed, 2 that the engine is in cooldown; listed twice, it is one engine."""
    reading = payload("litellm")
    assert reading.series("backend.healthy", "llm-prod-0").values.tolist() == [1, 1, 1]
    assert reading.series("backend.healthy", "llm-prod-1").values.tolist() == [1, 1, 0]


def test_words_in_a_bucket_label_are_no_histogram() -> None:
    """AIBrix counts by buckets named in words; no distribution is made of them, and a namesake is not AIBrix."""
    assert not payload("aibrix").recording.histograms
    assert payload("aibrix").subjects("gateway.requests") == ["aibrix-gw-0"]


def test_gateway_engine_and_program_share_a_convention() -> None:
    """gen_ai_* of Envoy AI Gateway, of an engine and of a program's SDK go to a gateway, a replica and a client."""
    scopes = {one.signal: one.subject.scope for one in payload("gen_ai").recording.series}
    assert scopes["gateway.requests"] is Scope.GATEWAY
    assert scopes["finished"] is Scope.REPLICA
    assert scopes["requests.distinct"] is Scope.CLIENT


BITS = {
    0: set[str](),
    0x1: set[str](),
    0x2: set[str](),
    0x4: {"gpu.throttle_power"},
    0x8: {"gpu.throttle_hw"},
    0x10: {"gpu.throttle_sync"},
    0x20: {"gpu.throttle_thermal", "gpu.throttle_thermal_sw"},
    0x40: {"gpu.throttle_thermal", "gpu.throttle_thermal_hw"},
    0x80: {"gpu.throttle_brake"},
    0x68: {"gpu.throttle_thermal", "gpu.throttle_thermal_sw", "gpu.throttle_thermal_hw", "gpu.throttle_hw"},
    0x100: set[str](),
}


@pytest.mark.parametrize(("mask", "expected"), BITS.items(), ids=[hex(mask) for mask in BITS])
@pytest.mark.parametrize("name", ["DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"])
def test_clock_reasons(name: str, mask: int, expected: set[str]) -> None:
    """Why clocks are cut is a bit mask: an idle card (0x1) is not throttled, and one reason does not hide another."""
    reading = read(f'{name}{{UUID="GPU-a",Hostname="n"}} {mask} 1000\n')
    throttled = {one.signal for one in reading.recording.series if one.signal.startswith("gpu.throttle") and one.values[-1] == 1}
    assert throttled == expected
    states = {one.signal: float(one.values[-1]) for one in reading.recording.series}
    assert (states["gpu.clocks_idle"], states["gpu.clocks_set"]) == (float(mask == 1), float(mask == 2))
    assert len(states) == 9


def test_nvlink_throughput_is_no_counter() -> None:
    """DCGM calls its NVLink throughput a counter; it falls without a reset, and no rate is taken of it."""
    series = 'DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{UUID="GPU-a"}'
    one = read(f"{series} 30000 1000\n{series} 20000 1030\n")
    assert one.series("gpu.nvlink_bytes", "GPU-a").values.tolist() == [30e9, 20e9]


def test_absent_xid_is_unknown() -> None:
    """Some images of the exporter leave the Xid out instead of 0: that is not measured, and it is not 0."""
    assert "gpu.xid" not in read('DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a"} 40 1000\n').signals()


def test_power_watch_of_dcgm_is_no_illness() -> None:
    """DCGM's watch of power raises false alarms; the other watches decide, the worst of them."""
    states = {"DCGM_HEALTH_WATCH_POWER": 20, "DCGM_HEALTH_WATCH_MEM": 0}
    lines = [f'DCGM_EXP_GPU_HEALTH_STATUS{{UUID="GPU-a",health_watch="{watch}"}} {state} 1000' for watch, state in states.items()]
    assert read("\n".join(lines)).last("gpu.healthy", "GPU-a") == 1


def test_card_belongs_to_its_replica_and_node() -> None:
    """Labels tie a card to pod and node, also where the exporter calls them exported_pod and hostname."""
    for name, card in (("dcgm", "GPU-a"), ("dcgm_renamed", "GPU-b"), ("amd_gpu", "2a00323e-8d58")):
        links = {str(subject): [str(one) for one in places] for subject, places in payload(name).recording.links.items()}
        assert links[f"gpu/{card}"] == ["node/gpu-node-1", "replica/llm-prod-0"]


def test_labels_of_cards_are_facts() -> None:
    """Which card it is and which driver runs it is known of NVIDIA's and AMD's exporters."""
    assert payload("dcgm").facts("GPU-a")["gpu_model"] == "NVIDIA H100 80GB HBM3"
    assert payload("dcgm").facts("GPU-a")["driver_version"] == "580.95.05"
    assert payload("dcgm_renamed").facts("GPU-c/mig-1")["mig_profile"] == "3g.40gb"
    assert payload("amd_gpu").facts("2a00323e-8d58")["gpu_model"] == "AMD Instinct MI300X OAM"
    assert payload("nvidia_gpu_exporter").facts("df6e7a7c")["gpu_model"] == "NVIDIA L4"


def test_amd_names_may_have_a_prefix() -> None:
    """The example configuration of AMD's exporter puts amd_ before every name."""
    lines = (PAYLOADS / "amd_gpu.om").read_text().splitlines()
    prefixed = "\n".join(f"amd_{line}" if line.startswith(("gpu_", "pcie_")) else line for line in lines)
    measured = {(one.signal, one.subject.id): one.values.tolist() for one in read(prefixed).recording.series}
    assert measured == {(one.signal, one.subject.id): one.values.tolist() for one in payload("amd_gpu").recording.series}


def test_memory_of_the_engine_is_not_foreign() -> None:
    """Of programs on a card, Python and vLLM can be the engine's own; a renderer cannot."""
    assert payload("nvidia_gpu_exporter").last("gpu.mem_other", "df6e7a7c") == 1.5e9


def test_busy_cores_of_a_real_host() -> None:
    """The seconds of all modes make the number of cores, whatever their names; busy ones are no more than that."""
    cores = payload("node_exporter").series("node.cpu_cores", "gpu-node-1").values
    busy = payload("node_exporter").series("node.cpu_busy_cores", "gpu-node-1").values
    assert cores == pytest.approx([2, 2], rel=0.03)
    assert (busy <= cores).all()


def test_idle_and_waiting_for_disks_is_not_busy() -> None:
    """Time that a core idles, or idles because of a disk, is not used."""
    modes = {"idle": 15, "iowait": 6, "user": 6, "system": 3}
    lines = [f'node_cpu_seconds_total{{node="n",cpu="0",mode="{mode}"}} {value} {time}'
             for mode, spent in modes.items() for time, value in ((1000, 0), (1030, spent))]  # fmt: skip
    reading = read("\n".join(lines))
    assert reading.last("node.cpu_busy_cores", "n") == pytest.approx(0.3)
    assert reading.last("node.cpu_cores", "n") == pytest.approx(1.0)


def test_pause_container_is_not_counted() -> None:
    """Rows of the pod and of its pause container repeat the container's use ten times here; other pods are not ours."""
    assert payload("cadvisor").subjects("container.memory") == ["llm-prod-0"]
    assert payload("cadvisor").last("container.memory", "llm-prod-0") == 6e9


def test_reason_that_is_not_there_is_unknown() -> None:
    """Waiting reasons exist while they are true: before the crash there is no value, and none means no 0."""
    reading = payload("kube_state_metrics")
    assert reading.series("pod.waiting_crash", "llm-prod-0").times.tolist() == [1060]
    assert reading.subjects("pod.evicted") == []


def test_facts_of_pods_and_nodes() -> None:
    """Where a pod runs, its engine's image and how many cards it asks for are facts; the mesh's proxy is not the engine."""
    facts = payload("kube_state_metrics").facts("llm-prod-0")
    assert facts["node"] == "gpu-node-1"
    assert facts["pod_ip"] == "10.0.0.10"
    assert facts["created_by_name"] == "llm-prod-bc8bf8dfd"
    assert facts["image"] == "vllm/vllm-openai:v0.32.0"
    assert facts["gpus"] == 2
    assert payload("kube_state_metrics").facts("gpu-node-1")["kernel_version"] == "6.8.0"
    assert payload("node_exporter_devices").facts("gpu-node-1")["kernel_version"] == "6.8.0-60-generic"


def test_other_deployments_are_not_added() -> None:
    """A neighbour's fifty replicas are not this service's, be it a deployment or an Argo rollout."""
    assert payload("kube_state_metrics").last("replicas.desired", "llm-prod") == 3
    assert payload("autoscaling").last("replicas.desired", "llm-prod") == 3
    assert payload("autoscaling").last("autoscaler.errors", "llm-prod") == pytest.approx(0.1)


def test_inactive_trigger_is_no_blind_autoscaler() -> None:
    """KEDA's trigger is inactive while there is nothing to do; that says nothing of whether it can read its metric."""
    assert "autoscaler.active" not in payload("autoscaling").signals()


def test_phase_is_known_before_it_is_bad() -> None:
    """rollout_phase has a 0 for each phase that is not on, rollout_info has no series for it: the former is preferred."""
    assert payload("autoscaling").series("rollout.stuck", "llm-prod").values.tolist() == [0, 0, 1]


def test_answer_504_is_no_timeout_of_the_client() -> None:
    """A client's time-out is an attempt that it gave up; a 504 came from somebody on the way. Calls of others are not ours."""
    assert payload("clients").last("requests.timeouts", "otel-app") == 2
    assert payload("clients").last("requests.attempts", "otel-app") == pytest.approx(5.5)


def test_retries_of_a_real_client() -> None:
    """In the recorded storm the client sent far more attempts than it had requests."""
    service = Service(name="llm-prod", signals={"requests.distinct": "app_chat_requests_total"})
    series = parse((PAYLOADS / "chat_client.om").read_bytes()).series
    reading = Reading(translate(series, load_dialects(), service, Window(0.0, 2e9, 0.0)))
    attempts = reading.series("requests.attempts", "chat-app").values.sum()
    assert attempts > 4 * reading.series("requests.distinct", "chat-app").values.sum()


@pytest.mark.parametrize("name", OURS)
def test_every_signal_can_take_what_the_dialect_gives(name: str) -> None:
    """A share stays between 0 and 1: percentages are scaled, and nothing else is."""
    for entry in dialect(name).metrics:
        if entry.signal and catalogue()[entry.signal].kind is Kind.RATIO:
            percent = entry.names[0].endswith(("_UTIL", "_activity", "_percent")) or entry.names[0] == "gpu_prof_sm_active"
            assert entry.scale == (0.01 if percent else 1.0), entry.names[0]
