"""One stage that never ends: rows wait until their time is complete, then the evaluators see them in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers
from inkling.evaluators.stage.chosen import Chosen, rows_where
from inkling.evaluators.stage.derive import derived_after
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.prepare import stage_rows
from inkling.evaluators.stage.stepper import StageState, StageStepper, Stepped
from inkling.io.duplicates import without_duplicates
from inkling.io.rejects import NO_REJECTS, REJECTS_SCHEMA, Reason, row_json
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.model.watermarks import Clocks, Marks
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.streams import lateness_of, streams_behind
from inkling.runtime.late import late_rows, late_stage_rows, named_rows, no_late_rows
from inkling.runtime.parts import Part, concatenated, keys_of


@dataclass(frozen=True, slots=True)
class LiveState:
    """Everything a stage remembers of the keys in one bucket."""

    clocks: Clocks
    pending: pa.Table  # stage rows whose time is not complete yet
    raw: Mapping[str, pa.Table]  # the same for streams whose columns look back, as rows of the stream
    last: Mapping[str, pa.Table]  # of those streams, the last row of each key
    stage: StageState

    @property
    def n_kept(self) -> int:
        """How many rows and open matches it holds."""
        return sum(map(len, (self.pending, *self.raw.values(), *self.last.values()))) + self.stage.n_kept

    def copied(self) -> LiveState:
        """The same state, which later steps of the original leave as it is."""
        return replace(self, stage=self.stage.copied())

    def where(self, chosen: Chosen, stage: Stage) -> LiveState:
        """What is remembered of some keys; only stages that are divisible have such states."""

        def some(held: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
            return {name: rows_where(rows, chosen.marks(keys_of(name, rows, stage))) for name, rows in held.items()}

        pending, raw, last = chosen.rows(self.pending), some(self.raw), some(self.last)
        return LiveState(self.clocks, pending, raw, last, self.stage.where(chosen))

    def merged(self, other: LiveState) -> LiveState:
        """Two states of different keys that have come equally far, together."""
        assert self.clocks.watermark == other.clocks.watermark, "states of different times do not go together"

        def both(one: Mapping[str, pa.Table], more: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
            shared = {name: concatenated([rows, more[name]]) for name, rows in one.items() if name in more}
            return {**more, **one, **shared}

        pending = concatenated([self.pending, other.pending])
        raw, last = both(self.raw, other.raw), both(self.last, other.last)
        return LiveState(self.clocks, pending, raw, last, self.stage.merged(other.stage))


@dataclass(frozen=True, slots=True)
class Advanced:
    """What came out of a step."""

    found: Stepped
    late: pa.Table
    rejects: pa.Table


@dataclass(frozen=True, slots=True)
class LiveStage:
    """A stage and how it moves; compiled once, used for any number of buckets."""

    plan: PhysicalPlan
    number: int
    tables: Mapping[str, pa.Table]
    around: Surroundings
    stepper: StageStepper
    derived: Mapping[str, StreamPlan] = field(default_factory=dict)
    distinct: bool = False  # whether no row can be a repeat of another

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        number: int,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        *,
        distinct: bool = False,
        owners: bool = False,
    ) -> LiveStage:
        stage = plan.stages[number]
        stepper = StageStepper(StageEngine(stage, tables, around), plan.program, around, owners=owners)
        sources = {given.source for given in stage.inputs}
        derived = {one.schema.name: one for one in plan.program.streams if one.derived and one.schema.name in sources}
        return cls(plan, number, tables, around, stepper, derived, distinct)

    def start(self) -> LiveState:
        stage = self.plan.stages[self.number]
        return LiveState(Clocks(self._lateness), r.stage_schema(stage).empty_table(), {}, {}, self.stepper.start())

    def advance(self, state: LiveState, parts: Iterable[Part], marks: Marks) -> tuple[LiveState, Advanced]:
        """Take in what arrived, move the clocks, and decide what is complete by now."""
        parts = list(parts)
        before, clocks = state.clocks, state.clocks.after(marks)
        rows, late = self._in_time([part.rows for part in parts if part.stream is None], before)
        pending, ready = _divided(concatenated([state.pending, rows]), clocks.watermark)
        raw, last, lates, rejects = dict(state.raw), dict(state.last), [late], [NO_REJECTS]
        if not self.distinct:
            ready, repeated = without_repeats(self.plan.stages[self.number], ready)
            rejects.append(repeated)
        for name, stream in self.derived.items():
            arrived = [part.rows for part in parts if part.stream == name]
            fresh, late = self._raw_in_time(stream, arrived, before)
            lates.append(late)
            if name in raw:
                fresh = [raw[name], *fresh]
            if fresh:
                raw[name], complete = _divided(pa.concat_tables(fresh), clocks.watermark)
                if len(complete):
                    complete, repeated = without_duplicates(stream.schema, complete)
                    rejects.append(repeated)
                    complete, last[name] = derived_after(stream, last.get(name), complete, self.around)
                    ready = pa.concat_tables([ready, *self._stage_rows(name, complete)])
        stage, found = self.stepper.step(state.stage, ready, clocks.watermark)
        after = LiveState(clocks, pending, raw, last, stage)
        rejects.append(tied_rejects(self.plan.stages[self.number], found.tied))
        return after, Advanced(found, concatenated(lates), concatenated(rejects))

    def reconfigured(self, state: LiveState) -> LiveState:
        """A state that continues with the lateness that the program says now."""
        return replace(state, clocks=replace(state.clocks, lateness=self._lateness))

    @property
    def _lateness(self) -> dict[str, int]:
        behind = streams_behind(self.plan.stages[self.number], self.plan)
        return lateness_of(behind, self.plan.program, self.around.measure)

    def rows_so_far(self, state: LiveState, event: str) -> pa.Table:
        """The rows that are kept for an event, and those that wait until their time is complete, as if it were."""
        found = [self.stepper.rows_kept(state.stage, event), state.pending]
        for name, stream in self.derived.items():
            if len(raw := state.raw.get(name, ())):
                waiting, _ = derived_after(stream, state.last.get(name), raw, self.around)
                found += self._stage_rows(name, waiting)
        return pa.concat_tables(found)

    def _stage_rows(self, source: str, rows: pa.Table) -> list[pa.Table]:
        stage = self.plan.stages[self.number]
        return [
            stage_rows(stage, number, rows, self.tables, self.around)
            for number, given in enumerate(stage.inputs)
            if given.source == source
        ]

    def _in_time(self, arrived: list[pa.Table], clocks: Clocks) -> tuple[pa.Table, pa.Table]:
        """Stage rows whose time is still open, and the others; derived events are never late."""
        stage = self.plan.stages[self.number]
        rows = concatenated(arrived) if arrived else r.stage_schema(stage).empty_table()
        behind = rows[r.END].to_numpy() <= clocks.watermark
        if behind.any():
            behind &= ~np.array([given.is_derived for given in stage.inputs])[source_numbers(rows)]
        if not behind.any():
            return rows, no_late_rows()
        late = late_stage_rows(stage, rows.filter(pa.array(behind)), clocks)
        return rows.filter(pa.array(~behind)), late

    def _raw_in_time(
        self, stream: StreamPlan, arrived: list[pa.Table], clocks: Clocks
    ) -> tuple[list[pa.Table], pa.Table]:
        if not arrived:
            return [], no_late_rows()
        rows = pa.concat_tables(arrived)
        behind = rows[r.END].to_numpy() <= clocks.watermark
        if not behind.any():
            return [rows], no_late_rows()
        late = late_rows(stream.schema.name, rows.filter(pa.array(behind)), clocks)
        return [rows.filter(pa.array(~behind))], late


MANY_CHUNKS = 32


def _divided(rows: pa.Table, watermark: int) -> tuple[pa.Table, pa.Table]:
    """Rows that must wait, and rows whose time is complete."""
    if rows[r.END].num_chunks > MANY_CHUNKS:
        rows = rows.combine_chunks()
    complete = rows[r.END].to_numpy() <= watermark
    n_complete = int(np.count_nonzero(complete))
    if n_complete == len(rows):
        return rows.slice(0, 0), rows
    if not n_complete:
        return rows, rows.slice(0, 0)
    if complete[:n_complete].all():  # rows that come in order need not be copied
        return rows.slice(n_complete), rows.slice(0, n_complete)
    return rows.filter(pa.array(~complete)), rows.filter(pa.array(complete))


_ROW = "@row"


def without_repeats(stage: Stage, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows with distinct (input, key, time, id), and rejects for the others.

    All rows of one time are decided together, so a repeat that is still in time meets the row that it repeats. Rows of
    derived events, and of streams joined with tables, may share an id.
    """
    if _are_distinct(rows[r.ID]):
        return rows, NO_REJECTS
    single = np.array([not given.is_derived and not given.atoms for given in stage.inputs])[source_numbers(rows)]
    identity = {column for given in stage.inputs for column in given.identity}
    held = set(rows.column_names)
    about = [r.SOURCE, *(r.key_name(place) for place in range(len(stage.key_types))), r.START, r.END, r.ID, *identity]
    names = [name for name in about if name in held]
    values = [name for name in rows.column_names if name not in names and not pa.types.is_list(rows[name].type)]
    chosen = rows.append_column(_ROW, pa.array(np.arange(len(rows)))).filter(pa.array(single))
    ordered = chosen.sort_by([(name, "ascending") for name in (*names, *values)])
    places = pa.array(np.arange(len(ordered)))
    least = ordered.select(names).append_column("@place", places).group_by(names).aggregate([("@place", "min")])
    if len(least) == len(ordered):
        return rows, NO_REJECTS
    again = np.ones(len(ordered), bool)
    again[least["@place_min"].to_numpy()] = False
    repeated = ordered[_ROW].to_numpy()[again]
    kept = np.ones(len(rows), bool)
    kept[repeated] = False
    return rows.filter(pa.array(kept)), _rejected(stage, rows.take(pa.array(repeated)))


def _are_distinct(ids: pa.ChunkedArray) -> bool:
    if len(ids) < 2:
        return True
    if pa.types.is_integer(ids.type) and not ids.null_count:
        numbers = ids.to_numpy()
        if (numbers[1:] > numbers[:-1]).all():  # as they often come
            return True
    return bool(pc.count_distinct(ids).as_py() == len(ids))


def _rejected(stage: Stage, rows: pa.Table) -> pa.Table:
    rejects = []
    numbers = source_numbers(rows)
    for number in np.unique(numbers):
        given = stage.inputs[number]
        mine = named_rows(given, rows.filter(pa.array(numbers == number)))
        plain = mine.select([name for name in mine.column_names if not name.startswith("@")])
        for identity, row in zip(mine[r.ID].to_pylist(), plain.to_pylist(), strict=True):
            rejects.append(
                {
                    "stream": given.source,
                    "reason": Reason.DUPLICATE_ID.value,
                    "detail": f"id {identity} once more for the same key and time",
                    "row": row_json(row),
                    "id": str(identity),
                }
            )
    return pa.Table.from_pylist(rejects, schema=REJECTS_SCHEMA)


def tied_rejects(stage: Stage, tied: pa.Table) -> pa.Table:
    """Rejects for rows at the same place as another one, where an automaton needs to know which comes first."""
    if not len(tied):
        return NO_REJECTS
    found = {
        (stage.inputs[number].source, str(identity), end)
        for number, end, identity in zip(*(tied[name].to_pylist() for name in (r.SOURCE, r.END, r.ID)), strict=True)
    }
    return pa.Table.from_pylist(
        [
            {
                "stream": stream,
                "reason": Reason.TIED.value,
                "detail": f"at time {end} another row has the same place in ORDER BY",
                "row": None,
                "id": identity,
            }
            for stream, identity, end in sorted(found, key=str)
        ],
        schema=REJECTS_SCHEMA,
    )
