"""The one way in which anything is asked over HTTP: what is followed, how much is read, how long is waited, who is trusted."""

from triage.errors import quoted
from triage.ingest.http.access import Access, access_of
from triage.ingest.http.client import Answer, Client
from triage.ingest.http.failures import AskError, Failure, refusal
from triage.ingest.http.pace import Pace, retry_after

__all__ = ["Access", "Answer", "AskError", "Client", "Failure", "Pace", "access_of", "quoted", "refusal", "retry_after"]
