"""The signatures and Xid codes as data, and how a line finds its signature."""

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.kinds import kinds
from triage.errors import ConfigError
from triage.ingest.logs import signatures
from triage.ingest.logs.emitters import KINDS
from triage.ingest.logs.signatures import Match, Patterns, Signature, SignatureBook, group_of, searched
from triage.ingest.logs.statements import Statements

from .books import BOOK, SHIPPED, SIGNATURES, book_of

EXAMPLES = [(one.id, line) for one in SIGNATURES for line in one.example]
UNLIKE = [(one.id, line) for one in SIGNATURES for line in one.unlike]


def found(line: str, emitter: str) -> list[str]:
    return [match.signature.id for match in BOOK.match(line.encode(), emitter)]


def in_json(line: str) -> str:
    return json.dumps({"ts": "2026-11-29T13:00:05Z", "level": "info", "msg": line})


def emitter_of(signature: str) -> str:
    emitters = BOOK.by_id[signature].emitters
    return emitters[0] if emitters else "other"


@pytest.mark.parametrize(("signature", "line"), EXAMPLES)
def test_examples_match(signature: str, line: str) -> None:
    """Each example line has the signature that it stands under."""
    assert signature in found(line, emitter_of(signature))


@pytest.mark.parametrize("written", [str.lower, str.upper, in_json], ids=["lower", "upper", "json"])
@pytest.mark.parametrize(("signature", "line"), EXAMPLES)
def test_examples_match_however_they_are_written(signature: str, line: str, written: Callable[[str], str]) -> None:
    """What a line means does not hang on its case nor on what wraps it."""
    assert signature in found(written(line), emitter_of(signature))


def patterns_in(lines: Collection[bytes], few: int, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The shipped patterns of lines, of which the first few are searched for words before patterns."""
    monkeypatch.setattr(signatures, "_FEW_LINES", few)
    patterns = Patterns(SHIPPED.lexicon)
    SignatureBook(SIGNATURES, patterns)
    Statements(SHIPPED.statements, SHIPPED.harmless, patterns)
    patterns.compile()
    return [sorted(patterns.match(line)) for line in lines]


def test_a_short_log_is_read_as_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words first or all patterns at once: both find the same, in bytes that are no text and in lines that say several things."""
    random = Random(7)
    said = [line.encode() for _, line in (*EXAMPLES, *UNLIKE)]
    lines = [written(line) for line in said for written in (bytes, bytes.lower, bytes.upper)]
    lines += [b"\xff".join(random.sample(said, 3)) for _ in range(300)]
    lines += [bytes(random.choices(line, k=len(line))) + b"\xdf\n\0" + line for line in random.sample(said, 300)]
    long = patterns_in(lines, 0, monkeypatch)
    assert patterns_in(lines, len(lines), monkeypatch) == long
    assert all(long[: len(EXAMPLES)])


@pytest.mark.parametrize("written", [str, str.lower, str.upper], ids=["as-is", "lower", "upper"])
@pytest.mark.parametrize(("signature", "line"), UNLIKE)
def test_what_only_looks_alike_does_not_match(signature: str, line: str, written: Callable[[str], str]) -> None:
    """Each counter-example does not have the signature that it stands under."""
    assert signature not in found(written(line), emitter_of(signature))


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda one: one.id)
def test_a_signature_speaks_of_what_is_known(signature: Signature) -> None:
    """Kinds and emitters exist, whoever blames something names a kind, and there is an example of every pattern."""
    assert set(signature.kinds) <= set(kinds())
    assert set(signature.emitters) <= set(KINDS)
    assert signature.role == "info" or signature.kinds
    assert bool(signature.made_from) != bool(signature.example)
    assert not signature.made_from or signature.made_from in BOOK.by_id


def test_no_id_twice() -> None:
    """The table by id has lost nothing."""
    files = (Path(__file__).parents[3] / "signatures" / "lines").glob("*.yaml")
    assert sum(path.read_text(encoding="utf-8").count("\n- id: ") for path in files) == len(SIGNATURES)


def test_an_emitter_that_cannot_say_it_is_not_believed() -> None:
    """The words of an engine in a gateway's log are not an engine's."""
    line = "RuntimeError: No CUDA GPUs are available"
    assert found(line, "engine") == ["no-cuda-device"]
    assert found(line, "gateway") == []


def test_memory_that_is_in_pieces() -> None:
    """An allocation that fails beside as much idle memory is told from one that finds none, and from one that others took."""
    asked = (
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 546.00 MiB. GPU 0 has a total capacity of 22.49 GiB of which "
    )
    end = " Of the allocated memory 20.73 GiB is allocated by PyTorch, and {} is reserved by PyTorch but unallocated."
    free = "514.25 MiB is free."
    mine = " Including non-PyTorch memory, this process has 14.00 GiB memory in use."
    other = " Process 9 has {} memory in use."
    assert found(asked + free + end.format("737.41 MiB"), "engine") == ["cuda-oom-fragmented"]
    assert found(asked + free + end.format("410.00 MiB"), "engine") == ["cuda-oom-fragmented"]
    assert found(asked + free + end.format("41.00 MiB"), "engine") == ["cuda-oom"]
    assert found(asked + free + other.format("7.50 GiB") + mine + end.format("737.41 MiB"), "engine") == ["cuda-oom-foreign"]
    this = " Process 11 has {} memory in use."
    assert found(asked + free + other.format("7.50 GiB") + this.format("14.00 GiB") + end.format("41.00 MiB"), "engine") == [
        "cuda-oom-foreign"
    ]
    assert found(asked + free + other.format("12.00 MiB") + this.format("21.60 GiB") + end.format("41.00 MiB"), "engine") == [
        "cuda-oom"
    ]
    most = mine.replace("14.00", "21.60")
    assert found(asked + free + other.format("12.00 MiB") + most + end.format("41.00 MiB"), "engine") == ["cuda-oom"]


def test_memory_that_nobody_names_is_somebody_elses() -> None:
    """What is neither free nor this process's own is held by a process that cannot be listed from a container."""
    line = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a total capacity of 47.50 GiB"
        " of which 60.00 MiB is free. Including non-PyTorch memory, this process has {} GiB memory in use."
        " Of the allocated memory 20.00 GiB is allocated by PyTorch."
    )
    assert found(line.format("21.10"), "engine") == ["cuda-oom-foreign"]
    assert found(line.format("46.90"), "engine") == ["cuda-oom"]


def test_a_block_that_is_huge_for_its_card_is_wrong_itself() -> None:
    """Where the allocator alone has no room for it, that most of it lies idle in pieces does not make it fragmentation."""
    line = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {0} GiB. GPU 0 has a total capacity of 79.10 GiB"
        " of which 5.90 GiB is free."
        " Of the allocated memory 66.00 GiB is allocated by PyTorch, and {1} GiB is reserved by PyTorch but unallocated."
    )
    assert found(line.format("6.00", "4.40"), "engine") == ["cuda-oom"]
    assert found(line.format("6.00", "6.40"), "engine") == ["cuda-oom-fragmented"]


def test_a_card_that_is_taken_before_the_start() -> None:
    """The same refusal means another thing if the card was all but empty than if somebody held it."""
    line = "Free memory on device cuda:0 ({}/79.65 GiB) on startup is less than desired GPU memory utilization (0.9, 71.69 GiB)."
    assert found(line.format("77.59"), "engine") == ["startup-share-too-large"]
    assert found(line.format("9.42"), "engine") == ["startup-card-occupied"]


def test_a_collective_that_never_worked() -> None:
    """The first operation of all points to the path between the cards, a late one to a rank that is stuck."""
    line = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE, NumelIn=1) ran for 600040 ms"
    assert found(line.format(1), "engine") == ["collective-first-timeout"]
    assert found(line.format(4967570), "engine") == ["collective-timeout"]


def test_groups_become_attributes() -> None:
    """The same attribute may be found at several places of a pattern."""
    line = b"Triton kernel 'chunk_kda' took 2.44 s to compile after serving started."
    (match,) = BOOK.match(line, "engine")
    assert match.groups == {"kernel": "chunk_kda", "seconds": "2.44"}


@pytest.mark.parametrize("said", ["a(?=b)", "a & b(?=c)"])
def test_a_pattern_that_is_no_re2(said: str) -> None:
    """A look-ahead is refused, at the latest when the rarest group of its alternative is met."""
    bad = Signature(id="bad", says=(said,), role="info", severity="info", meaning="x", source="x", example=("ab",))
    with pytest.raises(ConfigError, match="not valid RE2"):
        list(book_of((bad,)).match(b"a", "engine"))


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda one: one.id)
def test_every_group_is_an_re2(signature: Signature) -> None:
    """Groups, counter-groups and fields that no example reaches can be compiled, too."""
    for group in (group for said in signature.says for group in said.split(" & ")):
        searched(signature.id, group_of(group, SHIPPED.lexicon))
    searched(signature.id, group_of(signature.not_, SHIPPED.lexicon))
    assert all(searched(signature.id, pattern).groups >= 1 for pattern in signature.fields.values())


def test_the_order_of_what_is_said_does_not_matter() -> None:
    """Clauses may come in another order, with other words of the same meaning between them."""
    assert found("gave up: no memory left, cudaMalloc failed on rank 3", "engine") == ["cuda-oom"]
    assert found("oom: GPU ran out of device memory", "engine") == ["cuda-oom"]
    turned = "gpu memory utilization (0.9, 71.69 GiB): smaller than desired is the free memory on device cuda:0 (77.59/79.65 GiB)"
    assert found(turned, "engine") == ["startup-share-too-large"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_signatures_does_not_matter(seed: int) -> None:
    """However they are sorted into files, every example has the same signatures in the same order."""
    shuffled = list(SIGNATURES)
    Random(seed).shuffle(shuffled)
    other = book_of(shuffled)
    for signature, line in EXAMPLES:
        emitter = emitter_of(signature)
        assert told(other.match(line.encode(), emitter)) == told(BOOK.match(line.encode(), emitter))


def told(matches: Iterator[Match]) -> list[tuple[str, dict[str, str]]]:
    return [(match.signature.id, dict(match.groups)) for match in matches]


def test_xid_codes() -> None:
    """A lost card is the hardware's fault, a torn-down channel follows from something else, and kinds are known."""
    codes = SHIPPED.xids
    assert (codes["79"].fault_class, codes["79"].kinds) == ("hardware", ("gpu-off-bus",))
    assert codes["45"].role == "consequence"
    assert codes["31"].fault_class == "app"
    assert {kind for code in codes.values() for kind in code.kinds} <= set(kinds())
