"""What all engines have in common: events go in one by one, results come out once they are final."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Protocol

from tests.kit.imprecise.case import Query, Results, TimedEvent


class Engine(Protocol):
    """Partial matches are called runs here; `n_runs` of them were made, `peak_runs` were alive at once."""

    n_runs: int
    peak_runs: int

    def push(self, event: TimedEvent) -> Results: ...

    def finish(self) -> Results: ...


def run(engine: Engine, events: Iterable[TimedEvent]) -> Results:
    """All results of a stream; none may come twice."""
    results: Results = {}
    for some in (*(engine.push(event) for event in events), engine.finish()):
        if again := results.keys() & some.keys():
            raise AssertionError(f"given out twice: {again}")
        results |= some
    return results


def widest(events: Iterable[TimedEvent]) -> int:
    """The greatest number of instants of an interval."""
    return max((event.upper - event.lower + 1 for event in events), default=1)


def is_exclusive(query: Query, events: Iterable[TimedEvent]) -> bool:
    """Whether no event fits two steps, and none is repeated."""
    return not any(step.repeated for step in query.steps) and all(
        sum(event.kind in step.kinds for step in query.steps) <= 1 for event in events
    )


def shapes(query: Query, longest_group: int) -> Iterator[tuple[int, ...]]:
    """The steps of a match, element by element, for each number of events of repeated steps."""
    counts = (range(1, longest_group + 1) if step.repeated else (1,) for step in query.steps)
    for chosen in product(*counts):
        if query.window is None or sum(chosen) <= query.window:
            yield tuple(step for step, count in enumerate(chosen) for _ in range(count))


def run_can_grow(query: Query, latest: Sequence[int], watermark: int) -> bool:
    """Whether an event after the watermark can still join events that happen up to `latest`."""
    return query.window is None or min(latest) + query.window - 1 > watermark
