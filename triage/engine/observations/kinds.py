"""Who is of one kind with whom, so that they can be held against each other."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from triage.engine.derived.fleet import own_fact, role_of
from triage.engine.frame import Frame
from triage.model.recording import Subject
from triage.model.vocabulary import Scope

Places = npt.NDArray[np.int64]


def places_by_kind(frame: Frame, scope: Scope, subjects: Sequence[Subject]) -> Sequence[Places]:
    """Places of those subjects that are of a scope, by their kind; remembered, since many signals have the same subjects."""
    key = ("places by kind", scope, tuple(subjects))
    return frame.remembered(key, lambda: _places_by_kind(frame, scope, subjects))


def _places_by_kind(frame: Frame, scope: Scope, subjects: Sequence[Subject]) -> Sequence[Places]:
    grouped: dict[tuple[str, str], list[int]] = {}
    for place, subject in enumerate(subjects):
        if subject.scope is scope:
            grouped.setdefault(_kind_of(frame, subject), []).append(place)
    return [np.array(places) for places in grouped.values()]


def _kind_of(frame: Frame, subject: Subject) -> tuple[str, str]:
    """What twins have in common: their part of the work and the kind of their cards."""
    return frame.remembered(("twin", subject), lambda: _kind(frame, subject))


def _kind(frame: Frame, subject: Subject) -> tuple[str, str]:
    """The kind of a subject worked out."""
    cards = [subject] if subject.scope is Scope.GPU else frame.related(subject, Scope.GPU)
    models = {str(model) for card in cards if (model := own_fact(frame, card, "gpu_model")) is not None}
    return role_of(frame, subject) if subject.scope is Scope.REPLICA else "", " ".join(sorted(models))
