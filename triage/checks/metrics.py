"""How services are, as metrics: families of samples, and their text in the OpenMetrics format.

All are gauges without times of their own, so that the same text is good for readers of OpenMetrics and of the older text format
of Prometheus, as the node exporter's textfile collector is one.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from triage.checks.outcome import WORDS, Checked
from triage.classes import dataclass
from triage.model.diagnosis import Promised, RuleSet

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

Sample = tuple[Mapping[str, str], float]
"""Labels and value."""


@dataclass(frozen=True)
class Family:
    """A gauge with its samples.

    :param help: what it means, one line
    """

    name: str
    help: str
    samples: Sequence[Sample] = field(default_factory=tuple)


def families(outcomes: Sequence[Checked]) -> list[Family]:
    """What is known of services, by service."""
    return [
        Family("triage_service_state", "1 for the state that the service is in, 0 for the others.", [*_states(outcomes)]),
        Family(
            "triage_service_seen", "Whether the service could be asked at all.", [_of(one, float(one.seen)) for one in outcomes]
        ),
        Family("triage_finding", "A kind of failure that is there, with what explains it: 1.", [*_findings(outcomes)]),
        Family("triage_promise_state", "1 for what became of the promise, 0 for the rest.", [*_promises(outcomes)]),
        Family("triage_promise_value", "What users notice, now, in base units.", [*_values(outcomes, "value")]),
        Family("triage_promise_limit", "What it is held against, in base units.", [*_values(outcomes, "limit")]),
        Family(
            "triage_rules_evaluated", "Kinds of failure that could be judged.", [_of(one, one.evaluated[0]) for one in outcomes]
        ),
        Family("triage_rules", "Kinds of failure that there are.", [_of(one, one.evaluated[1]) for one in outcomes]),
        Family(
            "triage_judged_until_timestamp_seconds",
            "End of what was judged.",
            [_of(one, one.time) for one in outcomes if one.time is not None],
        ),
        Family("triage_check_duration_seconds", "How long the check took.", [_of(one, one.seconds) for one in outcomes]),
    ]


def of_the_run(outcomes: Sequence[Checked], ruleset: RuleSet | None, now: float) -> list[Family]:
    """What is known of a run of checks.

    :param now: its end, Unix seconds
    """
    judged = {"version": ruleset.version, "ruleset": ruleset.digest} if ruleset else {}
    return [
        Family("triage_build_info", "What services were judged with: 1.", [(judged, 1.0)]),
        Family("triage_check_services", "Services that were checked.", [({}, float(len(outcomes)))]),
        Family("triage_check_last_run_timestamp_seconds", "When the last check ended.", [({}, now)]),
    ]


def exposition(told: Iterable[Family]) -> str:
    """The text of families that have samples."""
    return "".join([line for family in told if family.samples for line in _lines(family)]) + "# EOF\n"


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n# TYPE {family.name} gauge\n"
    for labels, value in family.samples:
        told = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        yield f"{family.name}{f'{{{told}}}' if told else ''} {_number(value)}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value).removesuffix(".0")
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _of(one: Checked, value: float, **labels: str) -> Sample:
    return {"service": one.service, **labels}, float(value)


def _states(outcomes: Iterable[Checked]) -> Iterator[Sample]:
    for one in outcomes:
        yield from (_of(one, one.status is status, state=word) for status, word in WORDS.items())


def _findings(outcomes: Iterable[Checked]) -> Iterator[Sample]:
    for one in outcomes:
        for each in {each.rule: each for each in one.findings}.values():
            yield _of(one, 1.0, rule=each.rule, layer=each.layer, cause=each.cause, severity=each.severity, role=each.role)


def _promises(outcomes: Iterable[Checked]) -> Iterator[Sample]:
    for one in outcomes:
        for each in {(each.name, each.subject): each for each in one.promises}.values():
            for state in Promised:
                yield _of(one, each.state is state, promise=each.name, subject=each.subject, state=state.value)


def _values(outcomes: Iterable[Checked], which: str) -> Iterator[Sample]:
    """Values or limits of promises, where they are known."""
    for one in outcomes:
        for each in {(each.name, each.subject): each for each in one.promises}.values():
            value = getattr(each, which)
            if value is not None and math.isfinite(value):
                yield _of(one, value, promise=each.name, subject=each.subject)
