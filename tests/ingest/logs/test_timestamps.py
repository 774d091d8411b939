"""Stamps of log lines in every form that programs write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.timestamps import Clock, boot_time
from triage.model.recording import Window

END = datetime(2026, 9, 16, 13, 30, tzinfo=UTC).timestamp()
WINDOW = Window(END - 1200.0, END, END - 7200.0)


DATES = (datetime.fromisoformat("1990-01-01"), datetime.fromisoformat("2090-01-01"))
LAST_YEAR = (datetime.fromisoformat("2025-09-18"), datetime.fromisoformat("2026-09-16"))


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(APIServer pid=1) INFO 09-16 13:00:38 [loggers.py:335] Engine 000", "2026-09-16T13:00:38Z"),
        ("WARNING 09-16 13:00:38 scheduler.py:1057] Sequence group", "2026-09-16T13:00:38Z"),
        ("I0916 13:00:38.250000    2911 prober.go:120] x", "2026-09-16T13:00:38.250Z"),
        ("[E0916 13:00:38.500000000 ProcessGroupNCCL.cpp:685] [Rank 0] x", "2026-09-16T13:00:38.500Z"),
        ("[rank0]:[E916] no stamp", None),
        ("[rank0]:[E0916 13:00:38.500000000 ProcessGroupNCCL.cpp:685] x", "2026-09-16T13:00:38.500Z"),
        ("Sep 16 13:00:38 node-1 kernel: [1.0] x", "2026-09-16T13:00:38Z"),
        ("<6>Sep  6 13:00:38 node-1 kernel: x", "2026-09-06T13:00:38Z"),
        ("[Sep 16 2026 13:00:38] [WARNING] [tid 38] x", "2026-09-16T13:00:38Z"),
        ("[Wed Sep 16 13:00:38 2026] NVRM: x", "2026-09-16T13:00:38Z"),
        ("Timestamp                                 : Wed Sep 16 13:00:38 2026", "2026-09-16T13:00:38Z"),
        ('[2026-09-16T13:00:38.250Z] "POST / HTTP/1.1" 200', "2026-09-16T13:00:38.250Z"),
        ("[2026-09-16 13:00:38 TP0] Decode batch.", "2026-09-16T13:00:38Z"),
        ("2026-09-16T15:00:38.123456789+02:00 INFO text_generation_router", "2026-09-16T13:00:38.123456Z"),
        ("ERROR 2026-09-16 13:00:38,041 proxy.py:1187 -- x", "2026-09-16T13:00:38.041Z"),
        ("time=2026-09-16T13:00:38.000Z level=ERROR", "2026-09-16T13:00:38Z"),
        ('10.0.0.1 - - [16/Sep/2026:15:00:38 +0200] "POST / HTTP/1.1" 200 1', "2026-09-16T13:00:38Z"),
        ("2026/09/16 13:00:38 [error] 31#31: x", "2026-09-16T13:00:38Z"),
        ("[09/16/2026-13:00:38] [TRT-LLM] [I] x", "2026-09-16T13:00:38Z"),
        ("16-09-2026 13:00:38 Container /vllm found to be unhealthy", "2026-09-16T13:00:38Z"),
        ("[09/16/2026 13:00:38.250] x", "2026-09-16T13:00:38.250Z"),
        ("10.09.2026 13:00:38 x", "2026-09-10T13:00:38Z"),
        ("45-45-2026 13:00:38 x", None),
        ("[1789563638] update_slots : x", "2026-09-16T13:00:38Z"),
        ('{"level":"warn","ts":"2026-09-16T13:00:38.425Z","caller":"wal.go"}', "2026-09-16T13:00:38.425Z"),
        ('{"ts":1789563638.5,"msg":"x"}', "2026-09-16T13:00:38.500Z"),
        ('{"msg":"x","timestamp": 1789563638500}', "2026-09-16T13:00:38.500Z"),
        ("13:00:38 - LiteLLM Router:ERROR: x", "2026-09-16T13:00:38Z"),
        ("23:59:00 - LiteLLM Router:ERROR: x", "2026-09-15T23:59:00Z"),
        ("2026-13-45 99:00:00 x", None),
        ("09-31 13:00:38 no level", None),
        ("Traceback (most recent call last):", None),
        ("[    8.100000] pci 0000:60:01.0: x", None),
    ],
)
def test_forms(line: str, expected: str | None) -> None:
    """Each form is read to the same moment, and what is no date is no stamp."""
    assert Clock(WINDOW).read(line.encode()) == (pytest.approx(moment(expected), abs=1e-5) if expected else None)


def test_the_year_before_new_year() -> None:
    """A stamp of December that lies before a window in January belongs to the year before."""
    end = moment("2027-01-01T00:10:00Z")
    clock = Clock(Window(end - 600.0, end, end - 3600.0))
    assert clock.read(b"INFO 12-31 23:59:59 x") == moment("2026-12-31T23:59:59Z")
    assert clock.read(b"INFO 01-01 00:05:00 x") == moment("2027-01-01T00:05:00Z")


def test_leap_day_without_a_year() -> None:
    """A 29th of February is of the last leap year."""
    assert Clock(WINDOW).read(b"Feb 29 10:00:00 host kernel: x") == moment("2024-02-29T10:00:00Z")


def test_local_time_without_a_zone() -> None:
    """An offset shifts stamps that name no zone and leaves those that do."""
    clock = Clock(WINDOW, utc_offset=7200.0)
    assert clock.read(b"INFO 09-16 15:00:38 x") == moment("2026-09-16T13:00:38Z")
    assert clock.read(b"2026-09-16T13:00:38Z x") == moment("2026-09-16T13:00:38Z")


def test_kernel_time_since_boot() -> None:
    """Uptime stamps are read once a line told the time of the boot."""
    line = b"[1215962.124833] audit: type=1400 audit(1789557332.722:6284): apparmor"
    boot = boot_time(line)
    assert boot is not None
    assert Clock(WINDOW, boot=boot).read(line) == pytest.approx(1789557332.722, abs=1e-3)
    assert boot_time(b"[12.5] IPv6: link becomes ready") is None


@given(st.datetimes(*DATES), st.integers(-14 * 60, 14 * 60))
def test_iso_with_any_zone(naive: datetime, minutes: int) -> None:
    """What Python writes as ISO 8601 is read back to the microsecond."""
    when = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert Clock(WINDOW).read(f"{when.isoformat()} x".encode()) == pytest.approx(when.timestamp(), abs=1e-5)


@given(st.datetimes(*LAST_YEAR))
def test_a_stamp_without_year_lies_before_the_end(when: datetime) -> None:
    """A moment of the last year is read back although its year is not written."""
    read = Clock(WINDOW).read(f"INFO {when:%m-%d %H:%M:%S} x".encode())
    assert read == when.replace(microsecond=0, tzinfo=UTC).timestamp()


@given(st.binary(max_size=200))
def test_nothing_breaks_it(line: bytes) -> None:
    """Any bytes are a stamp or none."""
    read = Clock(WINDOW).read(line)
    assert read is None or isinstance(read, float)
