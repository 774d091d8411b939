"""The course of a load test, as Locust keeps it: a row for each moment, with the load and the quantiles of what requests took."""

import csv

import numpy as np

from triage.ingest.logs.redaction import redacted_bytes
from triage.ingest.logs.shown.form import Shown, Spread, Take
from triage.ingest.logs.shown.quantities import quantity
from triage.model.recording import Subject
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

_COLUMNS = frozenset({"User Count", "Requests/s"})
_SHARE = Pattern(r"^(\d{1,2}(?:\.\d+)?)%$")
_MILLI = 1e-3
_MAX_COLUMNS = 100


def begins(line: bytes) -> bool:
    """Whether a line heads the columns of a load test's course."""
    return line.count(b",") >= len(_COLUMNS) and frozenset(_cells(line)) >= _COLUMNS


def _cells(line: bytes) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([redacted_bytes(line, 4000)]), [])[:_MAX_COLUMNS]]


class LoadTest:
    """Reads the rows below the heading; of several requests by name the sum of them all counts."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._names: list[str] = []

    def feed(self, line: bytes, *, stamped: bool) -> Take:  # noqa: ARG002 - each row begins with its own stamp
        """Takes the heading or a row."""
        cells = _cells(line)
        if begins(line):
            self._names = cells
            return Take.WHOLE
        if len(cells) != len(self._names):
            return Take.OVER
        row = dict(zip(self._names, cells, strict=True))
        if row.get("Name", "Aggregated") == "Aggregated":
            self._row(row)
        return Take.WHOLE

    def _row(self, row: dict[str, str]) -> None:
        rate = quantity(row.get("Requests/s", ""))
        told = {float(name[:-1]) / 100.0: quantity(text, "ms") for name, text in row.items() if _SHARE.search(name) is not None}
        quantiles = sorted((share, value) for share, value in told.items() if value)
        if rate is None:
            return
        shown = self._shown
        client = shown.home if shown.home.scope is Scope.CLIENT else Subject(Scope.CLIENT, "loadtest")
        shown.sample("requests.attempts", client, rate)
        shown.sample("requests.failed", client, quantity(row.get("Failures/s", "")))
        rising = [pair for at, pair in enumerate(quantiles) if all(pair[1] > before for _, before in quantiles[:at])]
        if not rising or rate <= 0.0:
            return
        shares, bounds = np.array([share for share, _ in rising]), np.array([value for _, value in rising])
        middle = float(bounds[int(np.searchsorted(shares, 0.5).clip(0, len(bounds) - 1))])
        shown.spread(Spread("client.latency", bounds, np.diff(shares, prepend=0.0, append=1.0), middle), client, rate)
        shown.sample("client.active", client, rate * middle)

    def finish(self) -> None:
        """Nothing waits."""
