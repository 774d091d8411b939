"""The walk as a web page: textual-serve starts one walk for each browser that opens it, and all of them show one feed.

Whoever can open the page sees what the walk shows. So the server listens on this machine only, unless it is told otherwise, and
answers only to whom :mod:`triage.tui.guard` lets in. The page loads nothing from anywhere else.
"""

import os
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

from triage.errors import ExitCode, TriageError, UsageError
from triage.tui.guard import LOOPBACK

if TYPE_CHECKING:
    from triage.tui.session import Session

_HIGHEST_PORT = 65535


class ExtraMissingError(TriageError):
    """A part of triage is not installed."""

    exit_code = ExitCode.UNAVAILABLE


def serve(host: str, port: int, command: Sequence[str], make: "Callable[[], Session]") -> NoReturn:
    """Serve a command until it is interrupted, and end the process.

    :param host: address to listen at
    :param command: the walk to start for each browser, as words
    :param make: makes the session that all browsers share; must be importable by name, and its arguments must be plain data
    :raises UsageError: the port cannot be one
    :raises ExtraMissingError: textual-serve is not installed
    :raises TriageError: the address is taken
    """
    if not 0 < port <= _HIGHEST_PORT:
        raise UsageError(f"--port {port} is no port", f"ports are 1 to {_HIGHEST_PORT}")
    if find_spec("textual_serve") is None:
        raise ExtraMissingError("the walk in a browser needs textual-serve", "pip install 'inference-triage[web]'")
    token = secrets.token_urlsafe(16)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise TriageError(f"cannot listen at {host}, port {port}: {error.strerror}", "choose another with --port") from error
    sys.stderr.write(announcement(host, port, token))
    sys.stderr.flush()
    from triage.tui.feed import FeedProcess
    from triage.tui.webserver import WalkServer

    feed = FeedProcess(make)
    try:
        WalkServer(host, token, command, feed.environ).run(listening)
    finally:
        feed.close()
    _left()


def _left() -> NoReturn:
    """End the process now that all it started has ended: on a busy machine to free what was loaded takes longer than all else."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ExitCode.HEALTHY)


def announcement(host: str, port: int, token: str) -> str:
    """Where the page is, and what to mind."""
    shown = f"[{host}]" if ":" in host else host
    told = f"The walk is at http://{shown}:{port}/?token={token}\nCtrl+C ends it.\n"
    if host in LOOPBACK:
        return f"{told}Only this machine can reach it. Whoever has the address sees what the walk shows.\n"
    return (
        f"{told}WARNING: it listens at {host}, so other machines can reach it. There is no encryption; whoever has the "
        "address sees logs, names and metrics of the service, and can start walks on this machine.\n"
    )
