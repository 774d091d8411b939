"""How a service's sources are found again: labels that stay, names that are made."""

import re

import pytest

from tests.servers import INCIDENTS
from triage.export.layout import Key, family, layout_of, usual_layout
from triage.export.looking import measured
from triage.ingest.files.incident import read_incident
from triage.ingest.language import load_language
from triage.model.service import Service
from triage.model.vocabulary import Scope


@pytest.mark.parametrize(
    ("replica", "alike", "strange"),
    [
        ("chat-bcb7bd7cb8-fjdmp", "chat-68d955c6c-6k2fs", "chat-gateway-68d955c6c-6k2fs"),
        ("chat-engine-0", "chat-engine-12", "chat-engine-x2q9z"),
        ("chat-x2q9z", "chat-w8c7d", "chat-gateway-w8c7d"),
        ("10.0.0.1:8000", "10.0.0.1:8000", "10.0.0.2:8000"),
        ("chat.engine", "chat.engine", "chatXengine"),
    ],
)
def test_the_next_replica_is_found_by_the_name_of_its_owner(replica: str, alike: str, strange: str) -> None:
    """And what another owner made is not."""
    pattern = family(replica).replace("\\\\", "\\")
    assert re.fullmatch(pattern, replica)
    assert re.fullmatch(pattern, alike)
    assert not re.fullmatch(pattern, strange)


def test_a_look_finds_what_stays_and_drops_what_the_next_roll_out_changes() -> None:
    """No pod, host or card of the recording is named in what is written."""
    recording = read_incident(INCIDENTS / "prefix-cache-collapse-a068")
    layout = layout_of(measured(recording), load_language().dialects)
    written = "\n".join(str(source.matchers) for source in layout.sources)
    names = [subject.id for scope in (Scope.REPLICA, Scope.GPU, Scope.NODE) for subject in recording.subjects[scope]]
    assert len(names) > 3
    assert not [name for name in names if name in written]
    cards = next(source for source in layout.sources if source.dialect.name == "dcgm")
    assert cards.keys == {Scope.REPLICA: Key("pod"), Scope.GPU: Key("UUID"), Scope.NODE: Key("Hostname")}
    assert layout.facts["max_num_seqs"] == 40
    assert layout.objectives["ttft_p95_s"] == 3.0


def test_what_was_not_seen_is_looked_for_where_its_siblings_were() -> None:
    """A counter that nobody has made yet has the labels of its source, and the spelling of its names."""
    layout = layout_of(measured(read_incident(INCIDENTS / "retry-storm")), load_language().dialects)
    source, entry = next(pair for pair in layout.of("spec.drafts") if pair[0].dialect.name == "vllm")
    assert "spec.drafts" not in source.seen
    assert source.names(entry)[0].startswith("vllm:")
    assert source.matchers


def test_a_node_that_is_named_by_an_address_is_named_by_its_host() -> None:
    """Where only the scraper says which host it is."""
    layout = layout_of(measured(read_incident(INCIDENTS / "disk-pressure-eviction-made-kubelet")), load_language().dialects)
    host = next(source for source in layout.sources if source.dialect.name == "node_exporter")
    assert host.keys[Scope.NODE].label == "instance"
    assert re.fullmatch(host.keys[Scope.NODE].pattern, "gpu-node-1:9100")[1] == "gpu-node-1"  # type: ignore[index]


def test_where_nobody_has_looked_settings_say_what_finds_a_service() -> None:
    """Hosts do not bear a service's labels."""
    language = load_language()
    service = Service(name="chat", labels={"namespace": 'a"b'}, objectives={"ttft_p95_s": 1.0})
    layout = usual_layout(service, [one for one in language.dialects if one.name in ("vllm", "node_exporter")])
    found = {(source.dialect.name, source.scope): source.matchers for source in layout.sources}
    assert found["vllm", Scope.REPLICA] == (("namespace", "=", 'a\\"b'),)
    assert found["node_exporter", Scope.NODE] == ()
    assert layout.key(Scope.REPLICA) == "pod"
