"""Calls that may never return."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")


def in_background(call: Callable[[], _T]) -> "Future[_T]":
    """Starts a call in a daemon thread of its own: one that never returns holds up nobody, not even the end of the program."""
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to whoever asks for the result
            future.set_exception(error)

    Thread(target=run, name="triage-sampling", daemon=True).start()
    return future
