"""``triage playbook``: what to do about one kind of failure."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from triage.cli.flags import add_format_flag, add_setting_flags, examples
from triage.cli.jsontext import answered
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "playbook",
        help="what to do about one kind of failure",
        description="Shows a playbook: how to confirm the failure, mitigate it now, mend and prevent it. Nothing is run.",
        epilog=examples(
            "triage playbook",
            "triage playbook kv-exhaustion-preemption --service llm-prod",
            "triage playbook kv-exhaustion-preemption --format json",
        ),
    )
    parser.add_argument("id", metavar="ID", nargs="?", default="list", help="id of a finding; 'list', or nothing, lists all")
    parser.add_argument("--service", metavar="NAME", help="a service of triage.toml, to fill in what is known of it")
    add_format_flag(parser)
    add_setting_flags(parser, "playbooks")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Show one playbook, or list all."""
    from triage.cli.effective import named_service, playbooks_of, settings_of
    from triage.playbooks import filled, list_playbooks, load_playbook, render_text

    settings = settings_of(args)
    folders = playbooks_of(args, settings)
    if args.id == "list":
        names = list_playbooks(folders)
        if args.format == "json":
            return answered("playbooks", {"playbooks": list(names)})
        sys.stdout.write("".join(f"{name}\n" for name in names))
        return ExitCode.HEALTHY
    service = named_service(args.service, settings)
    facts = {**service.facts, "service": service.name} if service else {}
    playbook = load_playbook(args.id, folders)
    if args.format == "json":
        return answered("playbook", json.loads(filled(playbook.model_dump_json(), facts)))
    engine = facts.get("engine")
    sys.stdout.write(render_text(playbook, facts, engine if isinstance(engine, str) else None))
    return ExitCode.HEALTHY
