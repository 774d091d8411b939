"""Sources without a captured exposition: lines after their own names and labels become signals in base units."""

import numpy as np
import pytest

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.recording import Recording, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope

STEP = 10.0


def read(*lines: str, **labels: str) -> Recording:
    """What becomes of samples; each line is ``name{labels} before after`` of two scrapes."""
    series = []
    for line in lines:
        head, before, after = line.rsplit(" ", 2)
        (one,) = parse(f"{head} 0\n".encode(), 0.0).series
        whole = {"job": "x", "instance": "h:1", **labels, **one.labels}
        series.append(RawSeries(one.name, whole, np.array([0.0, STEP]), np.array([float(before), float(after)])))
    return translate(series, load_dialects(), Service(name="llm-prod"), Window(0.0, STEP, 0.0))


POD = 'namespace="llm",pod="llm-prod-0",container="vllm"'
ALIVE = 'kube_pod_info{pod="llm-prod-0",node="n1",created_by_kind="StatefulSet",created_by_name="llm-prod"} 1 1'
NIM = 'model_name="llm-prod"'

CASES: list[tuple[str, str, str, float]] = [
    (
        f'kube_pod_container_status_waiting_reason{{{POD},reason="ContainerCreating"}} 1 1',
        "pod.waiting_creating",
        "llm-prod-0",
        1,
    ),
    (f'kube_pod_container_status_waiting_reason{{{POD},reason="RunContainerError"}} 1 1', "pod.waiting_error", "llm-prod-0", 1),
    (
        f'kube_pod_container_status_waiting_reason{{{POD},reason="CreateContainerConfigError"}} 1 1',
        "pod.waiting_error",
        "llm-prod-0",
        1,
    ),
    (f'kube_pod_container_status_last_terminated_reason{{{POD},reason="Error"}} 1 1', "pod.ended_in_error", "llm-prod-0", 1),
    ('kube_pod_status_disruption_reason{pod="llm-prod-0",reason="PreemptionByScheduler"} 0 1', "pod.disrupted", "llm-prod-0", 1),
    ('kube_node_status_condition{node="n1",condition="MemoryPressure",status="true"} 0 1', "node.memory_short", "n1", 1),
    (
        'kube_daemonset_status_number_unavailable{daemonset="nvidia-device-plugin"} 0 2',
        "cluster.gpu_daemons_unavailable",
        "x/h:1",
        2,
    ),
    ('kube_volumeattachment_status_attached{volumeattachment="csi-1"} 1 0', "cluster.volumes_waiting", "x/h:1", 1),
    ('kube_deployment_spec_paused{deployment="llm-prod"} 0 1', "rollout.paused", "llm-prod", 1),
    (
        'kube_horizontalpodautoscaler_status_condition{hpa="llm-prod",condition="ScalingLimited",status="true"} 0 1',
        "autoscaler.limited",
        "llm-prod",
        1,
    ),
    ('kubelet_volume_stats_available_bytes{node="n1",persistentvolumeclaim="cache"} 9 5', "node.volume_available", "n1", 5),
    ('kubelet_certificate_manager_client_ttl_seconds{node="n1"} 9 -5', "node.cert_ttl", "n1", -5),
    (
        'kubelet_device_plugin_registration_total{node="n1",resource_name="nvidia.com/gpu"} 1 3',
        "node.device_registrations",
        "n1",
        0.2,
    ),
    ('node_filesystem_files_free{node="n1",fstype="ext4",mountpoint="/"} 9 5', "node.inodes_free", "n1", 5),
    (
        'node_systemd_unit_state{node="n1",name="nvidia-fabricmanager.service",state="failed"} 0 1',
        "node.gpu_units_failed",
        "n1",
        1,
    ),
    ('node_infiniband_state_id{node="n1",device="mlx5_0",port="1"} 4 4', "node.ib_ports_up", "n1", 1),
    ('node_timex_offset_seconds{node="n1"} 0 -0.25', "node.clock_offset", "n1", -0.25),
    (
        'argocd_app_info{name="llm-prod",sync_status="OutOfSync",health_status="Healthy"} 1 1',
        "release.out_of_sync",
        "llm-prod",
        1,
    ),
    ('argocd_app_sync_total{name="llm-prod",phase="Failed",dry_run="false"} 1 2', "release.sync_failures", "llm-prod", 0.1),
    ('gotk_reconcile_condition{name="llm-prod",type="Ready",status="False"} 0 1', "release.degraded", "llm-prod", 1),
    ('gotk_suspend_status{name="llm-prod"} 0 1', "release.suspended", "llm-prod", 1),
    ("prometheus_config_last_reload_successful 1 0", "prometheus.config_ok", "x/h:1", 0),
    ("prometheus_rule_group_iterations_missed_total 1 3", "prometheus.rules_missed", "x/h:1", 0.2),
    ("prometheus_remote_storage_samples_pending 1 3", "prometheus.remote_pending", "x/h:1", 3),
    ('alertmanager_silences{state="active"} 1 3', "alerts.silences", "x/h:1", 3),
    ('haproxy_backend_current_queue{proxy="llm"} 1 3', "gateway.pending", "h:1", 3),
    ('haproxy_frontend_http_responses_total{proxy="llm",code="5xx"} 1 3', "gateway.5xx", "h:1", 0.2),
    ("nginx_connections_active 1 3", "gateway.connections_open", "h:1", 3),
    ('traefik_service_requests_total{service="llm-prod@docker",code="502",method="POST"} 0 10', "gateway.5xx", "h:1", 1),
    ('traefik_service_retries_total{service="llm-prod@docker"} 0 10', "gateway.retries", "h:1", 1),
    ('traefik_tls_certs_not_after{cn="llm.example"} 1.7e9 1.7e9', "gateway.cert_expiry", "h:1", 1.7e9),
    ('kong_http_requests_total{service="llm-prod",route="chat",code="429",source="kong"} 0 10', "gateway.429", "h:1", 1),
    ('apisix_http_status{code="504",route="chat",service="llm-prod",node="10.0.0.5"} 0 10', "gateway.timeouts", "h:1", 1),
    ('apisix_nginx_http_current_connections{state="writing"} 1 3', "gateway.active", "h:1", 3),
    ('caddy_http_request_duration_seconds_count{handler="reverse_proxy",code="503"} 0 10', "gateway.5xx", "h:1", 1),
    ("dynamo_tokio_worker_busy_ratio 0.1 0.9", "gateway.loop_busy", "h:1", 0.9),
    ('dynamo_frontend_failures_total{error_type="overload"} 0 10', "gateway.429", "h:1", 1),
    ("litellm_redis_failed_requests_total 0 10", "gateway.dependency_failures", "h:1", 1),
    ('litellm_proxy_total_requests_metric_total{status_code="413"} 0 10', "gateway.413", "h:1", 1),
    ("smg_tokio_event_loop_stalls_total 0 10", "gateway.loop_stalls", "h:1", 1),
    ("ctx_error_requests_total 0 10", "gateway.upstream_5xx", "h:1", 1),
    (f"num_requests_waiting{{{NIM}}} 1 3", "queue.waiting", "h:1", 3),
    (f"sglang:scheduler_process_cpu_seconds_total{{{NIM}}} 0 9", "engine.scheduler_cpu", "h:1", 0.9),
    (f"sglang:num_decode_deferred_kv_release_reqs{{{NIM}}} 0 9", "pd.release_pending", "h:1", 9),
    (f"sglang:hicache_backup_dropped_tokens_total{{{NIM}}} 0 90", "offload.dropped", "h:1", 9),
    (f"gpu_cache_usage_perc{{{NIM}}} 0.1 0.9", "kv.usage", "h:1", 0.9),
    (f'request_finish_total{{{NIM},finished_reason="length"}} 0 10', "finished.length", "h:1", 1),
    ('DCGM_FI_DEV_FABRIC_MANAGER_STATUS{UUID="GPU-a"} 3 4', "gpu.fabric_ready", "GPU-a", 0),
    ('DCGM_FI_DEV_GPU_RECOVERY_ACTION{UUID="GPU-a"} 0 2', "gpu.recovery_action", "GPU-a", 2),
    ('DCGM_FI_DEV_APP_SM_CLOCK{UUID="GPU-a"} 1410 1410', "gpu.app_clock", "GPU-a", 1.41e9),
]


@pytest.mark.parametrize(
    ("line", "signal", "subject", "value"), CASES, ids=[f"{case[1]}-{index}" for index, case in enumerate(CASES)]
)
def test_a_line_becomes_its_signal(line: str, signal: str, subject: str, value: float) -> None:
    """The last value or the rate a second, of the right subject."""
    found = read(ALIVE, line) if "node=" in line or "pod=" in line else read(line)
    assert {one.subject.id: float(one.values[-1]) for one in found.by_signal.get(signal, [])} == {subject: pytest.approx(value)}
    assert dict(found.rejected) == {}


@pytest.mark.parametrize(
    "line",
    [
        'traefik_service_server_up{service="llm-prod@docker",url="http://10.0.0.5:8000",instance="t:1"} 1 0',
        'kong_upstream_target_health{upstream="u",address="10.0.0.5:8000",state="healthy",subsystem="http",instance="k:1"} 1 0',
        'caddy_reverse_proxy_upstreams_healthy{upstream="10.0.0.5:8000",instance="c:1"} 1 0',
    ],
)
def test_a_gateway_names_an_engine_by_its_address(line: str) -> None:
    """Whom a gateway holds for dead is the replica that is scraped there."""
    found = read('kube_pod_info{pod="llm-prod-0",pod_ip="10.0.0.5",created_by_name="llm-prod"} 1 1', line)
    (healthy,) = found.by_signal["backend.healthy"]
    assert (healthy.subject, float(healthy.values[-1])) == (Subject(Scope.REPLICA, "llm-prod-0"), 0.0)


def test_what_dcgm_does_not_know_is_no_reading() -> None:
    """Blanks of 32 and 64 bits and of floating point, and a card without a fabric, say nothing."""
    found = read(
        'DCGM_FI_DEV_GPU_TEMP{UUID="GPU-a"} 2147483632 2147483632',
        'DCGM_FI_DEV_FB_USED{UUID="GPU-a"} 9223372036854775794 9223372036854775794',
        'DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a"} 140737488355328 140737488355330',
        'DCGM_FI_DEV_FABRIC_MANAGER_STATUS{UUID="GPU-a"} 0 0',
    )
    assert (found.by_signal, found.problems[1:]) == ({}, ())


def test_nim_and_tensorrt_llm_are_told_apart_by_a_label() -> None:
    """Both have names without a prefix, of which only TensorRT-LLM's have the label engine_type."""
    for labels, origin in (('engine_type="pytorch",', "trtllm"), ("", "nim")):
        (one,) = read(f'request_success_total{{{labels}{NIM},finished_reason="stop"}} 0 10').by_signal["finished"]
        assert one.origin.dialect == origin


def test_a_limit_that_is_off_is_no_fact() -> None:
    """SGLang says -1 for what is not set."""
    assert [fact for fact in read('sglang:context_len{model_name="llm-prod"} -1 -1').facts if fact.key == "max_model_len"] == []
    assert [
        fact.value for fact in read('sglang:context_len{model_name="llm-prod"} 8192 8192').facts if fact.key == "max_model_len"
    ] == [8192]
