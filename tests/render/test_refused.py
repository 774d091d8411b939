"""A source that is refused is the answer, not the head of a list of exporters to install."""

from dataclasses import replace

import pytest

from tests.engine.making import make_recording, rule
from triage.engine.diagnose import diagnose
from triage.model.recording import Source, SourceState
from triage.render import Format, render

UNSEEN = rule("full", {"signal": "gpu.temp", "above": 90}, title="It is hot", finding="{subject} is hot")


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("state", [SourceState.FAILED, SourceState.OK])
def test_what_else_could_be_looked_at_waits(form: Format, state: SourceState) -> None:
    """Where the named source failed, how to see cards is left out; where it brought nothing it is said."""
    source = Source("prometheus", state, "http://metrics:9090 refuses connections" if state is SourceState.FAILED else "")
    told = render(diagnose(replace(make_recording(), sources=(source,)), [UNSEEN]), form)
    assert ("dcgm-exporter" in told) is (state is SourceState.OK)
