"""Calls that may never return."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from threading import enumerate as all_threads
from typing import TypeVar

_T = TypeVar("_T")

_NAME = "triage-background"


def in_background(call: Callable[[], _T]) -> "Future[_T]":
    """Starts a call in a daemon thread of its own: one that never returns holds up nobody, not even the end of the program."""
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to whoever asks for the result
            future.set_exception(error)

    Thread(target=run, name=_NAME, daemon=True).start()
    return future


def is_anything_running() -> bool:
    """Whether a call in the background has not returned."""
    return any(thread.name == _NAME for thread in all_threads())
