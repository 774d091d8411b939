"""Whatever a recording holds, witnesses and observers of happenings answer, and answer the same again."""

from math import isnan, nan

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.making import at, make_recording
from triage.engine.derived import derive
from triage.engine.frame import Frame
from triage.engine.observations.changes import changes
from triage.engine.observations.flows import flows
from triage.engine.observations.identity import identity
from triage.engine.observations.lives import lives
from triage.engine.observations.said import said
from triage.engine.witnesses import question
from triage.model.observation import Seen
from triage.model.recording import Event, Recording

SIGNALS = (
    "process.start_time@replica/a",
    "process.start_time@replica/b",
    "tokens.generation@replica/a",
    "tokens.generation@replica/b",
    "pod.ready@replica/a",
    "pod.restarts_total@replica/a",
    "gpu.power@gpu/g0",
    "gpu.util@gpu/g0",
    "gpu.sm_active@gpu/g0",
    "target.up@replica/a",
    "target.up@target/x",
    "target.samples@target/x",
    "log.lines@replica/a",
    "gateway.requests@gateway/gw",
    "gateway.5xx@gateway/gw",
    "rollout.generation@service/svc",
)
VALUES = st.lists(st.sampled_from([0.0, 1.0, 2.0, 1e9, 1.76e9, nan, -1.0]), min_size=1, max_size=60)
WORDS = st.sampled_from(["", "a", "svc", "restart", "yes", "2", "-1", "error", "1e9", "probe", "\x00", "x" * 300])
KINDS = ["kube", "said", "residue", "log", "engine-args", "deploy", "rollback", "scale", "metric", "drift", "identity"]
KEYS = ["service", "message", "verb", "actor", "level", "role", "count", "last", "new", "value", "changed", "expected", "got"]
NAMES = ["Killing", "BackOff", "acted", "killed", "mismatch", "falls", "core-missing", "renamed", "x_hash", "v2", ""]
EVENTS = st.builds(
    lambda offset, kind, name, subject, attrs: at(offset, kind, name, subject=subject, **attrs),
    st.floats(-700, 700),
    st.sampled_from(KINDS),
    st.sampled_from(NAMES),
    st.sampled_from(["", "replica/a", "node/n1", "service/svc", "service/other"]),
    st.dictionaries(st.sampled_from(KEYS), WORDS),
)


def everything(recording: Recording) -> Seen:
    """What witnesses and observers say."""
    frame = Frame(recording)
    frame.seen = question(frame)
    derive(frame)
    for observer in (flows, lives, changes, identity, said):
        frame.seen = frame.seen + observer(frame)
    return frame.seen


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.sampled_from(SIGNALS), VALUES, max_size=8), st.lists(EVENTS, max_size=12))
def test_any_recording_is_answered_and_the_same_again(signals: dict[str, list[float]], events: list[Event]) -> None:
    """Onsets are in order, ends come after them, and each says what it is about."""
    known = {key: values for key, values in signals.items() if not all(map(isnan, values))}
    recording = make_recording(known, events=events, sources=["changes"])
    seen = everything(recording)
    assert repr(seen.odd) == repr(everything(recording).odd)
    for one in seen.odd:
        assert one.onset is None or one.onset[0] <= one.onset[1]
        assert one.end is None or one.onset is None or one.end >= one.onset[0]
        assert one.of, one
