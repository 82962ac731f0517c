"""What a long program costs before any row is read: parsing, planning and explaining it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import inkling
from benchmarks.meter import best_of
from benchmarks.results import Goal, Row, quantity
from benchmarks.sizes import Sizes

MOST_SECONDS = 0.1
STREAM = "STREAM A(id INT, x INT, t INT) ID id TIME t;\n"


def run(sizes: Sizes) -> Iterator[Row]:
    long = STREAM + _long_sequence(sizes.parts)
    # what follows from a program is kept with it, so each repetition explains a program of its own
    chains = [inkling.parse(STREAM + _chain(sizes.chained_events)) for _ in range(sizes.repeats)]
    calls: dict[str, Callable[[], int]] = {
        f"parse and plan a sequence of {quantity(sizes.parts)} parts": lambda: len(inkling.parse(long).text),
        f"explain a chain of {sizes.chained_events} events": lambda: len(chains.pop().explain()),
    }
    for (name, _), cost in zip(calls.items(), best_of(sizes.repeats, *calls.values()), strict=True):
        yield Row(
            name,
            f"one event of {quantity(sizes.parts)} parts; {sizes.chained_events} events, each reading the one before",
            cost.seconds,
            cost.cpu_seconds,
            goals=(Goal("seconds", cost.cpu_seconds, most=MOST_SECONDS),),
        )


def _long_sequence(n: int) -> str:
    parts = ", ".join(f"A a{number}[x = {number}]" for number in range(n))
    return f"EVENT e AS PATTERN SEQ({parts}) WITHIN 10 TICKS;"


def _chain(n: int) -> str:
    first = "EVENT e0(a.x AS x) AS PATTERN A a;\n"
    return first + "\n".join(
        f"EVENT e{number}(a.x AS x) AS PATTERN SEQ(e{number - 1} a, A b[x = a.x]) WITHIN 5 TICKS;"
        for number in range(1, n)
    )
