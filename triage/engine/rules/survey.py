"""A rule asked of many subjects at once: on whom it is, and on whom one has to look closely to tell what it rests on."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from triage.classes import dataclass
from triage.engine.rules.verdicts import FAILS, HOLDS, OPEN, Asked, Bools, Codes, Verdicts, verdicts
from triage.model.recording import Floats
from triage.model.rule import Alternative, Condition, Gone, Known, Measure, Observed, Occurrence, Rule


@dataclass(frozen=True, eq=False)
class Survey:
    """A rule's verdicts on everybody who was asked.

    :param codes: shape (S,)
    :param ways: of each alternative its condition's verdicts, and what becomes of it with what it needs and what refutes it
    :param refuted: of what refutes the kind however it shows itself, None where nobody had to be asked
    """

    codes: Codes
    ways: Sequence[tuple[Verdicts, Codes]]
    refuted: Verdicts | None

    def nearest(self) -> list[int]:
        """On whom most of the evidence holds."""
        held = sum(told & (look.codes == HOLDS) for look, told in self._looks())
        return [int(np.argmax(held))]

    def lacking(self) -> list[int]:
        """Of those who lack the same the first one each."""
        looks = list(self._looks())
        if self.refuted is not None:
            looks += self.refuted.looks(self._shows())
        lacks = [np.where(told & (look.codes == OPEN), 1 + _bare(look), 0) for look, told in looks]
        patterns = np.array(lacks, dtype=np.int8).T.copy()
        first: dict[bytes, int] = {}
        for row in np.flatnonzero(patterns.any(axis=1)).tolist():
            first.setdefault(patterns[row].tobytes(), row)
        return sorted(first.values())

    def showing(self, noticed: Collection[str], least: float) -> list[tuple[int, float]]:
        """On whom it is open and how much of it shows at most, where that is as much as is asked for; the most first.

        :param noticed: signals that tell nothing
        """
        most = np.zeros(len(self.codes))
        for way, codes in self.ways:
            most = np.maximum(most, np.where(codes == OPEN, _most_shown(way, noticed), 0.0))
        rows = np.flatnonzero((self.codes == OPEN) & (most >= least))
        return [(row, float(most[row])) for row in rows[np.argsort(-most[rows], kind="stable")].tolist()]

    def _shows(self) -> Bools:
        """On whom some alternative may hold."""
        return np.asarray(np.max([codes for _, codes in self.ways], axis=0) != FAILS)

    def _looks(self) -> Iterator[tuple[Verdicts, Bools]]:
        everybody = np.ones(len(self.codes), dtype=bool)
        for way, _ in self.ways:
            yield from way.looks(everybody)


def survey(rule: Rule, asked: Asked) -> Survey:
    """A rule's verdicts on everybody who is asked, as :func:`triage.engine.rules.evaluate.answer_of` gives them one by one."""
    ways = [_way(alternative, asked) for alternative in rule.shows]
    codes = np.max([codes for _, codes in ways], axis=0)
    refuted = verdicts(rule.refuted_by, asked) if rule.refuted_by is not None and (codes != FAILS).any() else None
    if refuted is not None:
        codes = np.where(refuted.codes == HOLDS, FAILS, codes)
    return Survey(_given(rule.needs, codes, asked), ways, refuted)


def _way(alternative: Alternative, asked: Asked) -> tuple[Verdicts, Codes]:
    """What becomes of one alternative."""
    outcome = verdicts(alternative.condition, asked)
    codes = outcome.codes
    if alternative.refuted_by is not None and (codes != FAILS).any():
        codes = np.where(verdicts(alternative.refuted_by, asked).codes == HOLDS, FAILS, codes)
    return outcome, _given(alternative.needs, codes, asked)


def _given(needs: Condition | None, codes: Codes, asked: Asked) -> Codes:
    """What is left of verdicts where what they need is not known to be there."""
    if needs is None or not (codes == HOLDS).any():
        return codes
    return np.where((codes == HOLDS) & (verdicts(needs, asked).codes != HOLDS), OPEN, codes)


def _bare(look: Verdicts) -> Bools | int:
    return 0 if look.bare is None else look.bare


def _most_shown(way: Verdicts, noticed: Collection[str]) -> Floats:
    """How much of an alternative shows at most: of what tells, the share that holds, all of it taken to have begun in sight."""
    everybody = np.ones(len(way.codes), dtype=bool)
    held, telling = np.zeros((2, len(way.codes)))
    for look, told in way.looks(everybody):
        signal, holds = _signal(look.condition), told & (look.codes == HOLDS)
        if signal is None:
            held += holds
            telling += holds
        elif signal not in noticed:
            held += holds
            telling += told
    return np.where(telling > 0, held / np.maximum(telling, 1.0), 0.0)


def _signal(condition: Condition) -> str | None:
    """What a look is about, as its evidence names it; None where that is not the same for everybody."""
    match condition:
        case Measure():
            return condition.signal
        case Occurrence():
            return f"event:{condition.event}"
        case Known():
            return f"fact:{condition.fact}"
        case Gone():
            return condition.gone
        case Observed():
            return None
        case _:
            raise AssertionError(condition)
