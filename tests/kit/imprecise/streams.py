"""Random small queries and streams, legal orders of arrival, and the long streams of the paper's experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from tests.kit.imprecise.case import Policy, Query, TimedEvent, query, timed_event
from tests.kit.imprecise.engine import widest
from tests.kit.imprecise.worlds import n_worlds

MOST_WORLDS = 150
CYCLE = 1000


class Drawn(NamedTuple):
    query: Query
    events: tuple[TimedEvent, ...]

    def __str__(self) -> str:
        return "\n".join([str(self.query), *map(str, self.events)])


def random_cases(seed: int, count: int, *, exclusive: bool = False) -> Iterator[Drawn]:
    """Queries of all kinds with events of few worlds; `exclusive` ones have no step that two kinds of events fit."""
    random = Random(seed)
    for _ in range(count):
        asked = _query(random, exclusive=exclusive)
        kinds = sorted({kind for step in asked.steps for kind in step.kinds})
        kinds += sorted({kind for some in asked.absences for one in some for kind in one.kinds} - set(kinds))
        yield Drawn(asked, _events(random, [*kinds, "O"] if random.random() < 0.3 else kinds))


def _query(random: Random, *, exclusive: bool) -> Query:
    count = random.choice((1, 2, 2, 3, 3, 3, 4) if exclusive else (1, 2, 2, 2, 3, 3))
    pattern = [_step(random, number, exclusive=exclusive) for number in range(count)]
    few_groups = sum(step.endswith("+") for step in pattern) < 2
    window = random.choice((None if few_groups else 6, count, count + 1, count + 2, 5, 8, 12))
    places = range(count + 1) if window is not None else range(1, count)
    absent = [place for place in places if random.random() < 0.25]
    for place in reversed(absent):
        pattern.insert(place, random.choice(("!N", "!N", "!N@k", "!N|A")))
    policy = random.choice((Policy.ANY, Policy.NEXT, Policy.NEXT, Policy.STRICT, Policy.PARTITION))
    return query(*pattern, window=window, policy=policy)


def _step(random: Random, number: int, *, exclusive: bool) -> str:
    kind = "ABCD"[number]
    if exclusive:
        return kind + random.choice(("", "", "", "@k"))
    kind = random.choice((kind, kind, f"{kind}|Z", "A", f"{kind}|A"))
    return kind + random.choice(("", "", "", "@k", "@k", "+", "+", "@k+"))


def _events(random: Random, kinds: Sequence[str]) -> tuple[TimedEvent, ...]:
    """Half of the streams have an event of each kind, roughly in the order of the steps, so that many match."""
    latest = random.choice((3, 5, 8, 12, 30))
    n_keys = random.choice((1, 1, 2))
    in_order = random.random() < 0.5
    while True:
        count = random.choice((3, 4, 5, 6))
        drawn = [random.choice(kinds) for _ in range(count)]
        if in_order:
            drawn[: len(kinds)] = kinds[:count]
        lowers = [(number if in_order else 0) + random.randint(1, latest) for number in range(count)]
        if in_order:
            lowers.sort()
        events = tuple(
            _event(random, f"e{number}", kind, lower, n_keys)
            for number, (kind, lower) in enumerate(zip(drawn, lowers, strict=True))
        )
        if n_worlds(events) <= MOST_WORLDS:
            return events


def _event(random: Random, name: str, kind: str, lower: int, n_keys: int) -> TimedEvent:
    size = random.choice((1, 1, 2, 2, 3, 4))
    weights = None
    if random.random() < 0.3:
        weights = [Fraction(random.choice((0, 1, 1, 2, 3))) for _ in range(size)]
        weights[0] += 1
    return timed_event(name, kind, lower, lower + size - 1, weights, key=random.randrange(n_keys))


def arrival_order(random: Random, events: Sequence[TimedEvent], *, pairwise: bool = True) -> list[TimedEvent]:
    """A random order of arrival.

    `pairwise`, no event comes before one that certainly happened earlier. Otherwise all that is promised is that
    events lie after the watermark.
    """
    left, order = list(events), list[TimedEvent]()
    size, newest = widest(events), min((one.lower for one in events), default=0)
    while left:
        allowed = [one for one in left if _may_come(one, left, size, newest, pairwise=pairwise)]
        chosen = random.choice(allowed)
        newest = max(newest, chosen.lower)
        left.remove(chosen)
        order.append(chosen)
    return order


def _may_come(event: TimedEvent, left: Sequence[TimedEvent], size: int, newest: int, *, pairwise: bool) -> bool:
    if pairwise:
        return all(event.lower <= other.upper for other in left)
    return all(other.lower > max(newest, event.lower) - size for other in left if other is not event)


def divisible(n_events: int, half: int, divisors: Sequence[int], *, exact: bool = True) -> list[TimedEvent]:
    """An event at each instant with a value that runs from 1 to 1000 again and again, and an interval around it.

    The kind of an event names the divisors of its value; events that fit none of them are left out.
    """
    size = 2 * half + 1
    chances = ((Fraction(1, size) if exact else 1 / size),) * size
    events = []
    for number in range(1, n_events + 1):
        value = (number - 1) % CYCLE + 1
        if roles := "".join(str(step) for step, divisor in enumerate(divisors) if value % divisor == 0):
            events.append(TimedEvent(str(number), roles, number, number + 2 * half, chances))
    return events


def divisible_query(divisors: Sequence[int], window: int | None, policy: Policy) -> Query:
    """A value divisible by the first divisor, then one divisible by the second, and so on."""
    roles = ["".join(some) for some in _subsets([str(step) for step in range(len(divisors))])]
    pattern = ["|".join(one for one in roles if str(step) in one) for step in range(len(divisors))]
    return query(*pattern, window=window, policy=policy)


def _subsets(names: Sequence[str]) -> Iterator[list[str]]:
    for bits in range(1, 1 << len(names)):
        yield [name for number, name in enumerate(names) if bits >> number & 1]
