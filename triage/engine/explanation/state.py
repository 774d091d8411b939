"""The state of the service: from what users notice, from what was found, and from what nobody understood."""

from collections.abc import Collection, Sequence
from math import inf

import numpy as np

from triage.classes import dataclass
from triage.engine.frame import Frame
from triage.engine.promises import may_fail
from triage.engine.promises.entries import UNCOUNTED, UNMEASURED
from triage.engine.statistics import statistic
from triage.model.diagnosis import Finding, Promised, Status, Vital
from triage.model.observation import Observation
from triage.model.recording import Floats
from triage.model.vocabulary import NOTICED, Combine, Layer, Scope, catalogue
from triage.patterns import Pattern

INCIDENT = 1.0
"""Harm from which on the service is in an incident; triage/engine/promises/entries.py says how it is measured."""

_MUCH_WORSE = 2.0
"""Chosen: twice the usual wait."""

_NEAR = 0.5
"""A wait that has doubled and uses up half of what was promised is no proof that nobody suffers."""

_MANY_KINDS = 20
"""Chosen: a rule set of fewer kinds is somebody's own, and that none of its few can be judged is no sign of blindness."""

_OWN = frozenset({Scope.SERVICE, Scope.REPLICA, Scope.GATEWAY})
"""Whose word counts for the service: not that of a host or an exporter."""

_WARNING = Pattern(r"(?i)^w(?:arn(?:ing)?)?$")

_GOOD = frozenset({"started", "appeared", "ready"})
_DELAYS = ("ttft", "e2e", "itl")


@dataclass(frozen=True)
class Harm:
    """Whether users suffer; of each None if nobody can say.

    :param users: as far as anybody between them and the engines counts
    :param inside: as far as it comes through the engines: what is at fault in them or below them reaches users through them alone
    :param spells: of each broken promise since when it has been, Unix seconds, and when that was over (None: it goes on)
    """

    users: bool | None
    inside: bool | None
    spells: tuple[tuple[float, float | None], ...] = ()

    def by(self, layer: Layer) -> bool | None:
        """Whether users may suffer from something in a layer."""
        return self.users if layer is Layer.PLATFORM else self.inside


def harm_of(vitals: Sequence[Vital], *, busier: bool = False) -> Harm:
    """Whether users suffer: yes if any promise is broken, no if all that were measured are kept, else nobody can say.

    No harm takes more than that nothing is broken: that requests are answered, that failures are counted and are few, and that
    some delay is well. What was measured and cannot be told (a bucket that straddles its limit) leaves it open. Of an engine that
    counts no failures of its own, that no more requests than usual are given up is enough, as long as no replica was gone for a
    while with what was inside it.

    :param busier: clearly more was asked for than before (:func:`is_busier`): then a wait that grew and keeps a promise that
        somebody gave is what the promise allows
    """
    if busier:
        vitals = [vital.model_copy(update={"baseline": None}) if _is_promised(vital) else vital for vital in vitals]
    lost = any(vital.name == "answers" and vital.state is Promised.OPEN for vital in vitals)
    inside = _harm(vitals, ("error_ratio", "abandoned_ratio"))
    return Harm(
        _harm(vitals, ("error_ratio",)),
        None if lost and inside is False and not _counted(vitals, "error_ratio") else inside,
        tuple((vital.since or 0.0, vital.until) for vital in vitals if vital.state is Promised.BROKEN),
    )


def _harm(vitals: Sequence[Vital], losses: Collection[str]) -> bool | None:
    """The same, where one of some losses has to be counted."""
    if any(vital.state is Promised.BROKEN for vital in vitals):
        return True
    counted = any(_counted(vitals, loss) for loss in losses)
    doubtful = any(vital.state is Promised.OPEN and vital.value is not None for vital in vitals)
    if doubtful or not counted or not enough_seen(vitals):
        return None
    return None if any(_is_much_worse(vital) for vital in vitals) else False


def _counted(vitals: Sequence[Vital], loss: str) -> bool:
    """Whether somebody counts a loss, and there is none to speak of."""
    return any(vital.name == loss and vital.state is Promised.KEPT for vital in vitals)


def _is_much_worse(vital: Vital) -> bool:
    """Whether a promise is kept, but users have to notice a change: several times the usual, and no trifle."""
    if vital.unit != "seconds" or vital.value is None or not vital.baseline or vital.limit is None:
        return False
    return vital.value >= _MUCH_WORSE * vital.baseline and vital.value >= _NEAR * vital.limit


def _is_promised(vital: Vital) -> bool:
    """Whether somebody of the service said what is allowed."""
    return vital.limit_of.startswith("objective")


_BUSIER = 1.5
"""Chosen: what is asked for varies by less within a quarter of an hour."""


def is_busier(frame: Frame) -> bool:
    """Whether clearly more requests came, at least for a while, than before the window."""
    for name in ("service.demand", "http.requests", "finished"):
        subjects = tuple(frame.of(name))
        usual = statistic(frame, name, subjects, "mean", frame.grid.baseline, Combine.SUM)
        most = statistic(frame, name, subjects, "peak", frame.grid.window, Combine.SUM)
        if usual is not None and most is not None:
            return usual.high > 0.0 and most.low >= _BUSIER * usual.high
    return False


def enough_seen(vitals: Sequence[Vital]) -> bool:
    """Whether both that requests are answered and how long they take is known to be well: one of them alone says little."""
    kept = {vital.name for vital in vitals if vital.state is Promised.KEPT}
    return "answers" in kept and any(name.startswith(_DELAYS) for name in kept)


_TAKEN_BACK = 300.0
"""Chosen: a controller tells of a roll-out that it gives up, and a scrape shows it, within minutes."""

_RUNS_WELL = frozenset({"answers", "error_ratio", "queue_wait_s", "pace_s"})


def _runs_well(vitals: Sequence[Vital]) -> bool:
    """Where nobody times requests (a log alone): they are answered, none fails, nobody waits, and tokens come as they should."""
    return {vital.name for vital in vitals if vital.state is Promised.KEPT} >= _RUNS_WELL


def _is_within(vital: Vital, vitals: Sequence[Vital], *, changed: bool) -> bool:
    """Whether a promise that no source here can measure is within what is kept.

    Time between tokens is, where the whole request is as fast as it has to be and as usual: it is nearly all of it. The first
    token is where the whole request keeps its own promise, newcomers do not wait, and nobody changed the service or what stands
    in front of it: a proxy that holds the beginning of an answer back delays no end.
    Of an engine that counts no failures, that it gives up no more than usual is enough, whether or not somebody promised a share.
    """
    if vital.name == "error_ratio" and vital.reason == UNCOUNTED:
        return _counted(vitals, "abandoned_ratio")
    if vital.reason != UNMEASURED:
        return False
    kept = [one for one in vitals if one.state is Promised.KEPT]
    whole = [one for one in kept if one.name.startswith("e2e") and not _is_much_worse(one)]
    if vital.name.startswith("itl"):
        return bool(whole)
    promised = any(one.limit_of.startswith("objective") for one in whole)
    at_once = any(one.name in ("queue_wait_s", "gateway_wait_s") for one in kept)
    return vital.name.startswith("ttft") and promised and at_once and not changed


_DRAIN_LASTS = 1800.0
"""As ``_CHANGE_LASTS`` of triage/engine/observations/lives.py."""


def _was_taken_out(vital: Vital, frame: Frame) -> bool:
    """Whether a replica that was gone for a while had been drained, with no more inside at the end than may fail.

    Whatever became of what was inside, the promise about failures is kept.
    """
    if vital.name != "answers" or vital.until is None or vital.since is None:
        return False
    ends = [one for one in frame.seen.of_sort("life") if str(one.subject) == vital.subject and one.of not in _GOOD]
    drains = [one for one in frame.seen.of_sort("change") if one.of == "drain" and one.since is not None]
    drained = any(0.0 <= vital.since - (one.since or 0.0) <= _DRAIN_LASTS for one in drains)
    if not drained or not ends or any(one.attrs.get("planned") != "yes" for one in ends):
        return False
    gone = int(np.searchsorted(frame.grid.times, vital.since))
    inside = [_last(frame.cells(name, ends[0].subject), gone) for name in ("batch.running", "queue.waiting")]
    return inside[0] is not None and sum(one or 0.0 for one in inside) <= may_fail(frame)


def _last(cells: Floats | None, before: int) -> float | None:
    """The last known value before a cell."""
    if cells is None:
        return None
    known = np.flatnonzero(~np.isnan(cells[:before]))
    return float(cells[known[-1]]) if len(known) else None


def state_of(vitals: Sequence[Vital], findings: Sequence[Finding], frame: Frame) -> Status:
    """The state of the service.

    It is an incident if promises are broken badly, or if something grave was found and nobody can say that no user suffers. It
    is healthy only if every promise is known to be kept, nothing that it is read from was asked for in vain, and nobody who may
    speak for users says what was not understood. What programs complain of, what people do and what instruments lack, while
    everybody gets an answer in time, is shown and no more. Where something that was measured or that happened, or a line of a
    grave cause, is explained by nothing, it is degraded: a person has to look. Where nobody measures how users are, what its own
    programs say of their end or of a cause decides.
    """
    severities = {finding.severity for finding in findings}
    broken = [vital for vital in vitals if vital.state is Promised.BROKEN]
    if "critical" in severities or max((vital.harm for vital in broken), default=0.0) >= INCIDENT:
        return Status.INCIDENT
    if broken or "warning" in severities:
        return Status.DEGRADED
    odd = _unexplained(frame, findings)
    if not any(vital.state is Promised.KEPT for vital in vitals):
        return _by_word(odd, frame)
    changed = any(_may_slow(one) for one in frame.seen.of_sort("change"))
    open_ = [vital for vital in vitals if vital.state is Promised.OPEN and not _was_taken_out(vital, frame)]
    if any(not _is_within(vital, vitals, changed=changed) for vital in open_) or not (enough_seen(vitals) or _runs_well(vitals)):
        return Status.INCONCLUSIVE
    busier = is_busier(frame)
    if any(_is_grave(one) and not (busier and _is_a_wait(one)) for one in odd):
        return Status.DEGRADED
    lost = NOTICED & frame.recording.unanswered.keys()
    return Status.INCONCLUSIVE if lost or any(_may_speak_for_users(one) for one in frame.seen.odd) else Status.HEALTHY


def looked(status: Status, judged: int, kinds: int, frame: Frame) -> Status:
    """The state with regard to how much could be judged: nobody who could judge nothing may say that all is well.

    Unless the engines themselves tell how they work: with no log and nothing before the window hardly any kind can be judged as a
    whole, though much was looked at.

    :param judged: kinds of failure that could be judged, of all ``kinds``
    """
    blind = barely_looked(judged, kinds) and not any(frame.has(name) for name in _INSIDE)
    return Status.INCONCLUSIVE if status is Status.HEALTHY and blind else status


_INSIDE = ("batch.running", "queue.waiting", "kv.usage", "tokens.generation")
"""What only an engine knows."""


def barely_looked(judged: int, kinds: int) -> bool:
    """Whether no kind could be judged; a handful of rules of somebody's own says nothing of that.

    Of a service whose requests alone are counted two or three kinds can be judged, and users of it are known to be well.
    """
    return kinds >= _MANY_KINDS and not judged


def _unexplained(frame: Frame, findings: Sequence[Finding]) -> list[Observation]:
    """What has to be explained and is the evidence of no finding; of instruments only what is new: many always lack a part."""
    told = {evidence.text for finding in findings for evidence in finding.evidence if evidence.text}
    odd = [one for one in frame.seen.odd if one.salient and one.text not in told and not _is_undone(one, frame)]
    return [one for one in odd if one.sort != "instrument" or _is_new(one, frame)]


def _is_undone(one: Observation, frame: Frame) -> bool:
    """Whether a roll-out makes no progress any more because it was taken back: it stays so until somebody tries again."""
    if one.of != "rollout.stuck" or one.onset is None:
        return False
    backs = [
        change for change in frame.seen.of_sort("change") if change.of == "rollback" and change.attrs.get("relation") == "own"
    ]
    return any(back.since is not None and abs(back.since - one.onset[1]) <= _TAKEN_BACK for back in backs)


def _is_grave(one: Observation) -> bool:
    """Whether something odd is more than a complaint, somebody's work, or a hole in what is measured."""
    return one.sort not in ("said", "change", "instrument") or one.attrs.get("severity") == "critical"


def _is_a_wait(one: Observation) -> bool:
    """Whether something odd is that requests, or their tokens, take longer: with more to do all take longer."""
    return one.sort == "shift" and one.against == "past" and catalogue()[one.of].unit == "seconds"


def _may_slow(change: Observation) -> bool:
    """Whether a change may make first tokens later: more or fewer replicas show in the queue."""
    return change.attrs.get("relation") in ("own", "in-front") and change.of != "scale"


def _may_speak_for_users(one: Observation) -> bool:
    """Whether lines that nobody understood may tell of users what no counter tells.

    That are those of programs of an unknown kind (a desk, a probe, a test of answers). Engines, gateways, clusters and hosts
    complain in health as well, and whom it harms is counted. Single warnings are everywhere, many where nobody knows what was
    said before.
    """
    if one.of != "residue" or one.attrs.get("emitter") != "other" or one.subject.scope is Scope.NODE:
        return False
    if one.attrs.get("new", "no") == "no" or one.attrs.keys() & {"stranger", "elsewhere"}:
        return False
    warns = _WARNING.search(one.attrs.get("level", "")) is not None
    return not (warns and (one.support == 1 or one.attrs["new"] == "unknown"))


def _is_new(one: Observation, frame: Frame) -> bool:
    return one.onset is not None and one.onset[1] >= frame.recording.window.start


def _by_word(odd: Sequence[Observation], frame: Frame) -> Status:
    """The state where nobody measures how users are: a grave cause or end that an own program tells means that it does not serve.

    Unless it was ready afterwards.
    """
    ready = {one.subject: one.onset[1] for one in frame.seen.odd if one.sort == "life" and one.of == "ready" and one.onset}
    own = [one for one in odd if one.subject.scope in _OWN and "stranger" not in one.attrs and one.of not in _GOOD]
    left = [one for one in own if one.onset is None or ready.get(one.subject, -inf) <= one.onset[1]]
    if any(one.sort == "life" or (one.sort == "said" and one.attrs.get("severity") == "critical") for one in left):
        return Status.INCIDENT
    return Status.DEGRADED if any(one.sort == "said" for one in left) else Status.INCONCLUSIVE
