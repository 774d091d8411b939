"""That no sign was seen rules no kind out; what was measured or happened does."""

from collections.abc import Mapping, Sequence

import pytest

from tests.engine.making import at, make_recording, rule
from triage.engine.diagnose import diagnose
from triage.model.recording import Event

LINE = {"event": "log", "name": ["engine-crashed"], "emitter": "engine", "at_least": 1}
FULL = {"signal": "kv.usage", "stat": "max", "at_least": 0.95}
READ = ("log:engine",)


@pytest.mark.parametrize(
    ("shows", "refuted_by", "events", "out"),
    [
        (LINE, None, (), False),
        ({"observed": "said", "of": ["raised"]}, None, (), False),
        (FULL, None, (), True),
        ({"any": [LINE, FULL]}, None, (), True),
        (FULL, LINE, (at(100, "log", "engine-crashed"),), True),
    ],
)
def test_silence_rules_nothing_out(
    shows: Mapping[str, object], refuted_by: Mapping[str, object] | None, events: Sequence[Event], out: bool
) -> None:
    """A log that was read whole and does not have the line says that no sign was seen, no more."""
    more = {} if refuted_by is None else {"refuted_by": refuted_by}
    told = diagnose(make_recording({"kv.usage": 0.5}, events=events, sources=READ), [rule("k", shows, "strong", **more)])
    assert ([one.rule for one in told.ruled_out], [one.rule for one in told.unseen]) == ((["k"], []) if out else ([], ["k"]))
