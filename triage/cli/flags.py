"""Flags that several commands share. Nothing here is slow to import."""

import argparse
from pathlib import Path
from typing import Literal

from triage.language.lang import LANGS
from triage.render import FORMATS

Setting = Literal["rules", "dialects", "signatures", "playbooks", "quiet"]
"""A flag on rules, on how metrics and logs are read, on playbooks or progress; a command has those that it heeds."""


def add_source_flags(parser: argparse.ArgumentParser) -> None:
    """Flags that say which service, where to look, and for which time."""
    group = parser.add_argument_group("what to look at")
    group.add_argument("--service", metavar="NAME", help="a service of triage.toml, or the name that its series carry")
    group.add_argument("--prometheus", metavar="URL", help="a server that speaks the Prometheus API")
    group.add_argument("--endpoint", metavar="URL", action="append", default=[], help="an engine's /metrics (may be repeated)")
    group.add_argument(
        "--logs", metavar="PATH", action="append", default=[], help="log file or folder, - for stdin (may be repeated)"
    )
    group.add_argument("--changes", metavar="PATH", type=Path, help="deploys and other changes, one JSON object a line")
    when = parser.add_argument_group("which time")
    when.add_argument("--since", metavar="DURATION", help="length of the window to judge (30m)")
    when.add_argument("--from", metavar="TIME", dest="start", help="its begin: 2026-05-01T12:00:00Z, Unix seconds, '50m ago'")
    when.add_argument("--to", "--at", metavar="TIME", dest="end", help="its end (now)")
    when.add_argument(
        "--baseline", metavar="DURATION", help="length of the span before it that tells what is usual (1h, at most 3 windows)"
    )
    when.add_argument("--for", metavar="SECONDS", dest="sample", help="how long live sources are sampled (30)")
    when.add_argument("--timeout", metavar="SECONDS", help="longest wait for one answer (10)")
    group.add_argument(
        "--collectors", metavar="DIR", type=Path, action="append", default=[], help="folder of further collectors; they are code"
    )


def add_choice_flags(parser: argparse.ArgumentParser) -> None:
    """What says which services of triage.toml are meant."""
    parser.add_argument("services", metavar="SERVICE", nargs="*", help="services of triage.toml, by name or pattern (all)")
    parser.add_argument(
        "--label",
        metavar="KEY=VALUE",
        dest="label",
        action="append",
        default=[],
        help="only services whose tags or labels in triage.toml say so; VALUE may be a pattern (may be repeated: all must hold)",
    )


def add_memory_flags(parser: argparse.ArgumentParser, what: str) -> "argparse._ArgumentGroup":
    """Flags that say where looks are remembered, and how much room is for recordings of them.

    :param what: what the file is to the command
    """
    group = parser.add_argument_group("memory")
    group.add_argument("--state", metavar="FILE", type=Path, help=f"{what} (~/.local/state/triage/history.sqlite)")
    group.add_argument(
        "--keep", metavar="SIZE", help="room for recordings of what became different, the oldest go first (500MB); 0 keeps none"
    )
    return group


def add_setting_flags(parser: argparse.ArgumentParser, *more: Setting) -> None:
    """The flag that says which settings count, and those of the others that the command heeds."""
    group = parser.add_argument_group("settings")
    group.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="settings instead of $TRIAGE_CONFIG, ./triage.toml, ~/.config/triage/triage.toml",
    )
    for name in more:
        if name == "quiet":
            group.add_argument("--quiet", action="store_true", help="no progress on stderr")
        else:
            group.add_argument(
                f"--{name}",
                metavar="DIR",
                type=Path,
                action="append",
                default=[],
                help=f"folder of further {name} (may be repeated)",
            )


def add_report_flags(parser: argparse.ArgumentParser) -> None:
    """Flags that say how the report is written."""
    group = parser.add_argument_group("report")
    group.add_argument("--format", choices=FORMATS, default="text", help="form of the report on stdout (text)")
    group.add_argument("--width", metavar="COLUMNS", type=int, help="columns of the text report (the terminal's)")
    group.add_argument("--verbose", action="store_true", help="everything instead of the most important part of long lists")
    group.add_argument(
        "--brief", action="store_true", help="five lines that suffice, for the incident channel (text or Markdown)"
    )
    add_language_flag(group)


def add_language_flag(parser: "argparse._ActionsContainer", usual: str = "en", told: str = "en") -> None:
    """The flag that says in which language people are told; JSON is the same in all.

    :param usual: its value if it is not given
    :param told: that value in words
    """
    parser.add_argument("--lang", choices=LANGS, default=usual, help=f"language: en, or zh for Chinese ({told}); JSON has none")


def add_format_flag(parser: "argparse._ActionsContainer", *more: str) -> None:
    """The flag for commands whose answer is text or JSON, or one of some more."""
    choices = ("text", "json", *more)
    parser.add_argument("--format", choices=choices, default="text", help="form of the answer on stdout (text)")


def examples(*lines: str) -> str:
    """The end of a command's help: what people type."""
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])
