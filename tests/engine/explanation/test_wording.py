"""Headlines and the lines to check by hand."""

from tests.engine.making import Buckets, make_recording, rule, who
from triage.engine.diagnose import diagnose
from triage.engine.explanation.wording import check_lines
from triage.model.diagnosis import Evidence, Verdict


def test_the_headline_names_the_first_root_and_how_many_more() -> None:
    """Healthy, explained, unexplained: one sentence each."""
    full = rule("full", {"signal": "kv.usage", "above": 0.9}, title="The cache is full", finding="{subject} is full")
    other = rule("slow", {"signal": "queue.waiting", "above": 1}, title="It waits", finding="{subject} waits")
    fine = {"latency.ttft": Buckets((1, 5), (9, 0, 0))}
    both = make_recording({"kv.usage": 0.97, "queue.waiting": 5})
    assert diagnose(both, [full, other]).headline == "Replica a is full; 1 more cause found."
    assert diagnose(make_recording({"kv.usage": 0.97}), [full]).headline == "Replica a is full."
    assert diagnose(make_recording({}, histograms=fine), [full]).headline.startswith("Healthy for users (")
    broken = make_recording({}, histograms={"latency.ttft": Buckets((1, 5), (0, 0, 9), (9, 0, 0))}, objectives={"ttft_p95_s": 1})
    assert diagnose(broken, [full]).headline.endswith("; no rule explains it.")


def evidence(signal: str, subject: str, verdict: Verdict = Verdict.PRESENT, query: str = "") -> Evidence:
    """A piece of evidence."""
    return Evidence(signal=signal, subject=subject, verdict=verdict, query=query)


def test_lines_to_check_by_hand_name_card_pod_and_query() -> None:
    """The query of what holds, the tool of its layer, each once; what does not hold is not checked."""
    recording = make_recording({}, links={"gpu/GPU-1": ["replica/pod-1", "node/n1"]})
    pieces = [
        evidence("gpu.temp", "gpu/GPU-1", query="max(DCGM_FI_DEV_GPU_TEMP)"),
        evidence("gpu.temp", "gpu/GPU-1", query="max(DCGM_FI_DEV_GPU_TEMP)"),
        evidence("gpu.power", "gpu/GPU-1", Verdict.ABSENT, query="no"),
        evidence("event:xid", "gpu/GPU-1"),
        evidence("pod.ready", "replica/pod-1"),
    ]
    assert check_lines(pieces, who("gpu/GPU-1"), recording) == (
        "max(DCGM_FI_DEV_GPU_TEMP)",
        "nvidia-smi -q -d TEMPERATURE -i GPU-1",
        "dmesg -T | grep -i xid",
        "kubectl describe pod pod-1",
    )


def test_a_line_for_the_shell_is_harmless_whatever_the_name() -> None:
    """A name with a command in it is one quoted word."""
    (line,) = check_lines([evidence("pod.ready", "replica/x'; rm -rf / #")], who("replica/x'; rm -rf / #"), make_recording({}))
    assert line == "kubectl describe pod 'x'\\''; rm -rf / #'"


def test_a_line_whose_place_is_unknown_is_left_out() -> None:
    """No pod is known of a card without links."""
    assert check_lines([evidence("pod.ready", "service/svc")], who("service/svc"), make_recording({})) == ()
