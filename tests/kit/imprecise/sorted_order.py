"""The sorting engine: events wait until they can be handed on in the order of the steps they fit."""

from __future__ import annotations

from tests.kit.imprecise.case import Query, Results, TimedEvent
from tests.kit.imprecise.query_order import QueryOrder
from tests.kit.imprecise.waiting import Waiting
from tests.kit.imprecise.watermark import Clock
from tests.kit.imprecise.weigh import weigh


class SortedEngine:
    """For events that fit one step each.

    An event leaves its buffer when no overlapping event for an earlier step is still to come, nor waits in a buffer
    itself; `look_at_buffers=False` leaves the second half out, as the paper does, and loses matches.
    """

    def __init__(self, query: Query, widest: int, *, look_at_buffers: bool = True) -> None:
        self.query = query
        self.clock = Clock(widest)
        self.waiting = Waiting(query, self.clock, weigh)
        self._runs = QueryOrder(query)
        self._look_at_buffers = look_at_buffers
        self._buffers: list[list[TimedEvent]] = [[] for _ in query.steps]

    @property
    def n_runs(self) -> int:
        return self._runs.n_runs

    @property
    def peak_runs(self) -> int:
        return self._runs.peak_runs

    def push(self, event: TimedEvent) -> Results:
        if not self.clock.admits(event):
            return {}
        self.waiting.see(event)
        step = next((one for one, step in enumerate(self.query.steps) if event.kind in step.kinds), None)
        if step == 0:
            self._hand_on(event)
        elif step is not None:
            self._buffers[step].append(event)
        self._release()
        reached = min([self.clock.watermark, *(one.lower - 1 for some in self._buffers for one in some)])
        self._runs.forget(reached)
        return self.waiting.due(reached=reached)

    def finish(self) -> Results:
        for waiting in self._buffers:
            for event in waiting:
                self._hand_on(event)
        return self.waiting.due(at_end=True)

    def _release(self) -> None:
        for step in range(1, len(self._buffers)):
            # later steps look at what is left of earlier ones
            earliest = min((one.lower for some in self._buffers[1:step] for one in some), default=None)
            kept = []
            for event in self._buffers[step]:
                held_back = self._look_at_buffers and earliest is not None and earliest < event.upper
                if event.upper <= self.clock.watermark and not held_back:
                    self._hand_on(event)
                else:
                    kept.append(event)
            self._buffers[step] = kept

    def _hand_on(self, event: TimedEvent) -> None:
        for run in self._runs.feed(event):
            self.waiting.add(tuple(range(len(run.events))), run.events)
