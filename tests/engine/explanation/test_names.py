"""What the things of an incident are called, taken from recordings as sources tell them."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.making import make_recording
from triage.engine.explanation.names import names_of
from triage.ingest.files.incident import read_incident
from triage.model.playbook import PLACEHOLDERS
from triage.model.recording import Event, Fact, Recording, Subject
from triage.model.vocabulary import Scope

CASES = Path(__file__).parents[2] / "incidents"
SERVICE = Subject(Scope.SERVICE, "svc")


def told(recording: Recording, *events: Event, facts: tuple[Fact, ...] = ()) -> Recording:
    """A recording with changes and facts."""
    return replace(recording, events=events, facts=facts)


def test_a_card_has_its_place_its_pod_and_its_host() -> None:
    """By the labels of its exporter, its owner, and the facts of both."""
    recording = read_incident(CASES / "pcie-degraded-a050")
    names = names_of(Subject(Scope.GPU, "GPU-82adbb36-c506-3a5f-cdff-cd67cc6bce4d"), recording)
    assert names.keys() <= {*PLACEHOLDERS, "engine"}
    assert {key: names[key] for key in ("gpu", "pci", "pod", "deployment", "gateway_deployment", "node")} == {
        "gpu": "0",
        "pci": "00000000:DE:00.0",
        "pod": "llm-prod-45d675747-t2fkc",
        "deployment": "llm-prod",
        "gateway_deployment": "llm-gateway",
        "node": "ip-10-46-0-219.eu-central-1.compute.internal",
    }


def change(time: float, version: str, previous: str, subject: Subject = SERVICE) -> Event:
    """A deploy."""
    return Event(time, "deploy", version, subject, {"version": version, "previous": previous})


def test_versions_are_those_of_the_last_change_of_whom_it_is_about() -> None:
    """A gateway's own change counts for a finding on the gateway, the service's for all others."""
    gateway = Subject(Scope.GATEWAY, "edge")
    recording = told(make_recording(), change(1.0, "v2", "v1"), change(2.0, "v3", "v2"), change(3.0, "g2", "g1", gateway))
    assert names_of(SERVICE, recording)["previous_version"] == "v2"
    assert names_of(gateway, recording)["version"] == "g2"
    assert "version" not in names_of(SERVICE, make_recording())


@pytest.mark.parametrize(
    ("replica", "names"),
    [
        ("chat-7d4b9c8f6d-x2x4z", {"pod": "chat-7d4b9c8f6d-x2x4z", "deployment": "chat"}),
        ("chat-0", {"pod": "chat-0"}),
        ("10.0.0.1:8000", {"endpoint": "10.0.0.1:8000"}),
    ],
)
def test_a_replica_is_a_pod_or_an_address(replica: str, names: dict[str, str]) -> None:
    """A pod of a stateful set is of no deployment, and an address is no pod."""
    recording = make_recording({"kv.usage": 0.5})
    recording = replace(recording, series=[replace(one, subject=Subject(Scope.REPLICA, replica)) for one in recording.series])
    found = names_of(Subject(Scope.REPLICA, replica), recording)
    assert {key: found[key] for key in ("pod", "deployment", "endpoint") if key in found} == names


def test_of_several_replicas_none_is_guessed() -> None:
    """A finding on the service names a pod only if there is but one."""
    one, two = Subject(Scope.REPLICA, "a-0"), Subject(Scope.REPLICA, "a-1")
    recording = make_recording({"kv.usage": 0.5})
    both = replace(recording, series=[replace(series, subject=whom) for series in recording.series for whom in (one, two)])
    single = replace(recording, series=[replace(series, subject=one) for series in recording.series])
    assert "pod" not in names_of(SERVICE, both)
    assert names_of(SERVICE, single)["pod"] == "a-0"


def test_facts_of_the_replica_go_before_those_of_the_service() -> None:
    """What an engine prints of itself is nearer than what was declared."""
    replica = Subject(Scope.REPLICA, "a")
    facts = (Fact(SERVICE, "max_num_seqs", 48.0), Fact(replica, "max_num_seqs", 16.0), Fact(SERVICE, "replicas", 3.0))
    names = names_of(replica, told(make_recording(), facts=facts))
    assert (names["max_num_seqs"], names["replicas"]) == (16.0, 3.0)
