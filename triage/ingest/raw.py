"""What a source says before a dialect has read it: samples by name and labels."""

from collections.abc import Mapping

from triage.classes import dataclass
from triage.model.recording import Floats


@dataclass(frozen=True, slots=True)
class RawSeries:
    """One series of a source.

    :param name: the source's own name, ``_bucket``, ``_sum``, ``_count`` and ``_total`` included
    :param labels: all labels, scrape labels (job, instance) included
    :param times: Unix seconds, ascending, shape (T,)
    :param values: shape (T,)
    :param added: labels that whoever collected it put on: no server knows them
    :param shown_at: URL of the exposition that it was read from; empty where a server was asked
    :param rate: values are already per second (a server computed them) instead of a running total
    """

    name: str
    labels: Mapping[str, str]
    times: Floats
    values: Floats
    rate: bool = False
    added: frozenset[str] = frozenset()
    shown_at: str = ""
