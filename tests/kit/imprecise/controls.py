"""Ways that look right and are not: tests must be able to tell them from the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tests.kit.imprecise import worlds
from tests.kit.imprecise.case import Chance, Query, Signature, TimedEvent, signature_of
from tests.kit.imprecise.chain import Chain
from tests.kit.imprecise.formula import point_matches


def at_midpoints(query: Query, events: Sequence[TimedEvent]) -> set[Signature]:
    """One time for each event, in the middle, and an ordinary engine."""
    world = sorted((((one.lower + one.upper) // 2, one) for one in events), key=lambda one: one[0])
    return {signature_of(shape, [world[one][1] for one in chosen]) for shape, chosen in worlds.matches(query, world)}


def straight_on_points(query: Query, events: Sequence[TimedEvent]) -> Iterator[tuple[tuple[str, int], ...]]:
    """The policy applied to instants as if each were an event of its own."""
    stream = sorted(((instant, one) for one in events for instant in one.instants()), key=lambda one: one[0])
    for _, chosen in worlds.matches(query, stream):
        yield tuple((stream[place][1].id, stream[place][0]) for place in chosen)


def product_per_gap(chain: Chain) -> Chance:
    """Each gap is kept free on its own, as if an event could not be in the way of two."""
    return sum(
        math.prod(event.at(time) for event, time in zip(chain.events, times, strict=True))
        * math.prod(
            1 - event.mass(*chain.region(region, times)) for event, regions in chain.blockers for region in regions
        )
        for times in point_matches(chain)
    )


def latest_next(last: TimedEvent, candidates: Sequence[TimedEvent], *, overlapping: bool = False) -> float:
    """After which instant an event is certainly not the next one after `last`.

    With `overlapping`, candidates that may come before `last` count too, which is wrong.
    """
    return min((one.upper for one in candidates if overlapping or one.lower > last.upper), default=math.inf)
