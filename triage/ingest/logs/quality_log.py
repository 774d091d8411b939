"""Results of probes of answers: lines with scores by pool, replica or version become a series and a word on who fell behind."""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from triage.classes import dataclass
from triage.ingest.logs.emitters import Subjects
from triage.ingest.logs.redaction import redacted_bytes
from triage.model.recording import Event, Origin, Series, Subject, Window
from triage.model.vocabulary import Scope
from triage.patterns import Pattern

MIN_ANSWERS = 8
"""Fewer answers than this prove no drop; with eight three standard errors are more than half of the scale."""

_USUAL_SIZE = 20
"""Questions of a suite that does not say how many it has."""

MIN_DROP = 0.08
"""A drop of the share of right answers that is smaller than this is within what prompts and sampling do."""

SIGMAS = 3.0
"""Standard errors of a share that a drop must exceed."""

BIN = 60.0
"""One run of a suite takes some seconds per target, so results of one minute belong together."""

_MAX_RESULTS = 20_000
_PAIR = Pattern(rb'\b([A-Za-z_]\w*)"?[=:] ?"?([^\s",;}]+)')
_SCORE = Pattern(rb"^(\d{1,6})/(\d{1,6})$")
_SHARE = Pattern(rb"^(0?\.\d+|1(?:\.0+)?)$|^(\d{1,3}(?:\.\d+)?)%$")
_SCORE_NAME = Pattern(
    rb"(?i)^(?:ok|(?:[a-z]+_)*(?:pass|passed|passing|correct|match|matches|matched|score|accuracy|right)(?:_(?:rate|ratio|share|pct|answers))?)$"
)
"""Names of shares of right answers: ``answers_correct``, ``pass_rate``, ``golden_match``."""

_RATINGS = frozenset({b"rating", b"feedback", b"thumb", b"thumbs", b"vote"})
"""Verdicts of people."""

_VERDICTS = frozenset({b"pass", b"passed", b"exact_match", b"correct", b"match", b"matches", b"ok"}) | _RATINGS
"""Scores of which a bare yes or no is the verdict on one answer."""

_RIGHT = frozenset({b"1", b"true", b"True", b"yes", b"pass", b"up", b"good", b"positive", b"like"})
_WRONG = frozenset({b"0", b"false", b"False", b"no", b"fail", b"down", b"bad", b"negative", b"dislike"})

_SIZES = frozenset({b"n", b"prompts", b"samples", b"questions", b"answers", b"total", b"cases"})
"""Names of the number of questions, where a score is given as a share."""

_GROUP = Pattern(
    rb"(?i)^(?:[a-z]+_)?(?:pool|pod|replica|backend|upstream|endpoint|engine|instance|worker|target|lane|arm|variant|version|image|model"
    rb"|revision|release|deployment|track|region|zone|cluster|cell|site|dc|datacenter|shard|platform|host|node|gpu|card)$"
)
"""Names for where an answer was made. Others (suite, task, language) say what was asked, whose difficulty differs by itself."""


@dataclass(frozen=True, slots=True)
class Result:
    """One score: right answers of so many, of one group."""

    time: float
    group: tuple[tuple[str, str], ...]
    right: int
    answers: int


class QualityLog:
    """Collects scores of a file.

    :param service: the service that is probed
    :param source: name of the file
    """

    def __init__(self, window: Window, service: str, subjects: Subjects, source: str) -> None:
        self._window = window
        self._service = Subject(Scope.SERVICE, service)
        self._subjects = subjects
        self._source = source
        self._results: list[Result] = []
        self._asked = _USUAL_SIZE

    def feed(self, line: bytes, time: float) -> None:
        """Takes the scores of a line: a single one is of whom the line names, of several each is of those named before it."""
        if not self._window.baseline_start <= time <= self._window.end:
            return
        pairs = _PAIR.findall(line)
        self._asked = next(
            (int(value) for key, value in pairs if key in _SIZES and value.isdigit() and len(value) < 7), self._asked
        )
        scores = [self._score(key, value) for key, value in pairs]
        told = [score for score in scores if score is not None]
        group: list[tuple[str, str]] = []
        scored = False
        for (key, value), score in zip(pairs, scores, strict=True):
            if _GROUP.match(key):
                group = [] if scored else group
                scored = False
                group.append((key.decode(), redacted_bytes(value, 120)))
            elif score is not None and len(told) > 1:
                self._add(Result(time, tuple(group), *score))
                scored = True
        if len(told) == 1:
            self._add(Result(time, tuple(group), *told[0]))

    def _add(self, result: Result) -> None:
        if len(self._results) < _MAX_RESULTS:
            self._results.append(result)

    def _score(self, key: bytes, value: bytes) -> tuple[int, int] | None:
        """Right answers of so many: ``56/60``, ``match=0`` of one answer, or a share of as many questions as were named last.

        None if it is no score.
        """
        if key not in _RATINGS and not _SCORE_NAME.match(key):
            return None
        if key in _VERDICTS and value in _RIGHT | _WRONG:
            return int(value in _RIGHT), 1
        found = _SCORE.search(value)
        if found is not None:
            right, answers = int(found.group(1)), int(found.group(2))
            return (min(right, answers), answers) if answers else None
        found = _SHARE.search(value)
        if found is None:
            return None
        share = float(found.group(1)) if found.group(1) is not None else min(float(found.group(2)) / 100.0, 1.0)
        return round(share * self._asked), self._asked

    def series(self) -> Iterator[Series]:
        """``quality.score`` of the service: right answers of all groups together, by minute."""
        sums: dict[int, list[int]] = {}
        for result in self._results:
            total = sums.setdefault(int(result.time // BIN), [0, 0])
            total[0] += result.right
            total[1] += result.answers
        if sums:
            bins = sorted(sums)
            times = np.minimum((np.array(bins) + 1) * BIN, self._window.end)
            values = np.array([sums[one][0] / sums[one][1] for one in bins])
            yield Series("quality.score", self._service, times, values, Origin("log", self._source))

    def events(self) -> Iterator[Event]:
        """``quality-drop`` for each group that does worse in the window than was usual before (or than its best neighbour)."""
        usual = self._usual()
        if usual is None:
            return
        for group in sorted({result.group for result in self._results}):
            mine = [one for one in self._results if one.group == group and one.time >= self._window.start]
            drop = _drop(mine, usual)
            if drop is not None:
                yield self._event(group, *drop, usual)

    def _usual(self) -> float | None:
        """Share of right answers before the window; without one, that of the best group inside it, or of all but the worst."""
        before = [one for one in self._results if one.time < self._window.start]
        if sum(one.answers for one in before) >= MIN_ANSWERS:
            return _share(before)
        groups: dict[tuple[tuple[str, str], ...], list[Result]] = {}
        for result in self._results:
            groups.setdefault(result.group, []).append(result)
        shares = [_share(group) for group in groups.values() if sum(one.answers for one in group) >= MIN_ANSWERS]
        if len(shares) > 1 or len(groups) < 2:
            return max(shares) if len(shares) > 1 else None
        worst = min(groups, key=lambda group: (_share(groups[group]), group))
        others = [one for group, results in groups.items() if group != worst for one in results]
        return _share(others) if sum(one.answers for one in others) >= MIN_ANSWERS else None

    def _event(self, group: tuple[tuple[str, str], ...], since: float, share: float, answers: int, usual: float) -> Event:
        names = dict(group)
        pod = names.get("pod") or names.get("replica")
        subject = (self._subjects(pod) or Subject(Scope.REPLICA, pod)) if pod else self._service
        label = " ".join(f"{key} {value}" for key, value in group) or "all"
        attrs = names | {
            "by": group[-1][0] if group else "",
            "score": f"{share:.3f}",
            "usual": f"{usual:.3f}",
            "answers": str(answers),
            "role": "cause",
            "kinds": "silent-quality-degradation canary-blind-spot numerical-garbage",
        }
        text = f"{label}: {share:.0%} right answers, usual are {usual:.0%}"
        return Event(
            since, "log", "quality-drop", subject, attrs | {"meaning": f"{100 * share:.0f} % right answers"}, text, self._source
        )


def _share(results: list[Result]) -> float:
    return sum(one.right for one in results) / max(sum(one.answers for one in results), 1)


def _drop(results: list[Result], usual: float) -> tuple[float, float, int] | None:
    """Since when, how good and over how many answers a group is worse than usual; None if it is not."""
    bad = [index for index, one in enumerate(results) if one.right / one.answers < usual - MIN_DROP]
    if not bad:
        return None
    since = results[bad[0] :]
    answers, share = sum(one.answers for one in since), _share(since)
    error = sqrt(max(usual * (1.0 - usual), 1.0 / max(answers, 1)) / max(answers, 1))
    if answers < MIN_ANSWERS or share >= usual - max(MIN_DROP, SIGMAS * error):
        return None
    return since[0].time, share, answers
