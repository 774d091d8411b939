"""The server behind the web page; it needs the extra ``web``. What can be decided without it is in :mod:`triage.tui.guard`."""

import asyncio
import json
import logging
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from triage.tui.guard import SOCKET, refusal

DRIVER = "triage.tui.webdriver:WalkDriver"
_POLICY = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
_MOST = 16
"""Walks at a time: each is a process of its own."""

_GOODBYE = 2.0
"""Seconds that a walk gets to leave by itself when its page is closed."""

_AT_ONCE = 0.8
"""Seconds for all of them when the server ends."""

_LONGEST = 2000
_LARGEST = 1 << 16
_LEAST_SIDE, _MOST_SIDE = 10, 1000


class WalkService(AppService):
    """The process of one browser's walk.

    :param words: its command
    :param extra: what its environment must hold
    """

    def __init__(self, words: Sequence[str], extra: Mapping[str, str], page: web.WebSocketResponse, server: Server) -> None:
        async def close() -> None:
            await page.close()

        super().__init__(
            " ".join(words),
            write_bytes=page.send_bytes,
            write_str=page.send_str,
            close=close,
            download_manager=server.download_manager,
        )
        self._words = words
        self._extra = extra

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Run the command itself, without a shell around it that would outlive it."""
        environ = {**self._build_environment(width, height), "TEXTUAL_DRIVER": DRIVER, **self._extra}
        self._process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environ, start_new_session=True
        )
        self._stdin = self._process.stdin
        return self._process

    async def on_meta(self, data: bytes) -> None:
        """What the walk says besides its picture: where it is, and why it ended."""
        told = json.loads(data)
        if told.get("type") in ("at", "ended"):
            await self.remote_write_str(json.dumps([told["type"], told]))
        else:
            await super().on_meta(data)

    async def go(self, link: str) -> None:
        """Tell the walk where the browser wants to be."""
        await self.send_meta({"type": "go", "link": link[:_LONGEST]})

    async def leave(self) -> None:
        """End the process: by itself, if it does so soon."""
        with suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(self.stop(), _GOODBYE)
        await self.ended_at_once()

    async def ended_at_once(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.kill()
        if self._stdin is not None:
            self._stdin.transport.abort()  # keys that nobody reads any more
        await self._process.wait()
        if self._task is not None:
            await asyncio.wait([self._task])


class WalkServer(Server):
    """Quiet, guarded, and sufficient to itself.

    :param host: the address that is listened at
    :param token: who has it is let in
    :param words: the command of a walk
    :param extra: what its environment must hold
    """

    def __init__(self, host: str, token: str, words: Sequence[str], extra: Mapping[str, str]) -> None:
        super().__init__(" ".join(words), host=host, title="triage walk", templates_path=Path(__file__).parent / "page")
        self._token = token
        self._words = words
        self._extra = extra
        self._walks: dict[web.WebSocketResponse, WalkService] = {}

    def run(self, listening: socket.socket) -> None:
        """Serve on a socket that listens already, until the process is interrupted."""
        logging.disable()  # what others send us is no news for the terminal
        web.run_app(self._make_app(), sock=listening, print=None, access_log=None, shutdown_timeout=0.1)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.router.add_get(f"{SOCKET}/{{token}}", self.handle_websocket)
        app.middlewares.append(self._guarded)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the address was announced."""

    async def on_shutdown(self, app: web.Application) -> None:  # noqa: ARG002 - as aiohttp calls it
        """End all walks at once: nothing in them is to be kept."""
        ends = [walk.ended_at_once() for walk in self._walks.values()]
        goodbyes = [page.close(code=WSCloseCode.GOING_AWAY) for page in self._walks]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*ends, *goodbyes, return_exceptions=True), _AT_ONCE)

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let through who has the token and comes from our own page; answer what is odd without a word in the terminal."""
        given = request.match_info.get("token", "") or request.query.get("token", "")
        why = refusal(self.host, self._token, request.path, given, request.headers)
        if why:
            return web.Response(status=403, text=f"{why}\n")
        try:
            response = await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception:  # noqa: BLE001 - whatever somebody sends
            return web.Response(status=400, text="this request makes no sense here\n")
        if not response.prepared:
            response.headers["Content-Security-Policy"] = _POLICY
            response.headers["Referrer-Policy"] = "no-referrer"
        return response

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a walk for a page."""
        page = web.WebSocketResponse(heartbeat=15, max_msg_size=_LARGEST)
        if not page.can_prepare(request):
            raise web.HTTPBadRequest(text="this address is for the page itself\n")
        if len(self._walks) >= _MOST:
            raise web.HTTPServiceUnavailable(text=f"{_MOST} walks are open; close one\n")
        walk = self._walks[page] = WalkService(self._words, self._extra, page, self)
        try:
            await page.prepare(request)
            await walk.start(_side(request.query.get("width", ""), 80), _side(request.query.get("height", ""), 24))
            await self._process_messages(page, walk)
        except ConnectionError:
            pass
        finally:
            try:
                await walk.leave()
            finally:
                del self._walks[page]
        return page

    async def _process_messages(self, websocket: web.WebSocketResponse, app_service: AppService) -> None:
        """Pass on what the page says; what is none of its words is passed over."""
        async for message in websocket:
            if message.type is WSMsgType.TEXT:
                with suppress(ValueError, RecursionError):
                    await _passed_on(json.loads(message.data), websocket, app_service)


async def _passed_on(words: Any, page: web.WebSocketResponse, walk: AppService) -> None:
    """One message of a page."""
    match words:
        case ["stdin", str(keys)]:
            await walk.send_bytes(keys.encode("utf-8", "replace"))
        case ["resize", {"width": int(width), "height": int(height)}]:
            await walk.set_terminal_size(_side(str(width), 80), _side(str(height), 24))
        case ["ping", str(said)]:
            await page.send_json(["pong", said])
        case ["go", str(link)] if isinstance(walk, WalkService):
            await walk.go(link)
        case ["blur"]:
            await walk.blur()
        case ["focus"]:
            await walk.focus()


def _side(told: str, usual: int) -> int:
    """Columns or rows of a terminal that somebody tells."""
    return min(max(to_int(told, usual), _LEAST_SIDE), _MOST_SIDE)
