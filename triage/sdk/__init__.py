"""The only package of triage that a collector imports; docs/collectors.md explains it and has a whole example.

A collector is a Python file that exposes one object, ``collector``, with the shape of :class:`Collector`. It reads one kind of
source and returns a recording of what it saw; it knows no rule. It reads only, and it leaves no trace.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from threading import Event as StopSignal
from typing import Final, Protocol, runtime_checkable

from triage.background import in_background
from triage.classes import dataclass
from triage.errors import TriageError
from triage.ingest import http
from triage.ingest.files.texts import read_logs
from triage.ingest.host.sampling import Reading, Samples, beats
from triage.ingest.logs import LogReading
from triage.ingest.logs.changes import read_changes
from triage.ingest.logs.loading import Signatures, load_signatures
from triage.ingest.metrics import openmetrics
from triage.ingest.metrics.translate import translate
from triage.ingest.raw import RawSeries
from triage.model.dialect import Dialect
from triage.model.recording import Event, Fact, Floats, Histogram, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.service import Service
from triage.model.vocabulary import Kind, Scope, Signal, catalogue

__all__ = [
    "VERSION",
    "Collector",
    "Dialect",
    "Event",
    "Fact",
    "Floats",
    "Histogram",
    "Kind",
    "LogReading",
    "Origin",
    "RawSeries",
    "Reading",
    "Recording",
    "Request",
    "Samples",
    "Scope",
    "Series",
    "Service",
    "Signal",
    "Signatures",
    "Source",
    "SourceState",
    "StopSignal",
    "Subject",
    "TriageError",
    "Window",
    "beats",
    "catalogue",
    "http",
    "in_background",
    "openmetrics",
    "read_changes",
    "read_logs",
    "translate",
]


VERSION: Final = (1, 3)
"""Version of this package: the first number changes when a collector that worked may work no longer, the second when something is
added. All that ``__all__`` names belongs to it, and nothing else."""


def _silent(message: str, done: float) -> None:
    """Progress that nobody watches."""


def _unheard(make: Callable[[], Recording]) -> None:
    """What was sampled so far, where nobody asks for it."""


@dataclass(frozen=True)
class Request:
    """What is asked of a collector.

    :param service: name, addresses, labels, own metric names
    :param window: the span to read; of a sampler its end lies in the future and it samples until then
    :param step: wanted distance of samples, seconds
    :param timeout: longest wait for one answer, seconds
    :param dialects: how to read metric names
    :param environ: environment variables (credentials come from here, never from the command line)
    :param progress: is told what happens, and how far it is (0 to 1)
    :param stop: set when the user has had enough; return what there is
    :param signatures: what lines of logs and Xids mean
    :param clock: current Unix time
    :param earlier: what is known from looks before, while a service is watched: who answered then is asked again, though nothing
        else tells of it now; None at the first look
    :param so_far: of a sampler, after each beat from the second on: is given what makes the recording of all that was sampled
        until then. It is called at once, or not at all
    """

    service: Service
    window: Window
    step: float
    timeout: float
    dialects: tuple[Dialect, ...]
    clock: Callable[[], float]
    environ: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str, float], None] = _silent
    stop: StopSignal = field(default_factory=StopSignal)
    signatures: Signatures = field(default_factory=load_signatures)
    earlier: Recording | None = None
    so_far: Callable[[Callable[[], Recording]], None] = _unheard


@runtime_checkable
class Collector(Protocol):
    """One kind of source.

    :param name: the file's stem; appears in coverage
    :param sees: one sentence on what it can see
    """

    name: str
    sees: str

    def wanted(self, request: Request) -> str:
        """Empty if this source can be asked for this request, else one sentence on why not (what to configure)."""
        ...

    def collect(self, request: Request) -> Recording:
        """Read the source. What fails in part is said in ``Recording.sources``; what fails as a whole raises."""
        ...
