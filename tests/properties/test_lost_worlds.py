"""Random programs over streams of which more is known than numbers: marks, Erlang gaps, rates, tables and timeouts.

Counting out all worlds gives exactly what the definition gives, and sampled ones are distributed like it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare, kstest
from tests.kit.context import declared_tables
from tests.kit.look_back import require_all
from tests.kit.oracle import bound
from tests.kit.probable_comparison import probable_differences
from tests.kit.programs import Options
from tests.kit.uncertain import UncertainCase, Uncertainties, uncertain_cases
from tests.kit.uncertain_rows import lost_tables, uncertain_rows
from tests.kit.universe import LOST_TABLES, MORE_ABOUT_LOSSES, Declared, Kind, Uncertain
from tests.kit.world_data import counted_out, world_data

from inkling.evaluators.worlds.streams.assignment import OWN_TIME
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.io import normalize, read_table
from inkling.meaning.lost_worlds import EMPTY_KEY
from inkling.meaning.worlds import worlds
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents, Rows, exact

pytestmark = pytest.mark.long

SEEDS = range(4)
PROGRAMS_PER_SEED = 25
DATASETS = 4
MOST_WORLDS = (20, 100)
ALL_WORLDS = 1_000_000
OPTIONS = Options((Kind.POINTS, Kind.ORDERED), bad_rows=False)
UNCERTAINTIES = Uncertainties(
    OPTIONS, (*MORE_ABOUT_LOSSES, *MORE_ABOUT_LOSSES, Uncertain.NOTHING, Uncertain.VALUE, Uncertain.TIME), MOST_WORLDS
)


def kinds_of(case: UncertainCase) -> list[str]:
    """What is known of the streams with lost events."""
    found = []
    for stream in case.plan.streams:
        uncertainty = stream.schema.uncertainty
        if isinstance(uncertainty, LostEvents):
            told = {
                "ERLANG": uncertainty.shape > 1,
                "INTENSITY": uncertainty.intensity,
                "KNOWN": uncertainty.known,
                "TIMEOUT": uncertainty.timeout,
            }
            found.append(next((name for name, is_told in told.items() if is_told), "marks"))
    return found


@pytest.fixture(scope="module")
def had() -> Counter[str]:
    """What the cases of this module had in them."""
    return Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_counting_worlds_eq_definition(seed: int, had: Counter[str]) -> None:
    had["seeds"] += 1
    for case in uncertain_cases(seed, PROGRAMS_PER_SEED, DATASETS, UNCERTAINTIES):
        expected = case.probable()
        found = counted_out(world_data(case, ALL_WORLDS))
        uncertain = replace(case.plan, events=tuple(event for event in case.plan.events if event.name in found))
        wrong = probable_differences(uncertain, case.rows, expected, found)
        assert not wrong, "\n".join([str(case), *wrong])
        had["uncertain"] += any(one.probability < 1 for name in found for one in expected[name])
        had.update(kinds_of(case))


def test_the_cases_are_of_all_kinds(had: Counter[str]) -> None:
    require_all(had["seeds"], len(SEEDS))
    assert had["uncertain"] >= 40, had
    assert all(had[kind] >= 10 for kind in ("ERLANG", "INTENSITY", "KNOWN", "TIMEOUT", "marks")), had


N_WORLDS = 2000
N_STREAMS = 40
SCALE = 2**16
Order = tuple[tuple[object, object], ...]


def order_of(rows: Rows) -> Order:
    """The events of a world, one after the other; recorded ones that are simultaneous by key."""
    return tuple((row["k"], row["n"]) for row in sorted(rows, key=lambda row: (exact(row["t"]), row["k"])))


def drawn_orders(schema: StreamSchema, rows: Rows, tables: Mapping[str, Rows], seed: int) -> Counter[Order]:
    given = normalize(read_table(list(rows), what="A"), schema).rows
    known = {name: pa.Table.from_pylist([dict(row) for row in some]) for name, some in tables.items()}
    stream = LossyStream.of(schema, given, tables=known)
    placed = stream.draw(np.uint64(seed), 0, N_WORLDS, SCALE)
    assert placed.times is not None
    own = stream.rows["@start"].to_numpy()[placed.rows] * SCALE
    times = np.where(placed.times == OWN_TIME, own, placed.times).reshape(-1, N_WORLDS)
    names = list(zip(stream.rows["k"].to_pylist(), stream.rows["n"].to_pylist(), strict=True))
    order = np.lexsort((np.tile(np.array([key for key, _ in names])[:, None], N_WORLDS), times), axis=0)
    return Counter(tuple(names[row] for row in column) for column in order.T.tolist())


@pytest.mark.parametrize("kind", MORE_ABOUT_LOSSES, ids=lambda kind: kind.name)
def test_sampled_orders_are_distributed_like_the_definition(kind: Uncertain) -> None:
    declared = Declared("A", Kind.POINTS, True, "seq", uncertain=kind)
    plan = bound(f"{declared} {LOST_TABLES} EVENT e AS PATTERN A a;")
    (schema,), tables = (stream.schema for stream in plan.streams), declared_tables(plan, lost_tables())
    rng, chances = random.Random(kind.name), []
    while len(chances) < N_STREAMS:
        rows = uncertain_rows(rng, [declared])["A"]
        expected: Counter[Order] = Counter()
        for prob, world in worlds(rows, schema, tables):
            expected[order_of([row for row in world if EMPTY_KEY not in row])] += prob  # type: ignore[assignment]
        if len(expected) < 2:
            continue
        seen = drawn_orders(schema, rows, tables, len(chances))
        assert seen.keys() <= expected.keys()
        orders = sorted(expected, key=str)
        wanted = [N_WORLDS * float(expected[order]) for order in orders]
        chances.append(chisquare([seen[order] for order in orders], wanted).pvalue)
    assert min(chances) > 1e-6
    assert kstest(chances, "uniform").pvalue > 1e-5
