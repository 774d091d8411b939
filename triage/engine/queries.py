"""How to look at a value by hand: the PromQL of a statistic."""

from collections.abc import Sequence

from triage.engine.frame import Frame
from triage.engine.statistics import QUANTILES
from triage.model.recording import Origin, Subject
from triage.model.rule import Stat
from triage.model.vocabulary import Kind, catalogue

_OVER_TIME = {
    "mean": "avg_over_time", "min": "min_over_time", "max": "max_over_time", "last": "last_over_time", "first": "min_over_time",
    "sum": "sum_over_time", "slope": "deriv", "changes": "changes", "spread": "stddev_over_time",
}  # fmt: skip


def duration(seconds: float) -> str:
    """A span in PromQL's way, rounded to whole seconds."""
    whole = max(1, round(seconds))
    return f"{whole // 60}m" if whole % 60 == 0 else f"{whole}s"


def query_of(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat) -> str:
    """PromQL that gives a statistic over the window (to be asked at the window's end); empty where the source speaks none."""
    origins = [frame.origins.get((signal, subject)) for subject in subjects]
    origin = next((one for one in origins if one is not None and one.selector), None)
    if origin is None:
        return ""
    window = frame.recording.window
    text = _query(origin, catalogue()[signal].kind, stat, duration(window.end - window.start))
    return f"{text} * {origin.scale:g}" if origin.scale != 1.0 else text


def _query(origin: Origin, kind: Kind, stat: Stat, span: str) -> str:
    """PromQL of one series."""
    name, brace, matchers = origin.selector.partition("{")
    if kind is Kind.DISTRIBUTION:
        if stat in QUANTILES:
            return f"histogram_quantile({QUANTILES[stat]:g}, sum by (le) (rate({name}_bucket{brace}{matchers}[{span}])))"
        total, count = (f"sum(rate({name}_{part}{brace}{matchers}[{span}]))" for part in ("sum", "count"))
        return f"{total} / {count}"
    if origin.counter:
        return f"sum({'increase' if stat == 'sum' else 'rate'}({origin.selector}[{span}]))"
    if stat in QUANTILES:
        return f"quantile_over_time({QUANTILES[stat]:g}, {origin.selector}[{span}])"
    return f"{_OVER_TIME[stat]}({origin.selector}[{span}])"
