"""Receivers: what the settings may say of them, where their secrets are, and how a real server is spoken to."""

from pathlib import Path
from typing import Any

import pytest

from tests.servers import Ask, Front, Reply, free_port, serving
from triage.errors import ConfigError
from triage.model.receiver import Receiver
from triage.notify.courier import _LONGEST, address_of, carrier_to
from triage.notify.speech import PAGERDUTY, Post
from triage.settings import read_settings

SECRET = "s3cr3t-t0ken"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('kind = "slack"\nurl = "https://hooks/x"', "the address of a Slack webhook is a secret"),
        ('kind = "slack"', "slack needs url_env"),
        ('kind = "webhook"', "webhook needs url or url_env"),
        ('kind = "webhook"\nurl = "http://a"\nurl_env = "A"', "url and url_env both say where it is"),
        ('kind = "pagerduty"', "pagerduty needs key_env"),
        ('kind = "alertmanager"\nurl = "http://a"\nkey_env = "A"', "key_env is for pagerduty"),
        ('kind = "mail"', "'kind'"),
        ('kind = "webhook"\nurl = "http://a"\ntoken = "x"', "'token'"),
        ('kind = "webhook"\nurl_env = "not a name"', "url_env"),
    ],
)
def test_what_is_wrong_with_a_receiver_is_said_with_its_place(tmp_path: Path, lines: str, told: str) -> None:
    """The file, the table, and what was expected."""
    path = tmp_path / "triage.toml"
    path.write_text(f"[notify.chat]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        read_settings(path)
    assert "[notify.chat]" in error.value.message
    assert told in error.value.message


def test_secrets_come_from_the_environment_and_are_in_no_text() -> None:
    """Neither in what is printed of an address or a request, nor in what is said when it is wrong."""
    chat = Receiver(kind="slack", url_env="CHAT")
    place = address_of("chat", chat, {"CHAT": f"https://hooks/{SECRET}", "TRIAGE_NOTIFY_CHAT_TOKEN": SECRET})
    assert place.url.endswith(SECRET)
    assert place.access.headers == {"Authorization": f"Bearer {SECRET}"}
    assert SECRET not in repr((place, Post(place.url, SECRET.encode(), ())))
    pager = address_of("p", Receiver(kind="pagerduty", key_env="KEY"), {"KEY": SECRET})
    assert (pager.url, pager.key) == (PAGERDUTY, SECRET)
    wrong = [
        ({}, chat, "the variable CHAT is not set"),
        ({"CHAT": SECRET}, chat, "$CHAT is no address"),
        ({}, Receiver(kind="webhook", url=f"http://me:{SECRET}@host/"), "holds a user or a password"),
    ]
    for environ, receiver, told in wrong:
        with pytest.raises(ConfigError, match=r"notify\.chat") as error:
            address_of("chat", receiver, environ)
        assert told.replace("$", "") in error.value.message.replace("$", "")
        assert SECRET not in f"{error.value.message} {error.value.hint}"


def test_a_real_server_takes_refuses_or_asks_to_be_left_alone() -> None:
    """2xx is taken; what is about the message is told apart from the rest; ``Retry-After`` is heeded, in bounds."""
    answers = [
        Reply(202, b""),
        Reply(400, b"bad"),
        Reply(429, b"", {"Retry-After": "30"}),
        Reply(503, b"", {"Retry-After": "99999"}),
    ]
    asked: list[Any] = []
    left = iter(answers)

    def passed(ask: Ask, target: str, body: bytes) -> Reply:
        asked.append((ask.method, ask.headers.get("authorization"), ask.headers.get("idempotency-key"), body))
        return next(left)

    front = Front()
    front.answer = passed  # type: ignore[method-assign]
    with serving(front):
        hook = Receiver(kind="webhook", url=front.address)
        carry = carrier_to(address_of("hook", hook, {"TRIAGE_NOTIFY_HOOK_TOKEN": SECRET}))
        post = Post(front.address, b"{}", (), {"Idempotency-Key": "one"})
        replies = [carry(post) for _ in answers]
    assert asked[0] == ("POST", f"Bearer {SECRET}", "one", b"{}")
    assert [(one.reason, one.after, one.is_about_it) for one in replies] == [
        ("", 0.0, False),
        ("answers 400", 0.0, True),
        ("answers 429", 30.0, False),
        ("answers 503", _LONGEST, False),
    ]
    nobody = Receiver(kind="webhook", url=f"http://127.0.0.1:{free_port()}")
    assert carrier_to(address_of("hook", nobody, {}))(Post(nobody.url or "", b"{}", ())).reason == "refuses connections"
