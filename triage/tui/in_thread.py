"""Calls that take long, made away from the screen."""

from asyncio import Future, get_running_loop
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")


async def in_thread(call: Callable[[], _T]) -> _T:
    """What a call gives, made in a daemon thread of its own.

    The screen goes on meanwhile. Leaving does not wait for it: what comes after nobody waits any more is dropped.
    """
    loop = get_running_loop()
    answer: Future[_T] = loop.create_future()

    def finish(settle: Callable[[], None]) -> None:
        """Settle the answer in the loop's own thread, if it is still wanted."""
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(lambda: None if answer.done() else settle())

    here = copy_context()  # the language that is spoken, among others

    def run() -> None:
        try:
            result = here.run(call)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            told = error
            finish(lambda: answer.set_exception(told))
        else:
            finish(lambda: answer.set_result(result))

    Thread(target=run, name="triage-walk", daemon=True).start()
    return await answer
