"""Each derivation says what it needs: it asks for nothing else, for all of that, and comes after what of it is derived itself."""

from graphlib import CycleError
from random import Random

import numpy as np
import pytest

from triage.engine.derived import DERIVATIONS, in_order
from triage.engine.derived.derivation import Derivation
from triage.engine.frame import Frame
from triage.model.recording import LOG, Fact, Floats, Histogram, Origin, Recording, Series, Subject, Window
from triage.model.vocabulary import Kind, Scope, Signal, catalogue

TIMES = np.arange(15.0, 1201.0, 15.0)
MEMBERS = {
    Scope.SERVICE: ("svc",),
    Scope.REPLICA: ("a", "b", "c"),
    Scope.GPU: ("g0", "g1", "g2"),
    Scope.NODE: ("n0", "n1"),
    Scope.GATEWAY: ("gw",),
    Scope.CLIENT: ("cl",),
}
FACTS: dict[str, str | float] = {
    "max_num_seqs": 32.0,
    "max_model_len": 4096.0,
    "kv_cache_tokens": 10_000.0,
    "gpu_model": "NVIDIA H100 80GB HBM3",
    "model": "meta-llama/Llama-3.1-8B-Instruct",
    "dtype": "bfloat16",
    "weights_gib": 15.0,
    "tensor_parallel_size": 1.0,
}
WORDS = ("gpu_util", "kv_cache_usage_perc", "queue_ratio", "requests")
"""Names of what an autoscaler follows."""


class Watched(Frame):
    """A frame that notes which signals it is asked for."""

    asked: set[str]

    def cells(self, signal: str, subject: Subject) -> Floats | None:
        self.asked.add(signal)
        return super().cells(signal, subject)

    def of(self, signal: str) -> "dict[Subject, Floats]":
        self.asked.add(signal)
        return dict(super().of(signal))

    def histogram(self, signal: str, subject: Subject) -> Histogram | None:
        self.asked.add(signal)
        return super().histogram(signal, subject)

    def histograms(self, signal: str) -> "dict[Subject, Histogram]":
        self.asked.add(signal)
        return dict(super().histograms(signal))

    def has(self, signal: str) -> bool:
        self.asked.add(signal)
        return super().has(signal)


def subjects(scope: Scope) -> list[Subject]:
    return [Subject(scope, name) for name in MEMBERS.get(scope, ())]


def values_of(signal: str, chance: Random) -> Floats:
    """Values that move, stand still and vanish; of signals that say yes or no, and of start times, such as can be."""
    if signal == "process.start_time":
        return np.where(1200.0 * chance.random() < TIMES, 500.0, 1.0)
    most = 1.0 if signal in {"pod.ready", "target.up"} else 9.0
    return np.array([min(chance.choice((0.0, 0.0, 1.0, 2.0, 5.0, 9.0)), most) for _ in TIMES])


def told(signal: Signal, subject: Subject, chance: Random) -> Series | Histogram:
    """A signal of a subject, to the end or not."""
    end = len(TIMES) if chance.random() < 0.6 else chance.randrange(20, 70)
    origin = Origin(chance.choice(("vllm", LOG)), signal.name)
    if signal.kind is Kind.DISTRIBUTION:
        bounds = np.array([0.1, 1.0, 10.0, np.inf])
        return Histogram(signal.name, subject, TIMES[:end], bounds, np.ones((end, 4)), np.full(end, 3.0), origin)
    return Series(signal.name, subject, TIMES[:end], values_of(signal.name, chance)[:end], origin)


def recording(seed: int) -> Recording:
    """Three replicas on three cards of two hosts, of which a part of the vocabulary is known, few signals or nearly all."""
    chance = Random(seed)
    part = chance.choice((0.1, 0.3, 0.6, 0.9))
    known = [signal for signal in catalogue().values() if chance.random() < part]
    parts = [told(signal, subject, chance) for signal in known for subject in subjects(signal.scope)]
    replicas, cards, nodes = (subjects(scope) for scope in (Scope.REPLICA, Scope.GPU, Scope.NODE))
    service = Subject(Scope.SERVICE, "svc")
    facts = [Fact(service, key, value, "test") for key, value in FACTS.items() if chance.random() < 0.9]
    facts += [Fact(one, "engine_version", chance.choice("12"), "test") for one in replicas]
    facts.append(Fact(service, "autoscaler_metric", chance.choice(WORDS), "test"))
    return Recording(
        service="svc",
        window=Window(600.0, 1200.0, 0.0),
        series=[one for one in parts if isinstance(one, Series)],
        histograms=[one for one in parts if isinstance(one, Histogram)],
        facts=facts,
        links={
            **{card: (nodes[number % 2], replicas[number]) for number, card in enumerate(cards)},
            **{replica: (nodes[number % 2],) for number, replica in enumerate(replicas)},
        },
        step=15.0,
    )


@pytest.fixture(scope="module")
def asked() -> dict[str, set[str]]:
    """What each derivation asked for, over many recordings."""
    found: dict[str, set[str]] = {name: set() for name in DERIVATIONS}
    for seed in range(100):
        Watched.asked = set()
        frame = Watched(recording(seed))
        with np.errstate(all="ignore"):
            for name, derivation in DERIVATIONS.items():
                for subject in subjects(catalogue()[name].scope):
                    frame.asked.clear()
                    cells = derivation.cells(frame, subject)
                    found[name] |= frame.asked
                    if cells is not None:
                        frame.put(name, subject, cells)
    return found


@pytest.mark.parametrize("name", sorted(DERIVATIONS))
def test_it_asks_for_what_it_declares(name: str, asked: dict[str, set[str]]) -> None:
    """For nothing else, or its place in the order would not hold; and nothing is declared that is never asked for."""
    assert asked[name] == set(DERIVATIONS[name].needs)


def test_needs_are_signals_and_come_first() -> None:
    """The vocabulary knows each of them, and what of it is derived was derived before."""
    order = list(DERIVATIONS)
    needs = [(name, one) for name, derivation in DERIVATIONS.items() for one in derivation.needs]
    assert [one for _, one in needs if one not in catalogue()] == []
    assert [(name, one) for name, one in needs if one in DERIVATIONS and order.index(one) >= order.index(name)] == []


def test_the_order_follows_from_the_needs() -> None:
    """Not from the order of the table; those that need one another cannot be ordered."""
    first, second = (Derivation(name, (need,), lambda _frame, _one: None) for name, need in (("a", "x"), ("b", "a")))
    assert list(in_order([second, first])) == ["a", "b"]
    with pytest.raises(CycleError):
        in_order([Derivation("x", ("b",), first.cells), first, second])


def test_one_way_for_each_signal() -> None:
    """No signal stands in two tables, where the later one would replace the earlier one in silence."""
    from triage.engine import derived

    names = [one.signal for room in derived._ROOMS for one in room.DERIVATIONS]
    assert len(names) == len(set(names))
