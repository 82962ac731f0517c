"""The any-state engine: events fill the places of a run in whatever order they come."""

from __future__ import annotations

from typing import NamedTuple

from tests.kit.imprecise.bounds import with_gaps
from tests.kit.imprecise.case import Query, Range, Results, TimedEvent
from tests.kit.imprecise.engine import run_can_grow, shapes
from tests.kit.imprecise.waiting import Waiting
from tests.kit.imprecise.watermark import Clock
from tests.kit.imprecise.weigh import weigh


class Run(NamedTuple):
    """Events by the number of their element, and the instants these can take."""

    shape: tuple[int, ...]
    events: dict[int, TimedEvent]
    ranges: dict[int, Range]

    @property
    def complete(self) -> bool:
        return len(self.events) == len(self.shape)

    @property
    def chosen(self) -> tuple[TimedEvent, ...]:
        return tuple(self.events[number] for number in range(len(self.shape)))


def empty(shape: tuple[int, ...]) -> Run:
    return Run(shape, {}, {})


def filled(query: Query, run: Run, number: int, event: TimedEvent) -> Run | None:
    """A copy of a run with one more event, unless its conditions or its instants cannot hold."""
    events = {**run.events, number: event}
    first = events.get(0)
    for other in events if number == 0 else (number,):
        position = query.steps[run.shape[other]]
        one = events[other]
        if one.kind not in position.kinds or (first is not None and not query.fits(one, position, first)):
            return None
    boxes = {other: (one.lower, one.upper) for other, one in events.items()}
    length = len(run.shape)
    latest = max(upper for _, upper in boxes.values())
    earliest = min(lower for lower, _ in boxes.values())
    window = query.window if query.window is not None else latest - earliest + length
    ranges = with_gaps(boxes, length, window)
    return None if ranges is None else Run(run.shape, events, ranges)


class AnyStateEngine:
    """Every run is copied for each place that an event can fill, so each complete one is made exactly once."""

    def __init__(self, query: Query, widest: int, *, longest_group: int = 1, prune: bool = True) -> None:
        self.query = query
        self.clock = Clock(widest)
        self.waiting = Waiting(query, self.clock, weigh)
        self.prune = prune
        self.runs: list[Run] = []
        self.n_runs = self.peak_runs = 0
        self._empty = [empty(shape) for shape in shapes(query, longest_group)]

    def push(self, event: TimedEvent) -> Results:
        if not self.clock.admits(event):
            return {}
        self.waiting.see(event)
        made = [
            longer
            for run in (*self.runs, *self._empty)
            for number in range(len(run.shape))
            if number not in run.events
            if (longer := filled(self.query, run, number, event))
        ]
        self.n_runs += len(made)
        for run in made:
            if run.complete:
                self.waiting.add(run.shape, run.chosen)
            else:
                self.runs.append(run)
        if self.prune:
            self.runs = [run for run in self.runs if self._can_grow(run)]
        self.peak_runs = max(self.peak_runs, len(self.runs))
        return self.waiting.due()

    def finish(self) -> Results:
        return self.waiting.due(at_end=True)

    def _can_grow(self, run: Run) -> bool:
        """Not when the window is over, nor when a place before a filled one must lie before the watermark."""
        watermark = self.clock.watermark
        return run_can_grow(self.query, [upper for _, upper in run.ranges.values()], watermark) and not any(
            number > 0 and number - 1 not in run.events and upper <= watermark + 1
            for number, (_, upper) in run.ranges.items()
        )
