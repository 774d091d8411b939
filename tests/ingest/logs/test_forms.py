"""Forms of lines: wrappers come off, heads are eaten, and what is left is the same whoever carried it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.forms import NOBODY, record_of, unwrap
from triage.ingest.logs.timestamps import Clock
from triage.model.recording import Window

AT = datetime(2026, 9, 16, 12, 0, 38, tzinfo=UTC)
ISO = AT.strftime("%Y-%m-%dT%H:%M:%SZ")
NANO = AT.strftime("%Y-%m-%dT%H:%M:%S.000000000Z")
SYSLOG = AT.strftime("%b %d %H:%M:%S")

WRAPPERS: dict[str, Callable[[str], str]] = {
    "none": lambda line: line,
    "cri": lambda line: f"{NANO} stderr F {line}",
    "docker": lambda line: json.dumps({"log": line + "\n", "stream": "stderr", "time": NANO}),
    "kubectl --prefix --timestamps": lambda line: f"[pod/chat-0/engine] {NANO} {line}",
    "kubectl --timestamps": lambda line: f"{NANO} {line}",
    "stern": lambda line: f"chat-7c9f5d4b8-x2x4p engine {NANO} {line}",
    "compose": lambda line: f"vllm-1  | {line}",
    "syslog": lambda line: f"{SYSLOG} node-1 vllm[2231]: {line}",
    "journalctl -o short-iso": lambda line: f"{AT.strftime('%Y-%m-%dT%H:%M:%S+0000')} node-1 vllm[2231]: {line}",
    "journalctl -o json": lambda line: json.dumps(
        {
            "MESSAGE": line,
            "__REALTIME_TIMESTAMP": f"{int(AT.timestamp())}000000",
            "SYSLOG_IDENTIFIER": "vllm",
            "_HOSTNAME": "node-1",
        }
    ),
    "rfc5424": lambda line: f"<11>1 {ISO} node-1 vllm 2231 - - {line}",
    "a cloud's collector": lambda line: json.dumps(
        {"jsonPayload": {"message": line}, "resource": {"labels": {"pod_name": "chat-0"}}, "timestamp": ISO, "severity": "ERROR"}
    ),
    "a collector of the cluster's": lambda line: json.dumps({"time": ISO, "log": line, "kubernetes": {"pod_name": "chat-0"}}),
}

HEADS = {
    "vllm": ("(EngineCore pid=143) ERROR 09-16 12:00:38 [core.py:892] {}", "error"),
    "vllm under ray": ("(RayWorkerWrapper pid=308, ip=10.0.0.5) WARNING 09-16 12:00:38 [worker_base.py:620] {}", "warning"),
    "sglang": ("[2026-09-16 12:00:38 TP1] {}", ""),
    "trtllm": ("[09/16/2026-12:00:38] [TRT-LLM] [E] {}", "error"),
    "klog": ("E0916 12:00:38.000000 2548307 transport.cpp:820] {}", "error"),
    "pytorch": ("[rank1]:[W916 12:00:38.000000000 ProcessGroupNCCL.cpp:683] {}", "warning"),
    "python": ("2026-09-16 12:00:38,000 - vllm.engine - ERROR - {}", "error"),
    "rust": ("2026-09-16T12:00:38Z  WARN router::core::breaker: {}", "warning"),
    "go": ("2026/09/16 12:00:38 [error] 7#7: {}", "error"),
    "nats": ("[1] 2026/09/16 12:00:38.000000 [WRN] {}", "warning"),
    "raylet": ("[2026-09-16 12:00:38,000 E 135 135] (raylet) node_manager.cc:3069: {}", "error"),
    "envoy": ("[2026-09-16 12:00:38.000][7][warning][config] {}", "warning"),
    "java": ("2026-09-16 12:00:38,000 ERROR [main] com.acme.Server: {}", "error"),
    "litellm": ("12:00:38 - LiteLLM Proxy:ERROR: proxy_server.py:4021 - {}", "error"),
    "zap": ("2026-09-16T12:00:38Z\tERROR\tscale_handler\t{}", "error"),
}

WORDS = st.lists(st.from_regex(r"[a-z]{2,9}|[0-9]{1,4}", fullmatch=True), min_size=2, max_size=8).map(
    lambda words: "the " + " ".join(words)
)
"""What a program may say: plain words, so that nothing of it can be taken for a head."""


@given(st.sampled_from(sorted(WRAPPERS)), st.sampled_from(sorted(HEADS)), WORDS)
def test_wrapping_changes_nothing(wrapper: str, head: str, words: str) -> None:
    """Time, level and message of a line are the same in any wrapper."""
    form, level = HEADS[head]
    body, stamp, _ = unwrap(WRAPPERS[wrapper](form.format(words)).encode())
    clock = Clock(Window(0.0, AT.timestamp() + 60.0, 0.0))
    time = clock.read(stamp) if stamp else clock.read(body)
    record = record_of(body)
    assert (time, record.level, record.message.decode()) == (AT.timestamp(), level, words)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('W0930 22:42:20.5 1 metrics.cc:644] "Unable to read the meter of GPU 0"', "Unable to read the meter of GPU 0"),
        (
            'E0930 22:42:20.5 1 pod.go:12] "Error syncing pod" err="no room" pod="a/b"',
            'Error syncing pod err="no room" pod="a/b"',
        ),
        ('W0930 22:42:20.5 1 a.cc:1] "left" of "right"', '"left" of "right"'),
        ('"quoted by its writer"', '"quoted by its writer"'),
    ],
)
def test_a_message_that_its_program_quotes(line: str, message: str) -> None:
    """Structured klog and Triton put the words into quotes and values behind them; other quotes are the message's own."""
    assert record_of(line.encode()).message.decode() == message


@pytest.mark.parametrize("wrapper", sorted(set(WRAPPERS) - {"none", "cri", "docker", "kubectl --timestamps"}))
def test_who_a_wrapper_names(wrapper: str) -> None:
    """A wrapper that names a pod, a container or a program is not anonymous."""
    assert unwrap(WRAPPERS[wrapper]("the words").encode()).origin != NOBODY


def test_a_program_is_no_wrapper() -> None:
    """A line of JSON that the program itself wrote stays whole, and its fields are found, nested ones too."""
    line = json.dumps({"ts": ISO, "level": "error", "logger": "pool", "msg": "refused", "peer": {"address": "10.0.0.1:80"}})
    assert unwrap(line.encode()).body == line.encode()
    record = record_of(line.encode())
    assert (record.level, record.component, record.message) == ("error", "pool", b"refused")
    assert record.fields == {"logger": "pool", "peer.address": "10.0.0.1:80"}


@pytest.mark.parametrize(("number", "level"), [(30, "info"), (50, "error"), (3, "error"), (6, "info")])
def test_levels_as_numbers(number: int, level: str) -> None:
    """Bunyan and pino count levels in tens, syslog below eight."""
    assert record_of(json.dumps({"level": number, "msg": "x"}).encode()).level == level


def test_pairs() -> None:
    """Names with dots and hyphens and quoted values are read."""
    record = record_of(
        b'time=2026-09-16T12:00:38Z level=WARN source=scrape.go:1 msg="Append failed" scrape-pool.name=a err="x \\"y\\""'
    )
    assert (record.level, record.message) == ("warning", b"Append failed")
    assert record.fields == {"source": "scrape.go:1", "scrape-pool.name": "a", "err": 'x "y"'}


@given(st.binary(max_size=200))
def test_any_bytes(line: bytes) -> None:
    """Nothing that can stand in a line breaks the forms."""
    assert isinstance(record_of(unwrap(line).body).message, bytes)
