"""The NVML collector: the real binding over a stand-in driver library."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from triage.model.recording import Window
from triage.model.service import Service
from triage.model.vocabulary import catalogue
from triage.plugins import load_collector
from triage.sdk import Request

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FAKE = ROOT / "tests" / "fake_nvml"
COLLECTOR = ROOT / "collectors" / "nvml.py"
COMPILER = shutil.which("gcc") or shutil.which("cc")
MIB = 1 << 20
HOST_PIDS = "pid:[4026531836]"

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
Answer = dict[str, Any]
Sample = Callable[..., Answer]


def build(folder: Path, *flags: str) -> Path:
    """The stand-in library in a folder of its own."""
    library = folder / "libnvidia-ml.so.1"
    command = [str(COMPILER), *flags, "-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", str(library), str(FAKE / "nvml.c")]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("old-nvml"), "-DOLD")


def run(library: Path, scenario: str, seconds: float, timeout: float, namespace: str = HOST_PIDS) -> Answer:
    environ = {**os.environ, "LD_LIBRARY_PATH": str(library), "FAKE_NVML": scenario, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", str(FAKE / "child.py"), str(COLLECTOR), str(seconds), str(timeout)]
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, folder, namespace], check=False, env=environ, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr
    answer: Answer = json.loads(done.stdout)
    return answer


@pytest.fixture
def sample(library: Path) -> Sample:
    def ask(scenario: str = "", seconds: float = 3, timeout: float = 20, namespace: str = HOST_PIDS) -> Answer:
        return run(library, scenario, seconds, timeout, namespace)

    return ask


def values(answer: Answer, key: str) -> list[float]:
    return list(answer["series"][key][1])


EXPECTED = {
    "gpu.util": 0.97,
    "gpu.mem_util": 0.41,
    "gpu.mem_total": 81559 * MIB,
    "gpu.mem_free": 20000 * MIB,
    "gpu.mem_used": 61000 * MIB,
    "gpu.mem_other": 0,
    "gpu.temp": 60,
    "gpu.mem_temp": 88,
    "gpu.power": 650,
    "gpu.power_limit": 700,
    "gpu.energy": 650,
    "gpu.sm_clock": 1755e6,
    "gpu.sm_clock_max": 1980e6,
    "gpu.mem_clock": 2619e6,
    "gpu.throttle_thermal": 0,
    "gpu.throttle_power": 0,
    "gpu.throttle_brake": 0,
    "gpu.throttle_hw": 0,
    "gpu.thermal_violation": 0.25,
    "gpu.power_violation": 0,
    "gpu.xid": 0,
    "gpu.ecc_uncorrected": 2,
    "gpu.ecc_corrected": 7,
    "gpu.remap_pending": 1,
    "gpu.remap_failure": 0,
    "gpu.remapped_uncorrectable": 1,
    "gpu.remapped_correctable": 3,
    "gpu.pcie_gen": 4,
    "gpu.pcie_gen_max": 5,
    "gpu.pcie_width": 8,
    "gpu.pcie_width_max": 16,
    "gpu.pcie_replays": 4,
    "gpu.pcie_rx": 3e6,
    "gpu.pcie_tx": 1e6,
}


@needs_compiler
def test_every_signal_of_a_pcie_card_in_base_units(sample: Sample) -> None:
    """A card without NVLink gives exactly these signals, in base units; counters become rates."""
    answer = sample()
    card = {key.split()[0]: values(answer, key) for key in answer["series"] if key.endswith("GPU-0000-0")}
    assert {signal: found[-1] for signal, found in card.items()} == pytest.approx(EXPECTED)
    assert all(len(found) in {3, 4} for found in card.values())
    assert answer["state"] == "ok"


@needs_compiler
def test_series_are_known_signals_in_order(sample: Sample) -> None:
    """All series are of scope gpu, known to the vocabulary, and sorted by signal and subject; two cards are both there."""
    answer = sample()
    assert answer["order"] == sorted(answer["order"])
    assert {catalogue()[signal].scope for signal, _ in answer["order"]} == {"gpu"}
    assert {subject for _, subject in answer["order"]} == {"gpu/GPU-0000-0", "gpu/GPU-0000-1"}
    assert answer["links"] == {"gpu/GPU-0000-0": ["node/box"], "gpu/GPU-0000-1": ["node/box"]}


@needs_compiler
def test_facts_of_card_and_driver(sample: Sample) -> None:
    """What holds for the window is kept as facts of the card and of the node."""
    facts = sample()["facts"]
    card = {key.split()[0]: value for key, value in facts.items() if key.endswith("GPU-0000-1")}
    assert card == {
        "gpu_model": "NVIDIA H100 80GB HBM3",
        "compute_capability": "9.0",
        "mig_mode": "off",
        "power_limit_default_watts": 700,
        "power_limit_max_watts": 700,
        "vbios_version": "96.00.61.00.01",
        "pci_bus_id": "00000000:19:00.0",
        "gpu_mem_reserved_bytes": 559 * MIB,
    }
    assert facts["driver_version box"] == "580.65.06"
    assert facts["cuda_driver_version box"] == "12.9"


@needs_compiler
@pytest.mark.parametrize(
    ("mask", "held_down"),
    [
        ("0x1", set()),
        ("0x4", {"power"}),
        ("0x20", {"thermal"}),
        ("0x48", {"thermal", "hw"}),
        ("0x88", {"brake", "hw"}),
    ],
)
def test_reasons_for_cut_clocks(sample: Sample, mask: str, held_down: set[str]) -> None:
    """Each bit of the clock event reasons is read as the signal that it means; an idle card is not throttled."""
    answer = sample(f"reasons={mask}", seconds=1)
    found = {kind for kind in ("power", "thermal", "brake", "hw") if values(answer, f"gpu.throttle_{kind} GPU-0000-0")[-1] == 1}
    assert found == held_down


@needs_compiler
def test_nvlink_counts_links_that_are_up(sample: Sample) -> None:
    """Errors and traffic are summed over the links that are up; that one of four is down is a fact."""
    answer = sample("nvlink=1")
    assert values(answer, "gpu.nvlink_errors GPU-0000-0") == [5, 5, 5]
    assert values(answer, "gpu.nvlink_bytes GPU-0000-0") == [2 * 2048 * 1024] * 3
    assert (answer["facts"]["nvlink_links GPU-0000-0"], answer["facts"]["nvlink_links_up GPU-0000-0"]) == (4, 3)


@needs_compiler
def test_nvlink_errors_of_drivers_that_gave_up_the_old_counters(sample: Sample) -> None:
    """Where the error counters of older links are not supported, the fields of the fifth generation are read by link."""
    answer = sample("nvlink=1 lacks=nvmlDeviceGetNvLinkErrorCounter")
    assert values(answer, "gpu.nvlink_errors GPU-0000-0") == [9, 9, 9]


@needs_compiler
def test_what_a_card_does_not_support_is_unknown_and_told_once(sample: Sample) -> None:
    """A field that is not supported gives no series, and is named once for both cards; that is no failure."""
    answer = sample("lacks=nvmlDeviceGetTotalEccErrors,nvmlDeviceGetRemappedRows,field-82")
    assert not [key for key in answer["series"] if "ecc" in key or "remap" in key or "mem_temp" in key]
    assert answer["state"] == "ok"
    assert answer["reason"] == (
        "NVIDIA H100 80GB HBM3: ECC errors, corrected ECC errors, remapped rows, memory temperature is not supported"
    )


@needs_compiler
def test_what_needs_more_rights_is_told(sample: Sample) -> None:
    """A call that is not permitted is left out with that reason, and the rest goes on."""
    answer = sample("forbids=nvmlDeviceGetComputeRunningProcesses_v3")
    assert "gpu.mem_other GPU-0000-0" not in answer["series"]
    assert answer["reason"].endswith("memory of other processes needs more rights")
    assert len(values(answer, "gpu.power GPU-0000-0")) == 4


@needs_compiler
def test_unified_memory_is_a_fact_and_gives_no_card_memory(sample: Sample) -> None:
    """A card that shares the host's memory has no memory signals and no PCIe signals, but a fact that says why."""
    answer = sample("unified=1 cards=1")
    signals = {key.split()[0] for key in answer["series"]}
    assert not signals & {"gpu.mem_total", "gpu.mem_free", "gpu.mem_used", "gpu.pcie_gen", "gpu.pcie_width", "gpu.pcie_rx"}
    assert answer["facts"]["unified_memory GPU-0000-0"] == "true"
    assert values(answer, "gpu.util GPU-0000-0")[-1] == pytest.approx(0.97)


@needs_compiler
def test_mig_tells_memory_by_instance(sample: Sample) -> None:
    """Of a card that is split, each instance tells its memory and the card what holds for the whole; nothing is counted twice."""
    answer = sample("mig=1")
    assert values(answer, "gpu.mem_total MIG-0000-1")[-1] == 40448 * MIB
    assert values(answer, "gpu.mem_total MIG-0000-2")[-1] == 40448 * MIB
    assert "gpu.mem_total GPU-0000-0" not in answer["series"]
    assert "gpu.util GPU-0000-0" not in answer["series"]
    assert values(answer, "gpu.power GPU-0000-0")[-1] == 650
    assert values(answer, "gpu.mem_total GPU-0000-1")[-1] == 81559 * MIB
    assert answer["facts"]["mig_mode GPU-0000-0"] == "on"
    assert answer["facts"]["mig_parent MIG-0000-1"] == "GPU-0000-0"


@needs_compiler
def test_lost_card_ends_alone(sample: Sample) -> None:
    """A card that falls off the bus ends its series and makes an event; the other one goes on."""
    answer = sample("lost=1@3", seconds=5)
    assert answer["series"]["gpu.power GPU-0000-1"][0] == [0, 1]
    assert answer["series"]["gpu.power GPU-0000-0"][0] == [0, 1, 2, 3, 4, 5]
    assert [(time, kind, card) for time, kind, _, card, _ in answer["events"]] == [(2, "gpu-lost", "GPU-0000-1")]
    assert answer["state"] == "partial"
    assert "GPU-0000-1 fell off the bus" in answer["reason"]


@needs_compiler
def test_all_cards_lost_end_the_run(sample: Sample) -> None:
    """When the last card is lost there is nothing left to sample, and what was seen before is kept."""
    answer = sample("cards=1 lost=0@2", seconds=5)
    assert answer["series"]["gpu.power GPU-0000-0"][0] == [0]
    assert answer["state"] == "partial"


@needs_compiler
def test_card_that_was_lost_before_is_named(sample: Sample) -> None:
    """A card that the driver counts but refuses to open is an event of the node, and the other card is sampled."""
    answer = sample("absent=0")
    assert len(values(answer, "gpu.power GPU-0000-1")) == 4
    assert answer["events"] == [[0, "gpu-lost", "card 0", "box", "card 0: GPU is lost"]]
    assert answer["state"] == "partial"


@needs_compiler
def test_card_that_never_answers_does_not_hang_triage(sample: Sample) -> None:
    """A call that does not return ends that card's series after the time-out, and the other card goes on."""
    answer = sample("hang=0@2", seconds=4, timeout=2)
    assert answer["series"]["gpu.temp GPU-0000-0"][0] == [0]
    assert answer["series"]["gpu.temp GPU-0000-1"][0] == [0, 1, 2, 3, 4]
    assert [(kind, card) for _, kind, _, card, _ in answer["events"]] == [("gpu-hung", "GPU-0000-0")]
    assert "did not answer the driver within 2 s" in answer["reason"]


@needs_compiler
def test_driver_that_does_not_open_does_not_hang_triage(sample: Sample) -> None:
    """A driver whose opening hangs is a failed source and an event."""
    answer = sample("init_hangs=1", timeout=0.1)
    assert answer["series"] == {}
    assert answer["state"] == "failed"
    assert [name for _, _, name, _, _ in answer["events"]] == ["driver-hung"]


@needs_compiler
def test_unknown_errors_are_counted_and_the_card_is_asked_again(sample: Sample) -> None:
    """An error that may pass leaves a gap and is told with its count."""
    answer = sample("unknown=1@3")
    assert answer["series"]["gpu.power GPU-0000-1"][0] == [0, 1]
    assert "GPU-0000-1: power: Unknown Error (2 times)" in answer["reason"]
    assert answer["state"] == "partial"


@needs_compiler
@pytest.mark.parametrize(
    ("code", "state", "name", "words"),
    [
        (18, "failed", "driver-library-mismatch", "Driver/library version mismatch"),
        (9, "failed", "driver-not-loaded", "kernel module is not loaded"),
        (4, "failed", "no-permission", "may not open /dev/nvidiactl"),
        (999, "failed", "unknown-error", "lost access to the devices"),
        (17, "failed", "driver-error", "The operating system has blocked the request"),
    ],
)
def test_driver_that_cannot_be_opened_says_why(sample: Sample, code: int, state: str, name: str, words: str) -> None:
    """Each way in which NVML fails to open is one clear sentence, and an event that a rule can speak of."""
    answer = sample(f"init={code}")
    assert (answer["state"], [event[1:3] for event in answer["events"]]) == (state, [["nvml", name]])
    assert words in answer["reason"]


def test_no_library_is_an_absent_source(tmp_path: Path) -> None:
    """Without the driver's library the source is absent, which is no failure and no event."""
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has NVIDIA's driver")
    answer = run(tmp_path, "", 3, 20)
    assert answer["state"] == "absent"
    assert answer["reason"].startswith("libnvidia-ml.so.1 is not here")
    assert answer["events"] == []


@needs_compiler
def test_no_card_is_said(sample: Sample) -> None:
    """A driver that knows no card is a failed source."""
    answer = sample("cards=0")
    assert answer["state"] == "failed"
    assert answer["reason"].startswith("the driver is loaded but knows no card")


@needs_compiler
def test_xid_is_an_event_and_stays_as_a_signal(sample: Sample) -> None:
    """An Xid that the driver reports becomes an event of its card; the signal keeps the last code, 0 before.

    The card and the listener are asked side by side: what the card's second round sets off is heard in that round or in the next.
    """
    answer = sample("xid=79@2")
    [(heard, kind, name, card, _)] = answer["events"]
    assert heard in {1, 2}
    assert (kind, name, card) == ("xid", "79", "GPU-0000-1")
    times, codes = answer["series"]["gpu.xid GPU-0000-1"]
    assert times == [0, 1, 2, 3]
    assert codes == [0 if time < heard else 79 for time in times]
    assert values(answer, "gpu.xid GPU-0000-0") == [0, 0, 0, 0]


@needs_compiler
def test_without_the_right_to_watch_xid_the_signal_is_unknown(sample: Sample) -> None:
    """Where Xid cannot be watched there is no series that would read as healthy."""
    answer = sample("lacks=nvmlEventSetCreate")
    assert not [key for key in answer["series"] if key.startswith("gpu.xid")]
    assert "Xid cannot be watched" in answer["reason"]


@pytest.fixture
def engine_and_stranger(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Process ids of a worker below an engine, and of a process that has nothing to do with one."""
    server = tmp_path / "tritonserver"
    server.write_text(f"#!{sys.executable}\nimport subprocess, sys\nsubprocess.run([sys.executable, '-c', 'input()'])\n")
    server.chmod(0o755)
    engine = subprocess.Popen([str(server)], stdin=subprocess.PIPE)
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    children = Path(f"/proc/{engine.pid}/task/{engine.pid}/children")
    try:
        while not children.read_text().split():
            assert engine.poll() is None
        yield int(children.read_text().split()[0]), stranger.pid
    finally:
        for process in (engine, stranger):
            process.communicate(b"\n")


@needs_compiler
def test_memory_of_strangers(sample: Sample, engine_and_stranger: tuple[int, int]) -> None:
    """Only memory of processes that no engine started counts as held by others."""
    worker, stranger = engine_and_stranger
    answer = sample(f"procs={worker}:60000,{stranger}:1234", seconds=1)
    assert values(answer, "gpu.mem_other GPU-0000-0")[-1] == 1234 * MIB


@needs_compiler
@pytest.mark.parametrize("processes", ["4194303:500", f"{os.getpid()}:-1"], ids=["a stranger", "one of ours"])
def test_memory_of_processes_that_cannot_be_told_is_unknown(sample: Sample, processes: str) -> None:
    """A process that is not visible, or whose memory the driver does not tell, makes the sum unknown and not smaller."""
    assert "gpu.mem_other GPU-0000-0" not in sample(f"procs={processes}", seconds=1)["series"]


@needs_compiler
def test_process_ids_of_a_container_name_nobody(sample: Sample) -> None:
    """In a container with process ids of its own, the driver's ids would name the wrong processes: nothing is claimed."""
    answer = sample(f"procs={os.getpid()}:500", seconds=1, namespace="pid:[4026532999]")
    assert "gpu.mem_other GPU-0000-0" not in answer["series"]
    assert "memory of other processes cannot be told in a container" in answer["reason"]


@needs_compiler
def test_old_driver_is_asked_by_the_old_names(old_library: Path) -> None:
    """A driver that lacks the newer functions is asked through the older ones; its memory counts the reserve as used."""
    answer = run(old_library, f"reasons=0x40 procs={os.getpid()}:10", 2, 20)
    assert values(answer, "gpu.throttle_thermal GPU-0000-0") == [1, 1, 1]
    assert values(answer, "gpu.mem_used GPU-0000-0")[-1] == 61559 * MIB
    assert values(answer, "gpu.mem_other GPU-0000-0")[-1] == 10 * MIB
    assert answer["state"] == "ok"


def test_nothing_is_sampled_for_a_window_in_the_past_or_behind_prometheus() -> None:
    """The collector says why it is not wanted instead of sampling a machine that has nothing to do with the question."""
    collector = load_collector(COLLECTOR)
    window = Window(0.0, 100.0, 0.0)

    def request(service: Service, now: float) -> Request:
        return Request(service=service, window=window, step=1.0, timeout=1.0, dialects=(), clock=lambda: now)

    assert "in the past" in collector.wanted(request(Service(name="demo"), 200.0))
    assert "Prometheus" in collector.wanted(request(Service(name="demo", prometheus="http://prometheus:9090"), 50.0))
    assert "other machines" in collector.wanted(request(Service(name="demo", endpoints=("http://192.0.2.7:8000",)), 50.0))
    assert collector.wanted(request(Service(name="demo", endpoints=("localhost:8000",)), 50.0)) == ""
