"""The laws that every evaluator of the protocol keeps, whatever it answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.protocol import Moment, Rows, StreamEvaluator
from inkling.evaluators.stage.owners import Owners, is_among, owners_by
from inkling.evaluators.state import from_bytes, to_bytes
from inkling.logical.plan import StreamPlan
from inkling.model.batch import FOREVER
from inkling.model.roles import Roles
from inkling.physical.streams import time_of
from inkling.runtime.uncertain.checks import marks_of

Line = tuple[object, ...]


def check_evaluator(evaluator: StreamEvaluator[Any], rows: Rows, rng: random.Random, n_cuts: int = 4) -> int:
    """Raises `AssertionError` where a law is broken; gives the number of results.

    An answer is one step to the end; rows may be cut anywhere; a state that was written and read again is the same;
    steps without rows, and streams that are not named, change nothing. Where keys divide the work, states can be split
    and merged: see `_check_division`.
    """
    whole, roles = lines([evaluator.answer(rows).tables]), _roles(evaluator, rows)
    assert lines([evaluator.step(evaluator.start(), rows, Moment(FOREVER, roles))[1]]) == whole, (
        "an answer is one step to the end"
    )
    assert not any(map(len, evaluator.answer({}).tables.values())), "no rows, no results"
    names = {stream.schema.name for stream in evaluator.streams}
    assert names <= rows.keys(), "it reads what it names"
    times = np.concatenate([_times(stream, rows) for stream in evaluator.streams])
    for restores in (False, True):
        state, found, before = evaluator.start(), [], None
        for until in sorted(rng.choices(range(int(times.min()) - 1, int(times.max()) + 2), k=n_cuts)):
            state, tables = evaluator.step(state, _due(evaluator, rows, before, until), Moment(until, roles))
            found.append(tables)
            state, tables = evaluator.step(state, {}, Moment(until, roles))
            assert not any(map(len, tables.values())), "nothing new, no results"
            if restores:
                assert evaluator.n_kept(state) >= 0
                state = from_bytes(to_bytes(state), evaluator.state_type)
            before = until
        _, tables = evaluator.step(state, _due(evaluator, rows, before, None), Moment(FOREVER, roles))
        assert lines([*found, tables]) == whole, "rows may be cut anywhere"
    if evaluator.is_divisible:
        for _ in range(n_cuts):
            _check_division(evaluator, rows, rng, whole, sorted(set(times.tolist())))
    return len(whole)


def _check_division(
    evaluator: StreamEvaluator[Any], rows: Rows, rng: random.Random, whole: list[Line], times: list[int]
) -> None:
    """Each half of a state is the state of its own rows, whatever happens to the other half, before or after."""
    assert evaluator.key
    read = {stream.schema.name: rows[stream.schema.name] for stream in evaluator.streams}
    every = sorted({int(one) for table in read.values() for one in owners_by(table, evaluator.key)})
    some = np.array(sorted(rng.sample(every, rng.randint(1, len(every)))), np.uint64)
    mine, others = (_where(evaluator, read, some, is_mine=is_mine) for is_mine in (True, False))
    begin, end = sorted(rng.choices(times, k=2))
    state, early = _stepped(evaluator, evaluator.start(), read, None, begin)
    _, late = _stepped(evaluator, evaluator.merge(*evaluator.split(state, some)), read, begin, None)
    assert lines([early, late]) == whole, "split then merge changes nothing"

    left, right = evaluator.split(state, some)
    left, of_mine = _stepped(evaluator, left, mine, begin, end)
    right, of_others = _stepped(evaluator, right, others, begin, end)
    _, late = _stepped(evaluator, evaluator.merge(right, left), read, end, None)
    assert lines([early, of_mine, of_others, late]) == whole, "halves step with their own rows as the whole does"

    kept = {
        name: table.filter(pa.array([rng.random() < 0.5 for _ in range(len(table))])) for name, table in mine.items()
    }
    other, _ = _stepped(evaluator, evaluator.start(), kept, None, begin)
    before, _ = _stepped(evaluator, evaluator.start(), others, None, begin)
    expected = [_stepped(evaluator, *one, begin, None)[1] for one in ((other, kept), (before, others))]
    both = {name: pa.concat_tables([kept[name], others[name]]) for name in read}
    replaced = evaluator.merge(evaluator.split(state, some)[1], other)
    replaced = from_bytes(to_bytes(replaced), evaluator.state_type)
    found = _stepped(evaluator, replaced, both, begin, None)[1]
    assert lines([found]) == lines(expected), "a half can take the place of another one of the same keys"


def _where(evaluator: StreamEvaluator[Any], rows: Rows, owners: Owners, *, is_mine: bool) -> dict[str, pa.Table]:
    found = {name: is_among(owners_by(table, evaluator.key), owners) for name, table in rows.items()}
    return {name: table.filter(pa.array(found[name] == is_mine)) for name, table in rows.items()}


def _stepped(
    evaluator: StreamEvaluator[Any], state: Any, rows: Rows, before: int | None, until: int | None
) -> tuple[Any, Mapping[str, pa.Table]]:
    """One step from a moment, or from the start, to another one, or to the end."""
    moment = Moment(FOREVER if until is None else until, _roles(evaluator, rows))
    return evaluator.step(state, _due(evaluator, rows, before, until), moment)


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


def _roles(evaluator: StreamEvaluator[Any], rows: Rows) -> dict[str, Roles]:
    """What numbered events are called in streams as a whole."""
    schemas = {stream.schema.name: stream.schema for stream in evaluator.streams}
    return dict(marks_of(schemas, rows, 1).roles)


def _times(stream: StreamPlan, rows: Rows) -> NDArray[np.int64]:
    """When the rows of a stream are due."""
    return np.asarray(rows[stream.schema.name][time_of(stream.schema)].to_numpy(), np.int64)


def _due(evaluator: StreamEvaluator[Any], rows: Rows, before: int | None, until: int | None) -> dict[str, pa.Table]:
    due = {}
    for stream in evaluator.streams:
        table, times = rows[stream.schema.name], _times(stream, rows)
        after = np.ones(len(table), bool) if before is None else times > before
        some = table.filter(pa.array(after if until is None else after & (times <= until)))
        if len(some):
            due[stream.schema.name] = some
    return due
