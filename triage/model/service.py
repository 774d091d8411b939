"""What a service is to triage: a name, how to find it, where to look, what it promises, what is known of it."""

from dataclasses import field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated

from triage.classes import dataclass
from triage.model.checked import Before, Checked, Such
from triage.model.vocabulary import catalogue

NAMELESS = "this-machine"
"""What a service is called that nobody named: whatever runs here, or was handed over."""


def _end_of(value: object) -> object:
    """Unix seconds of a moment as TOML or RFC 3339 writes it; of a day its end. UTC where no zone is given."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value) if "T" in value or " " in value else date.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime.combine(value, time.max, UTC).timestamp()
    return value


def _known(value: object) -> object:
    """The service's own metrics, none of which is for a signal that does not exist."""
    unknown = sorted(str(one) for one in value if one not in catalogue()) if isinstance(value, dict) else []
    if unknown:
        raise ValueError(f"no signal is called {', '.join(unknown)}; triage coverage --signals lists them")
    return value


@dataclass(frozen=True, kw_only=True)
class Mute(Checked):
    """Why and until when a kind of failure is muted: it is judged and shown, and does not raise the state by itself.

    :param until: Unix seconds; a day, as TOML or RFC 3339 writes it, counts to its end
    """

    reason: Annotated[str, Such(min_length=1)]
    until: Annotated[float, Before(_end_of)]


@dataclass(frozen=True, kw_only=True)
class Service(Checked):
    """One service as triage.toml or case.toml describes it.

    :param name: what a person types after ``--service``
    :param labels: exact label values that its series carry, where the usual labels do not find it
    :param tags: words by which a person chooses services (``team``, ``tier`` …); nothing is looked for by them
    :param incident: a folder or file to replay instead of asking live sources, relative to the settings file
    :param prometheus: base address of a server that speaks the Prometheus API
    :param endpoints: addresses of engines' ``/metrics``
    :param logs: files or folders of logs
    :param changes: file of changes, one JSON object a line
    :param objectives: what it promises: ``ttft_p95_s``, ``itl_p95_s``, ``e2e_p95_s``, ``error_ratio`` …
    :param facts: engine, model, accelerator, limits, what a person knows and no metric tells
    :param signals: this service's own metric for a signal
    :param mute: kinds of failure that are muted
    """

    name: str
    labels: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    incident: Path | None = None
    prometheus: str | None = None
    endpoints: tuple[str, ...] = ()
    logs: tuple[Path, ...] = ()
    changes: Path | None = None
    objectives: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str | float] = field(default_factory=dict)
    signals: Annotated[dict[str, str], Before(_known)] = field(default_factory=dict)
    mute: dict[str, Mute] = field(default_factory=dict)
