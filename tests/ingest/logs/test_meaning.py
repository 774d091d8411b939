"""What lines state in any program's words, what is left unread, and what a traceback says."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import ConfigError
from triage.ingest.logs import read_logs
from triage.ingest.logs.durations import longest_in
from triage.ingest.logs.signatures import Patterns, group_of, searched
from triage.ingest.logs.statements import CLASSES, Statements, act_in, address_in, counts_in
from triage.ingest.logs.templates import MAX_TEMPLATE, name_of, template_of
from triage.model.recording import Event, Subject, Window
from triage.model.vocabulary import Scope
from triage.paraphrase import paraphrased

from .books import BOOK, SHIPPED, SIGNATURES

START = 1_789_560_000.0
WINDOW = Window(START, START + 1800.0, START - 3600.0)


def events(folder: Path, name: str, text: str, kind: str) -> list[Event]:
    (folder / f"{name}.log").write_text(text, encoding="utf-8")
    subjects = {"gpu-7": Subject(Scope.NODE, "gpu-7")}
    return [event for event in read_logs([folder], WINDOW, "chat", subjects.get).events if event.kind == kind]


def stamped(*lines: str, begin: int = 0) -> str:
    return "".join(f"2026-09-16T12:{begin + number:02d}:00Z {line}\n" for number, line in enumerate(lines))


SAYS = [
    ("unreachable", "ERROR dial tcp 10.2.3.4:8000: connect: connection refused", {"address": "10.2.3.4:8000"}),
    ("unreachable", "error: nobody listening at store-0.db:6379", {"address": "store-0.db:6379"}),
    ("unresolved", "ERROR lookup vault.infra.svc on 10.0.0.2:53: no such host", {"name": "vault.infra.svc"}),
    ("unresolved", "cannot resolve host registry.internal", {"name": "registry.internal"}),
    ("denied", "ERROR 403 Forbidden for bucket weights", {"status": "403"}),
    ("denied", "tls: the certificate of the guard is no longer valid: expired", {"reason": "expired"}),
    ("limited", "WARN max sessions limit of 64 reached", {"limit": "64"}),
    ("limited", "ERROR message too large: size=9437211 limit=4194304", {"limit": "4194304", "value": "9437211"}),
    ("exhausted", "ERROR cannot allocate 2048 MiB: no free slots left", {"resource": "slots"}),
    ("exhausted", "panic: ran out of inodes on /var", {"resource": "inodes"}),
    ("timed-out", "ERROR gave up waiting for shard 3 after 30 seconds", {"seconds": "30"}),
    ("timed-out", "rpc deadline exceeded after 1500ms", {"seconds": "1.5"}),
    ("timed-out", "ERROR upstream timed out: timeout=120s elapsed=2ms", {"seconds": "0.002", "limit": "120", "early": "yes"}),
    ("timed-out", "WARN read timed out after 60.0 s (timeout 60 s)", {"seconds": "60", "limit": "60", "early": "no"}),
    ("slow", "flush took 7.4s, 984 rows pending", {"seconds": "7.4"}),
    ("slow", "still waiting for rank 2, 3 minutes so far", {"seconds": "180"}),
    ("lost", "WARN discarded 412 spans, sink is busy", {"number": "412", "what": "spans"}),
    ("lost", "dropped 3 log entries", {"number": "3"}),
    ("overridden", "WARNING ignoring max_batch, using 16 instead", {"setting": "max_batch", "instead": "16"}),
    ("overridden", "max_model_len is reduced to 8192", {"setting": "max_model_len", "instead": "8192"}),
    ("mismatch", "ERROR expected 4be1c09a77f2 got 91d77e0c4a5b", {"expected": "4be1c09a77f2", "got": "91d77e0c4a5b"}),
    ("mismatch", "asked for llama-70b, served llama-8b", {"expected": "llama-70b", "got": "llama-8b"}),
    ("missing", "ERROR tokenizer.json not found", {"what": "tokenizer.json"}),
    ("invalid", "ERROR cannot parse limits.yaml: malformed", {}),
    ("command-failed", "hook pre-stop.sh failed: exit status 3", {"code": "3"}),
    ("killed", "worker 3 was killed by signal 9", {"signal": "9"}),
    ("raised", "ERROR guard.PolicyError: no policy for tenant", {"exception": "guard.PolicyError"}),
    ("stuck", "scheduler makes no progress for 45 s", {"seconds": "45", "what": "scheduler"}),
    ("state", "backend engine-3 is now unhealthy", {"value": "unhealthy"}),
    ("counted", "probe ok=3 failed=9 pool=b", {"ok": "3", "failed": "9", "group.pool": "b"}),
    ("acted", "draining gpu-7 by ops-bot", {"verb": "draining", "target": "gpu-7", "actor": "ops-bot"}),
]
"""Statements in words of programs that no signature knows, with some of their values."""


@pytest.mark.parametrize(("name", "line", "fields"), SAYS)
def test_what_a_line_states(tmp_path: Path, name: str, line: str, fields: dict[str, str]) -> None:
    """The class is recognised and its values are taken, in any case of letters."""
    (found,) = [event for event in events(tmp_path, "somebody", stamped(line), "said") if event.name == name]
    assert fields.items() <= dict(found.attrs).items()
    assert found.attrs["count"] == "1"
    lower = [event.name for event in events(tmp_path, "somebody", stamped(line.lower()), "said")]
    assert name in lower


GUESSES = [
    "WARNING -- raylet ended. Possible reasons include: (1) SIGKILL by system OOM killer, (2) Invalid memory access.",
    "End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer. (2) It was stopped.",
    "the node went away; common causes: out of memory, killed by signal 9, or disk full",
]


@pytest.mark.parametrize("line", GUESSES)
def test_what_a_program_guesses_is_no_statement(tmp_path: Path, line: str) -> None:
    """Several reasons that are offered say nothing of which it was; the same words as a statement do."""
    assert {one.name for one in events(tmp_path, "engine-a", stamped(line), "said")} <= {"acted"}
    assert not events(tmp_path, "engine-a", stamped(line), "log")
    assert "killed" in {one.name for one in events(tmp_path, "engine-a", stamped("worker 3 was killed by signal 9"), "said")}


def test_what_stands_beside_a_guess_is_read(tmp_path: Path) -> None:
    """Before and after it."""
    line = "worker 3 was killed by signal 9. Possible reasons: (1) disk full (2) a bug. dropped 12 requests"
    names = {one.name for one in events(tmp_path, "engine-a", stamped(line), "said")}
    assert {"killed", "lost"} <= names
    assert "exhausted" not in names


def test_each_class_is_tried() -> None:
    """The list above leaves no class out, and the data holds none that is not in the contract."""
    assert {name for name, _, _ in SAYS} == set(CLASSES)


@pytest.mark.parametrize(
    "line",
    [
        "INFO finished with 0 errors",
        "INFO reconnected to 10.2.3.4:8000 after connection refused",
        "INFO errors=0 dropped=0",
        "INFO no failures so far",
        "INFO step took 12 ms",
        "INFO retry succeeded after timeout",
        "INFO 812 passed, 0 failed",
        "INFO sync done: 12 sent (0 rejected)",
    ],
)
def test_what_is_harmless(tmp_path: Path, line: str) -> None:
    """No trouble, or none any more, is no statement of trouble and no residue."""
    assert {event.name for event in events(tmp_path, "somebody", stamped(line), "said")} <= {"counted"}
    assert events(tmp_path, "somebody", stamped(line), "residue") == []


@pytest.mark.parametrize(
    "line",
    [
        "rank 0 failed to answer",
        "worker 0: error in step 7",
        "chat-0 rejected the tensor",
        "device 0000:4b:00.0 - failed to open",
    ],
)
def test_a_nought_in_a_name_counts_nothing(tmp_path: Path, line: str) -> None:
    """The first of its kind may fail like any other."""
    told = {event.kind for kind in ("said", "residue") for event in events(tmp_path, "somebody", stamped(line), kind)}
    assert told


def test_durations() -> None:
    """In any unit, the longest counts."""
    found = [
        longest_in(line) for line in (b"37 ms", b"1m30.5s", b"Timeout(ms)=600000", b"elapsed_s=4", b"1 s of 2 hours", b"v1.2")
    ]
    assert found == [0.037, 90.5, 600.0, 4.0, 7200.0, None]


def test_addresses() -> None:
    """A place in a source file is no address."""
    assert address_in(b"[core.py:892] to db-0.infra:5432 failed") == "db-0.infra:5432"
    assert address_in(b"[core.py:892] failed") == ""


def test_counts() -> None:
    """Shares bring their denominators; a single number is no count by group."""
    assert counts_in(b"pass=56/60 pool=c") == {"pass": "56", "pass.of": "60", "group.pool": "c"}
    assert counts_in(b'{"ok": 3, "failed": 9, "level": "info"}') == {"ok": "3", "failed": "9"}
    assert counts_in(b"failed=9") == {}
    assert counts_in(b"count=4 failed=1") == {"field.count": "4", "failed": "1"}


def test_a_deed_needs_a_target_that_is_known() -> None:
    """A name that the recording does not know and that has no form is no target."""
    assert act_in(b"restarted the show", lambda _: None) == {}
    assert act_in(b"restarted pod/chat-0 by kubelet", lambda _: None)["target"] == "pod/chat-0"


def test_residue(tmp_path: Path) -> None:
    """What nothing reads is kept once per template, new if it is not in the baseline."""
    known = "ERROR quantum flux inverted in chamber 7"
    before = "2026-09-16T11:30:00Z ERROR old woes of unit 4\n"
    now = stamped(known, known.replace("7", "9"), "ERROR old woes of unit 12")
    found = {event.text: event.attrs for event in events(tmp_path, "somebody", before + now, "residue")}
    flux, old = sorted(found.items(), key=lambda one: one[1]["template"], reverse=True)
    assert (flux[1]["count"], flux[1]["new"], flux[1]["level"]) == ("2", "yes", "error")
    assert float(flux[1]["last"]) - float(flux[1]["first"]) == 60.0
    assert "new" not in old[1]


@pytest.mark.parametrize(
    ("first", "new"), [("12:00:02", "unknown"), ("12:20:00", "yes")], ids=["a log that was cut", "a quiet log"]
)
def test_what_is_new_in_a_log_that_begins_with_the_window_is_not_known(tmp_path: Path, first: str, new: str) -> None:
    """Where nothing before the window was kept, nobody knows what is said on other days."""
    text = f"2026-09-16T{first}Z INFO all is well\n2026-09-16T12:21:00Z ERROR quantum flux inverted in chamber 7\n"
    (found,) = events(tmp_path, "somebody", text, "residue")
    assert found.attrs["new"] == new


@pytest.mark.parametrize(
    ("before", "lines", "new"),
    [("11:58:00", 8, "unknown"), ("11:50:00", 8, "yes"), ("11:50:00", 1, "unknown"), ("11:00:00", 1, "yes")],
)
def test_what_a_short_past_may_well_have_missed_is_not_known_to_be_new(tmp_path: Path, before: str, lines: int, new: str) -> None:
    """Eight lines in half an hour are missed in two minutes before it, and not in ten."""
    flux = "".join(f"2026-09-16T12:{3 * number + 1:02d}:00Z ERROR quantum flux inverted\n" for number in range(lines))
    (found,) = events(tmp_path, "somebody", f"2026-09-16T{before}Z INFO all is well\n{flux}", "residue")
    assert found.attrs["new"] == new


def test_residue_is_bounded(tmp_path: Path) -> None:
    """A log of made-up words keeps fifty templates."""
    words = ["".join(chr(97 + (number // 26**place) % 26) for place in range(3)) for number in range(300)]
    text = "".join(f"2026-09-16T12:00:01Z ERROR woe {word}{word} of {word}x\n" for word in words)
    assert len(events(tmp_path, "somebody", text, "residue")) == 50


TRACE = """\
(EngineCore pid=2) ERROR 09-16 12:00:05 [core.py:892] Traceback (most recent call last):
(EngineCore pid=2) ERROR 09-16 12:00:05 [core.py:892]   File "/v/site-packages/vllm/v1/engine/core.py", line 5, in run
(EngineCore pid=2) ERROR 09-16 12:00:05 [core.py:892]   File "/v/site-packages/torch/nn/module.py", line 9, in forward
(EngineCore pid=2) ERROR 09-16 12:00:05 [core.py:892] KeyError: 'layers.61.mtp'
(APIServer pid=1) ERROR 09-16 12:00:06 [core_client.py:5] RuntimeError: Engine core initialization failed. See root cause above.
"""


def test_a_traceback_is_one_statement(tmp_path: Path) -> None:
    """It is named after its exception, with the innermost frame of the program's own code; a word about it is not the first."""
    first = next(event for event in events(tmp_path, "engine-chat-0", TRACE, "said") if event.name == "raised")
    assert first.attrs["exception"] == "KeyError"
    assert first.attrs["where"] == "engine/core.py:run"
    assert first.attrs["first"] == "yes"


def test_templates() -> None:
    """What differs between two occurrences is masked; the name of a template is the same in every run."""
    one = template_of("Request 41 of pod chat-7c9f5d4b8-x2x4p to http://10.0.0.1:80/v1 failed after 3.5s with 'a b'")
    assert one == template_of("Request 7 of pod chat-59c9f98d9-zzzzz to http://10.9.9.1:80/v2 failed after 12ms with 'c'")
    assert name_of(one) == name_of(one) != name_of("x")


@given(st.text(max_size=2000))
def test_any_text_has_a_template(text: str) -> None:
    """Whatever it is, its template is short and its own template."""
    template = template_of(text)
    assert len(template) <= MAX_TEMPLATE
    assert "\n" not in template


@given(st.binary(max_size=600))
def test_any_line_can_be_looked_at(line: bytes) -> None:
    """Nothing that a line holds breaks the reading of values."""
    longest_in(line)
    address_in(line)
    counts_in(line)
    act_in(line, lambda _: None)


def test_words_of_statements_are_valid() -> None:
    """Every group of the data can be compiled."""
    patterns = Patterns(SHIPPED.lexicon)
    statements = Statements(SHIPPED.statements, SHIPPED.harmless, patterns)
    patterns.compile()
    keys = range(2000)
    with pytest.raises(ConfigError):
        searched("x", group_of("a(?=b)", {}))
    assert statements.classes(keys, b"", harmless=False)[-2:] == ("counted", "acted")


@pytest.mark.parametrize("seed", range(4))
def test_paraphrases_say_the_same(seed: int) -> None:
    """Rewritten examples keep their signature: at most one in fifty may lose it."""
    lines = [(one, line) for one in SIGNATURES for line in one.example]
    missed = [
        line
        for one, line in lines
        if one.id
        not in {match.signature.id for match in BOOK.match(paraphrased(line, seed).encode(), (one.emitters or ("other",))[0])}
    ]
    assert len(missed) <= 0.02 * len(lines), missed


def test_a_paraphrase_is_the_same_for_the_same_seed() -> None:
    """So that a sweep can be repeated; some seed changes the line."""
    line = 'level=error a=1 b=2 msg="connection refused"'
    assert paraphrased(line, 5) == paraphrased(line, 5)
    assert len({paraphrased(line, seed) for seed in range(20)}) > 5


def test_what_a_traceback_calls_is_not_what_went_wrong(tmp_path: Path) -> None:
    """A signature reads no line of the program's text; the same words said by the program count."""
    head = "2026-09-16T12:00:05Z ERROR "
    frames = ("Traceback (most recent call last):", '  File "/v/core.py", line 5, in run')
    code, said = "    grammar.result(timeout=0.1)", "RuntimeError: grammar compile timed out"
    for lines, found in (((*frames, code, "RuntimeError: bad token"), False), ((*frames, "    run()", said), True)):
        text = "".join(f"{head}{line}\n" for line in lines)
        names = {event.name for event in events(tmp_path, "engine-chat-0", text, "log")}
        assert ("grammar-compile-slow" in names) is found


def test_a_command_that_somebody_typed_states_nothing(tmp_path: Path) -> None:
    """Its words are what was asked for, and not what was found."""
    text = "$ docker run --rm cuda ls /dev/mqueue  # limit of queue reached?\nroot@gpu-7:~# tail error.log\n"
    assert events(tmp_path, "notes", text, "said") == []
    assert events(tmp_path, "notes", text, "residue") == []
