"""How to get what is missing: which source shows a signal, an event or a fact."""

from collections.abc import Sequence
from functools import lru_cache

_HOW: tuple[tuple[str, str], ...] = (
    ("event:xid", "give the kernel log of the GPU nodes (--logs kernel-<node>.log from dmesg -T or journalctl -k)"),
    ("event:log", "give the logs of engines, gateway, kernel and cluster (--logs FOLDER)"),
    ("event:kube", "give the cluster's events (--logs kube-events.log from kubectl get events -A)"),
    ("event:metric", "name a Prometheus (--prometheus URL) or a recording with metrics"),
    ("event:", "give a file of changes (--changes FILE)"),
    ("fact:", "say it in triage.toml under [service.NAME.facts]"),
    ("gpu.bandwidth", "start vLLM or SGLang with its byte counters, and name the card (gpu_model) in triage.toml"),
    ("engine.bandwidth", "start vLLM or SGLang with its byte counters, and name the card (gpu_model) in triage.toml"),
    ("engine.compute", "start vLLM or SGLang with its operation counters, and give gpu_model and dtype in triage.toml"),
    ("decode.floor", "give gpu_model, model, dtype and gpus_per_replica in triage.toml, or the engine's log"),
    ("gpu.", "run dcgm-exporter (or the AMD exporter) on the nodes, or diagnose on the GPU machine itself (NVML)"),
    ("bytes.", "start the engine with its estimate of bytes moved (vLLM: --enable-mfu-metrics)"),
    ("flops", "start the engine with its estimate of operations (vLLM: --enable-mfu-metrics)"),
    ("node.gpu_", "run kube-state-metrics"),
    ("node.", "run node_exporter on the nodes, or diagnose on the machine itself"),
    ("container.", "let Prometheus scrape the kubelet's /metrics/cadvisor"),
    ("pod.", "run kube-state-metrics"),
    ("replicas.", "run kube-state-metrics"),
    ("rollout.", "run kube-state-metrics"),
    ("autoscaler.", "run kube-state-metrics (and scrape KEDA if it scales the service)"),
    ("requests.", 'map the application\'s own counters in triage.toml, e.g. "requests.distinct" = "app_chat_requests_total"'),
    ("client.", "export the client's own latency (OpenTelemetry HTTP client metrics)"),
    ("gateway.", "let Prometheus scrape the gateway or router before the engines"),
    ("backend.", "let Prometheus scrape the router before the engines"),
    ("service.", "let Prometheus scrape the gateway, or map the application's counters in triage.toml"),
    ("prometheus.", "let Prometheus scrape itself"),
    ("target.", "ask Prometheus (--prometheus URL); a bare scrape does not tell"),
    ("quality.", "run a quality probe and map its score in triage.toml"),
    ("log.", "give the logs (--logs FOLDER)"),
    ("spec.", "only there while speculative decoding is on"),
    ("lora.", "only there while adapters are served"),
    ("offload.", "only there while KV offloading is on"),
    ("pd.", "only there with separate prefill and decode"),
)
_ENGINE = (
    "let Prometheus scrape the engines' /metrics (SGLang: --enable-metrics; TensorRT-LLM: return_perf_metrics), or use --endpoint"
)


def how_to_get(missing: Sequence[str]) -> str:
    """What to do to have these signals, events and facts next time; each way once, in the order of what is missing."""
    return "; ".join(dict.fromkeys(_one(name) for name in missing))


@lru_cache(maxsize=4096)
def _one(name: str) -> str:
    """What to do to have one of them."""
    if "nothing to compare with" in name:
        return _comparison(name)
    return next((how for start, how in _HOW if name.startswith(start)), _ENGINE)


def _comparison(name: str) -> str:
    """What to do where the value is known and what it should be held against is not."""
    if "baseline" in name:
        return "look at a longer time before the trouble (--baseline 1h)"
    if "objective" in name:
        return "say what the service promises in triage.toml under [service.NAME.objectives]"
    if "peers" in name:
        return "needs a second replica or card to compare with"
    return "say the limit in triage.toml under [service.NAME.facts]"
