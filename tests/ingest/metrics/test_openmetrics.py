"""The reader of expositions against the reference parsers, on made-up and recorded text, and line by line where they differ."""

import gzip
import lzma
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric, Timestamp
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families_of_openmetrics
from prometheus_client.parser import text_string_to_metric_families as families_of_text
from prometheus_client.samples import Exemplar

from triage.errors import DataError, InputMissingError
from triage.ingest.metrics.openmetrics import Exposition, parse, read_text

TESTS = Path(__file__).parents[2]
PAYLOADS = sorted((TESTS / "dialects" / "payloads").glob("*.txt"))
RECORDED = sorted((TESTS / "incidents").glob("*/metrics.om.xz"))[::9]

Samples = dict[tuple[str, frozenset[tuple[str, str]]], dict[float, float]]

names = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,6}", fullmatch=True)
label_names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,6}", fullmatch=True).filter(lambda name: not name.startswith("__"))
label_values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=8),
    st.sampled_from(['}', '"} 1 2', " # {", 'a="b",', "\\", "\\n", "\n", "{", ",", " ", "#"]),
)  # fmt: skip
labels = st.dictionaries(label_names, label_values, max_size=3)
values = st.floats(allow_nan=False, allow_infinity=False)
moments = st.integers(min_value=1_000_000_000_000, max_value=2_000_000_000_000)


def read(text: str) -> Samples:
    """What our reader makes of a text."""
    return samples_of(parse(text.encode()))


def samples_of(exposition: Exposition) -> Samples:
    return {
        (one.name, frozenset(one.labels.items())): dict(zip(one.times.tolist(), one.values.tolist(), strict=True))
        for one in exposition.series
    }


def only(text: str) -> tuple[str, dict[str, str], list[float], list[float]]:
    """Name, labels, times and values of the only series of a text."""
    exposition = parse(text.encode())
    assert len(exposition.series) == 1
    assert exposition.bad_lines == 0
    one = exposition.series[0]
    return one.name, dict(one.labels), one.times.tolist(), one.values.tolist()


def reference(families: Iterable[Metric]) -> Samples:
    """What a reference parser makes of a text."""
    found: Samples = {}
    for family in families:
        for sample in family.samples:
            assert sample.timestamp is not None
            key = sample.name, frozenset(sample.labels.items())
            found.setdefault(key, {}).setdefault(float(sample.timestamp), sample.value)
    return found


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


@st.composite
def prometheus_texts(draw: st.DrawFn) -> str:
    """Text in the Prometheus format: a few series, their samples in any order, blanks and comments in between."""
    lines = []
    label_sets = st.lists(labels, min_size=1, max_size=3, unique_by=lambda one: frozenset(one.items()))
    for name, series in draw(st.dictionaries(names, label_sets, max_size=4)).items():
        for one in series:
            inside = ",".join(f'{label}="{escaped(value)}"' for label, value in one.items())
            head = name + (f"{{{inside}}}" if inside else draw(st.sampled_from(["", "{}"])))
            for moment, value in draw(st.dictionaries(moments, values, min_size=1, max_size=3)).items():
                gap = draw(st.sampled_from([" ", "  ", "\t"]))
                lines.append(f"{head}{gap}{value!r}{gap}{moment}")
    lines += draw(st.lists(st.sampled_from(["", "# a comment", "# HELP x some } text", "# TYPE x gauge", "   "]), max_size=3))
    return "\n".join(draw(st.permutations(lines))) + "\n"


@given(prometheus_texts())
def test_prometheus_text_reads_as_the_reference_reads_it(text: str) -> None:
    """The same series with the same samples as the reference parser's, whatever stands in label values and between lines."""
    assert read(text) == reference(families_of_text(text))


class Exposing:
    """A collector of given metrics, for the reference implementation to write."""

    def __init__(self, metrics: list[Metric]) -> None:
        self.metrics = metrics

    def collect(self) -> list[Metric]:
        return self.metrics


@st.composite
def openmetrics_texts(draw: st.DrawFn) -> str:
    """OpenMetrics text as the reference implementation writes it: counters with exemplars and gauges, each with some samples."""
    metrics = []
    for name in draw(st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), max_size=3, unique=True)):
        counter = draw(st.booleans())
        metric = Metric(name, "text with } and # {", "counter" if counter else "gauge")
        for one in draw(st.lists(labels, max_size=2, unique_by=lambda one: frozenset(one.items()))):
            stamps = sorted(draw(st.sets(st.integers(1_000_000_000, 2_000_000_000), min_size=1, max_size=3)))
            for stamp in stamps:
                exemplar = Exemplar({"trace": "}1 2{"}, 0.5, draw(st.sampled_from([None, 1.5]))) if counter else None
                value = abs(draw(values)) if counter else draw(values)
                moment = Timestamp(stamp, draw(st.sampled_from([0, 250_000_000])))
                metric.add_sample(name + "_total" * counter, one, value, moment, exemplar if draw(st.booleans()) else None)
        metrics.append(metric)
    registry = CollectorRegistry()
    registry.register(Exposing(metrics))
    return str(generate_latest(registry).decode())  # type: ignore[no-untyped-call]


@given(openmetrics_texts())
def test_openmetrics_reads_as_the_reference_reads_it(text: str) -> None:
    """Seconds stay seconds and exemplars are passed over; the reference agrees on every sample."""
    ours = read(text)
    assert ours == reference(families_of_openmetrics(text))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_recording_reads_as_the_reference_reads_it(path: Path) -> None:
    """Cuts of recordings: the reference takes time stamps for milliseconds, otherwise both read the same."""
    lines = read_text(path).decode().splitlines()
    cut = "\n".join(line for start in range(0, len(lines), 4000) for line in lines[start : start + 60]) + "\n"
    expected = reference(families_of_text(cut))
    scaled = {key: {moment * 1000: value for moment, value in row.items()} for key, row in expected.items()}
    ours = read(cut)
    assert ours.keys() == scaled.keys()
    for key, row in ours.items():
        assert list(row) == pytest.approx(sorted(scaled[key]), rel=1e-12)
        assert list(row.values()) == [scaled[key][moment] for moment in sorted(scaled[key])]


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: path.stem)
def test_payload_reads_as_the_reference_reads_it(path: Path) -> None:
    """Scrapes of engines carry no time stamps: each sample is of the moment that is given, and none is lost.

    Comments are kept from the reference, which renames counters without _total by their type.
    """
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#")) + "\n"
    expected = {
        (sample.name, frozenset(sample.labels.items())): {7.0: sample.value}
        for family in families_of_text(text)
        for sample in family.samples
        if sample.value == sample.value
    }
    exposition = parse(path.read_bytes(), 7.0)
    assert {key: row for key, row in samples_of(exposition).items() if row} == expected
    assert exposition.bad_lines == 0


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Whatever a file holds, the reader answers with series or a message, and no line counts twice."""
    with suppress(DataError):
        exposition = parse(data, 1.0)
        assert exposition.bad_lines + sum(len(one.times) for one in exposition.series) <= data.count(b"\n") + 1


@given(prometheus_texts(), st.integers(1, 40))
def test_where_a_block_ends_does_not_matter(text: str, size: int) -> None:
    """Large texts are cut into blocks of lines; the samples are the same wherever the cuts fall."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("triage.ingest.metrics.openmetrics._BLOCK", size)
        assert read(text) == reference(families_of_text(text))


@given(prometheus_texts(), st.lists(st.integers(1, 50), max_size=5))
def test_where_a_piece_ends_does_not_matter(text: str, sizes: list[int]) -> None:
    """A file is read piece by piece; the samples are the same wherever it is cut, in the middle of a character, too."""
    data, pieces = text.encode(), []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    assert samples_of(parse([*pieces, data])) == reference(families_of_text(text))


@given(st.lists(st.tuples(values, st.floats(1e9, 2e9)), min_size=1, max_size=30))
def test_numbers_read_by_arrow_are_those_read_one_by_one(pairs: list[tuple[float, float]]) -> None:
    """Large blocks of numbers are read by another reader, to the last bit the same."""
    text = "".join(f'a{{b="c"}} {value!r} {time!r}\n' for value, time in pairs)
    small = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("triage.ingest.numbers._MANY", 0)
        assert read(text) == small


@pytest.mark.parametrize(
    "line", ['a{b="c"} +1 10', 'a{b="c"} 1_0 10', 'a{b="c"} inf 10', 'a{b="c"} 1 10 # {t="x"} 0.5', 'a{b="c"} 1 10\r']
)
def test_an_odd_line_among_many_changes_no_other(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another reader would not take sends a block line by line, and all lines are read."""
    monkeypatch.setattr("triage.ingest.numbers._MANY", 0)
    plain = "".join(f'a{{b="c"}} {number} {number}\nd {number} {number}\n' for number in range(20, 40))
    found = samples_of(parse(f"{plain}{line}\n{plain}".encode()))
    assert found["d", frozenset()] == {float(number): float(number) for number in range(20, 40)}
    assert len(found["a", frozenset({("b", "c")})]) == 20 + ("inf" not in line)


@pytest.mark.parametrize(("limit", "told"), [("MAX_SAMPLES", "more than 5 samples"), ("MAX_SERIES", "or 5 series")])
def test_too_much_is_refused(limit: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small archive can unpack to any number of samples and of series."""
    monkeypatch.setattr(f"triage.ingest.metrics.openmetrics.{limit}", 5)
    lines = (f"a {number} {number}\n" if limit == "MAX_SAMPLES" else f"a{number} 1 10\n" for number in range(6))
    with pytest.raises(DataError, match=told):
        parse("".join(lines).encode())


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is one line is no exposition, and is not read into memory to find that out."""
    monkeypatch.setattr("triage.ingest.metrics.openmetrics._LONGEST_LINE", 100)
    with pytest.raises(DataError, match="a line has more than"):
        parse([b"a" * 60, b"a" * 60, b"a" * 60])


LINES = {
    'a{b="c"} 1 10': ("a", {"b": "c"}),
    "a 1 10": ("a", {}),
    "a\t1\t10": ("a", {}),
    "a{} 1 10": ("a", {}),
    '  a {b="c"} 1 10  ': ("a", {"b": "c"}),
    'a{b="c",} 1 10': ("a", {"b": "c"}),
    'a{ b = "c" , d = "e" } 1 10': ("a", {"b": "c", "d": "e"}),
    'a{b="c"}1 10': ("a", {"b": "c"}),
    'a{b="c"} 1 10\r': ("a", {"b": "c"}),
    'a{b="}"} 1 10': ("a", {"b": "}"}),
    'a{b="{"} 1 10': ("a", {"b": "{"}),
    'a{b=" # {x} 1"} 1 10': ("a", {"b": " # {x} 1"}),
    'a{b="#"} 1 10': ("a", {"b": "#"}),
    'a{b="\\\\"} 1 10': ("a", {"b": "\\"}),
    'a{b="\\""} 1 10': ("a", {"b": '"'}),
    'a{b="\\n"} 1 10': ("a", {"b": "\n"}),
    'a{b="\\x"} 1 10': ("a", {"b": "\\x"}),
    'a{b="\\\\n"} 1 10': ("a", {"b": "\\n"}),
    'a{b=""} 1 10': ("a", {"b": ""}),
    'a{b="c"} 1 10 # {t="x"} 0.5': ("a", {"b": "c"}),
    'a{b="c"} 1 10 # {t="}"} 0.5 9.5': ("a", {"b": "c"}),
    'a 1 10 # {t="x"} 0.5': ("a", {}),
    'a_bucket{le="+Inf"} 1 10 # {} 0.5': ("a_bucket", {"le": "+Inf"}),
    '{"a"} 1 10': ("a", {}),
    '{"a.b c",d="e"} 1 10': ("a.b c", {"d": "e"}),
    '{"a", "d.e"="f"} 1 10': ("a", {"d.e": "f"}),
    'a{"d e"="f"} 1 10': ("a", {"d e": "f"}),
    "a.b 1 10": ("a.b", {}),
    "a 1e0 1e1": ("a", {}),
    "a +1 10.0": ("a", {}),
}


@pytest.mark.parametrize(("line", "expected"), LINES.items())
def test_one_line(line: str, expected: tuple[str, dict[str, str]]) -> None:
    """One sample with value 1 at second 10, in every way of writing it."""
    assert only(line) == (*expected, [10.0], [1.0])


BROKEN = (
    "a", "a b", "a 1 x", "a 1 2 3", 'a{b="c" 1 10', "a{b=c} 1 10", 'a{b="c"', '"a" 1 10', "1a 2 10", "{} 1 10", "<p> 1 10",
    "a 0x1p3 10", 'a{b="c",b="d"} 1 10', 'a{="c"} 1 10', 'a{1b="c"} 1 10', "a-b 1 10", 'a{b="c"} 1 10 {} 1 2',
)  # fmt: skip


@pytest.mark.parametrize("line", BROKEN)
def test_line_that_is_no_sample(line: str) -> None:
    """A malformed line is counted and takes nothing else with it, not even lines of the same series."""
    exposition = parse(f"good 1 10\n{line}\ngood 2 20\n".encode())
    assert samples_of(exposition) == {("good", frozenset()): {10.0: 1.0, 20.0: 2.0}}
    assert exposition.bad_lines == 1


def test_broken_number_costs_its_own_line_only() -> None:
    """A sample that is cut short among others of its series is left out, and the others stay."""
    exposition = parse(b'a{b="c"} 1 10\na{b="c"} 2 2x\na{b="c"} 3\na{b="c"} 4 40\n')
    assert samples_of(exposition) == {("a", frozenset({("b", "c")})): {10.0: 1.0, 40.0: 4.0}}
    assert exposition.bad_lines == 2


def test_columns_that_only_add_up_are_not_pairs() -> None:
    """A line of one number and one of three are two bad lines and not two pairs."""
    exposition = parse(b"good 1 10\na 1\na 1 2 3\n")
    assert [one.name for one in exposition.series] == ["good"]
    assert exposition.bad_lines == 2


def test_milliseconds_and_seconds() -> None:
    """The Prometheus format counts milliseconds and OpenMetrics seconds; no one measured in the year 5138."""
    assert only("a 1 1700000000123\na 2 1700000010.5\n")[2] == [1700000000.123, 1700000010.5]


def test_samples_come_out_in_order_of_time() -> None:
    """A concatenation of dumps overlaps and need not be sorted; each moment has one sample."""
    assert only("a 3 30\na 1 10\na 2 20\na 3 30\na 1 10\n")[2:] == ([10, 20, 30], [1, 2, 3])


def test_labels_in_another_order_are_the_same_series() -> None:
    """Two ways of writing one label set do not make two series, of which a sum would count both."""
    name, found, times, _ = only('a{b="1",c="2"} 1 10\na{c="2",b="1"} 1 20\na {c="2",b="1",} 1 30\n')
    assert (name, found, times) == ("a", {"b": "1", "c": "2"}, [10, 20, 30])


def test_what_is_no_number_is_no_sample() -> None:
    """Stale markers (NaN) and infinity are no measurements; the series is there, without samples of them."""
    assert only("a NaN 10\na 1 20\na +Inf 30\na -Inf 40\na 1e999 50\na 2 NaN\n")[2:] == ([20], [1])
    assert only("a NaN 10\n")[2:] == ([], [])


def test_types_of_families() -> None:
    """The type lines are kept, also of quoted names and with more blanks than needed."""
    text = '# TYPE a counter\n#  TYPE  b   gauge \n# TYPE "c d" histogram\n# HELP e TYPE e gauge\n# TYPE f\n# EOF\n'
    assert parse(text.encode()).types == {"a": "counter", "b": "gauge", "c d": "histogram"}


def test_created_series_keep_their_names() -> None:
    """Times of creation are series of their own, which no dialect reads."""
    assert {name for name, _ in read("a_total 1 10\na_created 9 10\n")} == {"a_total", "a_created"}


def test_time_stamp_is_given_where_there_is_none() -> None:
    """A scrape says when it was taken; a sample with a time stamp of its own keeps that."""
    assert samples_of(parse(b"a 1\nb 2 10\n", 99.0)) == {("a", frozenset()): {99.0: 1.0}, ("b", frozenset()): {10.0: 2.0}}


def test_scrape_without_time_stamps_says_so() -> None:
    """What curl shows of an engine has no times, so nothing can be seen to change: the message says what to do instead."""
    with pytest.raises(DataError, match="not one sample carries a time stamp") as caught:
        parse(b'# TYPE a gauge\na 1\nb{c="d"} 2\n')
    assert "triage record" in caught.value.hint


def test_another_format_is_refused() -> None:
    """A web page is no exposition; an empty text is an empty exposition."""
    with pytest.raises(DataError, match="not one line is a metric"):
        parse(b"<html>\n<body>Not found</body>\n</html>\n")
    assert parse(b"").series == []
    assert parse(b"# EOF\n").series == []


def test_bytes_that_are_not_utf8() -> None:
    """A broken byte in a label value is replaced and costs nothing else."""
    assert only_bytes(b'a{b="\xff"} 1 10\n') == {("a", frozenset({("b", "�")})): {10.0: 1.0}}


def only_bytes(data: bytes) -> Samples:
    return samples_of(parse(data))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_packed_files_are_known_by_their_first_bytes(tmp_path: Path, pack: "type[bytes]") -> None:
    """Plain, gzip and xz files are read, whatever they are called."""
    (tmp_path / "dump").write_bytes(pack(b"a 1 10\n"))
    assert read_text(tmp_path / "dump") == b"a 1 10\n"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
@pytest.mark.parametrize("damage", [slice(0, -9), slice(0, 20)], ids=["end missing", "head only"])
def test_packed_file_that_is_cut_short(tmp_path: Path, pack: "type[bytes]", damage: slice) -> None:
    """A download that broke off is refused as a whole."""
    (tmp_path / "dump").write_bytes(pack(b"a 1 10\n" * 9999)[damage])
    with pytest.raises(DataError, match="dump is damaged or cut short"):
        read_text(tmp_path / "dump")


def test_archive_that_explodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unpacks to a huge one is refused before it fills the memory."""
    monkeypatch.setattr("triage.ingest.metrics.openmetrics.MAX_BYTES", 1000)
    (tmp_path / "dump.gz").write_bytes(gzip.compress(b"a 1 10\n" * 1000))
    with pytest.raises(DataError, match="unpacks to more than"):
        read_text(tmp_path / "dump.gz")


def test_file_that_cannot_be_opened(tmp_path: Path) -> None:
    """A folder is no file, and a missing one cannot be read."""
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputMissingError, match="cannot be read"):
            read_text(path)
