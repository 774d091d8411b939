"""What a changed thing is to the service: its own, what carries it, in front of it, a client, an instrument, automation."""

from collections.abc import Iterable
from functools import cache

from triage.engine.frame import Frame
from triage.model.recording import Event, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

OWN, CARRIES, FRONT, CLIENT, INSTRUMENT, AUTOMATION, OTHER = (
    "own",
    "carries-us",
    "in-front",
    "client",
    "instrument",
    "automation",
    "other",
)

_WORDS = {
    INSTRUMENT: (
        "prometheus grafana exporter dcgm otel opentelemetry telemetry collector monitor monitoring alert alerting alertmanager"
        " loki fluent fluentd fluentbit vector logstash scrape scraper metrics metric log logs logging shipper datadog tempo"
        " jaeger tracing thanos mimir victoria statsd cadvisor observability recording dashboard"
    ),
    AUTOMATION: (
        "keda hpa autoscaler autoscaling scaler scaling karpenter remediation remediator remediate argo argocd flux cron cronjob"
        " bot automation runbook watchdog janitor reaper descheduler healer autopilot"
    ),
    FRONT: (
        "gateway ingress router proxy envoy nginx istio mesh linkerd litellm haproxy traefik lb balancer loadbalancer waf cdn"
        " dns coredns cert certs certificate tls auth oidc secret secrets kong edge guard guardrail guardrails firewall registry"
        " route routes routing sidecar httproute"
    ),
    CARRIES: (
        "node nodes host hosts machine driver drivers kernel cuda nvidia rocm operator plugin cni network networking calico"
        " cilium switch switches firmware bios bmc storage csi nfs ceph lustre weka volume volumes hypervisor kubelet containerd"
        " runtime cluster fabric rack power datacenter os pool nodepool mig nccl infiniband ofed etcd kubernetes k8s zone disk"
        " mount sandbox"
    ),
    CLIENT: (
        "client clients app apps frontend web sdk batch pipeline job jobs eval crawler tenant notebook mobile chatbot loadgen"
        " consumer caller"
    ),
}
"""Words in names of things by what those things are to a service. A hint only: names that the recording knows go first."""

_TRIAL = Pattern(r"-(?:canary|preview|staging|beta|next|green|blue|stable)$")
_SPLIT = Pattern(r"[^a-z0-9]+")


def relation(names: Iterable[str], text: str, subject: Subject | None, frame: Frame) -> str:
    """What a changed thing is to the service.

    :param names: what the change calls it, the most telling first
    :param text: its note, asked last
    """
    service = frame.recording.service
    told = [name for name in names if name]
    for name in told:
        if name == service or _TRIAL.sub("", name) == service:
            return OWN
        known = _known(name, frame)
        if known:
            return known
    if subject is not None and subject.scope in (Scope.REPLICA, Scope.GPU, Scope.NODE, Scope.GATEWAY):
        return {Scope.REPLICA: OWN, Scope.GATEWAY: FRONT}.get(subject.scope, CARRIES)
    for name in told:
        found = _by_words(name)
        if found:
            return found
    if not told:
        return _by_words(text) or OWN
    return OTHER


def relation_of(event: Event, frame: Frame) -> str:
    """What the thing is to the service that somebody wrote down to have changed."""
    return relation((changed_thing(event),), f"{event.name} {event.text}", event.subject, frame)


def changed_thing(event: Event) -> str:
    """What a list of changes calls the thing that was changed; empty if it names none."""
    return event.attrs.get("service") or event.attrs.get("component") or event.attrs.get("target") or ""


def _known(name: str, frame: Frame) -> str:
    """What the recording knows under a name; empty if nothing."""
    scopes = {
        Scope.REPLICA: OWN,
        Scope.NODE: CARRIES,
        Scope.GPU: CARRIES,
        Scope.GATEWAY: FRONT,
        Scope.CLIENT: CLIENT,
    }
    for scope, what in scopes.items():
        for subject in frame.recording.subjects[scope]:
            if subject.id == name or (scope is not Scope.REPLICA and subject.id.startswith(f"{name}-")):
                return CLIENT if scope is Scope.GATEWAY and _only_asks(subject, frame) else what
    return ""


def _only_asks(gateway: Subject, frame: Frame) -> bool:
    """Whether something taken for a gateway by how it speaks lets no request through, while another one does.

    Who calls the service speaks of its upstream, too.
    """
    carriers = frame.subjects_of("gateway.requests")
    return bool(carriers) and gateway not in carriers and _by_words(gateway.id) != FRONT


@cache
def _by_words(name: str) -> str:
    """What the words of a name say; empty if nothing. The last word of a name says what it is, those before it what it is for."""
    words = [word for word in _SPLIT.split(name.lower()) if word]
    for word in reversed(words):
        for what, known in _WORDS.items():
            if word in known.split():
                return what
    return ""
