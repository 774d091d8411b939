"""Which series are the service's, in the ways in which services are really deployed, and whose they are not."""

from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.naming import index_names, speaker
from triage.ingest.owners.places import authority, host
from triage.ingest.owners.subjects import Selection, owned_by, select, speaks_of
from triage.ingest.raw import RawSeries
from triage.model.recording import Subject
from triage.model.service import Service
from triage.model.vocabulary import Scope

INDEX = index_names(load_dialects())
TIMES = np.array([0.0, 15.0])
ENGINE = "vllm:num_preemptions_total"
NODE = "node_load1"

Row = tuple[str, Mapping[str, str]]


def selection(rows: Iterable[Row], name: str = "llm-prod", **more: object) -> Selection:
    series = [RawSeries(metric, labels, TIMES, TIMES) for metric, labels in rows]
    service = Service.model_validate({"name": name, **more})
    return select(series, service, lambda metric: speaker(INDEX, metric))


def engine(**labels: str) -> Row:
    return ENGINE, labels


def pod_info(pod: str, **labels: str) -> Row:
    return "kube_pod_info", {"job": "kube-state-metrics", "instance": "10.9.9.9:8080", "pod": pod, **labels}


def replica(name: str) -> Subject:
    return Subject(Scope.REPLICA, name)


OWNED = (
    "llm-prod-59b-4fdrt",
    "llm-prod", "llm-prod-0", "llm-prod-12", "llm-prod-5b59c84684-2mchc", "llm-prod-5b59c84684", "llm-prod-2mchc",
    "llm-prod-5f7b8-kk2p9",
    "llm-prod-predictor", "llm-prod-predictor-00001-deployment-5b59c84684-2mchc", "llm-prod-decode-7c9d5b8f6-x8q2m",
    "llm-prod-vllmworker-7c9d5b8f6-x8q2m", "llm-prod-vllmdecodeworker-0",
    "llm-prod-prefill-0", "llm-prod-0-1", "llm-prod-0-worker", "llm-prod-head", "llm-prod-worker-0", "llm-prod-engine",
    "keda-hpa-llm-prod", "llm-prod-hpa", "llm-prod-7c9f5d4b8-2", "llm-prod-7c9f5d4b8-2-1",
    "llm-prod-predictor-00012-deployment-5b9c",
)  # fmt: skip

FOREIGN = (
    "", "llm", "llm-pro", "llm-prods", "llm-production", "my-llm-prod", "llm-prod-canary", "llm-prod-canary-5b59c84684-2mchc",
    "llm-prod-eu", "llm-prod-eu-0", "llm-prod-batch", "llm-prod-gateway-7c9d5b8f6-x8q2m", "llm-prod-canary-0", "llm-prod2",
    "llm-prod-chat", "keda-hpa-llm-prod-canary", "keda-hpa-other", "llm-prod_0", "llm-prod-",
    "llm-prod-qwen3", "llm-prod-5b9c",
)  # fmt: skip


@pytest.mark.parametrize("name", OWNED)
def test_names_of_the_service(name: str) -> None:
    """Pods of deployments, stateful sets, leader-worker sets, Ray, KServe and their parts; what KEDA and Argo make."""
    assert owned_by(name, "llm-prod")


@pytest.mark.parametrize("name", FOREIGN)
def test_names_of_others(name: str) -> None:
    """A second service whose name starts with ours is another one: words are no hashes, and a gateway is no engine."""
    assert not owned_by(name, "llm-prod")


def test_known_names_decide_what_looks_alike() -> None:
    """llm-prod-2 may be the third pod of a stateful set; where something of that name is known, it is not."""
    assert owned_by("llm-prod-2-0", "llm-prod")
    assert not owned_by("llm-prod-2-0", "llm-prod", {"llm-prod-2"})
    assert not owned_by("llm-prod-2", "llm-prod", {"llm-prod-2"})
    assert owned_by("llm-prod-20", "llm-prod", {"llm-prod-2"})


@given(st.text(max_size=12), st.text(min_size=1, max_size=12))
def test_hostile_names_do_no_harm(name: str, service: str) -> None:
    """Names are data: signs that mean something in patterns mean nothing here, and halves of characters are no error."""
    owned_by(name, service)
    speaks_of(name, service)
    assert owned_by(service, service)
    assert speaks_of(f"/{service}/", service) or not service.strip("\n")


def test_halves_of_characters() -> None:
    """JSON can hold half of a surrogate pair."""
    assert not owned_by("llm-prod-\ud800", "llm-prod")
    assert not speaks_of("\ud800llm-prodx", "llm-prod")


SPOKEN = {
    "llm-prod": True,
    "outbound|8000||llm-prod.default.svc.cluster.local": True,
    "default-llm-prod-8000": True,
    "httproute/default/llm-prod/rule/0": True,
    "default_llm-prod_8000": True,
    "llm-prod-predictor.default": True,
    "openai/llm-prod": True,
    "llm-prod-canary": False,
    "llm-prod-eu.default.svc": False,
    "llm-prod_canary": False,
    "llm-production": False,
    "xllm-prod": False,
    "": False,
}


@pytest.mark.parametrize(("route", "ours"), SPOKEN.items())
def test_routes_that_speak_of_the_service(route: str, ours: bool) -> None:
    """A route or cluster speaks of the service if it holds its name, and not the beginning of a longer one."""
    assert speaks_of(route, "llm-prod") is ours


def test_route_of_a_known_longer_name() -> None:
    """Before our name may stand a namespace or the beginning of another service's name: known ones are told apart."""
    assert speaks_of("default-llm-prod-80", "llm-prod")
    assert not speaks_of("default-my-llm-prod-80", "llm-prod", {"my-llm-prod"})
    assert not speaks_of("gpt", "")


def test_models_with_versions_are_different_models() -> None:
    """llama-3 is not llama-3.1."""
    assert speaks_of("hosted_vllm/llama-3", "llama-3")
    assert not speaks_of("hosted_vllm/llama-3.1-8b", "llama-3")


ADDRESSES = {
    "http://10.0.0.1:8000/v1": ("10.0.0.1:8000", "10.0.0.1"),
    "10.0.0.1:8000": ("10.0.0.1:8000", "10.0.0.1"),
    "gpu1": ("gpu1", "gpu1"),
    "https://[fd00::1]:8000/x": ("[fd00::1]:8000", "fd00::1"),
    "[fd00::1]:8000": ("[fd00::1]:8000", "fd00::1"),
    "": ("", ""),
}


@pytest.mark.parametrize(("address", "parts"), ADDRESSES.items())
def test_addresses(address: str, parts: tuple[str, str]) -> None:
    """Host and port are found with and without scheme, path and brackets."""
    assert (authority(address), host(address)) == parts


def test_deployment_in_a_cluster() -> None:
    """Pods are replicas by their names, the exporter's own pod is not the one that it speaks of, nodes are known by the pods."""
    pod = "llm-prod-5b59c84684-2mchc"
    found = selection(
        [
            engine(pod=pod, instance="10.0.0.1:8000", job="vllm"),
            pod_info(pod, node="n1", pod_ip="10.0.0.1", created_by_kind="ReplicaSet", created_by_name="llm-prod-5b59c84684"),
            pod_info("other-0", node="n2"),
        ]
    )
    assert found.named
    assert found.pods == {pod}
    assert found.nodes == {"n1"}
    assert found.replica({"pod": pod}) == replica(pod)
    assert found.replica({"pod": "dcgm-exporter-abcde", "exported_pod": pod}) == replica(pod)
    assert found.replica({"pod": "other-0"}) is None
    assert found.replica({"worker": "http://10.0.0.1:8000"}, ["worker"]) == replica(pod)
    assert found.node({"node": "n1"}) == Subject(Scope.NODE, "n1")
    assert found.node({"node": "n2"}) is None


NEIGHBOURS = [
    engine(pod="llm-prod-5b59c84684-2mchc", instance="10.0.0.1:8000", job="vllm", service="llm-prod"),
    engine(pod="llm-prod-canary-7c9d5b8f6-x8q2m", instance="10.0.0.2:8000", job="vllm", service="llm-prod-canary"),
    engine(pod="llm-prod-eu-0", instance="10.0.0.3:8000", job="vllm", service="llm-prod-eu"),
    ("kube_deployment_spec_replicas", {"deployment": "llm-prod-2", "job": "kube-state-metrics"}),
    pod_info("llm-prod-2-0"),
]


def test_services_whose_names_begin_with_ours() -> None:
    """Neither pods nor routes nor addresses of llm-prod-canary and its like are llm-prod's, and the other way round."""
    found = selection(NEIGHBOURS)
    assert found.pods == {"llm-prod-5b59c84684-2mchc"}
    assert found.gateway({"envoy_cluster_name": "llm-prod", "pod": "gw"}) == Subject(Scope.GATEWAY, "gw")
    assert found.gateway({"envoy_cluster_name": "llm-prod-canary", "pod": "gw"}) is None
    assert found.owned({"deployment": "llm-prod"}) == Subject(Scope.SERVICE, "llm-prod")
    assert found.owned({"deployment": "llm-prod-canary"}) is None
    assert found.target({"job": "vllm", "instance": "10.0.0.2:8000"}) is None
    assert found.target({"job": "vllm", "instance": "10.9.0.9:8000", "service": "llm-prod-eu"}) is None
    assert selection(NEIGHBOURS, "llm-prod-canary").pods == {"llm-prod-canary-7c9d5b8f6-x8q2m"}


def test_whoever_comes_first_does_not_matter() -> None:
    """The same series in another order make the same selection."""
    assert selection(NEIGHBOURS) == selection(NEIGHBOURS[::-1])


def test_canary_behind_our_own_service_is_ours() -> None:
    """A label that names the service outweighs a pod's name: the canary answers the service's requests."""
    found = selection([*NEIGHBOURS, engine(pod="llm-prod-next-7c9d5b8f6-x8q2m", instance="10.0.0.7:8000", service="llm-prod")])
    assert "llm-prod-next-7c9d5b8f6-x8q2m" in found.pods


def test_who_made_a_pod_outweighs_its_name() -> None:
    """llm-prod-2mchc could be a pod of ours; the cluster says that a job of another name made it."""
    named = engine(service="llm-prod", pod="llm-prod-0", instance="10.0.0.1:8000")
    rows = [named, pod_info("llm-prod-2mchc", created_by_kind="Job", created_by_name="llm-prod-cleanup")]
    assert selection(rows).pods == {"llm-prod-0"}
    rows = [named, pod_info("x-2mchc-abcde", created_by_kind="ReplicaSet", created_by_name="llm-prod-5b59c84684")]
    assert selection(rows).pods == {"llm-prod-0", "x-2mchc-abcde"}


def test_leaders_and_their_workers() -> None:
    """A leader-worker set has a stateful set for each group, whose names are those of the leaders."""
    rows = [
        engine(pod="llm-prod-0", instance="10.0.0.1:8000", job="vllm"),
        pod_info("llm-prod-0", node="n1", created_by_kind="StatefulSet", created_by_name="llm-prod"),
        pod_info("llm-prod-0-1", node="n2", created_by_kind="StatefulSet", created_by_name="llm-prod-0"),
    ]
    assert selection(rows).pods == {"llm-prod-0", "llm-prod-0-1"}
    assert selection(rows).nodes == {"n1", "n2"}


def test_namespace_that_was_set_for_the_service() -> None:
    """Pods of the same name in another namespace are others'; an exporter's own namespace is not the pod's."""
    rows = [
        engine(pod="llm-prod-0", instance="10.0.0.1:8000", namespace="prod"),
        engine(pod="llm-prod-0", instance="10.1.0.1:8000", namespace="staging"),
        pod_info("llm-prod-1", namespace="staging"),
    ]
    found = selection(rows, labels={"namespace": "prod"})
    assert found.pods == {"llm-prod-0"}
    assert found.replica({"pod": "llm-prod-0", "namespace": "staging"}) is None
    card = {"UUID": "GPU-a", "pod": "llm-prod-0", "namespace": "gpu-operator", "exported_namespace": "prod"}
    assert found.gpu(card) == Subject(Scope.GPU, "GPU-a")
    assert found.gpu({**card, "exported_namespace": "staging"}) is None
    assert found.owned({"deployment": "llm-prod", "namespace": "staging"}) is None


def test_bare_metal() -> None:
    """A job named like the service, no pods: addresses are the replicas, and only their machines are its nodes."""
    rows = [
        engine(job="llm-prod", instance="gpu1:8000"),
        engine(job="llm-prod", instance="gpu2:8000"),
        engine(job="other", instance="gpu3:8000"),
        *((NODE, {"job": "node", "instance": f"gpu{number}:9100"}) for number in (1, 2, 3)),
        ("node_uname_info", {"job": "node", "instance": "gpu1:9100", "nodename": "gpu1.example.org"}),
    ]
    found = selection(rows)
    assert found.replica({"job": "llm-prod", "instance": "gpu1:8000"}) == replica("gpu1:8000")
    assert found.replica({"job": "other", "instance": "gpu3:8000"}) is None
    assert found.nodes == {"gpu1.example.org", "gpu2"}
    assert found.node({"instance": "gpu1:9100"}) == Subject(Scope.NODE, "gpu1.example.org")
    assert found.node({"instance": "gpu3:9100"}) is None
    assert found.gpu({"UUID": "GPU-c", "instance": "gpu3:9400"}) is None
    assert found.gpu({"gpu": "0", "instance": "gpu2:9400"}) == Subject(Scope.GPU, "gpu2/0")
    assert found.target({"job": "llm-prod", "instance": "gpu1:8000"}) == replica("gpu1:8000")


def test_machines_of_which_nobody_says_what_they_run() -> None:
    """Where nothing ties engines to machines, all machines in the data are looked at."""
    found = selection([engine(service="llm-prod", instance="10.0.0.1:8000"), (NODE, {"instance": "gpu7:9100"})])
    assert found.nodes == frozenset()
    assert found.node({"instance": "gpu7:9100"}) == Subject(Scope.NODE, "gpu7")


def test_named_by_its_model_only() -> None:
    """An engine whose only name is its model's belongs to the service of that name."""
    found = selection([engine(model_name="qwen3-32b", instance="h:1"), engine(model_name="llama", instance="h:2")], "qwen3-32b")
    assert found.replicas == {"h:1": "h:1"}
    assert found.replica({"model_name": "llama", "instance": "h:2"}) is None


MODEL = {"facts": {"model": "acme/Swift-32B"}}


def test_engines_that_only_their_model_ties_to_the_service() -> None:
    """Where no engine bears the service's name, those that serve the model that was declared for it are its own."""
    rows = [
        engine(model_name="acme/Swift-32B", instance="10.0.0.1:8000", app="vllm"),
        engine(model_name="swift-32b", instance="10.0.0.2:8000", pod="swift-0"),
        engine(model_name="other", instance="10.0.0.3:8000"),
        pod_info("swift-0", created_by_kind="StatefulSet", created_by_name="swift"),
        pod_info("swift-1", created_by_kind="StatefulSet", created_by_name="swift"),
        ("nginx_ingress_controller_requests", {"ingress": "chat", "host": "chat.example.org", "instance": "10.9.0.1:10254"}),
    ]
    for order in (rows, rows[::-1]):
        found = selection(order, "chat", **MODEL)
        assert found.named
        assert found.replica({"instance": "10.0.0.1:8000"}) == replica("10.0.0.1:8000")
        assert found.replica({"instance": "10.0.0.1:8000", "model_name": "other"}) is None
        assert found.replica({"instance": "10.0.0.3:8000", "model_name": "other"}) is None
        assert found.replica({"pod": "swift-1"}) == replica("swift-1")
        assert found.owned({"statefulset": "swift"}) is not None
        assert found.target({"instance": "10.0.0.3:8000"}) is None
        for asked in ({"server_address": "chat.example.org"}, {"server_address": "api", "gen_ai_request_model": "Swift-32B"}):
            assert found.client({"job": "app", **asked}) == Subject(Scope.CLIENT, "app")


def test_model_that_several_serve_ties_nobody() -> None:
    """A model that several services have tells nothing, and neither does it where some engine bears the service's name."""
    two = [engine(model_name="swift-32b", instance=f"10.0.0.{n}:8000", app=f"team-{n}") for n in (1, 2)]
    assert not selection(two, "chat", **MODEL).named
    apart = [engine(model_name="swift-32b", instance=f"10.0.0.{n}:8000", namespace=f"team-{n}") for n in (1, 2)]
    assert not selection(apart, "chat", **MODEL).named
    named = [engine(model_name="swift-32b", instance="10.0.0.1:8000"), engine(service="chat", instance="10.0.0.2:8000")]
    assert set(selection(named, "chat", **MODEL).replicas) == {"10.0.0.2:8000"}


def test_the_only_workload_behind_a_pool() -> None:
    """A pool is called after the workload that it sends to: its engines are the service's where nobody else has any."""
    pods = [engine(instance=f"10.0.0.{n}:8000", pod=f"swift-{n}", model_name="acme/Swift") for n in (0, 1)]
    assert set(selection(pods, "swift-pool").replicas.values()) == {"swift-0", "swift-1"}
    assert not selection(pods, "falcon-pool").named
    assert not selection([*pods, engine(instance="10.0.0.9:8000", pod="falcon-0")], "swift-pool").named
    assert not selection([engine(instance="10.0.0.0:8000", pod="swift-0", service="other")], "swift-pool").named


def test_one_engine_that_says_nothing() -> None:
    """A dump of one engine without labels is the service's; of two engines nobody can say whose they are."""
    alone = selection([engine(instance="localhost:8000")])
    assert alone.everything
    assert alone.replica({"instance": "localhost:8000"}) == replica("localhost:8000")
    assert alone.gpu({"UUID": "GPU-a"}) == Subject(Scope.GPU, "GPU-a")
    two = selection([engine(instance="a:8000"), engine(instance="b:8000")])
    assert not two.named
    assert two.replica({"instance": "a:8000"}) is None
    declared = selection([engine(instance="a:8000"), engine(instance="b:8000")], facts={"replicas": 2})
    assert declared.replica({"instance": "b:8000"}) == replica("b:8000")
    assert not selection([engine(instance=f"{one}:8000") for one in "abc"], facts={"replicas": 2}).named
    assert not selection([engine(instance="a:8000", model_name="llama")]).named


def test_replica_that_another_program_names() -> None:
    """Routers name replicas by address, pod, namespace and pod, or name in the cluster's DNS; others' stay out."""
    found = selection([engine(pod="llm-prod-0", instance="10.0.0.1:8000", service="llm-prod")])
    for address in ("http://10.0.0.1:8000/v1", "llm-prod-0", "default/llm-prod-0", "http://llm-prod-0.llm-prod.default.svc:8000"):
        assert found.replica({"endpoint": address}, ["endpoint"]) == replica("llm-prod-0"), address
    assert found.replica({"endpoint": "http://10.7.7.7:8000"}, ["endpoint"]) is None
    dead = {"endpoint": "http://10.0.0.9:8000", "service": "llm-prod"}
    assert found.replica(dead, ["endpoint"]) == replica("10.0.0.9:8000")


def test_replica_whose_worker_another_program_names() -> None:
    """A runtime calls workers by ids that engines' own series bear, short or in full; of two bearers neither is meant."""
    first = {"ReplicaId": "app#LLM#k3qv9e2x", "WorkerId": "00ab", "NodeId": "n"}
    second = {"ReplicaId": "app#LLM#zt01mmfa", "WorkerId": "00cd", "NodeId": "n"}
    one = engine(instance="10.0.0.1:8080", service="llm-prod", **first)
    two = engine(instance="10.0.0.2:8080", service="llm-prod", **second)
    found = selection([one, two])
    assert found.replica({"replica": "k3qv9e2x"}, ["replica"]) == replica("10.0.0.1:8080")
    assert found.replica({"replica": "other", "WorkerId": "00cd"}, ["replica"]) == replica("10.0.0.2:8080")
    assert found.replica({"replica": "other", "NodeId": "n"}, ["replica"]) is None


def test_container_of_an_engines_image() -> None:
    """A container beside the only engine of its host is that engine if its image is one; a database is not, nor one of two."""
    found = selection([engine(instance="host-1:3000", service="llm-prod"), engine(instance="host-2:3000", service="llm-prod")])
    image = "ghcr.io/huggingface/text-generation-inference:3.3.6"
    assert found.replica({"name": "x", "image": image, "instance": "host-1:8088"}, ["name"]) == replica("host-1:3000")
    assert found.replica({"name": "x", "image": "postgres:16", "instance": "host-1:8088"}, ["name"]) is None
    assert found.replica({"name": "x", "image": image, "instance": "host-9:8088"}, ["name"]) is None
    both = selection([engine(instance="host-1:3000", service="llm-prod"), engine(instance="host-1:3001", service="llm-prod")])
    assert both.replica({"name": "x", "image": image, "instance": "host-1:8088"}, ["name"]) is None


def test_gateway_with_a_name_of_its_own() -> None:
    """A router's own service name says nothing while there is one service; with others around it must name ours."""
    ours = engine(pod="llm-prod-0", instance="10.0.0.1:8000", service="llm-prod")
    other = engine(pod="other-0", instance="10.0.0.2:8000", service="other")
    router = {"service": "litellm", "pod": "litellm-0"}
    assert selection([ours]).gateway(router) == Subject(Scope.GATEWAY, "litellm-0")
    assert selection([ours, other]).gateway(router) is None
    assert selection([ours, other]).gateway({**router, "service": "llm-prod-router"}) is not None
    assert selection([ours, other]).gateway({**router, "service": "other"}) is None
    assert selection([ours, other]).gateway({"pod": "gw-0"}) == Subject(Scope.GATEWAY, "gw-0")
    assert selection([ours, other]).gateway({**router, "requested_model": "llm-prod"}) is not None
    assert selection([ours, other]).gateway({"ingress": "llm-prod", "service": "ingress-nginx"}) is not None


def test_client_and_whom_it_asks() -> None:
    """Calls are told apart by the address that they go to: by name, in the cluster's DNS, or straight to a replica."""
    found = selection([engine(pod="llm-prod-0", instance="10.0.0.1:8000", service="llm-prod")])
    for address in ("llm-prod", "llm-prod.default.svc:8000", "http://10.0.0.1:8000"):
        assert found.client({"server_address": address, "job": "app"}) == Subject(Scope.CLIENT, "app"), address
    for address in ("payments", "llm-prod-canary", "example.org"):
        assert found.client({"server_address": address, "job": "app"}) is None, address
    assert found.client({"service": "chat-app", "job": "app"}) == Subject(Scope.CLIENT, "app")


def test_slices_of_a_card() -> None:
    """Each instance of a card that is split is a card of its own."""
    card = ("DCGM_FI_DEV_GPU_TEMP", {"Hostname": "n1", "gpu": "2"})
    found = selection([engine(service="llm-prod", instance="a:8000"), card])
    assert found.gpu({"UUID": "GPU-a", "GPU_I_ID": "3"}) == Subject(Scope.GPU, "GPU-a/mig-3")
    assert found.gpu({"Hostname": "n1", "gpu": "2"}) == Subject(Scope.GPU, "n1/2")


@pytest.mark.parametrize("alias", ["qwen", "default-model", "r1-70b"])
def test_a_model_is_served_under_any_name(alias: str) -> None:
    """A lone engine is the service's whatever its model is called there, where the service says which model it has."""
    found = selection([engine(instance="h:8000", job="engines", model_name=alias)], facts={"model": "Qwen3-8B"})
    assert found.replica({"instance": "h:8000", "model_name": alias}) == replica("h:8000")
    assert found.gateway({"requested_model": alias, "instance": "g:4000"}) is not None
    mistyped = selection([engine(instance="h:8000", job="engines", model_name=alias)])
    assert mistyped.replica({"instance": "h:8000", "model_name": alias}) is None


def test_an_alias_of_two_services_names_neither() -> None:
    """What a gateway counts under a name that others serve, too, is nobody's in particular."""
    rows = [
        engine(instance="a:8000", service="llm-prod", model_name="chat"),
        engine(instance="b:8000", service="other", model_name="chat"),
    ]
    assert selection(rows).gateway({"requested_model": "chat", "instance": "g:4000"}) is None


@pytest.mark.parametrize(("count", "ours"), [(3, True), (2, False), (4, False)])
@pytest.mark.parametrize("pod", ["vllm-{}", "inference-7d9c5b8f6-x8q2{}", "worker-{}"])
def test_as_many_pods_of_one_workload_as_were_declared(pod: str, count: int, ours: bool) -> None:
    """Where only the gateway bears the service's name, the engines are those of the only workload there is, all of them."""
    pods = [pod.format(sign) for sign in "2456"[:count]]
    route = ("nginx_ingress_controller_requests", {"ingress": "llm-prod", "instance": "g:10254"})
    rows = [route, *(engine(instance=f"{one}:8000", pod=one, namespace="ml") for one in pods)]
    found = selection(rows, facts={"replicas": 3.0})
    assert all((found.replica({"pod": one, "instance": f"{one}:8000"}) == replica(one)) == ours for one in pods)


@pytest.mark.parametrize(("new", "ours"), [(3, True), (2, True), (0, False)])
def test_a_roll_out_shows_two_generations_of_as_many_as_were_declared(new: int, ours: bool) -> None:
    """The old replica set and as much of the new one as is there; without one they are more than the service has."""
    old = ["inference-7d9c5b8f6-x8q2" + sign for sign in ("245" if new else "2456")]
    pods = [*old, *("inference-6f7c8d9b4-k2v9" + sign for sign in "245"[:new])]
    found = selection([engine(instance=f"{one}:8000", pod=one) for one in pods], facts={"replicas": 3.0})
    assert (found.pods == frozenset(pods)) == ours


def test_workers_of_a_framework_whose_front_end_speaks_for_all() -> None:
    """What its language tells of replicas comes from the workers themselves, so those are engines, too."""
    pods = [f"decode-{place}" for place in range(3)]
    rows: list[Row] = [("dynamo_frontend_requests_total", {"instance": "fe:8000", "model": "chat-large", "job": "frontend"})]
    rows += [("dynamo_component_inflight_requests", {"pod": pod, "job": "worker"}) for pod in pods]
    assert selection(rows, facts={"replicas": 3.0}).pods == frozenset(pods)
    assert selection(rows, facts={"replicas": 2.0}).pods == frozenset()


def test_a_proxys_word_for_a_service_that_its_scraper_renamed() -> None:
    """The scraper's own ``service`` is the proxy; of whom the proxy speaks stands in ``exported_service``."""
    labels = {"service": "ingress-nginx", "ingress": "front", "instance": "g:10254", "exported_service": "llm-prod"}
    rows: list[Row] = [("nginx_ingress_controller_requests", labels)]
    assert selection(rows).gateway(labels) is not None
    assert selection(rows).gateway({**labels, "exported_service": "other"}) is None


def test_more_addresses_of_one_job_than_were_declared() -> None:
    """A roll-out shows those that go and those that come; of two jobs nobody can say which is ours."""
    rows: list[Row] = [("nginx_ingress_controller_requests", {"ingress": "llm-prod", "instance": "g:10254"})]
    rows += [engine(instance=f"{one}:80", job="tgi-chat") for one in "abc"]
    assert selection(rows, facts={"replicas": 2.0}).replica({"instance": "c:80", "job": "tgi-chat"}) == replica("c:80")
    two = [*rows, engine(instance="d:80", job="tgi-other")]
    assert selection(two, facts={"replicas": 2.0}).replica({"instance": "c:80", "job": "tgi-chat"}) is None


def test_an_engine_whose_series_bear_the_names_of_its_parts() -> None:
    """An ensemble and its steps are one program; beside the declared model another is another model of the program."""
    rows = [engine(instance=f"{one}:8002", job="engines", model=part) for one in "ab" for part in ("ensemble", "step")]
    found = selection(rows, facts={"model": "Qwen3-8B", "replicas": 2})
    assert {found.replica({"instance": "a:8002", "model": part}) for part in ("ensemble", "step")} == {replica("a:8002")}
    both = [engine(instance="a:8002", job="engines", model=part) for part in ("Qwen3-8B", "bge-m3")]
    assert selection(both, facts={"model": "Qwen3-8B", "replicas": 1}).replica({"instance": "a:8002", "model": "bge-m3"}) is None


def test_a_gateways_own_name_for_the_model_of_the_service() -> None:
    """Whom it sends to tells whose a route is; where one has the service's name the others are for others."""
    asked = {"requested_model": "docs", "model": "hosted_vllm/Qwen3-8B", "instance": "g:4000", "job": "g"}
    named = {**asked, "requested_model": "llm-prod"}
    of_engine = engine(instance="h:8000", job="engines", model_name="Qwen3-8B")
    metric = "litellm_request_total_latency_metric_count"
    alone = selection([of_engine, (metric, asked)], facts={"model": "Qwen3-8B"})
    assert alone.gateway(asked) is not None
    assert alone.gateway({**asked, "model": "hosted_vllm/bge-m3"}) is None
    assert selection([of_engine, (metric, asked), (metric, named)], facts={"model": "Qwen3-8B"}).gateway(asked) is None


@pytest.mark.parametrize(
    ("label", "routes", "neighbour", "ours"),
    [
        ("envoy_cluster_name", ("qwen",), "", True),
        ("destination_service_name", ("chat-backend",), "", True),
        ("envoy_cluster_name", ("qwen", "bge"), "", False),
        ("envoy_cluster_name", ("qwen", "llm-prod"), "", False),
        ("envoy_cluster_name", ("qwen",), "llm-batch", False),
    ],
)
def test_the_only_route_of_a_gateway_is_the_services(label: str, routes: tuple[str, ...], neighbour: str, ours: bool) -> None:
    """People name it as they like; beside another route or another service's engine nobody can say whose it is."""
    rows = [engine(instance="h:8000", job="engines", model_name="Qwen3-8B")]
    rows += [engine(instance="i:8000", job="engines", service=neighbour, model_name="bge-m3")] if neighbour else []
    rows += [("envoy_cluster_upstream_rq_total", {label: route, "job": "front", "instance": "e:1"}) for route in routes]
    found = selection(rows, facts={"model": "Qwen3-8B"})
    assert (found.gateway({label: routes[0], "job": "front", "instance": "e:1"}) is not None) is ours


@pytest.mark.parametrize("alias", ["qwen", ""])
def test_as_many_engines_as_were_declared_of_which_nobody_says_more(alias: str) -> None:
    """Behind a gateway that bears the service's name, by their addresses alone, whatever they call their model."""
    route = ("nginx_ingress_controller_requests", {"ingress": "llm-prod", "instance": "g:10254"})
    rows = [route, *(engine(instance=f"{one}:8000", job="engines", model_name=alias) for one in "ab")]
    found = selection(rows, facts={"replicas": 2.0, "model": "Qwen3-8B"})
    assert [found.replica(labels) for _, labels in rows[1:]] == [replica("a:8000"), replica("b:8000")]


def test_pods_of_one_workload_that_has_a_name_of_its_own() -> None:
    """As many as were declared, but a label says whose they are."""
    rows = [engine(instance=f"chat-{one}:8000", pod=f"chat-{one}", app="chat-eu") for one in range(3)]
    assert selection(rows, facts={"replicas": 3.0}).pods == frozenset()


@pytest.mark.parametrize("maker", ["llm-prod-5b59c84684", "llm-prod"])
def test_replica_sets_with_and_without_the_hash_of_a_deployment(maker: str) -> None:
    """Somebody may make a replica set by hand: its name ends in no hash then, and its last word is not to be cut off."""
    rows = [pod_info("llm-prod-0", created_by_kind="ReplicaSet", created_by_name=maker)]
    assert selection(rows).pods == {"llm-prod-0"}


@pytest.mark.parametrize("node", ["gpu-2", ""])
def test_target_of_an_exporter(node: str) -> None:
    """An exporter on a host where none of our engines runs is nobody's business."""
    rows = [engine(instance="a:8000", service="llm-prod", node="gpu-1"), (NODE, {"instance": "x:9100", "node": "gpu-2"})]
    target = selection(rows).target({"job": "node", "instance": "y:9400", "node": node})
    assert (target is None) == bool(node)


@pytest.mark.parametrize(
    ("cards", "others", "theirs"),
    [(16.0, ("gpu-2",), {"gpu-1", "gpu-2"}), (8.0, ("gpu-2",), {"gpu-1"}), (16.0, ("gpu-2", "gpu-3"), {"gpu-1"})],
)
def test_a_replica_larger_than_a_machine(cards: float, others: tuple[str, ...], theirs: set[str]) -> None:
    """Its one address is on the first of its nodes; of more nodes than it needs nobody can say which is the other."""
    rows = [engine(instance="a:8000", service="llm-prod", node="gpu-1")]
    rows += [(NODE, {"instance": f"{node}:9100", "node": node, "job": "node"}) for node in ("gpu-1", *others)]
    assert selection(rows, facts={"gpus_per_replica": cards}).nodes == theirs


@pytest.mark.parametrize(
    ("route", "ours"),
    [
        ({"service": "llm-prod@docker"}, True),
        ({"service": "llm-llm-prod-8000@kubernetes"}, True),
        ({"service": "shop-web-80@kubernetes"}, False),
        ({}, True),
    ],
)
def test_a_gateway_that_names_to_whom_it_sends_tells_of_others_too(route: dict[str, str], ours: bool) -> None:
    """Once it names the service, what it sends elsewhere is not the service's; the label of its own target says nothing."""
    requests = "traefik_service_requests_total"
    rows = [
        (requests, {"job": "traefik", "instance": "t:1", "service": "llm-prod@docker"}),
        (requests, {"job": "traefik", **route}),
    ]
    assert (selection(rows).gateway({"job": "traefik", "instance": "t:1", **route}) is not None) is ours
    beside = {"job": "traefik", "service": "traefik"}
    scraped = selection([(requests, {**beside, "exported_service": "llm-prod@docker"})])
    assert scraped.gateway({**beside, "exported_service": "shop@docker"}) is None
    assert scraped.gateway(beside) is not None
    alone = selection([(requests, {"job": "traefik", "service": "chat@docker"})])
    assert alone.gateway({"job": "traefik", "instance": "t:1", "service": "chat@docker"}) is not None
