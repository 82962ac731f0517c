"""Shortcuts through worlds find what the evaluators find when every world is written out."""

import random

import numpy as np
import pyarrow as pa
import pytest

from inkling import parse
from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds import run
from inkling.evaluators.worlds.probabilities.batched_worlds import can_batch
from inkling.evaluators.worlds.probabilities.combine import Summed
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.io import normalize
from inkling.logical.evaluate import ExpressionContext

AT = "STREAM At(person STRING, room STRING, t INT) KEY person TIME t PROBABILITY p;"
MARKOV = "STREAM At(person STRING, room STRING, t INT, was STRING) KEY person TIME t PROBABILITY p GIVEN was;"
REGULAR = [
    "SEQ NEXT(At[room = 'a'], At[room = 'b']+, At[room = 'c']) PARTITION BY person PER END",
    "SEQ STRICT(At[room = 'a'], At[room = 'b']*, At[room = 'c']) PARTITION BY person PER END",
    "SEQ(At[room = 'a'], NOT At[room = 'b'], At[room = 'c']) PARTITION BY person PER END",
    "SEQ(At x[room = 'a'], At y) PARTITION BY person CONSUME RESTART RETURN y.room AS last PER END",
    "SEQ STRICT(At[room = 'a'], _, At) WITHIN 3 EVENTS PARTITION BY person PER END",
]
IMPRECISE = """
STREAM A(id INT, k INT, lo INT) ID id TIME BETWEEN lo AND hi;
STREAM B(id INT, k INT, t INT) ID id TIME t;
"""
BATCHED = [
    "SEQ(A a, B b, A c) WHERE a.k = b.k AND b.k = c.k WITHIN 9 TICKS",
    "SEQ NEXT(A a, B b) WHERE a.k = b.k PER INTERVAL",
    "SEQ(A a, NOT B[k = a.k], A c[k = a.k]) WITHIN 20 TICKS",
]


def people(rng: random.Random, *, markov: bool) -> dict[str, pa.Table]:
    rows = []
    for person in "xyz":
        for t in range(12):
            if rng.random() < 0.2:
                continue
            before = [None] if not markov or t == 0 else [None, "a", "b", "c"]
            for was in before:
                chances = np.round(np.array([rng.random() for _ in range(4)]), 3)
                for room, chance in zip("abc", chances / chances.sum(), strict=False):
                    rows.append({"person": person, "room": room, "t": t, "was": was, "p": float(chance)})
    kinds = {"person": pa.string(), "room": pa.string(), "t": pa.int64(), "was": pa.string(), "p": pa.float64()}
    table = pa.Table.from_pylist(rows, schema=pa.schema(kinds))
    return {"At": table if markov else table.drop_columns(["was"])}


def events(rng: random.Random) -> dict[str, pa.Table]:
    low = [rng.randrange(40) for _ in range(30)]
    high = [one + rng.randrange(6) for one in low]
    a = {"id": list(range(30)), "k": [rng.randrange(3) for _ in low], "lo": low, "hi": high}
    b = {"id": list(range(20)), "k": [rng.randrange(3) for _ in range(20)], "t": [rng.randrange(45) for _ in range(20)]}
    return {"A": pa.table(a), "B": pa.table(b)}


def data(text: str, rows: dict[str, pa.Table]) -> WorldData:
    program = parse(text)
    read = {stream.schema.name: normalize(rows[stream.schema.name], stream.schema) for stream in program.plan.streams}
    unit = time_unit(program.plan, {name: one.clock for name, one in read.items()})
    worlds = WorldProgram.of(program.physical, ExpressionContext({}, unit), unit, with_chains=True)
    return WorldData.of(worlds, {name: one.rows for name, one in read.items()}, {}, 0)


def told(found: Summed) -> list[tuple[object, ...]]:
    columns = [found.world, found.weight, found.start, found.end, found.detected_at]
    values = [tuple(row.values()) for row in found.values.to_pylist()]
    return sorted(zip(*(column.tolist() for column in columns), values, found.lineage.to_pylist(), strict=True))


def written_out(of: WorldData, n_worlds: int) -> Summed:
    """Every world as rows of its own."""
    placed = {stream.schema.name: stream.draw(np.uint64(3), 0, n_worlds, 1) for stream in of.streams}
    return of._sums(of.program.physical, of.streams, placed, None)["e"]


@pytest.mark.parametrize("markov", [False, True])
@pytest.mark.parametrize("pattern", REGULAR)
def test_automata_that_read_worlds_side_by_side(pattern: str, markov: bool) -> None:
    stream = MARKOV if markov else AT
    for seed in range(8):
        of = data(f"{stream} EVENT e AS PATTERN {pattern};", people(random.Random(seed), markov=markov))
        assert [one.event.name for one in of.program.regular] == ["e"]
        found = of.sampled(Sampling(seed=3), 0, 70, np.ones(of.parts.count, bool))["e"]
        assert told(found) == told(written_out(of, 70))


@pytest.mark.parametrize("pattern", BATCHED)
def test_stages_without_a_row_per_world(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "ROWS_AT_ONCE", 1000)  # several portions
    for seed in range(8):
        of = data(f"{IMPRECISE} EVENT e AS PATTERN {pattern};", events(random.Random(seed)))
        assert of.program.irregular is not None
        assert can_batch(of.program.irregular, of.program)
        found = of.sampled(Sampling(seed=3), 0, 70, np.ones(of.parts.count, bool))["e"]
        assert told(found) == told(written_out(of, 70))
