"""A stage of certain events on streams: arriving rows are checked and buffered before its evaluators ingest them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.evaluator import StageEvaluator
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import source_numbers
from inkling.evaluators.stage.rows.format import concatenated
from inkling.evaluators.stage.rows.keys import Owners, owners_in
from inkling.io.duplicates import without_duplicates
from inkling.io.rejects import NO_REJECTS, REJECTS_SCHEMA, Reason, row_json
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import StreamPlan
from inkling.model.watermarks import Clocks, Watermarks
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.streams import lateness_of, streams_behind
from inkling.runtime.buffered import Buffered, BufferedState
from inkling.runtime.late import NO_LATE_ROWS, late_rows, late_stage_rows, named_rows
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.routing import RoutedRows

STAGE = "stage"


class BufferedStage(Buffered):
    """A stage with its buffered rows; compiled once, used for any number of buckets."""

    def __init__(
        self,
        plan: PhysicalPlan,
        number: int,
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        *,
        distinct: bool = False,
        owners: bool = False,
    ) -> None:
        """With `distinct`, no row repeats another; with `owners`, results have the hashes of their keys."""
        self.plan, self.number, self._distinct = plan, number, distinct
        self.stage: Stage = plan.stages[number]
        self.evaluator = StageEvaluator(plan, number, tables, context, owners=owners)
        self.evaluators = {STAGE: self.evaluator}
        self._no_rows = r.stage_schema(self.stage).empty_table()

    @property
    def lateness(self) -> Mapping[str, int]:
        behind = streams_behind(self.stage, self.plan)
        return lateness_of(behind, self.plan.program, self.evaluator.context.unit)

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return owners_in(name, rows, self.stage)

    def start(self) -> BufferedState:
        return replace(super().start(), waiting={r.STAGE_ROWS: self._no_rows})

    def advance(
        self, state: BufferedState, parts: Iterable[RoutedRows], watermarks: Watermarks
    ) -> tuple[BufferedState, Emitted]:
        """Ingest arriving rows, advance the clocks, and evaluate the rows that are complete."""
        parts = list(parts)
        before, clocks = state.clocks, state.clocks.after(watermarks)
        rows, late = self._in_time([part.rows for part in parts if part.stream is None], before)
        waiting, lates, rejects = dict(state.waiting), [late], [NO_REJECTS]
        waiting[r.STAGE_ROWS], ready = _divided(concatenated([waiting[r.STAGE_ROWS], rows]), clocks.watermark)
        if not self._distinct:
            ready, repeated = without_repeats(self.stage, ready)
            rejects.append(repeated)
        due = {r.STAGE_ROWS: ready}
        for name, stream in self.evaluator.looking_back.items():
            arrived = [part.rows for part in parts if part.stream == name]
            fresh, late = self._raw_in_time(stream, arrived, before)
            lates.append(late)
            if name in waiting:
                fresh = [waiting[name], *fresh]
            if fresh:
                waiting[name], complete = _divided(pa.concat_tables(fresh), clocks.watermark)
                if len(complete):
                    due[name], repeated = without_duplicates(stream.schema, complete)
                    rejects.append(repeated)
        stage, found = self.evaluator.step(state.evaluators[STAGE], due, Moment(clocks.watermark))
        if found.tied is not None:
            rejects.append(tied_rejects(self.stage, found.tied))
        after = BufferedState(clocks, waiting, {STAGE: stage})
        return after, Emitted(concatenated(lates), concatenated(rejects), found.matches)

    def open_matches(self, state: BufferedState, event: str) -> list[OpenMatch]:
        """Open matches up to the latest row, if no earlier row arrives."""
        return self.evaluator.open_matches(state.evaluators[STAGE], state.waiting, event)

    def _in_time(self, arrived: list[pa.Table], clocks: Clocks) -> tuple[pa.Table, pa.Table]:
        """Stage rows after the watermark, and late ones; derived events are never late."""
        stage, rows = self.stage, concatenated(arrived) if arrived else self._no_rows
        behind = rows[r.END].to_numpy() <= clocks.watermark
        if behind.any():
            behind &= ~np.array([given.is_derived for given in stage.inputs])[source_numbers(rows)]
        if not behind.any():
            return rows, NO_LATE_ROWS
        late = late_stage_rows(stage, rows.filter(pa.array(behind)), clocks)
        return rows.filter(pa.array(~behind)), late

    def _raw_in_time(
        self, stream: StreamPlan, arrived: list[pa.Table], clocks: Clocks
    ) -> tuple[list[pa.Table], pa.Table]:
        if not arrived:
            return [], NO_LATE_ROWS
        rows = pa.concat_tables(arrived)
        behind = rows[r.END].to_numpy() <= clocks.watermark
        if not behind.any():
            return [rows], NO_LATE_ROWS
        late = late_rows(stream.schema.name, rows.filter(pa.array(behind)), clocks)
        return [rows.filter(pa.array(~behind))], late


MANY_CHUNKS = 32


def _divided(rows: pa.Table, watermark: int) -> tuple[pa.Table, pa.Table]:
    """Rows after the watermark, and rows up to it."""
    if rows[r.END].num_chunks > MANY_CHUNKS:
        rows = rows.combine_chunks()
    complete = rows[r.END].to_numpy() <= watermark
    n_complete = int(np.count_nonzero(complete))
    if n_complete == len(rows):
        return rows.slice(0, 0), rows
    if not n_complete:
        return rows, rows.slice(0, 0)
    if complete[:n_complete].all():  # rows in time order need no copy
        return rows.slice(n_complete), rows.slice(0, n_complete)
    return rows.filter(pa.array(~complete)), rows.filter(pa.array(complete))


_ROW = "@row"


def without_repeats(stage: Stage, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows with distinct (input, key, time, id), and rejects for the others.

    Rows of one time are released together, so a repeat that is not late is compared with the row that it repeats. Rows
    of derived events, and of streams joined with tables, may share an id.
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
        if (numbers[1:] > numbers[:-1]).all():  # ascending ids are common
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
                    "detail": f"id {identity} is a duplicate for the same key and time",
                    "row": row_json(row),
                    "id": str(identity),
                }
            )
    return pa.Table.from_pylist(rejects, schema=REJECTS_SCHEMA)


def tied_rejects(stage: Stage, tied: pa.Table) -> pa.Table:
    """Rejects for rows at the same position as another one, where an automaton needs a total order."""
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
