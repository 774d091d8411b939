"""Rewrites a log line so that it says the same in other words: for sweeps that ask whether a meaning hangs on a wording."""

import json
import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from triage.patterns import Pattern

_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    r"out of memory": ("oom", "not enough memory", "OutOfMemory"),
    r"no space left on device": ("ENOSPC", "disk is full"),
    r"timed out": ("timeout", "deadline exceeded"),
    r"context deadline exceeded": ("timed out", "i/o timeout"),
    r"connection refused": ("ECONNREFUSED, connection refused", "could not connect, connection refused"),
    r"failed to": ("could not", "unable to", "cannot"),
    r"unable to": ("failed to", "could not"),
    r"could ?n[o']t": ("cannot", "failed to"),
    r"not found": ("does not exist", "missing"),
    r"died unexpectedly": ("exited unexpectedly, died", "died"),
    r"falling back to": ("reverting to", "fallback to"),
    r"certificate has expired": ("certificate expired", "expired certificate"),
    r"too many open files": ("EMFILE", "too many open files (24)"),
    r"no such host": ("name resolution failed, no such host", "NXDOMAIN"),
    r"dropped": ("discarded", "dropped"),
    r"doesn't|don't": ("does not", "do not"),
})  # fmt: skip
"""Words and other words for them, in lower case."""

_REPLACED = tuple((Pattern(f"(?i){words}"), others) for words, others in _SYNONYMS.items())
_FIELD = Pattern(r"(?:^| )([A-Za-z_][\w.]*=(?:\"[^\"]*\"|[^\s,\"]+))")
_HEAD = Pattern(r"^(?:\([^)]{1,60}\) )?(?:\[[^\]]{1,60}\] )?(?:[A-Z]{4,8} +)?(?:\d{2}-\d{2} \d\d:\d\d:\d\d )(?:\[[\w./]+:\d+\] )")
"""The head of a Python logger with process, level, stamp and place."""

Rewrite = Callable[[str, random.Random], str]


def _reworded(line: str, chance: random.Random) -> str:
    """Words changed for others of the same meaning."""
    for pattern, others in _REPLACED:
        if pattern.search(line) is not None:
            line = pattern.sub(chance.choice(others), line)
    return line


def _reordered(line: str, chance: random.Random) -> str:
    """The fields ``key=value`` of a line in another order, what lies between them as it was."""
    spans = [found.span(1) for found in _FIELD.finditer(line)]
    fields = [line[begin:end] for begin, end in spans]
    chance.shuffle(fields)
    parts, at = [], 0
    for (begin, end), one in zip(spans, fields, strict=True):
        parts += [line[at:begin], one]
        at = end
    return "".join([*parts, line[at:]])


def _lower(line: str, _: random.Random) -> str:
    return line.lower()


def _upper(line: str, _: random.Random) -> str:
    return line.upper()


def _in_json(line: str, chance: random.Random) -> str:
    """The line as the message of a JSON record."""
    key, level = chance.choice(("msg", "message", "log", "event")), chance.choice(("level", "severity"))
    return json.dumps({level: "info", key: line, "logger": "app"})


def _prefixed(line: str, chance: random.Random) -> str:
    """The line behind what another logger or runtime writes first."""
    return chance.choice(("app | ", "[worker-0] ", "svc.main: ", "pod/llm-0 engine ")) + line


def _beheaded(line: str, _: random.Random) -> str:
    """The line without the head that a Python logger wrote."""
    rest: str = _HEAD.sub("", line)
    return rest


_REWRITES: tuple[Rewrite, ...] = (_lower, _upper, _reworded, _reordered, _in_json, _prefixed, _beheaded)


def paraphrased(line: str, seed: int) -> str:
    """The same line in other words: case, synonyms, order of fields, head and wrapping; the same for the same seed.

    A stamp at the begin of the line stays where it was read, except behind another prefix or in JSON.
    """
    chance = random.Random(f"{seed}:{line}")  # noqa: S311 - nothing here is secret
    chosen = chance.sample(range(len(_REWRITES)), chance.randint(1, 3))
    for number in sorted(chosen, key=lambda one: (one in (4, 5), one in (0, 1), one)):
        line = _REWRITES[number](line, chance)
    return line
