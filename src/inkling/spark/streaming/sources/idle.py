"""Streams that have nothing to say for a while, noticed so that the others need not wait for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from inkling.spark.streaming.sinks.outputs import Tally

CHECKS_PER_LIMIT = 10
LONGEST_PAUSE_S = 5.0


@dataclass(slots=True)
class Silence:
    """Who is silent while others speak; times are seconds of one clock."""

    streams: tuple[str, ...]
    limit: float
    started: float
    heard: dict[str, float] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)  # those already called idle

    def take(self, tally: Tally, now: float) -> None:
        """A stream with rejected rows only is silent."""
        for name, n_good in tally.good.items():
            if n_good:
                self.heard[name] = now
                self.reported.discard(name)

    def newly_idle(self, now: float) -> frozenset[str]:
        """Streams to be called idle now."""
        found = set()
        for name in self.streams:
            last = self.heard.get(name, self.started)
            others = max((self.heard[other] for other in self.heard if other != name), default=None)
            if name not in self.reported and now - last >= self.limit and others is not None and others >= last:
                found.add(name)
        self.reported |= found
        return frozenset(found)


class IdleMonitor:
    """Watches a running query from a thread of its own."""

    def __init__(
        self,
        streams: Iterable[str],
        limit: float,
        say_idle: Callable[[frozenset[str]], None],
        is_busy: Callable[[], bool],
    ) -> None:
        self._silence = Silence(tuple(streams), limit, time.monotonic())
        self._say_idle, self._is_busy = say_idle, is_busy
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._pause = min(limit / CHECKS_PER_LIMIT, LONGEST_PAUSE_S)
        self._thread = threading.Thread(target=self._watch, name="inkling-idle", daemon=True)
        self._thread.start()

    def take(self, tally: Tally) -> None:
        with self._lock:
            self._silence.take(tally, time.monotonic())

    def end(self) -> None:
        self._ended.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._pause):
            # rows that nobody has looked at yet are not silence
            if self._is_busy():
                continue
            with self._lock:
                idle = self._silence.newly_idle(time.monotonic())
            if idle:
                self._say_idle(idle)
