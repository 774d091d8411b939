"""What a server answers to the exported rules of a recording, and what our own evaluation says of the same data.

Both speak of one span: the ranges of the alerts are the recording's window and the time before it, and they are asked at its end.
Ours is asked of what a server has: samples, no lines and no events, and no witness who takes anything back. The recording is
moved by less than one step, so that its end falls on a whole one, as servers lay their steps.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.servers import Stored
from tests.test_queries import samples
from triage.engine.frame import Frame
from triage.engine.rules.evaluate import evaluate
from triage.engine.rules.loading import load_rules
from triage.export.conditions import expression
from triage.export.layout import Layout, layout_of
from triage.export.looking import measured
from triage.export.portable import portable, told_by
from triage.export.values import Times, Values
from triage.ingest.files.incident import read_incident
from triage.ingest.language import load_language
from triage.model.diagnosis import Verdict
from triage.model.rule import Rule


@cache
def exportable() -> tuple[Rule, ...]:
    """The rules that can be exported, each with what can be exported of it."""
    told = told_by(tuple(load_language().dialects))
    return tuple(part for rule in load_rules() if (part := portable(rule, told).rule) is not None)


@dataclass(frozen=True)
class Looked:
    """A recording as a server has it."""

    frame: Frame
    layout: Layout

    @property
    def times(self) -> Times:
        """The spans that the recording's own window and baseline have."""
        grid = self.frame.grid
        return Times((len(grid.times) - grid.first) * grid.step, grid.usual * grid.step, grid.step)

    @property
    def moved(self) -> float:
        """Seconds by which the samples are moved so that the end falls on a whole step."""
        return -self.end % self.frame.grid.step

    @property
    def end(self) -> float:
        """End of the window, Unix seconds."""
        return float(self.frame.grid.times[-1])

    def values(self, *, recorded: bool = False) -> Values:
        """What writes its expressions."""
        return Values(self.layout, self.times, recorded=recorded)


def look(case: Path, folder: Path) -> Looked:
    """A case without its logs and changes."""
    bare = folder / "bare" / case.name
    bare.mkdir(parents=True, exist_ok=True)
    for file in (case / "case.toml", *case.glob("metrics.om*")):
        shutil.copy(file, bare)
    frame = measured(read_incident(bare))
    return Looked(frame, layout_of(frame, load_language().dialects))


def moved(case: Path, seconds: float) -> bytes:
    """A case's samples as OpenMetrics, some seconds later."""
    told = [line.rpartition(b" ") for line in samples(case).splitlines()]
    return b"".join(b"%s %.3f\n" % (series, float(time) + seconds) for series, _, time in told)


def ours(looked: Looked, rules: Sequence[Rule]) -> dict[str, bool]:
    """Which rules are present by our own evaluation."""
    return {one.rule.id: one.verdict is Verdict.PRESENT for one in evaluate(looked.frame, rules, None)}


def theirs(looked: Looked, rules: Sequence[Rule], server: Stored, values: Values | None = None) -> dict[str, bool]:
    """Which rules fire by the server's.

    :param values: what wrote the recording rules, where the server holds what they keep
    """
    writer = values or looked.values()
    vectors = {rule.id: expression(rule, writer) for rule in rules}
    at = looked.end + looked.moved - server.moved
    return {name: vector is not None and bool(asked(server, vector.text, at)) for name, vector in vectors.items()}


def recorded(looked: Looked, rules: Sequence[Rule], server: Stored) -> tuple[Values, bytes]:
    """What recording rules keep over a recording, as a server works it out, in the text form that servers import."""
    values = looked.values(recorded=True)
    for rule in rules:
        expression(rule, values)
    end, times = looked.end + looked.moved - server.moved, looked.times
    form = {"start": end - times.window - times.baseline, "end": end, "step": times.step}
    lines = []
    for name, record in values.records.items():
        for one in _answered(server, "query_range", {"query": record.cell.text, **form}):
            labels = ",".join(
                f'{label}="{value}"' for label, value in {**one["metric"], "service": looked.layout.service}.items()
            )
            lines += [f"{name}{{{labels}}} {value} {round(float(at) * 1000)}" for at, value in one["values"]]
    return values, "\n".join(lines).encode()


def asked(server: Stored, query: str, at: float) -> list[tuple[dict[str, str], float]]:
    """A server's answer to an instant query: labels and values."""
    told = _answered(server, "query", {"query": query, "time": f"{at:.3f}"})
    return [(one["metric"], float(one["value"][1])) for one in told]


def _answered(server: Stored, way: str, form: Mapping[str, object]) -> list[dict[str, Any]]:
    parts = urlsplit(server.address)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    with closing(connection):
        body = urlencode({**form, "nocache": "1"})
        connection.request("POST", f"/api/v1/{way}", body, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        told = answer.read()
    assert answer.status == 200, f"{told.decode()[-400:]}\n{form['query']}"
    found: list[dict[str, Any]] = json.loads(told)["data"]["result"]
    return found
