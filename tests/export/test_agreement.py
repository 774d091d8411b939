"""The exported rules fire on a real Prometheus exactly where our own evaluation of the same data says present.

A sample of the recorded cases, by a hash of their names, is enough for a run of all tests; ``TRIAGE_ALL_CASES=1`` asks all, and
``docs/export.md`` says what came out.
"""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from tests.export.agreement import exportable, look, moved, ours, recorded, theirs
from tests.servers import get, prometheus_holding, victoria_metrics_with
from tests.test_queries import MEASURED, apart

pytestmark = pytest.mark.slow

SAMPLE = 70
"""One case in so many is asked."""

ALWAYS = ("thermal-throttle-a033", "disk-pressure-eviction-made-kubelet")
"""Some rule fires in each of these."""

LEAST = 60
"""So many rules can be exported, at the least."""


def is_asked(case: Path) -> bool:
    """Whether a case is in the sample."""
    chosen = int(sha256(case.name.encode()).hexdigest(), 16) % SAMPLE == 0
    return chosen or case.name in ALWAYS or bool(os.environ.get("TRIAGE_ALL_CASES"))


ASKED = [case for case in MEASURED if is_asked(case)]


def test_so_many_rules_can_be_exported() -> None:
    """Half of all kinds are patterns of numbers, too."""
    assert len(exportable()) >= LEAST


def test_a_prometheus_says_of_the_exported_rules_what_we_say(tmp_path: Path) -> None:
    """Each rule on each case, one server for all cases whose times do not overlap; and quiet recordings fire nothing."""
    off, fired = [], 0
    for number, group in enumerate(apart(ASKED)):
        looks = {case: look(case, tmp_path) for case in group}
        with prometheus_holding([moved(case, looks[case].moved) for case in group], tmp_path / str(number)) as server:
            for case, looked in looks.items():
                mine, other = ours(looked, exportable()), theirs(looked, exportable(), server)
                off += [f"{case.name}: {name} is {mine[name]} by us" for name in mine if mine[name] is not other[name]]
                fired += sum(other.values())
                quiet = [name for name, fires in other.items() if fires] if case.parent.name == "quiet" else []
                assert quiet == [], case.name
    assert off == []
    assert fired >= len(ALWAYS)


@pytest.mark.parametrize("name", ALWAYS)
def test_victoria_metrics_says_the_same_of_what_recording_rules_keep(name: str, tmp_path: Path) -> None:
    """It has rules of its own for rates and for the ends of a range; what fires is the same."""
    case = next(one for one in MEASURED if one.name == name)
    looked = look(case, tmp_path)
    with victoria_metrics_with(moved(case, looked.moved), tmp_path) as server:
        values, kept = recorded(looked, exportable(), server)
        assert get(f"{server.address}/api/v1/import/prometheus", kept)[0] in {200, 204}
        get(f"{server.address}/internal/force_flush")
        mine, other = ours(looked, exportable()), theirs(looked, exportable(), server, values)
    assert any(mine.values())
    assert {name: mine[name] for name in mine if mine[name] is not other[name]} == {}
