"""Who wrote a log: its kind and its subject, told by the file's name and, where the name says nothing, by its first lines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import re2

from triage.model.recording import Subject
from triage.model.vocabulary import Scope

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
    ("prometheus", r"prometheus|prom|vmagent|thanos\w*|alertmanager"),
    ("dns", r"coredns|dns\w*|node-?local-?dns|unbound"),
    ("etcd", r"etcd"),
    ("ray", r"ray\w*|serve-controller"),
    ("gateway", r"gateway|gw|router|envoy|nginx|ingress\w*|istio\w*|(?:ha)?proxy|litellm|traefik|lb|kong|apisix|edge|epp"),
    ("release", r"argo\w*|flux\w*|helm\w*|deploy\w*|rollouts?|ci|cd"),
    (
        "automation",
        (r"(?:node-|auto-?)?(?:remediat\w*|repair\w*|drainer|problem-detector|doctor)|(?:auto-?|self-?)?heal\w*|janitor|fault-\w+"
        r"|draino|kured|nvsentinel|(?:machine|node|gpu)-health\w*"),
    ),
    (
        "operator",
        (r"operator(?:-shell)?|incident\w*|on-?call|responder\w*|shell|terminal|commands?|kubectl|chat-?ops|war-?room|manual\w*|runbook"
        r"|ops|sre|admin\w*|actions|bastion"),
    ),
    ("stacks", r"py-?spy|stacks?|pystack|gdb|traceback|thread-?dump"),
    ("quality", r"(?:answer-|golden-?)?eval\w*|quality|golden\w*|samples?(?:-outputs)?|outputs?(?:-checks)?|checks|canary"),
    ("inventory", r"(?:fleet-)?inventory|fleet|images"),
    ("client", r"client|loadgen|load-?test|bench\w*|app|sdk|batch"),
    ("engine", r"engine|vllm|sgl(?:ang)?|trtllm|tensorrt\w*|triton\w*|tgi|text-generation\w*|llama\w*|lmdeploy|prefill|decode"),
)  # fmt: skip
"""Kinds of emitter and the words that a file's name begins with."""

KINDS = (*(kind for kind, _ in _NAMES), "other")
"""All kinds of emitter; a source of a log is named ``log:`` and the kind."""

_BY_NAME = tuple((kind, re2.compile(rf"(?i)^(?:{words})(?:[-_.](.+))?$")) for kind, words in _NAMES)

_CONTENT: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    (
        "engine",
        (rb"Avg (?:prompt|generation) throughput", rb"(?:Prefill|Decode) batch[.,]", rb"\[TRT-LLM\]", rb"text_generation_"),
    ),
    ("engine", (rb"vLLM API server", rb"server_args=", rb"slot +update_slots", rb"EngineCore")),
    ("kernel", (rb" kernel: \[", rb"NVRM: ", rb"^\[ *\d+\.\d{6}\] ")),
    ("kube-events", (rb"(?:Normal|Warning) +\w+ +\S*(?:pod|node|deployment|replicaset|job|horizontalpodautoscaler)/",)),
    ("kube-events", (rb'"involvedObject"', rb"LAST SEEN +TYPE +REASON")),
    ("kubelet", (rb"prober\.go", rb"kuberuntime_manager", rb"pod_workers\.go", rb"container_log_manager")),
    ("gateway", (rb'^\[[^\]]+\] "(?:GET|POST|PUT|DELETE) ', rb'"response_flags"', rb"vllm_router", rb"LiteLLM")),
    ("gateway", (rb'" \d{3} \d+ "[^"]*" "[^"]*" \d+ [\d.]+ \[',)),
    ("dns", (rb"plugin/(?:errors|kubernetes|forward)", rb"CoreDNS")),
    ("etcd", (rb'"caller":"(?:etcdserver|wal|lease|rafthttp|embed)',)),
    ("prometheus", (rb"scrape manager", rb"scrape_pool=")),
    ("nvidia-smi", (rb"NVIDIA-SMI", rb"nvidia-smi")),
    ("dcgm", (rb"dcgm", rb"DCGM")),
    ("bmc", (rb"\bbmc\[", rb"IPMI", rb"SEL ")),
    ("journal", (rb"systemd\[1\]:",)),
)
"""What only one kind of emitter writes, for files whose name says nothing."""

_BY_CONTENT = tuple((kind, re2.compile(b"(?m)" + b"|".join(words))) for kind, words in _CONTENT)

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


def emitter_of(stem: str, head: Iterable[bytes], subjects: Subjects, service: str) -> Emitter:
    """The emitter of a file.

    :param stem: the file's name without ``.log`` and ``.gz``
    :param head: its first lines
    :param subjects: maps the name of a replica, node or gateway to its subject, if that is known
    """
    kind, name = _by_name(stem)
    if kind == "other":
        kind, name = _by_content(head), stem
    return Emitter(kind, subjects(name) or subjects(stem) or _subject(kind, name, stem, service))


def _by_name(stem: str) -> tuple[str, str]:
    """Kind and the name that follows it; ``other`` and the whole if the name begins with no known word."""
    for kind, pattern in _BY_NAME:
        found = pattern.search(stem)
        if found is not None:
            return kind, found.group(1) or stem
    return "other", stem


def _by_content(head: Iterable[bytes]) -> str:
    text = b"\n".join(head)
    return next((kind for kind, pattern in _BY_CONTENT if pattern.search(text)), "other")


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
