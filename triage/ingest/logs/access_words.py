"""What proxies write beside the numbers of a request: how it ended in words, and times whose unit stands in their name."""

from functools import lru_cache

from triage.ingest.logs.durations import span, unit
from triage.patterns import Pattern

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
    r"|closed (?:the |keep.?alive |idle )*connection|without sending (?:a |any )?response"
    r"|(?:other|remote|far|server) (?:side|end) (?:has )?closed|connection aborted|unexpected end of (?:stream|file)"
    r"|connection (?:was )?closed before|failed to respond",
    "UT": r"timed?[ _]?out|deadline[ _]exceeded",
}
"""Which flag stands for which words, most definite first."""

_BY_WORDS = tuple((flag, Pattern("(?i)" + words)) for flag, words in _ENDINGS.items())


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


_TIME_NAME = Pattern(
    r"(?i)^(?:http[._])?(?:req(?:uest)?|resp(?:onse)?|total|server)?[._-]?"
    r"(?:duration|latency|latencies\.request|elapsed|took|time|rt|after)(?:[._-]?(taken|time))?"
    r"(?:[._-]?(ms|millis(?:econds)?|msec|us|micros(?:econds)?|usec|ns|nanos(?:econds)?|s|secs?|seconds?))?$"
)
_NO_TIMES = frozenset({"time", "request", "response"})
"""Names that the pattern has and that say when, not how long."""


@lru_cache(maxsize=1024)
def _unit_of(name: str) -> float | None:
    """Seconds that one of a name's unit is, 0 if the name says no unit; None if it names no span of time."""
    found = _TIME_NAME.search(name) if name.lower() not in _NO_TIMES else None
    if found is None:
        return None
    return unit(found.group(2)) if found.group(2) else 0.0


def seconds_of(name: str, value: str, bare: float = 1.0) -> float | None:
    """How long a request took, if an entry of this name says so.

    :param bare: seconds that a number without any unit, in name or value, counts
    """
    in_name = _unit_of(name)
    return None if in_name is None else span(value.strip('",;'), in_name or bare)


_WHOLE = Pattern(r"(?i)^(?:total|wall|e2e|whole|end_to_end)(?:[._-]?(?:time|clock))?$")
"""Names of which only the unit of the value says that they are of a time, and not of tokens."""


def seconds_of_whole(name: str, value: str) -> float | None:
    """How long a request took, also by a name that may be of something else if its value has no unit."""
    seconds = seconds_of(name, value)
    if seconds is not None or _WHOLE.search(name) is None:
        return seconds
    return span(value.strip('",;'), None)


_FIRST_UNIT = Pattern(r"(?i)_?(ms|millis|s|secs?|seconds)$")


def seconds_of_first(name: str, value: str) -> float | None:
    """Seconds to the first token by an entry whose name says that: without a unit a whole number counts milliseconds."""
    found = _FIRST_UNIT.search(name)
    return span(value.strip('",;'), unit(found.group(1)) if found is not None else 1.0 if "." in value else 1e-3)
