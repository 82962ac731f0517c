"""A safe query over many keys: intervals of all starts, with and without those that hardly count, beside NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from inkling import parse
from inkling.analysis.query.normal_form import query_of
from inkling.analysis.query.plans import SeqPlan, plan_of
from inkling.evaluators.query.event import predicates_of
from inkling.evaluators.query.probable_events import probable_events_of
from inkling.evaluators.query.safe.plan import Safe
from inkling.io.normalize import START
from inkling.logical.evaluate import ExpressionContext

NAME = "safe plans"
N_KEYS = 100
SPARE = 1e-9
LEAST, LEAST_TRUNCATED = 0.5e6, 0.5e6
MEAN_CHANCE = 0.15

PROGRAM = """
STREAM R(t BIGINT, k BIGINT) KEY k TIME t PROBABILITY p;
STREAM S(t BIGINT, k BIGINT) KEY k TIME t PROBABILITY p;
STREAM T(t BIGINT, k BIGINT) KEY k TIME t PROBABILITY p;
EVENT q AS PATTERN SEQ NEXT(R r, S s[k = r.k], T) PER END;
"""

Chances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Data:
    """Chances by time and key."""

    first: Chances
    second: Chances
    last: Chances

    @classmethod
    def of(cls, n_times: int, seed: int, certain: float = 0.0) -> Data:
        rng = np.random.default_rng(seed)
        last = rng.uniform(0, 2 * MEAN_CHANCE, (n_times, 1))
        last[rng.random(n_times) < certain] = 1.0
        first, second = (rng.uniform(0, 2 * MEAN_CHANCE, (n_times, N_KEYS)) for _ in range(2))
        return cls(first, second, last)

    @property
    def tables(self) -> dict[str, pa.Table]:
        return {"R": _table(self.first), "S": _table(self.second), "T": _table(self.last)}

    @property
    def n_tuples(self) -> int:
        return self.first.size + self.second.size + self.last.size


def _table(chances: Chances) -> pa.Table:
    n_times, n_keys = chances.shape
    times, keys = np.repeat(np.arange(1, n_times + 1), n_keys), np.tile(np.arange(n_keys), n_times)
    return pa.table({"t": times, "k": keys, "p": chances.ravel(), START: times})


def run(lengths: tuple[int, int, int], repeats: int, seed: int) -> Iterator[Row]:
    """For three numbers of times, such as 600, 2,000 and 10,000."""
    short, middle, long = lengths
    yield _measured("safe: all starts", Data.of(short, seed), 0.0, repeats, beside_numpy=True)
    yield _measured("safe: all starts", Data.of(middle, seed), 0.0, repeats, LEAST)
    yield _measured(f"safe: starts that count for {SPARE:g}", Data.of(middle, seed), SPARE, repeats, LEAST_TRUNCATED)
    yield _measured(f"safe: starts that count for {SPARE:g}", Data.of(long, seed), SPARE, repeats, LEAST_TRUNCATED)
    certain = Data.of(long, seed, certain=0.02)
    yield _measured("safe: all starts, some events certain", certain, 0.0, repeats, LEAST_TRUNCATED)


def _measured(
    name: str, data: Data, spare: float, repeats: int, least: float | None = None, *, beside_numpy: bool = False
) -> Row:
    program = parse(PROGRAM).plan
    query = query_of(program.events[0], program).conclusion
    assert query is not None
    plan = plan_of(query)
    assert isinstance(plan, SeqPlan)
    schemas = {stream.schema.name: stream.schema for stream in program.streams}
    safe, tables = Safe(query, plan, tolerance=spare), data.tables

    def answered() -> float:
        events = probable_events_of(query, schemas, tables)
        predicates = predicates_of(query, events, tables, ExpressionContext({}, lambda span: 0))
        return float(safe.advance(safe.start(), events, predicates)[1].chance.sum())

    answered()
    if beside_numpy:
        ours, plain = best_of(repeats, answered, lambda: _in_numpy(data))
        assert abs(ours.answer - plain.answer) < 1e-9
        others = (Baseline("the same recurrence in NumPy", plain.seconds, plain.cpu_seconds),)
    else:
        (ours,) = best_of(repeats, answered)
        others = ()
    goals = () if least is None else (Goal("tuples/s", data.n_tuples / ours.seconds, least=least),)
    said = f"{quantity(len(data.last))} times, {N_KEYS} keys, {quantity(data.n_tuples)} tuples"
    return Row(name, said, ours.seconds, ours.cpu_seconds, data.n_tuples, "an answer per time", others, goals)


def _in_numpy(data: Data) -> float:
    """All keys and starts at once, time by time."""
    n_times = len(data.last)
    alive = np.zeros((2, N_KEYS, n_times))
    full = np.stack([np.ones(N_KEYS), np.zeros(N_KEYS)])
    since = np.zeros(n_times)
    weights = np.zeros(n_times + 1)
    weights[0] = 1.0
    total = 0.0
    for t in range(n_times):
        first, second, last = data.first[t], data.second[t], data.last[t, 0]
        total += last * (weights[0] * since[0] + weights[1 : t + 1] @ since[:t])
        weights[: t + 1] *= 1 - last
        weights[t + 1] = last
        alive[:, :, t] = full
        waiting = alive[1, :, : t + 1] * (1 - second)[:, None]
        alive[1, :, : t + 1] = waiting + alive[0, :, : t + 1] * first[:, None]
        alive[0, :, : t + 1] *= (1 - first)[:, None]
        full = _stepped(full, first, second)
        since[: t + 1] = 1 - alive[:, :, : t + 1].sum(axis=0).prod(axis=0)
    return float(total)


def _stepped(full: Chances, first: Chances, second: Chances) -> Chances:
    """Waiting for the second part or not: a first part always leads to waiting, a second one ends it."""
    waiting = full.sum(axis=0) * first + full[1] * (1 - first) * (1 - second)
    return np.stack([full.sum(axis=0) - waiting, waiting])
