"""Scrapes saved one by one: their moment and target by name or time of writing, and what comes of several of them or of one."""

import os
from pathlib import Path

import pytest

from triage.ingest.files.incident import read_incident
from triage.ingest.files.scrapes import scrape_of
from triage.model.recording import Recording

NOON = 1772366400.0
"""2026-03-01T12:00:00Z"""


def exposition(tokens: int, *, running: int = 3, more: str = "") -> str:
    """What an engine prints, without time stamps."""
    return (
        "# TYPE vllm:num_requests_running gauge\n"
        f'vllm:num_requests_running{{model_name="m"}} {running}\n'
        "# TYPE vllm:generation_tokens counter\n"
        f'vllm:generation_tokens_total{{model_name="m"}} {tokens}\n'
        f"{more}"
    )


def folder(path: Path, **files: tuple[str, float]) -> Path:
    """A folder of files, each with a text and the time of its writing; ``__`` stands for a dot, ``___`` for a slash."""
    for name, (text, written) in files.items():
        file = path / name.replace("___", "/").replace("__", ".")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        os.utime(file, (written, written))
    return path


def values(recording: Recording, signal: str) -> dict[str, list[tuple[float, float]]]:
    """Samples of a signal by subject."""
    return {
        one.subject.id: list(zip(one.times.tolist(), one.values.tolist(), strict=True))
        for one in recording.by_signal.get(signal, [])
    }


@pytest.mark.parametrize(
    ("name", "target", "time"),
    [
        ("metrics-2026-03-01T12:00:00Z.prom", "", NOON),
        ("metrics_20260301_120000.txt", "", NOON),
        ("metrics-20260301T1200Z.prom.gz", "", NOON),
        ("vllm-0_20260301T120000Z.txt", "vllm-0", NOON),
        ("metrics-vllm-1-1772366400.om", "vllm-1", NOON),
        ("1772366400123.metrics", "", NOON),
        ("metrics.prom", "", None),
        ("metrics.1.prom", "", None),
        ("metrics.txt.3", "", None),
        ("metrics-2.txt", "", None),
        ("vllm-0.2.prom", "vllm-0", None),
        ("decode-1.prom", "decode-1", None),
        ("metrics-20261399T9999.prom", "20261399T9999", None),
    ],
)
def test_a_name_tells_target_and_moment(tmp_path: Path, name: str, target: str, time: float | None) -> None:
    """A number behind a dot counts scrapes, one behind a hyphen is part of a target's name."""
    (tmp_path / name).write_text("")
    found = scrape_of(tmp_path / name)
    assert (found.target, found.time) == (target, time)


def test_scrapes_named_by_time_become_samples_over_time(tmp_path: Path) -> None:
    """Three scrapes of two engines give rates; when files were copied does not matter."""
    texts = {f"metrics___vllm-{number}_20260301T120{minute}00Z__txt": (exposition(6000 * minute * (number + 1)), 5.0)
             for number in range(2) for minute in range(3)}  # fmt: skip
    found = read_incident(folder(tmp_path, **texts))
    assert values(found, "tokens.generation") == {
        "vllm-0": [(NOON + 60, 100.0), (NOON + 120, 100.0)],
        "vllm-1": [(NOON + 60, 200.0), (NOON + 120, 200.0)],
    }
    assert found.step == 60.0


def test_numbered_scrapes_are_ordered_by_when_they_were_written(tmp_path: Path) -> None:
    """The name counts them, the time of writing says when."""
    found = read_incident(
        folder(
            tmp_path,
            metrics__prom=(exposition(3000), NOON + 30),
            metrics__1__prom=(exposition(1500), NOON + 15),
            metrics__2__prom=(exposition(0), NOON),
        )
    )
    assert values(found, "tokens.generation") == {tmp_path.name: [(NOON + 15, 100.0), (NOON + 30, 100.0)]}


def test_copies_of_another_day_are_one_moment(tmp_path: Path) -> None:
    """Where neither name nor file system knows, the last file stands for the window's end, which is said."""
    case = "from = 2026-03-01T12:00:00Z\nto = 2026-03-01T12:30:00Z\n"
    found = read_incident(
        folder(
            tmp_path,
            case__toml=(case, 5.0),
            metrics__1__prom=(exposition(0, running=1), 2e9),
            metrics__2__prom=(exposition(900, running=2), 2e9),
        )
    )
    assert values(found, "batch.running") == {tmp_path.name: [(NOON + 1800, 2.0)]}
    assert "tokens.generation" not in found.by_signal
    assert [text for text in found.problems if "metrics.2.prom" in text] != []


def test_one_scrape_gives_gauges_and_the_mean_of_a_life(tmp_path: Path) -> None:
    """A running total alone is no rate; a distribution is that of all requests since the process began."""
    more = (
        "# TYPE vllm:e2e_request_latency_seconds histogram\n"
        'vllm:e2e_request_latency_seconds_bucket{model_name="m",le="1.0"} 30\n'
        'vllm:e2e_request_latency_seconds_bucket{model_name="m",le="+Inf"} 40\n'
        'vllm:e2e_request_latency_seconds_sum{model_name="m"} 80\n'
        'vllm:e2e_request_latency_seconds_count{model_name="m"} 40\n'
        f"process_start_time_seconds {NOON - 400}\n"
    )
    found = read_incident(folder(tmp_path, metrics__txt=(exposition(900, more=more), NOON)))
    assert values(found, "batch.running") == {tmp_path.name: [(NOON, 3.0)]}
    assert "tokens.generation" not in found.by_signal
    (life,) = found.histograms
    assert life.rates[0].tolist() == pytest.approx([0.075, 0.025])
    assert life.sums.tolist() == [0.2]


def test_what_is_no_exposition_is_said_and_left_out(tmp_path: Path) -> None:
    """Notes beside the scrapes do no harm."""
    found = read_incident(folder(tmp_path, metrics__prom=(exposition(1), NOON), **{"metrics-notes__md": ("see above\n", NOON)}))
    assert list(found.by_signal) == ["batch.running"]
    assert [text for text in found.problems if text.startswith("metrics-notes.md")] != []
