"""Scores of a probe by pod: one for the service, one for each replica."""

from triage.ingest.metrics.dialects import load_dialects
from triage.ingest.metrics.openmetrics import parse
from triage.ingest.metrics.translate import translate
from triage.model.recording import Window
from triage.model.service import Service

TEXT = "".join(
    f'answer_eval_score{{job="answer-eval",pod="svc-{pod}",suite="g"}} {score} {time}\n'
    for time in range(100, 1000, 100)
    for pod, score in ((0, 0.9), (1, 0.6))
)
HEAD = "# TYPE answer_eval_score gauge\n"


def test_a_score_is_kept_by_replica_and_for_all() -> None:
    """The mean of all hides how bad one of them is."""
    recording = translate(
        parse((HEAD + TEXT + "# EOF\n").encode()).series, load_dialects(), Service(name="svc"), Window(500, 900, 100)
    )
    last = {(one.signal, one.subject.id): round(float(one.values[-1]), 3) for one in recording.series}
    assert last == {("quality.score", "svc"): 0.75, ("quality.replica", "svc-0"): 0.9, ("quality.replica", "svc-1"): 0.6}
