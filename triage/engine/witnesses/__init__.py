"""Which sources are to be believed: from the moment a witness fails its signals are unknown, and its failure is odd itself."""

from triage.engine.frame import Frame
from triage.model.observation import Seen


def question(frame: Frame) -> Seen:
    """Makes the signals of failed witnesses unknown, and says who failed and how."""
    del frame
    return Seen()
