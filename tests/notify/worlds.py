"""A service that is looked at, receivers, and a clock that goes as fast as a test wants."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.memory.test_memory import blind, ill, well
from tests.render import fixtures
from triage.ingest.http import Access
from triage.memory.life import Holds
from triage.memory.looks import Look
from triage.memory.store import Store
from triage.model.diagnosis import Diagnosis, Status
from triage.model.receiver import Receiver
from triage.notify.courier import Address, Courier, Reply
from triage.notify.message import Message
from triage.notify.outbox import Outbox
from triage.notify.speech import Post

HOLDS = Holds()


def overloaded() -> Diagnosis:
    """An incident whose cause is the one that looks of tests name."""
    shown = fixtures.incident()
    first = next(one for one in shown.findings if one.role == "root")
    renamed = tuple(one.model_copy(update={"rule": "true-overload"}) if one is first else one for one in shown.findings)
    return shown.model_copy(update={"findings": renamed})


SHOWN = {
    Status.HEALTHY: fixtures.healthy(),
    Status.DEGRADED: fixtures.degraded(),
    Status.INCIDENT: overloaded(),
    Status.INCONCLUSIVE: fixtures.inconclusive(),
}
SEEN = {"well": well, "ill": ill, "blind": blind}
RECEIVERS = {
    "am": Receiver(kind="alertmanager", url="http://am"),
    "hook": Receiver(kind="webhook", url="http://hook"),
    "chat": Receiver(kind="slack", url_env="CHAT"),
    "pager": Receiver(kind="pagerduty", key_env="PAGER"),
}


@dataclass
class World:
    """One service, several receivers.

    :param now: Unix seconds
    :param down: receivers that take nothing now
    :param got: what each receiver took
    """

    folder: Path
    receivers: dict[str, Receiver] = field(default_factory=lambda: dict(RECEIVERS))
    now: float = 1000.0
    down: set[str] = field(default_factory=set)
    got: dict[str, list[Any]] = field(default_factory=dict)
    tried: int = 0

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start the program, also anew on the same file."""
        self.store = Store(self.folder / "history.sqlite")
        self.outbox = Outbox(self.store, self.receivers, lambda: self.now)
        self.outbox.prepare()
        self.couriers = {name: self._courier(name, one) for name, one in self.receivers.items()}

    def _courier(self, name: str, receiver: Receiver) -> Courier:
        address = Address(receiver.url or f"http://{name}", Access(""), "key")
        return Courier(name, receiver, address, self.outbox, partial(self._carry, name), lambda: self.now, lambda: 0.5)

    def _carry(self, name: str, post: Post) -> Reply:
        self.tried += 1
        if name in self.down:
            return Reply("is down")
        self.got.setdefault(name, []).append(json.loads(post.body))
        return Reply()

    def look(self, look: Look, shown: Diagnosis | None = None) -> list[Message]:
        """One look, and what waits is brought.

        :param shown: its diagnosis; if not given the usual one of its state
        """
        self.now = max(self.now, look.time)
        told: list[Message] = []
        shown = shown or SHOWN[look.status]
        window = shown.window.model_copy(update={"end": look.time})
        diagnosis = shown.model_copy(update={"window": window, "service": "llm"})

        def note(*written: Any) -> None:
            told.extend(self.outbox.note("llm", diagnosis, *written))

        self.store.remember("llm", look, HOLDS, along=note)
        self.bring()
        return told

    def looks(self, kind: str, times: Iterable[float], **more: Any) -> list[Message]:
        """Looks of one kind."""
        return [message for time in times for message in self.look(SEEN[kind](time, **more))]

    def bring(self) -> None:
        """Every courier sends what is due."""
        for courier in self.couriers.values():
            courier.deliver()

    def wait(self, seconds: float, step: float = 20.0) -> None:
        """Time goes by."""
        for _ in range(round(seconds / step)):
            self.now += step
            self.bring()
