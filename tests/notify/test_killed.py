"""A program that is killed at any moment leaves a whole file, loses no message, and sends none as another one."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.notify.files import damage, standing, unpaired
from tests.servers import hooked

WATCH = """
import sys
from functools import partial
from pathlib import Path
from tests.memory.test_memory import ill, well
from tests.notify.worlds import HOLDS, SHOWN
from triage.memory.store import Store
from triage.model.receiver import Receiver
from triage.notify.courier import Courier, address_of, carrier_to
from triage.notify.outbox import Outbox
state, url, first, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
receivers = {"hook": Receiver(kind="webhook", url=url)}
outbox = Outbox(Store(state), receivers)
outbox.prepare()
place = address_of("hook", receivers["hook"], {})
courier = Courier("hook", receivers["hook"], place, outbox, carrier_to(place))
print("begins", flush=True)
for number in range(first, last):
    at = 1000.0 + 60.0 * number
    look = ill(at, since=at) if number // 4 % 25 == 0 or number // 4 % 2 == 0 and number % 100 < 24 else well(at)
    Store(state).remember("llm", look, HOLDS, along=partial(outbox.note, "llm", SHOWN[look.status]))
    courier.deliver()
"""


def start(state: Path, url: str, first: int, last: int) -> "subprocess.Popen[str]":
    """The program, from the moment on at which it begins to look."""
    words = [sys.executable, "-c", WATCH, str(state), url, str(first), str(last)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    return process


def looked(state: Path) -> int:
    """How many looks are remembered."""
    from triage.errors import InputMissingError
    from triage.memory.store import Store

    try:
        (known,) = Store(state).services()
    except (InputMissingError, ValueError):
        return 0
    return round((known.looked - 1000.0) / 60.0) + 1


def test_a_watch_that_is_killed_tells_everything_once(tmp_path: Path) -> None:
    """Killed at random moments; the next one goes on from the file. Who heeds ids hears of each begin and end once."""
    state, chance = tmp_path / "history.sqlite", random.Random(5)
    with hooked() as (hook, got):
        for _ in range(4):
            process = start(state, hook, looked(state), 100_000)
            time.sleep(chance.uniform(0.05, 0.6))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert damage(state) == []
        end = (looked(state) // 100 + 1) * 100
        process = start(state, hook, looked(state), end)
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert damage(state) == []
    assert standing(state) == []
    assert len(got) > 4
    assert unpaired(got) == []
