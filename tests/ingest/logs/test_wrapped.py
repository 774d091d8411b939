"""Logs in the forms that people have at hand: mixed files, kubectl's tables, nvidia-smi, bare tracebacks, and whose they are."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from triage.ingest.files.incident import read_any
from triage.ingest.logs import LogReading, read_logs, window_of_logs
from triage.model.recording import Event, Recording, SourceState, Subject, Window
from triage.model.service import NAMELESS
from triage.model.vocabulary import Scope

END = datetime(2026, 9, 16, 12, 30, tzinfo=UTC).timestamp()
WINDOW = Window(END - 1800.0, END, END - 5400.0)


def read(folder: Path, text: str, name: str = "paste.txt", *, alone: bool = False, service: str = "chat") -> LogReading:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_logs([path], WINDOW, service, alone=alone)


def named(reading: LogReading, name: str) -> list[Event]:
    return [event for event in reading.events if event.name == name]


# ---------------------------------------------------------------- who wrote it


def test_a_journal_of_many_programs(tmp_path: Path) -> None:
    """Each program of a journal is an emitter of its own, on the node that the lines name."""
    text = (
        "Sep 16 12:10:00 n1 kernel: NVRM: Xid (PCI:0000:52:00): 79, pid=1, GPU has fallen off the bus.\n"
        'Sep 16 12:10:01 n1 kubelet[9]: I0916 12:10:01.000000 9 prober.go:120] "Probe failed" probeType="Liveness" '
        'pod="llm/chat-0" probeResult="failure" output="context deadline exceeded"\n'
        "Sep 16 12:10:02 n1 systemd[1]: Reloading.\n"
    )
    reading = read(tmp_path, text, "messages")
    assert {source.name for source in reading.sources} == {"log:kernel", "log:kubelet", "log:journal"}
    assert named(reading, "79")[0].subject == Subject(Scope.NODE, "n1")


def test_the_name_lies(tmp_path: Path) -> None:
    """A file that is called after an engine and holds a proxy's access lines is a gateway's."""
    line = '10.0.0.1 - - [16/Sep/2026:12:10:0{} +0000] "POST /v1/chat/completions HTTP/1.1" 502 157 "-" "curl/8"\n'
    reading = read(tmp_path, "".join(map(line.format, range(5))), "vllm.log")
    assert [source.name for source in reading.sources] == ["log:gateway"]
    assert named(reading, "server-errors")[0].attrs["count"] == "5"


# ---------------------------------------------------------------- whose it is


@pytest.mark.parametrize(
    ("pod", "stranger"),
    [("chat-0", False), ("batch-7c9f5d4b8-x2x4p", True), ("dcgm-exporter-x2x4p", True), ("chat-exporter-0", True)],
)
def test_strangers(tmp_path: Path, pod: str, stranger: bool) -> None:
    """What happens to somebody else's pod is about somebody else, and says so."""
    reading = read(
        tmp_path, f"2026-09-16T12:10:00Z Warning Evicted llm/pod/{pod} The node was low on resource: memory.\n", alone=True
    )
    assert reading.events
    for event in reading.events:
        assert (event.attrs.get("stranger") == "yes") is stranger
        assert (event.attrs["service"] == "chat") is not stranger


def test_the_only_workload(tmp_path: Path) -> None:
    """One workload that serves a model is ours, whatever it is called, if nothing but logs is known; a lone batch job is not."""
    line = "[pod/my-llm-7c9f5d4b8-x2x4p/main] 2026-09-16T12:10:00.000000000Z {}\n"
    serving = read(tmp_path, line.format("vLLM: CUDA out of memory. Tried to allocate 2.00 GiB"), alone=True)
    assert named(serving, "cuda-oom")[0].subject == Subject(Scope.REPLICA, "my-llm-7c9f5d4b8-x2x4p")
    working = read(tmp_path, line.format("Too many open files"), alone=True)
    assert all(event.subject is None or event.subject.scope is not Scope.REPLICA for event in working.events)


def test_what_was_handed_over_where_nobody_named_a_service(tmp_path: Path) -> None:
    """Events of one workload alone are asked about, though nothing shows what it serves; of two, nobody knows."""
    line = "2026-09-16T12:10:00Z Warning FailedAttachVolume llm/pod/{}-7d44c9b8-w2xtn Multi-Attach error for volume pvc-1\n"
    one = read(tmp_path, line.format("llm-prod"), alone=True, service=NAMELESS)
    assert [event.attrs.get("stranger") for event in one.events] == [None] * len(one.events) != []
    two = read(tmp_path, line.format("llm-prod") + line.format("batch"), alone=True, service=NAMELESS)
    assert {event.attrs.get("stranger") for event in two.events} == {"yes"}


# ---------------------------------------------------------------- kubectl

DESCRIBED = """\
Name:             chat-0
Namespace:        llm
Node:             n1/10.0.0.1
Containers:
  engine:
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Wed, 16 Sep 2026 12:20:00 +0000
      Finished:     Wed, 16 Sep 2026 12:21:10 +0000
    Ready:          False
Events:
  Type     Reason     Age                From         Message
  ----     ------     ----               ----         -------
  Warning  Unhealthy  20s (x3 over 34s)  kubelet, n1  Liveness probe failed: HTTP probe failed with statuscode: 404
"""


def test_a_described_pod(tmp_path: Path) -> None:
    """The last state of a container and the events below are events of that pod, at their own times."""
    reading = read(tmp_path, DESCRIBED)
    (killed,), (unhealthy,) = named(reading, "OOMKilled"), named(reading, "Unhealthy")
    assert (killed.subject, killed.time) == (Subject(Scope.REPLICA, "chat-0"), END - 530.0)
    assert (unhealthy.attrs["count"], unhealthy.time) == ("3", END - 20.0)
    assert unhealthy.attrs["message"] == "Liveness probe failed: HTTP probe failed with statuscode: 404"
    assert named(reading, "container-oom-killed")
    assert named(reading, "probe-wrong-answer")


def test_a_wide_table_of_all_namespaces(tmp_path: Path) -> None:
    """Cells stand below their headings, also where some are empty."""
    text = (
        "NAMESPACE   LAST SEEN   TYPE      REASON    OBJECT           SUBOBJECT            SOURCE        MESSAGE      COUNT\n"
        "llm         4m10s       Warning   BackOff   pod/chat-1       containers{engine}   kubelet, n1   Back-off     17\n"
        "ops         3m          Warning   Evicted   pod/dump-x2x4p                        kubelet, n1   Memory out   1\n"
    )
    (ours,), (other,) = named(reading := read(tmp_path, text), "BackOff"), named(reading, "Evicted")
    assert (ours.time, ours.attrs["count"], ours.attrs["namespace"], ours.attrs["message"]) == (
        END - 250.0,
        "17",
        "llm",
        "Back-off",
    )
    assert (other.subject, other.attrs["stranger"]) == (Subject(Scope.SERVICE, "dump"), "yes")


@pytest.mark.parametrize(
    "text",
    [
        (
            "NAME     READY   STATUS             RESTARTS     AGE\n"
            "chat-0   0/1     CrashLoopBackOff   7 (2m ago)   20m\n"
            "chat-1   1/1     Running            0            20d\n"
        ),
        # a name was made longer, or the table was cut narrower: cells no longer begin below their headings
        (
            "NAME     READY   STATUS             RESTARTS     AGE\n"
            "chat-5b59c84684-2mchc   0/1     CrashLoopBackOff   7 (2m ago)   20m\n"
        ),
        (
            "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE\n"
            "chat-0 0/1 CrashLoopBackOff 7 (2m ago) 20m <none> <none> <none>\n"
            "chat-1 1/1 Running 0 20d 10.4.6.17 <none> <none>\n"
        ),
    ],
)
def test_a_list_of_pods(tmp_path: Path, text: str) -> None:
    """A pod that is not well is an event, one that runs is none."""
    events = [event for event in read(tmp_path, text).events if event.kind == "kube"]
    assert {(event.name, event.time) for event in events} == {("CrashLoopBackOff", END - 120.0)}


@pytest.mark.parametrize("head", ["Name:             chat-0\nNamespace:        llm\n", ""])
def test_why_a_pod_failed_as_a_whole(tmp_path: Path, head: str) -> None:
    """A pod that was evicted has no containers any more to tell of: it says so itself, also where somebody cut the rest out."""
    text = f"$ kubectl describe pod chat-0\n{head}Status:           Failed\nReason:           Evicted\n"
    text += "Message:          The node was low on resource: ephemeral-storage. Threshold: 9Gi, available: 8Gi.\n"
    (one,) = named(read(tmp_path, text), "Evicted")
    assert one.attrs["message"].startswith("The node was low on resource: ephemeral-storage")


def test_a_wide_list_of_all_pods_says_where_each_is(tmp_path: Path) -> None:
    """``NAME`` is not found within ``NAMESPACE``; of pods on nodes where none of ours is nothing is ours."""
    text = (
        "NAMESPACE   NAME     READY   STATUS    RESTARTS   AGE   IP          NODE    NOMINATED NODE   READINESS GATES\n"
        "llm         chat-0   1/1     Running   0          19d   10.4.6.17   gpu-4   <none>           <none>\n"
        "llm         chat-1   0/1     Pending   0          1m    <none>      <none>  <none>           <none>\n"
        "lab         job-0    1/1     Running   0          2h    10.4.7.12   gpu-9   <none>           <none>\n"
    )
    reading = read(tmp_path, text)
    assert reading.as_part_of(Recording("chat", WINDOW)).links == {
        Subject(Scope.REPLICA, "chat-0"): (Subject(Scope.NODE, "gpu-4"),)
    }
    assert [str(event.subject) for event in named(reading, "Pending")] == ["replica/chat-1"]


# ---------------------------------------------------------------- nvidia-smi

REPORT = """\
==============NVSMI LOG==============
Timestamp                                 : Wed Sep 16 12:20:00 2026
Driver Version                            : 570.133.20
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    GPU UUID                              : GPU-aaaa
    GPU Recovery Action                   : {}
    Clocks Event Reasons
        HW Slowdown                       : {}
    Remapped Rows
        Pending                           : {}
"""


@pytest.mark.parametrize(
    ("values", "states"), [(("Reset", "Active", "Yes"), 3), (("None", "Not Active", "No"), 0), (("N/A",) * 3, 0)]
)
def test_a_report_of_cards(tmp_path: Path, values: tuple[str, ...], states: int) -> None:
    """What a healthy card does not say is a state of that card; driver and place are facts."""
    reading = read(tmp_path, REPORT.format(*values), "nvidia-smi-n1.log")
    said = [event for event in reading.events if event.kind == "said"]
    assert len(said) == states
    assert {event.subject for event in said} <= {Subject(Scope.GPU, "GPU-aaaa")}
    facts = {(fact.subject.scope, fact.key): fact.value for fact in reading.facts}
    assert facts[Scope.NODE, "driver_version"] == "570.133.20"
    assert facts[Scope.GPU, "pci_bus_id"] == "00000000:1B:00.0"


@pytest.mark.parametrize(("now", "most", "told"), [("8x", "16x", 1), ("16x", "16x", 0), ("N/A", "16x", 0), ("8x", "N/A", 0)])
def test_a_link_short_of_lanes_is_a_state(tmp_path: Path, now: str, most: str, told: int) -> None:
    """Fewer lanes than card and slot can have; nothing where either is not told."""
    link = (
        f"    PCI\n        GPU Link Info\n            Link Width\n                Max : {most}\n                Current : {now}\n"
    )
    reading = read(tmp_path, REPORT.format("None", "Not Active", "No") + link, "nvidia-smi-n1.log")
    assert [event.attrs["value"] for event in reading.events if event.kind == "said"] == [now] * told


# ---------------------------------------------------------------- failed starts

FRAMES = 'Traceback (most recent call last):\n  File "/x/a.py", line 3, in load_model\n    x()\n'


@pytest.mark.parametrize(
    ("text", "exception", "message"),
    [
        (FRAMES + "ValueError: the frobnicator is not calibrated\n", "ValueError", "the frobnicator is not calibrated"),
        (
            "INFO 09-16 12:20:00 [a.py:1] non-default args: {'model': '/m'}\n" + FRAMES + "ValueError: odd\n" + FRAMES
            + "RuntimeError: Engine core initialization failed. See root cause above.\n",
            "ValueError", "odd",
        ),
        ("loading model\nllama_load: error loading model: the file is cut\nmain: exiting due to model loading error\n", None,
         "llama_load: error loading model: the file is cut"),
        ('Traceback (most recent call last):\n  File "/usr/bin/trtllm-serve", line 5, in <module>\nImportError: libwidget.so.1\n',
         "ImportError", "libwidget.so.1"),
    ],
    ids=["bare", "chained processes", "no traceback", "import"],
)  # fmt: skip
def test_a_failed_start(tmp_path: Path, text: str, exception: str | None, message: str) -> None:
    """A failed start says the last exception of the first traceback, with or without a line that begins it."""
    (failed,) = named(read(tmp_path, text, "engine-chat-0.log"), "start-failed")
    assert (failed.attrs.get("exception"), failed.attrs["message"]) == (exception, message)


def test_a_caught_exception(tmp_path: Path) -> None:
    """An exception that is logged as a warning, after which the start goes on, is no failed start."""
    start = "INFO 09-16 12:20:00 [a.py:1] non-default args: {'model': '/m'}\n"
    lines = FRAMES + "ImportError: no plug-in\n"
    caught = "".join(f"WARNING 09-16 12:20:01 [a.py:1] {line}\n" for line in lines.splitlines())
    assert (
        named(read(tmp_path, start + caught + "INFO:     Application startup complete.\n", "engine-chat-0.log"), "start-failed")
        == []
    )


# ---------------------------------------------------------------- which time


def test_the_window_ends_at_the_last_line(tmp_path: Path) -> None:
    """With nothing but logs they say which time is looked at, and a short one as a whole."""
    path = tmp_path / "x.log"
    path.write_text("2026-09-16T11:00:00Z a\nno stamp\n2026-09-16T12:30:00Z b\n")
    window = window_of_logs([path], END + 1e6)
    assert window is not None
    assert (window.start, window.end) == (END - 5400.0, END)
    path.write_text("nothing that is a time\n")
    assert window_of_logs([path], END) is None


def test_a_folder_with_nothing_but_logs(tmp_path: Path) -> None:
    """An incident folder that names no time and holds no metrics is read at the time of its logs."""
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "kernel-n1.log"
    log.write_text("Sep 16 12:29:00 n1 kernel: NVRM: Xid (PCI:0000:52:00): 79, pid=1, GPU has fallen off the bus.\n")
    os.utime(log, (END, END))
    recording = read_any(tmp_path)
    assert recording.window.end == END - 60.0
    assert [event.name for event in recording.events] == ["79"]


def test_lines_outside_are_said(tmp_path: Path) -> None:
    """A log that lies outside of what is looked at is not silent about it, and says what takes it in."""
    (source,) = read(tmp_path, "2026-09-15T12:00:00Z Too many open files\n").sources
    assert source.state is SourceState.PARTIAL
    assert "--from 2026-09-15T12:00:00Z" in source.reason
