"""Digests, revisions and fingerprints in lines of any program."""

from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.identities import MAX_VALUES, Identities
from triage.model.recording import Subject, Window
from triage.model.vocabulary import Scope

ENGINE = Subject(Scope.REPLICA, "chat-0")
OTHER = Subject(Scope.REPLICA, "chat-1")
WINDOW = Window(1000.0, 2000.0, 500.0)


def found(*lines: str, emitter: str = "engine") -> list[tuple[str, str, str]]:
    """Key, subject and value of what lines say, one line a second."""
    kept = Identities(emitter, WINDOW, "x.log", lambda name: OTHER if name == "chat-1" else None)
    for second, line in enumerate(lines):
        kept.add(line.encode(), 1000.0 + second, ENGINE)
    return [(event.name, str(event.subject), event.attrs["value"]) for event in kept.events()]


def test_keys_of_any_program_are_read() -> None:
    """With equals signs, colons, quotes, prefixes."""
    assert found("startup weights_sha256=7a21fd0c99e4 tokenizer=/x") == [("weights_sha256", "replica/chat-0", "7a21fd0c99e4")]
    assert found('{"model.revision": "e1945c40cd54", "n": 3}') == [("model.revision", "replica/chat-0", "e1945c40cd54")]
    assert found("Image-Digest: sha256:77aa00bb11cc") == [("image-digest", "replica/chat-0", "77aa00bb11cc")]


def test_a_value_is_told_when_it_is_first_said_and_when_it_turns() -> None:
    """Not each time."""
    lines = [f"args_hash={value}" for value in ("aaa111", "aaa111", "bbb222", "bbb222")]
    assert [value for _, _, value in found(*lines)] == ["aaa111", "bbb222"]


def test_a_line_that_names_somebody_is_about_him() -> None:
    """If the recording knows the name."""
    assert found("replica=chat-1 checksum=55d0a1b07c12") == [("checksum", "replica/chat-1", "55d0a1b07c12")]
    assert found("replica=chat-9 checksum=55d0a1b07c12") == [("checksum", "replica/chat-0", "55d0a1b07c12")]


def test_counts_and_what_passes_by_are_no_identities() -> None:
    """Numbers of mismatches, requests, prompts, and whatever is another one each time."""
    assert found("checksum_mismatch=1234567 prompt_hash=ab12cd34 request_digest=ab12cd34 seconds=1234567") == []
    assert found(*(f"state_hash=abc{number:04d}" for number in range(MAX_VALUES + 2))) == []


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_any_bytes_can_come(lines: list[bytes]) -> None:
    """Nothing is kept but values of keys."""
    kept = Identities("other", WINDOW, "x.log", lambda _: None)
    for line in lines:
        kept.add(line, 1500.0, ENGINE)
    assert all(event.attrs["value"] for event in kept.events())
