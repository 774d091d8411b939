"""From an alert to a diagnosis: whose it is, when, and what is refused."""

import io
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.cli import main
from triage.errors import DataError, ExitCode
from triage.export.alerts import MAX_ALERTS, Alert, concerns, read_alerts, services_of
from triage.model.service import Service

WHEN = "2026-06-15T21:50:00.123Z"
UNIX = 1781560200.123

SERVICES = {
    "chat": Service(name="chat", labels={"namespace": "llm", "app": "chat-engine"}),
    "code": Service(name="code", labels={"namespace": "llm", "app": "code-engine"}),
    "search": Service(name="search"),
}


def webhook(*labels: dict[str, str], **more: Any) -> bytes:
    """Alertmanager's webhook as it sends it."""
    alerts = [
        {
            "status": "firing",
            "labels": some,
            "annotations": {"summary": "something"},
            "startsAt": WHEN,
            "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://prometheus:9090/graph?g0.expr=up",
            "fingerprint": "c0ffee",
            **more,
        }
        for some in labels
    ]
    whole = {"version": "4", "groupKey": '{}:{alertname="a"}', "truncatedAlerts": 0, "status": "firing", "receiver": "triage"}
    return json.dumps({**whole, "groupLabels": {}, "commonLabels": {}, "alerts": alerts}).encode()


def test_the_webhook_of_alertmanager_the_list_of_its_api_and_that_of_prometheus_say_the_same() -> None:
    """Labels and the moment are read of each."""
    labels = {"alertname": "TriageRetryStorm", "service": "chat"}
    listed = [{"labels": labels, "startsAt": WHEN, "updatedAt": WHEN, "status": {"state": "active", "silencedBy": []}}]
    prometheus = {"status": "success", "data": {"alerts": [{"labels": labels, "state": "firing", "activeAt": WHEN}]}}
    told = [webhook(labels), json.dumps(listed).encode(), json.dumps(prometheus).encode()]
    assert [read_alerts(data, "x") for data in told] == [(Alert(labels, UNIX),)] * 3


def test_what_has_ended_counts_only_where_nothing_fires_any_more() -> None:
    """A group that is told as resolved is still about something."""
    ended = json.loads(webhook({"alertname": "old"}, status="resolved"))
    both = {**ended, "alerts": [*ended["alerts"], *json.loads(webhook({"alertname": "new"}))["alerts"]]}
    assert [alert.name for alert in read_alerts(json.dumps(both).encode(), "x")] == ["new"]
    assert [alert.name for alert in read_alerts(json.dumps(ended).encode(), "x")] == ["old"]


@pytest.mark.parametrize(
    ("labels", "about"),
    [
        ({"service": "chat"}, ("chat",)),
        ({"service": "kube-state-metrics", "pod": "search-7c9d5b8f6-x8q2m"}, ("search",)),
        ({"namespace": "llm", "app": "code-engine", "pod": "x-1"}, ("code",)),
        ({"namespace": "llm", "app": "another"}, ()),
        ({"namespace": "llm"}, ("chat", "code")),
        ({"job": "search", "instance": "10.0.0.1:8000"}, ("search",)),
        ({"namespace": "elsewhere"}, ()),
    ],
)
def test_alerts_of_others_are_matched_by_their_labels(labels: dict[str, str], about: tuple[str, ...]) -> None:
    """The plainest sign counts; what points to two services alike is about both, and what contradicts is about none."""
    assert services_of(Alert(labels, UNIX), SERVICES) == about


def test_alerts_are_grouped_by_service_and_judged_when_the_last_of_them_fires() -> None:
    """One look for each service."""
    alerts = (
        Alert({"service": "chat"}, 10.0),
        Alert({"service": "chat"}, 30.0),
        Alert({"service": "search"}, 20.0),
        Alert({"a": "b"}, 1.0),
    )
    found, strangers = concerns(alerts, SERVICES)
    assert [(one.service, one.at, len(one.alerts)) for one in found] == [("chat", 30.0, 2), ("search", 20.0, 1)]
    assert strangers == (alerts[3],)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from([WHEN, "0001-01-01T00:00:00Z", "firing"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["alerts", "data", "labels", "startsAt", "activeAt", "status", "state"]) | st.text(),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(json_values)
def test_any_json_gives_alerts_or_says_what_it_lacks(document: object) -> None:
    """Whoever may post may write anything."""
    with suppress(DataError):
        assert all(alert.labels and alert.since > 0 for alert in read_alerts(json.dumps(document).encode(), "x"))


@given(st.binary(max_size=200))
def test_any_bytes_do(data: bytes) -> None:
    """No other error than one that says what was wrong."""
    with pytest.raises(DataError):
        read_alerts(data, "x")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 200_000, "no JSON"),
        (b"{}", "no list of alerts"),
        (b"[]", "no alert with labels and a time"),
        (json.dumps([{}] * (MAX_ALERTS + 1)).encode(), f"holds {MAX_ALERTS + 1} alerts"),
        (b" " * (9 << 20), "longer than 8 MiB"),
    ],
    ids=["deep", "empty", "none", "many", "long"],
)
def test_what_is_hostile_is_refused_in_words(data: bytes, words: str) -> None:
    """Within bounds, whatever its form."""
    with pytest.raises(DataError, match=words):
        read_alerts(data, "payload.json")


# The command


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A triage.toml with two services, one recorded and one of logs."""
    case = Path(__file__).parents[1] / "incidents" / "retry-storm"
    (tmp_path / "engine.log").write_text("2026-06-15T21:45:00Z ERROR CUDA out of memory. Tried to allocate 2.00 GiB\n" * 3)
    text = f'[service.llm-prod]\nincident = "{case}"\n[service.chat]\nlogs = ["engine.log"]\nlabels = {{ namespace = "llm" }}\n'
    path = tmp_path / "triage.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_payload_on_stdin_is_diagnosed_at_its_time(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The window ends where the alert began to fire."""
    stdin = io.TextIOWrapper(io.BytesIO(webhook({"alertname": "KubePodCrashLooping", "namespace": "llm"})))
    monkeypatch.setattr(sys, "stdin", stdin)
    main(["diagnose", "--alert", "-", "--config", str(settings), "--format", "json", "--quiet"])
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["service"] == "chat"
    assert told["window"]["end"] == UNIX
    assert "chat: KubePodCrashLooping, firing since 2026-06-15T21:50:00Z" in err


def test_several_services_are_told_one_after_the_other_with_the_code_of_the_worst(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who is about nobody is told, too."""
    payload = tmp_path / "alerts.json"
    payload.write_bytes(
        webhook({"alertname": "A", "service": "llm-prod"}, {"alertname": "B", "namespace": "llm"}, {"alertname": "C\x1b[31m"})
    )
    code = main(["diagnose", "--alert", str(payload), "--config", str(settings), "--brief", "--quiet"])
    out, err = capsys.readouterr()
    assert code == ExitCode.INCIDENT
    assert "llm-prod" in out
    assert "chat" in out
    assert "is about no service of triage.toml" in err
    assert "\x1b" not in err
    code = main(["diagnose", "--alert", str(payload), "--config", str(settings), "--format", "html"])
    assert code == ExitCode.USAGE
    assert "name one with --service" in capsys.readouterr().err


def test_alerts_that_name_nobody_ask_for_a_name(settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With one they are judged."""
    payload = tmp_path / "alerts.json"
    payload.write_bytes(webhook({"alertname": "Watchdog"}))
    assert main(["diagnose", "--alert", str(payload), "--config", str(settings)]) == ExitCode.USAGE
    assert "nothing says which service Watchdog is about" in capsys.readouterr().err
    assert (
        main(["diagnose", "--alert", str(payload), "--config", str(settings), "--service", "llm-prod", "--brief"])
        == ExitCode.INCIDENT
    )
    assert main(["diagnose", "--alert", str(tmp_path / "none.json")]) == ExitCode.NO_INPUT


def test_at_is_the_end_of_the_window(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an alert's link asks for."""
    main(["diagnose", "--service", "chat", "--config", str(settings), "--at", WHEN, "--format", "json", "--quiet"])
    told = json.loads(capsys.readouterr().out)["window"]
    main(["diagnose", "--service", "chat", "--config", str(settings), "--to", WHEN, "--format", "json", "--quiet"])
    assert json.loads(capsys.readouterr().out)["window"] == told
