"""Queues: what goes in, what comes out, what stays. Cells are NaN where an input is unknown.

All of it holds for any queue whatever its order and its distributions: Little's law and the conservation of requests.
"""

import numpy as np

from triage.model.recording import Floats


def held_ratio(held: Floats, throughput: Floats, residence: Floats) -> Floats:
    """Requests inside as a multiple of throughput × time inside (Little, Operations Research 1961), shape (N,).

    About 1 in a steady state. Well above 1, more is inside than what leaves accounts for: work piles up, or something
    inside never leaves. Well below 1, a reading is wrong: the three were not measured on the same requests.

    :param held: requests inside, mean over a while
    :param throughput: requests per second that left in that while
    :param residence: mean seconds that those had been inside
    """
    flow = throughput * residence
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(flow > 0, held / flow, np.nan)


def growth(held: Floats, step: float, width: int) -> Floats:
    """Change of a stock per second over the last ``width`` cells, shape (…, N); negative where it shrinks.

    :param held: requests inside, shape (…, N)
    :param step: seconds a cell
    """
    out = np.full(held.shape, np.nan)
    if held.shape[-1] > width:
        out[..., width:] = (held[..., width:] - held[..., :-width]) / (width * step)
    return out


def surplus(arrivals: Floats, completions: Floats) -> Floats:
    """Requests per second that come and do not leave, shape (N,): what a backlog grows by, however it is hidden."""
    return arrivals - completions


def lost(arrivals: Floats, completions: Floats, grown: Floats) -> Floats:
    """Requests per second that came, did not leave and are not inside, shape (N,): 0 where requests are conserved.

    Positive where requests vanish between two places of measurement, negative where they multiply there.
    """
    return arrivals - completions - grown


def offered_load(arrivals: Floats, service_time: Floats, places: Floats) -> Floats:
    """Work that comes per second as a share of what the places can do, shape (N,); above 1 a queue grows without end.

    Service times of an engine grow with its batch, so this is the load at the batch of the moment, no fixed capacity.

    :param arrivals: requests per second
    :param service_time: seconds that a request occupies a place
    :param places: requests that can be served at once
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(places > 0, arrivals * service_time / places, np.nan)
