"""Parts of the shipped collectors, without any promise: every version may change them. Other collectors use ``triage.sdk``."""

from triage.ingest import nvml
from triage.ingest.host import engines, processes, procfs
from triage.ingest.metrics.naming import GENERIC, Index, index_names, is_engine_name
from triage.ingest.prometheus import api as prometheus_api
from triage.ingest.prometheus.columns import Known
from triage.ingest.prometheus.discovery import Survey
from triage.ingest.prometheus.promql import Query, read_matrix, scrape_interval, unique
from triage.ingest.prometheus.questions import Census, Question, census, is_much, questions

__all__ = [
    "GENERIC",
    "Census",
    "Index",
    "Known",
    "Query",
    "Question",
    "Survey",
    "census",
    "engines",
    "index_names",
    "is_engine_name",
    "is_much",
    "nvml",
    "processes",
    "procfs",
    "prometheus_api",
    "questions",
    "read_matrix",
    "scrape_interval",
    "unique",
]
