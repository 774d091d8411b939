"""How one case came out: a diagnosis against its truth."""

from collections.abc import Collection
from typing import Literal

from pydantic import BaseModel, ConfigDict

from triage.model.diagnosis import CauseState, Diagnosis, Status
from triage.score.cases import Case, Part
from triage.score.truth import Origin, Sort, Truth

Outcome = Literal["right", "narrowed", "open", "misled", "wrong", "healthy", "error"]
"""How an answer stands to the truth.

``right``: an accepted cause is named, a healthy service has nothing above info, where nobody can know nothing is named.
``narrowed``: an accepted cause is among those that it was narrowed to, or a root behind the first. ``open``: no cause was
named, or it was said that too little was seen. ``misled``: narrowed to kinds of which none is accepted. ``wrong``: another kind
was named, a healthy service was blamed, a cause was named that nobody can know. ``healthy``: a fault was called healthy.
``error``: the case could not be read.
"""

MERIT: dict[Outcome, int] = {"right": 5, "narrowed": 4, "open": 3, "misled": 2, "wrong": 1, "healthy": 0, "error": 0}
"""How good an outcome is, for comparing."""


class Result(BaseModel):
    """How one case came out.

    :param first: the first of the kinds that were named or narrowed to, else the first root; empty if there is none
    :param told: what was said of the cause: named, narrowed, open, none
    :param candidates: the kinds that were named or narrowed to
    :param refuted: accepted ids that were ruled out while no accepted one was found: the worst of errors but one
    :param silent: no root cause was reported
    :param ruled: some accepted id has a rule
    :param layer: the true layer of a fault; ``layer_found`` is that of the first root. An accepted root of another layer counts
        as the true one, since several roots of several layers can be accepted
    :param cause: likewise the cause
    :param forbidden: reported ids that must not be
    :param extra: reported roots that are neither accepted nor allowed besides
    :param alarms: ids above info
    :param unread: how many sorts of error-like lines were shown that nothing understands
    """

    model_config = ConfigDict(frozen=True)

    case: str
    origin: Origin
    part: Part
    sort: Sort
    wanted: tuple[str, ...]
    first: str = ""
    told: str = ""
    candidates: tuple[str, ...] = ()
    status: str = "error"
    outcome: Outcome = "error"
    status_right: bool = False
    silent: bool = True
    refuted: tuple[str, ...] = ()
    ruled: bool = True
    layer: str = ""
    layer_found: str = ""
    cause: str = ""
    cause_found: str = ""
    found: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    unread: int = 0
    known_wrong: str = ""
    error: str = ""

    @property
    def right(self) -> bool:
        """Whether it came out as it should."""
        return self.outcome == "right"

    @property
    def first_right(self) -> bool:
        """Whether the kind that stands first is accepted, named or only likeliest."""
        return self.first in self.wanted

    @property
    def among(self) -> bool:
        """Whether an accepted kind is among those that were named or narrowed to, or among the roots."""
        return bool({*self.roots, *self.candidates} & {*self.wanted})

    @property
    def agrees(self) -> bool:
        """Whether the answer is no mistake.

        Of a fault an accepted kind stands first, named or likeliest, nothing is found that must not be, and the service is called
        what it may be; any other case came out right.
        """
        if self.sort == "fault":
            return self.first_right and self.status_right and not self.forbidden and self.outcome != "healthy"
        return self.right

    @property
    def is_known_wrong(self) -> bool:
        """Whether it came out wrong, and people know and keep it."""
        return bool(self.known_wrong) and not self.agrees

    @property
    def is_healed(self) -> bool:
        """Whether it is marked as known to come out wrong, and comes out right: the mark has to go."""
        return bool(self.known_wrong) and self.agrees


def unread(case: Case, error: str) -> Result:
    """A case that cannot be read: it counts as wrong, with the reason."""
    return Result(
        case=case.name, origin=case.origin, part=case.part, sort=case.truth.sort, wanted=case.truth.root, error=error,
        layer=case.truth.layer, cause=case.truth.cause, known_wrong=case.truth.known_wrong,
    )  # fmt: skip


def compared(case: Case, diagnosis: Diagnosis, ruled: Collection[str]) -> Result:
    """A diagnosis against the truth of its case.

    :param ruled: ids that have a rule
    """
    truth, findings, said = case.truth, diagnosis.findings, diagnosis.cause
    roots = tuple(finding.rule for finding in findings if finding.role == "root")
    first = next(iter((*said.rules, *roots)), "")
    accepted = first in truth.root
    places = {one.rule: (one.layer, one.cause) for one in findings} | {one.rule: (one.layer, one.cause) for one in said.rivals}
    layer, cause = places.get(first, ("", ""))
    loud = tuple(finding.rule for finding in findings if finding.severity != "info")
    among = bool({*roots, *said.rules} & {*truth.root})
    return Result(
        case=case.name,
        origin=case.origin,
        part=case.part,
        sort=truth.sort,
        wanted=truth.root,
        first=first,
        told=said.state.value,
        candidates=said.rules,
        status=diagnosis.status.value,
        outcome=_outcome(truth, diagnosis, loud, among=among),
        status_right=_status_right(truth, diagnosis.status),
        silent=not roots,
        refuted=() if among else tuple(one.rule for one in diagnosis.ruled_out if one.rule in truth.root),
        ruled=bool({*truth.root} & {*ruled}),
        layer=truth.layer,
        layer_found=(accepted and truth.layer) or str(layer),
        cause=truth.cause,
        cause_found=(accepted and truth.cause) or str(cause),
        found=tuple(finding.rule for finding in findings),
        roots=roots,
        forbidden=tuple(rule for rule in loud if rule in truth.not_),
        extra=tuple(root for root in roots if root not in truth.root and root not in truth.also),
        alarms=loud,
        unread=len(diagnosis.unread),
        known_wrong=truth.known_wrong,
    )


def _outcome(truth: Truth, diagnosis: Diagnosis, loud: Collection[str], *, among: bool) -> Outcome:
    """How an answer stands to a truth.

    :param loud: findings above info
    :param among: an accepted cause is among those that it names or narrows to
    """
    status, said = diagnosis.status, diagnosis.cause
    status_right = _status_right(truth, status)
    named = said.rules if said.state is CauseState.NAMED else ()
    match truth.sort:
        case "healthy":
            return "right" if not loud and status_right else "wrong" if loud or status is not Status.INCONCLUSIVE else "open"
        case "unknowable":
            return "right" if status_right and not {*named} - {*truth.also} else "wrong"
        case "fault":
            if named and named[0] in truth.root:
                return "right"
            if status is Status.HEALTHY and Status.HEALTHY.value not in truth.status:
                return "healthy"
            return "narrowed" if among else "wrong" if named else "misled" if said.rules else "open"


def _status_right(truth: Truth, status: Status) -> bool:
    return not truth.status or status.value in truth.status
