"""What has to be told and is not yet: in the file of the memories, written together with what it follows from.

Of each service and topic a receiver has at most one message that waits: a newer one takes its place and tells what it told, so
that the queue is never longer than there are services, whatever happens while a receiver is down.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import time

from pydantic import TypeAdapter

from triage.classes import dataclass
from triage.memory.looks import look_of, rule_of
from triage.memory.memory import Memory
from triage.memory.store import Store
from triage.model.diagnosis import Diagnosis
from triage.model.receiver import Receiver
from triage.notify.alerts import Alert, News, Topic, alerts_after
from triage.notify.message import Message, bare_message, ended, merged, message_of

_TABLES = (
    """CREATE TABLE IF NOT EXISTS alerts (
  service TEXT NOT NULL, topic TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (service, topic)
) STRICT""",
    """CREATE TABLE IF NOT EXISTS letters (
  receiver TEXT NOT NULL, key TEXT NOT NULL, service TEXT NOT NULL, topic TEXT NOT NULL, message TEXT NOT NULL,
  version INTEGER NOT NULL, tries INTEGER NOT NULL, due REAL NOT NULL, first REAL NOT NULL, PRIMARY KEY (receiver, key)
) STRICT""",
)

_NEW = """
INSERT INTO letters (receiver, key, service, topic, message, version, tries, due, first) VALUES (?, ?, ?, ?, ?, 1, 0, ?, ?)
"""

_DUE = """
SELECT key, message, version, tries, due, first FROM letters WHERE receiver = ? AND due <= ? ORDER BY first, key
"""

_MESSAGE = TypeAdapter(Message)
_WEIGHTS = {"info": 0, "warning": 1, "critical": 2}

_LONGEST_KEPT = 86400.0
"""Chosen: seconds for which a message is offered to a receiver that does not take it; a day later nobody is helped by it."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message that waits for a receiver, or that has to be repeated to it. All times are Unix seconds.

    :param key: what it is of
    :param version: counts its changes
    :param tries: how often it was not taken
    :param due: when it is sent next
    :param first: since when its receiver does not know it; 0 of one that it knows and that is repeated
    """

    key: str
    message: Message
    version: int
    tries: int
    due: float
    first: float

    @property
    def id(self) -> str:
        """The same for one message however often it is sent: a receiver that heeds it takes it once."""
        return f"{self.message.alert.id}/{self.message.time:.3f}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a receiver does not know yet.

    :param count: messages
    :param oldest: since when the oldest one waits, Unix seconds; None if none does
    """

    count: int
    oldest: float | None


class Outbox:
    """The queue, for all receivers.

    :param store: whose file it is in
    :param receivers: by name
    :param clock: gives Unix seconds
    """

    def __init__(self, store: Store, receivers: Mapping[str, Receiver], clock: Callable[[], float] = time) -> None:
        self._store = store
        self._receivers = receivers
        self._clock = clock

    def prepare(self) -> None:
        """Make the tables, forget receivers that are no more, and tell those that are repeated to what stands."""
        with self._store.writing() as base:
            for statement in _TABLES:
                base.execute(statement)
            names = [name for (name,) in base.execute("SELECT DISTINCT receiver FROM letters")]
            gone = [(name,) for name in names if name not in self._receivers]
            base.executemany("DELETE FROM letters WHERE receiver = ?", gone)
            for message in self._standing(base):
                for name, receiver in self._told_of(message.alert):
                    if is_repeated(receiver):
                        self._put(base, name, message.model_copy(update={"changes": ()}))

    def note(self, service: str, diagnosis: Diagnosis | str, base: sqlite3.Connection, memory: Memory) -> list[Message]:
        """Write what has to be told after a look, in the transaction of its memory.

        :param diagnosis: of the look; where there is none why not, one sentence
        :returns: what became different, for whoever writes a log
        """
        told = self._alerts(base, service)
        standing = {topic: message.alert for topic, message in told.items()}
        messages = []
        named = "" if isinstance(diagnosis, str) else rule_of(look_of(diagnosis).cause)
        for alert, changes in alerts_after(standing, service, memory, named):
            message = self._message(told.get(alert.topic), (alert, changes), diagnosis, memory)
            if alert.over is None:
                row = (service, alert.topic.value, _json(message))
                base.execute("INSERT OR REPLACE INTO alerts (service, topic, message) VALUES (?, ?, ?)", row)
            else:
                base.execute("DELETE FROM alerts WHERE service = ? AND topic = ?", (service, alert.topic.value))
            for name, receiver in self._told_of(alert):
                if changes or is_repeated(receiver):
                    self._put(base, name, message)
            messages += [message] if changes else []
        return messages

    def standing(self) -> list[Message]:
        """What stands, as it was told last."""
        with self._store.reading() as base:
            return list(self._standing(base))

    def due(self, receiver: str, now: float) -> list[Letter]:
        """What a receiver has to be sent now, the longest waiting first."""
        with self._store.reading() as base:
            rows = base.execute(_DUE, (receiver, now)).fetchall()
            return [Letter(key, _MESSAGE.validate_json(message), *rest) for key, message, *rest in rows]

    def next_due(self, receiver: str) -> float | None:
        """When something has to be sent next, Unix seconds; None if nothing waits."""
        with self._store.reading() as base:
            (due,) = base.execute("SELECT min(due) FROM letters WHERE receiver = ?", (receiver,)).fetchone()
            return float(due) if due is not None else None

    def taken(self, receiver: str, letters: Iterable[Letter], repeat: float | None) -> None:
        """Note that a receiver took messages. What became different meanwhile is still to be sent.

        :param repeat: when what still stands is to be repeated, Unix seconds; None: never
        """
        with self._store.writing() as base:
            for one in letters:
                at = (receiver, one.key, one.version)
                if repeat is None or one.message.is_over:
                    base.execute("DELETE FROM letters WHERE receiver = ? AND key = ? AND version = ?", at)
                else:
                    base.execute(
                        "UPDATE letters SET due = ?, tries = 0, first = 0 WHERE receiver = ? AND key = ? AND version = ?",
                        (repeat, *at),
                    )

    def refused(self, receiver: str, letters: Iterable[Letter], again: float, now: float) -> int:
        """Note that a receiver did not take messages. What is too old to help anybody is let go; how many are is returned.

        :param again: when they are tried again, Unix seconds
        """
        dropped = 0
        with self._store.writing() as base:
            for one in letters:
                if one.first and now - one.first > _LONGEST_KEPT:
                    at = (receiver, one.key, one.version)
                    dropped += base.execute("DELETE FROM letters WHERE receiver = ? AND key = ? AND version = ?", at).rowcount
                else:
                    base.execute(
                        "UPDATE letters SET due = ?, tries = tries + 1 WHERE receiver = ? AND key = ?", (again, receiver, one.key)
                    )
        return dropped

    def waiting(self, receiver: str) -> Waiting:
        """What a receiver does not know yet."""
        with self._store.reading() as base:
            asked = "SELECT count(*), min(first) FROM letters WHERE receiver = ? AND first > 0"
            return Waiting(*base.execute(asked, (receiver,)).fetchone())

    def _told_of(self, alert: Alert) -> Iterator[tuple[str, Receiver]]:
        """The receivers that hear of an alert."""
        for name, one in self._receivers.items():
            heard = one.unknown if alert.topic is Topic.BLIND else _WEIGHTS[alert.severity] >= _WEIGHTS[one.severity]
            if heard and one.hears_of(alert.service):
                yield name, one

    def _message(self, before: Message | None, news: News, diagnosis: Diagnosis | str, memory: Memory) -> Message:
        """What is told of an alert after a look; a look that sees nothing of it leaves what was told last."""
        alert, changes = news
        assert memory.time is not None
        if alert.over is not None:
            assert before is not None
            return ended(before, alert, memory.time, memory.status)
        if isinstance(diagnosis, str):
            made = bare_message(alert, changes, memory.time, diagnosis)
        else:
            made = message_of(alert, changes, diagnosis)
        if before is not None and not _tells_of(made, alert):
            return before.model_copy(update={"alert": alert, "changes": changes})
        if before is not None and not made.layer and before.alert.kind == alert.kind:
            same = {name: getattr(before, name) for name in ("title", "layer", "cause", "confidence")}
            return made.model_copy(update=same)
        return made

    def _alerts(self, base: sqlite3.Connection, service: str) -> dict[Topic, Message]:
        """What stands of a service."""
        rows = base.execute("SELECT message FROM alerts WHERE service = ?", (service,))
        messages = [_MESSAGE.validate_json(row) for (row,) in rows]
        return {one.alert.topic: one for one in messages}

    def _standing(self, base: sqlite3.Connection) -> Iterator[Message]:
        for (row,) in base.execute("SELECT message FROM alerts ORDER BY service, topic").fetchall():
            yield _MESSAGE.validate_json(row)

    def _put(self, base: sqlite3.Connection, name: str, message: Message) -> None:
        """A message into the queue of a receiver: in the place of one that waits, of which it tells, too."""
        now, receiver, alert = self._clock(), self._receivers[name], message.alert
        key = _key(receiver, message)
        if is_repeated(receiver):
            self._end_others(base, name, key, message)
        at = (name, key)
        row = base.execute("SELECT message, version, due, first FROM letters WHERE receiver = ? AND key = ?", at).fetchone()
        if row is None:
            values = (*at, alert.service, alert.topic.value, _json(message), now, now)
            base.execute(_NEW, values)
            return
        waiting, version, due, first = row
        whole = merged(_MESSAGE.validate_json(waiting), message) if first else message
        if message.changes and not first:
            first, due = now, now
        told = (_json(whole), version + 1 if message.changes else version, due, first)
        base.execute(
            "UPDATE letters SET message = ?, version = ?, due = ?, first = ? WHERE receiver = ? AND key = ?", (*told, *at)
        )

    def _end_others(self, base: sqlite3.Connection, name: str, key: str, message: Message) -> None:
        """Alerts of the same thing under other labels have ended: the one that is told now stands in their place."""
        where = (name, message.alert.service, message.alert.topic.value, key)
        asked = "SELECT key, message FROM letters WHERE receiver = ? AND service = ? AND topic = ? AND key != ?"
        for other, row in base.execute(asked, where).fetchall():
            old = _MESSAGE.validate_json(row)
            if not old.is_over:
                alert = old.alert.model_copy(update={"over": message.time})
                told = (_json(old.model_copy(update={"alert": alert})), self._clock(), self._clock(), name, other)
                base.execute(
                    "UPDATE letters SET message = ?, version = version + 1, due = ?, first = ? WHERE receiver = ? AND key = ?",
                    told,
                )


def is_repeated(receiver: Receiver) -> bool:
    """Whether a receiver forgets what it is not told again and again."""
    return receiver.kind == "alertmanager"


def _tells_of(message: Message, alert: Alert) -> bool:
    """Whether a look tells of what an alert is about, rather than that nobody can tell."""
    blind = message.status.value == "inconclusive"
    return blind if alert.topic is Topic.BLIND else message.status.value in ("degraded", "incident")


def _key(receiver: Receiver, message: Message) -> str:
    """By what a receiver tells messages apart. An Alertmanager does by labels: another cause or severity is another alert."""
    alert = message.alert
    key = f"{alert.service}/{alert.topic.value}"
    return f"{key}/{alert.severity}/{alert.kind}/{message.layer}/{message.cause}" if is_repeated(receiver) else key


def _json(message: Message) -> str:
    return _MESSAGE.dump_json(message).decode()
