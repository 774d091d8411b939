"""The client: one question, one whole answer or one reason, within limits of time and size."""

import ssl
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

import certifi

from triage.background import in_background
from triage.classes import dataclass
from triage.errors import TriageError
from triage.ingest.http.access import Access
from triage.ingest.http.failures import AskError, Failure, broken_connection, late, moved

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

CONNECT = 5.0
"""Seconds in which a connection must come about: in a cluster it takes milliseconds, across the world a second."""

_MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_CHUNK = 1 << 16
_AT_ONCE = 8
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, whatever its status.

    :param url: where it came from, redirects followed
    :param headers: by lower-case name
    :param body: unpacked
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path that it came from."""
        return urlsplit(self.url).path


class Client:
    """Asks servers.

    Redirects are followed on the same server only, so that credentials never reach another one. Certificates are verified. The
    whole answer must come within the time that is given, and is read up to a size only. Nothing is stored: no cookies, and no
    credentials of ``~/.netrc``.

    :param access: proxies and trust; its headers are sent by whoever asks
    :param most: largest body that is read, unpacked, bytes
    """

    def __init__(self, access: Access, most: int) -> None:
        self._access = access
        self._most = most
        self._pools: dict[tuple[str, str], PoolManager] = {}
        self._making = Lock()

    def ask(
        self,
        url: str,
        timeout: float,
        *,
        headers: Mapping[str, str],
        method: str = "GET",
        body: bytes | None = None,
        packed: bool = True,
    ) -> Answer:
        """The answer to one question.

        Looking up a name, several addresses of it and an answer in drops can each take their time; together they get no more
        than what is given, because whatever takes longer is left behind.

        :param timeout: seconds for all of it
        :param packed: ask for gzip; on one machine it would only cost the server time
        :raises AskError: there is none
        :raises TriageError: the certificates that the environment names cannot be used
        """
        sent = {**headers, "User-Agent": "triage", "Accept-Encoding": "gzip" if packed else "identity"}
        asking = in_background(partial(self._followed, method, url, sent, body, monotonic() + timeout))
        try:
            return asking.result(timeout)
        except TimeoutError:
            raise late(timeout) from None
        except (AskError, TriageError):
            raise
        except Exception as error:  # noqa: BLE001 - urllib3, ssl, socket and http.client each raise their own; all are told
            raise broken_connection(error, url, timeout, self._access.variable) from None

    def close(self) -> None:
        """Lets go of connections that were kept."""
        for pool in self._pools.values():
            pool.clear()

    def _followed(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, end: float) -> Answer:
        """The first answer that is no redirect."""
        for _ in range(_MAX_REDIRECTS + 1):
            answer = self._once(method, url, headers, body, end)
            if answer.status not in _REDIRECTS or "location" not in answer.headers:
                return answer
            url = self._next(url, answer.headers["location"])
        raise AskError(Failure.ELSEWHERE, "sends from page to page", "give the address of the page itself")

    def _once(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, end: float) -> Answer:
        """One answer; the body of a redirect is left where it is."""
        from urllib3 import Timeout

        left = max(0.001, end - monotonic())
        wait = Timeout(connect=min(CONNECT, left), read=left)
        response = self._pool(urlsplit(url)).request(
            method, url, body=body, headers=headers, timeout=wait, retries=False, redirect=False, preload_content=False,
            decode_content=False,
        )  # fmt: skip
        try:
            read = b"" if response.status in _REDIRECTS else self._body(response, end)
            return Answer(response.status, url, {name.lower(): value for name, value in response.headers.items()}, read)
        finally:
            response.close()

    def _body(self, response: "BaseHTTPResponse", end: float) -> bytes:
        """The whole body, unpacked."""
        packed = response.headers.get("Content-Encoding", "").strip().lower() in _PACKED
        unpack = zlib.decompressobj(wbits=47) if packed else None
        parts: list[bytes] = []
        size = 0
        while data := response.read1(_CHUNK):
            parts.append(_unpacked(unpack, data, self._most - size + 1) if unpack else data)
            size += len(parts[-1])
            if size > self._most:
                raise AskError(Failure.LARGE, f"gave an answer of more than {self._most >> 20} MiB")
            if monotonic() > end:
                raise TimeoutError
        if unpack and not unpack.eof:
            raise AskError(Failure.BROKEN, "broke off in the middle of its answer", "is it an HTTP server, does it still run?")
        return b"".join(parts)

    def _next(self, url: str, location: str) -> str:
        """Where a redirect leads.

        :raises AskError: to another server
        """
        try:
            here, there = urlsplit(url), urlsplit(urljoin(url, location))
            same = _same_server(here, there)
        except ValueError:
            there, same = urlsplit(""), False
        if not same or not (location.isascii() and location.isprintable()):
            raise moved(there.scheme, there.netloc.rpartition("@")[2], self._access.variable)
        return there._replace(fragment="").geturl()

    def _pool(self, url: SplitResult) -> "PoolManager":
        """The connections by which a server is asked."""
        way = url.scheme, self._access.proxy(url.scheme, url.hostname or "")
        with self._making:
            if way not in self._pools:
                self._pools[way] = self._made(*way)
            return self._pools[way]

    def _made(self, scheme: str, proxy: str) -> "PoolManager":
        """Connections of one scheme, directly or through a proxy, whose own login is in its address."""
        from urllib3 import PoolManager, ProxyManager, make_headers

        trust = self._trust() if "https" in {scheme, urlsplit(proxy).scheme} else None
        if not proxy:
            return PoolManager(maxsize=_AT_ONCE, ssl_context=trust)
        parts = urlsplit(proxy)
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
        headers = make_headers(proxy_basic_auth=login)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return ProxyManager(bare, maxsize=_AT_ONCE, proxy_headers=headers, ssl_context=trust, proxy_ssl_context=trust)

    def _trust(self) -> ssl.SSLContext:
        """Whom we believe, and who we are. A machine that has no authorities, as slim images have none, takes Mozilla's."""
        access = self._access
        authority = access.authority or ("" if _has_authorities() else certifi.where())
        is_folder = Path(authority).is_dir()
        try:
            context = ssl.create_default_context(
                cafile=None if is_folder else authority or None, capath=authority if authority and is_folder else None
            )
        except OSError:
            raise TriageError(f"{access.authority} holds no certificates that can be read", "name a file in PEM") from None
        if access.certificate:
            try:
                context.load_cert_chain(access.certificate, access.key or None)
            except OSError:
                hint = f"look at {access.variable}CERT and {access.variable}KEY: files in PEM, the key without a passphrase"
                raise TriageError(f"the client certificate {access.certificate} cannot be used", hint) from None
        return context


def _has_authorities() -> bool:
    """Whether the machine has authorities of its own."""
    paths = ssl.get_default_verify_paths()
    return bool(paths.cafile) or bool(paths.capath and any(Path(paths.capath).iterdir()))


def _same_server(here: SplitResult, there: SplitResult) -> bool:
    """Whether a redirect stays on the server; from http to https is no other one, and back it is."""
    if here.hostname != there.hostname or there.scheme not in _PORTS or (here.scheme == "https" and there.scheme != "https"):
        return False
    is_upgrade = here.scheme != there.scheme
    return is_upgrade or (here.port or _PORTS[here.scheme]) == (there.port or _PORTS[there.scheme])


def _unpacked(unpack: "zlib._Decompress", data: bytes, most: int) -> bytes:
    """What comes out of a piece, so much at most."""
    try:
        return unpack.decompress(data, most)
    except zlib.error:
        raise AskError(Failure.BROKEN, "answers with damaged gzip", "look at what is between here and there") from None
