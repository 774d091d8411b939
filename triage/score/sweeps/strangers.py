"""Other people's trouble in the same cluster: pods that die, are evicted or cannot be pulled, and deploys, none of them ours."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from triage.ingest.logs import read_logs
from triage.ingest.logs.changes import read_changes
from triage.model.recording import Event, Window
from triage.score.sweeps.trial import Trial
from triage.score.sweeps.under import UnderChange

_OTHER = "checkout-web"
"""A service that nobody's case is about."""

_POD = f"{_OTHER}-6c9d7b5f4-x2x7q"

_KUBE: dict[str, tuple[tuple[str, str, str], ...]] = {
    "killed for memory": (
        ("Warning", "OOMKilling", "Memory cgroup out of memory: Killed process 4711 (node) total-vm:2097152kB"),
        ("Warning", "BackOff", "Back-off restarting failed container web"),
    ),
    "evicted": (
        ("Warning", "Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 8Gi."),
    ),
    "liveness": (
        ("Warning", "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 503"),
        ("Normal", "Killing", "Container web failed liveness probe, will be restarted"),
    ),
    "image": (
        (
            "Warning", "Failed",
            'Failed to pull image "registry.example.com/web:3": unexpected status from HEAD request: 401 Unauthorized',
        ),
        ("Warning", "Failed", "Error: ImagePullBackOff"),
    ),
    "scheduling": (("Warning", "FailedScheduling", "0/9 nodes are available: 9 Insufficient cpu."),),
}  # fmt: skip


def strangers(case: UnderChange) -> Iterator[Trial]:
    """Each sort of trouble three times in the window, and deploys of theirs: all at once, and apart only if that matters."""
    apart = {name: _kube_events(case, told) for name, told in _KUBE.items()}
    apart["deploys"] = _deploys(case.recording.window)
    together = _with(case, "all", tuple(event for events in apart.values() for event in events))
    yield together
    if not together.held:
        yield from (_with(case, name, events) for name, events in apart.items())


def _with(case: UnderChange, name: str, events: tuple[Event, ...]) -> Trial:
    return case.same("strangers", name, replace(case.recording, events=(*case.recording.events, *events)))


def _kube_events(case: UnderChange, told: tuple[tuple[str, str, str], ...]) -> tuple[Event, ...]:
    """Cluster events as a reader of logs makes them."""
    window = case.recording.window
    times = [window.start + share * (window.end - window.start) for share in (0.05, 0.3, 0.6)]
    lines = [f"{_stamp(time)} {sort} {reason} shop/pod/{_POD} {text}" for time in times for sort, reason, text in told]
    with tempfile.TemporaryDirectory(prefix="triage-score-") as place:
        path = Path(place) / "kube-events.log"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        language = case.bench.language
        return read_logs([path], window, case.recording.service, signatures=language.signatures if language else None).events


def _deploys(window: Window) -> tuple[Event, ...]:
    """Deploys of the other service, just before and in the window."""
    times = [window.start - 30.0, window.start + 0.2 * (window.end - window.start)]
    lines = [
        json.dumps({"time": time, "kind": "deploy", "service": _OTHER, "version": f"v{number}", "note": "weekly release"})
        for number, time in enumerate(times)
    ]
    with tempfile.TemporaryDirectory(prefix="triage-score-") as place:
        path = Path(place) / "changes.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tuple(read_changes(path, window)[0])


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
