"""Brings messages to one receiver: what is due is sent, what is not taken waits longer each time, and is sent again."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from http import HTTPStatus
from threading import Event, Lock
from time import time
from typing import Protocol

from triage.classes import dataclass
from triage.errors import ConfigError, TriageError
from triage.ingest.http import Access, AskError, Client, access_of
from triage.model.receiver import Receiver
from triage.notify.outbox import Letter, Outbox, is_repeated
from triage.notify.speech import PAGERDUTY, RESEND, Post, posts

TIMEOUT = 10.0
"""Seconds for one request; receivers answer in less than one."""

_FIRST, _LONGEST = 5.0, 300.0
"""Chosen: seconds before what was not taken is tried again, twice as long each time, up to so long: a receiver that restarts is
met within seconds, one that is down for an hour is asked some twenty times, and hears of everything five minutes after that."""

_JITTER = 0.25
"""By how much of itself a pause is longer or shorter by chance: many who wait for the same receiver do not come at once."""

_MOST = 1 << 16
"""Bytes of an answer that are read."""

_IDLE = 3600.0

_NOT_LIKED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY})
"""What a receiver answers that does not like what it was sent."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a receiver is doing.

    :param is_up: whether it took what it was sent last; None before anything was
    :param taken: messages that it took
    :param failed: requests that it did not take
    :param dropped: messages that were let go, since it took none of them for a day
    :param reason: why it did not take the last one; empty if it did
    """

    is_up: bool | None = None
    taken: int = 0
    failed: int = 0
    dropped: int = 0
    reason: str = ""


class Carrier(Protocol):
    """Sends a request."""

    def __call__(self, post: Post) -> "Reply":
        """What became of it."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a request.

    :param reason: why it was not taken; empty if it was
    :param after: seconds for which the receiver asks to be left alone
    :param is_about_it: it is this request that the receiver does not like: another one may be taken
    """

    reason: str = ""
    after: float = 0.0
    is_about_it: bool = False


@dataclass(frozen=True)
class Address:
    """Where a receiver is, with what opens its door.

    :param key: what it knows us by, of PagerDuty
    """

    url: str = field(repr=False)
    access: Access = field(repr=False)
    key: str = field(default="", repr=False)


def address_of(name: str, receiver: Receiver, environ: Mapping[str, str]) -> Address:
    """Where a receiver is, with the secrets of the environment.

    :raises ConfigError: a variable that it names is not set, or what it holds is no address
    """
    where = f"[notify.{name}]"
    url = receiver.url or (_variable(receiver.url_env, where, environ) if receiver.url_env else PAGERDUTY)
    key = _variable(receiver.key_env, where, environ) if receiver.key_env else ""
    if not url.startswith(("http://", "https://")):
        source = f"${receiver.url_env}" if receiver.url_env else f"{url!r}"
        raise ConfigError(f"{where}: {source} is no address", "write http:// or https:// and a host")
    if receiver.url and "@" in receiver.url.partition("//")[2].partition("/")[0]:
        raise ConfigError(
            f"{where}: the address holds a user or a password",
            f"put them into ${prefix_of(name)}USER and ${prefix_of(name)}PASSWORD",
        )
    try:
        access = access_of(prefix_of(name), environ, url)
    except TriageError as error:
        raise ConfigError(f"{where}: {error.message}", error.hint) from None
    return Address(url, access, key)


def prefix_of(name: str) -> str:
    """How the names of the variables begin that hold a receiver's credentials: token, user, password, headers, authority."""
    return f"TRIAGE_NOTIFY_{''.join(char if char.isalnum() else '_' for char in name).upper()}_"


def _variable(name: str | None, where: str, environ: Mapping[str, str]) -> str:
    """What a variable of the environment holds."""
    value = environ.get(name or "", "").strip()
    if not value:
        raise ConfigError(f"{where}: the variable {name} is not set", f"set {name} in the environment of triage watch")
    return value


def carrier_to(address: Address) -> Carrier:
    """Sends requests to an address by the one HTTP client."""
    client = Client(address.access, _MOST)

    def carry(post: Post) -> Reply:
        headers = {**address.access.headers, **post.headers}
        try:
            answer = client.ask(post.url, TIMEOUT, headers=headers, method="POST", body=post.body)
        except AskError as error:
            return Reply(error.reason)
        except TriageError as error:
            return Reply(error.message)
        if 200 <= answer.status < 300:
            return Reply()
        return Reply(f"answers {answer.status}", _asked_pause(answer.headers), answer.status in _NOT_LIKED)

    return carry


def _asked_pause(headers: Mapping[str, str]) -> float:
    """Seconds of ``Retry-After``, no longer than the longest pause of ours."""
    told = headers.get("retry-after", "")
    return min(float(told), _LONGEST) if told.isascii() and told.isdigit() else 0.0


class Courier:
    """Brings messages to one receiver.

    :param carry: sends a request
    :param clock: gives Unix seconds
    :param chance: gives numbers from 0 to 1
    :param tell: is told when the receiver begins or ceases to take what it is sent
    """

    def __init__(
        self,
        name: str,
        receiver: Receiver,
        address: Address,
        outbox: Outbox,
        carry: Carrier,
        clock: Callable[[], float] = time,
        chance: Callable[[], float] = random.random,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.delivery = Delivery()
        self._receiver = receiver
        self._address = address
        self._outbox = outbox
        self._carry = carry
        self._clock = clock
        self._chance = chance
        self._tell = tell
        self._wake = Event()
        self._stopped = Event()
        self._resting_until = 0.0
        self._sending = Lock()

    def wake(self) -> None:
        """Something may be due."""
        self._wake.set()

    def stop(self) -> None:
        """Send nothing any more but what is under way."""
        self._stopped.set()
        self._wake.set()

    def run(self) -> None:
        """Send what is due, as long as nobody stops it."""
        while not self._stopped.is_set():
            self._wake.clear()
            due = self.deliver()
            self._wake.wait(_IDLE if due is None else min(max(due - self._clock(), 0.0), _IDLE))

    def deliver(self) -> float | None:
        """Send what is due now.

        :returns: when something is due next, Unix seconds; None if nothing waits
        """
        with self._sending:
            due = self._outbox.next_due(self.name)
            now = self._clock()
            if due is not None and max(due, self._resting_until) <= now:
                self._send(self._outbox.due(self.name, now), now)
                due = self._outbox.next_due(self.name)
            return None if due is None else max(due, self._resting_until)

    def _send(self, letters: Sequence[Letter], now: float) -> None:
        """Send letters, until one is not taken for a reason that all others would meet, too."""
        for post in posts(self._receiver, self._address.url, self._address.key, letters, now):
            reply = self._carry(post)
            self._note(post, reply)
            if reply.reason and not reply.is_about_it:
                return

    def _note(self, post: Post, reply: Reply) -> None:
        """What became of a request; a receiver that takes none is left alone for a while."""
        now = self._clock()
        if not reply.reason:
            if self.delivery.is_up is False:
                self._tell(f"receiver {self.name} takes messages again")
            repeat = now + RESEND if is_repeated(self._receiver) else None
            self._outbox.taken(self.name, post.letters, repeat)
            self.delivery = replace(self.delivery, is_up=True, taken=self.delivery.taken + _new(post.letters), reason="")
            return
        pause = max(reply.after, self._pause(max(one.tries for one in post.letters)))
        if self.delivery.is_up is not False:
            self._tell(f"receiver {self.name} takes no messages ({reply.reason}); they wait on disk and are sent again")
        if not reply.is_about_it:
            self._resting_until = now + pause
        dropped = self._outbox.refused(self.name, post.letters, now + pause, now)
        failed, gone = self.delivery.failed + 1, self.delivery.dropped + dropped
        self.delivery = replace(self.delivery, is_up=False, failed=failed, dropped=gone, reason=reply.reason)

    def _pause(self, tries: int) -> float:
        """Seconds before a next try."""
        usual = min(_FIRST * 2.0 ** min(tries, 20), _LONGEST)
        return usual * (1.0 + _JITTER * (2.0 * self._chance() - 1.0))


def _new(letters: tuple[Letter, ...]) -> int:
    """How many of some messages were not told before."""
    return sum(1 for one in letters if one.first)
