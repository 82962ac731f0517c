"""Recursive events on streams: rows that wait for a partner, as the goals of ETALIS (Anicic 2011, section 5.3).

Each step derives only what ends in it. The state also holds the rows of the network, from which open matches are
found, and results if numbers become too large for the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.network.evaluator import NetworkEvaluator
from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.engine import source_table
from inkling.evaluators.stage.least_model import LeastModel, ModelOutcome, Waiting
from inkling.evaluators.stage.member import RowsState, StageSetting, StepInput, StepOutput
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch_and_order, in_one_piece, key_codes, source_numbers
from inkling.evaluators.stage.rows.format import concatenated, rows_where
from inkling.evaluators.stage.rows.keys import Owners, with_owners
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.evaluators.stage.rows.row_tests import without_resets
from inkling.logical.recursion import EventGroup
from inkling.model.batch import FOREVER, Ints, MatchBatch, in_one_array

ROW = "row"
GOALS = pa.schema([pa.field(name, pa.int64()) for name in (ROW, "operand", "killed", "depth")])
"""Columns of goals: the number of a row, and the columns of `Waiting`."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GoalsState(RowsState):
    """Rows, goals, and the rows of goals; without goals, if all rows are evaluated in each step."""

    goals: pa.Table | None
    goal_rows: pa.Table


class GoalsEvaluator(NetworkEvaluator):
    """Evaluates one group of recursive events."""

    state_type = GoalsState  # type: ignore[assignment]

    def __init__(self, group: EventGroup, model: LeastModel, setting: StageSetting, others: Collection[str]) -> None:
        super().__init__([step for step in setting.stage.steps if step.event.name in group.names], setting, others)
        self._group, self._model = group, model
        self._is_read = np.zeros(len(setting.stage.inputs), bool)
        self._is_read[[number for operand in model.operands for number in operand.leaf.inputs]] = True
        self._input_of = {one.source: number for number, one in enumerate(setting.stage.inputs) if not one.atoms}

    @classmethod
    def of(cls, setting: StageSetting, answered: Collection[str]) -> Iterator[GoalsEvaluator]:
        """An evaluator for each group whose results are known as they end; the network answers the others."""
        for group, model in setting.engine.models():
            if model is None or model.bases:
                continue
            made = {one.source for one in setting.stage.inputs if one.is_derived} & {
                step.event.name for step in setting.stage.steps
            }
            read = {source for event in group.events for source in event.sources} & made
            own = cls(group, model, setting, answered)
            if read <= group.names | set(answered) and own.is_immediate:
                yield own

    @property
    def is_immediate(self) -> bool:
        return not self._reach and not any(self._lags.values())

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"recursion {min(self._group.names)}"

    def start(self) -> GoalsState:
        nothing = r.stage_schema(self.stage).empty_table()
        return GoalsState(nothing, 0, GOALS.empty_table(), nothing)

    def step(self, state: RowsState, given: StepInput, until: Moment) -> tuple[RowsState, StepOutput]:
        assert isinstance(state, GoalsState)
        since = {given.since.get(name, -FOREVER) for name in self._group.names}
        rows, _ = without_resets(self.stage, given.rows)
        derived = [self._engine.derived_rows(name, given.found[name]) for name in self._derived_sources]
        fresh = concatenated([rows, *derived])
        if state.goals is not None and len(since) == 1:
            wanted = self._is_read[source_numbers(fresh)] & (fresh[r.END].to_numpy() > min(since))
            if not wanted.any() and self._nothing:
                return self._with_goals(state, fresh, until.time, state.goals, state.goal_rows), StepOutput(
                    self._nothing
                )
            found = self._derived(state, rows_where(fresh, wanted), given.after)
            if found is not None:
                goals, goal_rows, matches = found
                if not self._nothing:
                    self._nothing = {name: one.where(np.zeros(len(one), bool)) for name, one in matches.items()}
                return self._with_goals(state, fresh, until.time, goals, goal_rows), StepOutput(matches)
        plain, output = super().step(RowsState(state.rows, state.n_trimmed), given, until)
        return GoalsState(plain.rows, plain.n_trimmed, None, state.goal_rows.slice(0, 0)), output

    def split(self, state: RowsState, owners: Owners) -> tuple[RowsState, RowsState]:
        assert isinstance(state, GoalsState)
        theirs = self._is_theirs(state.goal_rows, owners)
        left, right = super().split(state, owners)
        return _restricted(left, theirs), _restricted(right, ~theirs)

    def merge(self, left: RowsState, right: RowsState) -> RowsState:
        assert isinstance(left, GoalsState)
        assert isinstance(right, GoalsState)
        both = super().merge(left, right)
        if left.goals is None or right.goals is None:
            return GoalsState(both.rows, both.n_trimmed, None, left.goal_rows.slice(0, 0))
        moved = _moved(right.goals, np.arange(len(right.goal_rows)) + len(left.goal_rows))
        return GoalsState(
            both.rows,
            both.n_trimmed,
            pa.concat_tables([left.goals, moved]).combine_chunks(),
            in_one_piece(concatenated([left.goal_rows, right.goal_rows])),
        )

    def migrated(self, state: RowsState, before: NetworkEvaluator, kept: Collection[str]) -> RowsState:
        assert isinstance(state, GoalsState)
        migration = RowMigration.between(before.stage, self.stage, kept)
        return replace(state, rows=migration.rows(state.rows), goal_rows=migration.rows(state.goal_rows))

    def _with_goals(
        self, state: GoalsState, fresh: pa.Table, until: int, goals: pa.Table, goal_rows: pa.Table
    ) -> GoalsState:
        if until >= FOREVER:
            return self.start()
        kept = pa.concat_tables([state.rows, fresh]) if len(fresh) else state.rows
        plain = self._retained(RowsState(state.rows, state.n_trimmed), kept, until)
        return GoalsState(plain.rows, plain.n_trimmed, goals, goal_rows)

    def _derived(
        self, state: GoalsState, fresh: pa.Table, after: int
    ) -> tuple[pa.Table, pa.Table, dict[str, MatchBatch]] | None:
        """The goals, their rows and the results after new rows; None if the kernel cannot derive them."""
        assert state.goals is not None
        held = in_one_piece(concatenated([state.goal_rows, fresh]))
        n_key_columns, n_goals = len(self.stage.key_types), len(state.goal_rows)
        codes, _ = key_codes(held, n_key_columns)
        moved = np.zeros(int(codes.max(initial=-1)) + 1, bool)
        moved[codes[n_goals:]] = True
        here, goals, others = moved[codes], state.goals, GOALS.empty_table()
        if not here.all():
            with_goal = here[goals[ROW].to_numpy()]
            goals, others = goals.filter(pa.array(with_goal)), goals.filter(pa.array(~with_goal))
        rows, chosen = held, np.arange(len(held))
        if not here.all():
            chosen = np.flatnonzero(here)
            rows = in_one_piece(held.take(pa.array(chosen)))
            codes, _ = key_codes(rows, n_key_columns)
        batch, order = event_batch_and_order(self.stage, rows, codes)
        held_at = chosen[order]
        batch_at = np.full(len(held), -1)
        batch_at[held_at] = np.arange(len(held_at))
        goal, operand, killed, depth = (in_one_array(goals[name]).to_numpy() for name in GOALS.names)
        waiting = Waiting(batch_at[goal], operand, killed, depth)
        found = self._model.derived(batch, int(codes.max(initial=-1)) + 1, after, waiting)
        if found is None:
            return None
        new = {event.name: found.new_rows(event, FOREVER) for event in self._group.events}
        matches = {event.name: found.matches_at(event, new[event.name]) for event in self._group.events}
        goals, goal_rows = self._kept(held, held_at, others, found, len(batch), new, matches)
        if self._owners:
            matches = {name: with_owners(one, rows, codes, n_key_columns) for name, one in matches.items()}
        return goals, goal_rows, matches

    def _kept(
        self,
        held: pa.Table,
        held_at: Ints,
        others: pa.Table,
        found: ModelOutcome,
        n_given: int,
        found_at: Mapping[str, Ints],
        matches: Mapping[str, MatchBatch],
    ) -> tuple[pa.Table, pa.Table]:
        """Goals after a step, and their rows: some were held before, some are among the new results."""
        waiting, tables = found.waiting, [held]
        at = np.full(max(n_given, int(waiting.row.max(initial=-1)) + 1), -1)
        at[:n_given] = held_at
        n_rows = len(held)
        new = np.unique(waiting.row[waiting.row >= n_given])
        for number, event in enumerate(self._group.events):
            mine = new[found.event[new] == number]
            if len(mine):
                all_wait = np.array_equal(mine, found_at[event.name])
                tables.append(
                    self._rows_of(event.name, matches[event.name] if all_wait else found.matches_at(event, mine))
                )
                at[mine] = np.arange(len(mine)) + n_rows
                n_rows += len(mine)
        columns = [at[waiting.row], waiting.operand, waiting.killed, waiting.depth]
        goals = pa.table([pa.array(column) for column in columns], schema=GOALS)
        goals = pa.concat_tables([others, goals]) if len(others) else goals
        needed = np.zeros(n_rows, bool)
        needed[goals[ROW].to_numpy()] = True
        rows = concatenated(tables)
        if needed.all():
            return goals.combine_chunks(), in_one_piece(rows)
        return _moved(goals, np.cumsum(needed) - 1), in_one_piece(rows_where(rows, needed))

    def _rows_of(self, name: str, matches: MatchBatch) -> pa.Table:
        rows = self._engine.input_rows(self._input_of[name], source_table(matches))
        assert len(rows) == len(matches), "every goal is a row"
        return rows


def _restricted(state: RowsState, wanted: Mask) -> GoalsState:
    """The state with some of the rows of its goals."""
    assert isinstance(state, GoalsState)
    if state.goals is None:
        return state
    goals = state.goals.filter(pa.array(wanted[state.goals[ROW].to_numpy()]))
    return replace(
        state, goals=_moved(goals, np.cumsum(wanted) - 1), goal_rows=state.goal_rows.filter(pa.array(wanted))
    )


def _moved(goals: pa.Table, now_at: Ints) -> pa.Table:
    """Goals with new numbers of rows."""
    if not len(goals):
        return goals
    return goals.set_column(0, GOALS.field(ROW), pa.array(now_at[goals[ROW].to_numpy()])).combine_chunks()
