"""One line for a scheduled check, in the form that Nagios and its heirs read: state, message, figures."""

import math
import re

from triage.model.diagnosis import Diagnosis, Status
from triage.render.reading import began, named, window
from triage.render.safe import ascii_only, inert

_STATES = {
    Status.HEALTHY: "OK",
    Status.DEGRADED: "WARNING",
    Status.INCIDENT: "CRITICAL",
    Status.INCONCLUSIVE: "UNKNOWN",
}
_LONGEST = 300
_LABEL = re.compile(r"[^A-Za-z0-9_.-]+")
_UNITS = {"seconds": "s", "bytes": "B"}


def one_line(diagnosis: Diagnosis) -> str:
    """The answer in one line of ASCII, without a line end.

    ``LLM-PROD CRITICAL - kv-exhaustion-preemption on replica vllm-3 since 12:03:10 | findings=2 …``: what stands after the
    bar are figures with thresholds, for graphs.
    """
    clean = inert(diagnosis)
    message = f"{clean.service.upper()} {_STATES[clean.status]} - {_message(clean)}"
    message = ascii_only(message).replace("|", "/")
    if len(message) > _LONGEST:
        message = message[: _LONGEST - 3] + "..."
    return f"{message} | {' '.join(_figures(clean))}"


def _message(diagnosis: Diagnosis) -> str:
    """The root causes, or the headline where there are none."""
    roots = [finding for finding in diagnosis.findings if finding.role == "root"]
    if not roots:
        return diagnosis.headline or window(diagnosis)
    first = roots[0]
    more = f" (+{len(first.subjects) - 1})" if len(first.subjects) > 1 else ""
    text = f"{first.rule} on {named(first.subject)}{more} {began(first, diagnosis.window.end)}"
    return "; ".join([text, *(finding.rule for finding in roots[1:])])


def _figures(diagnosis: Diagnosis) -> list[str]:
    """Counts and symptoms as ``name=value[unit];warning``."""
    coverage = diagnosis.coverage
    figures = [
        f"findings={len(diagnosis.findings)}",
        f"evaluated={coverage.rules_evaluated};;;0;{coverage.rules_total}",
    ]
    for symptom in diagnosis.symptoms:
        label = _LABEL.sub("_", symptom.name)
        if math.isfinite(symptom.value):
            figures.append(f"{label}={_figure(symptom.value)}{_UNITS.get(symptom.unit, '')};{_figure(symptom.threshold)}")
    return figures


def _figure(value: float) -> str:
    """A number without exponent, as the plug-in guidelines want it; empty if it is none."""
    if not math.isfinite(value):
        return ""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
