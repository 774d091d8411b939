"""Whole logs read from files: what becomes of them, and how little is kept of much."""

import gzip
import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.ingest.logs import KEEP, MAX_LINE, LogReading, read_logs
from triage.ingest.logs.emitters import Emitter, emitter_of, engine_on
from triage.ingest.logs.files import logs_of
from triage.model.recording import Event, Series, SourceState, Subject, Window
from triage.model.vocabulary import Scope, catalogue

START = 1789560000.0  # 2026-09-16T12:00:00Z
WINDOW = Window(START, START + 1800.0, START - 1800.0)


def hms(seconds: float) -> str:
    """The time of day so many seconds into the window."""
    total = int(12 * 3600 + seconds)
    return f"{total // 3600:02d}:{total // 60 % 60:02d}:{total % 60:02d}"


def read(folder: Path, subjects: dict[str, Subject] | None = None, service: str = "chat", **logs: str) -> LogReading:
    """The reading of a folder with these files; ``__`` in a name stands for a hyphen. What is merely stated is left out."""
    for name, text in logs.items():
        (folder / f"{name.replace('__', '-')}.log").write_text(text, encoding="utf-8")
    reading = read_logs([folder], WINDOW, service, (subjects or {}).get)
    return replace(reading, events=tuple(event for event in reading.events if event.kind not in {"said", "residue"}))


def named(reading: LogReading, name: str) -> list[Event]:
    return [event for event in reading.events if event.name == name]


def by_signal(reading: LogReading) -> dict[str, Series]:
    return {one.signal: one for one in reading.series}


VLLM_START = """\
(APIServer pid=1) INFO 09-16 {0} [api_utils.py:347] version 0.32.0 model chat
(APIServer pid=1) INFO 09-16 {0} [api.py:286] non-default args: {{'model': '/models/chat', 'max_num_seqs': {1}, 'api_key': ['x']}}
(EngineCore pid=2) INFO 09-16 {0} [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: dtype=torch.bfloat16
(EngineCore pid=2) INFO 09-16 {0} [default_loader.py:501] Loading weights took 19.76 seconds
(EngineCore pid=2) INFO 09-16 {0} [kv_cache_utils.py:2327] GPU KV cache size: 185,968 tokens, Maximum concurrency: 11.35x
"""
VLLM_READY = "INFO:     Application startup complete.\n"
VLLM_LOAD = (
    "(APIServer pid=1) INFO 09-16 {} [loggers.py:335] Engine {:03d}: Avg prompt throughput: 1555.7 tokens/s, "
    "Avg generation throughput: 646.8 tokens/s, Running: {} reqs, Waiting: 2 reqs, Preemptions: 3, "
    "GPU KV cache usage: 13.3%, Prefix cache hit rate: 25.0%\n"
)


def load_lines(first: int, last: int, running: int = 19) -> str:
    return "".join(VLLM_LOAD.format(hms(at), 0, running) for at in range(first, last, 10))


# ---------------------------------------------------------------- load


def test_load_of_vllm(tmp_path: Path) -> None:
    """The ten-second lines of vLLM become series of the replica in base units."""
    reading = read(tmp_path, engine__chat__0=load_lines(-1800, 1800))
    series = by_signal(reading)
    assert series["batch.running"].subject == Subject(Scope.REPLICA, "chat-0")
    assert series["batch.running"].origin.dialect == "log"
    expected = {
        "batch.running": 19.0, "queue.waiting": 2.0, "kv.usage": 0.133, "tokens.generation": 646.8,
        "tokens.prompt_computed": 1555.7, "prefix.hit_ratio_reported": 0.25,
    }  # fmt: skip
    for signal, value in expected.items():
        assert series[signal].values == pytest.approx(value), signal
    assert series["preemptions"].values.mean() == pytest.approx(0.3, rel=0.02)
    assert set(series) <= set(catalogue())
    assert all((np.diff(one.times) > 0).all() for one in reading.series)


def test_load_of_several_engines_in_one_process(tmp_path: Path) -> None:
    """With data parallelism the counts of the engines add up, and the fullest cache counts."""
    line = VLLM_LOAD.format(hms(0), 0, 5) + VLLM_LOAD.format(hms(0), 1, 7).replace("13.3%", "80.0%")
    series = by_signal(read(tmp_path, engine__chat__0=line))
    assert series["batch.running"].values == pytest.approx([12.0])
    assert series["kv.usage"].values == pytest.approx([0.8])


def test_load_of_sglang(tmp_path: Path) -> None:
    """Batches of SGLang's first rank become series, prompt tokens as rates; other ranks repeat it and are left out."""
    lines = "".join(
        f"[2026-09-16 {hms(at)} TP{rank}] Prefill batch, #new-seq: 1, #new-token: 300, #cached-token: 100, "
        f"full token usage: 0.40, swa token usage: 0.05, #running-req: 3, #queue-req: 4, \n"
        f"[2026-09-16 {hms(at)} TP{rank}] Decode batch. #running-req: 6, #token: 1920, token usage: 0.94, cuda graph: True, "
        f"gen throughput (token/s): 446.45, #queue-req: 5, \n"
        for at in range(0, 300, 15)
        for rank in (0, 1)
    )
    series = by_signal(read(tmp_path, engine__chat__0=lines))
    assert series["batch.running"].values == pytest.approx(6.0)
    assert series["tokens.generation"].values == pytest.approx(446.45)
    assert series["kv.usage"].values == pytest.approx(0.94)
    assert series["tokens.prompt_computed"].values == pytest.approx(300 / 15)
    assert series["prefix.hits"].values == pytest.approx(100 / 15)
    assert series["prefix.queries"].values == pytest.approx(400 / 15)


def test_requests_of_ray_serve(tmp_path: Path) -> None:
    """What its proxies and replicas log of requests counts at the door, and how long they took."""
    lines = "".join(
        f"(ServeReplica:rag:LLM pid=38, ip=10.6.0.9) INFO 2026-09-16 {hms(at)},999 rag_LLM zk3m {at} -- POST /v1/x 200 2966.8ms\n"
        for at in range(0, 1800, 10)
    )
    found = read(tmp_path, ray__serve=lines)
    (requests,) = [one for one in found.series if one.signal == "gateway.requests"]
    assert requests.subject.scope is Scope.GATEWAY
    assert {one.signal for one in found.histograms} == {"gateway.latency"}


def test_load_of_tensorrt_llm(tmp_path: Path) -> None:
    """Iteration lines of TensorRT-LLM give steps, tokens and the share of the cache in use."""
    lines = "".join(
        f"[09/16/2026-{hms(at)}] [TRT-LLM] [I] iter = {at}, global_rank = 0, rank = 0, num_scheduled_requests = 8, "
        f"kv_cache_util = 0.25, currank_total_requests = 0/0, host_step_time = 12.3ms, states = {{'num_ctx_requests': 0, "
        f"'num_ctx_tokens': 30, "
        f"'num_generation_tokens': 8}}\n"
        for at in range(300)
    )
    series = by_signal(read(tmp_path, engine__chat__0=lines))
    assert series["engine.steps"].values == pytest.approx(1.0)
    assert series["batch.running"].values == pytest.approx(8.0)
    assert series["tokens.generation"].values == pytest.approx(8.0)
    assert series["tokens.prompt_computed"].values == pytest.approx(30.0)
    assert series["kv.usage"].values == pytest.approx(0.25)


def test_steps_that_are_logged_now_and_then_add_up_to_nothing(tmp_path: Path) -> None:
    """A line every thirty steps tells the level, and no amount."""
    lines = "".join(
        f"[09/16/2026-{hms(at)}] [TRT-LLM] [I] iter = {30 * at}, global_rank = 0, rank = 0, num_scheduled_requests = 8, "
        f"states = {{'num_ctx_tokens': 30, 'num_generation_tokens': 8}}\n"
        for at in range(300)
    )
    series = by_signal(read(tmp_path, engine__chat__0=lines))
    assert series["batch.running"].values == pytest.approx(8.0)
    assert not {"engine.steps", "tokens.generation", "tokens.prompt_computed"} & set(series)


def test_what_a_line_recites_as_set_has_not_happened(tmp_path: Path) -> None:
    """A time-out among the arguments is none that ran out; the same words in a line of their own are."""
    recited = f"[2026-09-16 {hms(0)}] server_args=ServerArgs(model_path='/models/a', watchdog_timeout=300)\n"
    said = f"[2026-09-16 {hms(5)} TP0] Watchdog timeout (self.watchdog_timeout=300)\n"
    assert not named(read(tmp_path, engine__chat__0=recited), "scheduler-watchdog")
    assert named(read(tmp_path, engine__chat__0=recited + said), "scheduler-watchdog")


def test_requests_in_an_engines_log(tmp_path: Path) -> None:
    """Request lines without a stamp take the one before; refused ones become an event of the replica, not of a gateway."""
    text = load_lines(-1800, 1800).replace(
        "\n", '\nINFO:     10.1.1.1:4 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request\n'
    )
    reading = read(tmp_path, engine__chat__0=text + 'INFO:     10.1.1.1:4 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n')
    (event, *_) = named(reading, "requests-refused")
    assert event.subject == Subject(Scope.REPLICA, "chat-0")
    assert by_signal(reading)["http.4xx"].values.sum() * 15 == pytest.approx(360)


# ---------------------------------------------------------------- starts and ends


def test_why_a_request_failed_is_read_like_any_line(tmp_path: Path) -> None:
    """What a proxy gives as its own reason is understood, or else shown as unread; what its flags say is not told twice."""
    line = (
        '{{"start_time":"2026-09-16T12:0{}:00Z","response_code":{},"path":"/v1/x","duration":9,"response_code_details":"{}"}}\n'
    )
    limit = "ext_proc_error{grpc:_received_message_larger_than_max_(9437211_vs._4194304)}"
    text = line.format(1, 500, limit) + line.format(2, 502, "ext_quux_failed{7}") + line.format(3, 200, "via_upstream")
    reading = read(tmp_path, envoy=text + line.format(4, 503, "upstream_reset_before_response_started{connection_termination}"))
    assert len(named(reading, "message-too-large")) == 1
    unread = [event.text for event in read_logs([tmp_path], WINDOW, "chat").events if event.kind == "residue"]
    assert unread == ["ERROR 502 /v1/x: ext_quux_failed{7}"]
    assert named(reading, "upstream-closed-early") == []


def test_facts_of_the_last_start(tmp_path: Path) -> None:
    """Arguments and start-up facts are those of the last start before the window's end, and both starts are events."""
    text = VLLM_START.format(hms(-900), 96) + VLLM_READY + load_lines(-860, 0) + "INFO:     Shutting down\n"
    text += VLLM_START.format(hms(60), 16) + f"(APIServer pid=1) INFO 09-16 {hms(101)} x\n" + VLLM_READY
    reading = read(tmp_path, engine__chat__0=text)
    facts = {fact.key: fact.value for fact in reading.facts}
    expected = {
        "engine": "vllm", "engine_version": "0.32.0", "max_num_seqs": 16.0, "kv_cache_tokens": 185968.0, "dtype": "bfloat16",
        "weights_load_seconds": 19.76, "startup_seconds": 41.0, "model_path": "/models/chat",
    }  # fmt: skip
    assert facts == expected
    first, second = [event for event in reading.events if event.kind == "engine-args"]
    assert (first.attrs["max_num_seqs"], second.attrs["max_num_seqs"]) == ("96", "16")
    assert second.attrs["changed"] == "max_num_seqs 96 -> 16"


def test_facts_from_before_the_baseline(tmp_path: Path) -> None:
    """An engine that started days ago still tells its arguments, and makes no event of it."""
    text = VLLM_START.format("03:00:00", 96).replace("09-16", "09-11")
    reading = read(tmp_path, engine__chat__0=text)
    assert {fact.key: fact.value for fact in reading.facts}["max_num_seqs"] == 96.0
    assert reading.events == ()


def test_facts_of_sglang(tmp_path: Path) -> None:
    """SGLang's arguments come under the common names."""
    text = (
        f"[2026-09-16 {hms(0)}] server_args=ServerArgs(model_path='/models/a', tp_size=8, mem_fraction_static=0.88, "
        f"max_running_requests=64, context_length=None, disable_overlap_schedule=True, api_key='hunter2')\n"
        f"[2026-09-16 {hms(5)} TP0] Load weight begin. avail mem=139.20 GB\n"
        f"[2026-09-16 {hms(55)} TP0] Load weight end. type=Llama, avail mem=20 GB\n"
        f"[2026-09-16 {hms(60)}] max_total_num_tokens=421472, chunked_prefill_size=8192, context_len=40960\n"
        f"[2026-09-16 {hms(70)}] The server is fired up and ready to roll!\n"
    )
    facts = {fact.key: fact.value for fact in read(tmp_path, engine__chat__0=text).facts}
    expected = {
        "engine": "sglang", "model_path": "/models/a", "tensor_parallel_size": 8.0, "gpu_memory_utilization": 0.88,
        "max_num_seqs": 64.0, "weights_load_seconds": 50.0, "kv_cache_tokens": 421472.0, "chunked_prefill_size": 8192.0,
        "disable_overlap_schedule": "True", "max_model_len": 40960.0,
        "startup_seconds": 70.0,
    }  # fmt: skip
    assert facts == expected


@pytest.mark.parametrize(("size", "minutes", "slow"), [(123.5, 20, True), (123.5, 4, False), (400.0, 19, False), (3.0, 1, False)])
def test_weights_whose_loading_two_lines_tell(tmp_path: Path, size: float, minutes: int, slow: bool) -> None:
    """One line says that it loads, a later one that the model is there, and the size stands between them."""
    start = (
        f"main: loading model\nprint_info: file size   = {size:.2f} GiB (4.86 BPW)\n"
        "load_tensors: loading model tensors, this can take a while... (mmap = true)\n"
    )
    ready = "main: model loaded\nmain: server is listening on http://0.0.0.0:8080 - starting the main loop\n"
    lines = [f"2026-09-16 {hms(5)} {line}" for line in start.splitlines()]
    lines += [f"2026-09-16 {hms(5 + 60 * minutes)} {line}" for line in ready.splitlines()]
    events = read(tmp_path, engine__chat__0="\n".join(lines)).events
    assert [event.attrs["gib"] for event in events if event.name == "weights-slow"] == ([f"{size}"] if slow else [])


def test_an_error_while_serving_is_a_crash(tmp_path: Path) -> None:
    """The first error of a running engine is named, not the lines that follow from it, whichever the engine prints first."""
    text = load_lines(-600, 60) + (
        f"(EngineCore pid=2) ERROR 09-16 {hms(61)} [core.py:910] EngineCore encountered a fatal error.\n"
        "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered\n"
        f"(APIServer pid=1) ERROR 09-16 {hms(62)} [a.py:1] EngineDeadError: EngineCore encountered an issue.\n"
    )
    reading = read(tmp_path, engine__chat__0=text)
    (crash,) = named(reading, "engine-crashed")
    assert crash.attrs["first"] == "cuda-ecc"
    assert crash.time == START + 61.0
    assert {event.attrs["phase"] for event in reading.events if event.name in {"cuda-ecc", "engine-dead"}} == {"running"}


def test_an_error_while_starting_is_a_failed_start(tmp_path: Path) -> None:
    """The same error before the engine was ever ready is a start that failed, with its age."""
    error = f"(EngineCore pid=2) ERROR 09-16 {hms(25)} [core.py:892] EngineCore failed to start.\n"
    error += "torch.OutOfMemoryError: CUDA out of memory.\n"
    text = VLLM_START.format(hms(0), 96) + error + VLLM_START.format(hms(60), 96)
    reading = read(tmp_path, engine__chat__0=text)
    (failed,) = named(reading, "start-failed")
    assert (failed.attrs["first"], failed.attrs["seconds"], failed.attrs["next_start_after"]) == ("cuda-oom", "25", "60")
    assert named(reading, "cuda-oom")[0].attrs["phase"] == "starting"
    assert named(reading, "engine-crashed") == []


def test_starts_that_are_cut_short(tmp_path: Path) -> None:
    """Starts that end without an error before the engine is ready were ended from outside."""
    text = "".join(VLLM_START.format(hms(160 * n), 96) + "Terminated\n" for n in range(4))
    reading = read(tmp_path, engine__chat__0=text)
    assert [event.attrs["next_start_after"] for event in named(reading, "start-cut-short")[:3]] == ["160", "160", "160"]
    assert named(reading, "start-failed") == []


def test_an_interrupted_start_is_cut_short(tmp_path: Path) -> None:
    """A signal makes Python raise wherever the start is: that is no error of its own; a real one is."""
    raised = 'Traceback (most recent call last):\n  File "/app/serve.py", line 3, in setup\n    await ready()\n{}: {}\n'
    text = "".join(VLLM_START.format(hms(160 * n), 96) + raised.format("KeyboardInterrupt", "terminated") for n in range(3))
    reading = read(tmp_path, engine__chat__0=text)
    assert len(named(reading, "start-cut-short")) == 3
    assert named(reading, "start-failed") == []
    text = "".join(VLLM_START.format(hms(160 * n), 96) + raised.format("ValueError", "no such layer") for n in range(3))
    assert len(named(read(tmp_path, engine__chat__1=text), "start-failed")) == 3


def test_a_log_named_after_a_workload_is_its_one_pods(tmp_path: Path) -> None:
    """``kubectl logs deploy/chat`` is about the pod that the events speak of, if they speak of one only."""
    event = "2026-09-16T12:10:00Z Normal Killing llm/pod/{} Stopping container engine\n"
    one = read(tmp_path, chat=VLLM_START.format(hms(10), 96) + VLLM_READY, kube__events=event.format("chat-5d4f6bf9b6-abcde"))
    assert named(one, "engine-ready")[0].subject == Subject(Scope.REPLICA, "chat-5d4f6bf9b6-abcde")
    both = event.format("chat-5d4f6bf9b6-abcde") + event.format("chat-5d4f6bf9b6-fghij")
    two = read(tmp_path, chat=VLLM_START.format(hms(10), 96) + VLLM_READY, kube__events=both)
    assert named(two, "engine-ready")[0].subject == Subject(Scope.REPLICA, "chat")


def test_an_engine_that_vanishes(tmp_path: Path) -> None:
    """A new start after work, with neither an error nor a farewell, says that the process was taken away."""
    text = VLLM_START.format(hms(-900), 96) + VLLM_READY + load_lines(-860, 60) + VLLM_START.format(hms(70), 96)
    (event,) = named(read(tmp_path, engine__chat__0=text), "ended-without-a-word")
    assert event.time == START + 50.0


def test_a_farewell_is_no_crash(tmp_path: Path) -> None:
    """An engine that is asked to stop, and complains while it stops, ended as it should."""
    text = load_lines(-600, 60) + (
        f"(APIServer pid=1) INFO 09-16 {hms(61)} [launcher.py:254] [shutdown] API server: shutdown triggered\n"
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.\n"
    )
    text += VLLM_START.format(hms(120), 96) + VLLM_READY
    reading = read(tmp_path, engine__chat__0=text)
    assert {event.name for event in reading.events} & {"engine-crashed", "ended-without-a-word", "start-cut-short"} == set()


def test_an_error_that_was_survived(tmp_path: Path) -> None:
    """An engine that goes on working after errors of single requests has not crashed."""
    error = "jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'strict'\n"
    text = load_lines(-600, 600) + error + load_lines(600, 1795) + error
    reading = read(tmp_path, engine__chat__0=text)
    assert len(named(reading, "chat-template-error")) == 2
    assert named(reading, "engine-crashed") == []


# ---------------------------------------------------------------- silence


def test_a_log_that_stops(tmp_path: Path) -> None:
    """A log with a line every ten seconds that ends in the middle of the window has stopped; its volume goes on with zeros."""
    reading = read(tmp_path, engine__chat__0=load_lines(-1800, 300))
    (event,) = named(reading, "log-stopped")
    assert (event.time, event.attrs["after"]) == (START + 290.0, "nothing")
    volume = by_signal(reading)["log.lines"]
    assert volume.values[volume.times <= START + 300] == pytest.approx(0.1)
    assert volume.values[volume.times > START + 360] == pytest.approx(0.0)
    assert volume.times[-1] == WINDOW.end


def test_a_log_that_ends_with_a_farewell(tmp_path: Path) -> None:
    """The silence after a shutdown is told as such."""
    text = load_lines(-1800, 300) + "INFO:     Shutting down\nINFO:     Application shutdown complete.\n"
    assert named(read(tmp_path, engine__chat__0=text), "log-stopped")[0].attrs["after"] == "shutdown"


@pytest.mark.parametrize(
    "text",
    [load_lines(-1800, 1800), "".join(load_lines(at, at + 10) for at in range(-1800, 1200, 300)), VLLM_START.format(hms(0), 96)],
    ids=["goes on", "was always sparse", "only a start"],
)
def test_other_silences_are_none(tmp_path: Path, text: str) -> None:
    """A log that goes on, one that was always sparse and one that holds only a start have not stopped."""
    assert named(read(tmp_path, engine__chat__0=text), "log-stopped") == []


# ---------------------------------------------------------------- kernel, cluster, probes

XIDS = """\
Sep 16 12:00:10 n1 kernel: [100.5] NVRM: Xid (PCI:0000:52:00): 79, pid=41022, name=VLLM::Worker_TP0, GPU has fallen off the bus.
Sep 16 12:00:11 n1 kernel: [101.5] NVRM: Xid (PCI:0000:61:00): 45, pid=41023, name=python3, Ch 0c, caused by previous Xid 79
Sep 16 12:00:12 n1 kernel: [102.5] NVRM: Xid (PCI:0000:61:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x026001c6 0x00000000)
Sep 16 12:00:13 n1 kernel: [103.5] NVRM: Xid (PCI:0000:62:00): 144, SAW_MVB Nonfatal XC0 i0 Link 0 (0x00000001 0x00000008)
Sep 16 12:00:14 n1 kernel: [104.5] NVRM: Xid (PCI:0000:63:00): 31, pid='<unknown>', name=<unknown>, MMU Fault, UNRECOGNIZED_CLIENT
Sep 16 12:00:15 n1 kernel: [105.5] IPv6: ADDRCONF(NETDEV_CHANGE): cali4a66f0b: link becomes ready
"""


def test_xids(tmp_path: Path) -> None:
    """An Xid becomes an event of the node with card, process and meaning; one that names its parent is a consequence."""
    reading = read(tmp_path, kernel__n1=XIDS)
    lost, after, fatal, harmless, fault = reading.events
    assert (lost.kind, lost.name, lost.subject) == ("xid", "79", Subject(Scope.NODE, "n1"))
    assert lost.attrs["pci"] == "0000:52:00"
    assert (lost.attrs["pid"], lost.attrs["process"], lost.attrs["class"]) == ("41022", "VLLM::Worker_TP0", "hardware")
    assert (after.attrs["parent"], after.attrs["role"]) == ("79", "consequence")
    assert (fatal.attrs["fatal"], harmless.attrs["fatal"]) == ("yes", "no")
    assert (fault.attrs["pid"], fault.attrs["unrecognized_client"]) == ("unknown", "yes")


def test_kernel_log_since_boot(tmp_path: Path) -> None:
    """Stamps that count from the boot are read if some line tells when that was, else the log is partial."""
    lines = (
        "[  100.500000] NVRM: Xid (PCI:0000:52:00): 79, pid=1, GPU has fallen off the bus.\n" + "[  101.000000] cali0: up\n" * 300
    )
    untold = read(tmp_path, kernel__n1=lines)
    assert untold.events[0].attrs["untimed"] == "yes"
    assert untold.events[0].time == WINDOW.end
    assert untold.sources[0].state is SourceState.PARTIAL
    told = read(tmp_path, kernel__n1=lines + f"[  200.000000] audit: type=1400 audit({START + 200.0}:1): apparmor\n")
    assert told.events[0].time == START + 100.5
    assert told.sources[0].state is SourceState.OK


def test_lines_of_cluster_events(tmp_path: Path) -> None:
    """A cluster event is an event of the pod's replica with the message, and its words are read by signature, too."""
    text = (
        "2026-09-16T12:00:38Z Warning Unhealthy              llm/pod/chat-5d4f6bf9b6-abcde Liveness probe failed: HTTP probe "
        "failed with statuscode: 404\n"
        "2026-09-16T12:00:40Z Normal  NodeNotReady           llm/node/n9 Node status is now: NodeNotReady\n"
        "2026-09-16T12:00:41Z Warning FailedScheduling       llm/pod/burnin-7c9d8f6b5d-2xkqv 0/3 nodes are available: "
        "3 Insufficient nvidia.com/gpu.\n"
    )
    reading = read(tmp_path, kube__events=text)
    (unhealthy,) = named(reading, "Unhealthy")
    assert (unhealthy.kind, unhealthy.subject) == ("kube", Subject(Scope.REPLICA, "chat-5d4f6bf9b6-abcde"))
    assert (unhealthy.attrs["service"], unhealthy.attrs["object_kind"]) == ("chat", "pod")
    (probe,) = named(reading, "probe-wrong-answer")
    assert (probe.attrs["probe"], probe.attrs["status"]) == ("Liveness", "404")
    assert named(reading, "node-not-ready")[0].subject == Subject(Scope.NODE, "n9")
    assert named(reading, "no-card-free")[0].subject == Subject(Scope.SERVICE, "burnin")


def test_table_of_cluster_events(tmp_path: Path) -> None:
    """The ages of ``kubectl get events`` count back from the window's end."""
    text = (
        "LAST SEEN   TYPE      REASON      OBJECT                  MESSAGE\n"
        "10m         Warning   Evicted     pod/chat-0              The node was low on resource: ephemeral-storage.\n"
        "2m10s       Normal    Killing     pod/chat-1              Stopping container engine\n"
    )
    reading = read(tmp_path, kube__events=text)
    assert named(reading, "Evicted")[0].time == WINDOW.end - 600
    assert named(reading, "Killing")[0].time == WINDOW.end - 130
    assert named(reading, "evicted-for-disk")[0].subject == Subject(Scope.REPLICA, "chat-0")


def test_a_table_that_lost_its_columns(tmp_path: Path) -> None:
    """Rows are read where cells no longer stand below the headings; how often something was seen counts for what it says."""
    text = (
        "LAST SEEN   TYPE      REASON   OBJECT   MESSAGE\n"
        "30s (x80 over 37m)   Warning   Unhealthy   pod/chat-5d4f6bf9b6-abcde  Startup probe failed: Get "
        '"http://10.0.0.1:8000/health": dial tcp 10.0.0.1:8000: connect: connection refused\n'
    )
    reading = read(tmp_path, kubectl=text)
    assert [(one.attrs["count"], one.subject) for one in (*named(reading, "Unhealthy"), *named(reading, "probe-refused"))] == [
        ("80", Subject(Scope.REPLICA, "chat-5d4f6bf9b6-abcde"))
    ] * 2


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "many lines"])
def test_document_of_cluster_events(tmp_path: Path, indent: int | None) -> None:
    """``kubectl get events -o json`` is read, however it is laid out, with the count that the cluster gives."""
    item = {
        "kind": "Event", "reason": "BackOff", "type": "Warning", "message": "Back-off restarting failed container", "count": 17,
        "lastTimestamp": "2026-09-16T12:10:00Z", "involvedObject": {"kind": "Pod", "name": "chat-0", "namespace": "llm"},
    }  # fmt: skip
    document = json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]}, indent=indent)
    (backoff,) = named(read(tmp_path, kube__events=document), "BackOff")
    assert (backoff.time, backoff.attrs["count"], backoff.subject) == (START + 600.0, "17", Subject(Scope.REPLICA, "chat-0"))


def test_probes_in_the_kubelets_log(tmp_path: Path) -> None:
    """A line of the kubelet is about the pod that it names, not about the node."""
    text = (
        'I0916 12:00:38.000000    2911 prober.go:120] "Probe failed" probeType="Liveness" pod="llm/chat-0" podUID="84" '
        'containerName="engine" probeResult="failure" output="Get \\"http://10.1.1.1:8000/health\\": context deadline exceeded"\n'
    )
    (event,) = named(read(tmp_path, kubelet__n1=text), "probe-timeout")
    assert event.subject == Subject(Scope.REPLICA, "chat-0")


def test_known_names_come_first(tmp_path: Path) -> None:
    """A replica, node or gateway that the metrics know under its name keeps its subject."""
    known = {"router": Subject(Scope.GATEWAY, "router-7f"), "0": Subject(Scope.REPLICA, "chat-0")}
    line = (
        f"2026-09-16 {hms(1)}  INFO vllm_router_rs::core::circuit_breaker: x: Circuit breaker state transition: closed -> open\n"
    )
    reading = read(tmp_path, known, router=line, engine__0=load_lines(0, 60))
    assert named(reading, "circuit-opened")[0].subject == Subject(Scope.GATEWAY, "router-7f")
    assert by_signal(reading)["batch.running"].subject == Subject(Scope.REPLICA, "chat-0")


def test_scores_of_answers(tmp_path: Path) -> None:
    """A group whose answers got worse is named; the others and the noise between runs are not."""
    lines = "".join(
        f"2026-09-16T{hms(at)}Z   pod=chat-{pod} image={image} exact_match={right + at // 60 % 3}/60 http_200=60/60\n"
        for at in range(-1800, 1800, 300)
        for pod, image, right in (("a", "v1", 55), ("b", "v2" if at >= 600 else "v1", 37 if at >= 600 else 55))
    )
    reading = read(tmp_path, eval__probe=lines)
    (drop,) = named(reading, "quality-drop")
    assert (drop.subject, drop.attrs["image"], drop.time) == (Subject(Scope.REPLICA, "chat-b"), "v2", START + 600.0)
    assert by_signal(reading)["quality.score"].values[:5] == pytest.approx(0.93, abs=0.03)


# ---------------------------------------------------------------- much, broken and hostile


@pytest.mark.slow
def test_five_million_lines_in_small(tmp_path: Path) -> None:
    """However often a line is repeated, a bounded number of events is kept: the first ones, the last, and the count."""
    line = (
        "(EngineCore pid=2) ERROR 09-16 {} [core.py:871] RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\n"
    )
    text = "".join(line.format(hms(at / 4)) for at in range(-2000, 7000))
    events = named(read(tmp_path, engine__chat__0=text), "shape-mismatch")
    before, after = [e for e in events if e.time < START], [e for e in events if e.time >= START]
    assert (len(before), len(after)) == (KEEP, KEEP)
    assert [sum(int(event.attrs["count"]) for event in part) for part in (before, after)] == [2000, 7000]
    assert (after[0].time, after[-1].time) == (START, START + 1749.0)


def test_lines_outside_are_dropped(tmp_path: Path) -> None:
    """What was before the baseline or after the window is no event."""
    line = "2026-09-16T{}Z OSError: [Errno 24] Too many open files\n"
    text = line.format("01:00:00") + line.format(hms(5)) + line.format("23:00:00")
    assert [event.time for event in named(read(tmp_path, gateway=text), "too-many-open-files")] == [START + 5.0]


def test_what_users_write_is_not_believed(tmp_path: Path) -> None:
    """A prompt that looks like an error makes no event, and is not kept."""
    text = (
        f"INFO 09-16 {hms(1)} logger.py:42] Received request cmpl-1: prompt: 'CUDA out of memory', params: SamplingParams(n=1)\n"
    )
    assert read(tmp_path, engine__chat__0=text).events == ()


def test_hostile_text(tmp_path: Path) -> None:
    """Escape sequences and secrets of a line that is kept are gone."""
    text = f"2026-09-16T{hms(1)}Z \x1b[31mToo many open files\x1b[0m while calling http://user:hunter2@db api_key=hunter2\x07\n"
    (event,) = read(tmp_path, gateway=text).events
    assert "hunter2" not in event.text
    assert event.text.isprintable()


def test_one_endless_line(tmp_path: Path) -> None:
    """Of a line without end only the beginning is looked at, and the next line is read as usual."""
    text = f"2026-09-16T{hms(1)}Z " + "x" * (3 * MAX_LINE) + f" Too many open files\n2026-09-16T{hms(2)}Z Too many open files\n"
    assert [event.time for event in read(tmp_path, gateway=text).events] == [START + 2.0]


def test_packed_and_rotated(tmp_path: Path) -> None:
    """Packed and rotated files of one emitter are one log, the oldest first."""
    (tmp_path / "engine-chat-0.log.1.gz").write_bytes(gzip.compress(load_lines(-1800, 0).encode()))
    reading = read(tmp_path, engine__chat__0=load_lines(0, 1800, running=7))
    running = by_signal(reading)["batch.running"]
    assert running.values[0] == pytest.approx(19.0)
    assert running.values[-1] == pytest.approx(7.0)
    assert named(reading, "log-stopped") == []


@pytest.mark.parametrize(
    "old",
    ["chat-2026-09-16T12-00-00.000.log", "chat.log-20260916", "chat.log.2026-09-16", "chat-20260916.log", "chat.log.2"],
    ids=["lumberjack", "dateext", "timed rotation", "a day", "a number"],
)
def test_rotated_in_any_way(old: str, tmp_path: Path) -> None:
    """The file that was put away is older than the one that is written, and both are one emitter's."""
    for name in (old, "chat.log"):
        (tmp_path / name).write_text("")
    (log,) = logs_of([tmp_path])[0]
    assert (log.stem, [file.name for file in log.files]) == ("chat", [old, "chat.log"])


def test_files_of_several_days_follow_each_other(tmp_path: Path) -> None:
    """The oldest first; a number that is no date is part of a name."""
    names = ["chat-2026-09-15.log", "chat-2026-09-16.log.gz", "job-20269999.log"]
    for name in reversed(names):
        (tmp_path / name).write_text("")
    found = {log.stem: [file.name for file in log.files] for log in logs_of([tmp_path])[0]}
    assert found == {"chat": names[:2], "job-20269999": names[2:]}


def test_a_damaged_archive(tmp_path: Path) -> None:
    """A packed log that breaks off gives what was readable, and its source says so."""
    data = gzip.compress("".join(f"2026-09-16T{hms(at)}Z {at * 7919} Too many open files\n" for at in range(1700)).encode())
    (tmp_path / "gateway.log.gz").write_bytes(data[: len(data) // 2])
    reading = read_logs([tmp_path], WINDOW, "chat")
    assert reading.events
    assert reading.sources[0].state is SourceState.PARTIAL
    assert "gateway.log.gz cannot be read to its end" in reading.sources[0].reason


def test_containers_and_compose(tmp_path: Path) -> None:
    """What a container runtime writes around a line is taken off."""
    error = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    docker = json.dumps({"log": f"{error}\n", "stream": "stderr", "time": "2026-09-16T12:00:05.5Z"})
    reading = read(
        tmp_path,
        engine__a=docker + "\n",
        engine__b=f"2026-09-16T12:00:06.5Z stderr F {error}\n",
        engine__c=f"vllm-1  | INFO 09-16 {hms(7)} {error}\n",
    )
    assert [event.time - START for event in named(reading, "arch-not-built")] == [5.5, 6.5, 7.0]


def test_the_name_says_nothing(tmp_path: Path) -> None:
    """The kind of a file with any name is told by its content."""
    reading = read(
        tmp_path,
        a=load_lines(0, 60),
        b=XIDS,
        c=f'[2026-09-16T{hms(1)}Z] "POST /v1/x HTTP/1.1" 200 - 1 1 1 1 "-" "-" "-" "-" "-"\n',
    )
    assert [source.name for source in reading.sources] == ["log:engine", "log:gateway", "log:kernel"]


@pytest.mark.parametrize(
    ("stem", "kind", "subject"),
    [
        ("engine-llm-prod-5d4f6bf9b6-abcde", "engine", Subject(Scope.REPLICA, "llm-prod-5d4f6bf9b6-abcde")),
        ("kernel-gpu-node-01", "kernel", Subject(Scope.NODE, "gpu-node-01")),
        ("kubelet-ip-10-1-1-1.eu.compute.internal", "kubelet", Subject(Scope.NODE, "ip-10-1-1-1.eu.compute.internal")),
        ("kube-events", "kube-events", Subject(Scope.SERVICE, "chat")),
        ("device-plugin-n1", "device-plugin", Subject(Scope.NODE, "n1")),
        ("dcgm-exporter", "dcgm", Subject(Scope.SERVICE, "chat")),
        ("prometheus-adapter", "autoscaler", Subject(Scope.SERVICE, "chat")),
        ("prometheus", "prometheus", Subject(Scope.SERVICE, "chat")),
        ("router", "gateway", Subject(Scope.GATEWAY, "router")),
        ("chat-pool-epp", "gateway", Subject(Scope.GATEWAY, "chat-pool-epp")),
        ("sglang-router", "gateway", Subject(Scope.GATEWAY, "sglang-router")),
        ("llama-8b-0", "other", Subject(Scope.SERVICE, "chat")),
        ("client-batch", "client", Subject(Scope.CLIENT, "client-batch")),
        ("operator-shell", "operator", Subject(Scope.SERVICE, "chat")),
        ("coredns", "dns", Subject(Scope.SERVICE, "chat")),
        ("etcd-0", "etcd", Subject(Scope.SERVICE, "chat")),
        ("something", "other", Subject(Scope.SERVICE, "chat")),
    ],
)
def test_emitters(stem: str, kind: str, subject: Subject) -> None:
    """A file's name tells who wrote it."""
    emitter = emitter_of(stem, [], lambda _: None, "chat")
    assert (emitter.kind, emitter.subject) == (kind, subject)


@pytest.mark.parametrize(
    ("lines", "kind"), [(("$ nvidia-smi -q", '["length", "!!!!"]'), "other"), (("NVIDIA-SMI 570.1",), "nvidia-smi")]
)
def test_what_somebody_typed_is_nobodys_output(lines: tuple[str, ...], kind: str) -> None:
    """A paste of several commands is not the output of one that it names."""
    assert emitter_of("answers", [line.encode() for line in lines], lambda _: None, "chat").kind == kind


DESCRIBED = """\
Name:             chat-5cc594fd46-hg5rw
Namespace:        default
Node:             one/192.168.49.2
Labels:           app=chat
                  pod-template-hash=5cc594fd46
Containers:
  engine:
    Image:         acme/engine:1
    Command:
      python3
      -m
    State:          Waiting
      Reason:       CrashLoopBackOff
    Ready:          False
    Startup:    http-get http://:8000/health delay=0s timeout=1s period=5s #success=1 #failure=6
Events:
  Type     Reason     Age                   From     Message
  ----     ------     ----                  ----     -------
  Normal   Killing    4m38s (x5 over 7m38s) kubelet  Container engine failed startup probe, will be restarted
"""


def test_what_kubectl_described_is_told_by_the_cluster_whoever_kept_it(tmp_path: Path) -> None:
    """Most of a description is about settings, and what it is of is read all the same; a shell's own words are a person's."""
    (kept,) = named(read(tmp_path, kubectl__describe__pod=DESCRIBED), "Killing")
    assert (kept.kind, str(kept.subject)) == ("kube", "replica/chat-5cc594fd46-hg5rw")
    typed = [line.encode() for line in ("$ kubectl describe pod chat", *DESCRIBED.splitlines())]
    assert emitter_of("operator-shell", typed, lambda _: None, "chat").kind == "operator"


def test_paths(tmp_path: Path) -> None:
    """Files are read whatever their names, other files of a folder are left, links are not followed, what is missing is told."""
    (tmp_path / "somewhere.else").write_text("2026-09-16T12:00:01Z Too many open files\n")
    (tmp_path / "notes.md").write_text("2026-09-16T12:00:02Z Too many open files\n")
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "linked.log").symlink_to(tmp_path / "somewhere.else")
    (folder / "notes.md").write_text("2026-09-16T12:00:02Z Too many open files\n")
    reading = read_logs([tmp_path / "somewhere.else", folder, tmp_path / "gone"], WINDOW, "chat")
    assert [event.time for event in reading.events if event.kind == "log"] == [START + 1.0]
    assert [(source.name, source.state) for source in reading.sources] == [
        ("log", SourceState.FAILED),
        ("log:other", SourceState.OK),
    ]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single hyphen reads standard input, of whatever kind it is."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(XIDS.encode())))
    reading = read_logs([Path("-")], WINDOW, "chat")
    assert [event.name for event in reading.events if event.kind == "xid"] == ["79", "45", "149", "144", "31"]
    assert reading.events[0].source == "stdin"


def test_an_empty_log(tmp_path: Path) -> None:
    """A log without a line is a partial source, not a quiet one."""
    reading = read(tmp_path, kernel__n1="")
    assert [(s.name, s.state, s.reason) for s in reading.sources] == [
        ("log:kernel", SourceState.PARTIAL, "kernel-n1.log is empty")
    ]


@settings(max_examples=40)
@given(
    st.lists(st.binary(max_size=120), max_size=30),
    st.sampled_from(["engine-a", "kernel-n", "gateway", "kube-events", "eval", "x"]),
)
def test_nothing_breaks_it(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], stem: str) -> None:
    """Any bytes under any name are read without an error, and twice to the same result."""
    path = tmp_path_factory.mktemp("any") / f"{stem}.log"
    path.write_bytes(b"\n".join(lines))
    first, second = (read_logs([path], WINDOW, "chat") for _ in range(2))
    assert first.events == second.events
    assert first.sources == second.sources


def test_an_engines_log_that_bears_the_name_of_its_host() -> None:
    """It is that of the only engine there; a kernel's is the host's."""
    host, engine = Subject(Scope.NODE, "nlp-h1"), Subject(Scope.REPLICA, "nlp-h1.news.int:3000")
    known = {"nlp-h1": host, engine_on("nlp-h1"): engine}
    head = [b'2026-11-05T17:40:00.654623Z  INFO generate_stream{total_time="3.9s"}: text_generation_router::server: Success']
    assert emitter_of("tgi-nlp-h1", head, known.get, "chat") == Emitter("engine", engine)
    assert emitter_of("kernel-nlp-h1", [], known.get, "chat").subject == host
