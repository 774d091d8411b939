"""Raw logs as events, series and facts.

One file per emitter, streamed line by line; what is kept is bounded however long a log is. A line that a signature knows becomes
an event; the load that engines write becomes series; access lines become rates and summaries; start-up lines become facts.
"""

from triage.ingest.logs.files import MAX_LINE
from triage.ingest.logs.keeping import KEEP
from triage.ingest.logs.reading import LogReading, read_logs
from triage.ingest.logs.span import window_of_logs

__all__ = ["KEEP", "MAX_LINE", "LogReading", "read_logs", "window_of_logs"]
