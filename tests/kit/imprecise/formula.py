"""Confidence by going through the instants of a signature's own events; of all others, only their masses count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from tests.kit.imprecise.case import Chance, Outcome, Query, Results, TimedEvent
from tests.kit.imprecise.chain import Chain

Times = tuple[int, ...]


def results(query: Query, events: Iterable[TimedEvent]) -> Results:
    """Every tuple of events that fits is tried."""
    stream = tuple(events)
    found = {}
    growing: list[tuple[tuple[int, ...], tuple[TimedEvent, ...]]]
    growing = [((0,), (event,)) for event in stream if query.fits(event, query.steps[0], event)]
    while growing:
        shape, chosen = growing.pop()
        if query.is_complete(shape):
            chain = Chain.of(query, shape, chosen, stream)
            if outcome := weighed(chain):
                found[chain.signature] = outcome
        growing += (
            ((*shape, step), (*chosen, event))
            for step in query.next_steps(shape)
            for event in stream
            if event not in chosen and query.fits(event, query.steps[step], chosen[0])
        )
    return found


def weighed(chain: Chain) -> Outcome | None:
    return total(chain, point_matches(chain))


def point_matches(chain: Chain) -> Iterator[Times]:
    """All instants in increasing order and inside the window."""
    growing: list[Times] = [(instant,) for instant in chain.events[0].instants()]
    while growing:
        times = growing.pop()
        if len(times) == len(chain):
            yield times
            continue
        growing += (
            (*times, instant)
            for instant in chain.events[len(times)].instants()
            if times[-1] < instant < times[0] + chain.window
        )


def total(chain: Chain, points: Iterable[Times]) -> Outcome | None:
    """Point matches are sets of worlds without a world in common, so their chances add up."""
    confidence: Chance = 0
    possible: list[Times] = []
    for times in points:
        chance = _chance(chain, times)
        if chance > 0:
            confidence += chance
            possible.append(times)
    if not possible:
        return None
    return Outcome(tuple((min(some), max(some)) for some in zip(*possible, strict=True)), confidence)


def _chance(chain: Chain, times: Times) -> Chance:
    own = math.prod(event.at(time) for event, time in zip(chain.events, times, strict=True))
    return own * math.prod(
        1 - sum(event.mass(*chain.region(region, times)) for region in regions) for event, regions in chain.blockers
    )
