"""The laws that every evaluator keeps, whatever it answers and whatever its rows are."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.protocol import Moment, Rows, StatefulEvaluator, StreamEvaluator
from inkling.evaluators.stage.evaluator import StageEvaluator
from inkling.evaluators.stage.member import StepInput, StepOutput
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_by, owners_in
from inkling.evaluators.state import from_bytes, to_bytes
from inkling.model.batch import FOREVER, MatchBatch
from inkling.model.roles import Roles
from inkling.model.time import Clock
from inkling.physical.streams import time_of
from inkling.results import result_table
from inkling.runtime.uncertain import watermarks_of

Line = tuple[object, ...]
Tables = Mapping[str, pa.Table]


class LawInput(ABC):
    """Rows of whole streams, and how some of them are given to an evaluator."""

    evaluator: StatefulEvaluator[Any, Any, Any]
    rows: Rows

    @abstractmethod
    def answered(self, rows: Rows) -> Tables:
        """What complete streams with these rows prove."""

    @abstractmethod
    def times(self, name: str, rows: pa.Table) -> NDArray[np.int64]:
        """When each row is due."""

    @abstractmethod
    def owners(self, name: str, rows: pa.Table) -> Owners:
        """The hash of the key of each row."""

    @abstractmethod
    def given(self, rows: Rows, before: int | None) -> Any:
        """What the evaluator is given of rows that became due after a moment."""

    @abstractmethod
    def tables(self, found: Any) -> Tables:
        """What a step gave, in the public columns."""

    def roles(self, rows: Rows) -> Mapping[str, Roles]:
        """What numbered events are called in streams as a whole."""
        return {}

    def step(self, state: Any, rows: Rows, before: int | None, until: int | None) -> tuple[Any, Tables]:
        """One step with those of some rows that are due, from a moment, or the start, to another one, or the end."""
        due = {}
        for name, table in rows.items():
            times = self.times(name, table)
            after = np.ones(len(table), bool) if before is None else times > before
            some = table.filter(pa.array(after if until is None else after & (times <= until)))
            if len(some):
                due[name] = some
        moment = Moment(FOREVER if until is None else until, self.roles(rows or self.rows))
        state, found = self.evaluator.step(state, self.given(due, before), moment)
        return state, self.tables(found)


@dataclass(frozen=True)
class StreamInput(LawInput):
    """Checked rows of streams, for evaluators that runners drive."""

    evaluator: StreamEvaluator[Any]
    all_rows: Rows

    @cached_property
    def rows(self) -> Rows:  # type: ignore[override]
        return {stream.schema.name: self.all_rows[stream.schema.name] for stream in self.evaluator.streams}

    def answered(self, rows: Rows) -> Tables:
        return self.evaluator.answer(rows).tables

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return owners_by(rows, self.evaluator.key)

    def given(self, rows: Rows, before: int | None) -> Rows:
        return rows

    def tables(self, found: Tables) -> Tables:
        return found

    def roles(self, rows: Rows) -> Mapping[str, Roles]:
        schemas = {stream.schema.name: stream.schema for stream in self.evaluator.streams}
        return dict(watermarks_of(schemas, rows, 1).roles)

    def times(self, name: str, rows: pa.Table) -> NDArray[np.int64]:
        (schema,) = (one.schema for one in self.evaluator.streams if one.schema.name == name)
        return np.asarray(rows[time_of(schema)].to_numpy(), np.int64)


@dataclass(frozen=True)
class StageInput(LawInput):
    """Stage rows, for a whole stage or for one of its evaluators, which reads nothing that others find."""

    stage: StageEvaluator
    evaluator: StatefulEvaluator[Any, Any, StepOutput]
    rows: Rows

    def answered(self, rows: Rows) -> Tables:
        table = rows.get(r.STAGE_ROWS, self.rows[r.STAGE_ROWS].slice(0, 0))
        found = self.stage.engine.run(table).matches
        return self._tables({event.name: found[event.name] for event in self.evaluator.events})

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return owners_in(name, rows, self.stage.stage)

    def given(self, rows: Rows, before: int | None) -> Any:
        if self.evaluator is self.stage:
            return rows
        table = rows.get(r.STAGE_ROWS, self.rows[r.STAGE_ROWS].slice(0, 0))
        return StepInput(table, -FOREVER if before is None else before)

    def tables(self, found: StepOutput) -> Tables:
        assert found.tied is None
        return self._tables(found.matches)

    def _tables(self, matches: Mapping[str, MatchBatch]) -> Tables:
        return {one.name: result_table(one, matches[one.name], Clock.TICKS) for one in self.evaluator.events}

    def times(self, name: str, rows: pa.Table) -> NDArray[np.int64]:
        return np.asarray(rows[r.END].to_numpy(), np.int64)


def check_evaluator(given: LawInput, rng: random.Random, n_cuts: int = 4) -> int:
    """Raises `AssertionError` where the evaluator of a given breaks a law; gives the number of results.

    An answer is one step to the end; rows may be cut anywhere; a state that was written and read again is the same, and
    so is a copy, and one that an evaluator takes over from itself; steps without rows, and streams that are not named,
    change nothing. Where keys divide the work, states can be split and merged: see `_check_division`.
    """
    evaluator, rows = given.evaluator, given.rows
    whole = lines([given.answered(rows)])
    assert lines([given.step(evaluator.start(), rows, None, None)[1]]) == whole, "an answer is one step to the end"
    assert not any(map(len, given.answered({}).values())), "no rows, no results"
    times = np.concatenate([given.times(name, table) for name, table in rows.items()])
    events = [event.name for event in evaluator.events]
    for restores in (False, True):
        state, found, before = evaluator.start(), [], None
        for until in sorted(rng.choices(range(int(times.min()) - 1, int(times.max()) + 2), k=n_cuts)):
            copy = evaluator.copied(state)
            state, tables = given.step(state, rows, before, until)
            found.append(tables)
            state, nothing = given.step(state, {}, until, until)
            assert not any(map(len, nothing.values())), "nothing new, no results"
            if restores:
                assert evaluator.n_kept(state) >= 0
                state = from_bytes(to_bytes(state), evaluator.state_type)
                state = evaluator.migrated(state, evaluator, events)
            else:
                copy, again = given.step(copy, rows, before, until)
                assert lines([again]) == lines([tables]), "a step leaves copies as they are"
                state = rng.choice((state, copy))
            before = until
        _, tables = given.step(state, rows, before, None)
        assert lines([*found, tables]) == whole, "rows may be cut anywhere"
    if evaluator.is_divisible:
        for _ in range(n_cuts):
            _check_division(given, rng, whole, sorted(set(times.tolist())))
    return len(whole)


def _check_division(given: LawInput, rng: random.Random, whole: list[Line], times: list[int]) -> None:
    """Each half of a state is the state of its own rows, whatever happens to the other half, before or after."""
    evaluator, rows = given.evaluator, given.rows
    every = sorted({int(one) for name, table in rows.items() for one in given.owners(name, table)})
    unknown = rng.randrange(2**64)
    some = np.array(sorted([*rng.sample(every, rng.randint(1, len(every))), unknown]), np.uint64)
    mine, others = (_where(given, some, is_mine=is_mine) for is_mine in (True, False))
    begin, end = sorted(rng.choices(times, k=2))
    state, early = given.step(evaluator.start(), rows, None, begin)
    nothing, everything = evaluator.split(state, np.array([unknown], np.uint64))
    assert evaluator.n_kept(nothing) <= evaluator.n_kept(evaluator.start()), "nothing is kept of keys that never came"
    _, late = given.step(evaluator.merge(nothing, everything), rows, begin, None)
    assert lines([early, late]) == whole, "keys that never came change nothing"
    _, late = given.step(evaluator.merge(*evaluator.split(state, some)), rows, begin, None)
    assert lines([early, late]) == whole, "split then merge changes nothing"

    left, right = evaluator.split(state, some)
    left, of_mine = given.step(left, mine, begin, end)
    right, of_others = given.step(right, others, begin, end)
    _, late = given.step(evaluator.merge(right, left), rows, end, None)
    assert lines([early, of_mine, of_others, late]) == whole, "halves step with their own rows as the whole does"

    kept = {
        name: table.filter(pa.array([rng.random() < 0.5 for _ in range(len(table))])) for name, table in mine.items()
    }
    other, _ = given.step(evaluator.start(), kept, None, begin)
    before, _ = given.step(evaluator.start(), others, None, begin)
    halves = (evaluator.copied(other), kept), (before, others)
    expected = [given.step(held, part, begin, None)[1] for held, part in halves]
    both = {name: pa.concat_tables([kept[name], others[name]]) for name in rows}
    replaced = evaluator.merge(evaluator.split(state, some)[1], other)
    replaced = from_bytes(to_bytes(replaced), evaluator.state_type)
    found = given.step(replaced, both, begin, None)[1]
    assert lines([found]) == lines(expected), "a half can take the place of another one of the same keys"


def _where(given: LawInput, owners: Owners, *, is_mine: bool) -> dict[str, pa.Table]:
    found = {name: is_among(given.owners(name, table), owners) for name, table in given.rows.items()}
    return {name: table.filter(pa.array(found[name] == is_mine)) for name, table in given.rows.items()}


def lines(steps: list[Tables]) -> list[Line]:
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
