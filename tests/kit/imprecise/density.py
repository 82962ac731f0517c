"""The expected number of matches of a whole stream, from how many events each step may have at each instant."""

from __future__ import annotations

from collections.abc import Iterable

from tests.kit.imprecise.case import Chance, Query, TimedEvent


def expected_matches(query: Query, events: Iterable[TimedEvent], *, count_points: bool = False) -> Chance:
    """The sum of all confidences under `any`, where no event fits two steps and steps look at no other event.

    With `count_points`, how many point matches there are.
    """
    stream = list(events)
    first, last = min(one.lower for one in stream), max(one.upper for one in stream)
    window = query.window if query.window is not None else last - first + 1
    densities: list[list[Chance]] = []
    for step in query.steps:
        density: list[Chance] = [0] * (last - first + 1)
        for event in stream:
            if event.kind in step.kinds:
                for instant in event.instants():
                    density[instant - first] += 1 if count_points else event.at(instant)
        densities.append(density)
    return sum(_from(densities, start, window) for start, chance in enumerate(densities[0]) if chance)


def _from(densities: list[list[Chance]], start: int, window: int) -> Chance:
    reached = [densities[0][start]]
    for density in densities[1:]:
        extended: list[Chance] = []
        before: Chance = 0
        for offset, here in enumerate(density[start : start + window]):
            extended.append(before * here)
            before += reached[offset] if offset < len(reached) else 0
        reached = extended
    return sum(reached)
