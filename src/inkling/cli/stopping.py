"""Ctrl-C as a wish instead of an accident: work that must not be torn apart asks whether to go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class Stop:
    """Whether somebody wants the work to stop, and by which signal."""

    signal: int | None = None

    @property
    def wanted(self) -> bool:
        return self.signal is not None

    @property
    def interrupted(self) -> bool:
        return self.signal == signal.SIGINT


@contextmanager
def stopping_politely() -> Iterator[Stop]:
    """Until the end of the context, Ctrl-C and termination are noted; a second Ctrl-C interrupts as ever."""
    stop = Stop()

    def note(number: int, frame: FrameType | None) -> None:
        if stop.interrupted and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.signal = number

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
