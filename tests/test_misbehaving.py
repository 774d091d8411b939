"""A fault in a real Prometheus behind a proxy that misbehaves: it is named or left open, and never called healthy.

`python -m bench.misbehaving` goes through all faults at every second, fifth and eighth answer, twenty times each.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.misbehaving import asked, first
from tests.misbehaving import FAULTS, Misbehaving
from tests.servers import INCIDENTS, Stored, prometheus_with, recorded, serving
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.ingest.metrics.openmetrics import read_text
from triage.model.diagnosis import Diagnosis, Status
from triage.model.recording import Recording
from triage.model.vocabulary import NOTICED

pytestmark = pytest.mark.slow

CASE = "kv-exhaustion"
QUIET = INCIDENTS.parent / "quiet" / "healthy"
TIMEOUT = 0.6
RULES = load_rules()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    """A Prometheus that holds a full KV cache."""
    with prometheus_with(recorded(CASE), tmp_path_factory.mktemp("prometheus")) as server:
        yield server


@pytest.fixture(scope="module")
def plain(stored: Stored) -> Diagnosis:
    """What is said where nothing misbehaves."""
    found = asked(stored.address, read_incident(INCIDENTS / CASE), RULES)[1]
    assert found.status is Status.INCIDENT
    return found


def spoilt(stored: Stored, case: Recording, fault: str, every: int) -> tuple[Recording, Diagnosis]:
    """What is brought and said through a proxy with a fault."""
    with serving(Misbehaving(stored.address, fault=fault, every=every, late=1.5 * TIMEOUT)) as proxy:
        assert isinstance(proxy, Misbehaving)
        told = asked(proxy.address, case, RULES, TIMEOUT)
        proxy.end()
    assert proxy.spoilt
    return told


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_never_called_healthy_and_is_named_if_what_carries_it_came(
    fault: str, stored: Stored, plain: Diagnosis
) -> None:
    """Every fifth answer is bad."""
    found, said = spoilt(stored, read_incident(INCIDENTS / CASE), fault, 5)
    assert said.status is not Status.HEALTHY
    if not {one.signal for finding in plain.findings for one in finding.evidence} & found.unanswered.keys():
        assert first(said) == first(plain)


def test_nobody_is_blamed_and_nothing_lost_is_called_healthy(tmp_path: Path) -> None:
    """A healthy service, of whose answers every second one is refused: what promises are read from is there, or it is open."""
    with prometheus_with(read_text(next(QUIET.glob("metrics.om*"))), tmp_path) as stored:
        found, said = spoilt(stored, read_incident(QUIET), "503", 2)
    assert not said.findings
    assert said.status is (Status.INCONCLUSIVE if NOTICED & found.unanswered.keys() else Status.HEALTHY)
