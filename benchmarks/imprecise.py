"""Patterns over imprecise times, exactly: compiled, beside the engines of the literature in plain Python."""

from __future__ import annotations

import cProfile
import math
import pstats
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow.compute as pc
from tests.kit.imprecise.any_state import AnyStateEngine
from tests.kit.imprecise.case import Policy
from tests.kit.imprecise.density import expected_matches
from tests.kit.imprecise.engine import run
from tests.kit.imprecise.points import PointEngine
from tests.kit.imprecise.selectivity import SelectivityEngine
from tests.kit.imprecise.sorted_order import SortedEngine
from tests.kit.imprecise.streams import divisible

from benchmarks.imprecise_settings import EVEN, HALVES, SKEWED, USUAL_HALF, Setting
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from inkling.evaluators.chain.confidence import confidence_of

LEAST = {(Policy.ANY, 10): 1e6, (Policy.ANY, 50): 1e5, (Policy.NEXT, 10): 3e5, (Policy.NEXT, 50): 2e4}
MOST_POINTS = 200_000
FEWEST = 150
MOST_FOR_TEN_TIMES = 11.0
PROBE_EVENTS = 10_000
BATCH = 20

PaperEngine = AnyStateEngine | SortedEngine | SelectivityEngine | PointEngine


class Answer(NamedTuple):
    n_matches: int
    expected: float
    peak_runs: int = 0
    peak_live: int = 0


class Timed(NamedTuple):
    """An engine and the number of events that it is given."""

    name: str
    n_events: int
    run: Callable[[], Answer]


def production(setting: Setting, n_events: int) -> Callable[[], Answer]:
    """The program as anybody would run it, from rows in memory to a table of results."""
    program, rows = setting.program, setting.rows(n_events)

    def found() -> Answer:
        table = program.run_local(rows).tables["found"]
        return Answer(table.num_rows, pc.sum(table["probability"]).as_py() or 0.0)

    return found


def share_in_confidences(run: Callable[[], Answer]) -> float:
    """The share of the processor time of a run that the probabilities of matches take."""
    profile = cProfile.Profile()
    profile.runcall(run)
    times = pstats.Stats(profile)
    code = confidence_of.__code__
    _, _, _, cumulative, _ = times.stats[code.co_filename, code.co_firstlineno, code.co_name]  # type: ignore[attr-defined]
    return float(cumulative / times.total_tt)  # type: ignore[attr-defined]


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
    n_events, engines = _n_events(setting, sizes), _engines(setting, sizes)
    run = production(setting, n_events)
    ours, *theirs = best_of(sizes.repeats, run, *(engine.run for engine in engines))
    baselines, runs = [], []
    for engine, cost in zip(engines, theirs, strict=True):
        _agree(setting, engine, cost.answer)
        name, factor = f"{engine.name}, from {quantity(engine.n_events)} events", n_events / engine.n_events
        baselines.append(Baseline(name, cost.seconds * factor, cost.cpu_seconds * factor))
        runs.append(f"{engine.name} {cost.answer.peak_runs}")
    live = max(cost.answer.peak_live for cost in theirs)
    is_usual = setting == Setting(setting.policy, setting.half)
    least = LEAST.get((setting.policy, setting.half)) if is_usual else None
    return Row(
        str(setting),
        f"{quantity(n_events)} events",
        ours.seconds,
        ours.cpu_seconds,
        n_events,
        f"{quantity(ours.answer.n_matches)} matches; {share_in_confidences(run):.0%} of the time in confidences; "
        f"runs: {', '.join(runs)}; live: {live}",
        tuple(baselines),
        () if least is None else (Goal("events/s", n_events / ours.seconds, least=least),),
    )


def _agree(setting: Setting, engine: Timed, answer: Answer) -> None:
    """Every baseline finds the same matches, with the same confidences in sum."""
    expected = production(setting, engine.n_events)()
    assert answer.n_matches == expected.n_matches, f"{setting}: {engine.name} {answer}, not {expected}"
    assert math.isclose(answer.expected, expected.expected, rel_tol=1e-9), f"{setting}: {engine.name}"


def _n_events(setting: Setting, sizes: Sizes) -> int:
    """As many as give not too many matches, to one digit."""
    probe = min(PROBE_EVENTS, sizes.imprecise_events)
    per_event = production(setting, probe)().n_matches / probe
    wanted = sizes.imprecise_matches / per_event if per_event else sizes.imprecise_events
    size = 10 ** int(math.log10(wanted))
    return min(sizes.imprecise_events, int(wanted // size * size))


def _n_few(setting: Setting, sizes: Sizes) -> int:
    """What plain Python gets through in about a second; long intervals cost more, and by far more under NEXT."""
    wider = max(1.0, setting.half / USUAL_HALF)
    if setting.policy is Policy.NEXT:
        return max(FEWEST, int(sizes.imprecise_few / wider**2))
    return max(FEWEST, int(sizes.imprecise_few / wider))


def _engines(setting: Setting, sizes: Sizes) -> list[Timed]:
    query, widest, n_few = setting.query, 2 * setting.half + 1, _n_few(setting, sizes)
    engines = [
        _timed("sorted", setting, n_few, lambda: SortedEngine(query, widest)),
        _timed("selectivity", setting, n_few, lambda: SelectivityEngine(query, widest, batch=BATCH)),
        _timed("any-state", setting, n_few, lambda: AnyStateEngine(query, widest)),
    ]
    for n_events in (n_few, n_few // 2, n_few // 4, FEWEST):
        if n_events >= FEWEST and _n_points(setting, n_events) <= MOST_POINTS:
            made = _timed("point-based", setting, n_events, lambda: PointEngine(query, widest, latest_next=True))
            return [*engines, made]
    return engines


def _timed(name: str, setting: Setting, n_events: int, make: Callable[[], PaperEngine]) -> Timed:
    events = divisible(n_events, setting.half, setting.divisors, exact=False)

    def answered() -> Answer:
        engine = make()
        found = run(engine, events)
        total = sum(float(one.confidence) for one in found.values())
        return Answer(len(found), total, engine.peak_runs, engine.waiting.peak_live)

    return Timed(name, n_events, answered)


def _n_points(setting: Setting, n_events: int) -> float:
    events = divisible(n_events, setting.half, setting.divisors, exact=False)
    return float(expected_matches(setting.query, events, count_points=True))


BENCHMARKS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "imprecise times: half sizes": by_half_sizes,
    "imprecise times: steps": by_steps,
    "imprecise times: windows": by_windows,
    "imprecise times: skew": by_skew,
    "imprecise times: growth": growth,
}
