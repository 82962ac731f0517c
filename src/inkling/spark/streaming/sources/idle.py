"""Detects idle streams, so that results do not wait for them."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from inkling.spark.streaming.sinks.outputs import BatchTally

CHECKS_PER_LIMIT = 10
LONGEST_PAUSE_S = 5.0


@dataclass(slots=True)
class Silence:
    """Finds streams without rows while other streams have rows; times are seconds of one clock."""

    streams: tuple[str, ...]
    limit: float
    started: float
    heard: dict[str, float] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)  # streams already reported as idle

    def take(self, tally: BatchTally, now: float) -> None:
        """Note streams with accepted rows; rejected rows do not count."""
        for name, n_good in tally.good.items():
            if n_good:
                self.heard[name] = now
                self.reported.discard(name)

    def newly_idle(self, now: float) -> frozenset[str]:
        """The streams that are idle and not yet reported."""
        found = set()
        for name in self.streams:
            last = self.heard.get(name, self.started)
            others = max((self.heard[other] for other in self.heard if other != name), default=None)
            if name not in self.reported and now - last >= self.limit and others is not None and others >= last:
                found.add(name)
        self.reported |= found
        return frozenset(found)


class IdleMonitor:
    """Watches a running query in a thread."""

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

    def take(self, tally: BatchTally) -> None:
        with self._lock:
            self._silence.take(tally, time.monotonic())

    def end(self) -> None:
        self._ended.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._pause):
            # there are rows that are not processed yet
            if self._is_busy():
                continue
            with self._lock:
                idle = self._silence.newly_idle(time.monotonic())
            if idle:
                self._say_idle(idle)
