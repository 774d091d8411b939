"""One line for a scheduled check, in the form that Nagios and its heirs read: state, message, figures."""

import math
import re

from triage.model.diagnosis import Diagnosis, Status
from triage.render.answer import five_lines, standing
from triage.render.reading import FLOORS, muted_line, shortened
from triage.render.safe import ascii_only, inert

_STATES = {
    Status.HEALTHY: "OK",
    Status.DEGRADED: "WARNING",
    Status.INCIDENT: "CRITICAL",
    Status.INCONCLUSIVE: "UNKNOWN",
}
_LONGEST = 360
_LEAST = 60
_LABEL = re.compile(r"[^A-Za-z0-9_.-]+")
_UNITS = {"seconds": "s", "bytes": "B"}


def one_line(diagnosis: Diagnosis) -> str:
    """The answer in one line of ASCII, without a line end.

    ``LLM-PROD CRITICAL - what; since 12:03:10 UTC; where; how sure | findings=2 …``: what stands after the
    bar are figures with thresholds, for graphs.
    """
    clean = inert(diagnosis)
    head = f"{clean.service.upper()} {_STATES[clean.status]} - "
    tail = f"; {standing(clean)}{_muted(clean)}"
    what = shortened(five_lines(clean)[0].text, max(_LONGEST - len(head) - len(tail), _LEAST)).rstrip(".")
    message = ascii_only(f"{head}{what}{tail}").replace("|", "/")
    if len(message) > _LONGEST:
        message = message[: _LONGEST - 3] + "..."
    return f"{message} | {' '.join(_figures(clean))}"


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
