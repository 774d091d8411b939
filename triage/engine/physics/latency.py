"""Where the time of a request goes: parts of time to first token and of the whole. Cells are NaN where an input is unknown."""

import numpy as np

from triage.model.recording import Floats


def share(part: Floats, whole: Floats) -> Floats:
    """A part of a time as a share of the whole, from 0 to 1, shape (N,); NaN where the whole is nothing.

    Means of part and whole come from two histograms that are not filled at the same moment, so a share may come out a little
    above 1; it is cut there.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, np.clip(part / whole, 0.0, 1.0), np.nan)


def rest(whole: Floats, *parts: Floats) -> Floats:
    """What no part accounts for, in the unit of the whole, never negative, shape (N,)."""
    left = whole.copy()
    for part in parts:
        left = left - part
    return np.clip(left, 0.0, None)
