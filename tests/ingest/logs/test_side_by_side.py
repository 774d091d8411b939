"""Numbers side by side: measured runs, counts at one number, requests that are given up at one age."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.capped_counts import CappedCounts
from triage.ingest.logs.given_up import GivenUp
from triage.ingest.logs.measured_runs import MeasuredRuns, Run, slower_runs
from triage.model.recording import Event, Subject, Window
from triage.model.vocabulary import Scope

WINDOW = Window(1000.0, 5000.0, 0.0)
SERVICE = Subject(Scope.SERVICE, "chat")


def compared(*texts: str, name: str = "bench.log") -> list[Event]:
    runs: list[Run] = []
    for text in texts:
        reader = MeasuredRuns(name)
        for number, line in enumerate(text.splitlines()):
            reader.feed(line.encode(), 2000.0 + number)
        runs.extend(reader.close())
    return list(slower_runs(runs, SERVICE, WINDOW))


def test_a_version_is_slower_than_the_one_before() -> None:
    (event,) = compared("# engine 0.9.2\nMean TPOT (ms): 12.7\n# engine 0.10.1\nMean TPOT (ms): 19.0\n")
    assert event.attrs["by"] == "version"
    assert (event.attrs["value"], event.attrs["against"], event.attrs["back"]) == ("0.10.1", "0.9.2", "no")
    assert event.time == 2003.0


def test_the_old_version_measured_again_is_told() -> None:
    (event,) = compared(
        "# image org/engine:v1.2\ntpot_mean=5ms\n# image org/engine:v1.3\ntpot_mean=8ms\n# back on v1.2\ntpot_mean=5.1ms\n"
    )
    assert event.attrs["back"] == "yes"


@pytest.mark.parametrize(
    "text",
    [
        "# v1.2\ntpot_mean=5ms\n# v1.3\ntpot_mean=5.6ms\n",  # by some per cent
        "# v1.2\ntpot_mean=5ms\n# v1.3\ntpot_mean=3ms\n",  # faster
        "# v1.2\ntpot_mean=5ms\ntpot_mean=9ms\n# v1.3\ntpot_mean=8ms\n",  # no slower than the old one at times
        "# v1.2\nconcurrency=4 tpot_mean=5ms\n# v1.3\nconcurrency=64 tpot_mean=8ms\n",  # more was asked of it
        "# v1.2 on H100\ntpot_mean=5ms\n# v1.3 on L40S\ntpot_mean=8ms\n",  # on other cards
        "# v1.2\ntpot_mean=5ms ttft_mean=400ms\n# v1.3\ntpot_mean=8ms ttft_mean=100ms\n",  # one thing for another
        "# v1.2\ntpot_mean=5ms\n# v1.2\ntpot_mean=8ms\n",  # the same version
        "# v1.2\ntpot_max=5ms\n# v1.3\ntpot_max=8ms\n",  # an extreme
        "# v1.2\nAvg generation throughput: 90.1 tokens/s\n# v1.3\nAvg generation throughput: 20.2 tokens/s\n",  # less to do
    ],
)
def test_what_is_no_slower_version(text: str) -> None:
    assert compared(text) == []


def test_one_kind_of_request_is_slower() -> None:
    (event,) = compared("mode=free ttft_p50=0.2s\nmode=json_schema ttft_p50=2.2s\n")
    assert (event.attrs["by"], event.attrs["value"], event.attrs["against"]) == ("mode", "json_schema", "free")
    assert event.attrs["role"] == "info"


def test_versions_of_two_files_are_compared_by_their_names() -> None:
    old, new = MeasuredRuns("bench-v0.5.12.txt"), MeasuredRuns("bench-v0.5.13.txt")
    old.feed(b"Output token throughput (tok/s):   680.1", 10.0)
    new.feed(b"Output token throughput (tok/s):   510.4", 2000.0)
    (event,) = slower_runs([*old.close(), *new.close()], SERVICE, WINDOW)
    assert event.attrs["times"] == "1.33"


@pytest.mark.parametrize(
    "text",
    [
        "| Version | Concurrency | Mean TPOT (ms) |\n|---|--:|---|\n| 0.9.2 | 16 | 12.7 |\n| 0.10.1 | 16 | 19.0 |\n",
        "| | engine 0.9.2 | engine 0.10.1 |\n|---|---|---|\n| Mean TPOT (ms) | 12.7 | 19.0 |\n| Requests | 200 | 200 |\n",
        "│ tag │ TPOT │\n├─────┼──────┤\n│ 0.9.2 │ 12.7 ms │\n│ 0.10.1 │ 19.0 ms ± 0.2 │\n",
        "with 0.9.2 I get 1,180 and 78.7 tok/s\nsince 0.10.1 only 52.6 tok/s\n",
        "0.9.2: 78.7 tokens/s\n0.10.1: 52.6 tokens/s\n",
    ],
)
def test_tables_that_people_draw_and_sentences_are_read(text: str) -> None:
    (event,) = compared(text)
    assert (event.attrs["value"], event.attrs["against"]) == ("0.10.1", "0.9.2")
    assert event.attrs["times"] == "1.50"


@pytest.mark.parametrize(
    ("text", "by", "against"),
    [
        (
            "# with speculative decoding\nTPOT: 19 ms\n# without speculative decoding\nTPOT: 12 ms\n",
            "run",
            "without speculative decoding",
        ),
        (
            "$ serve m --draft d\n$ load --users 4\nTPOT: 19 ms\n$ serve m\n$ load --users 4\nTPOT: 12 ms\n",
            "--draft",
            "without --draft",
        ),
    ],
)
def test_a_setting_makes_runs_slower(text: str, by: str, against: str) -> None:
    (event,) = compared(text)
    assert (event.attrs["by"], event.attrs["against"]) == (by, against)


def test_versions_that_run_with_other_flags_are_no_comparison() -> None:
    told = compared("$ serve-0.9.2 m --tp 2\nTPOT: 12 ms\n$ serve-0.10.1 m --tp 1\nTPOT: 19 ms\n")
    assert not [event for event in told if event.attrs["by"] == "version"]


def test_rows_of_other_settings_are_no_comparison() -> None:
    assert compared("| tag | concurrency | TPOT (ms) |\n|---|---|---|\n| 0.9.2 | 4 | 12 |\n| 0.10.1 | 64 | 40 |\n") == []


@given(st.lists(st.text(alphabet="|-0123456789.v ms\u2502abTPO()", max_size=60), max_size=30))
def test_any_table_is_read(lines: list[str]) -> None:
    reader = MeasuredRuns("x.log")
    for line in lines:
        reader.feed(line.encode(), 2000.0)
    assert all(run.figures for run in reader.close())


@given(st.lists(st.binary(max_size=200), max_size=40))
def test_any_text_is_read(lines: list[bytes]) -> None:
    reader = MeasuredRuns("x.log")
    for line in lines:
        reader.feed(line, 2000.0)
    assert all(run.figures for run in reader.close())


# ---------------------------------------------------------------- counts at one number


def counted(lines: list[str]) -> list[Event]:
    reader = CappedCounts(SERVICE, WINDOW, "app.log")
    for number, line in enumerate(lines):
        reader.feed(line.encode(), 2000.0 + number)
    return list(reader.events())


SENT = [900, 2100, 3700, 4600, 7000, 9100, 5200, 1800]


def test_prompts_beyond_one_length_are_counted_alike() -> None:
    (event,) = counted([f"sent={sent} prompt_tokens={min(sent + sent % 7, 4096)}" for sent in SENT])
    assert (event.attrs["limit"], event.attrs["sent"], event.attrs["known"]) == ("4096", "sent", "yes")
    assert event.attrs["count"] == "4"


def test_lengths_that_a_sentence_tells() -> None:
    (event,) = counted([f"sent {sent} tokens -> usage prompt_tokens: {min(sent + 9, 4096)} finish_reason=stop" for sent in SENT])
    assert (event.attrs["limit"], event.attrs["known"]) == ("4096", "yes")


@pytest.mark.parametrize("mark", [" | ", ",", "\t", "    "])
def test_counts_in_a_table(mark: str) -> None:
    rows = [mark.join(("doc", "tokens sent", "prompt_eval_count")), "---" if mark == " | " else ""]
    rows += [mark.join((f"d{sent}", str(sent), str(min(sent, 4096)))) for sent in SENT]
    (event,) = counted(rows)
    assert (event.attrs["limit"], event.attrs["sent"], event.attrs["field"]) == ("4096", "tokens_sent", "prompt_eval_count")


@given(st.permutations(SENT), st.integers(2200, 4000))
def test_the_order_of_requests_is_nothing(order: list[int], limit: int) -> None:
    lines = [f'{{"prompt_chars": {4 * sent}, "usage": {{"prompt_tokens": {min(sent, limit)}}}}}' for sent in order]
    (event,) = counted(lines)
    assert event.attrs["limit"] == str(limit)


@pytest.mark.parametrize(
    "lines",
    [
        [f"sent={sent} prompt_tokens={sent}" for sent in SENT],  # whole
        [f"sent={sent} prompt_tokens={min(sent, 4096)} status=400" for sent in SENT],  # refused
        [f"sent={sent} completion_tokens={min(sent, 4096)}" for sent in SENT],  # answers have limits
        ["sent=5000 prompt_tokens=4096"] * 8,  # one prompt, again and again
        [f"id={9000 - sent} prompt_tokens={min(sent, 4096)}" for sent in SENT[:6]],  # nothing says how long they were
    ],
)
def test_what_is_no_cut(lines: list[str]) -> None:
    assert counted(lines) == []


def test_the_longest_count_comes_again_and_again() -> None:
    (event,) = counted([f"prompt_tokens={count}" for count in (4096, 812, 4096, 1330, 4096, 2048, 4096, 97, 4096, 3001)])
    assert event.attrs["known"] == "no"
    assert event.attrs["role"] == "info"


# ---------------------------------------------------------------- given up at one age


def given_up(ages: list[float], between: float = 90.0) -> list[Event]:
    reader = GivenUp(Subject(Scope.REPLICA, "chat-0"), WINDOW, "engine.log")
    lines = []
    for number, age in enumerate(ages):
        came = 1100.0 + between * number
        lines.append((came, f"Received request cmpl-{number:032x}"))
        lines.append((came + age, f"Aborted request cmpl-{number:032x}."))
    for time, line in sorted(lines):
        reader.feed(line.encode(), time)
    return list(reader.events())


def test_requests_given_up_at_one_age_met_a_limit() -> None:
    (event,) = given_up([60.0, 60.2, 59.8, 60.0, 12.0])
    assert (event.attrs["who"], event.attrs["seconds"], event.attrs["count"]) == ("engine", "60", "4")


@pytest.mark.parametrize(
    ("ages", "between"),
    [
        ([10.0, 31.0, 55.0, 90.0], 90.0),  # at many
        ([60.0, 60.0], 90.0),  # too few
        ([0.4, 0.5, 0.4, 0.5], 90.0),  # called off at once
        ([60.0, 60.0, 60.0, 60.0], 0.1),  # all at one moment
    ],
)
def test_people_who_leave_are_no_limit(ages: list[float], between: float) -> None:
    assert given_up(ages, between) == []


def test_a_request_of_which_nobody_knows_when_it_came_has_no_age() -> None:
    reader = GivenUp(SERVICE, WINDOW, "engine.log")
    for number in range(5):
        reader.feed(f"Aborted request cmpl-{number:032x}.".encode(), 2000.0 + 60 * number)
    assert list(reader.events()) == []


def waited(lines: list[str], between: float = 60.0) -> list[Event]:
    reader = GivenUp(SERVICE, WINDOW, "app.log")
    for number, line in enumerate(lines):
        reader.feed_asker(line.encode(), 1100.0 + between * number)
    return list(reader.events())


def test_who_asks_waits_for_one_time_for_nothing() -> None:
    (event,) = waited([f"request {number} failed after 42.{number}1s: ReadTimeout" for number in (0, 0, 1, 0)])
    assert (event.attrs["who"], event.attrs["seconds"], event.attrs["longer"]) == ("client", "42", "0")


def test_answers_that_take_longer_on_another_way_are_counted() -> None:
    lines = ["max_tokens=4096 http=504 total=60.004"] * 3 + [
        "max_tokens=4096 stream=true http=200 total=149.7",
        "http=200 total=7",
    ]
    (event,) = waited(lines, between=0.0)
    assert event.attrs["longer"] == "1"


@pytest.mark.parametrize(
    ("lines", "between"),
    [
        (["http=504 total=12.3", "http=504 total=31.9", "http=504 total=44.1", "http=504 total=58.0"], 60.0),  # at many
        (["http=504 total=37.3"] * 4, 0.0),  # all at one moment, at no limit that anybody would set
        (["http=200 total=60.0"] * 4, 60.0),  # answered
        (["request timed out"] * 4, 60.0),  # nobody says after how long
    ],
)
def test_waits_that_are_no_limit(lines: list[str], between: float) -> None:
    assert waited(lines, between) == []
