"""NVIDIA's driver library: what is asked of a card, the open driver with its cards, what its errors mean.

Nothing here imports the library's binding: the collector does, and hands the module in.
"""

from triage.ingest.nvml.driver import Card, CardGoneError, Driver
from triage.ingest.nvml.errors import OpenFailure, never_opened, open_failure
from triage.ingest.nvml.questions import reading

__all__ = ["Card", "CardGoneError", "Driver", "OpenFailure", "never_opened", "open_failure", "reading"]
