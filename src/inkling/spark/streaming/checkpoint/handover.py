"""One streaming query ends so that another can continue with its checkpoint: which thread waits for which."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PAUSE_S = 0.02


class LeavingError(Exception):
    """Ends a delivery that another definition will make."""


class Handover:
    """Between a delivery that must stop, the thread that starts the next query, and threads that wait for the end."""

    def __init__(self) -> None:
        self._left, self._running, self._given_up = threading.Event(), threading.Event(), threading.Event()
        self._one_at_a_time, self._starting = threading.Lock(), threading.Lock()
        self._problem: Exception | None = None

    @property
    def has_left(self) -> bool:
        """Whether a query has ended for another one that has not started yet."""
        return self._left.is_set()

    @property
    def is_given_up(self) -> bool:
        """Whether no query takes the place of another any more."""
        return self._given_up.is_set()

    def starting(self) -> None:
        self._running.clear()

    def started(self) -> None:
        self._running.set()

    def arrive(self) -> None:
        """The next query runs, or nobody wants it any more."""
        self._left.clear()

    def leave(self, stop: Callable[[], None], is_active: Callable[[], bool]) -> None:
        """Called from a delivery: have the query stopped, then end the delivery."""
        self._running.wait()  # the first delivery may come before the caller knows the query
        self._left.set()
        threading.Thread(target=stop, name="inkling-leave", daemon=True).start()
        while is_active():
            time.sleep(PAUSE_S)
        raise LeavingError

    def await_leaving(self, is_active: Callable[[], bool]) -> bool:
        """Wait until a query has left; False when it ended for another reason."""
        while not self._left.wait(PAUSE_S * 5):
            if self._given_up.is_set() or not is_active():
                return self._left.is_set()
        return True

    def in_background(self, hand_over: Callable[[], None]) -> None:
        """Let a thread see to it; errors of the thread are passed to those who wait for the end."""

        def work() -> None:
            try:
                with self.alone():
                    hand_over()
            except Exception as problem:
                self._problem = problem
                self.arrive()

        threading.Thread(target=work, name="inkling-handover", daemon=True).start()

    def awaited(self, query: Callable[[], Any], await_end: Callable[[int | None], bool], seconds: int | None) -> bool:
        """Whether the last of the queries ended within some seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            current = query()
            if not await_end(None if end is None else max(1, round(end - time.monotonic()))):
                return False
            while self.has_left and query() is current:
                if end is not None and time.monotonic() > end:
                    return False
                time.sleep(PAUSE_S)
            if self._problem is not None:
                raise self._problem
            if query() is current:
                return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One replacement at a time."""
        with self._one_at_a_time:
            yield

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """From now on no query takes the place of another."""
        self._given_up.set()
        with self._starting:
            yield

    @contextmanager
    def unless_given_up(self) -> Iterator[bool]:
        with self._starting:
            yield not self._given_up.is_set()
