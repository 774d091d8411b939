"""Chromium, driven over its debugging protocol: a page is opened, keys are typed, and the page tells what it shows."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

from tests.render.test_browser import FLAGS, browser
from tests.servers import ended

_PATIENCE = 120.0


class Tab:
    """One page of the browser."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Ask the browser something."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": given})
        while True:
            answer = json.loads(await self._socket.receive_str())
            if answer.get("id") == self._number:
                return dict(answer["result"])

    async def open(self, address: str) -> None:
        """Open a page."""
        await self.call("Page.navigate", url=address)

    async def value(self, words: str) -> Any:
        """What an expression of JavaScript gives."""
        return (await self.call("Runtime.evaluate", expression=words, returnByValue=True))["result"].get("value")

    async def until(self, words: str) -> None:
        """Wait until an expression is true."""
        async with asyncio.timeout(_PATIENCE):
            while not await self.value(words):
                await asyncio.sleep(0.05)

    async def type(self, key: str) -> None:
        """Press a key that is a character."""
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)


@asynccontextmanager
async def tabs(folder: Path, count: int) -> AsyncIterator[list[Tab]]:
    """So many pages of a browser whose profile is in a folder."""
    command = [browser(), *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    with ended(subprocess.Popen(command, stderr=subprocess.DEVNULL)):
        told = folder / "DevToolsActivePort"
        async with asyncio.timeout(_PATIENCE):
            while not told.exists() or not told.read_text().strip():
                await asyncio.sleep(0.05)
        base = f"http://127.0.0.1:{told.read_text().split()[0]}"
        async with ClientSession() as session:
            pages = [await (await session.put(f"{base}/json/new?about:blank")).json() for _ in range(count)]
            sockets = [await session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) for page in pages]
            yield [Tab(socket) for socket in sockets]
