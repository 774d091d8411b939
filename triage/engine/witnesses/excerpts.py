"""Access logs of which somebody kept a part: their lines tell how a request went, and never how many there were.

Those that tell of a failure are kept in any case: so many failed at least.
"""

import numpy as np

from triage.engine.derived.arithmetic import first_measured, total
from triage.engine.frame import Frame
from triage.engine.witnesses.voices import Voices
from triage.model.observation import Seen
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import GATEWAY_FAILURES, Scope

_COUNTED = "gateway.requests"
_LINES = "gateway.log_lines"
_ELSEWHERE = ("backend.requests", "gateway.upstream_requests", "finished")
"""Who else counts the requests of a gateway, the nearest first."""

_SAMPLED = 1 / 20
"""A gateway may log one request in ten, and such a sample keeps the shares; who has far fewer lines was cut out by hand."""


def excerpts(frame: Frame, _voices: Voices) -> Seen:
    """Makes the rates unknown that were counted from an excerpt of an access log, but those of failures: nobody's fault."""
    elsewhere = first_measured(*(total(frame, name) for name in _ELSEWHERE))
    if elsewhere is None:
        return Seen()
    for subject in frame.recording.subjects[Scope.GATEWAY]:
        lines = frame.cells(_COUNTED, subject)
        if lines is not None and _is_of_log(frame, _COUNTED, subject) and _is_far_fewer(lines, elsewhere):
            for signal in _counts_of(frame, subject):
                frame.forget(signal, subject, -np.inf, np.inf)
    return Seen()


def _is_far_fewer(lines: Floats, elsewhere: Floats) -> bool:
    """Whether a log counts far fewer requests than another source, where both speak."""
    both = ~np.isnan(lines) & ~np.isnan(elsewhere)
    return bool(both.any()) and float(lines[both].sum()) < _SAMPLED * float(elsewhere[both].sum())


def _counts_of(frame: Frame, subject: Subject) -> list[str]:
    """The rates of a gateway that were counted from its access lines, and that more lines would have made another."""
    counted = [signal for signal, whose in frame.origins if whose == subject and _is_of_log(frame, signal, subject)]
    return sorted(signal for signal in counted if signal not in GATEWAY_FAILURES)


def _is_of_log(frame: Frame, signal: str, subject: Subject) -> bool:
    return frame.origins.dialect_of(signal, subject) == "log" and signal != _LINES
