"""Versions of one service side by side: whether the newest one fails where the others do not."""

from collections.abc import Iterable

import numpy as np

from triage.engine.derived.arithmetic import ratio, rolled
from triage.engine.derived.derivation import Derivation
from triage.engine.derived.fleet import VERSIONS_NEED, versions
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine

_COUNTED = (("backend.failures", "backend.requests"), ("http.5xx", "http.requests"), ("finished.error", "finished"))
_LEAST_REQUESTS = 5.0
"""Chosen: a share of fewer requests is moved by a fifth and more by each of them."""

_TOGETHER = 600.0
"""What fails later than this after the last request to an older version need not be the version's fault: load has changed."""


def version_failures(frame: Frame, _service: Subject) -> Floats | None:
    """Share of the requests to the newest version's replicas that fail, beyond the share that fails on the others.

    Known while the others are asked as well, and shortly after.
    """
    groups = versions(frame)
    if len(groups) < 2:
        return None
    newest = _failed(frame, groups[-1])
    older = _failed(frame, [replica for group in groups[:-1] for replica in group])
    if newest is None or older is None:
        return None
    asked = float(np.nansum(older[1])) * frame.grid.step
    share = ratio(*newest, frame)
    if asked < _LEAST_REQUESTS or share is None:
        return None
    usual = float(np.nansum(older[0])) * frame.grid.step / asked
    lately = rolled(older[1], max(1, round(_TOGETHER / frame.grid.step)))
    return np.where(lately > 0, np.clip(share - usual, 0.0, 1.0), np.nan)


def _failed(frame: Frame, replicas: Iterable[Subject]) -> tuple[Floats, Floats] | None:
    """Requests per second that some replicas failed and that they got; None if nobody counts them by replica."""
    pairs = [pair for replica in replicas if (pair := _counted(frame, replica)) is not None]
    if not pairs:
        return None
    return together([lost for lost, _ in pairs], Combine.SUM), together([got for _, got in pairs], Combine.SUM)


def _counted(frame: Frame, replica: Subject) -> tuple[Floats, Floats] | None:
    """Requests that one replica failed and got, by the first who counts both; a counter of failures may begin with the first."""
    for failed, asked in _COUNTED:
        got = frame.cells(asked, replica)
        if got is not None and frame.of(failed):
            lost = frame.cells(failed, replica)
            return np.where(np.isnan(got), np.nan, 0.0 if lost is None else np.nan_to_num(lost)), got
    return None


DERIVATIONS = (
    Derivation(
        "version.failures",
        (*VERSIONS_NEED, *(signal for pair in _COUNTED for signal in pair)),
        version_failures,
    ),
)
