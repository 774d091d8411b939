"""Finding one service among many by the labels that people have, with few questions."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.prometheus.discovery import Survey
from triage.ingest.prometheus.promql import FEWEST_POINTS, SAMPLES
from triage.model.recording import Window
from triage.model.service import Service

WINDOW = Window(5000.0, 6800.0, 1400.0)
DIALECTS = load_dialects()
ENGINE = ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc", "vllm:num_preemptions_total")
_CONDITION = re.compile(r'(\w+)(=~|!~|!=|=)("(?:[^"\\]|\\.)*")')

Series = dict[str, str]


@cache
def conditions(selector: str) -> tuple[str, list[tuple[str, str, Any]]]:
    """Name and conditions of a selector."""
    name, _, inner = selector.partition("{")
    found = [(label, op, json.loads(text)) for label, op, text in _CONDITION.findall(inner)]
    return name, [(label, op, re2.compile(text) if "~" in op else text) for label, op, text in found]


def matches(selector: str, series: Mapping[str, str]) -> bool:
    """Whether a series satisfies a selector, by the rules of PromQL."""
    name, wanted = conditions(selector)
    if name and series["__name__"] != name:
        return False
    for label, op, value in wanted:
        has = series.get(label, "")
        if bool(value.fullmatch(has) if "~" in op else value == has) == op.startswith("!"):
            return False
    return True


class Shelf:
    """The index of a server: answers selectors with label sets, and counts what it hands out."""

    def __init__(self, *series: Series) -> None:
        self.series = list(series)
        self.handed = 0

    def survey(self, service: Service) -> Survey:
        """Everything that is found out about a service."""
        survey = Survey(service, DIALECTS, {one["__name__"] for one in self.series})
        for step in survey.steps:
            selectors = step()
            answer = [one for one in self.series if any(matches(selector, one) for selector in selectors)]
            self.handed += len(answer)
            if selectors:
                survey.add(answer)
        return survey

    def fetched(self, service: Service, metric: str) -> list[Series]:
        """The series of a metric that the planned queries would read."""
        texts = [query.text for query in self.survey(service).plan(WINDOW, {}, 15.0) if query.metric == metric]
        selectors = [re.search(r"\(([\w:]+(?:\{.*\})?)\[", text).group(1) for text in texts]  # type: ignore[union-attr]
        return [one for one in self.series if one["__name__"] == metric and any(matches(text, one) for text in selectors)]


def engines(labels: Mapping[str, str], names: Iterable[str] = ENGINE) -> list[Series]:
    """One engine's metrics under these labels."""
    return [{"__name__": name, "engine": "0", **labels} for name in names]


def replicas(workload: str, count: int = 2, **labels: str) -> list[Series]:
    """Engines of a deployment in a cluster."""
    found: list[Series] = []
    for number in range(count):
        pod = f"{workload}-5b59c84684-{'bcdfg'[number % 5]}{number:04d}"
        found += engines({"job": "vllm", "instance": f"10.0.{number}.7:8000", "pod": pod, "namespace": "llm", **labels})
    return found


def instances(series: Sequence[Series]) -> set[str]:
    """Which targets series come from."""
    return {one["instance"] for one in series}


# Names


def test_every_usual_label_finds_the_service() -> None:
    """Nothing is configured but the name, and engines of others are not read."""
    other = replicas("other", 2)
    for label in ("service", "app", "app_kubernetes_io_name", "model_name", "deployment", "job"):
        mine = engines({"job": "engines", "instance": "10.1.0.1:8000", "model_name": "llama", label: "chat"})
        assert Shelf(*mine, *other).fetched(Service(name="chat"), ENGINE[0]) == mine[:1], label


def test_pods_of_a_deployment_and_of_a_stateful_set_find_the_service() -> None:
    """By the way their names begin, and not those of a service whose name begins alike."""
    for pod in ("chat-5b59c84684-2mchc", "chat-0", "chat"):
        mine = engines({"job": "vllm", "instance": "10.1.0.1:8000", "pod": pod})
        others = engines({"job": "vllm", "instance": "10.1.0.2:8000", "pod": "chat-canary-5b59c84684-2mchc"})
        assert Shelf(*mine, *others).fetched(Service(name="chat"), ENGINE[0]) == mine[:1], pod


def test_labels_from_the_settings_come_first() -> None:
    """Where the usual labels do not tell."""
    mine = engines({"job": "vllm", "instance": "a:1", "team": "search", "stage": "prod"})
    other = engines({"job": "vllm", "instance": "b:1", "team": "search", "stage": "test"})
    service = Service(name="chat", labels={"team": "search", "stage": "prod"})
    assert Shelf(*mine, *other).fetched(service, ENGINE[0]) == mine[:1]


def test_a_stranger_is_told_what_there_is() -> None:
    """A mistyped name finds nothing, says so, and names the others."""
    shelf = Shelf(*replicas("chat", service="chat"), *replicas("search", service="search"))
    survey = shelf.survey(Service(name="chta"))
    assert not survey.found
    assert "chat, search" in survey.absence()


def test_an_empty_server_and_a_strange_one_are_told_apart_from_a_wrong_name() -> None:
    """Retention that ended, and metrics that no dialect knows."""
    assert "no metrics at all of this time" in Shelf().survey(Service(name="chat")).absence()
    assert (
        "has metrics (1 names), but none that triage knows" in Shelf({"__name__": "mine"}).survey(Service(name="chat")).absence()
    )


def test_the_only_engine_on_a_server_needs_no_name() -> None:
    """A bare test bench: one engine, no telling label, no doubt."""
    lone = engines({"job": "bench", "instance": "localhost:8000"})
    assert Shelf(*lone).survey(Service(name="whatever")).found
    two = engines({"job": "bench", "instance": "localhost:8001"})
    assert not Shelf(*lone, *two).survey(Service(name="whatever")).found


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12))
def test_a_hostile_name_finds_itself_and_nothing_else(name: str) -> None:
    """Names are data: no character of theirs means anything in a selector."""
    mine = engines({"job": "vllm", "instance": "a:1", "service": name})
    other = engines({"job": "vllm", "instance": "b:1", "service": name + "x"})
    assert Shelf(*mine, *other).fetched(Service(name=name), ENGINE[0]) == mine[:1]


def test_a_replica_that_lacks_a_metric_is_still_read() -> None:
    """Versions differ: the label that all share picks both."""
    old = engines({"job": "vllm", "instance": "a:1", "service": "chat"}, ENGINE[:1])
    new = engines({"job": "vllm", "instance": "b:1", "service": "chat"}, ENGINE[1:])
    shelf = Shelf(*old, *new)
    assert instances(shelf.fetched(Service(name="chat"), ENGINE[0])) == {"a:1"}
    assert instances(shelf.fetched(Service(name="chat"), ENGINE[2])) == {"b:1"}


# What is around a service


def cluster(service: str = "chat", **labels: str) -> list[Series]:
    """Two replicas with pods, nodes and cards, and as much of another service."""
    found: list[Series] = []
    for name, first in ((service, 0), ("other", 2)):
        for number in (first, first + 1):
            pod, node, ip = f"{name}-5b59c84684-bcdf{number}", f"gpu-{number}", f"10.9.0.{number}"
            target = {"job": "vllm", "instance": f"10.1.0.{number}:8000", "pod": pod, "namespace": "llm"}
            ksm = {"job": "ksm", "instance": "10.2.0.1:8080", "namespace": "llm"}
            found += engines({**target, **(labels if name == service else {})})
            found.append({"__name__": "process_start_time_seconds", **target})
            found.append({"__name__": "up", **target})
            found.append(
                {"__name__": "kube_pod_info", **ksm, "pod": pod, "node": node, "host_ip": ip, "pod_ip": f"10.1.0.{number}"}
            )
            found.append({"__name__": "kube_pod_status_ready", **ksm, "pod": pod, "condition": "true"})
            found.append({"__name__": "kube_node_status_condition", **ksm, "node": node, "condition": "Ready", "status": "true"})
            found.append({"__name__": "node_load1", "job": "node", "instance": f"{ip}:9100"})
            found.append({"__name__": "up", "job": "node", "instance": f"{ip}:9100"})
            card = {"job": "dcgm", "instance": f"{ip}:9400", "Hostname": node, "gpu": "0", "UUID": f"GPU-{number}", "pod": pod}
            found.append({"__name__": "DCGM_FI_DEV_GPU_TEMP", **card})
        found.append({"__name__": "kube_deployment_spec_replicas", **ksm, "deployment": name})
    found.append({"__name__": "up", **ksm})
    return found


def test_pods_nodes_and_cards_of_the_service_are_found() -> None:
    """The node exporter knows only addresses, and the cluster says which node has which."""
    shelf = Shelf(*cluster())
    service = Service(name="chat")
    assert instances(shelf.fetched(service, "node_load1")) == {"10.9.0.0:9100", "10.9.0.1:9100"}
    assert {one["UUID"] for one in shelf.fetched(service, "DCGM_FI_DEV_GPU_TEMP")} == {"GPU-0", "GPU-1"}
    assert {one["node"] for one in shelf.fetched(service, "kube_node_status_condition")} == {"gpu-0", "gpu-1"}
    assert {one["pod"][:4] for one in shelf.fetched(service, "kube_pod_status_ready")} == {"chat"}
    assert {one["deployment"] for one in shelf.fetched(service, "kube_deployment_spec_replicas")} == {"chat"}
    assert instances(shelf.fetched(service, "process_start_time_seconds")) == {"10.1.0.0:8000", "10.1.0.1:8000"}


def test_targets_of_everything_around_the_service_are_watched() -> None:
    """Whether engines, exporters and the cluster's metrics are scraped is evidence."""
    found = instances(Shelf(*cluster()).fetched(Service(name="chat"), "up"))
    assert found == {"10.1.0.0:8000", "10.1.0.1:8000", "10.9.0.0:9100", "10.9.0.1:9100", "10.2.0.1:8080"}


def test_pods_that_are_not_named_after_the_service_are_followed_to_their_nodes() -> None:
    """The engines carry the name, their pods another one."""
    series = [{label: value.replace("chat-", "llm-engine-") for label, value in one.items()} for one in cluster(app="chat")]
    shelf = Shelf(*series)
    assert instances(shelf.fetched(Service(name="chat"), "node_load1")) == {"10.9.0.0:9100", "10.9.0.1:9100"}
    assert {one["UUID"] for one in shelf.fetched(Service(name="chat"), "DCGM_FI_DEV_GPU_TEMP")} == {"GPU-0", "GPU-1"}


def test_an_address_is_given_its_node() -> None:
    """So that a node exporter without a label for the node is of the node that the pods run on."""
    places = Shelf(*cluster()).survey(Service(name="chat")).selection.places
    assert places.node({"instance": "10.9.0.1:9100"}) == "gpu-1"
    assert places.node({"instance": "10.9.0.3:9100"}) == "10.9.0.3"


def test_without_a_cluster_the_host_of_the_engine_is_its_node() -> None:
    """Bare machines: exporters on the engines' hosts, and not those of other machines."""
    mine = engines({"job": "vllm", "instance": "10.0.0.1:8000", "service": "chat"})
    nodes = [{"__name__": "node_load1", "job": "node", "instance": f"10.0.0.{number}:9100"} for number in (1, 2)]
    assert instances(Shelf(*mine, *nodes).fetched(Service(name="chat"), "node_load1")) == {"10.0.0.1:9100"}


def test_nodes_that_nobody_ties_to_the_service_are_left_out_and_told_of() -> None:
    """A few may be its own, a hundred are not."""
    mine = engines({"job": "vllm", "instance": "chat.example:8000", "service": "chat"})
    nodes = [{"__name__": "node_load1", "job": "node", "instance": f"10.0.0.{number}:9100"} for number in range(100)]
    assert len(Shelf(*mine, *nodes[:3]).fetched(Service(name="chat"), "node_load1")) == 3
    assert Shelf(*mine, *nodes).fetched(Service(name="chat"), "node_load1") == []
    (problem,) = Shelf(*mine, *nodes).survey(Service(name="chat")).problems
    assert "100 nodes were left out" in problem


def test_a_service_without_engines_says_so() -> None:
    """All its replicas are gone; what the cluster says of it is still read."""
    series = [one for one in cluster() if not one["__name__"].startswith("vllm:") or "other" in one["pod"]]
    survey = Shelf(*series).survey(Service(name="chat"))
    assert survey.found
    assert any("no engine's metrics belong to chat" in problem for problem in survey.problems)
    assert Shelf(*series).fetched(Service(name="chat"), "kube_deployment_spec_replicas")
    assert Shelf(*series).fetched(Service(name="chat"), ENGINE[0]) == []


# Gateways


def router(**labels: str) -> Series:
    """A series of vLLM's router."""
    return {"__name__": "vllm_router_processed_requests_total", "job": "router", "instance": "10.5.0.1:29000", **labels}


def test_a_gateway_is_found_by_name_by_worker_and_by_namespace() -> None:
    """And left alone if it only speaks of others."""
    mine, others = replicas("chat", namespace="a"), replicas("other", namespace="b")
    others = [{**one, "instance": one["instance"].replace("10.0", "10.7")} for one in others]
    for labels in ({"service": "chat"}, {"worker": "http://10.0.0.7:8000"}, {"namespace": "a"}, {"pod": "chat-router-0"}):
        assert Shelf(*mine, *others, router(**labels)).fetched(Service(name="chat"), router()["__name__"]), labels
    for labels in ({}, {"service": "other"}, {"worker": "http://10.7.0.7:8000"}, {"namespace": "b"}):
        assert not Shelf(*mine, *others, router(**labels)).fetched(Service(name="chat"), router()["__name__"]), labels


def test_a_gateway_without_labels_is_the_services_if_no_other_service_is_there() -> None:
    """On a server with one service there is nobody else whose it could be."""
    shelf = Shelf(*replicas("chat", service="chat"), router())
    assert shelf.fetched(Service(name="chat"), router()["__name__"]) == [router()]


def test_of_a_shared_gateway_only_the_services_traffic_is_read() -> None:
    """By the label that says where a request went."""
    envoy = [
        {"__name__": name, "job": "envoy", "instance": "10.6.0.1:19001", "envoy_cluster_name": cluster}
        for name in ("envoy_cluster_upstream_rq_total", "envoy_cluster_upstream_rq_retry")
        for cluster in ("chat", "outbound|80||chat.llm.svc", "search", "xds_cluster")
    ]
    listener = {"__name__": "envoy_http_downstream_rq_total", "job": "envoy", "instance": "10.6.0.1:19001"}
    shelf = Shelf(*replicas("chat", service="chat"), *replicas("search", service="search"), *envoy, listener)
    found = shelf.fetched(Service(name="chat"), "envoy_cluster_upstream_rq_retry")
    assert {one["envoy_cluster_name"] for one in found} == {"chat", "outbound|80||chat.llm.svc"}
    assert shelf.fetched(Service(name="chat"), "envoy_http_downstream_rq_total") == [listener]


def test_metrics_of_the_application_are_read_if_they_are_not_another_services() -> None:
    """Whoever names a metric in the settings means it; the label of another service says otherwise."""
    service = Service(name="chat", signals={"requests.distinct": "app_chat_requests_total"})
    name = "app_chat_requests_total"
    mine = {"__name__": name, "job": "app", "instance": "10.8.0.1:80"}
    other = {"__name__": name, "job": "app", "instance": "10.8.0.2:80", "service": "other"}
    assert Shelf(*replicas("chat", service="chat"), mine, other).fetched(service, name) == [mine]
    named = {**mine, "service": "chat"}
    assert Shelf(*replicas("chat", service="chat"), named, other).fetched(service, name) == [named]


# Size


def fleet(count: int, cards: int) -> list[Series]:
    """A service of many replicas with several cards each, in a cluster with ten times as many."""
    found: list[Series] = []
    for name, many in (("chat", count), ("other", count * 10)):
        for number in range(many):
            pod, node = f"{name}-5b59c84684-b{number:04d}", f"{name}-node-{number}"
            found += engines({"job": "vllm", "instance": f"{name}-{number}:8000", "pod": pod, "namespace": name})
            found.append({"__name__": "vllm:time_to_first_token_seconds_bucket", "pod": pod, "le": "1"})
            found.append({"__name__": "kube_pod_info", "job": "ksm", "instance": "k:1", "pod": pod, "node": node})
            found += [
                {
                    "__name__": "DCGM_FI_DEV_GPU_TEMP",
                    "job": "dcgm",
                    "instance": f"{node}:9400",
                    "Hostname": node,
                    "UUID": f"{node}-{card}",
                }
                for card in range(cards)
            ]
    return found


@pytest.mark.slow
def test_a_fleet_is_not_downloaded_whole() -> None:
    """A hundred replicas with eight hundred cards among ten times as many: each answer stays small, each query short."""
    shelf = Shelf(*fleet(100, 8))
    survey = shelf.survey(Service(name="chat"))
    assert shelf.handed < len(shelf.series) / 5
    queries = {query.metric: query for query in survey.plan(WINDOW, {}, 15.0)}
    assert max(len(query.text) for query in queries.values()) < 12_000
    assert queries["DCGM_FI_DEV_GPU_TEMP"].grid.points * 800 <= SAMPLES * 1.1
    assert queries["vllm:time_to_first_token_seconds_bucket"].grid.points <= FEWEST_POINTS
    assert queries[ENGINE[0]].grid.points > 80


def test_a_small_service_costs_few_questions() -> None:
    """Four rounds at most, and none for what is not there."""
    survey = Shelf(*replicas("chat", service="chat")).survey(Service(name="chat"))
    assert [bool(step()) for step in survey.steps] == [True, False, False, False]
    assert len(survey.plan(WINDOW, {}, 15.0)) == len(ENGINE)


def test_a_name_that_two_dialects_of_one_kind_share_is_looked_for() -> None:
    """CAdvisor's metrics are read in two ways, with Kubernetes and with Docker alone."""
    pods = {one["pod"] for one in replicas("chat")}
    usage = [
        {
            "__name__": "container_memory_working_set_bytes",
            "job": "kubelet",
            "instance": "n:10250",
            "pod": pod,
            "container": "engine",
        }
        for pod in sorted(pods | {"other-0"})
    ]
    found = Shelf(*replicas("chat"), *usage).fetched(Service(name="chat"), "container_memory_working_set_bytes")
    assert {one["pod"] for one in found} == pods
