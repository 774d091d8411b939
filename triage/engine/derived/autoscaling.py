"""Whether what the autoscaler follows is what its replicas show."""

import numpy as np

from triage.engine.derived.arithmetic import quotient
from triage.engine.derived.derivation import Derivation
from triage.engine.frame import Frame
from triage.engine.statistics import together
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Combine

_LEAST_VALUE = 0.01
"""Keeps a target of zero from dividing; a controller has none below a hundredth."""

_FOLLOWS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("cache", "kv", "token_usage", "token_util"), ("kv.fill",)),
    (("gpu", "dcgm", "sm_", "nvml", "accelerator"), ("gpu.util", "gpu.engine_active", "gpu.sm_active", "gpu.mem_ratio")),
)
"""Words in the name of an autoscaler's metric, and the ratios that such a metric is made of."""

_SHARE_WORDS = ("usage", "util", "perc", "ratio", "occupancy", "saturation", "fill")


def autoscaler_share(frame: Frame, service: Subject) -> Floats | None:
    """The value that the autoscaler follows as a ratio; None if its metric is no ratio, as far as one can tell."""
    value, target = frame.cells("autoscaler.value", service), frame.cells("autoscaler.target", service)
    if value is None:
        return None
    name = str(frame.recording.fact("autoscaler_metric", service) or "").lower()
    aim = np.nan if target is None or np.isnan(target).all() else float(np.nanmax(target))
    share = any(word in name for word in _SHARE_WORDS)
    if aim < 1 or (aim == 1 and share):
        return value
    return value / 100.0 if share and aim <= 100 else None


def autoscaler_excess(frame: Frame, service: Subject) -> Floats | None:
    """The ratio that the autoscaler follows as a multiple of the greatest that any replica shows."""
    share = frame.cells("autoscaler.share", service)
    if share is None:
        return None
    name = str(frame.recording.fact("autoscaler_metric", service) or "").lower()
    told = [signals for words, signals in _FOLLOWS if any(word in name for word in words)]
    signals = told[0] if told else tuple(signal for _, signals in _FOLLOWS for signal in signals)
    rows = [cells for signal in signals for cells in frame.of(signal).values()]
    if not rows:
        return None
    return quotient(share, np.clip(together(rows, Combine.MAX), _LEAST_VALUE, None))


DERIVATIONS = (
    Derivation("autoscaler.share", ("autoscaler.value", "autoscaler.target"), autoscaler_share),
    Derivation(
        "autoscaler.excess",
        ("autoscaler.share", *(signal for _, signals in _FOLLOWS for signal in signals)),
        autoscaler_excess,
    ),
)
