"""Matches of an event with values of every type, for tests of the result columns."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

import inkling
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.model.types import Type
from inkling.results import BOUNDS, EXACT, SAMPLED, UNDECIDED, Matches

DECLARED = """
    STREAM S(id STRING, name STRING, n BIGINT, x DOUBLE, ok BOOLEAN, since TIMESTAMP, t BIGINT) ID id KEY name TIME t;
"""

EVERY_TYPE = """
    EVENT e(a.name AS name, a.since AS since, a.ok AS ok) AS
      PATTERN SEQ(S a, S b) WITHIN 5 TICKS
      RETURN b.n AS n, b.x AS x, END(b) AS last, END(b) - START(a) AS wait;
"""

FORECAST = """
    EVENT e AS PATTERN SEQ STRICT(S[n = 1], S[n = 2]) PARTITION BY name PER END;
    FORECAST f OF e WITHIN 3 EVENTS INCLUDING FINAL RETURN DISTRIBUTION;
"""


def some_event(clauses: str = "") -> EventPlan:
    """An event whose head and RETURN have values of all types that patterns can have."""
    return inkling.parse(DECLARED + EVERY_TYPE.strip().removesuffix(";") + f" {clauses};").plan.events[0]


def some_forecast() -> EventPlan:
    """A forecast, which also has a list of numbers."""
    event = inkling.parse(DECLARED.replace("TIME t", "TIME t ORDER BY t") + FORECAST).plan.event("f")
    assert event is not None
    assert Type.WEIGHTS in {output.type for output in (*event.head, *event.returns)}
    return event


def some_matches(event: EventPlan, ids: pa.DataType, seed: int, n: int) -> MatchBatch:
    """Random matches with few different values, so that there are ties; every kind of value may be null."""
    rng = random.Random(f"matches {seed}")
    lineage = [[rng.choice([None, 1, 2]) for _ in range(rng.randrange(3))] for _ in range(n)]
    texts = [[None if one is None else f"é{one}" for one in row] for row in lineage]
    start = np.array([rng.randrange(4) - 1 for _ in range(n)], np.int64) * 1_500_000
    end = start + np.array([rng.randrange(3) for _ in range(n)], np.int64)
    nowhere = np.zeros(n, np.int64)
    return MatchBatch(
        event.name,
        np.zeros(n, np.int64),
        start,
        nowhere,
        end,
        nowhere,
        end + 1,
        {one.name: _values(rng, one.type, n) for one in (*event.head, *event.returns)},
        pa.array(texts if pa.types.is_string(ids) else lineage, pa.list_(ids)),
    )


def _values(rng: random.Random, kind: Type, n: int) -> pa.Array:
    choices: dict[Type, list[object]] = {
        Type.STRING: [None, "", "a", "ü"],
        Type.BOOLEAN: [None, True, False],
        Type.DOUBLE: [None, 0.25, -1.5],
        Type.WEIGHTS: [None, [], [0.25, 0.75]],
    }
    return pa.array([rng.choice(choices.get(kind, [None, -1, 1_000_001])) for _ in range(n)], ARROW_TYPES[kind])


def estimated(batch: MatchBatch, seed: int) -> Matches:
    """The same matches with some probabilities, errors and methods."""
    rng = np.random.default_rng(seed)
    n = len(batch)
    probability, error = rng.choice([0.0, 0.25, 0.5, 1.0], n), rng.choice([0.0, 1e-9, 0.125], n)
    method = rng.choice(np.array([EXACT, SAMPLED, UNDECIDED, BOUNDS], object), n)
    return Matches.of(batch, probability, error, method)
