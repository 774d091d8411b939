"""Which series belong to the service, and whom each of them is about."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from triage.ingest.raw import RawSeries
from triage.model.recording import Subject
from triage.model.service import Service
from triage.model.vocabulary import Scope

Labels = Mapping[str, str]

SERVICE_LABELS = (
    "service", "app", "app_kubernetes_io_name", "app_kubernetes_io_instance", "model_name", "served_model_name", "model",
    "deployment", "statefulset", "inferenceservice", "destination_service_name", "destination_workload", "envoy_cluster_name",
    "server_address", "requested_model", "job",
)  # fmt: skip
"""Labels that can name the service itself, most telling first."""

POD_LABELS = ("pod", "exported_pod", "pod_name", "kubernetes_pod_name", "replica")
NODE_LABELS = ("node", "Hostname", "hostname", "nodename", "kubernetes_node", "host")
GPU_LABELS = ("UUID", "gpu_uuid", "uuid")
CARD_LABELS = ("pci_bus_id", "gpu", "gpu_id", "device", "minor_number")
OWNER_LABELS = (
    "deployment",
    "statefulset",
    "replicaset",
    "horizontalpodautoscaler",
    "hpa",
    "scaledObject",
    "name",
    "inferenceservice",
)
_IDENTITY = (*SERVICE_LABELS[:-1], *POD_LABELS)


def first(labels: Labels, names: Iterable[str]) -> str:
    """The first of these labels that is set, or an empty string."""
    return next((labels[name] for name in names if labels.get(name)), "")


def host(address: str) -> str:
    """The host of ``scheme://host:port/path``, ``host:port`` or ``[v6]:port``."""
    bare = address.rpartition("://")[2].partition("/")[0]
    if bare.startswith("["):
        return bare[1:].partition("]")[0]
    return bare.rpartition(":")[0] or bare


def authority(address: str) -> str:
    """``host:port`` of an address with or without scheme and path."""
    return address.rpartition("://")[2].partition("/")[0]


@dataclass(frozen=True)
class Selection:
    """What belongs to a service.

    :param named: some series names the service (or it was said that everything here is its)
    :param pods: its pods
    :param nodes: the nodes that its pods run on; empty if nobody says so
    :param node_of: pod -> node
    :param replicas: address of an engine (``host:port``, pod IP) -> id of its replica
    :param everything: nothing here names any service, and there is but one engine: all of it is the service's
    """

    service: Service
    named: bool
    pods: frozenset[str]
    nodes: frozenset[str]
    node_of: Mapping[str, str]
    replicas: Mapping[str, str] = field(default_factory=dict)
    everything: bool = False

    def names_service(self, labels: Labels) -> bool:
        """Whether a label says outright that a series is the service's."""
        return names_service(labels, self.service)

    def replica(self, labels: Labels, identity: Iterable[str] = ()) -> Subject | None:
        """The replica that an engine's or a pod's series is about; None if it is not one of the service's."""
        address = first(labels, identity)
        if address:
            known = self.replicas.get(authority(address)) or self.replicas.get(host(address))
            return Subject(Scope.REPLICA, known or authority(address)) if known or self.names_service(labels) else None
        pod = first(labels, POD_LABELS)
        if pod:
            ours = pod in self.pods or self.everything
            return Subject(Scope.REPLICA, pod) if ours else None
        if self.names_service(labels) or self.everything:
            return Subject(Scope.REPLICA, labels.get("instance") or labels.get("job") or self.service.name)
        return None

    def gpu(self, labels: Labels) -> Subject | None:
        """The card; None if it belongs to another service's pod or to a node without pods of ours."""
        pod, node = first(labels, POD_LABELS[:4]), self.node_name(labels)
        if pod and pod not in self.pods and not self.everything:
            return None
        if not pod and self.nodes and node not in self.nodes:
            return None
        uuid = first(labels, GPU_LABELS)
        card = uuid or f"{node or labels.get('instance', '')}/{first(labels, CARD_LABELS)}"
        if instance := labels.get("GPU_I_ID"):
            card = f"{card}/mig-{instance}"
        return Subject(Scope.GPU, card)

    def node_name(self, labels: Labels) -> str:
        """The node that a series was measured on, or an empty string."""
        return first(labels, NODE_LABELS) or host(labels.get("instance", ""))

    def node(self, labels: Labels) -> Subject | None:
        """The node; None if none of our pods runs there."""
        name = self.node_name(labels)
        if not name or (self.nodes and name not in self.nodes):
            return None
        return Subject(Scope.NODE, name)

    def owned(self, labels: Labels) -> Subject | None:
        """The service, for series of a deployment, an autoscaler, a roll-out; None if they are another service's."""
        owner = first(labels, OWNER_LABELS)
        ours = self.names_service(labels) or (owner and owned_by(owner, self.service.name)) or self.everything
        if not ours and first(labels, POD_LABELS[:2]) in self.pods:
            ours = True
        return Subject(Scope.SERVICE, self.service.name) if ours else None

    def gateway(self, labels: Labels, identity: Iterable[str] = ()) -> Subject | None:
        """The gateway; None if the series is about traffic of another service."""
        route = first(
            labels, ("envoy_cluster_name", "destination_service_name", "ingress", "requested_model", "litellm_model_name")
        )
        other = labels.get("service", "") not in {"", self.service.name} and not self.names_service(labels)
        if other and not (route and self._routes_here(route)):
            return None
        if route and not self._routes_here(route) and not self.names_service(labels):
            return None
        return Subject(Scope.GATEWAY, first(labels, (*identity, "pod", "instance", "job")) or "gateway")

    def _routes_here(self, route: str) -> bool:
        """Whether a route, cluster or model name speaks of the service."""
        model = str(self.service.facts.get("model", ""))
        return self.service.name in route or bool(model and model in route)

    def client(self, labels: Labels) -> Subject | None:
        """The client program; None if it talks to another service."""
        named = first(labels, ("server_address", "service"))
        if named and named != self.service.name and not self.names_service(labels):
            return None
        return Subject(Scope.CLIENT, first(labels, ("job", "instance")) or "client")

    def target(self, labels: Labels) -> Subject:
        """The scrape target: the replica if it is an engine of the service, else the target by itself."""
        pod, instance = first(labels, POD_LABELS), labels.get("instance", "")
        if pod in self.pods:
            return Subject(Scope.REPLICA, pod)
        if instance in self.replicas:
            return Subject(Scope.REPLICA, self.replicas[instance])
        return Subject(Scope.TARGET, f"{labels.get('job', '')}/{labels.get('instance', '')}")


def names_service(labels: Labels, service: Service) -> bool:
    """Whether labels say outright that a series is the service's: all the labels that were set for it, or one of the usual ones."""
    if service.labels:
        return all(labels.get(name) == value for name, value in service.labels.items())
    return any(labels.get(name) == service.name for name in SERVICE_LABELS)


def owned_by(name: str, service: str) -> bool:
    """Whether a workload's or pod's name is the service's: ``llm-prod``, ``llm-prod-0``, ``llm-prod-5b59c84684-2mchc``."""
    return bool(_owned_pattern(service).fullmatch(name))


def _owned_pattern(service: str) -> re.Pattern[str]:
    hashes = r"(-[bcdfghjklmnpqrstvwxz2456789]{4,10})?(-[a-z0-9]{5}|-\d+(-worker|-\d+)*|-worker(-\d+)?|-leader|-head)?"
    kinds = r"(-(predictor|engine|decode|prefill|vllm|sglang|server|deployment|hpa|keda-hpa))*"
    return re.compile(re.escape(service) + kinds + hashes)


def select(series: Iterable[RawSeries], service: Service, engine_names: Callable[[str], bool]) -> Selection:
    """Finds out what belongs to a service.

    :param engine_names: whether a metric name is one that only an engine has
    """
    series = list(series)
    pods, replicas, node_of = set[str](), dict[str, str](), dict[str, str]()
    named, engines, tied = False, set[str](), False
    for one in series:
        labels = one.labels
        pod = first(labels, POD_LABELS)
        is_engine = engine_names(one.name)
        ours = names_service(labels, service)
        named = named or ours or bool(pod and owned_by(pod, service.name))
        if pod and ((is_engine and ours) or owned_by(pod, service.name)):
            pods.add(pod)
        if is_engine:
            engines.add(labels.get("instance", ""))
            tied = tied or bool(first(labels, _IDENTITY))
    everything = not named and not tied and len(engines) == 1
    for one in series:
        _learn_places(one, pods, replicas, node_of, engine_names, everything)
    nodes = frozenset(node_of[pod] for pod in pods if pod in node_of)
    return Selection(service, named or everything, frozenset(pods), nodes, node_of, replicas, everything)


def _learn_places(
    one: RawSeries,
    pods: set[str],
    replicas: dict[str, str],
    node_of: dict[str, str],
    engine_names: Callable[[str], bool],
    everything: bool,
) -> None:
    """Takes from a series where a pod runs and by which addresses it is known."""
    labels = one.labels
    pod = first(labels, POD_LABELS)
    node = first(labels, NODE_LABELS)
    if pod in pods and node:
        node_of.setdefault(pod, node)
    if pod in pods and (ip := labels.get("pod_ip")):
        replicas.setdefault(ip, pod)
    if engine_names(one.name) and (pod in pods or everything):
        instance = labels.get("instance", "")
        replicas.setdefault(instance, pod or instance)
