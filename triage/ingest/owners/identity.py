"""Series that lose their owner: they go on under the same card, target or job, without the labels that say whose they are."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set

from triage.ingest.owners.places import GPU_LABELS, NODE_LABELS, POD_LABELS, Labels, first
from triage.ingest.owners.subjects import Selection
from triage.ingest.raw import RawSeries
from triage.model.recording import Event, Window

_OWNER_LABELS = frozenset(
    {*POD_LABELS, "namespace", "exported_namespace", "container", "exported_container", "container_name", "pod_namespace", "uid"}
)
"""Labels that say to whom a series belongs, not what it measures."""

_RUNS = frozenset({"kube_pod_container_status_running", "kube_pod_container_status_ready"})
"""What kube-state-metrics shows as 1 of a container that runs, and as 0 of one that has ended."""

_PLACE_LABELS = ("pci_bus_id", "gpu_id", "gpu", "minor_number")
_LEAST_SILENCE = 180.0
"""The old series must be silent for this many seconds at the end, or a scrape has only been missed."""

Key = tuple[str, ...]


def lost_labels(series: Sequence[RawSeries], selection: Selection, window: Window, step: float) -> tuple[Event, ...]:
    """Events of kind ``metric``, name ``label-lost``, one for each source whose series go on without what names their owner.

    That is the name of their pod, or, whatever labels those are, what told several series of engines apart that go on as one.
    A card that is given back has no pod either: the pod must be alive by another source.
    """
    end = min(window.end, max((float(one.times[-1]) for one in series), default=window.end))
    silence = max(_LEAST_SILENCE, 6 * step)
    ended = [one for one in series if _ended(one, end - silence, window)]
    if not ended:
        return ()
    first_end = min(float(one.times[-1]) for one in ended)
    heirs: dict[Key, list[RawSeries]] = {}
    for one in series:
        if one.times[-1] > end - silence and one.times[0] > first_end and not _pod(one.labels, selection):
            heirs.setdefault(_key(one), []).append(one)
    if not heirs:
        return ()
    alive = {pod for one in series if one.times[-1] > end - silence and (pod := _pod(one.labels, selection)) and _shows_life(one)}
    pairs = [
        (one, heir)
        for one in ended
        if (heir := next((heir for heir in heirs.get(_key(one), ()) if _is_heir(heir, one, silence)), None)) is not None
    ]
    heard = Counter(id(heir) for one, heir in pairs if not _card(one.labels))
    pairs = [(one, heir) for one, heir in pairs if _is_lost(one, selection, alive, heard[id(heir)])]
    sources = sorted({one.labels.get("job", "") for one, _ in pairs})
    return tuple(
        _event(source, [pair for pair in pairs if pair[0].labels.get("job", "") == source], selection) for source in sources
    )


def _is_lost(one: RawSeries, selection: Selection, alive: Set[str], merged: int) -> bool:
    """Whether nobody can say any more whose a series is.

    :param alive: pods of ours of which somebody still speaks
    :param merged: how many series of engines go on as one with it
    """
    pod = _pod(one.labels, selection)
    if _card(one.labels):
        return pod in alive
    return bool(pod) or (merged > 1 and selection.replica(one.labels) is not None)


def _shows_life(one: RawSeries) -> bool:
    """Whether a series of a pod tells that it runs: a target that is down, and a pod that has ended, are listed for long."""
    if one.name.startswith("kube_pod_") and one.name not in _RUNS:
        return False
    return bool(one.values[-1] > 0) if one.name == "up" or one.name in _RUNS else True


def _pod(labels: Labels, selection: Selection) -> str:
    """The pod of ours that labels name, or an empty string. The exporter's own pod is none of ours."""
    pod = selection.places.pod(labels)
    return pod if pod in selection.pods else ""


def _ended(one: RawSeries, latest: float, window: Window) -> bool:
    return bool(window.baseline_start <= one.times[-1] <= latest)


def _key(one: RawSeries) -> Key:
    """What a series measures: its name and its card, or its job."""
    card = _card(one.labels)
    if card:
        return (one.name, card, one.labels.get("GPU_I_ID", ""))
    return (one.name, one.labels.get("job", ""))


def _card(labels: Labels) -> str:
    """What names the card of a series, or an empty string: its UUID, or its place on its host."""
    place = first(labels, _PLACE_LABELS)
    return first(labels, GPU_LABELS) or (f"{first(labels, (*NODE_LABELS, 'instance'))}/{place}" if place else "")


def _is_heir(heir: RawSeries, one: RawSeries, silence: float) -> bool:
    """Whether a series begins about when another ends, and has fewer of its labels, but no other ones.

    With what names the owner goes what else was known of it: its host, its workload, its address. A card is known by itself.
    """
    if not one.times[-1] < heir.times[0] <= one.times[-1] + silence:
        return False
    kept = ((label, value) for label, value in heir.labels.items() if label not in _OWNER_LABELS)
    return bool(_card(one.labels)) or all(one.labels.get(label) == value for label, value in kept)


def _event(source: str, pairs: Sequence[tuple[RawSeries, RawSeries]], selection: Selection) -> Event:
    """The event of one source."""
    cards = {_card(one.labels) for one, _ in pairs} - {""}
    owners = {owner.id for one, _ in pairs if (owner := selection.replica(one.labels)) is not None}
    lost = sorted({label for one, heir in pairs for label in one.labels if label not in heir.labels and _tells(label, one)})
    things = f"{len(cards)} cards" if cards else f"{len(owners)} engines"
    labels = _joined(lost) or "pod"
    text = f"{len(pairs)} series of {things} go on without {labels}" + (f" ({source})" if source else "")
    attrs = {"labels": " ".join(lost), "series": str(len(pairs)), "cards": str(len(cards)), "job": source}
    if not cards:
        attrs["unnamed"] = " ".join(sorted(owners))
        attrs["merged"] = "yes" if len({id(heir) for _, heir in pairs}) < len(pairs) else "no"
    when = min(float(one.times[-1]) for one, _ in pairs)
    return Event(when, "metric", "label-lost", attrs=attrs, text=text, source=source or "metrics")


def _tells(label: str, one: RawSeries) -> bool:
    """Whether a label says whose a series is: of a card the name of its owner, of an engine whatever it was known by."""
    return label in _OWNER_LABELS or not _card(one.labels)


def _joined(words: Iterable[str]) -> str:
    """Words as a list in a sentence."""
    words = list(words)
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + words[-1] if words else ""
