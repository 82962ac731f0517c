"""Every engine of the test kit by name, with the cases that it is made for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.kit.imprecise import formula, worlds
from tests.kit.imprecise.any_state import AnyStateEngine
from tests.kit.imprecise.case import Query, Results, TimedEvent
from tests.kit.imprecise.chain import Chain
from tests.kit.imprecise.engine import is_exclusive, run, widest
from tests.kit.imprecise.points import PointEngine
from tests.kit.imprecise.query_order import QueryOrder
from tests.kit.imprecise.selectivity import SelectivityEngine
from tests.kit.imprecise.sorted_order import SortedEngine
from tests.kit.imprecise.weigh import weigh

Answer = Callable[[Query, Sequence[TimedEvent]], Results]


def longest_group(query: Query, events: Sequence[TimedEvent]) -> int:
    """No group of a repeated step can have more events."""
    repeated = {kind for step in query.steps if step.repeated for kind in step.kinds}
    return max(1, sum(event.kind in repeated for event in events))


def by_any_state(query: Query, events: Sequence[TimedEvent], *, prune: bool = True) -> Results:
    longest = longest_group(query, events)
    return run(AnyStateEngine(query, widest(events), longest_group=longest, prune=prune), events)


def by_selectivity(query: Query, events: Sequence[TimedEvent], *, batch: int = 1) -> Results:
    longest = longest_group(query, events)
    return run(SelectivityEngine(query, widest(events), batch=batch, longest_group=longest), events)


def in_query_order(query: Query, events: Sequence[TimedEvent]) -> Results:
    """Events are put in order by hand: all for the first step, then all for the second, and so on."""
    runs = QueryOrder(query)
    found = {}
    for step in query.steps:
        for event in events:
            for run_ in runs.feed(event) if event.kind in step.kinds else ():
                chain = Chain.of(query, range(len(run_.events)), run_.events, events)
                if outcome := weigh(chain):
                    found[chain.signature] = outcome
    return found


ENGINES: dict[str, Answer] = {
    "worlds": worlds.results,
    "formula": formula.results,
    "points": lambda query, events: run(PointEngine(query, widest(events)), events),
    "points with NELT": lambda query, events: run(PointEngine(query, widest(events), latest_next=True), events),
    "any-state": by_any_state,
    "any-state, nothing pruned": lambda query, events: by_any_state(query, events, prune=False),
    "selectivity": by_selectivity,
    "selectivity, three at a time": lambda query, events: by_selectivity(query, events, batch=3),
}
EXCLUSIVE_ENGINES: dict[str, Answer] = {
    "query order": in_query_order,
    "sorted": lambda query, events: run(SortedEngine(query, widest(events)), events),
}


def engines_for(query: Query, events: Sequence[TimedEvent]) -> dict[str, Answer]:
    return ENGINES | EXCLUSIVE_ENGINES if is_exclusive(query, events) else ENGINES
