"""Texts as people hand them over: logs, and the metrics that somebody copied into them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from triage.ingest.logs import LogReading
from triage.ingest.logs import read_logs as read_lines
from triage.ingest.logs.emitters import Subjects
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.model.dialect import Dialect
from triage.model.recording import Window


def read_logs(
    paths: Sequence[Path],
    window: Window,
    service: str,
    subjects: Subjects = lambda _: None,
    *,
    utc_offset: float = 0.0,
    alone: bool = False,
    signatures: Signatures | None = None,
    dialects: Sequence[Dialect] = (),
) -> LogReading:
    """Reads logs, as :func:`triage.ingest.logs.read_logs` does, and the metrics in them.

    :param dialects: how metrics are read that were copied into a log; they are left out if not given
    """
    told = signatures or load_signatures()
    reading = read_lines(paths, window, service, subjects, utc_offset=utc_offset, alone=alone, signatures=told)
    if not reading.exposed or not dialects:
        return reading
    from triage.ingest.metrics.copied import measured

    copied = measured(reading.exposed, window, service, dialects, told)
    return replace(
        reading,
        series=(*reading.series, *copied.series),
        histograms=(*reading.histograms, *copied.histograms),
        facts=(*reading.facts, *copied.facts),
    )
