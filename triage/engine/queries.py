"""How to look at a value by hand: the PromQL of a statistic."""

import re
from collections.abc import Sequence
from functools import lru_cache

from triage.engine.frame import Frame
from triage.engine.statistics import MOMENT, QUANTILES
from triage.model.recording import Origin, Subject
from triage.model.rule import Stat
from triage.model.units import promql_duration
from triage.model.vocabulary import Combine, Kind, catalogue

_OVER_TIME = {
    "mean": "avg_over_time", "min": "min_over_time", "max": "max_over_time", "last": "last_over_time", "first": "min_over_time",
    "sum": "sum_over_time", "slope": "deriv", "changes": "changes", "spread": "stddev_over_time",
}  # fmt: skip
_EXTREMES = {"peak": "max_over_time", "trough": "min_over_time"}
_AGGREGATE = {Combine.SUM: "sum", Combine.MEAN: "avg", Combine.MAX: "max", Combine.MIN: "min"}
_MATCHER = re.compile(r'(\w+)(=~?|!~?)"((?:[^"\\]|\\.)*)"')

RATIOS: dict[str, tuple[str, str]] = {
    "requests.attempt_ratio": ("requests.attempts", "requests.distinct"),
    "requests.failed_ratio": ("requests.failed", "requests.distinct"),
    "requests.timeout_ratio": ("requests.timeouts", "requests.attempts"),
    "service.abandoned_ratio": ("gateway.client_left", "gateway.requests"),
    "gateway.retry_ratio": ("gateway.retries", "gateway.requests"),
    "gateway.amplification": ("gateway.upstream_requests", "gateway.requests"),
    "gateway.fds_ratio": ("gateway.open_fds", "gateway.max_fds"),
    "prefix.hit_ratio": ("prefix.hits", "prefix.queries"),
    "offload.hit_ratio": ("offload.hits", "offload.queries"),
    "finished.length_ratio": ("finished.length", "finished"),
    "finished.abort_ratio": ("finished.abort", "finished"),
    "spec.accepted_length": ("spec.accepted_tokens", "spec.drafts"),
    "spec.acceptance": ("spec.accepted_tokens", "spec.draft_tokens"),
    "batch.fill": ("batch.running", "batch.limit"),
    "container.cpu_throttled": ("container.cpu_throttled_periods", "container.cpu_periods"),
    "container.memory_ratio": ("container.memory", "container.memory_limit"),
    "process.fds_ratio": ("process.open_fds", "process.max_fds"),
    "node.disk_ratio": ("node.disk_available", "node.disk_size"),
    "node.memory_ratio": ("node.memory_available", "node.memory_total"),
    "node.inodes_ratio": ("node.inodes_free", "node.inodes"),
    "node.volume_ratio": ("node.volume_available", "node.volume_size"),
    "node.conntrack_ratio": ("node.conntrack", "node.conntrack_limit"),
    "node.files_ratio": ("node.files_open", "node.files_max"),
    "node.processes_ratio": ("node.processes", "node.processes_max"),
    "node.retransmit_ratio": ("node.tcp_retransmits", "node.tcp_segments"),
    "gpu.power_ratio": ("gpu.power", "gpu.power_limit"),
}
"""Derived ratios as part and whole: their query is that of the one divided by that of the other."""

SAME_AS: dict[str, tuple[str, ...]] = {
    "service.arrivals": ("requests.attempts", "gateway.requests", "backend.requests"),
    "service.demand": ("requests.distinct", "requests.attempts", "gateway.requests", "backend.requests"),
    "service.error_ratio": ("requests.failed_ratio",),
    "engine.time_per_step": ("engine.step_time",),
}
"""Derived signals that are the first of these that was measured."""


MASKS = frozenset(
    f"gpu.{reason}"
    for reason in (
        "throttle_thermal", "throttle_power", "throttle_brake", "throttle_hw", "throttle_sync", "throttle_thermal_sw",
        "throttle_thermal_hw", "clocks_idle", "clocks_set",
    )
)  # fmt: skip
"""States that are read out of a bit mask, which must never be averaged: their query shows the mask itself, sample by sample."""


def query_of(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat) -> str:
    """PromQL that gives a statistic over the window (to be asked at the window's end); empty where the source speaks none.

    Asked again it is remembered.
    """
    return frame.remembered(("query", signal, tuple(subjects), stat), lambda: _query_of(frame, signal, subjects, stat))


def _query_of(frame: Frame, signal: str, subjects: Sequence[Subject], stat: Stat) -> str:
    """PromQL worked out."""
    if signal in RATIOS:
        part, whole = (query_of(frame, name, _having(frame, name, subjects), stat) for name in RATIOS[signal])
        return f"{part} / {whole}" if part and whole else ""
    for name in SAME_AS.get(signal, ()):
        text = query_of(frame, name, _having(frame, name, subjects), stat)
        if text:
            return text
    origins = [origin for subject in subjects if (origin := frame.origins.get((signal, subject))) is not None and origin.selector]
    if not origins:
        return ""
    window = frame.recording.window
    text = _query(origins, signal, stat, promql_duration(max(1, round(window.end - window.start))))
    return f"{text} * {origins[0].scale:g}" if origins[0].scale != 1.0 else text


def _having(frame: Frame, signal: str, subjects: Sequence[Subject]) -> list[Subject]:
    """Those of the subjects that have a signal, or all that have it."""
    having = frame.subjects_of(signal)
    return [subject for subject in having if subject in subjects] or having


def _query(origins: Sequence[Origin], signal: str, stat: Stat, span: str) -> str:
    """PromQL of one signal of one or several subjects."""
    if stat in _EXTREMES:
        return f"{_EXTREMES[stat]}(({_query(origins, signal, 'mean', promql_duration(MOMENT))})[{span}:])"
    entry = catalogue()[signal]
    name, matchers = _shared(origins)
    selector = f"{name}{{{matchers}}}" if matchers else name
    if entry.kind is Kind.DISTRIBUTION:
        braced = f"{{{matchers}}}" if matchers else ""
        if stat in QUANTILES:
            return f"histogram_quantile({QUANTILES[stat]:g}, sum by (le) (rate({name}_bucket{braced}[{span}])))"
        total, count = (f"sum(rate({name}_{part}{braced}[{span}]))" for part in ("sum", "count"))
        return f"{total} / {count}"
    if signal in MASKS:
        return f"{selector}[{span}]"
    if origins[0].counter:
        return f"sum({'increase' if stat == 'sum' else 'rate'}({selector}[{span}]))"
    over = (
        f"quantile_over_time({QUANTILES[stat]:g}, {selector}[{span}])"
        if stat in QUANTILES
        else f"{_OVER_TIME[stat]}({selector}[{span}])"
    )
    return f"{_AGGREGATE[entry.combine]}({over})" if len(origins) > 1 else over


def _shared(origins: Sequence[Origin]) -> tuple[str, str]:
    """Metric name and the matchers that all selectors have in common."""
    name = origins[0].selector.partition("{")[0]
    common = _matchers(origins[0].selector)
    for origin in origins[1:]:
        own = frozenset(_matchers(origin.selector))
        common = tuple(matcher for matcher in common if matcher in own)
    return name, ",".join(common)


@lru_cache(maxsize=4096)
def _matchers(selector: str) -> tuple[str, ...]:
    """The matchers of a selector, each once."""
    return tuple(dict.fromkeys(match.group() for match in _MATCHER.finditer(selector)))
