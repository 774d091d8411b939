"""``triage diagnose --alert``: what alerts are about, each service at their time."""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from triage.cli.effective import settings_of
from triage.errors import ExitCode, InputMissingError, UsageError, printable
from triage.export.alerts import MAX_BYTES, Alert, Concern, concerns, read_alerts
from triage.settings import Settings

_MOST = 20
"""Services that one document of alerts may be about; more of them are no incident to be read in one go."""

_WORST_FIRST = (ExitCode.INCIDENT, ExitCode.INCONCLUSIVE, ExitCode.DEGRADED, ExitCode.HEALTHY)
_NAMED = 3


def diagnosed_alerts(args: argparse.Namespace, diagnose: Callable[[argparse.Namespace], ExitCode]) -> ExitCode:
    """Diagnose each service that the alerts are about; the exit code is that of the worst.

    :param diagnose: diagnoses the service and the time that flags name
    """
    settings = settings_of(args)
    found = _concerns(args, settings)
    if len(found) > 1 and (args.save or args.format == "html"):
        flag = "--save" if args.save else "--format html"
        raise UsageError(f"{flag} is for one service, and the alerts are about {_listed(found)}", "name one with --service")
    codes = []
    for concern in found:
        sys.stderr.write(f"{_told(concern)}\n")
        codes.append(diagnose(_asked(args, concern, settings)))
    return next(code for code in _WORST_FIRST if code in codes)


def _concerns(args: argparse.Namespace, settings: Settings) -> tuple[Concern, ...]:
    """What the alerts are about.

    :raises UsageError: they are about no service that is known, or about too many
    """
    alerts = read_alerts(_read(args.alert), "stdin" if args.alert == Path("-") else str(args.alert))
    if args.service:
        return (Concern(args.service, alerts),)
    found, strangers = concerns(alerts, settings.services)
    if not found:
        known = ", ".join(sorted(settings.services)) or "none"
        raise UsageError(
            f"nothing says which service {strangers[0].name} is about: its labels name none",
            f"name it with --service, or give it labels in triage.toml; known services: {known}",
        )
    if len(found) > _MOST:
        raise UsageError(f"the alerts are about {len(found)} services, and {_MOST} are told at most", "name one with --service")
    for alert in strangers[:_NAMED]:
        sys.stderr.write(f"{printable(f'{alert.name} is about no service of triage.toml, and is left out')}\n")
    return found


def _read(path: Path) -> bytes:
    """The document, no more than is looked at.

    :raises InputMissingError: it cannot be read
    """
    if path == Path("-"):
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputMissingError(f"{path} (--alert) cannot be read: {error.strerror}", "name a file, or - for stdin") from error


def _asked(args: argparse.Namespace, concern: Concern, settings: Settings) -> argparse.Namespace:
    """The flags that ask for a service at the time of its alerts; of an incident that was kept the time is its own."""
    service = settings.services.get(concern.service)
    kept = service is not None and service.incident is not None and not (args.prometheus or args.endpoint)
    end = None if kept else f"{min(concern.at, time.time()):.3f}"
    return argparse.Namespace(**{**vars(args), "service": concern.service, "end": end, "alert": None})


def _told(concern: Concern) -> str:
    """What is diagnosed and why, in a line."""
    at = datetime.fromtimestamp(concern.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return printable(f"{concern.service}: {_names(concern.alerts)}, firing since {at}")


def _names(alerts: tuple[Alert, ...]) -> str:
    names = list(dict.fromkeys(alert.name for alert in alerts))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _listed(found: tuple[Concern, ...]) -> str:
    return ", ".join(concern.service for concern in found)
