"""What is odd, where, since when and until when: observers look at signals, events and facts, and know no rule."""

from collections.abc import Callable

from triage.engine.frame import Frame
from triage.engine.observations.changes import changes
from triage.engine.observations.coincidence import coincidences
from triage.engine.observations.drivers import drivers
from triage.engine.observations.flows import flows
from triage.engine.observations.identity import identity
from triage.engine.observations.lives import lives
from triage.engine.observations.outliers import outliers
from triage.engine.observations.promises import promises
from triage.engine.observations.said import said
from triage.engine.observations.shifts import shifts
from triage.model.observation import Seen

Observer = Callable[[Frame], Seen]

OBSERVERS: tuple[Observer, ...] = (promises, shifts, flows, lives, changes, outliers, drivers, coincidences, identity, said)
"""In the order in which they look: a later one may use what earlier ones saw (``frame.seen``)."""


def observe(frame: Frame) -> Seen:
    """What all observers see; ``frame.seen`` grows with each."""
    for observer in OBSERVERS:
        frame.seen = frame.seen + observer(frame)
    return frame.seen
