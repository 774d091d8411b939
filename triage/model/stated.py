"""The names of what a person states about a service: what it promises, and what is known of it that no metric tells."""

import re

_DELAY = re.compile(r"(ttft|itl|e2e)_(p50|p95|p99)_s", re.ASCII)

OBJECTIVES: dict[str, str] = {
    "ttft_p95_s": "time to first token, seconds; also p50, p99",
    "itl_p95_s": "time between two tokens, seconds; also p50, p99",
    "e2e_p95_s": "time of a whole request, seconds; also p50, p99",
    "error_ratio": "share of requests that fail",
    "refused_ratio": "share of requests that are refused",
    "abandoned_ratio": "share of requests that were given up",
    "cut_ratio": "share of answers that are cut at their limit",
    "vanished_ratio": "share of requests that vanish on the way",
}
"""What a service can promise: the names of objectives in triage.toml and case.toml."""

FACTS: dict[str, str] = {
    "active_parameters": "parameters that one token passes, where the model has experts",
    "allow_auto_truncate": "whether a prompt that is too long is cut silently",
    "attention_backend": "kernels of attention that the engine is told to use",
    "attention_heads": "query heads of the model",
    "autoscaler_metric": "what the autoscaler scales on",
    "block_size": "tokens of one block of the KV cache",
    "chunked_prefill_size": "tokens of a prompt that one step takes in",
    "data_parallel_size": "copies of the model in one engine",
    "deployment": "Kubernetes deployment that runs the replicas",
    "device": "what the engine computes on (cuda, cpu …)",
    "disable_overlap_schedule": "whether the engine prepares a step only once the one before is done",
    "disaggregation_mode": "the half of the work that an engine does (prefill, decode)",
    "driver_version": "driver of the cards",
    "dtype": "of weights that are not quantised (bfloat16, float16 …)",
    "enable_prefix_caching": "whether prefixes of prompts are kept",
    "endpoint": "host and port of the engine's HTTP server",
    "enforce_eager": "whether the engine runs without captured graphs",
    "engine": "vllm, sglang, trtllm …",
    "engine_version": "its version",
    "gateway": "host and port of the gateway in front of the engines",
    "gateway_deployment": "Kubernetes deployment that runs the gateway",
    "gpu_memory_utilization": "share of the card that the engine takes",
    "gpu_model": "the card, as nvidia-smi -L calls it",
    "gpus": "cards of the service",
    "gpus_per_replica": "cards of one replica",
    "head_dim": "width of a head of the model",
    "hidden_size": "width of the model",
    "image": "container image of the replicas",
    "kv_cache_dtype": "of the KV cache (auto, fp8 …)",
    "kv_cache_tokens": "tokens that the KV cache holds",
    "kv_heads": "heads of keys and values of the model",
    "kv_offloading_size": "room for KV cache outside the card",
    "kv_tokens": "tokens that the KV cache holds, for playbooks",
    "kv_unified": "whether all slots of an engine share one KV cache",
    "layers": "layers of the model",
    "max_loras": "adapters that are loaded at once",
    "max_model_len": "longest prompt and answer together, tokens",
    "max_num_batched_tokens": "tokens of one step, at most",
    "max_num_seqs": "requests that run at once, at most",
    "mig_profile": "part of a card that a replica has",
    "model": "the model, as clients or its maker call it",
    "model_path": "where its weights are",
    "namespace": "Kubernetes namespace of the service",
    "nnodes": "machines that share one replica",
    "node": "machine of a replica",
    "num_gpu_blocks": "blocks of the KV cache",
    "nvlink_links": "NVLink connections of a card",
    "parameters": "all parameters of the model",
    "pipeline_parallel_size": "groups of cards that layers are split over",
    "pod": "a replica's pod",
    "power_limit_default_watts": "power limit of a card as it is sold",
    "previous_version": "version that ran before",
    "prometheus": "base address of the Prometheus server",
    "quantization": "method (fp8, awq, gptq …)",
    "replicas": "replicas wanted",
    "tensor_parallel_size": "cards that share one copy of the model",
    "unified_memory": "whether card and host share one memory",
    "version": "version that runs now",
    "weights_gib": "size of the weights on one card, GiB",
}
"""Facts that rules, arithmetic or playbooks read. A person may state others, for rules of their own."""


def is_objective(name: str) -> bool:
    """Whether anything is held against an objective of this name."""
    return name in OBJECTIVES or _DELAY.fullmatch(name) is not None
