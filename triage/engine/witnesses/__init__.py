"""Which sources are to be believed: from the moment a witness fails its signals are unknown, and its failure is odd itself."""

from collections.abc import Callable

from triage.engine.frame import Frame
from triage.engine.witnesses.bounds import beyond_bounds
from triage.engine.witnesses.excerpts import excerpts
from triage.engine.witnesses.lines import line_gaps
from triage.engine.witnesses.metrics import lost_metrics
from triage.engine.witnesses.silence import silences
from triage.engine.witnesses.starts import several_processes
from triage.engine.witnesses.still import frozen_voices
from triage.engine.witnesses.twins import unwired
from triage.engine.witnesses.voices import Voices
from triage.model.observation import Seen

Witness = Callable[[Frame, Voices], Seen]

WITNESSES: tuple[Witness, ...] = (
    frozen_voices,
    several_processes,
    beyond_bounds,
    silences,
    excerpts,
    unwired,
    lost_metrics,
    line_gaps,
)
"""In the order in which they are questioned: what an earlier one has made unknown a later one does not judge."""


def question(frame: Frame) -> Seen:
    """Makes the signals of failed witnesses unknown, and says who failed and how."""
    voices = Voices(frame)
    seen = Seen()
    for witness in WITNESSES:
        seen = seen + witness(frame, voices)
    return seen
