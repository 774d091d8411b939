"""What must not be kept of a log line is not kept."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.ingest.logs.redaction import MAX_TEXT, redacted, redacted_bytes, without_escapes, without_prompt


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer hunter2hunter2",
        "headers={'authorization': 'Basic hunter2hunter2', 'x': 1}",
        'proxy-authorization="hunter2hunter2"',
        "Cookie: session=hunter2hunter2; theme=dark",
        "GET /v1?api_key=hunter2hunter2&x=1",
        "non-default args: {'api_key': ['hunter2hunter2'], 'max_num_seqs': 3}",
        'HF_TOKEN="hunter2hunter2"',
        "OPENAI_API_KEY=hunter2hunter2",
        "password: hunter2hunter2, user: x",
        "postgres://user:hunter2hunter2@db:5432/litellm",
        "key sk-hunter2hunter2 was refused",
        "key hf_hunter2hunter2 was refused",
        "key AKIAHUNTER2HUNTER2X was refused",
        "token eyJhunter2hunter2.eyJhunter2hunter2.sig",
    ],
)
def test_secrets_are_removed(line: str) -> None:
    """A secret is gone, however it is written."""
    kept = redacted(line)
    assert "hunter2" not in kept.lower()
    assert "[removed]" in kept


def test_numbers_about_tokens_are_no_secrets() -> None:
    """Words that only resemble secrets stay as they are."""
    line = "max_num_batched_tokens: 2048, num_tokens=17, token usage: 0.93, tokens/s"
    assert redacted(line) == line


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b"Received request cmpl-1: prompt: 'CUDA out of memory', params: x", b"Received request cmpl-1: prompt: [removed]"),
        (b"Receive: obj=GenerateReqInput(rid='1', text='Xid 79')", b"Receive: obj=GenerateReqInput(rid='1', text=[removed]"),
        (b'{"model": "m", "messages": [{"content": "hi"}]}', b'{"model": "m", "messages": [removed]'),
        (b"The decoder prompt (length 17000) is longer", b"The decoder prompt (length 17000) is longer"),
        (b"Generated response cmpl-1: output: 'CUDA out of memory', ids: 1", b"Generated response cmpl-1:[removed]"),
        (
            b"W no call found in model output, kept as text: say Xid 79",
            b"W no call found in model output, kept as text:[removed]",
        ),
        (b'Parsed: {"role": "assistant", "content": "segfault"}', b'Parsed: {"role": "assistant[removed]'),
        (b"Generated 12 tokens, then: CUDA out of memory", b"Generated 12 tokens, then: CUDA out of memory"),
    ],
)
def test_users_words_are_removed(line: bytes, kept: bytes) -> None:
    """From where a line repeats what a user asked or a model answered, nothing is kept."""
    assert without_prompt(line) == kept


def test_escape_sequences_are_removed() -> None:
    """Colours, titles and syslog's way of writing an escape are taken out."""
    line = b"\x1b[2m2026-09-16\x1b[0m \x1b]0;owned\x07#033[31m ERROR#033[0m x"
    assert without_escapes(line) == b"2026-09-16  ERROR x"


def test_long_lines_are_cut() -> None:
    """What is kept has a bounded length and says that it was cut."""
    kept = redacted("a" * 5000)
    assert len(kept) == MAX_TEXT
    assert kept.endswith("…")


@given(st.text(max_size=300))
def test_no_control_characters(text: str) -> None:
    """No text brings a control character, a line break or a change of direction into a report."""
    assert all(unicodedata.category(letter) != "Cc" for letter in redacted(text))
    assert not set(redacted(text)) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2028\u200b")


@given(st.binary(max_size=300))
def test_any_bytes_become_text(line: bytes) -> None:
    """Bytes that are no UTF-8 are no error, and cleaning twice changes nothing more."""
    once = redacted_bytes(line)
    assert redacted(once) == once
