"""Metrics that somebody copied (``curl …/metrics``, whole or through ``grep``): kept as they stand, with their moment."""

from triage.ingest.logs.shown.form import Shown, Take
from triage.patterns import Pattern

MAX_BYTES = 8 << 20
"""Bytes of one exposition that are kept; engines write a tenth of a megabyte."""

_COMMENT = Pattern(rb"^# (?:HELP|TYPE|UNIT) [A-Za-z_:][\w:]* |^# EOF")
_SAMPLE = Pattern(rb"^[A-Za-z_:][\w:]*(?:\{.*\})? +(?:[+-]?[\d.]+(?:[eE][+-]?\d+)?|NaN|[+-]Inf)(?: +[\d.]+)?(?: # .*)?$")
_LABELLED = Pattern(rb'^[A-Za-z_:][\w:]*\{(?:[A-Za-z_]\w*="[^"]*",?)+\} +[+-]?[\d.]+(?:[eE][+-]?\d+)?$')


def begins(line: bytes) -> bool:
    """Whether a line is the first of an exposition: its comment, or a sample with labels."""
    return _COMMENT.search(line) is not None or _LABELLED.search(line) is not None


class Exposition:
    """Keeps the lines of an exposition up to the first one that is none."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, line: bytes, *, stamped: bool) -> Take:
        """Takes a line."""
        is_part = _COMMENT.search(line) is not None or _SAMPLE.search(line) is not None
        if stamped or not is_part or self._size > MAX_BYTES:
            return Take.OVER
        self._lines.append(line)
        self._size += len(line) + 1
        return Take.WHOLE

    def finish(self) -> None:
        """Hands over what was kept."""
        self._shown.exposed(b"\n".join([*self._lines, b""]))
