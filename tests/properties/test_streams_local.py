"""Random programs pushed piece by piece: what the definition gives, however the rows are cut and disordered."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pytest

import inkling
from inkling.local_stream import Found, LocalStream
from inkling.query import Program
from inkling.testing.arrival import arrivals, with_lateness
from inkling.testing.arrow import arrow_streams, arrow_tables
from inkling.testing.comparison import differences
from inkling.testing.programs import Case, Options, seeded_cases

SEEDS = range(8)
PROGRAMS_PER_SEED = 160
ARRIVALS_PER_PROGRAM = 4
LATENESS = (0, 2, 5)
ANY = Options(without=frozenset({"ties with order"}))


def _pushes(rng: random.Random, program: Program, given: Mapping[str, pa.Table], lateness: int) -> list[dict[str, pa.Table]]:
    """What is pushed, one after the other: everything at once, event by event, or anything in between."""
    n_rows = sum(map(len, given.values()))
    n_pieces = rng.choice([1, 2, 3, 5, 8, n_rows + 1])
    pieces = arrivals(rng, program.plan, given, n_pieces, lateness=lateness)
    pushes: list[dict[str, pa.Table]] = []
    for number in range(n_pieces):
        together = {name: parts[number] for name, parts in pieces.items() if len(parts[number]) or rng.random() < 0.3}
        # streams that come one after the other wait for each other
        pushes += [together] if rng.random() < 0.7 else [{name: part} for name, part in together.items()]
    return pushes


def _run(rng: random.Random, program: Program, case: Case, lateness: int) -> dict[str, list[dict[str, object]]]:
    """The results of all pushes together; now and then the state goes through a snapshot."""
    tables = arrow_tables(case.plan, case.tables)
    stream = program.open(tables, unbounded=True)
    results: dict[str, list[dict[str, object]]] = {event.name: [] for event in case.plan.events}

    def keep(found: Found) -> None:
        assert not len(found.late), found.late
        for name, table in found.tables.items():
            results[name] += table.to_pylist()

    for push in _pushes(rng, program, arrow_streams(case.plan, case.rows), lateness):
        if rng.random() < 0.2:
            stream = LocalStream.restore(program, stream.snapshot(), tables)
        keep(stream.push(push))
    keep(stream.finish())
    return results


@pytest.mark.parametrize("seed", SEEDS)
def test_pushes_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_results = 0
    for case in seeded_cases(seed + 1000, PROGRAMS_PER_SEED, ANY):
        lateness = rng.choice(LATENESS)
        program = inkling.parse(with_lateness(case.text, lateness))
        expected = case.expected()
        n_results += sum(map(len, expected.values()))
        for _ in range(ARRIVALS_PER_PROGRAM):
            state = rng.getstate()
            found = differences(case.plan, expected, _run(rng, program, case, lateness))
            assert not found, "\n".join([f"{program.text}\n{lateness=} {state[1][-1]=}", str(case), *found])
    assert n_results > PROGRAMS_PER_SEED


def test_the_number_of_cases_is_what_it_says() -> None:
    assert len(SEEDS) * PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM >= 5000
