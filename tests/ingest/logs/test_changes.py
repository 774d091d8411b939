"""Files of changes, and names that cluster events bring."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.changes import kube_event_of_record, read_changes, workload_of
from triage.model.recording import Event, Source, SourceState, Subject, Window
from triage.model.vocabulary import Scope

START = 1789560000.0  # 2026-09-16T12:00:00Z
WINDOW = Window(START, START + 1800.0, START - 1800.0)


def read(tmp_path: Path, *lines: str | dict[str, object]) -> tuple[tuple[Event, ...], Source]:
    path = tmp_path / "changes.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return read_changes(path, WINDOW)


def test_a_deploy(tmp_path: Path) -> None:
    """A change is an event of its kind, named by its version, about its service, with all plain fields as text."""
    deploy = {
        "time": "2026-09-16T12:05:00Z", "kind": "deploy", "service": "chat", "version": "v2", "previous": "v1", "note": "canary",
        "replicas": 3, "forced": True, "details": {"a": 1},
    }  # fmt: skip
    (event,), source = read(tmp_path, deploy)
    attrs = {"service": "chat", "version": "v2", "previous": "v1", "replicas": "3", "forced": "yes"}
    assert event == Event(START + 300.0, "deploy", "v2", Subject(Scope.SERVICE, "chat"), attrs, "canary", "changes")
    assert source == Source("changes", SourceState.OK)


def test_a_change_without_a_note(tmp_path: Path) -> None:
    """Without a note a sentence is made of the fields."""
    (event,), _ = read(tmp_path, {"time": START, "kind": "scale", "service": "chat", "replicas": 3, "previous": 4})
    assert event.text == "scale chat to 3 replicas (before: 4)"
    assert event.name == ""


@pytest.mark.parametrize(
    "time", [START, START * 1000, "2026-09-16T12:00:00Z", "2026-09-16T14:00:00+02:00", "2026-09-16T12:00:00"]
)
def test_times(tmp_path: Path, time: float | str) -> None:
    """Seconds, milliseconds and text with and without a zone mean the same moment."""
    (event,), _ = read(tmp_path, {"time": time, "kind": "config", "service": "chat"})
    assert event.time == START


def test_bad_lines_are_named(tmp_path: Path) -> None:
    """A line that is no change is told with its number and the reason; the others count."""
    good = {"time": START, "kind": "restart", "service": "chat"}
    events, source = read(tmp_path, "{", good, '["a"]', "", {"kind": "deploy"}, {"time": "yesterday"}, {"time": True})
    assert [event.kind for event in events] == ["restart"]
    assert source.state is SourceState.PARTIAL
    assert source.reason == (
        "changes.jsonl: line 1 is not JSON; line 3 is not an object; line 5 has no time that can be read; "
        "line 6 has no time that can be read; line 7 has no time that can be read"
    )


def test_only_what_can_matter(tmp_path: Path) -> None:
    """Changes of the day before count, older ones and those after the window do not, and the order is by time."""
    times = [START + 1801, START + 5, START - 80_000, START - 100_000]
    events, source = read(tmp_path, *({"time": time, "kind": "deploy", "service": "chat"} for time in times))
    assert [event.time for event in events] == [START - 80_000, START + 5]
    assert source.state is SourceState.OK


def test_no_file(tmp_path: Path) -> None:
    """That there is no file of changes is told, and is no error."""
    events, source = read_changes(tmp_path / "changes.jsonl", WINDOW)
    assert (events, source.state) == ((), SourceState.ABSENT)
    _, source = read_changes(tmp_path, WINDOW)
    assert source.state is SourceState.FAILED


def test_secrets_and_escapes(tmp_path: Path) -> None:
    """Notes and fields are cleaned like lines of a log."""
    (event,), _ = read(
        tmp_path, {"time": START, "kind": "\x1b[31mconfig", "service": "chat", "note": "api_key=hunter2\x07", "x": "\u202ey"}
    )
    assert (event.kind, event.text, event.attrs["x"]) == ("config", "api_key=[removed]", "y")


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_nothing_breaks_it(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    """Any bytes are changes or named problems."""
    path = tmp_path_factory.mktemp("any") / "changes.jsonl"
    path.write_bytes(b"\n".join(lines))
    events, source = read_changes(path, WINDOW)
    assert events == ()
    assert source.state in {SourceState.OK, SourceState.PARTIAL}


@pytest.mark.parametrize(
    ("pod", "workload"),
    [
        ("chat-5d4f6bf9b6-abcde", "chat"),
        ("llm-prod-b8fdbfbcd-hns8g", "llm-prod"),
        ("llm-prod-0", "llm-prod"),
        ("node-log-agent-6kq7z", "node-log-agent"),
        ("chat", "chat"),
    ],
)
def test_workload_of_a_pod(pod: str, workload: str) -> None:
    """The deployment, stateful set or daemon set is the pod's name without what was added."""
    assert workload_of(pod) == workload


@pytest.mark.parametrize(
    "record",
    [
        {
            "involvedObject": {"kind": "Pod", "name": "chat-0"},
            "lastTimestamp": "2026-09-16T12:00:00Z",
            "message": "m",
            "count": 3,
        },
        {
            "regarding": {"kind": "Pod", "name": "chat-0"},
            "eventTime": "2026-09-16T12:00:00.000000Z",
            "note": "m",
            "series": {"count": 3},
        },
        {
            "event": {
                "involvedObject": {"kind": "Pod", "name": "chat-0"},
                "firstTimestamp": "2026-09-16T12:00:00Z",
                "message": "m",
                "count": 3,
            }
        },
    ],
    ids=["v1", "events.k8s.io", "exporter"],
)
def test_forms_of_api_objects(record: dict[str, dict[str, object]]) -> None:
    """Both versions of the API and exporters that wrap them are read alike."""
    inner = record.get("event", record)
    inner["reason"], inner["type"] = "Killing", "Normal"  # type: ignore[assignment]
    event = kube_event_of_record(record)
    assert event is not None
    assert (event.time, event.reason, event.object_kind, event.object_name) == (START, "Killing", "pod", "chat-0")
    assert (event.message, event.count) == ("m", 3)


def test_other_objects_are_no_events() -> None:
    """An object without a reason or without anything that it is about is no event."""
    assert kube_event_of_record({"kind": "Pod", "metadata": {}}) is None
    assert kube_event_of_record({"involvedObject": {"kind": "Pod"}}) is None


def test_a_version_that_is_brought_further(tmp_path: Path) -> None:
    """The second step of a version has a stage, also where the first was taken under another name; a rollback is no step."""
    events, _ = read(
        tmp_path,
        {"time": START, "kind": "deploy", "service": "chat-canary", "version": "v2"},
        {"time": START + 60, "kind": "deploy", "service": "chat", "version": "v2"},
        {"time": START + 120, "kind": "deploy", "service": "chat", "version": "v2"},
        {"time": START + 180, "kind": "rollback", "service": "chat", "version": "v2"},
    )
    assert [event.attrs.get("stage") for event in events] == [None, "2", "3", None]


def test_a_promotion_without_its_first_step(tmp_path: Path) -> None:
    """The note tells that there was one."""
    promoted = {"time": START, "kind": "deploy", "service": "chat", "version": "v2", "note": "promoted to 100 % after 20 min"}
    (event,), _ = read(tmp_path, promoted)
    assert event.attrs["stage"] == "2"


@pytest.mark.parametrize(
    ("told", "kind"), [("Release", "deploy"), ("feature-flag", "config"), ("revert", "rollback"), ("flush", "flush")]
)
def test_other_words_for_kinds(tmp_path: Path, told: str, kind: str) -> None:
    """Known words become the usual one; others stay as they are."""
    (event,), _ = read(tmp_path, {"time": START, "kind": told, "service": "chat"})
    assert event.kind == kind
