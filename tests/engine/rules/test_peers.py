"""What others that do the same work show."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.fleets import frame_of, replica
from triage.engine.rules.peers import peers_of

VALUES = st.lists(st.floats(0.0, 1e6, allow_nan=False), min_size=2, max_size=9)


@given(VALUES, st.data())
def test_the_median_of_the_others_is_that_of_all_but_some(values: list[float], data: st.DataObject) -> None:
    """Read off sorted values it is what numpy says of those who are left, whoever is left out."""
    names = [f"r{number}" for number in range(len(values))]
    frame = frame_of({"kv.usage": dict(zip(names, values, strict=True))})
    left_out = data.draw(st.sets(st.sampled_from(names), min_size=1))
    peers = peers_of(frame, "kv.usage", "last", frame.grid.window)
    found = peers.without([replica(name) for name in sorted(left_out)], frame)
    others = [value for name, value in zip(names, values, strict=True) if name not in left_out]
    if others:
        np.testing.assert_allclose(found, np.median(others))
    else:
        assert np.isnan(found)
