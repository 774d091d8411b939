"""Metrics that stand in a text, as a scrape of the moment at which they were copied."""

from collections.abc import Iterable, Sequence

from triage.errors import DataError
from triage.ingest.logs.loading import Signatures
from triage.ingest.logs.shown import Exposed
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import gathered, labelled
from triage.model.dialect import Dialect
from triage.model.recording import Recording, Window
from triage.model.service import Service


def measured(
    exposed: Iterable[Exposed], window: Window, service: str, dialects: Sequence[Dialect], signatures: Signatures
) -> Recording:
    """What was copied, as a recording. What is missing in it was cut away by whoever copied, and says nothing."""
    parts = []
    copied = list(exposed)
    headings = {one.heading for one in copied}
    for one in copied:
        try:
            series = parse(one.data, one.time).series
        except DataError:
            continue
        engine = _named(one) if len(headings) > 1 else one.engine
        parts.append(labelled(series, {"service": service, "instance": engine, "job": one.engine}))
    return translate(gathered(parts), dialects, Service(name=service), window, signatures)


def _named(one: Exposed) -> str:
    """Whose the metrics are, where each of several copies stands below a heading: a port, or a name."""
    return f"{one.engine}:{one.heading}" if one.heading.isdigit() else one.heading or one.engine
