"""Whose doing it is, told by logs alone: who ends what loads, and who asks for more than a hop waits."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from triage.engine.diagnose import diagnose
from triage.engine.rules.loading import load_rules
from triage.ingest.files.incident import read_incident
from triage.model.diagnosis import Diagnosis

BEGIN = datetime(2026, 11, 14, 10, 0, tzinfo=UTC)
RULES = tuple(load_rules())


def at(seconds: float, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    """A stamp, seconds after the window's start."""
    return (BEGIN + timedelta(seconds=seconds)).strftime(form)


def seen(folder: Path, logs: dict[str, str], *, minutes: int, changes: str = "") -> Diagnosis:
    """What is said of a service of which there are logs alone."""
    (folder / "logs").mkdir()
    for name, text in logs.items():
        (folder / "logs" / name).write_text(text)
    if changes:
        (folder / "changes.jsonl").write_text(changes)
    told = f'service = "chat"\nfrom = "{at(0)}"\nto = "{at(60 * minutes)}"\n'
    (folder / "case.toml").write_text(f'name = "made"\n{told}[facts]\nreplicas = 1\n')
    return diagnose(read_incident(folder), RULES)


def role(diagnosis: Diagnosis, rule: str) -> str:
    """The role of a finding; empty if there is none."""
    return next((one.role for one in diagnosis.findings if one.rule == rule), "")


def loading(starts: int, every: int = 540) -> str:
    """An engine that loads as far as ever, and begins anew."""
    lives = (
        (
            f"{at(every * life)} INFO [api_utils.py:286] non-default args: {{'model': '/models/a', 'tensor_parallel_size': 8}}",
            f"{at(every * life + 30)} INFO [gpu_model_runner.py:3551] Starting to load model /models/a...",
            f"{at(every * life + 450)} Loading safetensors checkpoint shards:  70% Completed | 70/100 [07:00<03:00,  6.00s/it]",
        )
        for life in range(starts)
    )
    return "\n".join(line for life in lives for line in life) + "\n"


SUPERVISORS = {
    "autoheal.log": ("%d-%m-%Y %H:%M:%S", "Container /chat-0 found to be unhealthy - Restarting container now with 10s timeout"),
    "watchdog.log": ("%Y-%m-%dT%H:%M:%SZ", "WARN health check of chat-0 failed 5 times, restarting chat-0"),
}


@pytest.mark.parametrize("supervisor", SUPERVISORS)
@pytest.mark.parametrize("starts", [3, 5])
def test_a_supervisor_that_ends_what_has_not_loaded_takes_nothing_out_of_service(
    tmp_path: Path, supervisor: str, starts: int
) -> None:
    """Its check is shorter than the load, whoever it is."""
    form, words = SUPERVISORS[supervisor]
    acts = "".join(f"{at(540 * life + 480, form)} {words}\n" for life in range(starts - 1))
    access = "".join(
        f'10.0.0.9 - - [{at(20 * n, "%d/%b/%Y:%H:%M:%S +0000")}] "POST /v1/completions HTTP/1.1" 502 150 "-" "x"\n'
        for n in range(starts * 27)
    )
    logs = {"engine-chat-0.log": loading(starts), supervisor: acts, "nginx.log": access}
    diagnosis = seen(tmp_path, logs, minutes=9 * starts)
    assert role(diagnosis, "probe-kills-loading") == "root"
    assert not role(diagnosis, "unsafe-automation")


def asked(longer: bool, start: float, end: float) -> Iterator[str]:
    """Lines of a proxy: answers to one client, which all take as long as the proxy waits once it asks for longer ones."""
    for number, when in enumerate(range(int(start), int(end), 20)):
        took, status, flags = (
            (60001 + number % 3, 504, "sH--") if longer and number % 2 else (9000 + 97 * (number % 40), 200, "----")
        )
        stamp, accepted = at(when, "%b %d %H:%M:%S"), at(when - took / 1000, "%d/%b/%Y:%H:%M:%S.000")
        yield (
            f"{stamp} lb-1 haproxy[11]: 10.9.0.46:{3000 + number} [{accepted}] front back/gpu-{number % 2} 0/0/1/"
            f"{-1 if status == 504 else 700}/{took} {status} 8060 - - {flags} 4/3/1/1/0 0/0 "
            '"POST /v1/chat/completions HTTP/1.1"'
        )


@pytest.mark.parametrize("words", ["upstream answered 504 after 60.0s", "gateway timeout of upstream after 60 s, trying again"])
def test_a_caller_that_asks_for_longer_answers_is_no_roll_out_of_ours(tmp_path: Path, words: str) -> None:
    """It speaks of its upstream as a proxy does, but it is the proxy that lets requests through, and whose limit ends them."""
    proxy = "\n".join([*asked(False, 20, 1200), *asked(True, 1220, 2400)]) + "\n"
    calls = [f"{at(when)} INFO writer done in 9 s" for when in range(30, 1200, 60)]
    calls += [f"{at(when)} WARN writer: {words}" for when in range(1290, 2400, 40)]
    change = f'{{"time": "{at(1200)}", "kind": "deploy", "service": "report-writer", "version": "58", "previous": "57"}}\n'
    logs = {"haproxy.log": proxy, "report-writer.log": "\n".join(calls) + "\n"}
    diagnosis = seen(tmp_path, logs, minutes=40, changes=change)
    assert role(diagnosis, "timeout-mismatch") == "root"
    assert not role(diagnosis, "bad-rollout")
