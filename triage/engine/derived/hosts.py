"""Machines as a whole: hosts that fall silent, memory that only grows, card memory that no living engine owns."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from triage.classes import dataclass
from triage.engine.derived.arithmetic import Counts, constant, first_measured, own_total, quotient, rolled
from triage.engine.derived.derivation import Derivation, quotient_of, share_of
from triage.engine.derived.formula import First, Of, Quotient, Told, Total
from triage.engine.derived.scaling import was_surplus
from triage.engine.frame import Frame
from triage.model.recording import Floats, Subject
from triage.model.vocabulary import Scope

Bools = npt.NDArray[np.bool_]

_HOST = ("node.load1", "node.memory_available", "node.cpu_busy_cores", "node.clock", "node.net_receive")
"""What only a program on the host itself can tell; the cluster's view of a node goes on without it."""

_CARD = ("gpu.temp", "gpu.power", "gpu.util", "gpu.mem_used")
_LEAST_VOICES = 2
"""One source that falls silent may have ended by itself."""

_GROWTH_SPAN = 600.0
"""Growth of memory is taken over this many seconds: allocators take it in steps."""

_LEAST_REQUESTS = 20.0
"""Chosen: growth for each request is noise where fewer ended in the span."""


def node_lost(frame: Frame, node: Subject) -> Floats | None:
    """1 while everything on a host that was heard earlier is silent, and other hosts are heard.

    NaN once the cluster has let the host go, or all the pods that it ran there: of a host that is only cut off it lists them on;
    and from when it fell silent for good after it was said that nothing needs it.
    """
    heard = frame.remembered("heard of hosts", lambda: _hosts_heard(frame))
    voices = heard.of.get(node, [])
    if len(voices) < _LEAST_VOICES or len(heard.of) < 2:
        return None
    here: Bools = np.asarray(np.stack(voices).any(axis=0))
    judged = np.maximum.accumulate(here) & (heard.number > here)
    listed = frame.cells("node.ready", node)
    if listed is not None:
        judged &= _is_listed(listed)
    pods = [cells for replica in frame.related(node, Scope.REPLICA) if (cells := frame.cells("pod.ready", replica)) is not None]
    if pods:
        judged &= np.stack([_is_listed(cells) for cells in pods]).any(axis=0)
    end = int(np.flatnonzero(here)[-1]) + 1 if here.any() else 0
    if 0 < end < len(here) and was_surplus(frame, node, float(frame.grid.times[end])):
        judged[end:] = False
    return np.where(judged, (~here).astype(float), np.nan)


@dataclass(frozen=True)
class _Heard:
    """What is heard of the hosts.

    :param of: the voices of each host of which anything is
    :param number: of how many hosts something is heard in each cell, shape (N,)
    """

    of: Mapping[Subject, list[Bools]]
    number: Counts


def _hosts_heard(frame: Frame) -> _Heard:
    of = {node: voices for node in frame.recording.subjects[Scope.NODE] if (voices := _voices(frame, node))}
    number = np.zeros(len(frame.grid.times), dtype=np.int64)
    for voices in of.values():
        number += np.stack(voices).any(axis=0)
    return _Heard(of, number)


def _is_listed(cells: Floats) -> Bools:
    """Where the cluster tells of somebody, or has not begun to."""
    known = ~np.isnan(cells)
    return np.asarray(known | ~np.maximum.accumulate(known))


def _voices(frame: Frame, node: Subject) -> list[Bools]:
    """Where each of the sources on a host is heard: its exporter, its cards, the engines on it."""
    cards = frame.related(node, Scope.GPU)
    lost = [
        cells for replica in frame.related(node, Scope.REPLICA) if (cells := frame.cells("replica.lost", replica)) is not None
    ]
    voices = [*_heard(frame, _HOST, [node]), *_heard(frame, _CARD, cards)]
    return voices + ([np.asarray((np.stack(lost) == 0).any(axis=0))] if lost else [])


def _heard(frame: Frame, signals: tuple[str, ...], subjects: list[Subject]) -> list[Bools]:
    """Where any of some signals of any of some subjects is known, as one voice; none if it was never heard."""
    rows = [cells for name in signals for subject in subjects if (cells := frame.cells(name, subject)) is not None]
    return [np.asarray(~np.isnan(np.stack(rows)).all(axis=0))] if rows else []


def memory_per_request(frame: Frame, replica: Subject) -> Floats | None:
    """Growth of a replica's host memory over the last ten minutes per request that ended in them; 0 where it shrank."""
    memory = first_measured(*(frame.cells(name, replica) for name in ("container.memory_rss", "container.memory", "process.rss")))
    ended = first_measured(
        frame.cells("finished", replica),
        own_total(frame, replica, "finished.stop", "finished.length", "finished.abort"),
        frame.cells("http.requests", replica),
    )
    if memory is None or ended is None:
        return None
    width = max(1, round(_GROWTH_SPAN / frame.grid.step))
    requests = rolled(ended, width) * frame.grid.step
    before = np.full(memory.shape, np.nan)
    before[..., width:] = memory[..., :-width]
    grown = np.clip(memory - before, 0.0, None)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(requests >= _LEAST_REQUESTS, grown / requests, np.nan)


def context_ratio(frame: Frame, replica: Subject) -> Floats | None:
    """The longest request that is allowed as a share of what the KV cache can hold."""
    longest, told = (frame.recording.fact(key, replica) for key in ("max_model_len", "kv_cache_tokens"))
    if not isinstance(longest, int | float):
        return None
    capacity = first_measured(
        frame.cells("kv.capacity", replica), constant(frame, float(told) if isinstance(told, int | float) else None)
    )
    return quotient(constant(frame, float(longest)), capacity)


def memory_unowned(frame: Frame, card: Subject) -> Floats | None:
    """Share of a card's memory in use while none of the engines on it gives signs of life; NaN while one does."""
    share = frame.cells("gpu.mem_ratio", card)
    owners = tuple(target for target in frame.recording.links.get(card, ()) if target.scope is Scope.REPLICA)
    gone = frame.remembered(("all lost", owners), lambda: _are_all_lost(frame, owners))
    return None if share is None or not gone.any() else np.where(gone, share, np.nan)


def _are_all_lost(frame: Frame, replicas: Sequence[Subject]) -> Bools:
    """Where none of some replicas gives signs of life; nowhere, where nobody can tell."""
    lost = [cells for one in replicas if (cells := frame.cells("replica.lost", one)) is not None]
    return np.asarray((np.stack(lost) == 1).all(axis=0)) if lost else np.zeros(len(frame.grid.times), dtype=bool)


def _mem_ratio(frame: Frame, card: Subject) -> Floats | None:
    used, free, whole = (frame.cells(f"gpu.mem_{part}", card) for part in ("used", "free", "total"))
    if whole is None and used is not None and free is not None:
        whole = used + free
    return quotient(used, whole)


def _gpu_lost(frame: Frame, card: Subject) -> Floats | None:
    """1 while a card that was there has no values and another card of the same node has."""
    rows = frame.of("gpu.power") or frame.of("gpu.util") or frame.of("gpu.temp")
    own = rows.get(card)
    node = next((target for target in frame.recording.links.get(card, ()) if target.scope is Scope.NODE), None)
    if own is None or node is None:
        return None
    return frame.remembered(("cards lost on", node), lambda: _lost_on(frame, node, rows)).get(card)


def _lost_on(frame: Frame, node: Subject, rows: Mapping[Subject, Floats]) -> Mapping[Subject, Floats]:
    """The same of all cards of a host, if it has several."""
    cards = [one for one in frame.recording.cards_of(node) if one in rows]
    if len(cards) < 2:
        return {}
    here = ~np.isnan(np.array([rows[card] for card in cards]))
    seen = here.sum(axis=0) > here
    lost = np.where(np.maximum.accumulate(here, axis=1) & seen, (~here).astype(float), np.nan)
    return dict(zip(cards, lost, strict=True))


DERIVATIONS = (
    quotient_of("node.cpu_busy", "node.cpu_busy_cores", "node.cpu_cores"),
    share_of(
        "container.cpu_throttled",
        "container.cpu_throttled_periods",
        "container.cpu_periods",
    ),
    quotient_of("process.fds_ratio", "process.open_fds", "process.max_fds"),
    Derivation(
        "memory.per_request",
        (
            "container.memory_rss",
            "container.memory",
            "process.rss",
            "finished",
            "finished.stop",
            "finished.length",
            "finished.abort",
            "http.requests",
        ),
        memory_per_request,
        abreast=True,
    ),
    Derivation(
        "kv.context_ratio",
        ("kv.capacity",),
        context_ratio,
        Quotient(Told("max_model_len"), First((Of("kv.capacity"), Told("kv_cache_tokens")))),
    ),
    Derivation(
        "gpu.mem_ratio",
        ("gpu.mem_used", "gpu.mem_free", "gpu.mem_total"),
        _mem_ratio,
        Quotient(Of("gpu.mem_used"), First((Of("gpu.mem_total"), Total((Of("gpu.mem_used"), Of("gpu.mem_free")))))),
        abreast=True,
    ),
    quotient_of("gpu.power_ratio", "gpu.power", "gpu.power_limit"),
    Derivation("gpu.mem_unowned", ("gpu.mem_ratio", "replica.lost"), memory_unowned),
    Derivation("gpu.lost", ("gpu.power", "gpu.util", "gpu.temp"), _gpu_lost),
    Derivation("node.lost", (*_HOST, *_CARD, "replica.lost", "node.ready", "pod.ready"), node_lost),
    quotient_of("node.disk_ratio", "node.disk_available", "node.disk_size"),
    quotient_of("node.memory_ratio", "node.memory_available", "node.memory_total"),
    quotient_of("node.inodes_ratio", "node.inodes_free", "node.inodes"),
    quotient_of("node.volume_ratio", "node.volume_available", "node.volume_size"),
    quotient_of("node.conntrack_ratio", "node.conntrack", "node.conntrack_limit"),
    quotient_of("node.files_ratio", "node.files_open", "node.files_max"),
    quotient_of("node.processes_ratio", "node.processes", "node.processes_max"),
    quotient_of("node.retransmit_ratio", "node.tcp_retransmits", "node.tcp_segments"),
)
