"""``triage watch``: services looked at again and again, and people told of what became different."""

import argparse
from typing import TYPE_CHECKING

from triage.cli.flags import add_choice_flags, add_memory_flags, add_setting_flags, add_source_flags, examples
from triage.errors import ExitCode

if TYPE_CHECKING:
    from triage.cli.parser import Parser


def add(commands: "argparse._SubParsersAction[Parser]") -> "Parser":
    """Add the command and its flags."""
    parser = commands.add_parser(
        "watch",
        help="keep looking at services, serve /metrics, and tell people what became different",
        description="Looks at the services of triage.toml again and again: all, those that are named, or those that bear a "
        "label. What becomes different is written as a line, kept for 'triage history', and told to those whom [notify.NAME] "
        "in triage.toml names: an Alertmanager, a webhook, Slack, PagerDuty. How all are, and how the watch itself is, stands at "
        "/metrics and /healthz. SIGTERM or Ctrl+C ends it within seconds.",
        epilog=examples(
            "triage watch",
            "triage watch 'chat-*' --label team=web --every 30",
            "triage watch --service llm-prod --prometheus http://prometheus:9090 --alertmanager http://alertmanager:9093",
            "triage watch --listen 0.0.0.0:8018 --state /var/lib/triage/history.sqlite",
        ),
    )
    add_choice_flags(parser)
    pace = parser.add_argument_group("how often")
    pace.add_argument("--every", metavar="SECONDS", dest="pause", help="from one look at a service to the next (60)")
    pace.add_argument(
        "--whole", metavar="SECONDS", help="longest time without a whole look at a service at which nothing moves (300)"
    )
    told = parser.add_argument_group("who is told")
    told.add_argument(
        "--alertmanager", metavar="URL", action="append", default=[], help="an Alertmanager that is told (may be repeated)"
    )
    told.add_argument("--webhook", metavar="URL", action="append", default=[], help="who is sent JSON (may be repeated)")
    told.add_argument(
        "--listen", metavar="HOST:PORT", help="where /metrics and /healthz are served (127.0.0.1:8018); 'none': nowhere"
    )
    add_memory_flags(parser, "what is remembered and still to be told")
    add_source_flags(parser)
    add_setting_flags(parser, "rules", "dialects", "signatures", "playbooks")
    return parser


def run(args: argparse.Namespace) -> ExitCode:
    """Watch until somebody ends it."""
    from triage.cli.watching import watched

    return watched(args)
