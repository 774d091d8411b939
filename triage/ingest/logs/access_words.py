"""What proxies write beside the numbers of a request: how it ended in words, and times whose unit stands in their name."""

from functools import lru_cache

import re2

_LONG_FLAGS = {
    "nohealthyupstream": "UH", "upstreamconnectionfailure": "UF", "upstreamoverflow": "UO", "noroutefound": "NR",
    "upstreamconnectiontermination": "UC", "upstreamremotereset": "UR", "localreset": "LR", "upstreamrequesttimeout": "UT",
    "streamidletimeout": "SI", "durationtimeout": "DT", "downstreamconnectiontermination": "DC", "downstreamremotereset": "DC",
    "downstreamprotocolerror": "DPE", "upstreamprotocolerror": "UPE", "upstreamretrylimitexceeded": "URX",
    "noclusterfound": "NC", "overloadmanagerterminated": "OM", "ratelimited": "RL", "unauthorizedexternalservice": "UAEX",
}  # fmt: skip
"""Envoy's response flags as ``%RESPONSE_FLAGS_LONG%`` writes them, by their short form."""

_ENDINGS: dict[str, str] = {
    "UO": r"overflow|circuit ?breaker (?:is )?open|max(?:imum)? (?:connections|pending|requests) (?:reached|exceeded)",
    "UH": r"no[ _](?:healthy|available|live|ready)[ _]\w+|no endpoints?\b|no server is available",
    "NC": r"cluster[ _]not[ _]found",
    "URX": r"retry[ _]limit|retries exhausted",
    "DC": r"downstream[ _](?:remote[ _])?(?:disconnect|reset|connection[ _]termination)|context canceled|request canceled"
    r"|client[ _]?(?:has )?(?:disconnect|closed|left|gone|went away|cancel)",
    "UF": r"connection[ _](?:failure|refused|timeout)|connect(?:ion)? timed out|connect(?:ion)? error|\bdial\b|no route to"
    r"|econnrefused|ehostunreach|no such host|name resolution|(?:failed|unable|could not) to connect",
    "UC": r"connection[ _](?:termination|reset|closed|aborted|lost)|remote[ _](?:reset|disconnect)|server ?disconnected"
    r"|prematurely closed|broken pipe|\beof\b|socket hang ?up|econnreset|reset by peer"
    r"|closed (?:the |keep.?alive |idle )*connection|without sending (?:a |any )?response",
    "UT": r"timed?[ _]?out|deadline[ _]exceeded",
}
"""Which flag stands for which words, most definite first."""

_BY_WORDS = tuple((flag, re2.compile("(?i)" + words)) for flag, words in _ENDINGS.items())


@lru_cache(maxsize=4096)
def flags_of_words(words: str) -> str:
    """Envoy's flag for what another program, or Envoy's own details, say of how a request ended; empty if they say nothing."""
    return next((flag for flag, pattern in _BY_WORDS if pattern.search(words)), "")


@lru_cache(maxsize=4096)
def short_flags(flags: str) -> str:
    """Response flags in their short form, whichever form they were written in; empty for ``-``."""
    if flags in {"", "-"}:
        return ""
    return ",".join(_LONG_FLAGS.get(one.strip().lower(), one.strip()) for one in flags.split(","))


_SPAN = re2.compile(r"^([\d.]+) ?(ns|us|µs|μs|ms|s|sec|seconds|m)?$")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "m": 60.0}
_LONG_SPAN = re2.compile(r"^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$")

_TIME_NAME = re2.compile(
    r"(?i)^(?:http[._])?(?:req(?:uest)?|resp(?:onse)?|total|server)?[._-]?"
    r"(?:duration|latency|latencies\.request|elapsed|took|time|rt|after)(?:[._-]?(taken|time))?"
    r"(?:[._-]?(ms|millis(?:econds)?|msec|us|micros(?:econds)?|usec|ns|nanos(?:econds)?|s|secs?|seconds?))?$"
)
_IN_NAME = {"m": 1e-3, "u": 1e-6, "n": 1e-9, "s": 1.0}
_NO_TIMES = frozenset({"time", "request", "response"})
"""Names that the pattern has and that say when, not how long."""


def number(text: str) -> float | None:
    """A number that is not negative and no nonsense; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < 1e18 else None


def span(text: str, unit: float = 1.0) -> float | None:
    """Seconds of ``12.5ms``, ``1m28s``, ``1h2m5s``; None if it is no span of time.

    :param unit: seconds that a bare number counts
    """
    found = _SPAN.search(text)
    if found is not None:
        value = number(found.group(1))
        return None if value is None else value * (_UNITS[found.group(2)] if found.group(2) else unit)
    long = _LONG_SPAN.search(text) if text else None
    if long is None:
        return None
    hours, minutes, seconds = (number(part or "0") or 0.0 for part in long.groups())
    return hours * 3600.0 + minutes * 60.0 + seconds


@lru_cache(maxsize=1024)
def _unit_of(name: str) -> float | None:
    """Seconds that one of a name's unit is, 0 if the name says no unit; None if it names no span of time."""
    found = _TIME_NAME.search(name) if name.lower() not in _NO_TIMES else None
    if found is None:
        return None
    return _IN_NAME[found.group(2)[0].lower()] if found.group(2) else 0.0


def seconds_of(name: str, value: str, bare: float = 1.0) -> float | None:
    """How long a request took, if an entry of this name says so.

    :param bare: seconds that a number without any unit, in name or value, counts
    """
    unit = _unit_of(name)
    if unit is None:
        return None
    return span(value.strip('",;'), unit or bare)
