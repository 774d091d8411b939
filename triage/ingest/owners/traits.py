"""What labels and names tell of a replica beyond who it is: version, release, pool, zone; by these replicas are told apart."""

from collections.abc import Callable, Iterable, Mapping

from triage.ingest.owners.subjects import Selection
from triage.ingest.raw import RawSeries
from triage.model.recording import Fact, Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

TRAITS: Mapping[str, str] = {
    "version": "version",
    "app_version": "version",
    "app_kubernetes_io_version": "version",
    "release": "release",
    "pod_template_hash": "release",
    "rollouts_pod_template_hash": "release",
    "controller_revision_hash": "release",
    "track": "track",
    "variant": "track",
    "pool": "pool",
    "nodepool": "pool",
    "node_pool": "pool",
    "agentpool": "pool",
    "nodegroup": "pool",
    "cloud_google_com_gke_nodepool": "pool",
    "eks_amazonaws_com_nodegroup": "pool",
    "karpenter_sh_nodepool": "pool",
    "zone": "zone",
    "availability_zone": "zone",
    "topology_kubernetes_io_zone": "zone",
    "region": "region",
    "topology_kubernetes_io_region": "region",
    "llm_d_ai_role": "role",
}
"""Label of a target -> key of the fact; of several labels of one key the first counts. ``release`` is the pod template's hash."""

_RELEASE = Pattern(r".+-([bcdfghjklmnpqrstvwxz2456789]{6,10})-[bcdfghjklmnpqrstvwxz2456789]{5}")
"""Name of a pod that a deployment made: deployment, hash of the template, five signs of its own."""

_DIGEST = Pattern(r"sha256:[0-9a-f]{12,64}")


def replica_traits(
    series: Iterable[RawSeries], selection: Selection, speaker: Callable[[str], Scope | None], known: Iterable[Fact]
) -> list[Fact]:
    """Facts of replicas that labels of their own series and their names tell, as far as no other source tells them.

    A label counts if every series of the engine has it with one value: then it is the target's and not the metric's.

    :param known: facts that are known already
    """
    known = list(known)
    told = {(fact.subject, fact.key) for fact in known}
    found: dict[tuple[Subject, str], Fact] = {}
    for fact in [*_digests(known), *_of_targets(series, selection, speaker), *_of_names(selection)]:
        if (fact.subject, fact.key) not in told:
            found.setdefault((fact.subject, fact.key), fact)
    return list(found.values())


def _of_targets(series: Iterable[RawSeries], selection: Selection, speaker: Callable[[str], Scope | None]) -> list[Fact]:
    """What labels say that all series of an engine share."""
    shared: dict[Subject, dict[str, str]] = {}
    distinct = {id(one.labels): one.labels for one in series if speaker(one.name) is Scope.REPLICA}
    for labels in distinct.values():
        replica = selection.replica(labels)
        if replica is not None:
            here = {label: labels[label] for label in TRAITS if labels.get(label)}
            before = shared.setdefault(replica, here)
            shared[replica] = {label: value for label, value in before.items() if here.get(label) == value}
    return [
        Fact(replica, TRAITS[label], traits[label], "labels")
        for replica, traits in sorted(shared.items())
        for label in TRAITS
        if label in traits
    ]


def _of_names(selection: Selection) -> list[Fact]:
    """The release that a pod's name holds."""
    names = ((pod, _RELEASE.fullmatch(pod.encode("utf-8", "replace").decode())) for pod in sorted(selection.pods))
    return [Fact(Subject(Scope.REPLICA, pod), "release", match[1], "name") for pod, match in names if match]


def _digests(known: Iterable[Fact]) -> list[Fact]:
    """Digests of images, without what stands around them."""
    ids = ((fact, _DIGEST.search(str(fact.value))) for fact in known if fact.key == "image_id")
    return [Fact(fact.subject, "image_digest", match[0], fact.origin) for fact, match in ids if match]
