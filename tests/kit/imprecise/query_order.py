"""The incremental engine: events come in the order of the steps they fit, and each one extends runs at their end."""

from __future__ import annotations

from typing import NamedTuple

from tests.kit.imprecise.bounds import four_passes
from tests.kit.imprecise.case import Query, Range, TimedEvent
from tests.kit.imprecise.engine import run_can_grow


class Run(NamedTuple):
    events: tuple[TimedEvent, ...]
    ranges: tuple[Range, ...]


class QueryOrder:
    """Wants events that fit one step each; of two that overlap, the one for the earlier step first."""

    def __init__(self, query: Query) -> None:
        if any(step.repeated for step in query.steps):
            raise ValueError("events of a repeated step have no order among themselves")
        self.query = query
        self.n_runs = self.peak_runs = 0
        self._by_length: list[list[Run]] = [[] for _ in query.steps]

    def feed(self, event: TimedEvent) -> list[Run]:
        """The matches that an event completes."""
        steps = self.query.steps
        complete: list[Run] = []
        # from the last step, so that no event extends a run of its own
        for step in reversed(range(len(steps))):
            if event.kind not in steps[step].kinds:
                continue
            before = self._by_length[step - 1] if step else [Run((), ())]
            made = [longer for run in before if (longer := self._extended(run, event))]
            self.n_runs += len(made)
            if step == len(steps) - 1:
                complete = made
            else:
                self._by_length[step] += made
        self.peak_runs = max(self.peak_runs, sum(map(len, self._by_length)))
        return complete

    def forget(self, watermark: int) -> None:
        """Drop runs that no event after a watermark can extend."""
        self._by_length = [
            [run for run in some if run_can_grow(self.query, [hi for _, hi in run.ranges], watermark)]
            for some in self._by_length
        ]

    def _extended(self, run: Run, event: TimedEvent) -> Run | None:
        events = (*run.events, event)
        if not self.query.fits(event, self.query.steps[len(run.events)], events[0]):
            return None
        boxes = [(one.lower, one.upper) for one in events]
        window = self.query.window
        if window is None:
            window = event.upper - events[0].lower + len(self.query.steps)
        complete = len(events) == len(self.query.steps)
        if window < len(self.query.steps):
            return None
        # upper ends only shrink when a run grows; lower ends wait for the whole match
        ranges = four_passes(boxes, window, lower_side=complete)
        return None if ranges is None else Run(events, ranges)
