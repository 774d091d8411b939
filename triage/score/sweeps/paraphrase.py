"""Lines of logs said otherwise: what they say stays, how they say it does not.

Access lines, kernel reports and cluster events are left alone: their form is that of an interface, not of somebody's wording.
"""

import json
import re
from collections.abc import Callable

_FIXED = re.compile(r' HTTP/|\bkernel:|NVRM:|\s(?:Normal|Warning)\s+[A-Z]\w+\s|^\s*$|^\s+at |^\s*File "|^Traceback')
_STAMP = re.compile(
    r"^(?P<stamp>(?P<process>\([^)]{1,60}\) )?(?:(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL) )?"
    r"\[?(?P<time>\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*|\d\d-\d\d \d\d:\d\d:\d\d"
    r"|\w{3} +\d+ \d\d:\d\d:\d\d \S+)\]?)\s+(?P<rest>\S.*)$"
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_PAIR = re.compile(r"[A-Za-z_][\w.]*=(?:\"[^\"]*\"|[^\s\",]+)(?=\s|$)")
_LEVEL = re.compile(r"\b(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b", re.IGNORECASE)

_SYNONYMS: tuple[tuple[str, str], ...] = (
    ("failed to", "could not"), ("unable to", "could not"), ("cannot", "can not"), ("failed", "was not successful"),
    ("timed out", "hit its timeout"), ("timeout", "time limit"), ("exceeded", "was over"), ("exceeds", "is over"),
    ("refused", "rejected"), ("not found", "does not exist"), ("missing", "absent"), ("invalid", "not valid"),
    ("retrying", "trying again"), ("restarting", "starting again"), ("exited", "ended"), ("terminated", "ended"),
    ("killed", "shot down"), ("waiting for", "still waiting on"), ("insufficient", "not enough"),
    ("out of memory", "no memory left"),
    ("dropped", "discarded"), ("dropping", "discarding"), ("ignoring", "not using"), ("falling back to", "using instead"),
    ("no such", "there is no"), ("unexpected", "not expected"), ("aborted", "given up"), ("unhealthy", "not healthy"),
)  # fmt: skip
"""Pairs of words that say the same."""

_WORDS = dict(_SYNONYMS)
_ANY_WORD = re.compile("|".join(re.escape(old) for old, _ in _SYNONYMS), re.IGNORECASE)


def in_lower_case(line: str) -> str:
    """The message in lower case."""
    return _of_message(line, str.lower)


def in_other_words(line: str) -> str:
    """Synonyms for what goes wrong."""
    return _of_message(line, lambda message: _ANY_WORD.sub(lambda found: _WORDS[found.group().lower()], message))


def in_other_order(line: str) -> str:
    """Fields the other way round: keys of an object, or ``key=value`` pairs."""
    record = _object(line)
    if record is not None:
        return json.dumps(dict(reversed(record.items())))
    if _FIXED.search(line):
        return line
    pairs = _PAIR.findall(line)[::-1]
    return _PAIR.sub(lambda _found: pairs.pop(0), line) if len(pairs) > 1 else line


def as_json(line: str) -> str:
    """A plain line as an object, as structured loggers write it."""
    found = _STAMP.match(line)
    if found is None or _FIXED.search(line) or _object(line) is not None:
        return line
    level = _LEVEL.search(line)
    told = f"{found['process'] or ''}{found['rest']}"
    return json.dumps({"ts": found["time"], "severity": level.group().lower() if level else "info", "msg": told})


def after_other_prefix(line: str) -> str:
    """Another logger's name and thread before the message."""
    return _of_message(line, lambda message: f"[worker-3] app.core.main - {message}")


WAYS: dict[str, Callable[[str], str]] = {
    "lower case": in_lower_case,
    "other words": in_other_words,
    "other order": in_other_order,
    "as JSON": as_json,
    "other prefix": after_other_prefix,
}
"""Ways to say a line otherwise."""


def wrapped(text: bytes, runtime: str, container: str) -> bytes:
    """A log as a container runtime keeps it.

    :param runtime: ``cri`` (``TIME stdout F LINE``), ``docker`` (JSON), ``compose`` (``NAME | LINE``). The first two put a time
        before each line, here that of the line itself or of the one before it; a log whose first line has none, and what is
        no program's own output, is left alone
    :param container: whose log it is, as Compose writes it before each line
    """
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    first = next((line for line in lines if line.strip()), "")
    if _is_interface(lines) or (runtime != "compose" and _ISO.search(first) is None):
        return text
    out, stamp = [], ""
    for line in lines:
        found = _ISO.search(line)
        stamp = _as_utc(found.group()) if found else stamp
        out.append(_wrapped(line, stamp, runtime, container) if line else line)
    return "\n".join(out).encode("utf-8", "surrogateescape")


def _wrapped(line: str, stamp: str, runtime: str, container: str) -> str:
    if runtime == "compose":
        return f"{container}  | {line}"
    if runtime == "cri":
        return f"{stamp} stdout F {line}"
    return json.dumps({"log": f"{line}\n", "stream": "stdout", "time": stamp}, separators=(",", ":"))


def _as_utc(stamp: str) -> str:
    """A time as runtimes write it; without a zone it is UTC."""
    text = stamp.replace(" ", "T")
    return text if text[-1] == "Z" or "+" in text else f"{text}Z"


_INTERFACE = re.compile(r'\bkernel:|NVRM:|\s(?:Normal|Warning)\s+[A-Z]\w+\s|^\{"apiVersion')


def _is_interface(lines: list[str]) -> bool:
    """Whether a log is cluster events or a kernel's, which no container runtime writes."""
    told = [line for line in lines[:50] if line.strip()]
    return sum(bool(_INTERFACE.search(line)) for line in told) > len(told) / 2


def _of_message(line: str, change: Callable[[str], str]) -> str:
    """A line whose message is said otherwise; its stamp and what has the form of an interface stay."""
    record = _object(line)
    if record is not None:
        key = next((key for key in ("msg", "message", "event") if isinstance(record.get(key), str)), None)
        return line if key is None else json.dumps({**record, key: change(str(record[key]))})
    found = _STAMP.match(line)
    if found is None or _FIXED.search(line):
        return line
    return f"{found['stamp']} {change(found['rest'])}"


def _object(line: str) -> dict[str, object] | None:
    """A line that is one JSON object and no cluster event; None if it is none."""
    if not line.startswith("{") or '"involvedObject"' in line or '"regarding"' in line:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
