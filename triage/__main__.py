"""Run the command line as ``python -m triage``."""

from triage.cli import program

program()
