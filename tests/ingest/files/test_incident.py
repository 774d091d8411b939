"""What people hand over is opened, or refused with a sentence that says what was wrong, where, and what to do."""

import gzip
import json
import lzma
import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest

from triage.errors import DataError, InputMissingError
from triage.ingest.files.incident import read_any, read_incident
from triage.ingest.files.parquet import write_recording
from triage.model.recording import Recording, SourceState
from triage.model.service import Service
from triage.model.vocabulary import Scope

START = 1_790_000_000
"""2026-09-21T14:13:20Z: the first scrape of the data below."""

ENGINE = {"service": "chat", "instance": "10.0.0.1:8000", "job": "vllm"}
CASE = f"service = 'chat'\nfrom = {START + 300}\nto = {START + 600}\n"


def scrapes(labels: Mapping[str, str] = ENGINE, count: int = 41, start: int = START) -> str:
    """An engine's exposition, scraped every 15 s: requests that run and tokens that are made."""
    inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
    lines = []
    for number in range(count):
        time = start + 15 * number
        lines += [f"vllm:num_requests_running{{{inside}}} {number % 4} {time}"]
        lines += [f"vllm:generation_tokens_total{{{inside}}} {100 * number} {time}"]
    return "\n".join(lines) + "\n# EOF\n"


def folder(path: Path, case: str | None = CASE, metrics: str | None = None, **more: str | None) -> Path:
    """An incident folder of these parts; a name with ``__`` is one in a folder."""
    path.mkdir(exist_ok=True)
    parts = {"case.toml": case, "metrics.om": metrics, **{name.replace("__", "/"): text for name, text in more.items()}}
    for name, text in parts.items():
        if text is not None:
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_text(text)
    return path


def refused(path: Path) -> str:
    """The message with which a path is refused, without the folder that it is in."""
    with pytest.raises(DataError) as caught:
        read_any(path)
    assert "\n" not in caught.value.message.removesuffix("\n")
    return caught.value.message.replace(f"{path}/", "").replace(str(path), path.name)


def tokens(recording: Recording) -> list[float]:
    """Rates of the tokens of the only replica."""
    (series,) = recording.by_signal["tokens.generation"]
    return [round(value, 6) for value in series.values.tolist()]


NAMES = ("metrics.om", "metrics.om.gz", "metrics.om.xz", "metrics.prom", "metrics.txt.gz", "metrics.prom.xz")


@pytest.mark.parametrize("name", NAMES)
def test_metrics_under_each_of_their_names(tmp_path: Path, name: str) -> None:
    """Plain and packed expositions are read, whatever form their name says."""
    data = scrapes().encode()
    packed = gzip.compress(data) if name.endswith(".gz") else lzma.compress(data) if name.endswith(".xz") else data
    (folder(tmp_path) / name).write_bytes(packed)
    assert tokens(read_incident(tmp_path)) == [round(100 / 15, 6)] * 40


def test_a_saved_answer_of_prometheus_in_a_folder(tmp_path: Path) -> None:
    """metrics.json is what the API answered."""
    values = [[START + 15 * number, str(100 * number)] for number in range(41)]
    result = [{"metric": {"__name__": "vllm:generation_tokens_total", **ENGINE}, "values": values}]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    (folder(tmp_path) / "metrics.json").write_text(json.dumps(answer))
    assert tokens(read_incident(tmp_path)) == [round(100 / 15, 6)] * 40


def test_window_of_the_case(tmp_path: Path) -> None:
    """Unix seconds, RFC 3339 text and dates of TOML name the same window; what is before it is the baseline."""
    times = {f"{START + 300}": f"{START + 600}.0", "'2026-09-21T14:18:20Z'": "2026-09-21T16:23:20+02:00"}
    for begin, end in times.items():
        window = read_incident(folder(tmp_path, f"service='chat'\nfrom = {begin}\nto = {end}", scrapes())).window
        assert (window.start, window.end, window.baseline_start) == (START + 300, START + 600, START)


def test_what_came_after_the_window_is_not_known(tmp_path: Path) -> None:
    """Who looks at an earlier window judges by what was known then: neither what rose later, nor a pod that came later."""
    later = scrapes({**ENGINE, "instance": "10.0.0.2:8000"}, start=START + 660)
    recording = read_incident(folder(tmp_path, metrics=scrapes(count=81).replace("# EOF\n", "") + later, case=CASE))
    assert {one.subject.id for one in recording.series} == {"10.0.0.1:8000"}
    assert max(float(one.times[-1]) for one in recording.series) <= START + 600


def test_window_without_a_case(tmp_path: Path) -> None:
    """Without from and to the last third of the metrics is judged; a date without a zone is UTC."""
    window = read_incident(folder(tmp_path, None, scrapes())).window
    assert (window.start, window.end) == (START + 400, START + 600)
    window = read_incident(folder(tmp_path, "from = 2026-09-21T14:18:20", scrapes())).window
    assert (window.start, window.end) == (START + 300, START + 600)


def test_baseline_is_not_another_day(tmp_path: Path) -> None:
    """Data from long before the window are not compared with."""
    text = scrapes(start=START - 24 * 3600, count=2) + scrapes()
    window = read_incident(folder(tmp_path, CASE, text)).window
    assert window.start - window.baseline_start == 6 * 3600
    window = read_any(folder(tmp_path / "b", None, text) / "metrics.om").window
    assert window.start - window.baseline_start == 6 * 3600


def test_nothing_but_logs(tmp_path: Path) -> None:
    """Logs or changes alone are enough if the case says when; the metrics are then absent, and that is said."""
    line = "INFO 09-21 14:19:00 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s\n"
    recording = read_incident(folder(tmp_path / "a", CASE, **{"logs__engine-chat-0.log": line}))
    assert {source.name.partition(":")[0]: source.state for source in recording.sources}["metrics"] is SourceState.ABSENT
    change = json.dumps({"time": START + 310, "kind": "deploy", "service": "chat", "version": "2"})
    recording = read_incident(folder(tmp_path / "b", CASE, **{"changes.jsonl": change + "\n"}))
    assert [event.kind for event in recording.events] == ["deploy"]


def test_missing_changes_are_said(tmp_path: Path) -> None:
    """No list of changes is not the same as no change."""
    sources = {source.name: source for source in read_incident(folder(tmp_path, CASE, scrapes())).sources}
    assert sources["changes"].state is SourceState.ABSENT
    assert sources["metrics"].state is SourceState.OK


def test_settings_complete_the_case(tmp_path: Path) -> None:
    """What the settings know of the service counts where the folder says nothing."""
    case = f"{CASE}[objectives]\nttft_p95_s = 1.0\n"
    known = Service(name="other", objectives={"ttft_p95_s": 9.0, "error_ratio": 0.01}, facts={"engine": "vllm"})
    recording = read_incident(folder(tmp_path, case, scrapes()), known)
    assert recording.service == "chat"
    assert recording.objectives == {"ttft_p95_s": 1.0, "error_ratio": 0.01}
    assert recording.fact("engine") == "vllm"


def test_own_metric_of_the_service(tmp_path: Path) -> None:
    """[signals] says which metric of the service's own is a signal."""
    case = f'{CASE}[signals]\n"requests.distinct" = "app_wishes_total"\n'
    wishes = "".join(f"app_wishes_total {30 * number} {START + 15 * number}\n" for number in range(41))
    recording = read_incident(folder(tmp_path, case, scrapes() + wishes))
    assert set(recording.by_signal["requests.distinct"][0].values) == {2.0}


REFUSED: dict[str, tuple[dict[str, str | None], str]] = {
    "empty folder": ({}, "holds no metrics, no logs and no changes"),
    "empty metrics": ({"metrics": " \n"}, "metrics.om is empty"),
    "no metrics": ({"metrics": "<html></html>\n"}, "metrics.om: not one line is a metric"),
    "not TOML": ({"case": "service = chat"}, "case.toml is not valid TOML: "),
    "no date": ({"case": "from = 'yesterday'"}, "case.toml: from: "),
    "no number": ({"case": "[objectives]\nttft_p95_s = 'fast'"}, "case.toml: objectives.ttft_p95_s: "),
    "no table": ({"case": "facts = 3"}, "case.toml: facts: "),
    "unknown signal": ({"case": f'{CASE}[signals]\n"queue.size" = "x"'}, "case.toml: signals: no signal is called queue.size"),
    "turned round": (
        {"case": f"from = {START + 500}\nto = {START + 100}"},
        "case.toml: from (2026-09-21T14:21:40Z) must be before to (2026-09-21T14:15:00Z)",
    ),
    "too early": (
        {"case": f"from = {START - 7200}\nto = {START - 3600}"},
        "the window ends at 2026-09-21T13:13:20Z, but the metrics are from 2026-09-21T14:13:20Z to 2026-09-21T14:23:20Z",
    ),
    "too late": ({"case": f"from = {START + 90000}\nto = {START + 93600}"}, "case.toml: the window ends at 2026-09-22T16:13:20Z"),
    "absurd": ({"case": "from = 1e300\nto = 2e300"}, "case.toml: the window ends at 2e+300, but the metrics"),
    "no window": ({"metrics": None, "case": "", "logs__a.log": "x\n"}, "case.toml names no window"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Each kind of damage has its own sentence, which names the file and the place in it."""
    parts, expected = REFUSED[name]
    empty = name.startswith("empty folder")
    (tmp_path / "logs").mkdir()
    assert expected in refused(folder(tmp_path, **{"case": CASE, "metrics": None if empty else scrapes(), **parts}))


def test_truncated_metrics_are_refused(tmp_path: Path) -> None:
    """A copy that broke off is not judged by its first half."""
    (folder(tmp_path) / "metrics.om.gz").write_bytes(gzip.compress(scrapes().encode())[:-20])
    assert "metrics.om.gz is damaged or cut short" in refused(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    """A path that does not exist is said as it was given."""
    with pytest.raises(InputMissingError, match="nowhere does not exist"):
        read_any(tmp_path / "nowhere")


def test_case_that_cannot_be_read(tmp_path: Path) -> None:
    """A folder in the place of case.toml is no case."""
    (tmp_path / "case.toml").mkdir()
    with pytest.raises(InputMissingError, match=r"case\.toml cannot be read"):
        read_any(folder(tmp_path, None, scrapes()))


def test_misspelt_key_is_said(tmp_path: Path) -> None:
    """A key that means nothing does not stop the diagnosis, but it is not passed over in silence."""
    problems = read_incident(folder(tmp_path, f"{CASE}objectivs = {{}}", scrapes())).problems
    assert problems == ("the key 'objectivs' of case.toml means nothing (did you mean 'objectives'?)",)


def test_lines_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    """Broken lines among good ones are counted for the reader of the report."""
    assert read_incident(folder(tmp_path, CASE, scrapes() + "broken\n")).problems == ("1 line of metrics.om could not be read",)
    dump = folder(tmp_path, None, scrapes() + "broken\nx y z\n") / "metrics.om"
    assert read_any(dump).problems == ("2 lines of metrics.om could not be read",)


def test_metrics_that_end_before_the_window(tmp_path: Path) -> None:
    """Metrics may have gone dark before the incident: that is diagnosed, and said."""
    recording = read_incident(folder(tmp_path, f"service='chat'\nfrom={START + 900}\nto={START + 1800}", scrapes()))
    assert recording.problems == ("the metrics end at 2026-09-21T14:23:20Z, before the window begins",)


def test_whose_service_it_is_can_be_seen(tmp_path: Path) -> None:
    """If nobody names the service, it is what the engines in the data go by; a name that the folder gives comes first."""
    assert read_any(folder(tmp_path / "a", None, scrapes())).service == "chat"
    bare = scrapes({"model_name": "qwen", "instance": "h1:8000"}) + scrapes({"model_name": "qwen", "instance": "h2:8000"})
    recording = read_any(folder(tmp_path / "b", None, bare) / "metrics.om")
    assert recording.service == "qwen"
    assert [subject.id for subject in recording.subjects[Scope.REPLICA]] == ["h1:8000", "h2:8000"]
    two = scrapes() + scrapes({**ENGINE, "service": "batch", "instance": "10.0.0.2:8000"})
    assert read_any(folder(tmp_path / "batch", None, two)).service == "batch"
    assert "holds engines of several services: batch, chat" in refused(folder(tmp_path / "c", None, two))
    assert read_any(folder(tmp_path / "c", None, two), Service(name="chat")).service == "chat"


def test_the_only_model_in_a_folder_is_that_of_its_service(tmp_path: Path) -> None:
    """Its engines go by no name; where two models are served, nobody can say which is meant."""
    hosts = ("h1:8000", "h2:8000")
    one = "".join(scrapes({"model_name": "qwen", "instance": host}) for host in hosts)
    recording = read_incident(folder(tmp_path / "a", CASE, one))
    assert ([replica.id for replica in recording.subjects[Scope.REPLICA]], recording.problems) == ([*hosts], ())
    two = one + scrapes({"model_name": "llama", "instance": "h3:8000"})
    recording = read_incident(folder(tmp_path / "b", CASE, two))
    assert not recording.subjects[Scope.REPLICA]
    assert recording.problems == ("nothing in the data says which series belong to chat",)


def test_dump_of_one_engine_without_labels(tmp_path: Path) -> None:
    """Two scrapes of an engine that were saved with their times are its own: nothing says whose they are."""
    text = "".join(f"llamacpp:tokens_predicted_total {number * 30} {START + 30 * number}\n" for number in range(9))
    (tmp_path / "dump.txt").write_text(text)
    recording = read_any(tmp_path / "dump.txt")
    assert recording.service == "dump"
    assert tokens(recording) == [1.0] * 8


def test_dump_that_shows_no_change(tmp_path: Path) -> None:
    """What curl saves has no times, and one scrape with times has but one moment: the message says what to do."""
    for text, told in (
        ("llamacpp:requests_processing 1\n", "not one sample carries a time stamp"),
        (f"llamacpp:requests_processing 1 {START}\n", "holds one moment only"),
        ("llamacpp:requests_processing NaN 1\n", "holds no sample with a time stamp"),
    ):
        (tmp_path / "dump.txt").write_text(text)
        with pytest.raises(DataError, match=told) as caught:
            read_any(tmp_path / "dump.txt")
        assert "triage record" in caught.value.hint


def test_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A Parquet recording is known by its first bytes."""
    recording = read_incident(folder(tmp_path / "a", CASE, scrapes()))
    write_recording(recording, tmp_path / "kept")
    assert tokens(read_any(tmp_path / "kept")) == tokens(recording)


def test_a_log_that_is_called_after_the_host_of_an_address(tmp_path: Path) -> None:
    """It is that of the only engine that is scraped there; of two on one host nobody can say whose it is."""
    hosts = [{**ENGINE, "instance": f"{at}:8000"} for at in ("node-1.lan", "node-2.lan", "node-3.lan")]
    hosts.append({**ENGINE, "instance": "node-3.lan:8001"})
    line = "2026-09-21T14:18:50Z INFO [core.py:1] Avg generation throughput: 5.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
    logs = {f"logs__vllm-node-{number}.log": line for number in (2, 3)}
    recording = read_incident(folder(tmp_path, metrics="".join(map(scrapes, hosts)).replace("# EOF\n", "") + "# EOF\n", **logs))
    told = {one.subject.id for one in recording.series if one.origin.dialect == "log" and one.signal == "log.lines"}
    assert told == {"node-2.lan:8000", "node-3"}


@pytest.mark.parametrize(
    ("pods", "replica"),
    [(("chat-decode-69bbb879cd-45jwg",), "chat-decode-69bbb879cd-45jwg"), (("a-decode-0", "a-decode-1"), "decode")],
)
def test_a_log_that_is_called_after_a_part_of_a_pods_name(tmp_path: Path, pods: tuple[str, ...], replica: str) -> None:
    """It is that pod's if no other pod's name has these words."""
    line = "2026-09-21T14:18:50Z INFO [core.py:1] Avg generation throughput: 5.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n"
    table = "NAME                          READY   STATUS    RESTARTS   AGE\n" + "".join(
        f"{pod}   0/1     Pending   0          7m\n" for pod in pods
    )
    recording = read_incident(folder(tmp_path, CASE, **{"logs__vllm-decode.log": line, "logs__kubectl.log": table}))
    assert {one.subject.id for one in recording.series if one.signal == "log.lines"} == {replica}


@pytest.mark.parametrize(("other", "joined"), [(3, True), (2, False)], ids=["another course", "the same course"])
def test_a_log_that_tells_the_numbers_of_one_address_is_of_its_engine(tmp_path: Path, other: int, joined: bool) -> None:
    """It is called after a pod, of which the metrics know nothing; where both addresses do alike it stays unknown which it is."""

    def made(number: int, every: int) -> int:
        return 100 + 50 * (number // every % 3)

    def engine(host: str, every: int) -> str:
        total, lines = 0, []
        for number in range(60):
            total += 10 * made(number, every)
            lines += [
                f'vllm:generation_tokens_total{{service="chat",instance="{host}:8000",job="vllm"}} {total} {START + 10 * number}'
            ]
        return "\n".join(lines) + "\n"

    pod = "chat-7d9f8b6c54-x2k4q"
    lines = [
        f"INFO 09-21 14:{13 + (20 + 10 * number + 3) // 60:02d}:{(20 + 10 * number + 3) % 60:02d} [loggers.py:257] Engine 000: "
        f"Avg prompt throughput: 9.0 tokens/s, Avg generation throughput: {made(number, 2)}.0 tokens/s, Running: 1 reqs, "
        "Waiting: 0 reqs, GPU KV cache usage: 1.0%, Prefix cache hit rate: 0.0%"
        for number in range(60)
    ]
    metrics = engine("10.0.0.1", 2) + engine("10.0.0.2", other) + "# EOF\n"
    recording = read_incident(folder(tmp_path / "a", CASE, metrics, **{f"logs__engine-{pod}.log": "\n".join(lines) + "\n"}))
    names = {replica.id for replica in recording.subjects[Scope.REPLICA]}
    assert names == {"10.0.0.1:8000", "10.0.0.2:8000"} | (set() if joined else {pod})


def test_what_was_read_goes_to_another_process(tmp_path: Path) -> None:
    """Whole, with the origins that are looked up when somebody asks: cases are scored by several processes."""
    read = read_incident(folder(tmp_path / "case", metrics=scrapes()))
    again = pickle.loads(pickle.dumps(read))
    assert [(one.signal, one.subject, one.origin) for one in again.series] == [
        (one.signal, one.subject, one.origin) for one in read.series
    ]
    assert read.series
