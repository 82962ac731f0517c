"""The handover between two queries on one checkpoint: one ends, and another continues; how their threads wait."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PAUSE_S = 0.02


class LeavingError(Exception):
    """Ends the delivery of a micro-batch that belongs to another definition."""


class Handover:
    """Coordinates a delivery that must stop, the thread that starts the next query, and threads that await the end."""

    def __init__(self) -> None:
        self._left, self._running, self._given_up = threading.Event(), threading.Event(), threading.Event()
        self.alone = threading.Lock()  # allows one handover at a time
        self._starting = threading.Lock()
        self._problem: Exception | None = None

    @property
    def has_left(self) -> bool:
        """Whether a query has ended for another one that has not started yet."""
        return self._left.is_set()

    @property
    def is_given_up(self) -> bool:
        """Whether handovers are over, because the user stops the query."""
        return self._given_up.is_set()

    def starting(self) -> None:
        self._running.clear()

    def started(self) -> None:
        self._running.set()

    def arrive(self) -> None:
        """The next query runs, or is not needed any more."""
        self._left.clear()

    def leave(self, stop: Callable[[], None], is_active: Callable[[], bool]) -> None:
        """Stop the query from within a delivery, then end the delivery."""
        self._running.wait()  # the first delivery may start before the caller has the query
        self._left.set()
        threading.Thread(target=stop, name="inkling-leave", daemon=True).start()
        while is_active():
            time.sleep(PAUSE_S)
        raise LeavingError

    def await_leaving(self, is_active: Callable[[], bool]) -> bool:
        """Wait until a query has ended for another one; False if it ended for another reason."""
        while not self._left.wait(PAUSE_S * 5):
            if self._given_up.is_set() or not is_active():
                return self._left.is_set()
        return True

    def in_background(self, hand_over: Callable[[], None]) -> None:
        """Run a handover in a thread; its exception is raised by `awaited`."""

        def work() -> None:
            try:
                with self.alone:
                    hand_over()
            except Exception as problem:
                self._problem = problem
                self.arrive()

        threading.Thread(target=work, name="inkling-handover", daemon=True).start()

    def awaited(self, query: Callable[[], Any], await_end: Callable[[int | None], bool], seconds: int | None) -> bool:
        """Whether the last query of all handovers ended within some seconds."""
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
    def given_up(self) -> Iterator[None]:
        """From now on, no query is started in place of another."""
        self._given_up.set()
        with self._starting:
            yield

    @contextmanager
    def unless_given_up(self) -> Iterator[bool]:
        with self._starting:
            yield not self._given_up.is_set()
