"""A recording comes back from its file as it was, SQL can read the file, and a bad file is refused in one clear sentence."""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from math import inf, nan
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

from triage.errors import DataError, InputMissingError, UsageError
from triage.ingest.files.parquet import METADATA_KEY, pages, read_recording, reading, store, write_recording, writing
from triage.model.recording import Event, Fact, Histogram, Origin, Recording, Series, Source, SourceState, Subject, Window
from triage.model.vocabulary import Kind, Scope, catalogue

ORIGIN = Origin("vllm", "vllm:kv_cache_usage_perc", 'vllm:kv_cache_usage_perc{pod="a"}')
TIMES = np.array([100.0, 115.0, 130.125])
PLAIN = sorted(name for name, signal in catalogue().items() if signal.kind is not Kind.DISTRIBUTION)
DISTRIBUTIONS = sorted(name for name, signal in catalogue().items() if signal.kind is Kind.DISTRIBUTION)


def replica(name: str) -> Subject:
    return Subject(Scope.REPLICA, name)


def series(signal: str, subject: str, values: Iterable[float]) -> Series:
    return Series(signal, replica(subject), TIMES, np.array(list(values), dtype=float), ORIGIN)


def a_recording() -> Recording:
    """Two replicas with one gauge each and one distribution, and something in every other field."""
    ttft = Histogram(
        "latency.ttft",
        replica("a"),
        TIMES,
        np.array([0.1, 1.0, inf]),
        np.arange(9.0).reshape(3, 3),
        np.array([0.5, 0.25, 0.125]),
        ORIGIN,
    )
    return Recording(
        service="chat",
        window=Window(100.0, 130.125, 40.0, 90.0),
        series=(series("kv.usage", "a", [0.5, 0.75, 1.0]), series("kv.usage", "b", [0.1, 0.2, 0.3])),
        histograms=(ttft,),
        events=(Event(101.0, "xid", "79", Subject(Scope.NODE, "n1"), {"pci": "0000:17:00"}, "gone from the bus", "kernel-n1"),),
        facts=(Fact(replica("a"), "max_num_seqs", 256.0, "flag"), Fact(Subject(Scope.SERVICE, "chat"), "model", "8")),
        links={replica("a"): (Subject(Scope.NODE, "n1"),)},
        routes={Subject(Scope.GATEWAY, "gw"): (replica("a"),)},
        strangers=("other-0",),
        objectives={"ttft_p95_s": 2.0},
        sources=(Source("prometheus", SourceState.PARTIAL, "two queries timed out"),),
        problems=("clocks differ by 3 s",),
        rejected={"gpu.temp": "4000 degrees"},
        unanswered={"kv.usage": "vllm:kv_cache_usage_perc: http://metrics:9090 asks for fewer questions (429)"},
        step=15.0,
        begun={"kv-leak": 110.5},
    )


def frozen(value: Any) -> Any:
    """A value in a form that == compares deeply: arrays by their bytes and shape, so -0.0 and 0.0 differ."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(frozen(getattr(value, f.name)) for f in fields(value)))
    if isinstance(value, dict):
        return {key: frozen(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(frozen(one) for one in value)
    return value


def by_signal(recording: Recording) -> Recording:
    """A recording with its series as a file has them: signal by signal, those of one source and the same moments together."""
    return replace(
        recording,
        series=[row for panels in recording.panels.values() for panel in panels for row in panel.rows()],
        histograms=[row for panels in recording.histogram_panels.values() for panel in panels for row in panel.rows()],
    )


def asked(query: str) -> list[Any]:
    """The rows that DuckDB answers."""
    answer = duckdb.sql(query)
    assert answer is not None
    return answer.fetchall()


LABELS = ["signal", "scope", "subject", "part"]


def rewritten(source: Path, path: Path, change: Callable[[dict[str, Any]], object], table: pa.Table | None = None) -> Path:
    """A copy of a recording whose document was changed by hand, and optionally its rows, too."""
    rows = _rows(source) if table is None else table
    document = json.loads(pq.read_metadata(source).metadata[METADATA_KEY])
    change(document)
    spelt = [name for name in rows.schema.names if name not in ("selectors", "values")]
    with pq.ParquetWriter(path, rows.schema.remove_metadata(), store_schema=False, use_dictionary=spelt) as writer:
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(document).encode()})
        times = sum(part == "times" for part in rows.column("part").to_pylist()) if "part" in spelt else 1
        writer.write_table(rows.slice(0, times))
        writer.write_table(rows.slice(times))
    return path


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "chat.parquet"
    write_recording(a_recording(), path)
    return path


# Round trip


def test_a_recording_comes_back_as_it_was(written: Path) -> None:
    """Every field is the same after writing and reading, bit for bit."""
    assert frozen(read_recording(written)) == frozen(a_recording())


def test_every_field_of_a_recording_is_filled_in_the_example() -> None:
    """A field added to Recording must be added to the file, too; the round trip above then proves it."""
    empty = Recording("", Window(0.0, 0.0, 0.0), step=0.0)
    example = a_recording()
    same = [f.name for f in fields(Recording) if frozen(getattr(example, f.name)) == frozen(getattr(empty, f.name))]
    assert same == []


_NAMES = st.text(max_size=12)
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_SUBJECTS = st.builds(Subject, st.sampled_from(Scope), _NAMES)
_ORIGINS = st.builds(Origin, _NAMES, _NAMES, _NAMES, st.booleans(), _NUMBERS)
_TIMES = st.lists(_NUMBERS, max_size=5, unique=True).map(lambda times: np.array(sorted({t + 0.0 for t in times})))


@st.composite
def _series(draw: st.DrawFn) -> Series:
    times = draw(_TIMES)
    values = draw(st.lists(_NUMBERS, min_size=len(times), max_size=len(times)))
    return Series(draw(st.sampled_from(PLAIN)), draw(_SUBJECTS), times, np.array(values, dtype=float), draw(_ORIGINS))


@st.composite
def _histograms(draw: st.DrawFn) -> Histogram:
    times = draw(_TIMES)
    bounds = np.append(draw(_TIMES), inf)
    count = len(times) * len(bounds)
    rates = np.array(draw(st.lists(_NUMBERS, min_size=count, max_size=count)), dtype=float).reshape(len(times), len(bounds))
    sums = np.array(draw(st.lists(_NUMBERS | st.just(nan), min_size=len(times), max_size=len(times))), dtype=float)
    return Histogram(draw(st.sampled_from(DISTRIBUTIONS)), draw(_SUBJECTS), times, bounds, rates, sums, draw(_ORIGINS))


_TEXTS = st.dictionaries(_NAMES, _NAMES, max_size=2)
_EVENTS = st.builds(Event, _NUMBERS, _NAMES, _NAMES, st.none() | _SUBJECTS, _TEXTS, _NAMES, _NAMES)
_RECORDINGS = st.builds(
    Recording,
    service=_NAMES,
    window=st.lists(_NUMBERS, min_size=3, max_size=3).map(sorted).map(lambda t: Window(t[1], t[2], t[0])),
    series=st.lists(_series(), max_size=3).map(tuple),
    histograms=st.lists(_histograms(), max_size=2).map(tuple),
    events=st.lists(_EVENTS, max_size=2).map(tuple),
    facts=st.lists(st.builds(Fact, _SUBJECTS, _NAMES, _NAMES | _NUMBERS, _NAMES), max_size=3).map(tuple),
    links=st.dictionaries(_SUBJECTS, st.lists(_SUBJECTS, max_size=2).map(tuple), max_size=2),
    routes=st.dictionaries(_SUBJECTS, st.lists(_SUBJECTS, max_size=2).map(tuple), max_size=2),
    strangers=st.lists(_NAMES, max_size=2).map(tuple),
    objectives=st.dictionaries(_NAMES, _NUMBERS, max_size=2),
    sources=st.lists(st.builds(Source, _NAMES, st.sampled_from(SourceState), _NAMES), max_size=2).map(tuple),
    problems=st.lists(_NAMES, max_size=2).map(tuple),
    rejected=_TEXTS,
    step=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(recording=_RECORDINGS)
def test_any_recording_comes_back_as_it_was(recording: Recording, tmp_path: Path) -> None:
    """Whatever the numbers, names and texts are, what is read equals what was written, bit for bit, signal by signal."""
    path = tmp_path / "any.parquet"
    write_recording(recording, path)
    assert frozen(read_recording(path)) == frozen(by_signal(recording))


def test_many_row_groups_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording larger than a row group comes back whole, with panels cut anywhere."""
    monkeypatch.setattr(writing, "_SAMPLES_PER_GROUP", 1)
    path = tmp_path / "many.parquet"
    write_recording(a_recording(), path)
    assert pq.read_metadata(path).num_row_groups > 2
    assert frozen(read_recording(path)) == frozen(a_recording())


def test_numbers_of_a_large_file_are_read_when_they_are_asked_for(
    written: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A signal that nobody asks for is not read; what is read is what was written, as often as it is asked for."""
    monkeypatch.setattr(writing, "_SAMPLES_PER_GROUP", 3)
    monkeypatch.setattr(store, "_AT_ONCE", 0)
    monkeypatch.setattr(store, "_KEPT_GROUPS", 1)
    path = tmp_path / "large.parquet"
    write_recording(a_recording(), path)
    asked: list[tuple[int, list[str]]] = []
    honest = pq.ParquetFile.read_row_group

    def told(file: pq.ParquetFile, group: int, columns: list[str]) -> pa.Table:
        asked.append((group, columns))
        return honest(file, group, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", told)
    found = read_recording(path)
    assert asked == [(0, ["values"])]  # the times
    (panel,) = found.panels["kv.usage"]
    assert panel.values.tolist() == [[0.5, 0.75, 1.0], [0.1, 0.2, 0.3]]
    assert asked[1:] == [(1, ["values"])]
    (spread,) = found.histogram_panels["latency.ttft"]
    for _ in range(2):
        assert frozen(spread.row(0)) == frozen(a_recording().histograms[0])
        assert frozen(found.series[1]) == frozen(a_recording().series[1])


def test_the_same_recording_gives_the_same_bytes(tmp_path: Path) -> None:
    """Nothing of the clock or of hash order is in the file."""
    for name in ("one", "two"):
        write_recording(a_recording(), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


# SQL


def test_sql_reads_a_mean_per_subject(written: Path) -> None:
    """The file answers an ordinary query with no help from triage."""
    query = f"SELECT subject, list_avg(values) FROM '{written}' WHERE signal = 'kv.usage' ORDER BY 1"
    assert asked(query) == [("a", pytest.approx(0.75)), ("b", pytest.approx(0.2))]


def test_sql_reads_a_row_a_sample(written: Path) -> None:
    """Values meet their times again."""
    query = f"""SELECT unnest(clock.values), unnest(curve.values) FROM '{written}' curve JOIN '{written}' clock
        ON clock.part = 'times' AND clock.moments = curve.moments WHERE curve.signal = 'kv.usage' AND curve.subject = 'a'"""
    assert asked(query) == [(100.0, 0.5), (115.0, 0.75), (130.125, 1.0)]


def test_sql_tells_buckets_from_values(written: Path) -> None:
    """Parts and bounds are there to sum a distribution bucket by bucket; plain series have no bound."""
    query = f"SELECT part, bound, list_sum(values) FROM '{written}' WHERE subject = 'a' ORDER BY part, bound"
    assert asked(query) == [
        ("bucket", 0.1, 9.0),
        ("bucket", 1.0, 12.0),
        ("bucket", inf, 15.0),
        ("sum", None, 0.875),
        ("value", None, 2.25),
    ]


def test_an_unknown_sum_is_null_for_sql(tmp_path: Path) -> None:
    """A source that gives buckets and no sum leaves the sum unknown (NaN in memory); SQL sees null and not a NaN that spreads."""
    unknown = replace(a_recording().histograms[0], sums=np.full(3, nan))
    path = tmp_path / "x.parquet"
    write_recording(replace(a_recording(), histograms=(unknown,)), path)
    assert asked(f"SELECT len(values), list_count(values) FROM '{path}' WHERE part = 'sum'") == [(3, 0)]
    assert np.isnan(read_recording(path).histograms[0].sums).all()


def test_sql_reads_the_events(written: Path) -> None:
    """Events and facts are JSON in the file's metadata and can be reached from SQL as well."""
    text = f"(SELECT decode(value)::JSON AS d FROM parquet_kv_metadata('{written}') WHERE decode(key) = 'triage.recording')"
    assert asked(f"SELECT d->>'$.events[0].name' FROM {text}") == [("79",)]


# What cannot be written


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_a_value_that_is_not_finite_is_not_written(tmp_path: Path, bad: float) -> None:
    """The contract of a recording is finite values; the writer names the series that breaks it and leaves no file."""
    broken = replace(a_recording(), series=(series("kv.usage", "a", [0.5, bad, 1.0]),))
    with pytest.raises(DataError, match=r"kv\.usage of replica/a"):
        write_recording(broken, tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_fact_that_is_not_finite_is_not_written(tmp_path: Path) -> None:
    """JSON has no infinity, so a fact without a finite value is refused before a file is made."""
    broken = replace(a_recording(), facts=(Fact(replica("a"), "limit", inf),))
    with pytest.raises(DataError, match="not finite"):
        write_recording(broken, tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """Writing into nowhere is the user's mistake and is told as such."""
    with pytest.raises(UsageError, match="cannot write"):
        write_recording(a_recording(), tmp_path / "none" / "x.parquet")


# What is refused


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """No file is another thing than a broken file."""
    with pytest.raises(InputMissingError, match=r"none\.parquet"):
        read_recording(tmp_path / "none.parquet")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"not parquet at all" * 9, b"PAR1" + b"\xff" * 64 + b"PAR1"])
def test_garbage_is_refused(tmp_path: Path, data: bytes) -> None:
    """What is no Parquet is refused with one line that names the file."""
    path = tmp_path / "x.parquet"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        read_recording(path)
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message


def test_a_truncated_file_is_refused(written: Path) -> None:
    """A recording cut anywhere is refused."""
    data = written.read_bytes()
    for size in range(0, len(data), len(data) // 20):
        written.write_bytes(data[:size])
        with pytest.raises(DataError):
            read_recording(written)


def test_a_flipped_bit_is_noticed_or_harmless(written: Path) -> None:
    """Damage is refused as such; it never crashes, and never changes a number in silence."""
    data = written.read_bytes()
    chance = random.Random(7)
    refused = 0
    for _ in range(300):
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        written.write_bytes(broken)
        try:
            found = read_recording(written)
        except DataError:
            refused += 1
            continue
        if [s.signal for s in found.series] == ["kv.usage", "kv.usage"]:
            assert _numbers(found) == _numbers(a_recording())
    assert refused > 100


def _numbers(recording: Recording) -> Any:
    return [frozen(s.values) for s in recording.series], [frozen(h.rates) for h in recording.histograms]


def test_a_foreign_parquet_file_is_refused(tmp_path: Path) -> None:
    """Any other Parquet file is told apart from a damaged recording."""
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    with pytest.raises(DataError, match="not a recording"):
        read_recording(path)


@pytest.mark.parametrize(("form", "hint"), [("triage.recording/3", "use a newer triage"), ("triage.recording/1", "record again")])
def test_another_form_is_said(written: Path, tmp_path: Path, form: str, hint: str) -> None:
    """A file of another version is told apart from a damaged one, even if its document has fields unknown today."""
    path = rewritten(written, tmp_path / "new", lambda d: d.update(schema=form, more=1))
    with pytest.raises(DataError, match=form) as caught:
        read_recording(path)
    assert caught.value.hint == hint


BAD_DOCUMENTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no service": lambda d: d.pop("service"),
    "unknown key": lambda d: d.update(run="rm"),
    "infinite step": lambda d: d.update(step=inf),
    "no step": lambda d: d.update(step=0),
    "NaN objective": lambda d: d["objectives"].update(ttft_p95_s=nan),
    "window backwards": lambda d: d["window"].update(start=999.0),
    "infinite event": lambda d: d["events"][0].update(time=inf),
    "event with more": lambda d: d["events"][0].update(more=1),
    "fact is a list": lambda d: d["facts"][0].update(value=[1]),
    "unknown scope": lambda d: d["facts"][0].update(subject=["planet", "a"]),
    "no origins": lambda d: d.update(origins=[]),
    "origin without a metric": lambda d: d["origins"][0].pop("metric"),
    "nothing but the form": lambda d: [d.pop(key) for key in list(d) if key != "schema"],
}


@pytest.mark.parametrize("change", BAD_DOCUMENTS.values(), ids=BAD_DOCUMENTS)
def test_a_hostile_document_is_refused(written: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Metadata is checked before anything is made of it."""
    path = rewritten(written, tmp_path / "bad.parquet", change)
    with pytest.raises(DataError) as caught:
        read_recording(path)
    assert "damaged recording" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"schema": 1}', b"null"])
def test_a_document_that_is_no_json_is_refused(written: Path, tmp_path: Path, text: bytes) -> None:
    """Broken, deeply nested and mistyped JSON all end in the same sort of error."""
    path = tmp_path / "bad.parquet"
    with pq.ParquetFile(written) as file, pq.ParquetWriter(path, file.schema_arrow.remove_metadata()) as writer:
        writer.add_key_value_metadata({METADATA_KEY: text})
        writer.write_table(file.read().replace_schema_metadata(None))
    with pytest.raises(DataError, match="damaged recording"):
        read_recording(path)


def _rows(written: Path) -> pa.Table:
    with pq.ParquetFile(written, read_dictionary=LABELS) as file:
        return file.read()


def _with(table: pa.Table, name: str, values: Any) -> pa.Table:
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))


def _lists(table: pa.Table, change: Callable[[list[list[float | None]]], object]) -> pa.Table:
    rows = table.column("values").to_pylist()
    change(rows)
    return _with(table, "values", rows)


def _told(name: str, *values: Any) -> Callable[[pa.Table], pa.Table]:
    """Rows whose first ones say something else in a column."""
    return lambda table: _with(table, name, [*values, *table.column(name).to_pylist()[len(values) :]])


BAD_ROWS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "times last": lambda t: t.take([1, 3, 2, 4, 5, 6, 0]),
    "sorted by bound": lambda t: t.take([0, 1, 2, 5, 4, 3, 6]),
    "value NaN": lambda t: _lists(t, lambda rows: rows[1].__setitem__(0, nan)),
    "value null": lambda t: _lists(t, lambda rows: rows[1].__setitem__(0, None)),
    "value infinite": lambda t: _lists(t, lambda rows: rows[1].__setitem__(0, inf)),
    "bucket without value": lambda t: _lists(t, lambda rows: rows[4].__setitem__(0, None)),
    "one value less": lambda t: _lists(t, lambda rows: rows[1].pop()),
    "a value from the next row": lambda t: _lists(t, lambda rows: rows[1].append(rows[2].pop() or 0.0)),
    "time infinite": lambda t: _lists(t, lambda rows: rows[0].__setitem__(2, inf)),
    "time unknown": lambda t: _lists(t, lambda rows: rows[0].__setitem__(0, None)),
    "time stands still": lambda t: _lists(t, lambda rows: rows.__setitem__(0, [1.0] * 3)),
    "no times": lambda t: t.slice(1),
    "times of nobody": _told("moments", 0, 1),
    "moments below": _told("moments", 0, -1),
    "origin beyond": _told("origin", None, 7),
    "no origin": _told("origin", None, None),
    "unknown scope": _told("scope", "service", "planet"),
    "unknown part": _told("part", "times", "mean"),
    "no column": lambda t: t.drop_columns(["part"]),
    "one more column": lambda t: t.append_column("more", t.column("born")),
    "bound on values": _told("bound", None, 1.0),
    "all buckets": _told("part", "times", *["bucket"] * 6),
    "bounds descend": lambda t: _with(t, "bound", [None, None, None, 1.0, 0.1, inf, None]),
    "no last bucket": lambda t: pa.concat_tables([t.slice(0, 5), t.slice(6)]),
    "no sums": lambda t: t.slice(0, 6),
    "sums of another": _told("subject", "", "a", "b", "a", "a", "a", "b"),
}


@pytest.mark.parametrize("change", BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_that_do_not_fit_the_document_are_refused(
    written: Path, tmp_path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    """Rows moved, dropped or changed by another program are noticed instead of being given to the wrong series."""
    path = rewritten(written, tmp_path / "bad.parquet", lambda _: None, change(_rows(written)))
    with pytest.raises(DataError, match="damaged recording"):
        read_recording(path)


LIMITS = [("MAX_ROWS", 6), ("MAX_SAMPLES", 20), ("MAX_SAMPLES_OF_A_GROUP", 17), ("MAX_LABEL_BYTES", 100)]


@pytest.mark.parametrize(("limit", "most"), LIMITS)
def test_too_much_is_refused_before_it_is_read(written: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    """A small file can claim any number of rows and numbers; the limits are held against the claim."""
    monkeypatch.setattr(reading, limit, most)
    with pytest.raises(DataError, match=f"at most {most} are read"):
        read_recording(written)


def test_rows_do_not_count_as_one_matrix_because_they_follow_each_other(tmp_path: Path) -> None:
    """Signals, sources, moments and buckets each have a matrix of their own."""
    one = series("kv.usage", "a", [0.5, 0.75, 1.0])
    later = replace(one, subject=replica("b"), times=TIMES + 1.0)
    foreign = replace(one, subject=replica("c"), origin=replace(ORIGIN, dialect="sglang"))
    other = replace(one, signal="batch.running")
    coarse = replace(a_recording().histograms[0], subject=replica("b"), bounds=np.array([0.2, 1.0, inf]))
    path = tmp_path / "x.parquet"
    recording = replace(a_recording(), series=(one, later, foreign, other), histograms=(*a_recording().histograms, coarse))
    write_recording(recording, path)
    found = read_recording(path)
    assert [len(panels) for panels in found.panels.values()] == [3, 1]
    assert [len(panels) for panels in found.histogram_panels.values()] == [2]
    assert frozen(found) == frozen(by_signal(recording))


def test_a_signal_of_another_version_is_left_out_and_said(written: Path, tmp_path: Path) -> None:
    """A signal that this version has no word for does not spoil the rest, and does not vanish in silence."""
    path = rewritten(written, tmp_path / "new", lambda _: None, _told("signal", "", "kv.of_the_future")(_rows(written)))
    found = read_recording(path)
    assert [s.subject.id for s in found.series] == ["b"]
    assert any("kv.of_the_future" in problem for problem in found.problems)


# Pages


def test_the_footer_is_read_as_arrow_reads_it(written: Path) -> None:
    """Names, counts, sizes and places of all columns."""
    footer = pq.read_metadata(written)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    assert [group.num_rows for group in groups] == [group.rows for group in pages.row_groups(written)]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    for arrow, own in zip(columns, (one for group in pages.row_groups(written) for one in group.columns), strict=True):
        begin = arrow.dictionary_page_offset if arrow.has_dictionary_page else arrow.data_page_offset
        told = (arrow.path_in_schema, arrow.num_values, arrow.total_uncompressed_size, begin, begin + arrow.total_compressed_size)
        assert (own.name, own.values, own.unpacked, own.begin, own.end) == told


def test_a_footer_with_which_arrow_would_end_the_process_is_refused(written: Path) -> None:
    """Of each byte of the footer each bit: it is told, or nothing that is read has changed."""
    data = written.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(begin, len(data), 7):
        broken = bytearray(data)
        broken[at] ^= 1 << at % 8
        written.write_bytes(broken)
        with suppress(DataError):
            read_recording(written)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(min_value=4, max_value=400), byte=st.integers(min_value=0, max_value=255))
def test_headers_of_pages_never_break_the_reader(written: Path, tmp_path: Path, at: int, byte: int) -> None:
    """Whatever a page's header holds, it is told in one sort of error, or the sizes are what the footer says."""
    data = bytearray(written.read_bytes())
    data[at] = byte
    path = tmp_path / "broken.parquet"
    path.write_bytes(data)
    with suppress(pages.PageError):
        pages.check_pages(path, pages.row_groups(written), no_dictionary="selectors")


def test_a_page_that_holds_more_than_the_footer_says_is_refused(written: Path) -> None:
    """A page's header that counts more values than announced is what a decompression bomb is made of."""
    column = pages.row_groups(written)[1].columns[-1]
    assert column.name == "values.list.element"
    data = bytearray(written.read_bytes())
    start = column.begin
    before = _thrift(18)  # the numbers of six rows of three
    place = data.index(before, start, start + 40)
    data[place : place + len(before)] = _thrift(18 + 32)
    written.write_bytes(data)
    with pytest.raises(DataError, match="announces 18 values and has 50"):
        read_recording(written)


def _thrift(count: int) -> bytes:
    """How a page's header says how many values it has: the first field of its structure, zigzag."""
    return bytes([0x1C, 0x15, 2 * count])


def test_texts_of_selectors_are_spelt_out(written: Path, tmp_path: Path) -> None:
    """A long text in a dictionary takes a few bits a row and unpacks to any size."""
    path = tmp_path / "bad.parquet"
    with pq.ParquetFile(written, read_dictionary=LABELS) as file:
        metadata, groups = dict(file.metadata.metadata or {}), [file.read_row_group(n) for n in range(file.num_row_groups)]
    with pq.ParquetWriter(path, groups[0].schema.remove_metadata(), store_schema=False, use_dictionary=True) as writer:
        writer.add_key_value_metadata({METADATA_KEY: metadata[METADATA_KEY]})
        for group in groups:
            writer.write_table(group)
    with pytest.raises(DataError, match=r"selectors.* has a dictionary"):
        read_recording(path)
