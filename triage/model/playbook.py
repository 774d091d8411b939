"""A playbook: what to do about one failure kind. Data, in Markdown; nothing in it is ever run by triage."""

from typing import Annotated, Literal, NamedTuple, get_args

from triage.classes import dataclass
from triage.model.checked import Checked, Such
from triage.model.vocabulary import Cause, Layer

Heading = Literal["What it means", "Confirm", "Mitigate now", "Fix", "Prevent", "Who owns it"]
HEADINGS: tuple[Heading, ...] = get_args(Heading)
"""Every playbook has these sections, in this order."""

PROSE: frozenset[Heading] = frozenset({"What it means", "Who owns it"})
"""Sections that are text; the others are lists of steps."""

ENGINES: dict[str, str] = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "trtllm"}
"""Engines that a step may have its own wording for: as people write the name -> as the fact ``engine`` has it."""

GATEWAYS: dict[str, tuple[str, ...]] = {
    "envoy_": ("envoy", "envoy_ai_gateway", "istio"),
    "istio_": ("istio",),
    "litellm_": ("litellm",),
    "nginx_": ("nginx", "nginx_ingress"),
    "haproxy_": ("haproxy",),
    "vllm_router_": ("vllm_router",),
    "sgl_router_": ("sglang_router",),
}
"""How the metrics of gateways begin -> the dialects that say that such a one is there."""

PLACEHOLDERS: dict[str, str] = {
    "service": "the service's name",
    "namespace": "Kubernetes namespace of the service",
    "deployment": "Kubernetes deployment that runs the replicas",
    "pod": "the replica that the finding is about",
    "node": "host of that replica, or the host that the finding is about",
    "gpu": "index of the card on that host, as nvidia-smi counts",
    "pci": "PCI address of the card, as the kernel log writes it",
    "endpoint": "host and port of the engine's HTTP server",
    "gateway": "host and port of the gateway in front of the engines",
    "gateway_deployment": "Kubernetes deployment that runs the gateway",
    "prometheus": "base address of the Prometheus server",
    "model": "model name as clients ask for it",
    "version": "version that runs now",
    "previous_version": "version that ran before",
    "replicas": "replicas wanted now",
    "max_num_seqs": "most requests that the engine runs at once",
    "max_num_batched_tokens": "most tokens that the engine computes in one step",
    "max_model_len": "longest prompt and answer together, in tokens",
    "gpu_memory_utilization": "share of the card's memory that the engine takes",
    "kv_tokens": "tokens that the KV cache holds",
    "tensor_parallel_size": "cards that share one model",
}
"""The closed set of names that may stand in braces in a playbook, and what each means."""

Text = Annotated[str, Such(min_length=1)]


class Advice(NamedTuple):
    """What a finding says of its playbook, each one sentence; empty where there is none.

    :param first_step: what to do first, in the imperative
    :param do_not: what goes wrong most often, as it reads after "do not"
    """

    first_step: str = ""
    do_not: str = ""


@dataclass(frozen=True, kw_only=True)
class Command(Checked):
    """Something to copy: a query, a command line, a piece of configuration.

    :param language: ``sh``, ``promql``, ``yaml`` …, as the fence in the Markdown says
    """

    language: str
    text: Text


@dataclass(frozen=True, kw_only=True)
class Variant(Checked):
    """What a step means for one engine.

    :param engine: as in :data:`ENGINES`, ``vllm``, ``sglang``, ``trtllm``
    """

    engine: Literal["vllm", "sglang", "trtllm"]
    text: Text


@dataclass(frozen=True, kw_only=True)
class Step(Checked):
    """One thing to do.

    :param mark: ``read`` only looks; ``change`` alters the service or what it runs on
    :param risk: what could go wrong; a change always has one
    """

    mark: Literal["read", "change"]
    text: Text
    risk: str = ""
    commands: tuple[Command, ...] = ()
    variants: tuple[Variant, ...] = ()

    def __post_init__(self) -> None:
        if self.mark == "change" and not self.risk:
            raise ValueError(f"the step {self.text[:40]!r} changes something and names no risk")


@dataclass(frozen=True, kw_only=True)
class Section(Checked):
    """What stands under one heading: prose, or steps."""

    heading: Heading
    text: str = ""
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        prose = self.heading in PROSE
        if prose != bool(self.text) or prose == bool(self.steps):
            raise ValueError(f"the section {self.heading!r} must be {'text' if prose else 'a list of steps'}")


@dataclass(frozen=True, kw_only=True)
class Playbook(Checked):
    """What to do about one failure kind.

    :param id: the file's stem, the kind's and the rule's id
    :param owner: who usually owns it: ``serving team``, ``platform team``, ``hardware team``, ``client team`` …
    :param first_step: one sentence in the imperative, without placeholders
    :param do_not: what goes wrong most often, one sentence as it reads after "do not"
    :param sections: one for each of :data:`HEADINGS`, in that order
    """

    id: Annotated[str, Such(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Text
    layer: Layer
    cause: Cause
    owner: Text
    first_step: Text
    do_not: str = ""
    sections: tuple[Section, ...]

    def __post_init__(self) -> None:
        if tuple(section.heading for section in self.sections) != HEADINGS:
            raise ValueError(f"the headings must be {', '.join(HEADINGS)}, in this order")

    def section(self, heading: Heading) -> Section:
        """The section under a heading."""
        return self.sections[HEADINGS.index(heading)]
