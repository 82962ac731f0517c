"""Rows of a random case pushed piece by piece, and all that comes back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pyarrow as pa
from tests.kit.arrival import arrivals
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.programs import Case
from tests.kit.rulesets import PackedCase

from inkling.local_stream import Found, LocalStream
from inkling.logical.plan import ProgramPlan
from inkling.query import Program

Push = dict[str, pa.Table]


def pushes_of(rng: random.Random, case: Case | PackedCase, lateness: int) -> list[Push]:
    """What is pushed, one after the other: everything at once, event by event, or anything in between.

    Of packed streams, which come side by side, not every event comes alone.
    """
    given = arrow_streams(case.plan, case.rows)
    most = 13 if isinstance(case, PackedCase) else sum(map(len, given.values())) + 1
    n_pieces = rng.choice([1, 2, 3, 5, 8, most])
    pieces = arrivals(rng, case.plan, given, n_pieces, lateness=lateness)
    pushes: list[Push] = []
    for number in range(n_pieces):
        together = {name: parts[number] for name, parts in pieces.items() if len(parts[number]) or rng.random() < 0.3}
        pushes += [together] if rng.random() < 0.7 else [{name: part} for name, part in together.items()]
    return pushes


def pushed(
    rng: random.Random, program: Program, case: Case | PackedCase, pushes: Iterable[Push]
) -> dict[str, list[dict[str, object]]]:
    """The results of all pushes together; now and then the state goes through a snapshot."""
    tables = arrow_tables(case.plan, case.tables)
    stream = program.open(tables, unbounded=True)
    results: dict[str, list[dict[str, object]]] = {event.name: [] for event in case.plan.events}

    def keep(found: Found) -> None:
        assert not len(found.late), found.late
        assert found.n_results == sum(len(table) for table in found.tables.values())
        for name, table in found.tables.items():
            results[name] += table.to_pylist()

    for push in pushes:
        if rng.random() < 0.2:
            stream = LocalStream.restore(program, stream.snapshot(), tables)
        keep(stream.push(push))
    keep(stream.finish())
    return results


def as_arrived(plan: ProgramPlan, pushes: Sequence[Push]) -> dict[str, list[dict[str, object]]]:
    """All rows in the order in which they came, which gives rows without ids their numbers."""
    rows: dict[str, list[dict[str, object]]] = {stream.schema.name: [] for stream in plan.streams}
    for push in pushes:
        for name, part in push.items():
            rows[name] += part.to_pylist()
    return rows
