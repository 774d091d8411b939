"""The walk in a real browser: addresses, back and forward, two tabs at once, odd requests, and the end. Needs Chromium."""

import asyncio
import re
import signal
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from socket import create_connection
from subprocess import Popen

import pytest
from aiohttp import ClientSession

from tests.servers import ended, free_port
from tests.tui.browser import tabs
from triage.tui.web import announcement

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
JUNK = ("}{", "[]", "[1]", '["stdin"]', '["resize", {"width": 1e9, "height": "x"}]', '["go", 5]', '{"a": 1}', "[" * 5000)
ODD = (
    ("GET", "/ws/{}"),
    ("GET", "/ws"),
    ("GET", "/x"),
    ("POST", "/?token={}"),
    ("GET", "/download/x"),
    ("GET", "/static/../../x"),
)


def announced(terminal: Path) -> str:
    """The token that the server printed, once it has."""
    for _ in range(1200):
        found = re.search(r"token=(\S+)\n.*\n.*\n", terminal.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    pytest.fail("the server has not announced itself")


def odd_requests(port: int, token: str) -> list[int]:
    """States of the answers to requests that make no sense."""
    states = []
    for method, path in ODD:
        with closing(HTTPConnection("127.0.0.1", port)) as client:
            client.request(method, path.format(token))
            states.append(client.getresponse().status)
    with closing(create_connection(("127.0.0.1", port))) as raw:
        raw.sendall(b"\x16\x03\x01 no HTTP at all\r\n\r\n")
        states.append(int(raw.recv(12).split()[1]))
    return states


async def junk(port: int, token: str) -> bool:
    """Say nonsense on the socket of a page; whether it is still open."""
    async with ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{port}/ws/{token}?width=x&height=-4") as page:
        for words in JUNK:
            await page.send_str(words)
        await page.receive()
        return not page.closed


async def walk(port: int, token: str, folder: Path, server: "Popen[bytes]") -> str:
    """Walk in two tabs, end the server, and give what the first tab shows then."""
    address = f"http://127.0.0.1:{port}/?token={token}"
    async with tabs(folder, 2) as (one, other):
        await one.open(address)
        await one.until("location.hash === '#/'")
        assert await one.value("document.title") == "llm-prod"
        await one.until("document.activeElement.matches('#terminal textarea')")
        await one.type("n")
        await one.until("location.hash === '#/finding/retry-storm'")
        await one.type("w")
        await one.until("location.hash === '#/why-not'")
        await one.value("history.back()")
        await one.until("document.title.startsWith('retry-storm')")
        await one.value("history.forward()")
        await one.until("document.title.startsWith('why not')")
        await one.value("history.back()")
        await one.until("document.title.startsWith('retry-storm')")
        await one.type("[")
        await one.until("location.hash.startsWith('#/finding/retry-storm?at=')")
        there = await one.value("location.hash")
        await other.open(f"{address}{there}")
        await other.until("document.title.startsWith('retry-storm')")
        assert await other.value("location.hash") == there
        assert odd_requests(port, token) == [400, 403, 404, 405, 404, 404, 400]
        assert await junk(port, token)
        server.send_signal(signal.SIGINT)
        await one.until("document.body.classList.contains('-closed')")
        return str(await one.value("document.querySelector('.ended').innerText"))


def test_a_walk_in_a_browser(tmp_path: Path) -> None:
    """Each place has an address; back, forward and a link that was sent lead there, at its moment.

    Whatever others send, and however many tabs are open, Ctrl+C ends the server, and its terminal holds the announcement alone.
    """
    port = free_port()
    command = [sys.executable, "-m", "triage", "walk", "tests/incidents/retry-storm", "--web", "--port", str(port)]
    terminal = tmp_path / "terminal"
    with terminal.open("wb") as output, ended(Popen(command, cwd=ROOT, stderr=output, stdout=output)) as server:
        token = announced(terminal)
        shown = asyncio.run(walk(port, token, tmp_path / "profile", server))
        assert server.wait(timeout=12) == 0
    assert "The walk has ended." in shown
    assert terminal.read_text() == announcement("127.0.0.1", port, token)
