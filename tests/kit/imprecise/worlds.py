"""The space truth: an ordinary matcher in every possible world, and the matches of all worlds put together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from tests.kit.imprecise.case import Outcome, Policy, Query, Range, Results, Signature, TimedEvent, signature_of

World = Sequence[tuple[int, TimedEvent]]
Match = tuple[tuple[int, ...], tuple[int, ...]]


def results(query: Query, events: Sequence[TimedEvent]) -> Results:
    """Every signature with the instants of its events and the share of worlds that contain it."""
    # whole numbers, and one division at the end
    scales = [math.lcm(*(Fraction(one).denominator for one in event.chances)) for event in events]
    points = [
        [(instant, int(event.at(instant) * scale)) for instant in event.instants()]
        for event, scale in zip(events, scales, strict=True)
    ]
    weights: dict[Signature, int] = {}
    ranges: dict[Signature, tuple[Range, ...]] = {}
    for drawn in product(*points):
        weight = math.prod(one for _, one in drawn)
        world = sorted(zip((instant for instant, _ in drawn), events, strict=True), key=lambda one: one[0])
        for shape, chosen in matches(query, world):
            signature = signature_of(shape, [world[one][1] for one in chosen])
            times = [world[one][0] for one in chosen]
            known = ranges.get(signature, [(time, time) for time in times])
            ranges[signature] = tuple(
                (min(lo, time), max(hi, time)) for (lo, hi), time in zip(known, times, strict=True)
            )
            weights[signature] = weights.get(signature, 0) + weight
    whole = math.prod(scales)
    return {signature: Outcome(ranges[signature], Fraction(weight, whole)) for signature, weight in weights.items()}


def n_worlds(events: Sequence[TimedEvent]) -> int:
    return math.prod(sum(1 for _ in event.instants()) for event in events)


def matches(query: Query, world: World) -> Iterator[Match]:
    """Matches in one world, which is in order of time: steps of their events, and where these stand."""
    growing: list[Match] = [
        ((0,), (place,)) for place, (_, event) in enumerate(world) if query.fits(event, query.steps[0], event)
    ]
    while growing:
        shape, chosen = growing.pop()
        if query.is_complete(shape) and _in_window(query, world, chosen) and not _undone(query, world, shape, chosen):
            yield shape, chosen
        growing += (((*shape, step), (*chosen, place)) for step, place in _extensions(query, world, shape, chosen))


def _extensions(query: Query, world: World, shape: tuple[int, ...], chosen: tuple[int, ...]) -> list[tuple[int, int]]:
    (_, first), (now, _) = world[chosen[0]], world[chosen[-1]]
    steps = query.next_steps(shape)
    fitting = [
        (step, place)
        for place in range(chosen[-1] + 1, len(world))
        for step in steps
        if world[place][0] > now and query.fits(world[place][1], query.steps[step], first)
    ]
    times = [world[place][0] for _, place in fitting]
    stopping = _stopping_times(query, world, first, now, times)
    return [one for one, time in zip(fitting, times, strict=True) if time <= min(stopping, default=time)]


def _stopping_times(query: Query, world: World, first: TimedEvent, now: int, fitting: list[int]) -> list[int]:
    """When something happens that a match must not skip."""
    match query.policy:
        case Policy.ANY:
            return []
        case Policy.NEXT:
            return fitting
        case Policy.STRICT:
            return [time for time, _ in world if time > now]
        case Policy.PARTITION:
            return [time for time, event in world if time > now and event.key == first.key]


def _in_window(query: Query, world: World, chosen: tuple[int, ...]) -> bool:
    return query.window is None or world[chosen[-1]][0] - world[chosen[0]][0] < query.window


def _undone(query: Query, world: World, shape: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
    """Whether something happened that must not."""
    times = [world[one][0] for one in chosen]
    first, last = times[0], times[-1]
    window = query.window or 0
    spans = {0: (last - window, first), len(query.steps): (last, first + window)}
    for number in range(1, len(shape)):
        if shape[number] != shape[number - 1]:
            spans[shape[number]] = (times[number - 1], times[number])
    return any(
        after < time < before and query.fits(event, absent, world[chosen[0]][1])
        for step, (after, before) in spans.items()
        for absent in query.absences[step]
        for time, event in world
    )
