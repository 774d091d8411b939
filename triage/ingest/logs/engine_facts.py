"""What an engine states in its log as it starts: its arguments, and other facts of the start."""

from collections.abc import Iterator

from triage.classes import dataclass
from triage.ingest.logs.redaction import redacted_bytes
from triage.patterns import Pattern

ARGUMENTS: dict[str, str] = {
    "model": "model_path", "model_path": "model_path", "model_id": "model_path", "model_tag": "model_path",
    "served_model_name": "served_model_name", "dtype": "dtype", "quantization": "quantization", "revision": "revision",
    "max_num_seqs": "max_num_seqs", "max_running_requests": "max_num_seqs", "max_batch_size": "max_num_seqs",
    "max_concurrent_requests": "max_concurrent_requests", "max_queued_requests": "max_queued_requests",
    "max_model_len": "max_model_len", "context_length": "max_model_len", "context_len": "max_model_len",
    "max_seq_len": "max_model_len",
    "max_num_batched_tokens": "max_num_batched_tokens", "max_num_tokens": "max_num_batched_tokens",
    "max_batch_prefill_tokens": "max_num_batched_tokens", "chunked_prefill_size": "chunked_prefill_size",
    "gpu_memory_utilization": "gpu_memory_utilization", "mem_fraction_static": "gpu_memory_utilization",
    "cuda_memory_fraction": "gpu_memory_utilization", "free_gpu_memory_fraction": "gpu_memory_utilization",
    "tensor_parallel_size": "tensor_parallel_size", "tp_size": "tensor_parallel_size", "num_shard": "tensor_parallel_size",
    "pipeline_parallel_size": "pipeline_parallel_size", "pp_size": "pipeline_parallel_size",
    "data_parallel_size": "data_parallel_size", "dp_size": "data_parallel_size",
    "enforce_eager": "enforce_eager", "disable_cuda_graph": "enforce_eager",
    "disable_overlap_schedule": "disable_overlap_schedule",
    "kv_cache_dtype": "kv_cache_dtype", "block_size": "block_size", "page_size": "block_size", "swap_space": "swap_space",
    "num_gpu_blocks_override": "num_gpu_blocks_override", "attention_backend": "attention_backend",
    "enable_prefix_caching": "enable_prefix_caching", "enable_block_reuse": "enable_prefix_caching",
    "disable_radix_cache": "disable_radix_cache", "enable_chunked_prefill": "enable_chunked_prefill",
    "speculative_algorithm": "speculative_algorithm", "num_speculative_tokens": "num_speculative_tokens",
    "kv_offloading_size": "kv_offloading_size", "kv_offloading_backend": "kv_offloading_backend",
    "cpu_offload_gb": "cpu_offload_gb",
    "max_loras": "max_loras", "max_loras_per_batch": "max_loras", "max_num_adapters_per_replica": "max_loras",
    "max_lora_rank": "max_lora_rank", "disaggregation_mode": "disaggregation_mode",
}  # fmt: skip
"""Arguments that are kept, by the names that engines give them: nothing else of a start-up line is (it may hold secrets)."""

_ARGUMENT_LINES = (
    b"non-default args:",
    b"server_args=",
    b"Starting trtllm-serve",
    b"Args {",
    b"LLM engine (v",
    b"max_total_num_tokens=",
    b"Using max model len",
)
_STARTS = (b"non-default args:", b"server_args=", b"Starting trtllm-serve", b"text_generation_launcher: Args {")
_OPENS_CARDS = (b"ggml_cuda_init: found", b"ggml_vulkan: Found", b"ggml_sycl_init: found", b"ggml_musa_init: found")
_RECITALS = (*_STARTS, b"LLM engine (v", b"LLM Args:")
_ARGUMENT = Pattern(rb"['\"]?\b(\w+)['\"]?(?:\s*[:=]\s*|\s+)(?:Some\()?('[^']*'|\"[^\"]*\"|\[[^\]]*\]|[\w.+/-]+)")


@dataclass(frozen=True, slots=True)
class FactLine:
    """A start-up line that says one thing.

    :param key: fact key
    :param pattern: RE2 with one group
    :param number: the value is a number
    """

    key: str
    marker: bytes
    pattern: bytes
    number: bool = True


_FACT_LINES: tuple[FactLine, ...] = (
    FactLine(
        "engine_version",
        b"version ",
        rb"(?:vLLM API server version|(?:\]|\x{2588}) +version|engine version) v?(\d+\.\d+[\w.+-]*)(?: |$)",
        number=False,
    ),
    FactLine("engine_version", b"LLM engine (v", rb"LLM engine \(v(\d+\.\d+[^)]*)\)", number=False),
    FactLine("engine_version", b"trtllm-serve", rb"trtllm-serve v?(\d+\.\d+[\w.+-]*)", number=False),
    FactLine("engine_version", b"TensorRT-LLM version", rb"TensorRT-LLM version: v?(\d+\.\d+[\w.+-]*)", number=False),
    FactLine("kv_cache_tokens", b"KV cache size:", rb"KV cache size: ([\d,]+) tokens"),
    FactLine("kv_cache_tokens", b"max_total_num_tokens=", rb"max_total_num_tokens=(\d+)"),
    FactLine("kv_cache_tokens", b"paged KV cache", rb"paged KV cache \((\d+)\)"),
    FactLine("kv_unified", b"kv_unified", rb"kv_unified += (\w+)", number=False),
    FactLine("weights_load_seconds", b"Loading weights", rb"Loading weights(?: took|:) ([\d.]+) s"),
    FactLine("weights_gib", b"Model loading took", rb"Model loading took ([\d.]+) GiB"),
    FactLine("weights_gib", b" size ", rb"(?:print_info|print_meta): (?:file|model) size +=\s+([\d.]+) GiB"),
    FactLine("init_seconds", b"init engine", rb"init engine .*took ([\d.]+) s"),
    FactLine(
        "attention_backend",
        b"ackend",
        rb"[Uu]s(?:ing|e) ((?:AttentionBackendEnum\.)?[A-Z][A-Z_]+\d?|Flash ?(?:Attention|Infer|MLA)|fa\d|flashinfer|[Tt]riton"
        rb"|[xX][Ff]ormers)(?: [Aa]ttention)? backend",
        number=False,
    ),
    FactLine("attention_backend", b"alling back to", rb"Cannot use .* backend: .*Falling back to ([\w.-]*\w)", number=False),
)
_BANNER = Pattern(_FACT_LINES[0].pattern).search
_FACT_READERS = tuple((one, Pattern(one.pattern).search) for one in _FACT_LINES)

_ENGINES: tuple[tuple[bytes, str], ...] = (
    (b"vLLM", "vllm"), (b"non-default args:", "vllm"), (b"V1 LLM engine", "vllm"), (b"server_args=ServerArgs", "sglang"),
    (b"[TRT-LLM]", "trtllm"), (b"text_generation_", "tgi"), (b"update_slots", "llamacpp"),
)  # fmt: skip


def _plain(value: bytes) -> str:
    text = redacted_bytes(value, 200).strip("'\"[]")
    return text.strip("'\"")


def typed(text: str, *, number: bool) -> str | float:
    """A value as a number where it is to be one and is."""
    if number:
        try:
            return float(text.replace(",", ""))
        except ValueError:
            pass
    return text


def states_arguments(line: bytes) -> bool:
    """Whether a line lists the arguments of a start."""
    return any(mark in line for mark in _ARGUMENT_LINES)


def arguments_of(line: bytes) -> dict[str, str]:
    """The known arguments in a start-up line, by their common names."""
    found: dict[str, str] = {}
    for name, value in _ARGUMENT.findall(line):
        key = ARGUMENTS.get(name.decode("ascii", "replace"))
        if key is not None and _plain(value) not in {"None", "null", ""}:
            found[key] = _plain(value).removeprefix("torch.")
    return found


def recites_settings(line: bytes) -> bool:
    """Whether a line lists what an engine was started with: a time-out, a limit or a path in it is set, and has not happened."""
    return any(mark in line for mark in _RECITALS)


def begins(line: bytes) -> bool:
    """Whether a line is the first of an engine's life."""
    return any(mark in line for mark in _STARTS) or (b"version " in line and _BANNER(line) is not None)


def opens_cards(line: bytes) -> bool:
    """Whether a program of ggml (llama.cpp, Ollama's runners) says which cards it has, which each of its processes does once."""
    return b"ound" in line and any(mark in line for mark in _OPENS_CARDS)


def engine_of(line: bytes) -> str | None:
    """The engine that writes such a line; None if others write such lines, too."""
    return next((name for mark, name in _ENGINES if mark in line), None)


def facts_in(line: bytes) -> Iterator[tuple[str, str | float]]:
    """Facts beside the arguments that a line states."""
    for one, search in _FACT_READERS:
        if one.marker in line:
            found = search(line)
            if found is not None:
                yield one.key, typed(_plain(found.group(1)), number=one.number)
