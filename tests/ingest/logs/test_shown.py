"""What commands showed to a person who kept it: forms as their programs print them, wherever they stand in a text."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.files import texts
from triage.ingest.language import load_language
from triage.ingest.logs import LogReading, read_logs
from triage.ingest.logs.shown.quantities import cores, quantity, size
from triage.model.recording import Event, Window
from triage.model.service import NAMELESS

END = datetime(2025, 3, 4, 10, 30, tzinfo=UTC).timestamp()
WINDOW = Window(END - 1800, END, END - 5400)
ENGINE_LOG = (
    "INFO 03-04 10:20:00 [loggers.py:123] Engine 000: Avg prompt throughput: 120.0 tokens/s,"
    " Avg generation throughput: 300.0 tokens/s, Running: 4 reqs, Waiting: 0 reqs\n"
)


def read(folder: Path, text: str, name: str = "paste.txt") -> LogReading:
    """What a file with this text brings."""
    (folder / name).write_text(text, encoding="utf-8")
    return read_logs([folder / name], WINDOW, "chat", alone=True)


def last(reading: LogReading) -> dict[tuple[str, str], float]:
    """The last value of each signal of each subject."""
    return {(one.signal, one.subject.id): float(one.values[-1]) for one in reading.series}


def facts(reading: LogReading) -> dict[tuple[str, str], str | float]:
    """Facts by key and subject."""
    return {(one.key, one.subject.id): one.value for one in reading.facts}


def states(reading: LogReading) -> dict[tuple[str, str], str]:
    """States that speak of trouble, by path and subject."""
    return {
        (one.attrs["path"], one.subject.id): one.attrs["value"] for one in reading.events if "path" in one.attrs and one.subject
    }


def named(reading: LogReading, kind: str) -> dict[str, Event]:
    """Events of a kind by name."""
    return {one.name: one for one in reading.events if one.kind == kind}


# ---------------------------------------------------------------- cards

BOX = """\
Tue Mar  4 10:22:31 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   34C    P0            118W /  700W |   74731MiB /  81559MiB |    100%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          Off |   00000000:3B:00.0 Off |                    4 |
| N/A   88C    P0            698W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   2  ERR!                          ERR! |   00000000:5D:00.0 ERR! |                 ERR! |
|ERR!  ERR!  ERR!             ERR! / ERR! |      ERR! /      ERR!   |    ERR!         ERR! |
|                                         |                        |                 ERR! |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A     12345      C   /usr/bin/python3                            74718MiB |
|    1   N/A  N/A       901      C   [Not Found]                                   900MiB |
+-----------------------------------------------------------------------------------------+
"""
OLD_BOX = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 418.87.00    Driver Version: 418.87.00    CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  On   | 00000000:1A:00.0 Off |                    0 |
| N/A   34C    P0    42W / 300W |  16130MiB / 16130MiB |     12%      Default |
+-------------------------------+----------------------+----------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0     12345      C   python                                     16118MiB |
+-----------------------------------------------------------------------------+
"""


@pytest.mark.parametrize("before", ["", "(base) alice@gpu-3:~$ nvidia-smi\n", ENGINE_LOG])
def test_box_of_nvidia_smi(tmp_path: Path, before: str) -> None:
    """Vital signs, facts and what speaks of trouble, alone, below a prompt, and within an engine's log."""
    reading = read(tmp_path, before + BOX + "\n")
    values, told = last(reading), facts(reading)
    assert values["gpu.temp", "00000000:3B:00.0"] == 88.0
    assert values["gpu.power", "00000000:19:00.0"] == 118.0
    assert values["gpu.mem_used", "00000000:19:00.0"] == 74731 * 2**20
    assert values["gpu.util", "00000000:19:00.0"] == 1.0
    assert ("gpu.temp", "00000000:5D:00.0") not in values
    assert told["gpu_model", "00000000:19:00.0"] == "NVIDIA H100 80GB HBM3"
    assert "550.90.07" in {value for (key, _), value in told.items() if key == "driver_version"}
    assert states(reading) == {("ecc errors/volatile/uncorrectable", "00000000:3B:00.0"): "4"}
    unread = [one for one in reading.events if one.kind == "residue"]
    assert [one.subject.id for one in unread if one.subject] == ["00000000:5D:00.0"]
    assert {one.attrs["pid"] for one in reading.events if one.name == "card-process"} == {"12345"}
    assert "card-process-orphaned" in named(reading, "log")


def test_box_of_an_older_version(tmp_path: Path) -> None:
    """A box with fewer lines a card, and processes without instances."""
    reading = read(tmp_path, OLD_BOX, "nvidia-smi.txt")
    assert last(reading)["gpu.mem_total", "00000000:1A:00.0"] == 16130 * 2**20
    assert named(reading, "log")["card-process"].attrs["mib"] == "16118"


def test_host_is_the_one_at_whose_prompt_it_was_typed(tmp_path: Path) -> None:
    """What a machine is called stands in the prompt."""
    reading = read(tmp_path, "root@gpu-3:~# nvidia-smi\n" + BOX)
    assert facts(reading)["driver_version", "gpu-3"] == "550.90.07"


CSV = """\
index, timestamp, clocks_event_reasons.active, uuid, memory.used [MiB], clocks.current.sm [MHz], retired_pages.pending
0, 2025/03/04 10:22:31.123, 0x0000000000000040, GPU-aa, 74731 MiB, 345 MHz, No
1, 2025/03/04 10:22:31.124, 0x0000000000000004, GPU-bb, [N/A], 1980 MHz, [N/A]
0, 2025/03/04 10:22:36.123, 0x0000000000000000, GPU-aa, 74731 MiB, 1980 MHz, No
"""


def test_csv_of_nvidia_smi(tmp_path: Path) -> None:
    """Columns in any order, at the times that they name; a limit of power is no trouble by itself."""
    reading = read(tmp_path, CSV)
    thermal = next(one for one in reading.series if one.signal == "gpu.throttle_thermal_hw" and one.subject.id == "GPU-aa")
    assert list(thermal.values) == [1.0, 0.0]
    assert thermal.times[0] == pytest.approx(datetime(2025, 3, 4, 10, 22, 31, 123000, tzinfo=UTC).timestamp())
    assert last(reading)["gpu.sm_clock", "GPU-bb"] == 1.98e9
    assert ("gpu.mem_used", "GPU-bb") not in last(reading)
    assert states(reading) == {("clocks event reasons/hw thermal slowdown", "GPU-aa"): "Active"}


def test_csv_without_heading_or_units(tmp_path: Path) -> None:
    """The command tells the columns, and the tool's units are known."""
    command = "$ nvidia-smi --query-gpu=uuid,memory.used,utilization.gpu,remapped_rows.failure --format=csv,noheader,nounits\n"
    reading = read(tmp_path, command + "GPU-aa, 1024, 7, Yes\nGPU-bb, 2048, 8, No\n")
    assert last(reading)["gpu.mem_used", "GPU-bb"] == 2**31
    assert last(reading)["gpu.util", "GPU-aa"] == 0.07
    assert states(reading) == {("remapped rows/remapping failure occurred", "GPU-aa"): "Yes"}


def test_dmon(tmp_path: Path) -> None:
    """Columns below two heads; a dash is no value."""
    rows = "# gpu   gtemp   pwr  pclk   sm\n# Idx   C   W   MHz   %\n    0   34   118  1980  100\n    1   -  698  345   0\n"
    reading = read(tmp_path, rows)
    values = {signal: value for (signal, card), value in last(reading).items() if card.endswith("/1")}
    assert values == {"gpu.power": 698.0, "gpu.sm_clock": 3.45e8, "gpu.util": 0.0}


# ---------------------------------------------------------------- tables


def test_nodes(tmp_path: Path) -> None:
    """A node that is not ready, and one that takes no pods."""
    text = """\
NAME    VERSION   STATUS                     ROLES           AGE
cp-1    v1.29.3   Ready                      control-plane   300d
gpu-3   v1.29.3   NotReady                   <none>          30d
gpu-4   v1.29.3   Ready,SchedulingDisabled   <none>          30d
"""
    reading = read(tmp_path, text)
    events = [(one.name, one.subject.id) for one in reading.events if one.kind == "kube" and one.subject]
    assert sorted(events) == [("NodeNotReady", "gpu-3"), ("NodeNotSchedulable", "gpu-4")]
    assert last(reading)["node.ready", "cp-1"] == 1.0


def test_workloads_and_autoscalers(tmp_path: Path) -> None:
    """Replicas of ours only; a metric that cannot be read is an event."""
    text = """\
$ kubectl get deploy
NAME    READY   UP-TO-DATE   AVAILABLE   AGE
chat    1/3     1            1           30d
other   0/9     1            0           30d

$ kubectl get hpa
NAME   REFERENCE         TARGETS                     MINPODS   MAXPODS   REPLICAS   AGE
chat   Deployment/chat   <unknown>/10, 1500m/2 (avg)   1         8         8          30d
"""
    reading = read(tmp_path, text)
    values = last(reading)
    assert values["replicas.ready", "chat"] == 1.0
    assert values["autoscaler.max", "chat"] == 8.0
    assert values["autoscaler.value", "chat"] == 1.5
    assert {name for _, name in values} == {"chat"}
    assert "autoscaler-no-metric" in named(reading, "log")


def test_containers_of_docker(tmp_path: Path) -> None:
    """How a container ended; one that serves a model is ours whatever it is called, another is a stranger's."""
    text = """\
CONTAINER ID   IMAGE                     COMMAND                  CREATED       STATUS                      PORTS   NAMES
3f2a1b4c5d6e   vllm/vllm-openai:v0.7.3   "python3 -m vllm.ent…"   2 hours ago   Exited (137) 3 minutes ago          llm
4a5b6c7d8e9f   acme/webui                "bash start.sh"          3 days ago    Restarting (1) 5 seconds ago        webui
"""
    reading = read(tmp_path, text)
    ours = next(one for one in reading.events if one.kind == "kube" and one.attrs["object"] == "llm")
    assert (ours.name, ours.time) == ("Error", END - 180.0)
    assert "stranger" not in ours.attrs
    others = [one for one in reading.events if one.kind == "kube" and one.attrs["object"] == "webui"]
    assert {one.name for one in others} == {"Error", "BackOff"}
    assert all(one.attrs["stranger"] == "yes" for one in others)


def test_memory_and_disks(tmp_path: Path) -> None:
    """The fullest real file system counts; one without room is said."""
    text = """\
              total        used        free      shared  buff/cache   available
Mem:          251Gi       248Gi       1.1Gi       2.0Gi       2.1Gi       512Mi
Swap:            0B          0B          0B

Filesystem      Size  Used Avail Use% Mounted on
tmpfs            26G   26G     0 100% /run
/dev/nvme1n1    3.5T  1.2T  2.3T  35% /data
/dev/nvme0n1p2  1.8T  1.8T     0 100% /
"""
    values, events = last(read(tmp_path, text)), named(read(tmp_path, text), "log")
    assert values["node.memory_available", "host"] == 512 * 2**20
    assert values["node.swap_total", "host"] == 0.0
    assert (values["node.disk_available", "host"], values["node.disk_size", "host"]) == (0.0, 1.8 * 2**40)
    assert "/ is full" in events["disk-full"].text


def test_kubectl_within_another_text(tmp_path: Path) -> None:
    """A table of pods after an engine's lines: ages count back from that moment, and the log goes on as a log."""
    table = "NAME     READY   STATUS             RESTARTS      AGE\nchat-0   0/1     CrashLoopBackOff   12 (2m ago)   1h\n\n"
    reading = read(tmp_path, ENGINE_LOG + table + ENGINE_LOG.replace("10:20", "10:25"), "engine-chat-0.log")
    event = named(reading, "kube")["CrashLoopBackOff"]
    assert event.time == datetime(2025, 3, 4, 10, 18, tzinfo=UTC).timestamp()
    assert [list(one.values) for one in reading.series if one.signal == "batch.running"] == [[4.0, 4.0]]


# ---------------------------------------------------------------- documents

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: chat-0
  namespace: llm
spec:
  containers:
  - args:
    - --model
    - /models/a
    - --tensor-parallel-size=4
    image: vllm/vllm-openai:v0.7.3
    name: vllm
    resources:
      limits:
        memory: 32Gi
        nvidia.com/gpu: "4"
status:
  containerStatuses:
  - lastState:
      terminated:
        exitCode: 137
        finishedAt: "2025-03-04T10:19:50Z"
        reason: OOMKilled
    name: vllm
    restartCount: 7
    state:
      waiting:
        message: back-off 5m0s restarting failed container=vllm
        reason: CrashLoopBackOff
  phase: Running
"""


def test_a_description_below_a_prompt(tmp_path: Path) -> None:
    text = (
        "$ kubectl -n llm describe pod chat-0     # 2025-03-04T10:22:31Z\nName:             chat-0\nNamespace:        llm\n"
        "Events:\n  Type     Reason     Age                   From               Message\n"
        "  ----     ------     ----                  ----               -------\n"
        "  Warning  BackOff    3m11s (x48 over 13m)  kubelet            Back-off restarting failed container vllm\n"
    )
    assert "BackOff" in named(read(tmp_path, ENGINE_LOG + text, "engine-chat-0.log"), "kube")


@pytest.mark.parametrize("form", ["yaml", "json", "line", "within"])
def test_a_pod_as_it_is_printed(tmp_path: Path, form: str) -> None:
    """The same in every form: how it ended and when, what it was told, what it may have."""
    value = yaml.safe_load(POD)
    text = {
        "yaml": POD, "json": json.dumps({"kind": "List", "items": [value]}, indent=4), "line": json.dumps(value),
        "within": ENGINE_LOG + "$ kubectl get pod chat-0 -o json\n" + json.dumps(value, indent=4) + "\n" + ENGINE_LOG,
    }[form]  # fmt: skip
    reading = read(tmp_path, text)
    event = named(reading, "kube")["OOMKilled"]
    assert (event.time, event.subject and event.subject.id) == (
        datetime(2025, 3, 4, 10, 19, 50, tzinfo=UTC).timestamp(),
        "chat-0",
    )
    assert "container-oom-killed" in named(reading, "log")
    assert facts(reading)["tensor_parallel_size", "chat-0"] == 4.0
    assert facts(reading)["gpus_per_replica", "chat-0"] == 4.0
    assert last(reading)["container.memory_limit", "chat-0"] == 32 * 2**30


def test_a_strangers_pod_is_none_of_ours(tmp_path: Path) -> None:
    """What ended another workload's pod is said of that workload."""
    reading = read(tmp_path, POD + "---\n" + POD.replace("name: chat-0", "name: other-0"))
    ended = [one for one in reading.events if one.kind == "kube" and one.name == "OOMKilled"]
    assert sorted(one.attrs.get("stranger", "no") for one in ended) == ["no", "yes"]
    assert not [one for one in reading.facts if one.subject.id == "other-0"]


def test_docker_inspect(tmp_path: Path) -> None:
    """A container that the kernel ended for memory, with the size of its shared memory."""
    state = {"Status": "exited", "Running": False, "OOMKilled": True, "ExitCode": 137, "FinishedAt": "2025-03-04T10:19:31.1Z"}
    value = {
        "Name": "/llm", "Path": "python3", "Args": ["-m", "vllm.entrypoints.openai.api_server", "--max-model-len", "8192"],
        "State": state, "HostConfig": {"ShmSize": 67108864, "IpcMode": "private"},
    }  # fmt: skip
    reading = read(tmp_path, json.dumps([value], indent=4))
    assert named(reading, "kube")["OOMKilled"].time == pytest.approx(
        datetime(2025, 3, 4, 10, 19, 31, 100000, tzinfo=UTC).timestamp()
    )
    assert named(reading, "log")["shm-size"].attrs["size"] == "64M"
    assert facts(reading)["max_model_len", "llm"] == 8192.0


def test_alerts(tmp_path: Path) -> None:
    """An alert that fires is a statement since its begin, and its name is no cause; one that is resolved is nothing."""
    alerts = [
        {
            "labels": {"alertname": "PodOOMKilled", "pod": "chat-0"},
            "startsAt": "2025-03-04T10:15:00Z",
            "status": {"state": "active"},
        },
        {
            "labels": {"alertname": "Old"},
            "startsAt": "2025-03-04T10:01:00Z",
            "endsAt": "2025-03-04T10:02:00Z",
            "status": "resolved",
        },
    ]
    reading = read(tmp_path, json.dumps({"status": "success", "data": alerts}, indent=1))
    assert [(one.kind, one.name, one.time) for one in reading.events] == [("said", "state", END - 900.0)]


def test_what_an_engine_answers(tmp_path: Path) -> None:
    """Models that are served and arguments, below the command that asked."""
    models = {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 8192}]}
    arguments = {"model_path": "/m", "tp_size": 8, "max_running_requests": 64, "api_key": "sk-1234567890"}
    shown = f"$ curl -s :30000/v1/models\n{json.dumps(models)}\n$ curl -s :30000/server_info\n{json.dumps(arguments)}\n"
    told = {key: value for (key, _), value in facts(read(tmp_path, shown)).items()}
    assert told["served_model_name"] == "m"
    assert told["tensor_parallel_size"] == 8.0
    assert "sk-1234567890" not in str(told)


def test_a_document_of_no_known_form_is_read_as_lines(tmp_path: Path) -> None:
    """A program that logs objects over several lines is not silenced."""
    reading = read(tmp_path, ENGINE_LOG + '{\n  "level": "error",\n  "message": "frobnicator exploded: cannot continue"\n}\n')
    assert [one for one in reading.events if one.kind == "residue"]


# ---------------------------------------------------------------- results of load generators

VLLM_RESULT = """\
============ Serving Benchmark Result ============
Successful requests:                     900
Failed requests:                         100
Maximum request concurrency:             256
Benchmark duration (s):                  100.00
Request throughput (req/s):              9.00
---------------Time to First Token----------------
Mean TTFT (ms):                          18212.11
Median TTFT (ms):                        17000.02
P99 TTFT (ms):                           42000.10
---------------Inter-token Latency----------------
Mean ITL (ms):                           205.00
Median ITL (ms):                         90.00
P99 ITL (ms):                            2100.11
==================================================
"""
K6_RESULT = """\
     http_req_duration..............: avg=18.21211s min=120ms med=17.00002s max=60s p(99)=42.0001s
     http_req_failed................: 10.00% 100 out of 1000
     http_reqs......................: 1000   10/s
"""
GENAI_RESULT = """\
                              NVIDIA GenAI-Perf | LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━┓
┃                Statistic ┃       avg ┃       p50 ┃       p99 ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━┩
│ Time To First Token (ms) │ 18,212.11 │ 17,000.02 │ 42,000.10 │
│ Inter Token Latency (ms) │    205.00 │     90.00 │  2,100.11 │
└──────────────────────────┴───────────┴───────────┴───────────┘
"""


@pytest.mark.parametrize(
    ("text", "signal"), [(VLLM_RESULT, "client.ttft"), (GENAI_RESULT, "client.ttft"), (K6_RESULT, "client.latency")]
)
def test_results_of_load_generators(tmp_path: Path, text: str, signal: str) -> None:
    """Quantiles are bounds of buckets, so nothing is said in between; the mean is the mean."""
    reading = read(tmp_path, text)
    spread = next(one for one in reading.histograms if one.signal == signal)
    assert list(spread.bounds[:2]) == pytest.approx([17.00002, 42.0001])
    assert spread.rates[0, :2] / spread.rates.sum() == pytest.approx([0.5, 0.49])
    assert spread.sums[0] / spread.rates.sum() == pytest.approx(18.21211)


@pytest.mark.parametrize("text", [VLLM_RESULT, K6_RESULT])
def test_failed_requests_of_a_result(tmp_path: Path, text: str) -> None:
    """One in ten failed."""
    values = {signal: value for (signal, _), value in last(read(tmp_path, text)).items()}
    assert values == {"requests.attempts": 10.0, "requests.failed": 1.0}


def test_a_flood_is_the_clients_own_making(tmp_path: Path) -> None:
    """Where all requests are sent at once, nobody's wait for the first token is the service's."""
    flood = VLLM_RESULT.replace("Maximum request concurrency:             256", "Traffic request rate:    inf")
    assert {one.signal for one in read(tmp_path, flood).histograms} == {"client.itl"}


# ---------------------------------------------------------------- environments and reports

ENVIRONMENT = """\
Collecting environment information...
==============================
        System Info
==============================
OS                           : Ubuntu 22.04.5 LTS (x86_64)
Clang version                : Could not collect
CUDA used to build PyTorch   : 13.0
Is CUDA available            : {available}
GPU models and configuration :
GPU 0: NVIDIA H100 80GB HBM3
GPU 1: NVIDIA H100 80GB HBM3
Nvidia driver version        : {driver}
[pip3] transformers==4.53.1
[conda] Could not collect
vLLM Version                 : 0.9.2
GPU Topology:
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\t0-47\t0\t\tN/A
GPU1\tNV18\t X \t0-47\t0\t\tN/A

Legend:
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
==============================
     Environment Variables
==============================
NCCL_SOCKET_IFNAME=lo
HF_TOKEN=hf_abcdefghijklmnop
"""


def test_environment(tmp_path: Path) -> None:
    """Facts of engine and machine; what could not be collected is no trouble; secrets are not kept."""
    reading = read(tmp_path, ENVIRONMENT.format(available=True, driver="580.65.06") + ENGINE_LOG)
    told = {key: value for (key, _), value in facts(reading).items()}
    assert told["engine_version"] == "0.9.2"
    assert told["driver_version"] == "580.65.06"
    assert (told["gpu_count"], told["gpu_topology"]) == (2.0, "NV18")
    assert told["env.NCCL_SOCKET_IFNAME"] == "lo"
    assert told["env.HF_TOKEN"] == "[removed]"
    assert not [one for one in reading.events if one.kind in {"residue", "log"} and "driver" in one.text]
    assert not [one for one in reading.events if one.kind == "residue"]


def test_a_driver_that_is_too_old_for_the_image(tmp_path: Path) -> None:
    """No card is seen, and the driver is older than the CUDA of the image needs."""
    assert "driver-too-old" in named(read(tmp_path, ENVIRONMENT.format(available=False, driver="535.104.05")), "log")
    assert "driver-too-old" not in named(read(tmp_path, ENVIRONMENT.format(available=False, driver="580.95.05")), "log")


def test_links_that_are_inactive(tmp_path: Path) -> None:
    """Some links of one card."""
    text = """\
GPU 0: NVIDIA H100 (UUID: GPU-aa)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
GPU 1: NVIDIA H100 (UUID: GPU-bb)
\t Link 0: 26.562 GB/s
"""
    event = named(read(tmp_path, text), "log")["links-inactive"]
    assert event.subject is not None
    assert event.subject.id == "GPU-aa"


def test_a_diagnostic_that_failed(tmp_path: Path) -> None:
    """A result that goes over several lines of its box is one sentence."""
    text = """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
| NVML Library              | Pass                                           |
| GPU Memory                | Pass - GPU: 0                                  |
|                           | Fail - GPU: 1                                  |
| Error                     | GPU 1 had an error that could not be           |
|                           | corrected.                                     |
+---------------------------+------------------------------------------------+
"""
    texts = [one.text for one in read(tmp_path, text).events]
    assert texts
    assert all("GPU Memory" in one and "could not be corrected" in one for one in texts)


def test_tools_of_a_host(tmp_path: Path) -> None:
    """Lines that stand for themselves: load, CPU, memory and sockets."""
    text = """\
top - 10:22:31 up 12 days,  3:12,  2 users,  load average: 130.12, 128.00, 120.10
%Cpu(s): 98.1 us,  1.2 sy,  0.0 ni,  0.5 id,  0.0 wa,  0.0 hi,  0.2 si,  0.0 st
MiB Mem : 257547.0 total,   1100.2 free, 253000.0 used,   3447.1 buff/cache
MiB Swap:   8192.0 total,      0.0 free,   8192.0 used.    900.0 avail Mem
TCP:   62010 (estab 1200, closed 60100, orphaned 12, timewait 60090)
"""
    values = {signal: value for (signal, _), value in last(read(tmp_path, text)).items()}
    assert values == {
        "node.load1": 130.12, "node.cpu_busy": 0.995, "node.memory_total": 257547 * 2**20, "node.memory_available": 900 * 2**20,
        "node.tcp_established": 1200.0, "node.tcp_time_wait": 60090.0,
    }  # fmt: skip


METRICS = """\
$ curl -s localhost:8000/metrics | grep num_requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 16.0
vllm:num_requests_waiting{engine="0",model_name="m"} 402.0
"""


def test_metrics_that_were_copied(tmp_path: Path) -> None:
    """One scrape of the moment of the text; the metrics that are missing in it are no fault."""
    (tmp_path / "paste.txt").write_text(ENGINE_LOG + METRICS + ENGINE_LOG, encoding="utf-8")
    reading = texts.read_logs([tmp_path / "paste.txt"], WINDOW, "chat", alone=True, dialects=load_language().dialects)
    waiting = next(one for one in reading.series if one.signal == "queue.waiting" and one.origin.dialect == "vllm")
    assert (list(waiting.values), list(waiting.times)) == ([402.0], [datetime(2025, 3, 4, 10, 20, tzinfo=UTC).timestamp()])
    assert not [one for one in reading.events if one.kind != "log"]


@pytest.mark.parametrize(
    ("heads", "replicas"), [(("== 8001", "== 8002"), ("8001", "8002")), (("--- a-0 ---", "--- a-1 ---"), ("a-0", "a-1"))]
)
def test_metrics_of_several_engines_below_headings(tmp_path: Path, heads: tuple[str, str], replicas: tuple[str, str]) -> None:
    """Who asks all engines in a loop prints between their answers whose each is."""
    sample = 'vllm:num_requests_waiting{{engine="0",model_name="m"}} {}\n'
    text = "# 2025-03-04T10:20:00Z\n" + "".join(f"{head}\n{sample.format(40 * (1 - n))}" for n, head in enumerate(heads))
    (tmp_path / "engines.txt").write_text(text, encoding="utf-8")
    reading = texts.read_logs([tmp_path / "engines.txt"], WINDOW, "chat", alone=True, dialects=load_language().dialects)
    waiting = {
        one.subject.id.rpartition(":")[2]: float(one.values[-1]) for one in reading.series if one.signal == "queue.waiting"
    }
    assert waiting == dict(zip(replicas, (40.0, 0.0), strict=True))


def test_a_table_of_numbers_is_said_to_be_unread(tmp_path: Path) -> None:
    """Rows of a panel's CSV have stamps and look like a log that has no errors."""
    rows = "\n".join(f"2025-03-04 10:{minute:02}:00,{minute},0.5" for minute in range(10))
    sources = read(tmp_path, f'"Time","a","b"\n{rows}\n', "panel.txt").sources
    assert [one.reason for one in sources] == [
        "panel.txt is a table of numbers in no form that is known, so nothing was read in it"
    ]


def test_what_is_in_no_known_form_is_said_to_be(tmp_path: Path) -> None:
    """Silence about a paste that nobody reads would look like a log without errors."""
    sources = read(tmp_path, "Frobnication   Level\nalpha          12\nbeta           13\n").sources
    assert [one.reason for one in sources] == ["paste.txt is in no form that is known, so nothing was read in it"]


PODS = """\
NAME                    READY   STATUS             RESTARTS      AGE
vllm-7d9f8b6c5d-abcde   0/1     CrashLoopBackOff   12 (2m ago)   1h
redis-0                 0/1     Error              0             1h
"""


@pytest.mark.parametrize("piped", [False, True])
def test_whose_pods_are_where_nobody_named_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piped: bool) -> None:
    """Of the workloads that a list shows the one that serves a model is what is asked about, also where it is piped."""
    path = Path("-") if piped else tmp_path / "pods.txt"
    (tmp_path / "pods.txt").write_text(PODS, encoding="utf-8")
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(PODS.encode())))
    monkeypatch.setattr("sys.stdin", stdin)
    events = [one for one in read_logs([path], WINDOW, NAMELESS, alone=True).events if one.kind == "kube"]
    assert {one.attrs["object"]: one.attrs.get("stranger", "no") for one in events} == {
        "vllm-7d9f8b6c5d-abcde": "no",
        "redis-0": "yes",
    }


# ---------------------------------------------------------------- values


@given(st.floats(0, 1e12, allow_nan=False), st.sampled_from([("MiB", 2**20), ("%", 0.01), ("W", 1.0), ("MHz", 1e6), ("", 1.0)]))
def test_quantities(value: float, unit: tuple[str, float]) -> None:
    """A number with its unit, with or without a blank between, is the number in base units."""
    text = f"{value:.6f}"
    assert quantity(f"{text} {unit[0]}") == quantity(text + unit[0]) == pytest.approx(value * unit[1], abs=1e-6 * unit[1])


@given(st.text(max_size=40))
def test_what_is_no_quantity_is_unknown(text: str) -> None:
    """No text raises; what is read is a number that is no nonsense."""
    for read_it in (quantity, size, cores):
        value = read_it(text)
        assert value is None or abs(value) < float("inf") or len(text) > 20


@given(
    st.lists(
        st.sampled_from(
            [
                *BOX.splitlines(),
                *CSV.splitlines(),
                *POD.splitlines(),
                *VLLM_RESULT.splitlines(),
                *ENVIRONMENT.splitlines(),
                "{",
                "}",
                "NAME READY STATUS RESTARTS",
                "x  y  z",
            ]
        ),
        max_size=40,
    )
)
def test_torn_forms_are_no_trouble(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    """Lines of forms in any order never raise."""
    read(tmp_path_factory.mktemp("torn"), "\n".join(lines))
