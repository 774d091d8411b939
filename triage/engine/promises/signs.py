"""The vital signs that are always told: what nobody measures is said to be so, and how full the KV cache is.

They tell, and judge nothing: the state of the service rests on the ledger alone.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from triage.engine.derived.arithmetic import total
from triage.engine.frame import Frame
from triage.engine.promises.entries import is_stale, now, open_vital, service_of
from triage.engine.promises.table import DELAYS, FULL
from triage.engine.queries import reckoned
from triage.engine.sparks import spark_of
from triage.engine.statistics import together
from triage.model.diagnosis import NOT_MEASURED, Promised, Vital
from triage.model.recording import Floats
from triage.model.units import quantity
from triage.model.vocabulary import Combine

_ALWAYS = (
    *((delay.base, delay.name, f"{delay.title} (p95)", "seconds") for delay in DELAYS),
    ("error", "error_ratio", "share of failed requests", "ratio"),
    ("queue", "queue_wait_s", "wait of a newcomer at the engines", "seconds"),
)
"""How the names begin of which one is there if it is measured; name, title and unit of the sign if none is."""

_ROOM = 0.9
"""Below this share no cache throws anything out: a sequence of a tenth of the whole still fits."""


def signs(frame: Frame, told: Sequence[Vital]) -> tuple[Vital, ...]:
    """What people ask for first and the ledger does not tell of, of the service as a whole.

    :param told: the ledger
    """
    whole = service_of(frame)
    known = [vital.name for vital in told if vital.subject == whole]
    missing = [rest for start, *rest in _ALWAYS if not any(name.startswith(start) for name in known)]
    measured = {delay.name for delay in DELAYS if any(map(frame.has, delay.signals))}
    unseen = [
        open_vital(frame, name, title, NOT_MEASURED, unit=unit, noticed=False)
        for name, title, unit in missing
        if name not in measured
    ]
    return (*unseen, *_cache(frame))


def _cache(frame: Frame) -> Iterator[Vital]:
    """How full the fullest KV cache is. That alone is no fault; that running requests are thrown out of it is."""
    about: dict[str, Any] = {"name": "kv_cache", "title": "KV cache in use (fullest replica)", "unit": "ratio", "noticed": False}
    rows = frame.of("kv.usage")
    cells = together(list(rows.values()), Combine.MAX) if rows else None
    if cells is None or np.isnan(cells[frame.grid.window]).all():
        yield Vital(**about, subject=service_of(frame), state=Promised.OPEN, reason=NOT_MEASURED)
        return
    state, reason = _room(cells, frame)
    lately = cells[now(frame, ("kv.usage",))]
    before = cells[frame.grid.baseline]
    by_hand = partial(reckoned, frame, "kv.usage", frame.subjects_of("kv.usage"), "max", across=Combine.MAX)
    more: dict[str, Any] = {
        "value": float(np.nanmax(cells[frame.grid.window])),
        "now": None if np.isnan(lately).all() else float(np.nanmax(lately)),
        "baseline": None if np.isnan(before).all() else float(np.nanmax(before)),
        "spark": spark_of(cells, frame.grid, None),
    }
    vital = Vital(**about, **more, subject=service_of(frame), state=state, reason=reason)
    yield vital.reckoned_by(by_hand)


def _room(cells: Floats, frame: Frame) -> tuple[Promised, str]:
    """Whether what runs keeps its place in the cache now."""
    span = now(frame, ("kv.usage",))
    if is_stale(frame, ("kv.usage",)) or np.isnan(cells[span]).all():
        return Promised.OPEN, "its last values are older than a few scrapes"
    thrown = total(frame, "preemptions")
    full = float(np.nanmax(cells[span]))
    rate = None if thrown is None or np.isnan(thrown[span]).all() else float(np.nanmean(thrown[span]))
    if rate is not None and rate > 0 and full >= FULL:
        return Promised.BROKEN, f"it is full, and {quantity(rate, 'requests/s')} are thrown out of it"
    if full < _ROOM or rate == 0:
        return Promised.KEPT, ""
    return Promised.OPEN, "it is nearly full, and nobody counts what is thrown out of it"
