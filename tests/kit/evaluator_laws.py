"""The laws that every evaluator of the protocol keeps, whatever it answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.evaluators.protocol import END, Moment, Rows, StreamEvaluator
from inkling.evaluators.state import from_bytes, to_bytes
from inkling.io.normalize import END as ENDS
from inkling.io.normalize import START

Line = tuple[object, ...]


def check_evaluator(evaluator: StreamEvaluator[Any], rows: Rows, rng: random.Random, n_cuts: int = 4) -> int:
    """Raises `AssertionError` where a law is broken; gives the number of results.

    An answer is one step to the end; rows may be cut anywhere; a state that was written and read again is the same;
    steps without rows, and streams that are not named, change nothing.
    """
    whole = lines([evaluator.answer(rows).tables])
    assert lines([evaluator.step(evaluator.start(), rows, END)[1]]) == whole, "an answer is one step to the end"
    assert not any(map(len, evaluator.answer({}).tables.values())), "no rows, no results"
    assert evaluator.edge in (START, ENDS)
    names = {stream.schema.name for stream in evaluator.streams}
    assert names <= rows.keys(), "it reads what it names"
    times = np.concatenate([rows[name][evaluator.edge].to_numpy() for name in names])
    for restores in (False, True):
        state, found, before = evaluator.start(), [], None
        for until in sorted(rng.choices(range(int(times.min()) - 1, int(times.max()) + 2), k=n_cuts)):
            state, tables = evaluator.step(state, _due(evaluator, rows, before, until), Moment(until))
            found.append(tables)
            state, tables = evaluator.step(state, {}, Moment(until))
            assert not any(map(len, tables.values())), "nothing new, no results"
            if restores:
                assert evaluator.n_kept(state) >= 0
                state = from_bytes(to_bytes(state), evaluator.state_type)
            before = until
        _, tables = evaluator.step(state, _due(evaluator, rows, before, None), END)
        assert lines([*found, tables]) == whole, "rows may be cut anywhere"
    return len(whole)


def lines(steps: list[Mapping[str, pa.Table]]) -> list[Line]:
    """Results of some steps, in an order that does not depend on cuts; sums of probabilities may round."""
    return sorted(
        (
            tuple(round(value, 9) if isinstance(value, float) else str(value) for value in row.values())
            for tables in steps
            for table in tables.values()
            for row in table.drop_columns(["lineage"]).to_pylist()
        ),
        key=str,
    )


def _due(evaluator: StreamEvaluator[Any], rows: Rows, before: int | None, until: int | None) -> dict[str, pa.Table]:
    due = {}
    for stream in evaluator.streams:
        table = rows[stream.schema.name]
        times = table[evaluator.edge].to_numpy()
        after = np.ones(len(table), bool) if before is None else times > before
        some = table.filter(pa.array(after if until is None else after & (times <= until)))
        if len(some):
            due[stream.schema.name] = some
    return due
