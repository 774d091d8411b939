"""Series that lose their owner: they go on under the same card or target, without the labels that say whose they are."""

from collections.abc import Iterable, Sequence

from triage.ingest.owners.places import GPU_LABELS, NODE_LABELS, POD_LABELS, Labels, first
from triage.ingest.owners.subjects import Selection
from triage.ingest.raw import RawSeries
from triage.model.recording import Event, Window

_OWNER_LABELS = frozenset(
    {*POD_LABELS, "namespace", "exported_namespace", "container", "exported_container", "container_name", "pod_namespace", "uid"}
)
"""Labels that say to whom a series belongs, not what it measures."""

_PLACE_LABELS = ("pci_bus_id", "gpu_id", "gpu", "minor_number")
_LEAST_SILENCE = 180.0
"""The old series must be silent for this many seconds at the end, or a scrape has only been missed."""

Key = tuple[str, ...]


def lost_labels(series: Sequence[RawSeries], selection: Selection, window: Window, step: float) -> tuple[Event, ...]:
    """Events of kind ``metric``, name ``label-lost``, one for each source whose series go on without the name of their pod.

    A card that is given back has no pod either: the pod must be alive by another source.
    """
    end = min(window.end, max((float(one.times[-1]) for one in series), default=window.end))
    silence = max(_LEAST_SILENCE, 6 * step)
    ended = [one for one in series if _pod(one.labels, selection) and _ended(one, end - silence, window)]
    if not ended:
        return ()
    heirs: dict[Key, list[RawSeries]] = {}
    for one in series:
        if one.times[-1] > end - silence and not _pod(one.labels, selection):
            heirs.setdefault(_key(one), []).append(one)
    alive = {pod for one in series if one.times[-1] > end - silence and (pod := _pod(one.labels, selection))}
    pairs = [
        (one, heir)
        for one in ended
        if (heir := next((heir for heir in heirs.get(_key(one), ()) if _is_heir(heir, one, silence)), None)) is not None
        and (not _card(one.labels) or _pod(one.labels, selection) in alive)
    ]
    sources = sorted({one.labels.get("job", "") for one, _ in pairs})
    return tuple(
        _event(source, [pair for pair in pairs if pair[0].labels.get("job", "") == source], selection) for source in sources
    )


def _pod(labels: Labels, selection: Selection) -> str:
    """The pod of ours that labels name, or an empty string. The exporter's own pod is none of ours."""
    pod = selection.places.pod(labels)
    return pod if pod in selection.pods else ""


def _ended(one: RawSeries, latest: float, window: Window) -> bool:
    return bool(window.baseline_start <= one.times[-1] <= latest)


def _key(one: RawSeries) -> Key:
    """What a series measures: its name and its card, or its target."""
    card = _card(one.labels)
    if card:
        return (one.name, card, one.labels.get("GPU_I_ID", ""))
    return (one.name, one.labels.get("instance", ""), one.labels.get("job", ""))


def _card(labels: Labels) -> str:
    """What names the card of a series, or an empty string: its UUID, or its place on its host."""
    place = first(labels, _PLACE_LABELS)
    return first(labels, GPU_LABELS) or (f"{first(labels, (*NODE_LABELS, 'instance'))}/{place}" if place else "")


def _is_heir(heir: RawSeries, one: RawSeries, silence: float) -> bool:
    """Whether a series begins about when another ends, and has fewer of its labels, but no other ones.

    With what names the owner goes what else was known of it: its host, its workload. A card is known by itself.
    """
    if not one.times[-1] < heir.times[0] <= one.times[-1] + silence:
        return False
    kept = ((label, value) for label, value in heir.labels.items() if label not in _OWNER_LABELS)
    return bool(_card(one.labels)) or all(one.labels.get(label) == value for label, value in kept)


def _event(source: str, pairs: Sequence[tuple[RawSeries, RawSeries]], selection: Selection) -> Event:
    """The event of one source."""
    lost = sorted({label for one, heir in pairs for label in one.labels if label in _OWNER_LABELS and label not in heir.labels})
    cards = {_card(one.labels) for one, _ in pairs} - {""}
    pods = {_pod(one.labels, selection) for one, _ in pairs}
    things = f"{len(cards)} cards" if cards else f"{len(pods)} engines"
    labels = _joined(lost) or "pod"
    text = f"{len(pairs)} series of {things} go on without {labels}" + (f" ({source})" if source else "")
    attrs = {"labels": " ".join(lost), "series": str(len(pairs)), "cards": str(len(cards)), "job": source}
    if not cards:
        attrs["unnamed"] = " ".join(sorted(pods))
    when = min(float(one.times[-1]) for one, _ in pairs)
    return Event(when, "metric", "label-lost", attrs=attrs, text=text, source=source or "metrics")


def _joined(words: Iterable[str]) -> str:
    """Words as a list in a sentence."""
    words = list(words)
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""
