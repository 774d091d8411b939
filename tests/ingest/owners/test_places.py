"""Who is where: one answer, however a scraper names things and in whatever order the series come."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.engine.frame import Frame
from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.naming import index_names, speaker
from triage.ingest.metrics.translate import translate
from triage.ingest.owners.places import Census, Places
from triage.ingest.raw import RawSeries
from triage.model.recording import Recording, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Scope

DIALECTS = load_dialects()
INDEX = index_names(DIALECTS)
TIMES = 15.0 * np.arange(12.0)
WINDOW = Window(60.0, 165.0, 0.0)

Row = tuple[str, Mapping[str, str]]

REPLICA, NODE, CARD = Subject(Scope.REPLICA, "llm-prod-0"), Subject(Scope.NODE, "gpu-node-1"), Subject(Scope.GPU, "GPU-1")

EXPORTER = "nvidia-dcgm-exporter-xpn6b"
_CARD = {
    "job": "nvidia-dcgm-exporter",
    "instance": "10.0.0.77:9400",
    "gpu": "0",
    "UUID": "GPU-1",
    "pci_bus_id": "00000000:1A:00.0",
    "modelName": "NVIDIA H100 80GB HBM3",
}
_RENAMED = {"namespace": "gpu-operator", "container": "exporter", "exported_pod": "llm-prod-0", "exported_namespace": "llm"}
CARDS = {
    "the exporter is renamed and calls its pod its host": {"Hostname": EXPORTER, "pod": EXPORTER, **_RENAMED},
    "the exporter is renamed and has the host's name": {"Hostname": "gpu-node-1", "pod": "gpu-node-1", **_RENAMED},
    "the exporter is renamed and knows its node": {"Hostname": "gpu-node-1", "pod": EXPORTER, **_RENAMED},
    "labels are honoured, the host's name is the pod's": {"Hostname": EXPORTER, "pod": "llm-prod-0", "namespace": "llm"},
    "labels are honoured": {"hostname": "gpu-node-1", "pod": "llm-prod-0", "namespace": "llm"},
    "the scraper names the node": {"Hostname": EXPORTER, "node": "gpu-node-1", "pod": "llm-prod-0", "namespace": "llm"},
    "the node's long name": {"Hostname": "gpu-node-1.example.org", "pod": "llm-prod-0", "namespace": "llm"},
}
CLUSTER = {"job": "kube-state-metrics", "instance": "10.0.0.9:8080"}
PODS: list[Row] = [
    (
        "kube_pod_info",
        {
            **CLUSTER,
            "namespace": "llm",
            "pod": "llm-prod-0",
            "node": "gpu-node-1",
            "pod_ip": "10.0.0.4",
            "host_ip": "10.0.1.1",
            "created_by_kind": "StatefulSet",
            "created_by_name": "llm-prod",
        },
    ),
    (
        "kube_pod_info",
        {
            **CLUSTER,
            "namespace": "gpu-operator",
            "pod": EXPORTER,
            "node": "gpu-node-1",
            "pod_ip": "10.0.0.77",
            "host_ip": "10.0.1.1",
            "created_by_kind": "DaemonSet",
            "created_by_name": "nvidia-dcgm-exporter",
        },
    ),
]
MACHINE: list[Row] = [
    ("node_load1", {"job": "node-exporter", "instance": "10.0.1.1:9100", "node": "gpu-node-1"}),
    ("node_memory_MemTotal_bytes", {"job": "node-exporter", "instance": "10.0.1.1:9100", "node": "gpu-node-1"}),
]
_ENGINE = {"job": "vllm", "instance": "10.0.0.4:8000", "pod": "llm-prod-0", "namespace": "llm", "engine": "0", "model_name": "m"}
ENGINE: list[Row] = [("vllm:num_requests_running", _ENGINE), ("vllm:kv_cache_usage_perc", _ENGINE)]


def raw(rows: Iterable[Row]) -> list[RawSeries]:
    return [RawSeries(name, dict(labels), TIMES, 0.5 + 0.4 * np.sin(TIMES)) for name, labels in rows]


def cards(labels: Mapping[str, str]) -> list[Row]:
    return [(name, {**_CARD, **labels}) for name in ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_FB_USED")]


def read(rows: Iterable[Row], name: str = "llm-prod") -> Recording:
    return translate(raw(rows), DIALECTS, Service(name=name), WINDOW)


def told(recording: Recording) -> object:
    """Everything that a recording says, in a form that can be compared."""
    series = [(one.signal, one.subject, one.times.tolist(), one.values.tolist()) for one in recording.series]
    return series, recording.links, recording.facts, recording.problems, recording.events


def places(rows: Iterable[Row]) -> Places:
    census = Census()
    for name, labels in rows:
        census.hear(name, labels, speaker(INDEX, name), elsewhere=False)
    return census.places()


@pytest.mark.slow
@pytest.mark.parametrize("labels", CARDS.values(), ids=list(CARDS))
def test_card_node_and_replica_are_joined_however_they_are_named(labels: Mapping[str, str]) -> None:
    """All orders of the sources give one recording: the card is the replica's, both are on the node, and no pod is a node."""
    sources = [cards(labels), PODS, MACHINE, ENGINE]
    recordings = [read(row for source in order for row in source) for order in permutations(sources)]
    assert all(told(one) == told(recordings[0]) for one in recordings)
    recording = recordings[0]
    assert recording.links == {CARD: (NODE, REPLICA), REPLICA: (NODE,)}
    assert {scope: subjects for scope, subjects in recording.subjects.items() if subjects} == {
        Scope.REPLICA: [REPLICA],
        Scope.NODE: [NODE],
        Scope.GPU: [CARD],
    }
    assert not recording.problems


@pytest.mark.parametrize("labels", CARDS.values(), ids=list(CARDS))
@pytest.mark.parametrize("away", ["pods", "machine", "both"])
def test_with_fewer_witnesses_no_pod_becomes_a_node(labels: Mapping[str, str], away: str) -> None:
    """Where the cluster's own record or the node's exporter is missing, less is known, and nothing false."""
    rows = [*cards(labels), *ENGINE, *(PODS if away == "machine" else []), *(MACHINE if away == "pods" else [])]
    recording = read(rows)
    assert recording.subjects[Scope.REPLICA] == [REPLICA]
    assert recording.links[CARD][-1] == REPLICA
    nodes = {subject.id for subject in recording.subjects[Scope.NODE]}
    assert nodes <= {"gpu-node-1", "gpu-node-1.example.org"}
    assert len(nodes) <= 1 or away == "both"


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(sorted(CARDS)), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_shuffled_series_of_mixed_exporters_give_one_recording(kinds: Sequence[str], random: Random) -> None:
    """Several exporters that name things differently, shuffled series by series."""
    rows = [row for kind in kinds for row in cards(CARDS[kind])] + PODS + MACHINE + ENGINE
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert told(read(shuffled)) == told(read(rows))


def test_an_idle_card_of_our_node_is_kept() -> None:
    """Its series name no pod but the exporter's own, which is nobody's owner."""
    busy = CARDS["the exporter is renamed and calls its pod its host"]
    idle = {"Hostname": EXPORTER, "pod": EXPORTER, "namespace": "gpu-operator", "gpu": "1", "UUID": "GPU-2", "pci_bus_id": "2"}
    recording = read([*cards(busy), *cards(idle), *PODS, *MACHINE, *ENGINE])
    assert recording.links[Subject(Scope.GPU, "GPU-2")] == (NODE,)


def test_a_strangers_card_is_left_out() -> None:
    """A card that another service's pod holds is not ours, on our own node too."""
    theirs = {"Hostname": "gpu-node-1", "pod": "other-0", "namespace": "other", "gpu": "1", "UUID": "GPU-2", "pci_bus_id": "2"}
    recording = read([*cards(CARDS["labels are honoured"]), *cards(theirs), *PODS, *MACHINE, *ENGINE])
    assert recording.subjects[Scope.GPU] == [CARD]


def test_two_exporters_of_one_card_are_one_card() -> None:
    """With and without the prefix of the UUID, and by the place on the node where no UUID is told."""
    labels = CARDS["labels are honoured"]
    other = ("nvidia_smi_temperature_gpu", {"job": "smi", "instance": "10.0.1.1:9835", "uuid": "1"})
    found = read([*cards(labels), other, *PODS, *MACHINE, *ENGINE])
    assert found.subjects[Scope.GPU] == [CARD]
    here = places([*cards(labels), *PODS, *MACHINE])
    assert here.card({"instance": "10.0.1.1:9400", "gpu": "0"}) == "GPU-1"
    assert here.card({"instance": "10.0.1.1:9400", "gpu": "1"}) == "gpu-node-1/1"


def test_an_engine_without_a_label_is_the_pod_at_its_address() -> None:
    """Static targets carry an address and no pod."""
    bare = {label: value for label, value in _ENGINE.items() if label not in {"pod", "namespace"}}
    recording = read([("vllm:num_requests_running", bare), *PODS, *MACHINE])
    assert recording.by_signal["batch.running"][0].subject == REPLICA
    assert recording.links[REPLICA] == (NODE,)


def at_one_address(begin: float) -> Recording:
    """An engine without a label whose address a second pod is told to have from some moment on."""
    bare = {label: value for label, value in _ENGINE.items() if label not in {"pod", "namespace"}}
    heir = RawSeries("kube_pod_info", {**PODS[0][1], "pod": "llm-prod-9"}, TIMES + begin, TIMES)
    window = Window(60.0, 4000.0, 0.0)
    return translate([heir, *raw([PODS[0], ("vllm:num_requests_running", bare)])], DIALECTS, Service(name="llm-prod"), window)


def test_an_address_belongs_to_the_last_of_those_that_had_it_one_after_the_other() -> None:
    """Of two at the same time nobody knows which."""
    handed_over, shared = at_one_address(3600.0), at_one_address(0.0)
    assert handed_over.by_signal["batch.running"][0].subject == Subject(Scope.REPLICA, "llm-prod-9")
    assert not shared.by_signal.get("batch.running")


def test_contradictions_are_told() -> None:
    """Two equally good witnesses: one is taken, whichever came first, and it is said."""
    other = ("kube_pod_info", {**PODS[0][1], "node": "gpu-node-2"})
    recordings = [read(order) for order in permutations([PODS[0], other, ENGINE[0]])]
    assert all(told(one) == told(recordings[0]) for one in recordings)
    assert "llm-prod-0 runs on gpu-node-1 and on gpu-node-2" in recordings[0].problems[0]


def test_a_pod_that_moved_is_on_its_new_node() -> None:
    """What ended long ago contradicts nothing."""
    moved = RawSeries("kube_pod_info", {**PODS[0][1], "node": "gpu-node-2"}, TIMES + 3600.0, TIMES)
    window = Window(60.0, 4000.0, 0.0)
    found = translate([moved, *raw([PODS[0], ENGINE[0]])], DIALECTS, Service(name="llm-prod"), window)
    assert found.links[REPLICA] == (Subject(Scope.NODE, "gpu-node-2"),)
    assert not found.problems


def test_names_that_a_relay_gathers_at_one_address_stay_apart() -> None:
    """Several machines behind one address (a federation, a push gateway) are told by their labels, not by the address."""
    rows = [("node_load1", {"job": "push", "instance": "relay:9091", "nodename": name}) for name in ("gpu1", "gpu2")]
    here = places(rows)
    assert [here.node(labels) for _, labels in rows] == ["gpu1", "gpu2"]


def test_a_mark_of_the_scraper_names_no_pod() -> None:
    """Prometheus servers in pairs put ``replica`` on everything that they send on."""
    rows = [(name, {**labels, "replica": "prometheus-0"}) for name, labels in MACHINE]
    bare = {label: value for label, value in _ENGINE.items() if label not in {"pod", "namespace"}}
    engines = [("vllm:num_requests_running", {**bare, "instance": f"gpu{one}:8000", "service": "llm-prod"}) for one in (1, 2)]
    recording = read([*rows, *((name, {**labels, "replica": "prometheus-0"}) for name, labels in engines)])
    assert [subject.id for subject in recording.subjects[Scope.REPLICA]] == ["gpu1:8000", "gpu2:8000"]


def test_what_is_known_of_an_exporter_that_is_renamed_by_its_scraper() -> None:
    """kube-state-metrics without honoured labels: its own pod and node are not those that it speaks of."""
    renamed = {
        f"exported_{label}" if label in {"pod", "node", "namespace"} else label: text for label, text in PODS[0][1].items()
    }
    row = ("kube_pod_info", {**renamed, "pod": "ksm-7c9d5b8f6-x8q2m", "node": "cpu-node-9", "namespace": "monitoring"})
    recording = read([row, *ENGINE])
    assert recording.links[REPLICA] == (NODE,)
    assert recording.subjects[Scope.REPLICA] == [REPLICA]


def test_replicas_are_told_apart_by_what_their_labels_and_names_hold() -> None:
    """The target's labels count, a label of one metric does not; a pod's name holds its release, its node the zone."""
    pods = ("llm-prod-5b59c84684-2mchc", "llm-prod-7c9d5b8f6-x8q2m")
    target = {"job": "vllm", "engine": "0", "model_name": "m", "service": "llm-prod"}
    rows: list[Row] = [
        (name, {**target, "pod": pod, "instance": f"10.0.0.{number}:8000", "app_kubernetes_io_version": f"0.{number}"})
        for number, pod in enumerate(pods)
        for name in ("vllm:num_requests_running", "vllm:kv_cache_usage_perc")
    ]
    rows.append(("vllm:cache_config_info", {**rows[0][1], "zone": "of-the-metric"}))
    image = {**CLUSTER, "container": "engine", "pod": pods[0], "image": "r/vllm:v1", "image_id": "r/vllm@sha256:" + "ab" * 32}
    rows += [
        ("kube_pod_container_info", image),
        ("kube_pod_info", {**CLUSTER, "pod": pods[1], "node": "gpu-node-1"}),
        ("kube_node_labels", {**CLUSTER, "node": "gpu-node-1", "label_topology_kubernetes_io_zone": "eu-1a"}),
    ]
    recording = read(rows)
    first, second = (Subject(Scope.REPLICA, pod) for pod in pods)
    assert recording.trait("release", first) == "5b59c84684"
    assert recording.trait("version", second) == "0.1"
    assert recording.trait("image_digest", first) == "sha256:" + "ab" * 32
    assert (recording.trait("zone", first), recording.trait("zone", second)) == (None, "eu-1a")


def test_who_carries_whom_and_who_sends_to_whom() -> None:
    """Nodes, cards, replicas and gateways find each other; names of others are known as strangers."""
    router = {"job": "router", "instance": "10.0.0.8:8001", "server": "http://10.0.0.4:8000"}
    stranger = ("kube_pod_info", {**CLUSTER, "pod": "other-0", "node": "gpu-node-1"})
    around = [("vllm:healthy_pods_total", router), stranger]
    recording = read([*cards(CARDS["labels are honoured"]), *PODS, *MACHINE, *ENGINE, *around])
    assert recording.node_of(REPLICA) == recording.node_of(CARD) == NODE
    assert recording.cards_of(REPLICA) == recording.cards_of(NODE) == [CARD]
    assert recording.replicas_of(NODE) == recording.replicas_of(CARD) == [REPLICA]
    assert recording.routes == {Subject(Scope.GATEWAY, "10.0.0.8:8001"): (REPLICA,)}
    assert recording.is_stranger("other-0")
    assert not any(map(recording.is_stranger, ("llm-prod-0", EXPORTER, "gpu-node-1", "")))


def engines_behind(*ranks: str, label: str = "engine", **more: str) -> list[RawSeries]:
    """Engines behind one target, each of which waits for as many requests as its place says, and their process."""
    rows = []
    for number, rank in enumerate(ranks):
        labels = {**_ENGINE, label: rank, **more}
        rows.append(RawSeries("vllm:num_requests_waiting", labels, TIMES, np.full(len(TIMES), float(number))))
    process = {name: text for name, text in _ENGINE.items() if name not in {"engine", "model_name"}}
    return [*rows, RawSeries("process_resident_memory_bytes", process, TIMES, np.full(len(TIMES), 7.0))]


def test_engines_behind_one_target_stay_several_replicas() -> None:
    """Data-parallel ranks are twins that can be compared; what is told of their process is told of all of them."""
    rows = engines_behind("0", "1")
    recording = translate([*rows, *raw([*PODS, *MACHINE])], DIALECTS, Service(name="llm-prod"), WINDOW)
    ranks = [Subject(Scope.REPLICA, f"llm-prod-0/engine-{rank}") for rank in (0, 1)]
    assert recording.subjects[Scope.REPLICA] == ranks == recording.engines_of(REPLICA)
    assert {one.subject: one.values[0] for one in recording.by_signal["queue.waiting"]} == {ranks[0]: 0.0, ranks[1]: 1.0}
    assert [one.subject for one in recording.by_signal["process.rss"]] == [REPLICA]
    assert recording.links[ranks[1]] == (NODE, REPLICA)
    frame = Frame(recording)
    process = frame.cells("process.rss", ranks[1])
    assert process is not None
    assert np.nanmax(process) == 7.0
    assert frame.related(ranks[0], Scope.REPLICA) == [ranks[0], REPLICA]
    assert frame.related(REPLICA, Scope.REPLICA) == [REPLICA, *ranks]


def test_one_engine_is_its_target() -> None:
    """One rank, and one that follows another (a worker that was started anew), is no group."""
    alone = translate(engines_behind("0"), DIALECTS, Service(name="llm-prod"), WINDOW)
    assert alone.subjects[Scope.REPLICA] == [REPLICA]
    first, second, process = engines_behind("old", "new", label="WorkerId")
    later = RawSeries(second.name, second.labels, second.times + TIMES[-1] + 15.0, second.values)
    anew = translate([first, later, process], DIALECTS, Service(name="llm-prod"), WINDOW)
    assert anew.subjects[Scope.REPLICA] == [REPLICA]
