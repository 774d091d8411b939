"""Documents of JSON and YAML in a text: what tools print with ``-o json`` and ``-o yaml``, and what APIs answer."""

import json
from collections.abc import Callable

from triage.ingest.logs.shown.form import ONE_LINE, Shown, Take
from triage.patterns import Pattern

MAX_BYTES = 4 << 20
"""Bytes of one document inside a text that are kept until its end."""

_MAX_YAML = 256 * 1024
"""Bytes of YAML: it is a hundred times slower to read than JSON."""

_JSON = Pattern(rb"^(?:\{|\[|\[\{)\s*$")
_ONE_LINE = Pattern(ONE_LINE)
_YAML = Pattern(rb"^(?:- )?apiVersion: \S+\s*$")
_KEY = Pattern(rb"^(?:[A-Za-z][\w.-]*:(?: |$)|-|#| +\S|\s*$)")

Reads = Callable[[object, Shown], int]
"""Takes a value; returns how much of it was known."""


def begins_json(line: bytes) -> bool:
    """Whether a line begins a document of JSON."""
    return _JSON.search(line) is not None


def is_read(line: bytes, shown: Shown, reads: Reads) -> bool:
    """Reads a line that is a whole document; false if it is none that is known."""
    if _ONE_LINE.search(line) is None:
        return False
    try:
        return reads(json.loads(line), shown) > 0
    except (ValueError, RecursionError):
        return False


def begins_yaml(line: bytes) -> bool:
    """Whether a line begins an object of the cluster in YAML."""
    return _YAML.search(line) is not None


class JsonDocument:
    """Keeps the lines of a document up to its last bracket, at the margin as the first one, and has the value read."""

    def __init__(self, shown: Shown, reads: Reads) -> None:
        self._shown = shown
        self._reads = reads
        self._lines: list[bytes] = []
        self._size = 0
        self._ended = False

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line."""
        del stamped
        if self._ended or self._size > MAX_BYTES:
            return Take.OVER
        self._lines.append(line)
        self._size += len(line) + 1
        self._ended = line[:1] in {b"}", b"]"}
        return Take.WHOLE

    def finish(self) -> None:
        """Has the value read."""
        try:
            value = json.loads(b"\n".join(self._lines))
        except (ValueError, RecursionError):
            self._shown.unread(self._lines)
            return
        if not self._reads(value, self._shown):
            self._shown.unread(self._lines)


class YamlDocument:
    """Keeps the lines of objects up to the first line that can be none of theirs, and has them read."""

    def __init__(self, shown: Shown, reads: Reads) -> None:
        self._shown = shown
        self._reads = reads
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line."""
        del stamped  # a message in an object may begin with a stamp
        if self._size > _MAX_YAML or _KEY.search(line) is None:
            return Take.OVER
        self._lines.append(line)
        self._size += len(line) + 1
        return Take.WHOLE

    def finish(self) -> None:
        """Has the objects read, each of them by itself."""
        from triage import yamltext

        known = 0
        for text in _documents(self._lines):
            try:
                known += self._reads(yamltext.load(text), self._shown)
            except yamltext.YamlError:
                continue
        if not known:
            self._shown.unread(self._lines)


def _documents(lines: list[bytes]) -> list[bytes]:
    """The documents that lines of dashes set apart."""
    out: list[list[bytes]] = [[]]
    for line in lines:
        if line.startswith(b"---"):
            out.append([])
        else:
            out[-1].append(line)
    return [b"\n".join(part) for part in out if part]
