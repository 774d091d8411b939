"""What a check remembers from one time to the next: since when trouble goes on, and what it is compared with."""

import argparse
from pathlib import Path

from tests.memory.test_memory import HOLDS, OVERLOAD, ill, well
from triage.cli.checking import known_of
from triage.cli.checkround import pace_of, window_to_judge
from triage.memory.memory import begun
from triage.memory.store import Store
from triage.model.recording import Window
from triage.model.service import Service

NOW = 1_800_000_000.0
HALF_HOUR = 1800.0
SERVED = Service(name="llm", prometheus="http://prometheus:9090")


def usual(end: float) -> Window:
    """Half an hour, and an hour before it."""
    return Window(end - HALF_HOUR, end, end - 3 * HALF_HOUR)


def remembered(path: Path, *looks: float, onset: float) -> Store:
    """A store after checks every five minutes, of which those at some moments saw trouble."""
    store, begin = Store(path), min(looks) - 1200.0
    for moment in range(int(begin), int(max(looks)) + 1, 300):
        look = ill(float(moment), since=onset) if moment >= min(looks) else well(float(moment))
        store.remember("llm", look, HOLDS, (usual(float(moment)), pace_of(usual(float(moment)))))
    return store


def asked(store: Path, *words: str) -> argparse.Namespace:
    """The flags that say what is remembered."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, default=store)
    parser.add_argument("--no-state", action="store_true")
    parser.add_argument("--from", dest="start")
    parser.add_argument("--to", dest="end")
    return parser.parse_args(words)


def window(known: Path, service: Service, end: float, *words: str) -> Window:
    """The window that a check judges."""
    return window_to_judge(known_of(asked(known, *words)).get(service.name), service, usual(end))


def test_trouble_that_goes_on_is_judged_whole_and_does_not_become_its_own_baseline(tmp_path: Path) -> None:
    """Three hours later the window still begins where the trouble did, and what is usual is what was before it."""
    path = tmp_path / "h.sqlite"
    onset = NOW - 3 * 3600.0
    remembered(path, onset + 60.0, NOW, onset=onset)
    judged = window(path, SERVED, NOW + 300.0)
    assert onset - HALF_HOUR <= judged.start <= onset
    assert (judged.end, judged.usual_end) == (NOW + 300.0, judged.start)
    assert judged.baseline_start < judged.start
    (known,) = Store(path).services()
    assert begun(known.memory)["true-overload"] == known.memory.lives[OVERLOAD].since == onset


def test_a_check_that_remembers_nothing_judges_the_usual_window(tmp_path: Path) -> None:
    """Without a history, with --no-state, at a fixed time, and where sources know only the present."""
    path = tmp_path / "h.sqlite"
    assert window(path, SERVED, NOW) == usual(NOW)
    remembered(path, NOW - 3600.0, NOW, onset=NOW - 3660.0)
    assert window(path, SERVED, NOW) != usual(NOW)
    assert window(path, SERVED, NOW, "--no-state") == usual(NOW)
    assert window(path, SERVED, NOW, "--to", "now") == usual(NOW)
    assert window(path, Service(name="llm", endpoints=("localhost:8000",)), NOW) == usual(NOW)
    assert window(path, Service(name="other", prometheus="http://p:9090"), NOW) == usual(NOW)


def test_a_history_that_cannot_be_read_changes_no_answer(tmp_path: Path) -> None:
    """It is as good as none."""
    path = tmp_path / "h.sqlite"
    path.write_text("no database\n" * 100, encoding="utf-8")
    assert window(path, SERVED, NOW) == usual(NOW)
