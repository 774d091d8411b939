"""All replicas of a service die: a real Prometheus with their last scrapes is asked at every moment from the first scrape on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.collectors.test_endpoints import moved
from tests.servers import Stored, prometheus_with
from tests.test_both_roads import answer

pytestmark = pytest.mark.slow

BEGIN, INTERVAL = 1_760_000_000, 15
DEATH = BEGIN + 20 * INTERVAL
END = DEATH + 12 * INTERVAL
_SAMPLE = re.compile(r"^(vllm:\w+?|process_\w+)(\{(.*)\})? (\S+)$")


def scraped(replica: int, first: int, dies: int) -> Iterator[tuple[str, str]]:
    """What scrapes of one replica left: its samples up to its death, and whether each scrape succeeded, as name and line."""
    own = f'instance="10.0.0.{replica}:8000",job="vllm",service="llm-prod",replica="llm-prod-{replica}"'
    for time in range(first + 3 * replica, END, INTERVAL):
        lives = time < dies
        yield "up", f"up{{{own}}} {int(lives)} {time}"
        for line in moved(time - first).splitlines() if lives else ():
            sample = _SAMPLE.match(line)
            if sample is not None:
                labels = ",".join(filter(None, (own, sample[3])))
                yield sample[1], f"{sample[1]}{{{labels}}} {sample[4]} {time}"


def samples(first: int, dies: int) -> bytes:
    """What a server has of two replicas that die at the same time."""
    lines = sorted((line for replica in (1, 2) for line in scraped(replica, first, dies)), key=lambda line: line[0])
    return "".join(f"{line}\n" for _, line in [*lines, ("", "# EOF")]).encode()


def asked(server: Stored, moment: int, capsys: pytest.CaptureFixture[str]) -> str:
    """The state of the service as somebody is told who asks at a moment."""
    words = ["diagnose", "--service", "llm-prod", "--prometheus", server.address, "--quiet"]
    return str(answer(capsys, *words, "--from", str(moment - 1800), "--to", str(moment))["status"])


def test_replicas_that_die_are_missed_after_two_scrapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Well before; from their death on never well, and from the second scrape in a row that fails on an incident."""
    with prometheus_with(samples(BEGIN, DEATH), tmp_path) as server:
        told = {after: asked(server, DEATH + after, capsys) for after in (-10, 5, 20, 35, 50, 65, 90, 150)}
    assert {told[after] for after in (50, 65, 90, 150)} == {"incident"}
    assert "healthy" not in {told[after] for after in (20, 35)}


def test_replicas_that_never_lived_are_missed_after_two_scrapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Monitoring that begins when all are down: nobody knows, and then an incident; never well, and never unknown for minutes."""
    with prometheus_with(samples(DEATH, DEATH), tmp_path) as server:
        told = {after: asked(server, DEATH + after, capsys) for after in (2, 10, 20, 35, 50, 65, 90)}
    assert {told[after] for after in (50, 65, 90)} == {"incident"}
    assert {told[after] for after in (2, 10, 20, 35)} <= {"inconclusive", "incident"}
