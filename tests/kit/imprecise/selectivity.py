"""The selectivity engine: nothing is tried until every step has an event, and rare steps are filled first."""

from __future__ import annotations

from collections import Counter

from tests.kit.imprecise.any_state import Run, empty, filled
from tests.kit.imprecise.case import Query, Results, TimedEvent
from tests.kit.imprecise.engine import run_can_grow, shapes
from tests.kit.imprecise.waiting import Waiting
from tests.kit.imprecise.watermark import NOT_YET, Clock
from tests.kit.imprecise.weigh import weigh


class SelectivityEngine:
    """Events are taken `batch` at a time; the order of the steps is settled when they are first tried.

    A run fills its places in that order only, and is kept: a later batch brings new runs that hold a new event each.
    """

    def __init__(self, query: Query, widest: int, *, batch: int = 1, longest_group: int = 1) -> None:
        self.query = query
        self.clock = Clock(widest)
        self.waiting = Waiting(query, self.clock, weigh)
        self.batch = batch
        self.n_runs = self.peak_runs = 0
        self.order: list[int] | None = None
        self._seen: Counter[int] = Counter()
        self._n_pending = 0
        self._horizon = NOT_YET
        self._fresh: list[list[TimedEvent]] = [[] for _ in query.steps]
        self._tried: list[list[TimedEvent]] = [[] for _ in query.steps]
        self._levels: dict[tuple[int, ...], list[list[Run]]] = {
            shape: [[] for _ in shape] for shape in shapes(query, longest_group)
        }

    def push(self, event: TimedEvent) -> Results:
        if not self.clock.admits(event):
            return {}
        self.waiting.see(event)
        for number, step in enumerate(self.query.steps):
            if event.kind in step.kinds:
                self._fresh[number].append(event)
                self._seen[number] += 1
        self._n_pending += 1
        if self._n_pending < self.batch:
            return {}
        self._end_batch()
        return self.waiting.due()

    def finish(self) -> Results:
        self._end_batch()
        return self.waiting.due(at_end=True)

    def _end_batch(self) -> None:
        # what was alive when the batch began may match what came in it
        self._fresh = [[one for one in some if self._alive(one)] for some in self._fresh]
        self._tried = [[one for one in some if self._alive(one)] for some in self._tried]
        if all(fresh or tried for fresh, tried in zip(self._fresh, self._tried, strict=True)):
            self._try_all()
        self._n_pending = 0
        self._horizon = self.clock.watermark
        for levels in self._levels.values():
            levels[:] = [
                [run for run in some if run_can_grow(self.query, [hi for _, hi in run.ranges.values()], self._horizon)]
                for some in levels
            ]

    def _try_all(self) -> None:
        if self.order is None:
            self.order = sorted(range(len(self.query.steps)), key=lambda step: self._seen[step])
        for shape, levels in self._levels.items():
            self._grow(shape, levels, self.order)
        self.peak_runs = max(self.peak_runs, sum(len(some) for levels in self._levels.values() for some in levels))
        for fresh, tried in zip(self._fresh, self._tried, strict=True):
            tried += fresh
            fresh.clear()

    def _grow(self, shape: tuple[int, ...], levels: list[list[Run]], order: list[int]) -> None:
        elements = sorted(range(len(shape)), key=lambda number: (order.index(shape[number]), number))
        known, new = [empty(shape)], list[Run]()
        for level, number in enumerate(elements):
            fresh, tried = self._fresh[shape[number]], self._tried[shape[number]]
            pairs = [(run, one) for run in known for one in fresh]
            pairs += [(run, one) for run in new for one in (*tried, *fresh)]
            known, new = levels[level], self._filled(pairs, number)
            self.n_runs += len(new)
            if level < len(elements) - 1:
                levels[level] = known + new
        for run in new:
            self.waiting.add(shape, run.chosen)

    def _filled(self, pairs: list[tuple[Run, TimedEvent]], number: int) -> list[Run]:
        return [
            longer
            for run, event in pairs
            if event not in run.events.values()
            if (longer := filled(self.query, run, number, event))
        ]

    def _alive(self, event: TimedEvent) -> bool:
        return run_can_grow(self.query, [event.upper], self._horizon)
