"""Patterns over imprecise times, exactly: compiled, beside the engines of the literature in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow.compute as pc

from benchmarks.imprecise_settings import EVEN, HALVES, SKEWED, USUAL_HALF, Setting
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from inkling.testing.imprecise.any_state import AnyStateEngine
from inkling.testing.imprecise.case import Policy
from inkling.testing.imprecise.density import expected_matches
from inkling.testing.imprecise.engine import run
from inkling.testing.imprecise.points import PointEngine
from inkling.testing.imprecise.selectivity import SelectivityEngine
from inkling.testing.imprecise.sorted_order import SortedEngine
from inkling.testing.imprecise.streams import divisible

LEAST = {(Policy.ANY, 10): 1e6, (Policy.ANY, 50): 1e5, (Policy.NEXT, 10): 3e5, (Policy.NEXT, 50): 2e4}
MOST_POINTS = 100_000
MOST_FOR_TEN_TIMES = 11.0
PROBE_EVENTS = 10_000
BATCH = 20


class Answer(NamedTuple):
    n_matches: int
    expected: float
    peak_runs: int = 0
    peak_live: int = 0


def production(setting: Setting, n_events: int) -> Callable[[], Answer]:
    """The program as anybody would run it, from rows in memory to a table of results."""
    program, rows = setting.program, setting.rows(n_events)

    def found() -> Answer:
        table = program.run_local(rows).tables["found"]
        return Answer(table.num_rows, pc.sum(table["probability"]).as_py() or 0.0)

    return found


def by_half_sizes(sizes: Sizes) -> Iterator[Row]:
    for policy in (Policy.ANY, Policy.NEXT):
        for half in HALVES:
            yield _row(Setting(policy, half), sizes)


def by_steps(sizes: Sizes) -> Iterator[Row]:
    for policy in (Policy.ANY, Policy.NEXT):
        for n_steps in (2, 4, 5, 6):
            yield _row(Setting(policy, divisors=EVEN[:n_steps]), sizes)


def by_windows(sizes: Sizes) -> Iterator[Row]:
    for policy in (Policy.ANY, Policy.NEXT):
        for window in (50, 200, 400):
            yield _row(Setting(policy, window=window), sizes)


def by_skew(sizes: Sizes) -> Iterator[Row]:
    for divisors in SKEWED[1:]:
        yield _row(Setting(Policy.ANY, divisors=divisors), sizes)


def growth(sizes: Sizes) -> Iterator[Row]:
    """Ten times the events should take ten times as long."""
    for policy in (Policy.ANY, Policy.NEXT):
        setting, n_events = Setting(policy), sizes.imprecise_events
        few, many = production(setting, n_events // 10), production(setting, n_events)
        few()
        small, large = best_of(sizes.repeats, few, many)
        yield Row(
            f"{setting}: 10 × the events",
            f"{quantity(n_events)} events",
            large.seconds,
            large.cpu_seconds,
            n_events,
            f"{quantity(large.answer.n_matches)} matches",
            (Baseline.of(f"{quantity(n_events // 10)} events", small),),
            (Goal("× cost", large.seconds / small.seconds, most=MOST_FOR_TEN_TIMES),),
        )


def _row(setting: Setting, sizes: Sizes) -> Row:
    n_events, n_few = _n_events(setting, sizes), _n_few(setting, sizes)
    engines = _engines(setting, n_few)
    few = production(setting, n_few)()
    ours, *theirs = best_of(sizes.repeats, production(setting, n_events), *engines.values())
    for name, cost in zip(engines, theirs, strict=True):
        assert cost.answer.n_matches == few.n_matches, f"{setting}: {name} {cost.answer}, not {few}"
        assert math.isclose(cost.answer.expected, few.expected, rel_tol=1e-9), f"{setting}: {name}"
    factor = n_events / n_few
    rate = LEAST.get((setting.policy, setting.half)) if setting == Setting(setting.policy, setting.half) else None
    runs = ", ".join(f"{name} {cost.answer.peak_runs}" for name, cost in zip(engines, theirs, strict=True))
    live = max((cost.answer.peak_live for cost in theirs), default=0)
    return Row(
        str(setting),
        f"{quantity(n_events)} events",
        ours.seconds,
        ours.cpu_seconds,
        n_events,
        f"{quantity(ours.answer.n_matches)} matches; runs: {runs}; live: {live}",
        tuple(
            Baseline(f"{name}, from {quantity(n_few)} events", cost.seconds * factor, cost.cpu_seconds * factor)
            for name, cost in zip(engines, theirs, strict=True)
        ),
        () if rate is None else (Goal("events/s", n_events / ours.seconds, least=rate),),
    )


def _n_events(setting: Setting, sizes: Sizes) -> int:
    """As many as give not too many matches, to one digit."""
    probe = min(PROBE_EVENTS, sizes.imprecise_events)
    per_event = production(setting, probe)().n_matches / probe
    wanted = sizes.imprecise_matches / per_event if per_event else sizes.imprecise_events
    size = 10 ** int(math.log10(wanted))
    return min(sizes.imprecise_events, int(wanted // size * size))


def _n_few(setting: Setting, sizes: Sizes) -> int:
    """What plain Python gets through in about a second; intervals cost more, and by far more under NEXT."""
    wider = max(1.0, setting.half / USUAL_HALF)
    if setting.policy is Policy.NEXT:
        return max(150, int(sizes.imprecise_few / wider**2))
    return max(150, min(sizes.imprecise_few, 2 * (setting.window + 4 * setting.half)))


def _engines(setting: Setting, n_events: int) -> dict[str, Callable[[], Answer]]:
    query, widest = setting.query, 2 * setting.half + 1
    events = divisible(n_events, setting.half, setting.divisors, exact=False)
    made: dict[str, Callable[[], AnyStateEngine | SortedEngine | SelectivityEngine | PointEngine]] = {
        "sorted": lambda: SortedEngine(query, widest),
        "selectivity": lambda: SelectivityEngine(query, widest, batch=BATCH),
        "any-state": lambda: AnyStateEngine(query, widest),
    }
    if expected_matches(query, events, count_points=True) <= MOST_POINTS:
        made["point-based"] = lambda: PointEngine(query, widest, latest_next=True)

    def answered(make: Callable[[], AnyStateEngine | SortedEngine | SelectivityEngine | PointEngine]) -> Answer:
        engine = make()
        found = run(engine, events)
        total = sum(float(one.confidence) for one in found.values())
        return Answer(len(found), total, engine.peak_runs, engine.waiting.peak_live)

    return {name: (lambda make=make: answered(make)) for name, make in made.items()}


BENCHMARKS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "imprecise times: half sizes": by_half_sizes,
    "imprecise times: steps": by_steps,
    "imprecise times: windows": by_windows,
    "imprecise times: skew": by_skew,
    "imprecise times: growth": growth,
}
