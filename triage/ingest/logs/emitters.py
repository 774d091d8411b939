"""Who wrote a log: its kind and its subject, told by the file's name and, where the name says nothing, by its first lines."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import re2

from triage.classes import dataclass
from triage.ingest.logs.forms import NOBODY, Origin
from triage.model.recording import Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

Subjects = Callable[[str], Subject | None]

_NAMES: tuple[tuple[str, str], ...] = (
    ("device-plugin", r"(?:nvidia-)?device-plugin"),
    ("nvidia-smi", r"nvidia-smi|smi"),
    ("dcgm", r"dcgm(?:-exporter)?\w*|(?:nv-)?hostengine|gpu-exporter"),
    ("kube-events", r"kube-?events|k8s-?events|events|kubectl-?events"),
    ("kubelet", r"kubelet"),
    ("kernel", r"kernel|dmesg|kern|kmsg"),
    ("journal", r"journal\w*|systemd|messages|syslog|(?:nv-|nvidia-)?fabric-?manager|unattended-upgrades?|dpkg|apt"),
    ("console", r"console|serial"),
    ("bmc", r"bmc|ipmi\w*|sel|redfish|i?drac|ilo"),
    ("runtime", r"containerd|cri-?o?|docker\w*|runc"),
    ("autoscaler", r"prometheus-adapter|keda\w*|hpa|(?:cluster-)?autoscaler|karpenter|activator|knative\w*|scaler"),
    (
        "prometheus",
        (r"prometheus|prom|vm(?:agent|alert|auth|insert|select|single|storage)|victoria\w*|thanos\w*|mimir\w*"
        r"|alertmanager"),
    ),
    ("dns", r"coredns|dns\w*|node-?local-?dns|unbound"),
    ("etcd", r"etcd"),
    ("ray", r"ray\w*|serve-controller"),
    (
        "gateway",
        (r"gateway|gw|router|envoy|nginx|openresty|caddy|ingress\w*"
        r"|istio\w*|(?:ha)?proxy|litellm|traefik|lb|kong|apisix|edge|epp"),
    ),
    ("release", r"argo\w*|flux\w*|helm\w*|deploy\w*|rollouts?|ci|cd"),
    (
        "automation",
        (r"(?:[a-z0-9]+-){0,2}(?:auto-?)?(?:remediat\w*|repair\w*|drainer|problem-detector|doctor|watch-?dog)|(?:auto-?|self-?)?heal\w*"
        r"|janitor|fault-\w+|draino|kured|nvsentinel|(?:machine|node|gpu)-health\w*"),
    ),
    (
        "operator",
        (r"operator(?:-shell)?|incident\w*|on-?call|responder\w*|shell|terminal|commands?|kubectl|chat-?ops|war-?room|manual\w*|runbook"
        r"|ops|sre|admin\w*|actions|bastion"),
    ),
    ("stacks", r"py-?spy|stacks?|pystack|gdb|traceback|thread-?dump"),
    ("quality", r"(?:answer-|golden-?)?eval\w*|quality|golden\w*|samples?(?:-outputs)?|outputs?(?:-checks)?|checks|canary"),
    ("inventory", r"(?:fleet-)?inventory|fleet|images"),
    ("client", r"client|loadgen|load-?test\w*|bench\w*|app|sdk|batch|k6|locust\w*|jmeter|gatling|vegeta|genai-perf|guidellm"),
    (
        "engine",
        (r"engine|vllm|sgl(?:ang)?|trtllm|tensorrt\w*|triton\w*|tgi|text-generation\w*|llama-?(?:cpp|server)|ollama|lmdeploy"
        r"|prefill|decode"),
    ),
)  # fmt: skip
"""Kinds of emitter and the words that a file's name begins with."""

KINDS = (*(kind for kind, _ in _NAMES), "other")
"""All kinds of emitter; a source of a log is named ``log:`` and the kind."""

_BY_NAME = tuple((kind, Pattern(rf"(?i)^(?:{words})(?:[-_.](.+))?$")) for kind, words in _NAMES)

_FEATURES: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    (
        "kube-events",
        (rb"(?:Normal|Warning) +\w+ +\S*(?:pod|node|deployment|replicaset|statefulset|job|horizontalpodautoscaler)/",),
    ),
    ("kube-events", (rb'"involvedObject"', rb"LAST SEEN +TYPE +REASON", rb"^ *Type +Reason +Age +From +Message")),
    (
        "kube-events",
        (rb"^NAME +READY +STATUS +RESTARTS", rb"^NAMESPACE +NAME +READY", rb"^ +(?:Normal|Warning) +\w+ +(?:\d+[dhms])+ "),
    ),
    (
        "kube-events",
        (rb"^(?:Name|Namespace|Node|Start Time|Containers|Conditions|Events|Taints|Allocatable): ", rb"^ +Last State: +"),
    ),
    (
        "engine",
        (rb"Avg (?:prompt|generation) throughput", rb"(?:Prefill|Decode) batch[.,]", rb"\[TRT-LLM\]", rb"text_generation_"),
    ),
    (
        "engine",
        (rb"vLLM API server", rb"server_args=", rb"slot +update_slots", rb"EngineCore", rb"ProcessGroup", rb"NCCL (?:WARN|INFO)"),
    ),
    (
        "engine",
        (rb"(?i)\bload\w*\b.{0,40}\b(?:model|weights|checkpoints?|safetensors|tensors|shards)\b", rb"(?i)\bkv[ _-]?cache\b"),
    ),
    (
        "engine",
        (rb"\b(?:tensor_parallel_size|max_model_len|max_num_seqs|n_ctx|tp_size)\b", rb"CUDA out of memory", rb"\[rank\d+\]"),
    ),
    (
        "engine",
        (
            rb"\b(?:vllm|sglang|tensorrt_llm|lmdeploy|torch|transformers)/[\w/.-]*\.py",
            rb"\b(?:torch\.\w*|CUDA|cuda\w*|nccl\w*) ?[Ee]rror",
        ),
    ),
    (
        "engine",
        (rb"\b(?:llama_|ggml_|load_tensors|srv  )\w*", rb"source=(?:sched|server|runner|types|gpu|llama)\.go", rb"llama runner"),
    ),
    ("engine", (rb"\b(?:model_lifecycle|python_be|pb_stub)\.cc", rb"text_generation_launcher")),
    (
        "engine",
        (
            rb"\bLMCache (?:INFO|WARNING|ERROR|DEBUG)",
            rb"\b(?:nixl|rdma|libfabric|transfer_engine|mooncake)_\w+\.(?:cpp|h|cc):\d+\]",
        ),
    ),
    ("engine", (rb"\b(?:huggingface_hub|safetensors_rust|transformers|tokenizers)[./]\w+",)),
    (
        "kernel",
        (rb" kernel: ", rb"NVRM: ", rb"^\[ *\d+\.\d{6}\] ", rb"^\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] "),
    ),
    (
        "kubelet",
        (rb"prober\.go", rb"kuberuntime_manager", rb"pod_workers\.go", rb"container_log_manager", rb"\bkubelet(?:\.go|_)"),
    ),
    ("gateway", (rb'^\[[^\]]+\] "(?:GET|POST|PUT|DELETE) ', rb'"response_flags"', rb"vllm_router", rb"LiteLLM", rb"haproxy\[")),
    (
        "gateway",
        (
            rb'" \d{3} \d+ "[^"]*" "[^"]*"',
            rb'"(?:request_)?(?:uri|path)": ?"/[^"]*".*"(?:status|status_code|response_code)": ?"?\d{3}\b',
            rb"(?i)\bupstream\b",
            rb'"caller": ?"(?:requestcontrol|scheduling|handlers|datalayer|datastore|saturationdetector|epp)/',
        ),
    ),
    ("gateway", (rb"\d+#\d+: \*\d+ ", rb"\b(?:sglang|smg|vllm|dynamo)_router", rb"dynamo_llm::http", rb"\bsmg::")),
    (
        "gateway",
        (
            rb"\benvoy (?:config|main|runtime|upstream|http|router|dns)\b",
            rb"\bxdsproxy\b",
            rb"^\[(?:ALERT|WARNING|NOTICE)\] +\(\d+\) :",
        ),
    ),
    (
        "gateway",
        (
            rb"\b(?:entryPointName|routerName|providerName|middlewareName)\b",
            rb"\[source/(?:common|server|extensions)/",
            rb"nginx-cfg\d",
        ),
    ),
    ("dns", (rb"plugin/(?:errors|kubernetes|forward)", rb"CoreDNS", rb"\bNXDOMAIN\b", rb"\bSERVFAIL\b")),
    ("etcd", (rb'"caller":"(?:etcdserver|wal|lease|rafthttp|embed)',)),
    ("autoscaler", (rb"\bscale_handler\b", rb"(?i)\bscaledobject", rb'"logger":"(?:keda|provisioner|cluster-autoscaler)')),
    ("autoscaler", (rb'"logger":"(?:activator|autoscaler|queueproxy)', rb"knative\.dev/key")),
    ("ray", (rb"\(raylet\)", rb"\bgcs_server\b", rb"(?:node_manager|gcs_\w+)\.cc:", rb"\(ServeController")),
    ("prometheus", (rb"scrape manager", rb"scrape_pool=")),
    (
        "nvidia-smi",
        (rb"NVIDIA-SMI", rb"nvidia-smi", rb"^=+NVSMI LOG", rb"^Attached GPUs +:", rb"^ +(?:Bus Id|FB Memory Usage|GPU UUID) "),
    ),
    ("dcgm", (rb"dcgm", rb"DCGM")),
    ("bmc", (rb"\bbmc\[", rb"IPMI", rb"SEL ")),
    ("runtime", (rb"\bcontainerd\b", rb"\bio\.containerd", rb"\bdockerd\b")),
    ("journal", (rb"systemd\[1\]:",)),
)
"""What lines of one kind of emitter hold and those of others seldom do. Each line that holds something counts
once; where two kinds hold the same number of lines, the one whose form is the more definite comes first."""


def _searched_for_features() -> Any:
    """All features, to be looked for at once: few of their words are in any line."""
    patterns = re2.Filter()
    for _, words in _FEATURES:
        patterns.Add(b"|".join(words))
    patterns.Compile()
    return patterns


_ANY_FEATURE = _searched_for_features()

_SURE = 3
"""Lines with features of one kind that outweigh a file's name, if no line fits the name; one in three of few lines is as good."""

_ROLES = frozenset(
    {"release", "automation", "operator", "stacks", "quality", "inventory", "client", "console", "bmc", "device-plugin", "ray"}
)
"""What a file's name says of these is who speaks and to what end; what is spoken of may be anything."""

_TELLING = tuple(dict.fromkeys(kind for kind, _ in _FEATURES))

ON_NODES = frozenset({"kernel", "kubelet", "journal", "console", "bmc", "nvidia-smi", "device-plugin", "dcgm", "runtime"})
"""Emitters of which each node has its own; the name after the kind is the node's."""


@dataclass(frozen=True, slots=True)
class Emitter:
    """Who wrote a log.

    :param kind: ``engine``, ``kernel``, ``gateway``, ``kube-events`` …; ``other`` if nobody can tell
    :param subject: whom its lines are about unless a line says otherwise
    """

    kind: str
    subject: Subject


def emitter_of(stem: str, head: Iterable[bytes], subjects: Subjects, service: str, origin: Origin = NOBODY) -> Emitter:
    """The emitter of a file, or of one of the writers in it.

    Content decides; the name of the file, program or container is a hint that counts where content says nothing else. That a
    service is called ``eval-llm`` or ``edge-chat`` says nothing of who writes in its name.

    :param stem: the file's name without ``.log`` and ``.gz``
    :param head: its first lines
    :param subjects: maps the name of a replica, node or gateway to its subject, if that is known
    :param origin: who a wrapper says wrote the lines
    """
    named, name = _by_name(stem)
    if named not in ("engine", "other") and stem.startswith(f"{service}-"):
        named, name = _by_name(stem.removeprefix(f"{service}-"))[0], stem
    elif named in _ROLES and (whole := subjects(stem)) is not None and whole.scope in (Scope.REPLICA, Scope.NODE):
        named, name = "other", stem
    hint = emitter_within(origin.ident) or emitter_within(origin.container) or named
    if hint == "other" and origin.ident:
        hint = _UNKNOWN_PROGRAM
    speaks = emitter_within(origin.ident)
    lines = list(head)
    kind = hint if hint in _ROLES or speaks not in {"", "runtime"} else _by_content(lines, hint)
    if kind == "operator" and _is_of_the_cluster(lines):
        kind = "kube-events"
    if named == "other" or kind != named:
        name = stem
    if origin.node and kind in ON_NODES:
        name = _by_name(stem)[1] if named in ON_NODES and _by_name(stem)[1] != stem else origin.node
        return Emitter(kind, subjects(name) or Subject(Scope.NODE, name))
    known = subjects(name) or subjects(stem)
    if kind == "engine":
        if known is not None and known.scope is Scope.NODE:
            known = subjects(engine_on(known.id))
        known = known or _known_within(stem, subjects)
    if kind == "gateway" and known == Subject(Scope.REPLICA, service):
        known = None  # called after the service, or the service itself: who passes requests on is none of its replicas
    return Emitter(kind, known or _subject(kind, name if kind == named else _by_name(stem)[1], stem, service))


_UNKNOWN_PROGRAM = "journal"
"""What a program is that syslog or the journal names and nobody knows."""


def engine_on(host: str) -> str:
    """The name by which the only engine of a host is asked for: its log is often called after the host."""
    return f"{host}/engine"


def _known_within(stem: str, subjects: Subjects) -> Subject | None:
    """The replica whose name, or whose host's, a file's name ends with, whatever stands before it (``llama-server-chat-0``)."""
    words = stem.split("-")
    rests = ["-".join(words[first:]) for first in range(min(len(words), _MAX_WORDS))]
    names = [*rests[1:], *map(engine_on, rests)]
    return next((found for found in map(subjects, names) if found is not None and found.scope is Scope.REPLICA), None)


_MAX_WORDS = 12


def emitter_within(name: str) -> str:
    """The kind that the name of a program or container tells; empty if it tells none."""
    kind = _by_name(name)[0] if name else "other"
    return "" if kind == "other" else kind


def _by_name(stem: str) -> tuple[str, str]:
    """Kind and the name that follows it; ``other`` and the whole if the name begins with no known word."""
    for kind, pattern in _BY_NAME:
        found = pattern.search(stem)
        if found is not None and kind == "engine" and _ENDS_AS_GATEWAY.search(stem):
            break
        if found is not None:
            return kind, found.group(1) or stem
    return ("gateway", stem) if _ENDS_AS_GATEWAY.search(stem) else ("other", stem)


_ENDS_AS_GATEWAY = Pattern(r"(?i)[-_.](?:epp|gateway|gw|router|ingress|envoy|(?:ha)?proxy|lb)$")
"""Programs on the way to engines are called after whom they serve, and what they are comes last."""


def is_engines(line: bytes) -> bool:
    """Whether a line holds what engines write and others seldom do."""
    return "engine" in _featured(line)


def _featured(line: bytes) -> list[str]:
    """The kinds of whose features a line has some, once for each entry of :data:`_FEATURES`."""
    return [_FEATURES[number][0] for number in _ANY_FEATURE.Match(line) or ()]


def _by_content(head: Iterable[bytes], hint: str) -> str:
    """The kind whose features most lines have; the hint if they say too little. What somebody typed is nobody's output."""
    found: Counter[str] = Counter()
    lines = 0
    for line in head:
        lines += 1
        found.update(set(_featured(line)) if _TYPED.search(line) is None else ())
    if not found:
        return hint
    best = max(found, key=lambda kind: (found[kind], -_TELLING.index(kind)))
    if hint == "other":
        return best
    return best if not found[hint] and hint in _TELLING and found[best] >= min(_SURE, lines / 3) else hint


def _is_of_the_cluster(lines: list[bytes]) -> bool:
    """Whether somebody kept what kubectl showed, and nothing of what he did."""
    said = [line for line in lines if line.strip()]
    telling = [_featured(line).count("kube-events") for line in said]
    if 2 * sum(telling) > len(said):
        return True
    shown = sum(tells > 0 or _ENTRY.search(line) is not None for tells, line in zip(telling, said, strict=True))
    return sum(telling) >= _SURE and 2 * shown > len(said) and not any(_TYPED.search(line) for line in said)


_ENTRY = Pattern(rb"^ *[A-Z][A-Za-z /-]{1,40}:(?: |$)|^ +\S+: *(?:$|\S+$)|^ {4,}\S")
"""A line of a description: ``Key: value``, or what is indented below one."""

_TYPED = Pattern(rb"^\S{0,60}[$#>] \S")
"""A command that somebody typed, behind a prompt."""


def _subject(kind: str, name: str, stem: str, service: str) -> Subject:
    """The subject of an emitter that nobody knows by its name."""
    if kind == "engine":
        return Subject(Scope.REPLICA, name)
    if kind in ON_NODES and name != stem:
        return Subject(Scope.NODE, name)
    if kind == "gateway":
        return Subject(Scope.GATEWAY, stem)
    if kind == "client":
        return Subject(Scope.CLIENT, stem)
    return Subject(Scope.SERVICE, service)
