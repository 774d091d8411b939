"""Why asking a server brought nothing, in the same words whoever asked."""

import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPException, IncompleteRead
from urllib.parse import urlsplit

from triage.errors import quoted


class Failure(StrEnum):
    """What kind of failure it is: what can be tried next depends on it."""

    SILENT = "silent"
    """Nobody answers there: nothing listens, or the connection ends without an answer."""
    LATE = "late"
    """No whole answer in the time that was given."""
    UNREACHABLE = "unreachable"
    """Nobody can be asked: name, route, proxy, TLS."""
    BROKEN = "broken"
    """An answer that is cut short, damaged or no HTTP."""
    DENIED = "denied"
    """Credentials are wanted, or others."""
    ELSEWHERE = "elsewhere"
    """Something answers, but not what was asked for: another path or address may have it."""
    LARGE = "large"
    """The answer is larger than what is read."""
    ERROR = "error"
    """The server itself says that it failed."""


class AskError(Exception):
    """Why a question brought nothing, as the end of a sentence that begins with the server.

    :param reason: never holds what exceptions say, which may be credentials
    :param hint: what to do about it
    :param status: of the answer, 0 if there was none or if it says nothing
    """

    def __init__(self, kind: Failure, reason: str, hint: str = "", status: int = 0) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.hint = hint
        self.status = status

    @property
    def is_busy(self) -> bool:
        """Whether the server says that it cannot answer now, though it might later."""
        return self.status == HTTPStatus.TOO_MANY_REQUESTS or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR


def late(timeout: float) -> AskError:
    """The time ran out.

    :param timeout: seconds that were given
    """
    return AskError(Failure.LATE, f"gave no whole answer within {round(timeout, 2):g} s", "give it longer (--timeout)")


_NO_ACCESS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.PROXY_AUTHENTICATION_REQUIRED})
_NOTHING_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE, HTTPStatus.NOT_IMPLEMENTED})
_LOGIN = re.compile(rb"type=[\"']?password|<title>[^<]{0,80}(?:log ?in|sign ?in|sso)")


def refusal(status: int, path: str, body: bytes, *, wanted: str, variable: str, hint: str) -> AskError:
    """What an answer means that is not the wanted one.

    :param path: what was asked for
    :param wanted: what should have been there, as a noun with its article
    :param variable: how the names of the environment's variables begin that hold credentials for this server
    :param hint: where else the wanted thing may be
    """
    text = body[:4096].lower()
    if status in _NO_ACCESS:
        told = f"set {variable}TOKEN, or {variable}USER and {variable}PASSWORD"
        return AskError(Failure.DENIED, f"refuses access ({status:d})", told)
    if b"https server" in text:
        return AskError(Failure.UNREACHABLE, "speaks TLS", "say https:// in its address")
    is_page = text.lstrip().startswith(b"<")
    if is_page and b"grafana" in text:
        return AskError(Failure.ELSEWHERE, "is Grafana", "give the address of the data source behind it")
    if is_page and _LOGIN.search(text):
        told = f"give a token ({variable}TOKEN), or the address behind the login"
        return AskError(Failure.ELSEWHERE, f"answers with a login page ({status:d}) instead of {wanted}", told)
    return _by_status(status, path, wanted, hint) or _other(status, wanted, is_page=is_page)


def _by_status(status: int, path: str, wanted: str, hint: str) -> AskError | None:
    """What a status says that is no success."""
    if status in _NOTHING_THERE:
        return AskError(Failure.ELSEWHERE, f"has no {wanted.removeprefix('the ')} at {quoted(path)} ({status:d})", hint)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return AskError(Failure.ERROR, "asks for fewer questions (429)", "try again later", status)
    if status >= HTTPStatus.BAD_REQUEST:
        return AskError(Failure.ERROR, f"answers with an error ({status:d})", status=status)
    return None


def _other(status: int, wanted: str, *, is_page: bool) -> AskError:
    """What an answer is that only its content shows to be wrong."""
    if is_page:
        reason = f"answers with a web page ({status:d}) instead of {wanted}"
        return AskError(Failure.ELSEWHERE, reason, "check the address: its path may be missing")
    return AskError(Failure.ELSEWHERE, f"answers with something else than {wanted}", "check the address")


def moved(scheme: str, host: str, variable: str) -> AskError:
    """The server sends on to another one, which is not asked: the credentials are not for it."""
    told = f"if that is the right server, give its address; if it is a login page, give a token ({variable}TOKEN)"
    return AskError(Failure.ELSEWHERE, f"sends on to {quoted(f'{scheme}://{host}')}", told)


def broken_connection(error: BaseException, url: str, timeout: float, variable: str) -> AskError:
    """What became of a connection.

    :param url: what was asked for
    :param timeout: seconds that were given
    :param variable: how the names of the environment's variables begin that say whom to trust
    """
    causes = list(_causes(error))
    for kind, failure, reason, hint in _failures():
        if not any(isinstance(cause, kind) for cause in causes):
            continue
        if failure is Failure.LATE:
            return late(timeout)
        told = {"variable": variable, "host": quoted(urlsplit(url).hostname or "")}
        told |= {"certificate": _first(causes, "verify_message"), "system": _first(causes, "strerror")}
        return AskError(failure, reason.format(**told), hint.format(**told))
    return AskError(Failure.BROKEN, "does not speak HTTP as it should", "check address and port")


def _first(causes: Sequence[BaseException], name: str) -> str:
    """What the first of the exceptions that has such a text says; both texts come of libraries and hold no address."""
    return next((quoted(text) for cause in causes if isinstance(text := getattr(cause, name, None), str)), "no word on why")


_Told = tuple[type[BaseException], Failure, str, str]


def _failures() -> tuple[_Told, ...]:
    """What led to a failure, the most telling first, and how it is told."""
    from urllib3 import exceptions as urllib3

    ways = "look at HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
    off, down = "is it an HTTP server, does it still run?", "is the server running, is the port right?"
    return (
        (ssl.SSLCertVerificationError, Failure.UNREACHABLE, "has a certificate that does not verify ({certificate})",
         "name the file of your authority in {variable}CA"),
        (urllib3.ProxySchemeUnknown, Failure.UNREACHABLE, "cannot be reached: the proxy of the environment is no HTTP proxy",
         ways),
        (urllib3.ProxyError, Failure.UNREACHABLE, "cannot be reached through the proxy", ways),
        (ssl.SSLError, Failure.UNREACHABLE, "does not speak TLS as asked",
         "is it http:// instead of https://, or does it want a client certificate ({variable}CERT)?"),
        (socket.gaierror, Failure.UNREACHABLE, "cannot be found: no address is known for {host}", "check the name"),
        (ConnectionRefusedError, Failure.SILENT, "refuses connections", down),
        (urllib3.NewConnectionError, Failure.UNREACHABLE, "cannot be reached ({system})", "check address, route and firewall"),
        (urllib3.ConnectTimeoutError, Failure.SILENT, "does not take connections within the time-out",
         "check address and firewall"),
        (TimeoutError, Failure.LATE, "", ""),
        (urllib3.TimeoutError, Failure.LATE, "", ""),
        (IncompleteRead, Failure.BROKEN, "broke off in the middle of its answer", off),
        (urllib3.IncompleteRead, Failure.BROKEN, "broke off in the middle of its answer", off),
        (ConnectionError, Failure.SILENT, "closed the connection without an answer", off),
        (HTTPException, Failure.BROKEN, "does not speak HTTP", "check address and port"),
        (urllib3.LocationValueError, Failure.UNREACHABLE, "has an address that cannot be asked", "check the address"),
        (OSError, Failure.UNREACHABLE, "cannot be reached ({system})", "check address, route and firewall"),
    )  # fmt: skip


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        waiting += [cause for cause in inner if isinstance(cause, BaseException)]
