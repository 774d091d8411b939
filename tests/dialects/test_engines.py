"""The dialects of engines against expositions: what each engine serves, what is left out on purpose, and every known pitfall."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.naming import index_names
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Histogram, Recording, Series, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope, catalogue

PAYLOADS = Path(__file__).parent / "payloads"
ENGINES = ("dynamo", "llamacpp", "lmdeploy", "ray_serve", "sglang", "tgi", "triton", "trtllm", "vllm")
STEP = 15.0
SCRAPE = {"job": "engine", "instance": "10.0.0.1:8000", "service": "svc", "pod": "svc-0"}
"""What a scraper puts on every series of a target."""

RUNNING_TOTALS = {"counter", "histogram", "summary"}
SUFFIXES = ("", "_total", "_bucket", "_sum", "_count")


def dialect(name: str) -> Dialect:
    return next(one for one in load_dialects() if one.name == name)


def payload(name: str) -> str:
    return (PAYLOADS / f"{name}.txt").read_text()


def read(text: str, labels: Mapping[str, str] = SCRAPE) -> Recording:
    """The recording of two scrapes of an exposition, ``STEP`` apart: running totals have grown from 0, the rest stayed."""
    exposition = parse(text.encode(), STEP)
    series = []
    for one in exposition.series:
        kinds = {exposition.types.get(one.name.removesuffix(end)) for end in SUFFIXES if one.name.endswith(end)}
        first = 0.0 if kinds & RUNNING_TOTALS else 1.0
        if len(one.values):
            values = one.values[-1] * np.array([first, 1.0])
            series.append(RawSeries(one.name, {**labels, **one.labels}, np.array([0.0, STEP]), values))
    return translate(series, load_dialects(), Service(name="svc"), Window(0.0, STEP, 0.0))


def series_of(recording: Recording, signal: str) -> Series:
    return next(one for one in recording.series if one.signal == signal)


def last(recording: Recording, signal: str) -> float:
    """Latest value of a signal of the only subject that has it."""
    return float(series_of(recording, signal).values[-1])


def total(recording: Recording, signal: str) -> float:
    """Sum of the latest values of all engines behind the target."""
    return float(sum(one.values[-1] for one in recording.by_signal[signal]))


def count(recording: Recording, signal: str) -> float:
    """How much a rate's counter grew between the two scrapes."""
    return round(last(recording, signal) * STEP, 6)


def histogram_of(recording: Recording, signal: str) -> Histogram:
    return next(one for one in recording.histograms if one.signal == signal)


def mean(recording: Recording, signal: str) -> float:
    one = histogram_of(recording, signal)
    return float(one.sums[-1] / one.rates[-1].sum())


def served(recording: Recording) -> set[str]:
    return {one.signal for one in recording.series} | {one.signal for one in recording.histograms}


def facts(recording: Recording, scope: Scope = Scope.REPLICA) -> dict[str, str | float]:
    return {fact.key: fact.value for fact in recording.facts if fact.subject.scope is scope}


def text_of(kind: str, *samples: str) -> str:
    """An exposition of samples of one type; of a histogram ``name{labels} sum count`` stands for all its series."""
    lines = []
    for sample in samples:
        head, *numbers = sample.split(" ")
        name, _, labels = head.partition("{")
        lines.append(f"# TYPE {name} {kind}")
        if kind == "histogram":
            inside = labels.removesuffix("}")
            total, observed = numbers
            lines.append(f'{name}_bucket{{{inside}{"," if inside else ""}le="+Inf"}} {observed}')
            lines += [f"{name}_sum{{{inside}}} {total}", f"{name}_count{{{inside}}} {observed}"]
        else:
            lines.append(sample)
    return "\n".join(lines) + "\n"


def unread(text: str) -> set[str]:
    """The metric families of an exposition that no dialect reads."""
    index = index_names(load_dialects())
    families = parse(text.encode(), STEP).types
    return {name for name in families if not any(name + end in index for end in SUFFIXES) and not name.endswith("_created")}


CORE = {"batch.running", "queue.waiting", "tokens.generation", "finished", "latency.itl", "latency.e2e", "latency.queue"}

SERVES = {
    "vllm-0.32.0": CORE
    | {"kv.usage", "preemptions", "engine.steps", "engine.step_tokens", "engine.sleeping", "queue.capacity", "queue.deferred"}
    | {"tokens.prompt", "tokens.prompt_computed", "tokens.prompt_cached", "prefix.queries", "prefix.hits", "offload.queries"}
    | {"offload.hits", "finished.stop", "finished.length", "finished.abort", "finished.error", "latency.ttft", "latency.prefill"}
    | {"latency.decode", "length.prompt", "length.generation", "bytes.read", "bytes.written", "flops", "admission.rejected"}
    | {"http.requests", "http.2xx", "process.cpu", "process.rss", "process.open_fds", "process.max_fds", "process.start_time"},
    "vllm-0.6-v0": CORE
    | {"kv.usage", "preemptions", "engine.steps", "batch.paused", "prefix.hit_ratio_reported", "latency.ttft", "tokens.prompt"},
    "vllm-features": {"engine.sleeping", "output.corrupted", "spec.drafts", "spec.draft_tokens", "spec.accepted_tokens"}
    | {"pd.transfer_time", "pd.transfer_bytes", "pd.transfer_failures", "pd.notify_failures", "pd.expired", "offload.load_bytes"}
    | {"offload.load_seconds", "offload.store_bytes", "offload.store_seconds", "offload.failures"},
    "sglang-0.5.18": CORE
    | {
        "kv.usage",
        "kv.capacity",
        "kv.used",
        "kv.evictable_tokens",
        "preemptions",
        "engine.steps",
        "engine.eager_steps",
        "tokens.prompt",
    }
    | {"queue.grammar", "queue.capacity", "tokens.prompt_computed", "tokens.prompt_cached", "prefix.queries", "prefix.hits"}
    | {
        "offload.load_bytes",
        "offload.load_seconds",
        "offload.store_bytes",
        "offload.store_seconds",
        "finished.abort",
        "latency.ttft",
    }
    | {"latency.prefill", "length.prompt", "length.generation", "lora.running", "lora.slots", "spec.drafts", "spec.step_tokens"}
    | {
        "grammar.requests",
        "grammar.compile_time",
        "bytes.read",
        "bytes.written",
        "flops",
        "pd.transfer_failures",
        "pd.transfer_bytes",
    }
    | {
        "pd.transfer_time",
        "http.requests",
        "http.2xx",
        "http.4xx",
        "http.5xx",
        "http.active",
        "process.cpu",
        "engine.startup_time",
    },
    "trtllm-1.3": CORE
    | {
        "kv.usage",
        "kv.allocated",
        "batch.limit",
        "batch.paused",
        "engine.step_time",
        "tokens.prompt",
        "prefix.queries",
        "prefix.hits",
    }
    | {
        "prefix.hit_ratio_reported",
        "offload.load_bytes",
        "offload.store_bytes",
        "finished.stop",
        "finished.length",
        "finished.abort",
    }
    | {"finished.error", "http.4xx", "http.5xx", "latency.ttft", "latency.prefill", "latency.decode", "spec.draft_tokens"}
    | {"spec.accepted_tokens", "spec.step_tokens", "pd.transfer_bytes", "pd.transfer_time"},
    "trtllm-1.0": {"finished", "finished.stop", "finished.length", "latency.ttft", "latency.itl", "latency.e2e", "latency.queue"},
    "triton-trtllm": {"queue.frontend", "queue.waiting", "batch.running", "batch.limit", "kv.usage", "engine.steps", "finished"}
    | {
        "finished.abort",
        "finished.error",
        "admission.rejected",
        "latency.ttft",
        "latency.e2e",
        "latency.queue",
        "engine.startup_time",
    }
    | {"gpu.util", "gpu.mem_used", "gpu.mem_total", "gpu.power", "gpu.power_limit", "gpu.energy"},
    "tgi-3.3": CORE
    | {"engine.steps", "kv.used", "kv.capacity", "tokens.prompt", "admission.rejected", "finished.abort", "finished.error"}
    | {"http.requests", "http.2xx", "http.4xx", "http.5xx", "length.prompt", "length.generation"},
    "llamacpp-2026-08": {"batch.running", "queue.waiting", "engine.steps", "tokens.generation", "tokens.prompt_computed"}
    | {"tokens.prompt_cached", "prefix.hits", "spec.drafts", "spec.draft_tokens", "spec.accepted_tokens", "latency.itl"},
    "llamacpp-2025-02": {"batch.running", "queue.waiting", "engine.steps", "tokens.generation", "kv.usage", "kv.used"},
    "lmdeploy-2026-08": CORE
    | {
        "queue.frontend",
        "kv.usage",
        "prefix.hit_ratio_reported",
        "prefix.queries",
        "prefix.hits",
        "tokens.prompt",
        "latency.ttft",
    }
    | {"tokens.prompt_cached", "latency.prefill", "latency.decode", "length.prompt", "length.generation", "spec.drafts"}
    | {"spec.draft_tokens", "spec.accepted_tokens", "spec.step_tokens", "process.cpu", "process.rss", "process.start_time"},
    "dynamo": {"gateway.requests", "gateway.2xx", "gateway.4xx", "gateway.429", "gateway.5xx", "gateway.timeouts", "gateway.ttft"}
    | {"gateway.no_backend", "gateway.client_left", "gateway.overflow", "gateway.retries", "gateway.latency", "gateway.active"}
    | {
        "gateway.pending",
        "backend.requests",
        "backend.failures",
        "backend.active",
        "kv.usage",
        "queue.frontend",
        "engine.startup_time",
    },
    "ray_serve": {
        "gateway.requests",
        "gateway.2xx",
        "gateway.4xx",
        "gateway.429",
        "gateway.5xx",
        "gateway.timeouts",
        "gateway.latency",
    }
    | {"gateway.active", "gateway.pending", "gateway.queue", "gateway.upstream_requests", "gateway.upstream_latency"}
    | {"gateway.backends_healthy", "backend.active", "backend.healthy", "control.loops", "rollout.stuck", "replicas.desired"}
    | {"autoscaler.desired", "autoscaler.value"},
}
"""What each payload must serve."""

LEFT_OUT = {
    "vllm-0.32.0": {
        "http_request_duration_seconds",
        "vllm:mm_cache_hits_total",
        "vllm:mm_cache_queries_total",
        "vllm:request_inference_time_seconds",
        "vllm:request_prefill_kv_computed_tokens",
    },
    "vllm-0.6-v0": {
        "vllm:avg_generation_throughput_toks_per_s",
        "vllm:cpu_cache_usage_perc",
        "vllm:cpu_prefix_cache_hit_rate",
        "vllm:tokens_total",
    },
    "vllm-features": {"vllm:kv_offload_cpu_cache_usage_perc"},
    "sglang-0.5.18": {
        "sglang:cache_hit_rate",
        "sglang:decode_sum_seq_lens",
        "sglang:evicted_tokens_total",
        "sglang:forward_execution_seconds_total",
        "sglang:full_token_usage",
        "sglang:gen_throughput",
        "sglang:get_loads_duration_seconds",
        "sglang:hicache_backup_tokens_total",
        "sglang:hicache_host_total_tokens",
        "sglang:hicache_host_used_tokens",
        "sglang:http_requests_total",
        "sglang:is_cuda_graph",
        "sglang:kv_available_tokens",
        "sglang:kv_cache_memory_usage_gb",
        "sglang:load_back_tokens_total",
        "sglang:lora_pool_utilization",
        "sglang:max_running_requests_under_SLO",
        "sglang:max_total_num_tokens_swa",
        "sglang:new_token_ratio",
        "sglang:num_decode_prealloc_queue_reqs",
        "sglang:num_grammar_cache_hit_total",
        "sglang:num_paused_reqs",
        "sglang:num_prefill_inflight_queue_reqs",
        "sglang:num_prefill_retries_total",
        "sglang:num_retracted_input_tokens_total",
        "sglang:num_retracted_output_tokens_total",
        "sglang:num_retracted_reqs",
        "sglang:num_so_requests_total",
        "sglang:spec_block_accept_length",
        "sglang:spec_cap_length",
        "sglang:spec_num_draft_tokens",
        "sglang:spec_num_steps",
        "sglang:startup_available_gpu_memory_gb",
        "sglang:uncached_prompt_tokens_histogram",
        "sglang:utilization",
        "sglang:weight_memory_usage_gb",
    },
    "trtllm-1.3": {
        "trtllm_avg_decoded_tokens_per_iter",
        "trtllm_cpu_memory_usage_bytes",
        "trtllm_gpu_memory_usage_bytes",
        "trtllm_kv_cache_free_blocks",
        "trtllm_kv_cache_host_utilization",
        "trtllm_kv_cache_intra_device_copy_bytes_total",
        "trtllm_kv_cache_iter_full_reused_blocks_total",
        "trtllm_kv_cache_iter_missed_blocks_total",
        "trtllm_kv_cache_iter_partial_reused_blocks_total",
        "trtllm_kv_cache_iter_reused_blocks_total",
        "trtllm_kv_cache_missed_blocks_total",
        "trtllm_kv_cache_used_blocks",
        "trtllm_num_context_requests",
        "trtllm_num_generation_requests",
        "trtllm_num_scheduled_requests",
        "trtllm_pinned_memory_usage_bytes",
        "trtllm_prefill_batch_occupancy",
        "trtllm_prefill_batch_tokens",
        "trtllm_request_inference_time_seconds",
        "trtllm_spec_decode_draft_overhead",
        "trtllm_total_context_tokens",
    },
    "trtllm-1.0": set(),
    "triton-trtllm": {
        "nv_cpu_utilization",
        "nv_inference_count",
        "nv_inference_exec_count",
        "nv_trt_llm_inflight_batcher_metrics",
        "nv_trt_llm_runtime_memory_metrics",
    },
    "tgi-3.3": {"tgi_request_inference_duration", "tgi_request_skipped_tokens"},
    "llamacpp-2026-08": {
        "llamacpp:n_busy_slots_per_decode",
        "llamacpp:predicted_tokens_seconds",
        "llamacpp:prompt_seconds_total",
        "llamacpp:prompt_tokens_seconds",
    },
    "llamacpp-2025-02": set(),
    "lmdeploy-2026-08": {
        "lmdeploy:backend_config_info",
        "lmdeploy:iteration_tokens_total",
        "lmdeploy:num_api_requests_routed",
        "lmdeploy:num_requests_failed",
        "lmdeploy:request_cache_hit_ratio",
        "lmdeploy:request_cached_tokens",
        "lmdeploy:request_inference_time_seconds",
        "lmdeploy:spec_decode_per_position_accept_rate",
        "process_virtual_memory_bytes",
    },
    "dynamo": {
        "dynamo_frontend_lora_churn_loads_total",
        "dynamo_frontend_model_total_kv_blocks",
        "dynamo_frontend_queued_requests",
        "dynamo_work_handler_enqueue_rejected_total",
    },
    "ray_serve": {
        "ray_serve_batch_utilization_percent",
    },
}
"""The families of each payload that nobody reads; a name that ought to be read and is misspelt in a dialect turns up here."""


def test_every_payload_has_its_expectations() -> None:
    """A captured exposition without expectations would prove nothing."""
    assert {path.stem for path in PAYLOADS.glob("*.txt")} >= set(SERVES) == set(LEFT_OUT)


@pytest.mark.parametrize("name", SERVES)
def test_payload_serves_its_signals(name: str) -> None:
    """Each signal that the engine can serve comes out of its exposition, and nothing is out of range."""
    recording = read(payload(name))
    assert SERVES[name] <= served(recording)
    assert recording.problems == ()


@pytest.mark.parametrize("name", LEFT_OUT)
def test_payload_is_read_but_for_known_families(name: str) -> None:
    """What is not read of an exposition is left out on purpose."""
    assert unread(payload(name)) == LEFT_OUT[name]


@pytest.mark.parametrize("name", ENGINES)
def test_engine_dialect_is_sound(name: str) -> None:
    """Each engine has a dialect, it speaks of measured signals only, and its engines are found by their job."""
    spoken = dialect(name)
    assert spoken.scope is (Scope.GATEWAY if name in {"dynamo", "ray_serve"} else Scope.REPLICA)
    assert not [entry.signal for entry in spoken.metrics if entry.signal and catalogue()[entry.signal].derived]
    assert re.fullmatch(spoken.jobs, name.removesuffix("_serve"))


@pytest.mark.parametrize(
    ("name", "own", "foreign"),
    [
        (
            "vllm",
            ["vllm", "vllm-0", "prod/vllm", "my-vllm-server", "vllm-prefill-1"],
            ["vllm-router", "vllm_stack_router", "node"],
        ),
        ("sglang", ["sglang", "sglang-worker", "team.sglang"], ["sglang-gateway", "sglang-router"]),
        ("trtllm", ["trtllm", "trtllm-serve", "tensorrt-llm", "tensorrt_llm-0"], ["triton", "tensorrt"]),
        ("llamacpp", ["llamacpp", "llama.cpp", "llama-server"], ["llama-guard", "llama"]),
        ("tgi", ["tgi", "text-generation-inference"], ["tgif"]),
    ],
)
def test_job_names_tell_engines_from_their_routers(name: str, own: list[str], foreign: list[str]) -> None:
    """The generic metrics of a router must not become those of an engine."""
    jobs = re.compile(dialect(name).jobs)
    assert [job for job in own if not jobs.fullmatch(job)] == []
    assert [job for job in foreign if jobs.fullmatch(job)] == []


def test_counters_are_found_with_and_without_total() -> None:
    """Engines' sources and older servers write a counter without the suffix that the client library adds."""
    recording = read(text_of("counter", "vllm:num_preemptions 30", "tgi_request_count_total 45"))
    assert count(recording, "preemptions") == 30
    assert count(recording, "http.requests") == 45


@pytest.mark.parametrize("prefix", ["vllm:", "vllm_", "ray_vllm:", "ray_vllm_"])
def test_vllm_prefixes_are_one(prefix: str) -> None:
    """Under Ray, and behind exporters that dislike colons, the same names have another prefix."""
    recording = read(f'# TYPE {prefix}num_preemptions_total counter\n{prefix}num_preemptions_total{{ReplicaId="r"}} 7\n')
    assert count(recording, "preemptions") == 7


def test_created_series_are_ignored() -> None:
    """A ``_created`` series holds a Unix time and not a count."""
    assert "vllm:prompt_tokens_created" in payload("vllm-0.32.0")
    assert count(read(payload("vllm-0.32.0")), "tokens.prompt") == 3


# vLLM


def test_vllm_newest_name_is_taken_where_both_are_shown() -> None:
    """From 0.9.2 to 0.10 the KV gauge stood there twice."""
    one = series_of(read(text_of("gauge", "vllm:gpu_cache_usage_perc 0.5", "vllm:kv_cache_usage_perc 0.6")), "kv.usage")
    assert (one.origin.metric, one.values[-1]) == ("vllm:kv_cache_usage_perc", 0.6)


def test_vllm_rename_in_the_middle_does_not_end_a_signal() -> None:
    """After an upgrade the new name goes on where the old one ended, and the other way round after a rollback."""
    labels = {**SCRAPE, "model_name": "m"}
    early, late = np.arange(0.0, 300.0, STEP), np.arange(300.0, 900.0, STEP)
    old = RawSeries("vllm:gpu_cache_usage_perc", labels, late, np.full(len(late), 0.4))
    new = RawSeries("vllm:kv_cache_usage_perc", labels, early, np.full(len(early), 0.9))
    recording = translate([new, old], load_dialects(), Service(name="svc"), Window(600.0, 900.0, 0.0))
    assert series_of(recording, "kv.usage").times[-1] == late[-1]


def test_vllm_v0_names_serve_the_same_signals() -> None:
    """Names that V0 had: cache usage, swapped requests, latency per token, time in queue, hit rate."""
    recording = read(payload("vllm-0.6-v0"))
    assert last(recording, "kv.usage") == 0.97
    assert last(recording, "batch.paused") == 3
    assert mean(recording, "latency.itl") == pytest.approx(956 / 23900)
    assert mean(recording, "latency.queue") == pytest.approx(0.22)
    assert last(recording, "prefix.hit_ratio_reported") == 0.35


def test_vllm_steps_are_the_count_of_a_histogram_named_total() -> None:
    """iteration_tokens_total is a histogram: its count is the heartbeat, its sum the tokens."""
    recording = read(payload("vllm-0.32.0"))
    assert count(recording, "engine.steps") == 64
    assert mean(recording, "engine.step_tokens") == pytest.approx(67 / 64)


def test_vllm_data_parallel_engines_are_replicas_of_their_own() -> None:
    """Two engines of one server run different requests on caches of their own; the process is one."""
    recording = read(payload("vllm-features"))
    assert [(one.subject.id, one.values[-1]) for one in recording.by_signal["batch.running"]] == [
        ("svc-0/engine-0", 30),
        ("svc-0/engine-1", 10),
    ]
    assert max(one.values[-1] for one in recording.by_signal["kv.usage"]) == 0.91


def test_vllm_processes_that_report_the_same_cache_count_once() -> None:
    """For a while the KV gauge had one series per API process, told apart by the label pid."""
    text = text_of("gauge", 'vllm:kv_cache_usage_perc{pid="7"} 0.8', 'vllm:kv_cache_usage_perc{pid="8"} 0.8')
    assert last(read(text), "kv.usage") == 0.8


def test_vllm_waiting_is_split_by_reason() -> None:
    """Requests that wait for room are not those that wait for something else."""
    recording = read(payload("vllm-features"))
    assert (total(recording, "queue.capacity"), total(recording, "queue.deferred")) == (6, 2)


def test_vllm_finish_reasons_are_told_apart() -> None:
    """Aborted requests are counted under success; repetition counts as finished and as nothing else."""
    reasons = {"stop": 8, "length": 4, "abort": 2, "error": 1, "repetition": 5}
    lines = [f'vllm:request_success_total{{engine="0",finished_reason="{reason}"}} {n}' for reason, n in reasons.items()]
    recording = read(text_of("counter", *lines))
    assert count(recording, "finished") == 20
    assert [count(recording, f"finished.{reason}") for reason in ("stop", "length", "abort", "error")] == [8, 4, 2, 1]


def test_vllm_sleep_state_says_asleep_and_not_awake() -> None:
    """The gauge has one series per state, and the one called awake is 1 in normal times."""
    assert last(read(payload("vllm-0.32.0")), "engine.sleeping") == 0
    assert last(read(payload("vllm-features")), "engine.sleeping") == 1


def test_vllm_names_repeated_by_a_router_are_no_engine() -> None:
    """production-stack's router shows vLLM's names with the label server, as gauges."""
    server = '{server="http://10.0.0.9:8000"}'
    router = text_of("gauge", f"vllm:num_requests_running{server} 50", f"vllm:gpu_prefix_cache_hits_total{server} 9000")
    assert not served(read(router)) & {"batch.running", "prefix.hits"}
    assert not served(read(router + text_of("gauge", "vllm:kv_cache_usage_perc 0.5"))) & {"batch.running", "prefix.hits"}


def test_vllm_mean_per_request_is_not_inter_token_latency() -> None:
    """request_time_per_output_token_seconds is one mean per finished request."""
    assert "latency.itl" not in served(read(text_of("histogram", "vllm:request_time_per_output_token_seconds 1 1")))


def test_vllm_nixl_volume_is_the_sum_of_a_histogram() -> None:
    """nixl_bytes_transferred is a histogram; its count is transfers and not bytes."""
    recording = read(payload("vllm-features"))
    assert count(recording, "pd.transfer_bytes") == 3e9
    assert mean(recording, "pd.transfer_time") == pytest.approx(0.075)


def test_vllm_deprecated_offload_counters_are_split_by_direction() -> None:
    """Before loads and stores had counters of their own, one counter held both."""
    ways = {"CPU_to_GPU": 300, "GPU_to_CPU": 90}
    lines = [f'vllm:kv_offload_total_bytes_total{{transfer_type="{way}"}} {n}' for way, n in ways.items()]
    recording = read(text_of("counter", *lines))
    assert (count(recording, "offload.load_bytes"), count(recording, "offload.store_bytes")) == (300, 90)


def test_vllm_facts_are_numbers_and_none_is_no_fact() -> None:
    """The labels of cache_config_info are text, and many of them are None."""
    known = facts(read(payload("vllm-0.32.0")))
    assert known == {
        "block_size": 128.0,
        "gpu_memory_utilization": 0.92,
        "enable_prefix_caching": "True",
        "kv_cache_dtype": "auto",
        "kv_cache_tokens": 38400.0,
        "model": "tiny",
        "num_gpu_blocks": 300.0,
    }
    assert facts(read(text_of("gauge", 'vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1'))) == {
        "block_size": 16.0
    }


def test_vllm_inside_triton_is_read_as_vllm() -> None:
    """Triton's vLLM backend shows a few of vLLM's names, an old one among them, with labels of its own."""
    engine = text_of("histogram", 'vllm:time_per_output_token_seconds{model="m",version="1"} 0.5 10')
    server = text_of("gauge", 'nv_inference_pending_request_count{model="m",version="1"} 0')
    recording = read(engine + server)
    assert mean(recording, "latency.itl") == pytest.approx(0.05)
    assert "queue.waiting" not in served(recording)


def test_vllm_http_counts_are_its_own_targets() -> None:
    """http_requests_total and process_* are anybody's names: they are an engine's only on an engine's target."""
    generic = text_of("counter", 'http_requests_total{status="5xx"} 30') + text_of("gauge", "process_open_fds 9")
    engine = text_of("gauge", "vllm:kv_cache_usage_perc 0.5")
    assert {"http.5xx", "process.open_fds"} <= served(read(engine + generic))
    assert not served(read(generic, {**SCRAPE, "job": "some-web-shop"})) & {"http.5xx", "process.open_fds"}
    assert {"http.5xx", "process.open_fds"} <= served(read(generic, {**SCRAPE, "job": "vllm"}))


# SGLang


def test_sglang_priority_parts_are_not_added_to_their_total() -> None:
    """The empty priority holds the total of all priorities, of each of two data-parallel ranks."""
    recording = read(payload("sglang-0.5.18"))
    assert total(recording, "batch.running") == 88
    assert total(recording, "queue.waiting") == 12


def test_sglang_pipeline_ranks_are_copies() -> None:
    """Each stage of a pipeline reports the same requests."""
    lines = [f'sglang:num_running_reqs{{pp_rank="{rank}",tp_rank="0"}} 30' for rank in (0, 1)]
    assert last(read(text_of("gauge", *lines)), "batch.running") == 30


def test_sglang_steps_are_those_of_one_tensor_parallel_rank() -> None:
    """All ranks count their decode passes; the payload has three copies that must not be added."""
    recording = read(payload("sglang-0.5.18"))
    assert count(recording, "engine.steps") == 900 + 10 + 60
    assert count(recording, "engine.eager_steps") == 10


@pytest.mark.parametrize("false", ["false", "False"])
def test_sglang_ttft_leaves_out_requests_that_do_not_stream(false: str) -> None:
    """Of a request that does not stream, the first token comes with the last."""
    text = payload("sglang-0.5.18").replace('is_streaming="false"', f'is_streaming="{false}"')
    recording = read(text)
    assert histogram_of(recording, "latency.ttft").rates[-1].sum() * STEP == pytest.approx(180)
    assert mean(recording, "latency.ttft") < 1
    assert histogram_of(recording, "latency.e2e").rates[-1].sum() * STEP == pytest.approx(200)


def test_sglang_ttft_of_older_versions_has_no_such_label() -> None:
    """Before 2026-08 the histogram did not say whether a request streams."""
    assert mean(read(text_of("histogram", "sglang:time_to_first_token_seconds 5 10")), "latency.ttft") == pytest.approx(0.5)


def test_sglang_progress_is_counted_while_requests_run() -> None:
    """generation_tokens_total moves when a request ends; realtime_tokens_total moves with it and comes first."""
    recording = read(payload("sglang-0.5.18"))
    assert {one.origin.metric for one in recording.by_signal["tokens.generation"]} == {"sglang:realtime_tokens_total"}
    assert total(recording, "tokens.generation") * STEP == pytest.approx(2 * 43210)


def test_sglang_prompt_tokens_leave_out_retractions_and_computed_ones_do_not() -> None:
    """What is computed again after a retraction is work but no demand."""
    recording = read(payload("sglang-0.5.18"))
    assert total(recording, "tokens.prompt") * STEP == pytest.approx(2 * (84000 + 40000 + 3000 + 1000))
    assert total(recording, "tokens.prompt_computed") * STEP == pytest.approx(2 * 91000)


def test_sglang_hits_are_summed_over_tiers() -> None:
    """The hit ratio has the hits of all tiers above and all prompt tokens below."""
    recording = read(payload("sglang-0.5.18"))
    assert total(recording, "prefix.hits") / total(recording, "prefix.queries") == pytest.approx(44000 / 128000)


@pytest.mark.parametrize("sources", [{"total": 60}, {"device": 40, "host": 15, "storage_file": 5}, {"": 60}])
def test_sglang_cached_tokens_count_once_however_they_are_split(sources: dict[str, int]) -> None:
    """cached_tokens_total has the source "total" or the sources by name, never both; older versions have no such label."""
    lines = [f'sglang:cached_tokens_total{{cache_source="{source}"}} {n}' for source, n in sources.items()]
    recording = read(text_of("counter", *lines, "sglang:prompt_tokens_total 240"))
    assert count(recording, "prefix.hits") == 60
    assert count(recording, "prefix.queries") == 240


def test_sglang_numbers_that_mislead_are_not_read() -> None:
    """cache_hit_rate is zeroed by decode logs, and paused requests wait for new weights and not for room."""
    recording = read(payload("sglang-0.5.18"))
    assert not served(recording) & {"batch.paused", "prefix.hit_ratio_reported"}


def test_sglang_occupancy_is_a_percentage_and_nan_is_no_value() -> None:
    """fwd_occupancy is NaN when idle and without its timer."""
    assert "engine.forward_busy" not in served(read(payload("sglang-0.5.18")))
    assert last(read(text_of("gauge", "sglang:fwd_occupancy 87.5")), "engine.forward_busy") == 0.875


def test_sglang_transfer_gauges_of_older_versions_are_no_histograms() -> None:
    """Until 2026-03 the latest transfer's time was a gauge of the same name."""
    assert "pd.transfer_time" not in served(read(text_of("gauge", "sglang:kv_transfer_latency_ms 40")))
    recording = read(payload("sglang-0.5.18"))
    assert 0.005 < mean(recording, "pd.transfer_time") < 0.09
    assert histogram_of(recording, "pd.transfer_time").bounds[0] == 0.001


def test_sglang_running_total_in_a_gauge_becomes_a_rate() -> None:
    """total_retracted_reqs was a gauge that only rose."""
    labels = {**SCRAPE, "model_name": "m"}
    raw = RawSeries("sglang:total_retracted_reqs", labels, np.array([0.0, 10.0, 20.0]), np.array([100.0, 130.0, 130.0]))
    recording = translate([raw], load_dialects(), Service(name="svc"), Window(0.0, 20.0, 0.0))
    assert series_of(recording, "preemptions").values.tolist() == [3.0, 0.0]


def test_sglang_front_end_does_not_count_scrapes_and_health_checks() -> None:
    """SGLang counts the requests to /metrics and /health with all others."""
    recording = read(payload("sglang-0.5.18"))
    assert count(recording, "http.requests") == 200
    assert [count(recording, f"http.{code}") for code in ("2xx", "4xx", "5xx")] == [190, 6, 4]
    assert last(recording, "http.active") == 93


def test_sglang_cpu_is_that_of_the_tokenizer() -> None:
    """The API process is the one that can be starved by tokenizing; process_* is absent in several-process mode."""
    assert count(read(payload("sglang-0.5.18")), "process.cpu") == 61.5


def test_sglang_waiting_for_remote_kv_depends_on_the_role() -> None:
    """A decode engine waits for transfers and a prefill engine for bootstraps; a unified one for neither."""
    decode = text_of("gauge", 'sglang:num_decode_transfer_queue_reqs{engine_type="decode",pp_rank="0"} 4')
    prefill = text_of("gauge", 'sglang:num_prefill_bootstrap_queue_reqs{engine_type="prefill",pp_rank="0"} 3')
    assert last(read(decode), "queue.deferred") == 4
    assert last(read(prefill), "queue.deferred") == 3
    assert "queue.deferred" not in served(read(payload("sglang-0.5.18")))


def test_sglang_short_lived_and_old_names() -> None:
    """queue_time_s lived for one version, time_per_output_token_seconds until 0.4.4."""
    recording = read(text_of("histogram", "sglang:queue_time_s 2 4", "sglang:time_per_output_token_seconds 2 4"))
    assert mean(recording, "latency.queue") == mean(recording, "latency.itl") == 0.5


def test_sglang_facts_come_from_plain_gauges() -> None:
    """SGLang shows its limits as gauges and not as labels."""
    known = facts(read(payload("sglang-0.5.18")))
    assert known["block_size"] == 64
    assert known["num_gpu_blocks"] == 6248
    assert known["max_model_len"] == 131072
    assert known["max_loras"] == 8
    assert known["model"] == "llama-70b"


# TensorRT-LLM


def test_trtllm_names_without_a_prefix_are_read() -> None:
    """Before 1.1 the four histograms and the counter had bare names."""
    recording = read(payload("trtllm-1.0"))
    assert count(recording, "finished") == 40
    assert mean(recording, "latency.ttft") == pytest.approx(20.659 / 40, abs=0.001)
    assert "queue.waiting" not in served(recording)


def test_trtllm_gauges_are_in_base_units() -> None:
    """Iteration latency is in seconds here (the JSON endpoint has ms), KV use from 0 to 1."""
    recording = read(payload("trtllm-1.3"))
    assert last(recording, "engine.step_time") == 0.0312
    assert last(recording, "kv.usage") == 0.8125
    assert last(recording, "batch.paused") == 3


def test_trtllm_recent_reuse_is_preferred_to_the_mean_since_start() -> None:
    """kv_cache_hit_rate covers the whole life and had warm-up requests in it."""
    assert series_of(read(payload("trtllm-1.3")), "prefix.hit_ratio_reported").origin.metric == "trtllm_kv_cache_iter_reuse_rate"
    assert last(read(text_of("gauge", "trtllm_kv_cache_hit_rate 0.3")), "prefix.hit_ratio_reported") == 0.3


def test_trtllm_generic_names_of_the_disaggregated_server_are_not_read() -> None:
    """total_requests_total and the like could be anybody's."""
    generic = {"total_requests_total", "internal_errors_total", "validation_exceptions_total"}
    assert unread(text_of("counter", *(f"{name} 1" for name in generic))) == generic


def test_trtllm_aborts_come_from_the_worker_or_from_the_reasons() -> None:
    """Dynamo's worker counts aborted requests; without it the finish reasons tell."""
    text = payload("trtllm-1.3")
    assert count(read(text), "finished.abort") == 4
    alone = "\n".join(line for line in text.splitlines() if "num_aborted" not in line) + "\n"
    assert count(read(alone), "finished.abort") == 30


def test_trtllm_errors_are_split_by_code() -> None:
    """A 400 is the client's fault."""
    recording = read(payload("trtllm-1.3"))
    assert (count(recording, "http.4xx"), count(recording, "http.5xx"), count(recording, "finished.error")) == (5, 2, 2)


def test_trtllm_facts_come_from_four_info_metrics_and_gauges() -> None:
    """Model, parallelism, cache and batch limits."""
    assert facts(read(payload("trtllm-1.3"))) == {
        "block_size": 32,
        "dtype": "bfloat16",
        "gpu_model": "NVIDIA H200",
        "kv_cache_dtype": "fp8",
        "max_model_len": 16384,
        "max_num_batched_tokens": 4096,
        "max_num_seqs": 64,
        "model": "llama-3.3-70b",
        "num_gpu_blocks": 8000,
        "quantization": "FP8",
        "tensor_parallel_size": 2,
    }


# Triton


def test_triton_ensembles_do_not_count_a_request_four_times() -> None:
    """Wrapper, pre- and post-processing count the same request as the model that does the work."""
    recording = read(payload("triton-trtllm"))
    assert count(recording, "finished") == 400
    assert count(recording, "finished.error") == 2
    assert histogram_of(recording, "latency.ttft").rates[-1].sum() * STEP == pytest.approx(400)


def test_triton_milliseconds_and_microseconds_become_seconds() -> None:
    """Bounds and sums of the first response are in ms, summaries in µs."""
    recording = read(payload("triton-trtllm"))
    assert histogram_of(recording, "latency.ttft").bounds.tolist() == [0.1, 0.5, 2.0, 5.0, np.inf]
    assert mean(recording, "latency.ttft") == pytest.approx(0.15)
    assert mean(recording, "latency.e2e") == pytest.approx(6.0)
    assert mean(recording, "latency.queue") == pytest.approx(0.1)


def test_triton_summary_quantiles_are_no_observations() -> None:
    """Only the sum and the count of a summary are read, and the distribution is known by its mean alone."""
    assert histogram_of(read(payload("triton-trtllm")), "latency.e2e").bounds.tolist() == [np.inf]


def test_triton_card_values_are_ratio_and_bytes() -> None:
    """Unlike DCGM's exporter, which says percent and MiB."""
    recording = read(payload("triton-trtllm"))
    assert last(recording, "gpu.util") == 0.93
    assert last(recording, "gpu.mem_used") == 72 * 2**30
    assert series_of(recording, "gpu.util").subject == Subject(Scope.GPU, "GPU-4b5e")


def test_triton_mixed_units_under_one_name_are_told_apart() -> None:
    """Blocks, tokens per block and a fraction are series of one metric; so are limits and counts of requests."""
    recording = read(payload("triton-trtllm"))
    assert last(recording, "kv.usage") == 0.4875
    assert (last(recording, "queue.waiting"), last(recording, "batch.running"), last(recording, "batch.limit")) == (9, 60, 64)
    assert facts(recording) == {"block_size": 64, "num_gpu_blocks": 6239, "max_num_seqs": 64}


def test_triton_iteration_counter_is_a_gauge_that_rises() -> None:
    """The heartbeat of the TensorRT-LLM backend is typed as a gauge."""
    labels = {**SCRAPE, "general_type": "iteration_counter", "model": "tensorrt_llm"}
    raw = RawSeries("nv_trt_llm_general_metrics", labels, np.array([0.0, 15.0]), np.array([30000.0, 30450.0]))
    recording = translate([raw], load_dialects(), Service(name="svc"), Window(0.0, 15.0, 0.0))
    assert last(recording, "engine.steps") == 30


# Text Generation Inference, llama.cpp, LMDeploy


def test_tgi_has_no_time_to_first_token() -> None:
    """Nothing that TGI measures is the time to first token, and nothing is passed off as it."""
    assert not served(read(payload("tgi-3.3"))) & {"latency.ttft", "latency.prefill"}


def test_tgi_failures_are_told_apart() -> None:
    """Refused for load, refused as wrong, failed, and given up by the client are four things."""
    recording = read(payload("tgi-3.3"))
    got = [count(recording, name) for name in ("admission.rejected", "http.4xx", "http.5xx", "finished.error", "finished.abort")]
    assert got == [20, 10, 5, 5, 5]


def test_tgi_tokens_are_sums_of_length_histograms() -> None:
    """TGI has no token counters; batches are its heartbeat."""
    recording = read(payload("tgi-3.3"))
    assert count(recording, "tokens.generation") == 76000
    assert count(recording, "tokens.prompt") == 320000
    assert count(recording, "engine.steps") == 30400


def test_llamacpp_without_labels_is_known_by_its_address() -> None:
    """llama.cpp puts no labels on its metrics, and a scrape of one endpoint adds none."""
    bare = read(payload("llamacpp-2026-08"), {})
    assert series_of(bare, "batch.running").subject.scope is Scope.REPLICA
    scraped = read(payload("llamacpp-2026-08"), {"instance": "10.0.0.7:8080", "job": "svc"})
    assert series_of(scraped, "queue.waiting").subject == Subject(Scope.REPLICA, "10.0.0.7:8080")


def test_llamacpp_says_nothing_of_its_cache_any_more() -> None:
    """The KV gauges were removed in 2025-05: unknown, and not empty."""
    assert not served(read(payload("llamacpp-2026-08"))) & {"kv.usage", "kv.used"}
    assert last(read(payload("llamacpp-2025-02")), "kv.usage") == 0.58


def test_lmdeploy_running_totals_in_gauges_become_rates() -> None:
    """num_requests_succeeded is a gauge that only rises; it stands in where the counter is missing."""
    labels = {**SCRAPE, "model_name": "m", "engine": "0"}
    raw = RawSeries("lmdeploy:num_requests_succeeded", labels, np.array([0.0, 15.0, 30.0]), np.array([200.0, 245.0, 260.0]))
    recording = translate([raw], load_dialects(), Service(name="svc"), Window(0.0, 30.0, 0.0))
    assert series_of(recording, "finished").values.tolist() == [3.0, 1.0]


def test_lmdeploy_outputs_of_requests_are_no_engine_steps() -> None:
    """iteration_tokens_total observes each output of each request, so its count is not that of iterations."""
    assert not served(read(payload("lmdeploy-2026-08"))) & {"engine.steps", "engine.step_tokens"}


def test_lmdeploy_gap_is_per_token() -> None:
    """iter_token_latency is the time between two outputs, which may hold several tokens."""
    one = histogram_of(read(payload("lmdeploy-2026-08")), "latency.itl")
    assert one.origin.metric == "lmdeploy:time_per_output_token_seconds"


# Dynamo and Ray Serve


def test_dynamo_queued_requests_are_not_added_to_those_in_flight() -> None:
    """A request is queued until its first token and in flight all the time."""
    recording = read(payload("dynamo"))
    assert last(recording, "gateway.active") == 29
    assert last(recording, "gateway.pending") == 2


def test_dynamo_errors_are_told_apart() -> None:
    """Wrong, refused for load, without a worker, timed out and cancelled are five things."""
    recording = read(payload("dynamo"))
    names = ("gateway.2xx", "gateway.4xx", "gateway.429", "gateway.no_backend", "gateway.timeouts", "gateway.5xx")
    assert [count(recording, name) for name in names] == [300, 7, 5, 3, 2, 5]
    assert count(recording, "gateway.requests") == 350


def test_dynamo_older_builds_name_no_error_type() -> None:
    """Without the label every error is a server error."""
    lines = [f'dynamo_frontend_requests_total{{status="{status}"}} {n}' for status, n in (("error", 6), ("success", 9))]
    recording = read(text_of("counter", *lines))
    assert (count(recording, "gateway.5xx"), count(recording, "gateway.requests")) == (6, 15)
    assert not served(recording) & {"gateway.4xx", "gateway.429"}


def test_dynamo_percent_is_a_ratio() -> None:
    """gpu_cache_usage_percent goes from 0 to 1."""
    assert last(read(payload("dynamo")), "kv.usage") == 0.62


def test_dynamo_disconnects_are_a_gauge_that_rises() -> None:
    """disconnected_clients counts up and never down."""
    raw = RawSeries("dynamo_frontend_disconnected_clients", dict(SCRAPE), np.array([0.0, 15.0]), np.array([6.0, 21.0]))
    recording = translate([raw], load_dialects(), Service(name="svc"), Window(0.0, 15.0, 0.0))
    assert last(recording, "gateway.client_left") == 1


def test_dynamo_counts_requests_to_workers_and_not_its_own_calls() -> None:
    """Workers have other endpoints than generate."""
    assert count(read(payload("dynamo")), "backend.requests") == 340


def test_dynamo_limits_of_the_model_are_the_services() -> None:
    """The front end registers what holds for every worker of the model."""
    assert facts(read(payload("dynamo")), Scope.SERVICE) == {
        "block_size": 16,
        "max_model_len": 32768,
        "max_num_batched_tokens": 8192,
        "max_num_seqs": 64,
    }


def test_dynamo_loads_of_one_tick_are_no_running_total() -> None:
    """lora_churn_loads_total is a gauge of the controller's last tick."""
    assert "lora.loads" not in served(read(payload("dynamo")))


def test_ray_latencies_are_milliseconds() -> None:
    """Bounds and sums of all Ray Serve histograms are in ms."""
    recording = read(payload("ray_serve"))
    assert histogram_of(recording, "gateway.latency").bounds.tolist() == [1.0, 10.0, np.inf]
    assert mean(recording, "gateway.latency") == pytest.approx(6.0)
    assert mean(recording, "gateway.queue") == pytest.approx(0.05)


def test_ray_counters_of_older_versions_lack_total_and_are_gauges() -> None:
    """num_http_requests without a suffix, typed as a gauge, is the same running total."""
    labels = {**SCRAPE, "status_code": "200"}
    raw = RawSeries("ray_serve_num_http_requests", labels, np.array([0.0, 15.0]), np.array([100.0, 160.0]))
    recording = translate([raw], load_dialects(), Service(name="svc"), Window(0.0, 15.0, 0.0))
    assert last(recording, "gateway.requests") == last(recording, "gateway.2xx") == 4


def test_ray_codes_are_told_apart() -> None:
    """429 refuses for load, and 408 is Ray giving up, not the client's fault."""
    recording = read(payload("ray_serve"))
    names = ("gateway.2xx", "gateway.4xx", "gateway.429", "gateway.5xx", "gateway.timeouts")
    assert [count(recording, name) for name in names] == [800, 4, 2, 19, 6]


def test_ray_controller_loop_is_a_heartbeat() -> None:
    """The gauge of control loops only rises, and stands still when the controller hangs."""
    labels = {**SCRAPE, "actor_id": "c1"}
    raw = RawSeries(
        "ray_serve_controller_num_control_loops", labels, np.array([0.0, 15.0, 30.0]), np.array([7200.0, 7350.0, 7350.0])
    )
    recording = translate([raw], load_dialects(), Service(name="svc"), Window(0.0, 30.0, 0.0))
    assert series_of(recording, "control.loops").values.tolist() == [10.0, 0.0]


def test_ray_health_of_replicas_is_told_one_by_one_and_as_a_number() -> None:
    """The controller's view: which replicas it thinks healthy, and how many."""
    recording = read(payload("ray_serve"))
    assert last(recording, "gateway.backends_healthy") == 1
    healthy = {one.subject.id: one.values[-1] for one in recording.series if one.signal == "backend.healthy"}
    assert healthy == {"r1": 1, "r2": 0}
    assert last(recording, "rollout.stuck") == 1
