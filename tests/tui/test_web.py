"""The walk as a web page: who may see it, and that it is sufficient to itself."""

import asyncio
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from tests.servers import ended, free_port
from tests.tui import case
from triage.cli import main
from triage.cli.walk import served_words
from triage.errors import ExitCode, TriageError
from triage.tui import web
from triage.tui.guard import refusal
from triage.tui.web import announcement, serve

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
TOKEN = "secret"


@pytest.mark.parametrize(
    ("host", "path", "given", "headers", "refused"),
    [
        ("127.0.0.1", "/", TOKEN, {"Host": "127.0.0.1:8017"}, ""),
        ("127.0.0.1", "/", TOKEN, {"Host": "localhost:8017", "Origin": "http://localhost:8017"}, ""),
        ("127.0.0.1", "/", "", {"Host": "127.0.0.1:8017"}, "lacks the token"),
        ("127.0.0.1", "/ws", "wrong", {"Host": "127.0.0.1:8017"}, "lacks the token"),
        (
            "127.0.0.1",
            "/ws/secret",
            TOKEN,
            {"Host": "127.0.0.1:8017", "Origin": "http://evil.example"},
            "from its own address only",
        ),
        ("127.0.0.1", "/", TOKEN, {"Host": "evil.example:8017"}, "this machine's own names only"),
        ("127.0.0.1", "/", TOKEN, {}, "this machine's own names only"),
        ("127.0.0.1", "/static/js/textual.js", "", {"Host": "127.0.0.1:8017"}, ""),
        ("0.0.0.0", "/", TOKEN, {"Host": "gpu-3:8017", "Origin": "http://gpu-3:8017"}, ""),
        ("0.0.0.0", "/", TOKEN, {"Host": "gpu-3:8017", "Origin": "http://evil.example"}, "from its own address only"),
        ("::1", "/", TOKEN, {"Host": "[::1]:8017"}, ""),
    ],
)
def test_who_is_let_in(host: str, path: str, given: str, headers: dict[str, str], refused: str) -> None:
    """The token is needed for page and socket; other sites' pages, and names that were bent to this machine, are refused."""
    why = refusal(host, TOKEN, path, given, headers)
    assert refused in why
    assert bool(why) == bool(refused)


def test_the_announcement_warns_where_others_can_reach_it() -> None:
    """On the loopback it says so; anywhere else there is a warning."""
    assert "WARNING" not in announcement("127.0.0.1", 8017, TOKEN)
    warned = announcement("0.0.0.0", 8017, TOKEN)
    assert "WARNING: it listens at 0.0.0.0, so other machines can reach it." in warned
    assert "http://[::1]:1/?token=secret" in announcement("::1", 1, TOKEN)


def test_what_is_served_is_the_command_without_the_server() -> None:
    """The flags of the server are left out, in both ways of writing them."""
    words = ["walk", "x.parquet", "--web", "--port=1", "--host", "0.0.0.0", "--theme", "light", "--port", "2"]
    assert served_words(words) == ["walk", "x.parquet", "--theme", "light"]


def test_a_wrong_port_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """A port is told from what cannot be one."""
    assert main(["walk", "--demo", "--web", "--port", "70000"]) == ExitCode.USAGE
    assert "--port 70000 is no port" in capsys.readouterr().err


def test_without_the_extra_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is no traceback but a line to install it."""
    monkeypatch.setattr(web, "find_spec", lambda _name: None)
    with pytest.raises(web.ExtraMissingError, match="needs textual-serve") as caught:
        serve("127.0.0.1", 8017, ["true"], case.session)
    assert caught.value.exit_code is ExitCode.UNAVAILABLE


@contextmanager
def served() -> Iterator[tuple[int, str]]:
    """A walk that is served: port and token."""
    port = free_port()
    command = [sys.executable, "-m", "triage", "walk", "tests/incidents/retry-storm", "--web", "--port", str(port)]
    with ended(Popen(command, cwd=ROOT, stderr=PIPE, stdout=PIPE, text=True)) as process:
        assert process.stderr is not None
        found = re.search(r"token=(\S+)", process.stderr.readline())
        assert found
        yield port, found[1]


async def first_picture(port: int, token: str) -> bytes:
    """What the page is sent until the service is on it."""
    seen = b""
    async with ClientSession() as session:
        with pytest.raises(WSServerHandshakeError):
            await session.ws_connect(f"http://127.0.0.1:{port}/ws/wrong")
        async with session.ws_connect(f"http://127.0.0.1:{port}/ws/{token}?width=100&height=30") as socket:
            async for message in socket:
                seen += message.data if isinstance(message.data, bytes) else message.data.encode()
                if b"INCIDENT" in seen:
                    break
    return seen


async def page(port: int, token: str) -> tuple[str, str]:
    """The page and its policy."""
    async with ClientSession() as session:
        answer = await session.get(f"http://127.0.0.1:{port}/", params={"token": token})
        return await answer.text(), answer.headers["Content-Security-Policy"]


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody else listens there."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(TriageError, match=f"cannot listen at 127.0.0.1, port {port}"):
            serve("127.0.0.1", port, ["true"], case.session)
    assert "token" not in capsys.readouterr().err


def test_what_does_not_exist_is_told_before_anything_is_served(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not there is no page that says so, but the command's own error."""
    assert main(["walk", "no-such.parquet", "--web"]) == ExitCode.NO_INPUT
    assert "no-such.parquet does not exist" in capsys.readouterr().err


def test_the_walk_comes_to_the_browser() -> None:
    """With the token the page comes, asks nothing of other servers, and the walk is on its socket; without it nothing does."""
    with served() as (port, token):
        text, policy = asyncio.run(page(port, token))
        assert re.findall(r"https?://", text) == []
        assert policy.startswith("default-src 'self'")
        with closing(HTTPConnection("127.0.0.1", port)) as client:
            client.request("GET", "/")
            assert client.getresponse().status == 403
        assert b"INCIDENT" in asyncio.run(first_picture(port, token))
