"""One look at a service, to learn how its sources are laid out."""

from dataclasses import replace

from triage.engine.belonging import without_others
from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.model.recording import LOG, Recording


def measured(recording: Recording) -> Frame:
    """A frame of what a metrics server has: no lines, no events, and nothing that a witness takes back."""
    alone = without_others(recording)
    frame = Frame(
        replace(
            alone,
            series=sorted((one for one in alone.series if one.origin.dialect != LOG), key=lambda one: (one.signal, one.subject)),
            histograms=sorted(
                (one for one in alone.histograms if one.origin.dialect != LOG), key=lambda one: (one.signal, one.subject)
            ),
            events=(),
        )
    )
    derive(frame)
    return frame
