"""The HTTP client before real servers: uvicorn, as engines use it, plain sockets that misbehave, and a proxy."""

import gzip
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st

from tests.servers import Ask, Front, Reply, free_port, self_signed, serving
from triage.errors import TriageError
from triage.ingest.http import Access, Answer, AskError, Client, Failure, access_of, quoted, refusal

MIB = 1 << 20
SECRET = "s3cret"
WITH_TOKEN = {"Authorization": f"Bearer {SECRET}"}


def ask(url: str, timeout: float = 20.0, access: Access | None = None, **more: object) -> Answer:
    """One question of a new client."""
    client = Client(access or Access("T_"), MIB)
    try:
        return client.ask(url, timeout, headers=WITH_TOKEN, **more)  # type: ignore[arg-type]
    finally:
        client.close()


def failure(url: str, timeout: float = 20.0, access: Access | None = None) -> AskError:
    """Why there is no answer."""
    with pytest.raises(AskError) as caught:
        ask(url, timeout, access)
    assert SECRET not in caught.value.reason + caught.value.hint
    return caught.value


# uvicorn: what vLLM, SGLang and most other engines answer with

BODY = b"".join(b'vllm:num_requests_running{engine="%d"} 1\n' % number for number in range(3000))


class Application:
    """An ASGI application that answers in the way that the path asks for."""

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        if scope["type"] != "http":
            return
        path = scope["path"]
        headers = [(b"content-type", b"text/plain")]
        if path == "/moved":
            await send({"type": "http.response.start", "status": 307, "headers": [(b"location", b"/length")]})
            await send({"type": "http.response.body", "body": b""})
            return
        if path == "/length":
            headers.append((b"content-length", str(len(BODY)).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for start in range(0, len(BODY), 7000):
            await send({"type": "http.response.body", "body": BODY[start : start + 7000], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@contextmanager
def uvicorn_at_work(protocol: str) -> Iterator[str]:
    """A uvicorn server; gives its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        settings = uvicorn.Config(Application(), http=protocol, lifespan="off", log_level="error", ws="none")
        server = uvicorn.Server(settings)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    """A uvicorn server with its pure-Python protocol, which every installation has."""
    with uvicorn_at_work("h11") as address:
        yield address


@pytest.mark.parametrize("path", ["/length", "/chunked", "/moved"])
@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}])
def test_uvicorn_is_read_whole(engine: str, path: str, headers: dict[str, str]) -> None:
    """With a length or in chunks, on a connection that is kept or closed: closed ones failed with a read after the close once."""
    client = Client(Access("T_"), MIB)
    for _ in range(3):
        answer = client.ask(engine + path, 20.0, headers=headers)
        assert (answer.status, answer.body) == (200, BODY)
    client.close()


# Servers that misbehave


@contextmanager
def saying(*pieces: bytes, pause: float = 0.0, hold: bool = False) -> Iterator[str]:
    """A server that says these bytes to whoever connects, whatever is asked.

    :param pause: seconds between two pieces
    :param hold: the connection stays open afterwards
    """
    over = Event()

    def serve(listener: socket.socket) -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        try:
            with connection:
                connection.recv(65536)
                for piece in pieces:
                    connection.sendall(piece)
                    over.wait(pause)
                over.wait(60 if hold else 0)
        except OSError:
            return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


HEAD = b"HTTP/1.1 200 OK\r\n"
PACKED = gzip.compress(BODY)


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ((), Failure.SILENT, "closed the connection without an answer"),
        ((b"SSH-2.0-OpenSSH_9.6\r\n",), Failure.BROKEN, "does not speak HTTP"),
        ((HEAD, b"Content-Length: 100\r\n\r\n", b"half"), Failure.BROKEN, "broke off in the middle of its answer"),
        ((HEAD, b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhal"), Failure.BROKEN, "broke off in the middle of its answer"),
        ((HEAD, b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\nhal"), Failure.BROKEN, "broke off in the middle of its answer"),
        ((HEAD, b"Content-Encoding: gzip\r\n\r\n", PACKED[:-20]), Failure.BROKEN, "broke off in the middle of its answer"),
        ((HEAD, b"Content-Encoding: gzip\r\n\r\n", b"nonsense"), Failure.BROKEN, "answers with damaged gzip"),
        ((HEAD, b"\r\n", b" " * (MIB + 1)), Failure.LARGE, "gave an answer of more than 1 MiB"),
        ((HEAD, b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b" " * 50 * MIB)), Failure.LARGE, "more than 1 MiB"),
        ((HEAD, b"A: b\r\n" * 1000, b"\r\n"), Failure.BROKEN, "does not speak HTTP"),
    ],
)
def test_what_is_no_whole_answer_is_told(said: tuple[bytes, ...], kind: Failure, reason: str) -> None:
    """Each in one sentence."""
    with saying(*said) as address:
        told = failure(address)
    assert (told.kind, reason in told.reason) == (kind, True), told.reason


@pytest.mark.parametrize(
    "drops",
    [(HEAD, *[b"A: b\r\n"] * 50), (HEAD, b"\r\n", *[b"# and so on\n"] * 50), (*[HEAD[n : n + 1] for n in range(15)],)],
    ids=["headers", "body", "status"],
)
def test_an_answer_in_drops_gets_no_more_time_than_a_whole_one(drops: tuple[bytes, ...]) -> None:
    """Each drop comes well within the time; all of them do not."""
    with saying(*drops, pause=0.1, hold=True) as address:
        told = failure(address, 0.5)
    assert (told.kind, told.reason) == (Failure.LATE, "gave no whole answer within 0.5 s")


def test_nobody_is_told_by_what_nobody_does(tmp_path: Path) -> None:
    """Refused, not resolved, no answer: three things to look at."""
    assert failure(f"http://127.0.0.1:{free_port()}").reason == "refuses connections"
    assert failure("http://nowhere.invalid/").reason == "cannot be found: no address is known for nowhere.invalid"
    with saying(hold=True) as address:
        assert failure(address, 0.3).kind is Failure.LATE
    assert failure("http://[::1%25nothing0]:9/").kind in {Failure.UNREACHABLE, Failure.SILENT}


# Who is trusted, and who gets the credentials


def test_tls_is_verified_and_an_own_authority_can_be_named(tmp_path: Path) -> None:
    """What is wrong with a certificate is told, and where to say whom to trust."""
    both, authority = self_signed(tmp_path)
    with serving(Front(own=lambda ask: Reply(200, b"ok")), both) as tls:
        told = failure(tls.address)
        assert (told.kind, told.hint) == (Failure.UNREACHABLE, "name the file of your authority in T_CA")
        assert told.reason.startswith("has a certificate that does not verify (")
        assert ask(tls.address, access=access_of("T_", {"T_CA": str(authority)})).body == b"ok"
        with pytest.raises(TriageError, match="holds no certificates"):
            ask(tls.address, access=access_of("T_", {"T_CA": __file__}))
        with pytest.raises(TriageError, match=r"client certificate .* cannot be used"):
            ask(tls.address, access=access_of("T_", {"T_CERT": str(authority)}))
    with saying(b"hello, no TLS here\r\n") as address:
        assert failure(address.replace("http", "https")).reason == "does not speak TLS as asked"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_credentials_never_reach_another_server(status: int) -> None:
    """Another name or port is another server: it hears nothing at all, and where the redirect leads is told without its login."""
    with serving(Front(own=lambda ask: Reply(200, b"other"))) as other:
        target = other.address.replace("127.0.0.1", "user:hunter2@localhost") + "/login"
        for place in (target, other.address, f"//{other.address.removeprefix('http://')}/x", "ftp://127.0.0.1/", "http://[bad"):
            with serving(Front(own=lambda ask, place=place: Reply(status, b"", {"Location": place}))) as front:  # type: ignore[misc]
                told = failure(front.address)
            assert told.reason.startswith("sends on to ")
            assert "hunter2" not in told.reason
        assert other.asked == []


def test_on_the_same_server_a_redirect_is_followed_with_all_that_was_sent() -> None:
    """Method, body and credentials; in a circle only so far."""

    def own(ask: Ask) -> Reply:
        return Reply(200, ask.method.encode()) if ask.path == "/new" else Reply(301, b"", {"Location": "new#part"})

    with serving(Front(own=own)) as front:
        answer = ask(f"{front.address}/old", method="POST", body=b"query=up")
        assert (answer.body, answer.path) == (b"POST", "/new")
        assert [one.headers["authorization"] for one in front.asked] == [f"Bearer {SECRET}"] * 2
        assert front.asked[-1].form == {"query": ["up"]}
    with serving(Front(own=lambda ask: Reply(302, b"", {"Location": "/again"}))) as circle:
        assert failure(circle.address).reason == "sends from page to page"
        assert len(circle.asked) == 4


def test_a_proxy_is_asked_with_its_own_login() -> None:
    """A login in the proxy's address is for the proxy; one that is not there is told as the proxy's fault."""
    with serving(Front(own=lambda ask: Reply(200, b"by proxy"))) as proxy:
        environ = {"HTTP_PROXY": proxy.address.replace("://", "://me:w%C3%B6rd@")}
        assert ask("http://nowhere.invalid/x", access=access_of("T_", environ)).body == b"by proxy"
        (asked,) = proxy.asked
        assert asked.headers["host"] == "nowhere.invalid"
        assert asked.headers["proxy-authorization"].startswith("Basic ")
    dead = access_of("T_", {"HTTP_PROXY": f"http://127.0.0.1:{free_port()}"})
    told = failure("http://nowhere.invalid/x", access=dead)
    assert (told.reason, told.hint) == ("cannot be reached through the proxy", "look at HTTP_PROXY, HTTPS_PROXY and NO_PROXY")
    odd = access_of("T_", {"ALL_PROXY": "carrier-pigeon://loft"})
    assert "no HTTP proxy" in failure("http://nowhere.invalid/x", access=odd).reason


# What answers mean


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (401, b"", Failure.DENIED, "refuses access (401)"),
        (403, b"<html>", Failure.DENIED, "refuses access (403)"),
        (200, b"<html><title>Grafana</title>", Failure.ELSEWHERE, "is Grafana"),
        (200, b"<title>Sign in to Example</title>", Failure.ELSEWHERE, "answers with a login page (200) instead of metrics"),
        (200, b'<form><INPUT TYPE="password">', Failure.ELSEWHERE, "answers with a login page (200) instead of metrics"),
        (502, b"<html>bad gateway", Failure.ERROR, "answers with an error (502)"),
        (200, b"<html>welcome", Failure.ELSEWHERE, "answers with a web page (200) instead of metrics"),
        (404, b"<html>not found", Failure.ELSEWHERE, "has no metrics at /x (404)"),
        (405, b"", Failure.ELSEWHERE, "has no metrics at /x (405)"),
        (400, b"Client sent an HTTP request to an HTTPS server.\n", Failure.UNREACHABLE, "speaks TLS"),
        (429, b"", Failure.ERROR, "asks for fewer questions (429)"),
        (200, b"hello", Failure.ELSEWHERE, "answers with something else than metrics"),
    ],
)
def test_answers_of_something_else_are_told_for_what_they_are(status: int, body: bytes, kind: Failure, reason: str) -> None:
    """By status first, then by what they show."""
    told = refusal(status, "/x", body, wanted="metrics", variable="T_", hint="elsewhere")
    assert (told.kind, told.reason) == (kind, reason)


@given(st.text())
def test_foreign_text_becomes_one_short_printable_line(text: str) -> None:
    """Terminals obey control characters."""
    found = quoted(text)
    assert found.isprintable()
    assert len(found) <= 200
