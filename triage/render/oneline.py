"""One line for a scheduled check, in the form that Nagios and its heirs read: state, message, figures."""

import math
import re

from triage.model.diagnosis import CauseState, Diagnosis, Status
from triage.render.answer import span
from triage.render.reading import FLOORS, began, muted_line, named, window
from triage.render.safe import ascii_only, inert

_STATES = {
    Status.HEALTHY: "OK",
    Status.DEGRADED: "WARNING",
    Status.INCIDENT: "CRITICAL",
    Status.INCONCLUSIVE: "UNKNOWN",
}
_DOUBTS = {CauseState.NARROWED: "possible", CauseState.OPEN: "what brought it about is open"}
_LONGEST = 300
_LABEL = re.compile(r"[^A-Za-z0-9_.-]+")
_UNITS = {"seconds": "s", "bytes": "B"}


def one_line(diagnosis: Diagnosis) -> str:
    """The answer in one line of ASCII, without a line end.

    ``LLM-PROD CRITICAL - kv-exhaustion-preemption on replica vllm-3 since 12:03:10 | findings=2 …``: what stands after the
    bar are figures with thresholds, for graphs.
    """
    clean = inert(diagnosis)
    message = f"{clean.service.upper()} {_STATES[clean.status]} - {_message(clean)}{_muted(clean)}"
    message = ascii_only(message).replace("|", "/")
    if len(message) > _LONGEST:
        message = message[: _LONGEST - 3] + "..."
    return f"{message} | {' '.join(_figures(clean))}"


def _message(diagnosis: Diagnosis) -> str:
    """The cause if it is named, else what it may be; the headline where nothing was found."""
    roots = [finding for finding in diagnosis.findings if finding.role == "root"]
    rivals = diagnosis.cause.rules
    if diagnosis.cause.state is CauseState.NARROWED and (len(rivals) > 1 or not roots):
        when = span(diagnosis)
        return f"cause is one of {', '.join(rivals)}{f', {when}' if when else ''}"
    if not roots:
        return diagnosis.headline or window(diagnosis)
    first = roots[0]
    more = f" (+{len(first.subjects) - 1})" if len(first.subjects) > 1 else ""
    doubt = "" if diagnosis.cause.state is CauseState.NAMED else f", {_DOUBTS.get(diagnosis.cause.state, '')}".rstrip(", ")
    text = f"{first.rule} on {named(first.subject)}{more} {began(first, diagnosis.window.end)}"
    return "; ".join([text, *(finding.rule for finding in roots[1:])]) + doubt


def _muted(diagnosis: Diagnosis) -> str:
    """What is muted and there, and whose mute has expired."""
    told = [muted_line(one) for one in diagnosis.muted if one.found or one.state == "expired"]
    return f" [{'; '.join(told)}]" if told else ""


def _figures(diagnosis: Diagnosis) -> list[str]:
    """Counts and the service's vital signs as ``name=value[unit];warning``."""
    coverage = diagnosis.coverage
    figures = [
        f"findings={len(diagnosis.findings)}",
        f"evaluated={coverage.rules_evaluated};;;0;{coverage.rules_total}",
    ]
    of_service = [vital for vital in diagnosis.vitals if vital.subject.startswith("service/")]
    for vital in of_service:
        value = vital.now if vital.now is not None else vital.value
        if value is not None and math.isfinite(value):
            warning = _figure(vital.limit) + ":" if vital.name in FLOORS else _figure(vital.limit)
            figures.append(f"{_LABEL.sub('_', vital.name)}={_figure(value)}{_UNITS.get(vital.unit, '')};{warning}")
    return figures


def _figure(value: float | None) -> str:
    """A number without exponent, as the plug-in guidelines want it; empty if it is none."""
    if value is None or not math.isfinite(value):
        return ""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
