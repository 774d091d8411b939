"""What the environment says on credentials, trust and proxies, before any network."""

from base64 import b64decode
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import TriageError
from triage.ingest.http import Access, access_of

PRINTABLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=20)


def login(access: Access) -> str:
    """What basic authentication says."""
    kind, _, text = access.headers["Authorization"].partition(" ")
    assert kind == "Basic"
    return b64decode(text).decode()


@given(PRINTABLE, PRINTABLE)
def test_a_login_in_the_address_is_used(user: str, password: str) -> None:
    """Whatever it holds, percent-encoded as addresses are; it is no part of what is shown of an access."""
    access = access_of("T_", {}, f"https://{quote(user, safe='')}:{quote(password, safe='')}@prometheus.example:9090/p")
    assert login(access) == f"{user}:{password}"
    assert access.headers["Authorization"] not in repr(access)


def test_the_environment_comes_before_the_address() -> None:
    """And without either there is no login."""
    environ = {"T_USER": "me", "T_PASSWORD": "päss"}
    assert login(access_of("T_", environ, "http://you:word@host")) == "me:päss"
    assert login(access_of("T_", {"T_USER": "me"}, "http://host")) == "me:"
    assert access_of("T_", {}, "host:9090").headers == {}


def test_headers_are_written_as_opentelemetry_writes_them() -> None:
    """Percent-encoded values, and a token of its own."""
    environ = {"T_HEADERS": "X-Scope-OrgID=a%2Cb, X-Key = k=v ,", "T_TOKEN": " abc "}
    assert access_of("T_", environ).headers == {"X-Scope-OrgID": "a,b", "X-Key": "k=v", "Authorization": "Bearer abc"}


@given(st.text(max_size=30))
def test_no_header_can_smuggle_another_one(text: str) -> None:
    """What cannot stand in a header is refused, and the message does not repeat it."""
    told, found = "", dict[str, str]()
    try:
        found = dict(access_of("T_", {"T_TOKEN": text}).headers)
    except TriageError as error:
        told = str(error)
    assert told in {"", "T_TOKEN cannot be sent as a header"}
    assert all(value.isprintable() and value.isascii() for value in found.values())


def test_files_are_looked_for_at_once(tmp_path: Path) -> None:
    """The own variable comes before those that other programs read, too; one that names nothing is an error that says which."""
    own, usual = tmp_path / "own.pem", tmp_path / "usual.pem"
    own.touch()
    usual.touch()
    assert access_of("T_", {"T_CA": str(own), "SSL_CERT_FILE": str(usual)}).authority == str(own)
    assert access_of("T_", {"SSL_CERT_FILE": str(usual)}).authority == str(usual)
    with pytest.raises(TriageError, match=r"T_CERT names /nowhere\.pem, which does not exist"):
        access_of("T_", {"T_CERT": "/nowhere.pem"})


PROXIED = {"HTTPS_PROXY": "http://p:1", "no_proxy": "example.com, .corp,10.0.0.0/8, fd00::/8 ,192.0.2.7,*.wild"}


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("example.com", True),
        ("a.Example.com", True),
        ("notexample.com", False),
        ("x.corp", True),
        ("corp.x", False),
        ("y.wild", True),
        ("10.200.0.1", True),
        ("11.0.0.1", False),
        ("192.0.2.7", True),
        ("192.0.2.8", False),
        ("fd12::1", True),
        ("fe80::1", False),
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
    ],
)
def test_no_proxy_names_hosts_domains_and_networks(host: str, direct: bool) -> None:
    """And this machine itself is never asked by way of another one."""
    assert access_of("T_", PROXIED).proxy("https", host) == ("" if direct else "http://p:1")


def test_a_proxy_is_for_its_scheme_or_for_all() -> None:
    """The lower-case name counts where both are set; an address without a scheme is HTTP's; a star switches all off."""
    access = access_of("T_", {"HTTP_PROXY": "big:1", "http_proxy": "small:2", "ALL_PROXY": "http://all:3"})
    assert access.proxy("http", "host") == "http://small:2"
    assert access.proxy("https", "host") == "http://all:3"
    assert access_of("T_", {"ALL_PROXY": "http://all:3", "NO_PROXY": "*"}).proxy("http", "host") == ""
