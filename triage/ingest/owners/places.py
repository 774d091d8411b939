"""Who is where: which names are pods and which are nodes, what stands at which address, which pod runs on which node.

Each label set of each series is a witness. They are all heard first and judged at the end: the most authoritative word counts, of
equal ones the one that most witnesses say, so that no order of arrival matters. Where equals contradict each other, it is told.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from triage.classes import dataclass
from triage.model.vocabulary import Scope

Labels = Mapping[str, str]

POD_LABELS = ("exported_pod", "pod", "pod_name", "kubernetes_pod_name", "k8s_pod_name", "replica")
"""Labels that can name a pod. Where an exporter speaks of a pod, its scraper calls the exporter ``pod`` and what it spoke of
``exported_pod``. A collector writes the resource attributes of OpenTelemetry with underscores (``k8s.pod.name``)."""

_PLACED = ("exported_node", "node", "kubernetes_node", "k8s_node_name")
"""Labels by which a scraper or the cluster names a node."""

_SELF_TOLD = ("Hostname", "hostname", "nodename", "host", "host_name")
"""Labels in which a program tells its own host name: in a container it is the name of the pod."""

NODE_LABELS = (*_PLACED, *_SELF_TOLD)
GPU_LABELS = ("UUID", "gpu_uuid", "uuid")
CARD_LABELS = ("pci_bus_id", "gpu", "gpu_id", "device", "minor_number", "GpuIndex")

POD_INFO = "kube_pod_info"
_NODE_FACTS = "kube_node_"
_POD_FACTS = "kube_pod_"
_MACHINES = frozenset({Scope.NODE, Scope.GPU})
_OF_A_HOST = _MACHINES | {Scope.REPLICA}
"""Programs that run on the machine that they speak of."""

_EXPORTERS = _MACHINES | {Scope.SERVICE}
"""Programs that speak of others."""

_STILL = 300.0
"""What was last said within these seconds of the latest word still holds."""

_POD_SUFFIX = re.compile(r"-(?=\d*[a-z])[bcdfghjklmnpqrstvwxz2456789]{5}")
"""How Kubernetes ends the name of a pod that a daemon set or a deployment makes: five signs without vowels, 0, 1 and 3."""

Span = tuple[float, float]
"""First and last moment, Unix seconds; (0, 0) if the moments are not known."""


def first(labels: Labels, names: Iterable[str]) -> str:
    """The first of these labels that is set, or an empty string."""
    for name in names:
        if value := labels.get(name):
            return value
    return ""


def host(address: str) -> str:
    """The host of ``scheme://host:port/path``, ``host:port`` or ``[v6]:port``."""
    bare = authority(address)
    if bare.startswith("["):
        return bare[1:].partition("]")[0]
    return bare.rpartition(":")[0] or bare


def own_target(labels: Labels) -> Labels:
    """The labels with the target that the series came from, where a collector, another server or a push gateway passed it on.

    The scraper puts its own ``job`` and ``instance`` on what it scrapes, and calls what the series had ``exported_…``. Both are
    there only if the series had been scraped before.
    """
    if not labels.get("exported_job") or not labels.get("exported_instance"):
        return labels
    return {**labels, "job": labels["exported_job"], "instance": labels["exported_instance"]}


def on_server(labels: Labels) -> Labels:
    """The labels by which the server that passed a series on still knows it."""
    if not labels.get("exported_job") or not labels.get("exported_instance"):
        return labels
    return {label: value for label, value in labels.items() if label not in ("job", "instance")}


def authority(address: str) -> str:
    """``host:port`` of an address with or without scheme and path."""
    return address.rpartition("://")[2].partition("/")[0]


class Word(IntEnum):
    """How much a witness's word weighs."""

    SELF = 1
    """A program on its own host."""
    SCRAPER = 2
    """What discovery put on a target, or an exporter says of what it looks at."""
    CLUSTER = 3
    """The cluster's own record."""


class Witness(NamedTuple):
    """Who says something: job and label."""

    job: str
    label: str


@dataclass
class _Support:
    """What speaks for one answer."""

    word: Word
    witnesses: set[Witness]
    begin: float
    end: float


class _Ballot:
    """Answers to one kind of question (``on which node does this pod run?``), with who gave them."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, _Support]] = {}

    def add(self, about: str, answer: str, word: Word, witness: Witness, span: Span) -> None:
        """Takes one witness's answer."""
        support = self._told.setdefault(about, {}).get(answer)
        if support is None:
            self._told[about][answer] = _Support(word, {witness}, *span)
            return
        support.word = max(support.word, word)
        support.witnesses.add(witness)
        support.begin, support.end = min(support.begin, span[0]), max(support.end, span[1])

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._told))

    def ranked(self, about: str, names: Mapping[str, str] | None = None) -> list[tuple[tuple[int, bool, int, str], _Support]]:
        """The answers under their proper names, the best first.

        :param names: answer -> its proper name; an answer without one does not count. Without it each answer is its own
        """
        joined: dict[str, _Support] = {}
        for answer, one in sorted(self._told.get(about, {}).items()):
            name = answer if names is None else names.get(answer, "")
            if not name:
                continue
            known = joined.get(name)
            joined[name] = (
                one
                if known is None
                else _Support(
                    max(known.word, one.word),
                    known.witnesses | one.witnesses,
                    min(known.begin, one.begin),
                    max(known.end, one.end),
                )
            )
        latest = max((one.end for one in joined.values()), default=0.0)
        keyed = [((int(one.word), one.end >= latest - _STILL, len(one.witnesses), name), one) for name, one in joined.items()]
        return sorted(keyed, key=lambda item: (item[0][0], item[0][1], item[0][2], item[0][3]), reverse=True)

    def answers(self, about: str) -> frozenset[str]:
        """Everything that was said."""
        return frozenset(self._told.get(about, {}))


@dataclass(frozen=True)
class Places:
    """Who is where, as all witnesses together say.

    :param pods: names of pods, of any service
    :param names: what a node is called by anybody -> its proper name; a pod's name is not in it
    :param node_of: pod -> node
    :param node_at: address (no port) -> node of what stands there
    :param pod_at: address (no port) -> the only pod that has it, the last of those that had it one after the other
    :param ip_of: pod -> its address
    :param exporters: pods of exporters: they look at others, and what they look at is not theirs
    :param marks: values of the label ``replica`` that a scraper puts on everything: they name no pod
    :param cards: card's UUID in bare form -> as it is mostly written; (node, label, value) -> the one card there
    :param problems: what equally good witnesses contradict each other in, one sentence each
    """

    pods: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    node_of: Mapping[str, str] = field(default_factory=dict)
    node_at: Mapping[str, str] = field(default_factory=dict)
    pod_at: Mapping[str, str] = field(default_factory=dict)
    ip_of: Mapping[str, str] = field(default_factory=dict)
    exporters: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    cards: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def pod(self, labels: Labels) -> str:
        """The pod that a series speaks of, or an empty string; never the pod of an exporter that looks at something else."""
        for name in POD_LABELS:
            value = labels.get(name, "")
            if (
                value
                and value not in self.exporters
                and value not in self.names
                and not (name == "replica" and value in self.marks)
            ):
                return value
        return ""

    def node(self, labels: Labels) -> str:
        """The node that a series was measured on by its proper name; the bare address of its target if nobody knows more."""
        address = host(labels.get("instance", ""))
        return self.known_node(labels) or ("" if address in self.pod_at else address)

    def known_node(self, labels: Labels) -> str:
        """The node that a series was measured on, or an empty string if nobody names it."""
        placed = next((self.names[value] for name in _PLACED if (value := labels.get(name, "")) in self.names), "")
        told = placed or self.node_at.get(host(labels.get("instance", "")), "") or self._node_of_pods(labels)
        return told or next((self.names[value] for name in _SELF_TOLD if (value := labels.get(name, "")) in self.names), "")

    def _node_of_pods(self, labels: Labels) -> str:
        """The node of a pod that a series names or that is its target."""
        target = self.pod_at.get(host(labels.get("instance", "")), "")
        pods = [*(labels.get(name, "") for name in POD_LABELS), target]
        return next((self.node_of[pod] for pod in pods if pod in self.node_of), "")

    def card(self, labels: Labels) -> str:
        """The id of a card: its UUID, whoever tells of it, else its place on its node; a slice of it by its instance."""
        node = self.node(labels)
        uuid = first(labels, GPU_LABELS)
        places = [f"{node}/{label}={labels[label]}" for label in CARD_LABELS if labels.get(label)]
        known = self.cards.get(_bare(uuid), uuid) or next((self.cards[place] for place in places if place in self.cards), "")
        card = known or f"{node or labels.get('instance', '')}/{first(labels, CARD_LABELS)}"
        return f"{card}/mig-{labels['GPU_I_ID']}" if labels.get("GPU_I_ID") else card


_Vote = tuple[str, Word, Witness]
"""A node's name, and who gives it."""


class _Statement(NamedTuple):
    """What the labels of some series say.

    :param labels: all of :data:`_HEARD`, empty where the series has none
    :param kind: which of the cluster's own records it is, or empty
    :param speaker: whose series its program tells
    :param elsewhere: what it says of pods is about another namespace or cluster
    :param nodes: the nodes that it names
    :param pod: the pod that it speaks of
    :param address: host of its target
    """

    labels: Labels
    kind: str
    speaker: Scope | None
    elsewhere: bool
    span: Span
    nodes: tuple[_Vote, ...]
    pod: str
    address: str


def record_kind(name: str) -> str:
    """Which of the cluster's own records a metric is, or an empty string."""
    return name if name == POD_INFO else next((begin for begin in (_NODE_FACTS, _POD_FACTS) if name.startswith(begin)), "")


def _statement(labels: Labels, kind: str, speaker: Scope | None, elsewhere: bool, span: Span) -> _Statement:
    """What some labels say, before anybody else was heard."""
    job = labels["job"]
    placed = [label for label in _PLACED if labels[label]]
    told = [label for label in _SELF_TOLD if labels[label]] if speaker in _OF_A_HOST else []
    if placed and (kind in {POD_INFO, _NODE_FACTS} or labels["exported_node"]):
        of_cluster = kind in {POD_INFO, _NODE_FACTS}
        placed = placed[:1]
        nodes = [(labels[placed[0]], Word.CLUSTER if of_cluster else Word.SCRAPER, Witness(kind or job, placed[0]))]
    else:
        nodes = [(labels[label], Word.SCRAPER, Witness(job, label)) for label in placed]
        nodes += [(labels[label], Word.SELF, Witness(job, label)) for label in told]
    pod = first(labels, POD_LABELS[:-1])
    return _Statement(labels, kind, speaker, elsewhere, span, tuple(nodes), pod, host(labels["instance"]))


class Census:
    """Hears all witnesses; :meth:`places` judges."""

    def __init__(self) -> None:
        self._heard: dict[tuple[tuple[str, ...], str, Scope | None, bool], Span] = {}
        self._pods: dict[str, tuple[Word, frozenset[Witness]]] = {}
        self._nodes: dict[str, tuple[Word, frozenset[Witness]]] = {}
        self._node_of, self._node_at, self._ip_of = _Ballot(), _Ballot(), _Ballot()
        self._engines_of_mark: dict[str, set[str]] = {}
        self._marks: set[str] = set()
        self._engine_pods: set[str] = set()
        self._renamed: set[str] = set()
        self._exporters_at: set[str] = set()
        self._host_addresses: set[str] = set()
        self._cards: list[tuple[str, Labels]] = []

    def hear(self, name: str, labels: Labels, speaker: Scope | None, *, elsewhere: bool, span: Span = (0.0, 0.0)) -> None:
        """Takes note of one series.

        :param name: the metric
        :param speaker: whose series the program that it comes from tells, None if that is not known
        :param elsewhere: what it says of pods is about another namespace or cluster than the service's
        :param span: first and last sample
        """
        key = tuple([labels.get(label, "") for label in _HEARD]), record_kind(name), speaker, elsewhere
        known = self._heard.get(key)
        self._heard[key] = span if known is None else (min(known[0], span[0]), max(known[1], span[1]))

    def _note(self, said: "_Statement") -> None:
        """Keeps what one statement says."""
        for node, word, witness in said.nodes:
            if said.speaker is not Scope.REPLICA or word > Word.SELF:
                _strengthen(self._nodes, node, word, witness)
        for label in POD_LABELS[:-1]:
            if pod := said.labels.get(label):
                word = Word.CLUSTER if said.kind in {POD_INFO, _POD_FACTS} and pod == said.pod else Word.SCRAPER
                _strengthen(self._pods, pod, word, Witness(said.labels["job"], label))
        if said.kind:
            self._note_cluster(said)
        elif said.speaker is not Scope.SERVICE:
            self._note_nodes(said)
        self._note_pods(said)
        self._note_mark(said)
        if said.speaker is Scope.GPU:
            self._cards.append((first(said.labels, GPU_LABELS), said.labels))

    def _note_cluster(self, said: "_Statement") -> None:
        """What the cluster's own record says of pods, nodes and addresses."""
        for address in {said.labels["host_ip"], said.labels["internal_ip"]} - {""}:
            self._host_addresses.add(address)
            for vote in said.nodes:
                self._node_at.add(address, *vote, said.span)
        if said.kind == POD_INFO and said.pod and not said.elsewhere:
            for vote in said.nodes:
                self._node_of.add(said.pod, *vote, said.span)
            if said.labels["pod_ip"]:
                self._ip_of.add(said.pod, said.labels["pod_ip"], Word.CLUSTER, Witness(said.kind, "pod_ip"), said.span)

    def _note_nodes(self, said: "_Statement") -> None:
        """On which node a program and the pods that it names are, and what stands at its address."""
        own = said.labels["pod"] if said.labels["exported_pod"] else ""
        pods = {own, "" if said.elsewhere else said.pod} - {""}
        stands = said.speaker in _MACHINES or (said.speaker is Scope.REPLICA and not said.pod)
        for vote in said.nodes:
            for pod in pods:
                self._node_of.add(pod, *vote, said.span)
            if said.address and stands:
                self._node_at.add(said.address, *vote, said.span)
        if said.address and said.speaker is Scope.NODE and not said.nodes:
            self._node_at.add(said.address, "", Word.SELF, Witness("", ""), said.span)

    def _note_pods(self, said: "_Statement") -> None:
        """Which pods are engines', and which may be exporters' own."""
        pod, spoken_of = said.labels["pod"], said.labels["exported_pod"]
        if said.speaker is Scope.REPLICA:
            self._engine_pods.update({pod, spoken_of} - {""})
        elif said.speaker in _EXPORTERS:
            self._exporters_at.add(said.address)
            if pod and (spoken_of or pod in {said.labels[label] for label in _SELF_TOLD}):
                self._renamed.add(pod)

    def _note_mark(self, said: "_Statement") -> None:
        """Whom the label ``replica`` tells apart."""
        mark = said.labels["replica"]
        if mark and said.speaker is Scope.REPLICA:
            self._engines_of_mark.setdefault(mark, set()).add(said.address)
        elif mark and said.speaker in _EXPORTERS:
            self._marks.add(mark)

    def places(self) -> Places:
        """The verdict."""
        for (values, kind, speaker, elsewhere), span in self._heard.items():
            self._note(_statement(dict(zip(_HEARD, values, strict=True)), kind, speaker, elsewhere, span))
        self._heard.clear()
        names = self._proper_names()
        node_at = {address: node for address in self._node_at if (node := self._standing(address, names))}
        names = self._told_at_addresses(names, node_at)
        ip_of = {pod: ranked[0][0][3] for pod in self._ip_of if (ranked := self._ip_of.ranked(pod))}
        pod_at = {ip: pod for ip, pod in self._last_at(ip_of).items() if ip not in self._host_addresses}
        node_of = {pod: ranked[0][0][3] for pod in self._node_of if (ranked := self._node_of.ranked(pod, names))}
        node_of.update({pod: node_at[ip] for pod, ip in sorted(ip_of.items()) if pod not in node_of and ip in node_at})
        marks = self._marks | {mark for mark, engines in self._engines_of_mark.items() if len(engines) > 1}
        found = Places(
            pods=frozenset(name for name in self._pods if name not in names),
            names=names,
            node_of=node_of,
            node_at=node_at,
            pod_at=pod_at,
            ip_of=ip_of,
            exporters=self._exporters(pod_at),
            marks=frozenset(marks),
            problems=tuple(self._disputes(names)),
        )
        return replace(found, cards=self._known_cards(found))

    def _last_at(self, ip_of: Mapping[str, str]) -> dict[str, str]:
        """Address -> the pod that has it; of pods that had it one after the other the last, of pods at the same time none."""
        spans: dict[str, list[tuple[float, float, str]]] = {}
        for pod, ip in sorted(ip_of.items()):
            support = self._ip_of.ranked(pod)[0][1]
            spans.setdefault(ip, []).append((support.begin, support.end, pod))
        last = {}
        for ip, held in sorted(spans.items()):
            held.sort()
            if all(one[1] < following[0] for one, following in pairwise(held)):
                last[ip] = held[-1][2]
        return last

    def _proper_names(self) -> dict[str, str]:
        """What nodes are called -> their proper names: no pod's name, and a short name where one longer one begins with it."""
        nodes = {name: support for name, support in self._nodes.items() if not self._is_pod(name)}
        shorts: dict[str, set[str]] = {}
        for name in nodes:
            shorts.setdefault(_short(name), set()).add(name)
        names = {}
        for short, alike in shorts.items():
            longer = alike - {short}
            best = max(alike, key=lambda name: (nodes[name][0], len(nodes[name][1]), name))
            names.update({name: best if len(longer) <= 1 else name for name in alike})
        return names

    def _is_pod(self, name: str) -> bool:
        """Whether a name that was given to a node is a pod's: the better word counts, then the number of witnesses."""
        node, pod = self._nodes[name], self._pods.get(name)
        if pod is None:
            return node[0] is Word.SELF and bool(_POD_SUFFIX.search(name[-6:]))
        return (pod[0], len(pod[1])) >= (node[0], len(node[1]))

    def _standing(self, address: str, names: Mapping[str, str]) -> str:
        """The node of what stands at an address; empty if several equally well told ones are behind it (a relay)."""
        ranked = self._node_at.ranked(address, names)
        if not ranked:
            return address if "" in self._node_at.answers(address) else ""
        rivals = [key for key, _ in ranked if key[:2] == ranked[0][0][:2]]
        return ranked[0][0][3] if len(rivals) == 1 else ""

    def _told_at_addresses(self, names: Mapping[str, str], node_at: Mapping[str, str]) -> dict[str, str]:
        """The names, with those that only a program gives itself replaced by what its address is known as."""
        known: dict[str, set[str]] = {}
        for address in self._node_at:
            for name in self._node_at.answers(address) & names.keys():
                known.setdefault(names[name], set()).add(node_at.get(address, ""))
        better = {}
        for name, nodes in known.items():
            weak = self._nodes[name][0] is Word.SELF and len(nodes) == 1
            better[name] = (next(iter(nodes)) or name) if weak else name
        return {name: better.get(proper, proper) for name, proper in names.items()}

    def _exporters(self, pod_at: Mapping[str, str]) -> frozenset[str]:
        """Pods of exporters: renamed by the scraper, named like their own host, or standing at the target's address."""
        standing = {pod_at[address] for address in self._exporters_at if address in pod_at}
        return frozenset((self._renamed | standing) - self._engine_pods)

    def _known_cards(self, places: Places) -> dict[str, str]:
        """Cards by their bare UUID and by their place on their node."""
        found: dict[str, set[str]] = {}
        for uuid, _ in self._cards:
            if uuid:
                found.setdefault(_bare(uuid), set()).add(uuid)
        cards = {bare: max(written, key=lambda uuid: (uuid.startswith("GPU-"), uuid)) for bare, written in found.items()}
        at: dict[str, set[str]] = {}
        for uuid, labels in self._cards:
            node = places.node(labels) if uuid else ""
            for label in CARD_LABELS if node else ():
                if labels.get(label):
                    at.setdefault(f"{node}/{label}={labels[label]}", set()).add(cards[_bare(uuid)])
        return cards | {place: next(iter(uuids)) for place, uuids in at.items() if len(uuids) == 1}

    def _disputes(self, names: Mapping[str, str]) -> Iterator[str]:
        """What equally good witnesses contradict each other in."""
        for pod in self._node_of:
            ranked = self._node_of.ranked(pod, names)
            rivals = [name for (word, still, _, name), _ in ranked if (word, still) == ranked[0][0][:2] and word > Word.SELF]
            if len(rivals) > 1:
                yield f"the labels say that {pod} runs on {' and on '.join(sorted(rivals))}; {ranked[0][0][3]} is taken"


_HEARD = (
    "job", "instance", *POD_LABELS, *NODE_LABELS, "pod_ip", "host_ip", "internal_ip", *GPU_LABELS, *CARD_LABELS,
)  # fmt: skip


def _strengthen(known: dict[str, tuple[Word, frozenset[Witness]]], name: str, word: Word, witness: Witness) -> None:
    """Adds a witness to what is said of a name."""
    before = known.get(name)
    known[name] = (word, frozenset({witness})) if before is None else (max(before[0], word), before[1] | {witness})


def _short(name: str) -> str:
    """A host's name without its domain; an address is one name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.partition(".")[0] or name
    return name


def _bare(uuid: str) -> str:
    """A card's UUID without the prefix that only some exporters write."""
    return uuid.lower().removeprefix("gpu-")
