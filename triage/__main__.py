"""Run the command line as ``python -m triage``."""

from triage.cli import main

raise SystemExit(main())
