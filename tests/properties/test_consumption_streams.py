"""Random programs with consumption policies, pushed piece by piece: how the rows are cut makes no difference."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from tests.kit.arrival import arrivals
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.programs import Case, Options, parsed, seeded_cases

from inkling.evaluators.stage import member
from inkling.local_stream import LocalStream

pytestmark = pytest.mark.long

SEEDS = range(2)
PROGRAMS_PER_SEED = 60
CUTS_PER_PROGRAM = 2
POLICIES = ("CONSUME RECENT", "CONSUME CHRONOLOGICAL")
WITHOUT = frozenset({"ties with order", "row numbers as ids"})


def _found(rng: random.Random, case: Case) -> dict[str, list[dict[str, object]]]:
    """The results of all pushes together; now and then the state goes through a snapshot."""
    program, tables = parsed(case.text), arrow_tables(case.plan, case.tables)
    given = arrow_streams(case.plan, case.rows)
    n_pieces = rng.choice([1, 2, 4, 8, sum(map(len, given.values())) + 1])
    pieces = arrivals(rng, case.plan, given, n_pieces, lateness=0)
    results: dict[str, list[dict[str, object]]] = {event.name: [] for event in case.plan.events}

    def keep(tables: dict[str, pa.Table]) -> None:
        for name, table in tables.items():
            results[name] += table.to_pylist()

    stream = program.open(tables, unbounded=True)
    for number in range(n_pieces):
        if rng.random() < 0.25:
            stream = LocalStream.restore(program, stream.snapshot(), tables)
        keep(dict(stream.push({name: parts[number] for name, parts in pieces.items()}).tables))
    keep(dict(stream.finish().tables))
    return results


@pytest.mark.parametrize("seed", SEEDS)
def test_cuts_eq_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "SPARE_ROWS", 0)  # so that such small streams are trimmed, too
    rng = random.Random(seed)
    options = Options(needing=frozenset({POLICIES[seed % 2]}), without=WITHOUT)
    for case in seeded_cases(100 + seed, PROGRAMS_PER_SEED, options):
        expected = case.expected()
        for _ in range(CUTS_PER_PROGRAM):
            found = differences(case.plan, expected, _found(rng, case))
            assert not found, "\n".join([str(case), *found])
