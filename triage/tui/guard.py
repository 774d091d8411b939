"""Who may use the walk's web page: who holds the token that is made anew at each start, from the page's own address.

Pages of other sites cannot use it: a browser says where a page came from, and that must be the server itself.
"""

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SOCKET = "/ws"


def refusal(host: str, token: str, path: str, given: str, headers: Mapping[str, str]) -> str:
    """Why a request is refused; empty if it is not.

    :param host: the address that is listened at
    :param given: the token in the address
    """
    asked = headers.get("Host", "")
    if host in LOOPBACK and (urlsplit(f"//{asked}").hostname or "") not in LOOPBACK:
        return "this server answers to this machine's own names only"
    origin = headers.get("Origin", "")
    if origin and urlsplit(origin).netloc != asked:
        return "this page may be used from its own address only"
    guarded = path == "/" or path.startswith(SOCKET)
    if guarded and not secrets.compare_digest(given.encode(), token.encode()):
        return "the address lacks the token that was printed when the server started"
    return ""
