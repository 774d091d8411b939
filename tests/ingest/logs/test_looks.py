"""What somebody saw who looked once: files of a control group, tasks in a container, the course of a load test, transports."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ingest.logs.test_shown import END, last, read
from triage.ingest.logs.shown.prompt import container_in, typed
from triage.model.recording import Histogram


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("kubectl exec -it -n prod chat-0 -c engine -- top -b -n 1", "chat-0"),
        ("kubectl --context a exec pod/chat-0 -- cat /proc/1/limits", "chat-0"),
        ("docker exec -u 0 chat-0 sh -c 'cat /sys/fs/cgroup/pids.max'", "chat-0"),
        ("cat /sys/fs/cgroup/pids.max", ""),
        ("exec bash", ""),
        ("kubectl exec", ""),
    ],
)
def test_where_a_command_is_run(command: str, name: str) -> None:
    assert container_in(command.encode()) == name


@given(st.binary(max_size=200))
def test_any_prompt_is_read(line: bytes) -> None:
    told = typed(line)
    assert told is None or isinstance(container_in(told[1]), str)


def test_files_of_a_control_group(tmp_path: Path) -> None:
    """Numbers come in the order in which files were asked for; those that name theirs take as many lines as they have."""
    text = (
        "# 2025-03-04T10:20:00Z\n"
        "$ kubectl exec chat-0 -- sh -c 'cat /sys/fs/cgroup/pids.current /sys/fs/cgroup/pids.max'\n1659\n2048\n"
        "# 2025-03-04T10:25:00Z\n$ docker exec chat-0 cat /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids.current "
        "/sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/memory.max\nmax 733\n2048\n400000 100000\n"
        "usage_usec 90\nnr_periods 300\nnr_throttled 0\nmax\n"
    )
    found = last(read(tmp_path, text))
    assert found["container.threads", "chat-0"] == 2048.0
    assert found["container.threads_max", "chat-0"] == 2048.0
    assert found["container.cpu_limit", "chat-0"] == 4.0
    assert found["container.cpu_throttled_periods", "chat-0"] == 0.0
    assert ("container.memory_limit", "chat-0") not in found


def test_totals_are_rates_between_two_looks(tmp_path: Path) -> None:
    looks = [(20, 600, 90), (25, 1200, 390)]
    text = "".join(
        f"# 2025-03-04T10:{minute}:00Z\n$ kubectl exec chat-0 -- cat /sys/fs/cgroup/cpu.stat\n"
        f"nr_periods {periods}\nnr_throttled {held}\n"
        for minute, periods, held in looks
    )
    found = last(read(tmp_path, text))
    assert found["container.cpu_periods", "chat-0"] == pytest.approx(2.0)
    assert found["container.cpu_throttled_periods", "chat-0"] == pytest.approx(1.0)


def test_one_look_tells_in_how_many_periods_the_quota_was_hit(tmp_path: Path) -> None:
    """Whenever the container wanted CPU: the kernel deals it out ten times a second."""
    text = "# 2025-03-04T10:20:00Z\n$ docker exec chat-0 cat /sys/fs/cgroup/cpu.stat\nnr_periods 400\nnr_throttled 300\n"
    found = last(read(tmp_path, text))
    assert found["container.cpu_throttled_periods", "chat-0"] / found["container.cpu_periods", "chat-0"] == pytest.approx(0.75)


def test_whose_files_nobody_says(tmp_path: Path) -> None:
    """Outside of a container the numbers may be anybody's."""
    assert not last(read(tmp_path, "$ cat /sys/fs/cgroup/pids.current\n2048\n"))


def test_tasks_in_a_container(tmp_path: Path) -> None:
    """The front end and the loop of the engine are told apart by the names that processes give themselves."""
    text = (
        "$ kubectl exec chat-0 -- top -b -n 1     # 2025-03-04T10:20:00Z\n"
        "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        "      1 root      20   0   24.9g   4.6g   1.1g R  99.7   0.2  11:12.40 python3\n"
        "    118 root      20   0   67.2g   5.0g   1.9g S  22.7   0.2   3:05.18 python3\n"
        "    120 root      20   0   67.2g   5.0g   1.9g R  61.0   0.2   3:05.18 VLLM::EngineCor\n"
        "    130 root      20   0   67.2g   5.0g   1.9g R 100.0   0.2   3:05.18 tar\n"
    )
    found = last(read(tmp_path, text))
    assert found["process.cpu", "chat-0"] == pytest.approx(0.997)
    assert found["engine.scheduler_cpu", "chat-0"] == pytest.approx(0.61)


def test_the_course_of_a_load_test(tmp_path: Path) -> None:
    """Each row is a moment; of several requests by name their sum counts."""
    rows = "".join(
        f"{END - 600 + 10 * at:.0f},{at},,{name},{rate},0.0,{middle},{late},N/A\n"
        for at, rate, middle, late in ((1, 2.0, 85, 101), (2, 12.0, 2000, 2400))
        for name in ("/v1/x", "Aggregated")
    )
    found = read(tmp_path, "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,95%,99%\n" + rows, "stats_history.csv.log")
    assert last(found)["client.active", "loadtest"] == pytest.approx(24.0)
    (spread,) = found.histograms
    assert isinstance(spread, Histogram)
    assert spread.times.tolist() == [END - 590, END - 580]
    assert spread.bounds[:4].tolist() == pytest.approx([0.085, 0.101, 2.0, 2.4])
    assert spread.rates.sum(axis=1).tolist() == pytest.approx([2.0, 12.0])


@pytest.mark.parametrize(
    ("names", "told"), [(("self", "tcp", "cuda_ipc"), True), (("self", "tcp", "rc_mlx5"), False), (("self",), False)]
)
def test_transports_between_machines(tmp_path: Path, names: tuple[str, ...], told: bool) -> None:
    text = "$ ucx_info -d\n" + "".join(f"#      Transport: {name}\n#         Device: d\n" for name in names) + "$ ls\n"
    found = {one.name for one in read(tmp_path, text).events}
    assert ("no-rdma-transport" in found) is told
