"""What engines' processes look like, and what their replicas are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import ConfigError
from triage.ingest.host.engines import (
    ENGINES,
    Address,
    engine_of,
    is_local,
    metrics_port,
    parse_address,
    replica_id,
    this_node,
    why_not_here,
)
from triage.ingest.metrics.dialects import load_dialects
from triage.model.service import Service


@pytest.mark.parametrize(
    ("command", "name", "port"),
    [
        ("vllm serve meta-llama/Llama-3.1-8B --port 8001", "vllm", 8001),
        ("/usr/bin/python3 /opt/venv/bin/vllm serve model", "vllm", 8000),
        ("python3 -m vllm.entrypoints.openai.api_server --model m --port=9000", "vllm", 9000),
        ("/usr/bin/python3.12 -u -X faulthandler -m vllm.entrypoints.openai.api_server", "vllm", 8000),
        ("VLLM::EngineCore_DP0", "vllm", 8000),
        ("VLLM::Worker_TP3", "vllm", 8000),
        ("ray::RayWorkerWrapper.execute_method", "vllm", 8000),
        ("python -m sglang.launch_server --model-path m --port 31000", "sglang", 31000),
        ("sglang::scheduler_TP0", "sglang", 30000),
        ("sglang serve --model-path m", "sglang", 30000),
        ("trtllm-serve serve model --port 8123", "trtllm", 8123),
        ("/opt/tritonserver/bin/tritonserver --model-repository /m --metrics-port=8502 --http-port 8000", "triton", 8502),
        ("text-generation-router --port 80 --shard-uds-path /tmp/x", "tgi", 80),
        ("text-generation-launcher -p 8081", "tgi", 8081),
        ("./build/bin/llama-server -m model.gguf --metrics", "llamacpp", 8080),
        ("lmdeploy serve api_server m --server-port 23334", "lmdeploy", 23334),
        ("python -m dynamo.frontend --http-port 8787", "dynamo", 8787),
        ("vllm serve model --port", "vllm", 8000),
        ("vllm serve model --port $PORT", "vllm", 8000),
    ],
)
def test_engines_are_known_by_their_command_line(command: str, name: str, port: int) -> None:
    """Each engine is known with and without an interpreter before it, and by the titles of its workers; its port is read."""
    words = command.split(" ")
    engine = engine_of(words)
    assert engine is not None
    assert (engine.name, metrics_port(words, engine)) == (name, port)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "vllm bench serve --backend vllm --port 8000",
        "python benchmark_serving.py --backend vllm",
        "python -m vllm.benchmarks.serve",
        "grep -r vllm serve .",
        "bash -c vllm serve model",
        "docker run --gpus all vllm/vllm-openai:latest --model m",
        "vim vllm serve",
        "python train.py",
        "tail -f vllm.log",
        "python",
        "python -c import vllm",
    ],
)
def test_what_only_speaks_of_an_engine_is_none(command: str) -> None:
    """Benchmarks, editors, shells and container clients are not engines, though they name one."""
    assert engine_of(command.split(" ")) is None


@given(st.lists(st.text(max_size=20), max_size=12))
def test_any_command_line_can_be_judged(words: list[str]) -> None:
    """No command line of a stranger breaks the judgement; a port is always a number."""
    engine = engine_of(words)
    assert metrics_port(words, engine or ENGINES[0]) >= 0


def test_every_engine_has_a_dialect_of_its_name() -> None:
    """An engine that can be found can also be read."""
    assert {engine.name for engine in ENGINES} <= {dialect.name for dialect in load_dialects()}


@pytest.mark.parametrize(
    ("text", "address", "instance"),
    [
        ("host:8000", Address("http", "host", 8000), "host:8000"),
        ("10.0.0.1", Address("http", "10.0.0.1", 80), "10.0.0.1:80"),
        ("http://host:8000/", Address("http", "host", 8000), "host:8000"),
        ("https://host", Address("https", "host", 443), "host:443"),
        ("http://host:8000/metrics?model=a", Address("http", "host", 8000, "/metrics?model=a"), "host:8000"),
        ("http://[::1]:8000/x", Address("http", "::1", 8000, "/x"), "[::1]:8000"),
        ("[fd00::7]:30000", Address("http", "fd00::7", 30000), "[fd00::7]:30000"),
        ("HTTP://Engine-0:8000", Address("http", "engine-0", 8000), "engine-0:8000"),
    ],
)
def test_addresses(text: str, address: Address, instance: str) -> None:
    """Addresses are read as people write them."""
    assert parse_address(text) == address
    assert address.instance == instance
    assert parse_address(address.url()) == address


@pytest.mark.parametrize(
    "text", ["", "http://", "ftp://host", "host:port", "host:99999", "http://host/a b", "http://host/\n", "http://höst", "://x"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """Anything else is refused with what to write instead."""
    with pytest.raises(ConfigError, match="is no address") as caught:
        parse_address(text)
    assert "host:port" in caught.value.hint


@pytest.mark.parametrize("text", ["http://user:hunter2@host:1", "hunter2@host:1", "http://:hunter2@host"])
def test_credentials_in_an_address_are_refused_and_not_repeated(text: str) -> None:
    """An address that holds credentials is refused without showing them."""
    with pytest.raises(ConfigError, match="holds credentials") as caught:
        parse_address(text)
    assert "hunter2" not in caught.value.message


def test_local_addresses() -> None:
    """Loopback in all spellings and the machine's own names are here; anything else is elsewhere."""
    own = {"box", "10.0.0.5"}
    assert all(is_local(host, own) for host in ("localhost", "127.0.0.1", "127.3.2.1", "::1", "0.0.0.0", "box", "10.0.0.5"))
    assert not any(is_local(host, own) for host in ("boxer", "10.0.0.50", "engine-0", "example.com"))


def test_replica_is_called_as_the_user_called_it() -> None:
    """An endpoint that was named gives its own spelling; any other port is named after the node."""
    addresses = [parse_address("engine-0:8000"), parse_address("http://localhost:8000"), parse_address("box:8001")]
    assert replica_id(8000, addresses, {"box"}, "node-7") == "localhost:8000"
    assert replica_id(8001, addresses, {"box"}, "node-7") == "box:8001"
    assert replica_id(8002, addresses, {"box"}, "node-7") == "node-7:8002"


def test_node_of_a_pod() -> None:
    """A pod's own host name is not its node's; where the node is told it counts."""
    assert this_node({"NODE_NAME": "gpu-node-3"}) == "gpu-node-3"
    assert this_node({})


def test_when_this_machine_tells_nothing() -> None:
    """Sampling here is refused for the past, behind Prometheus, and when all endpoints are elsewhere."""
    here = Service(name="s", endpoints=("localhost:8000", "engine-1:8000"))
    assert why_not_here(here, 100.0, 50.0, set()) == ""
    assert why_not_here(Service(name="s"), 100.0, 50.0, set()) == ""
    assert "in the past" in why_not_here(here, 100.0, 100.0, set())
    assert "Prometheus" in why_not_here(Service(name="s", prometheus="http://p"), 100.0, 50.0, set())
    assert "other machines" in why_not_here(Service(name="s", endpoints=("engine-1:8000",)), 100.0, 50.0, set())
