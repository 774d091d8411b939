"""``triage playbook``: what to do about one kind of failure."""

import argparse
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.flags import add_format_flag, add_setting_flags, examples
from triage.cli.jsontext import answered
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser
    from triage.settings import Settings


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "playbook",
        help="what to do about one kind of failure",
        description="Shows a playbook: how to confirm the failure, mitigate it now, mend and prevent it. Nothing is run.",
        epilog=examples(
            "triage playbook",
            "triage playbook kv-exhaustion-preemption --service llm-prod",
            "triage playbook kv-exhaustion-preemption --incident incident.parquet",
            "triage playbook kv-exhaustion-preemption --format json",
        ),
    )
    parser.add_argument("id", metavar="ID", nargs="?", default="list", help="id of a finding; 'list', or nothing, lists all")
    parser.add_argument("--service", metavar="NAME", help="a service of triage.toml, to fill in what is known of it")
    parser.add_argument(
        "--incident", metavar="PATH", type=Path, help="a recording or incident folder, to fill in the names of what failed there"
    )
    add_format_flag(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "playbooks")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Show one playbook, or list all."""
    from triage.cli.effective import playbooks_of, settings_of
    from triage.playbooks import fitted, list_playbooks, load_playbook, render_text

    settings = settings_of(args)
    folders = playbooks_of(args, settings)
    if args.id == "list":
        names = list_playbooks(folders)
        if args.format == "json":
            return answered("playbooks", {"playbooks": list(names)})
        sys.stdout.write("".join(f"{name}\n" for name in names))
        return ExitCode.HEALTHY
    playbook = load_playbook(args.id, folders)
    playbook = fitted(playbook, *_known(args, settings))
    if args.format == "json":
        import json

        return answered("playbook", json.loads(playbook.model_dump_json()))
    sys.stdout.write(render_text(playbook))
    return ExitCode.HEALTHY


def _known(args: argparse.Namespace, settings: "Settings") -> "tuple[Mapping[str, str | float], tuple[str, ...]]":
    """What is known for the placeholders, and which engines, gateways and exporters were seen.

    Of an incident what its diagnosis says, of whom the kind was found if it was; what settings say goes before.
    """
    from triage.cli.effective import named_service

    service = named_service(args.service, settings)
    told = {**service.facts, "service": service.name} if service else {}
    kept = args.incident or (service.incident if service else None)
    if kept is None:
        return told, ()
    from triage.cli.effective import judging_of, language_of
    from triage.cli.report import diagnosed
    from triage.engine.explanation.names import names_of
    from triage.ingest.files.incident import read_any
    from triage.model.recording import Subject
    from triage.model.vocabulary import Scope

    recording = read_any(kept, service, language_of(args, settings))
    diagnosis = diagnosed(recording, judging_of(args, settings))
    found = next((finding.names for finding in diagnosis.findings if finding.playbook == args.id), None)
    whole = names_of(Subject(Scope.SERVICE, recording.service), recording)
    return {**(whole if found is None else found), **told}, diagnosis.coverage.dialects


def named_again(args: argparse.Namespace, settings: "Settings") -> str:
    """The flags by which ``triage playbook`` knows of the incident that was diagnosed; empty if none does."""
    known = args.service in settings.services if args.service else False
    config = ["--config", str(args.config)] if args.config and known else []
    if getattr(args, "save", None):
        return shlex.join(["--incident", str(args.save)])
    return shlex.join(["--service", args.service, *config]) if known else ""
