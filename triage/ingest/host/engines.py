"""Engines as seen from their own machine: what their processes look like, where they answer, what a replica is called."""

import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from triage.classes import dataclass
from triage.errors import ConfigError
from triage.model.service import Service

_LOOPBACK = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "::1", "0.0.0.0", "::", ""})  # noqa: S104 - compared with
_OPTIONS_WITH_VALUE = frozenset({"-X", "-W"})


@dataclass(frozen=True, slots=True)
class Engine:
    """How to know an engine's process, and where it shows its metrics.

    :param name: name of its dialect
    :param starts: beginnings of its command line without interpreter and folders
    :param port: where it listens if nobody says otherwise
    :param flags: options of its command line that say otherwise
    :param path: of its exposition
    """

    name: str
    starts: tuple[str, ...]
    port: int
    flags: tuple[str, ...] = ("--port",)
    path: str = "/metrics"


ENGINES = (
    Engine("vllm", ("vllm serve ", "-m vllm.entrypoints.", "VLLM::", "ray::RayWorkerWrapper", "ray::RayWorkerProc"), 8000),
    Engine("sglang", ("-m sglang.launch_server ", "sglang serve ", "sglang::", "-m sglang.srt."), 30000),
    Engine("trtllm", ("trtllm-serve ", "trtllm-llmapi-launch "), 8000, path="/prometheus/metrics"),
    Engine("triton", ("tritonserver ",), 8002, ("--metrics-port",)),
    Engine("tgi", ("text-generation-launcher ", "text-generation-router ", "text-generation-server "), 3000, ("--port", "-p")),
    Engine("llamacpp", ("llama-server ",), 8080),
    Engine("lmdeploy", ("lmdeploy serve ", "-m lmdeploy serve ", "-m lmdeploy.serve."), 23333, ("--server-port",)),
    Engine("dynamo", ("-m dynamo.",), 8000, ("--http-port",)),
)
"""Sources: the command line references and process titles of each engine. ``VLLM::`` and ``sglang::`` are the titles that worker
processes give themselves; ``ray::RayWorker…`` are vLLM's workers under Ray."""

TEXT_PATHS = ("/metrics", "/prometheus/metrics")
"""Where expositions are found, the usual one first. TensorRT-LLM's ``/metrics`` is a JSON list that is emptied by reading."""


def engine_of(command: Sequence[str]) -> Engine | None:
    """The engine whose process has this command line; None for anything else (a benchmark client is no engine)."""
    spoken = _without_interpreter(command)
    return next((engine for engine in ENGINES if spoken.startswith(engine.starts)), None)


def _without_interpreter(command: Sequence[str]) -> str:
    """The command line from the program on, each of its words once, with a final blank."""
    words = [word for word in command[:64] if word]
    if words and PurePath(words[0]).name.startswith(("python", "pypy")):
        words = words[1:]
        while words and words[0].startswith("-") and words[0] not in {"-m", "-c"}:
            words = words[2 if words[0] in _OPTIONS_WITH_VALUE else 1 :]
    if words and not words[0].startswith("-") and "::" not in words[0]:
        words[0] = PurePath(words[0]).name
    return " ".join(words) + " "


def metrics_port(command: Sequence[str], engine: Engine) -> int:
    """The port at which the engine of this command line shows its metrics."""
    for number, word in enumerate(command):
        flag, _, value = word.partition("=")
        if flag in engine.flags:
            value = value or (command[number + 1] if number + 1 < len(command) else "")
            if value.isascii() and value.isdigit():
                return int(value)
    return engine.port


@dataclass(frozen=True, slots=True)
class Address:
    """Where an exposition is read.

    :param path: as written, or empty if only host and port were given
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def instance(self) -> str:
        """``host:port``: the id of the replica behind it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def url(self, path: str = "") -> str:
        """The address as people write it."""
        return f"{self.scheme}://{self.instance}{self.path or path}"


def parse_address(text: str) -> Address:
    """An address as ``host:port`` or ``http[s]://host[:port][/path]``.

    :raises ConfigError: it is neither, or holds credentials
    """
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"endpoint {text!r} is no address: {error}", "write host:port or http://host:port/path") from error
    if parts.username is not None or parts.password is not None:
        bare = text.rpartition("@")[2]
        raise ConfigError(f"endpoint …@{bare} holds credentials", "leave them out and set TRIAGE_ENDPOINT_TOKEN")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _is_plain(text):
        raise ConfigError(f"endpoint {text!r} is no address", "write host:port or http://host:port/path")
    path = parts.path if parts.path != "/" else ""
    return Address(
        parts.scheme,
        parts.hostname,
        port or (443 if parts.scheme == "https" else 80),
        path + (f"?{parts.query}" if parts.query else ""),
    )


def _is_plain(text: str) -> bool:
    """Whether a text can stand in a request line and in a report: printable ASCII without blanks."""
    return text.isascii() and text.isprintable() and " " not in text


def is_local(host: str, own: Collection[str]) -> bool:
    """Whether a host is this machine.

    :param own: names and addresses of this machine
    """
    return host in _LOOPBACK or host.startswith("127.") or host in own


def replica_id(port: int, addresses: Iterable[Address], own: Collection[str], node: str) -> str:
    """What the replica that listens here at a port is called: as the user named it, else ``node:port``."""
    named = (address.instance for address in addresses if address.port == port and is_local(address.host, own))
    return next(named, f"{node}:{port}")


def why_not_here(service: Service, end: float, now: float, own: Collection[str]) -> str:
    """Why sampling this machine would tell nothing of the service; empty if it would tell something.

    :param end: end of the window, Unix seconds
    :param own: names and addresses of this machine
    """
    if end <= now:
        return "the window lies in the past, and this source can only see what is happening now"
    if service.prometheus:
        return "Prometheus is asked, which knows the machines that the service runs on"
    if service.endpoints and not any(is_local(parse_address(text).host, own) for text in service.endpoints):
        return "all endpoints named are on other machines; run triage there to see their cards and hosts"
    return ""


def this_node(environ: Mapping[str, str]) -> str:
    """What this machine is called: ``NODE_NAME`` where it is set (a pod's host name is not its node's), else the host name."""
    return environ.get("NODE_NAME") or platform.node() or "localhost"
