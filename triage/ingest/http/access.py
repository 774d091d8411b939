"""Who is let in and whom we trust, as the environment says; never the command line, which every user of the machine can read."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from urllib.parse import unquote, urlsplit

from triage.classes import dataclass
from triage.errors import TriageError

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_AUTHORITIES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True)
class Access:
    """What goes along with a question, and by which way.

    :param variable: how the names of the environment's variables begin that say all this
    :param headers: credentials and what else was asked to be sent
    :param authority: file or folder of the authorities that are trusted; empty for the machine's own
    :param certificate: file of a client certificate, or empty
    :param key: file of its key, empty if it is in the same file
    :param proxies: scheme -> address of a proxy; ``all`` and ``no`` as in the environment
    """

    variable: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    authority: str = ""
    certificate: str = ""
    key: str = ""
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)

    def proxy(self, scheme: str, host: str) -> str:
        """The proxy by which a host is asked; empty if it is asked directly, as this machine itself always is."""
        proxy = self.proxies.get(scheme) or self.proxies.get("all", "")
        if proxy and not _is_excepted(host, self.proxies.get("no", "")):
            return proxy if "://" in proxy else f"http://{proxy}"
        return ""


def access_of(variable: str, environ: Mapping[str, str], address: str = "") -> Access:
    """How a server is asked.

    :param variable: how the names of the variables begin
    :param address: may hold user and password; those of the environment come before them
    :raises TriageError: a value cannot be sent, or names a file that is not there
    """
    own = (_file(environ, f"{variable}CA"), *(_file(environ, name) for name in _AUTHORITIES))
    return Access(
        variable,
        {**_headers(variable, environ), **_login(variable, environ, address)},
        next(filter(None, own), ""),
        _file(environ, f"{variable}CERT"),
        _file(environ, f"{variable}KEY"),
        {
            name.lower().removesuffix("_proxy"): value
            for name, value in sorted(environ.items())
            if name.lower().endswith("_proxy") and value
        },
    )


def _headers(variable: str, environ: Mapping[str, str]) -> dict[str, str]:
    """A token, and ``Name=value,Name=value`` as OpenTelemetry writes headers."""
    pairs = [pair.partition("=") for pair in environ.get(f"{variable}HEADERS", "").split(",") if pair.strip()]
    told = [("HEADERS", name.strip(), unquote(value.strip())) for name, _, value in pairs]
    if token := environ.get(f"{variable}TOKEN", "").strip():
        told.append(("TOKEN", "Authorization", f"Bearer {token}"))
    for end, name, value in told:
        if not _HEADER_NAME.fullmatch(name) or not (value and value.isascii() and value.isprintable()):
            hint = "write headers as Name=value,Name=value and a token bare"
            raise TriageError(f"{variable}{end} cannot be sent as a header", hint)
    return {name: value for _, name, value in told}


def _login(variable: str, environ: Mapping[str, str], address: str) -> dict[str, str]:
    """Basic authentication with user and password of the environment, or of the address."""
    user, password = environ.get(f"{variable}USER"), environ.get(f"{variable}PASSWORD", "")
    if user is None:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        if parts.username is None:
            return {}
        user, password = unquote(parts.username), unquote(parts.password or "")
    return {"Authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}


def _file(environ: Mapping[str, str], variable: str) -> str:
    """Path of a file that a variable names, or an empty string."""
    path = environ.get(variable, "")
    if path and not Path(path).exists():
        raise TriageError(f"{variable} names {path}, which does not exist", "correct or unset it")
    return path


def _is_excepted(host: str, excepted: str) -> bool:
    """Whether a host is asked directly: it is this machine, or ``NO_PROXY`` names it, its domain or its network."""
    words = [word.strip().lower() for word in excepted.split(",")]
    try:
        address = ip_address(host)
    except ValueError:
        return host.lower() == "localhost" or any(_covers_name(word, host.lower()) for word in words)
    return address.is_loopback or any(_covers_address(word, address) for word in words)


def _covers_name(word: str, host: str) -> bool:
    """Whether one word of ``NO_PROXY`` means a name: the name itself, a domain above it with or without a dot, or all."""
    domain = word.removeprefix("*").removeprefix(".")
    return word == "*" or (bool(domain) and (host == domain or host.endswith(f".{domain}")))


def _covers_address(word: str, address: IPv4Address | IPv6Address) -> bool:
    """Whether one word of ``NO_PROXY`` means an address."""
    try:
        return word == "*" or address in ip_network(word, strict=False)
    except ValueError:
        return False
