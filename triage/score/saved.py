"""A score of before: what got better since, and what worse."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from triage.errors import DataError, InputMissingError
from triage.score.cases import Part
from triage.score.figures import Score
from triage.score.result import MERIT, Result


class Change(BaseModel):
    """A case that comes out otherwise than before.

    :param gain: by how many steps it is better; 0 if it only says something else
    """

    model_config = ConfigDict(frozen=True)

    case: str
    part: Part
    gain: int
    before: str
    after: str


def save(result: Score, path: Path) -> None:
    """Keeps a score for comparing."""
    try:
        path.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputMissingError(f"{path} cannot be written: {error.strerror or error}") from error


def read(path: Path) -> Score:
    """A score that was kept.

    :raises InputMissingError: it cannot be read
    :raises DataError: it is no score
    """
    try:
        return Score.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputMissingError(f"{path} cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, ValidationError) as error:
        raise DataError(f"{path} is no score that triage kept", "make one with triage score DIR --save FILE") from error


def changes(before: Score, after: Score) -> tuple[Change, ...]:
    """The cases of both that come out otherwise, the worst first. One that is known to come out wrong is not worse for it."""
    old = {one.case: one for one in before.results}
    told = [change for one in after.results if (change := _change(old.get(one.case), one)) is not None]
    return tuple(sorted(told, key=lambda change: (change.gain, change.case)))


def _change(before: Result | None, after: Result) -> Change | None:
    """What changed of one case; None if nothing did, or there is nothing to compare with."""
    if before is None or (before.outcome, before.first) == (after.outcome, after.first):
        return None
    gain = _merit(after) - _merit(before)
    if gain < 0 and after.known_wrong:
        gain = 0
    return Change(case=after.case, part=after.part, gain=gain, before=_words(before), after=_words(after))


def _merit(one: Result) -> int:
    """How good a result is; a fault whose true kind was ruled out is worse than one that is only open."""
    return MERIT[one.outcome] * 2 - bool(one.refuted)


def _words(one: Result) -> str:
    refuted = f", ruled out {', '.join(one.refuted)}" if one.refuted else ""
    return f"{one.outcome}: {one.first or '-'}{refuted}"


def text(told: Sequence[Change]) -> list[str]:
    """What changed: figures, then the cases by name, but of blind ones only how many."""
    worse, better = [one for one in told if one.gain < 0], [one for one in told if one.gain > 0]
    lines = [
        f"against the saved score: {len(better)} better, {len(worse)} worse, {len(told) - len(better) - len(worse)} otherwise"
    ]
    for name, ones in (("worse", worse), ("better", better), ("otherwise", [one for one in told if not one.gain])):
        shown = [one for one in ones if one.part != "blind"]
        lines += [f"  {name} {one.case}: {one.before} → {one.after}" for one in shown]
        lines += [f"  {name}: {len(ones) - len(shown)} blind"] if len(ones) > len(shown) else []
    return lines
