"""The answer of a check in its forms, on stdout or in a file."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from triage.checks.junit import junit
from triage.checks.metrics import exposition, families, of_the_run
from triage.checks.outcome import WORDS, Checked, worst
from triage.errors import UsageError
from triage.model.diagnosis import RuleSet
from triage.render.safe import inert_text, json_escaped, markdown
from triage.wholefile import whole


def brief_form(args: argparse.Namespace) -> str:
    """The form in which the five lines of each service are wanted; empty if they are not."""
    if args.format == "junit":
        return "plain"
    return args.format if args.brief else ""


def tell(outcomes: Sequence[Checked], args: argparse.Namespace, ruleset: RuleSet | None, now: float) -> None:
    """Write the answer to stdout, or to a file and the lines to stdout.

    :param now: end of the check, Unix seconds
    :raises UsageError: the file cannot be written; the lines are out then
    """
    document = _document(outcomes, args, ruleset, now)
    if args.output is None:
        sys.stdout.write(document)
        return
    sys.stdout.write(_lines(outcomes))
    _write(args.output, document)


def _document(outcomes: Sequence[Checked], args: argparse.Namespace, ruleset: RuleSet | None, now: float) -> str:
    """All states as one document, as the five lines of each, or as a line for each."""
    match args.format:
        case "json":
            return _as_json(outcomes, ruleset)
        case "junit":
            return junit(outcomes)
        case "openmetrics":
            return exposition([*families(outcomes), *of_the_run(outcomes, ruleset, now)])
    if args.brief:
        return "\n".join(one.brief or _reason(one, args.format) for one in outcomes)
    return _lines(outcomes)


def _lines(outcomes: Sequence[Checked]) -> str:
    return "".join(f"{one.line}\n" for one in outcomes)


def _reason(one: Checked, form: str) -> str:
    """Why nobody knows how a service is."""
    reason = f"? INCONCLUSIVE {inert_text(one.service)}: {one.headline}"
    return f"**{markdown(reason)}**\n" if form == "markdown" else f"{reason}\n"


def _as_json(outcomes: Sequence[Checked], ruleset: RuleSet | None) -> str:
    """All states as one JSON document."""
    services = [
        {
            "service": one.service,
            "state": WORDS[one.status],
            "status": one.status,
            "headline": one.headline,
            "cause": {"state": one.cause.state, "rules": list(one.cause.rules)},
            "roots": list(one.roots),
            "muted": [muted.model_dump() for muted in one.muted],
        }
        for one in outcomes
    ]
    state = WORDS[worst(one.status for one in outcomes)]
    judged = {"ruleset": ruleset.model_dump()} if ruleset else {}
    document = {"schema": "triage.check/1", "state": state, "services": services, **judged}
    return json_escaped(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _write(path: Path, document: str) -> None:
    """A file that is there whole or as it was before: somebody may read it at any moment.

    :raises UsageError: it cannot be written
    """
    try:
        with whole(path) as beside:
            beside.write_text(document, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", "name a file where you may write") from error
