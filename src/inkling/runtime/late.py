"""Late rows: rows that arrive after the watermark has passed them are reported with their delay and not evaluated."""

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import source_numbers
from inkling.io.rejects import row_json
from inkling.model.time import Clock
from inkling.model.watermarks import Clocks
from inkling.physical.plan import Input, Stage
from inkling.results import TIMESTAMP

LATE_SCHEMA = pa.schema(
    {"stream": pa.string(), "id": pa.string(), "time": pa.int64(), "delay": pa.int64(), "row": pa.string()}
)
"""`time`: the end of the row; `delay`: how far it was behind the latest row of its stream; both in units of the clock.
`row`: the columns that the program reads, as JSON."""

_MICROSECONDS = 1_000_000


def reported_schema(clock: Clock) -> pa.Schema:
    """Late rows as users see them: `time` like the times of results, `delay` in seconds or in ticks."""
    if clock is Clock.TICKS:
        return LATE_SCHEMA
    kinds = {"time": TIMESTAMP, "delay": pa.float64()}
    return pa.schema([pa.field(field.name, kinds.get(field.name, field.type)) for field in LATE_SCHEMA])


NO_LATE_ROWS = LATE_SCHEMA.empty_table()


@cache
def _nothing_reported(clock: Clock) -> pa.Table:
    return reported_schema(clock).empty_table()


def each_once(late: pa.Table) -> pa.Table:
    """Late rows without repeats by several operators."""
    once = late.group_by(["stream", "id", "time"]).aggregate([("delay", "max"), ("row", "max")])
    return once.rename_columns(late.column_names)


def reported(late: pa.Table, clock: Clock) -> pa.Table:
    """Late rows in the public columns, each once, even if several stages report it."""
    if not len(late):
        return _nothing_reported(clock)
    once = each_once(late)
    if clock is Clock.TIMESTAMP:
        seconds = pc.divide(once["delay"].cast(pa.float64(), safe=False), float(_MICROSECONDS))
        once = once.set_column(3, "delay", seconds)
    return once.cast(reported_schema(clock))


def late_stage_rows(stage: Stage, rows: pa.Table, clocks: Clocks) -> pa.Table:
    """Late rows of a stage; an event that several inputs share is reported once."""
    numbers = source_numbers(rows)
    reports: dict[tuple[str, object, int], pa.Table] = {}
    for number in np.unique(numbers):
        given = stage.inputs[number]
        mine = rows.filter(pa.array(numbers == number))
        found = late_rows(given.source, named_rows(given, mine), clocks)
        for place, (identity, end) in enumerate(zip(mine[r.ID].to_pylist(), mine[r.END].to_pylist(), strict=True)):
            reports.setdefault((given.source, identity, end), found.slice(place, 1))
    return pa.concat_tables([NO_LATE_ROWS, *reports.values()])


def late_rows(stream: str, rows: pa.Table, clocks: Clocks) -> pa.Table:
    """Late rows of a stream, whose columns have the names that the program knows."""
    latest = clocks.latest.get(stream, clocks.watermark)
    plain = rows.select([name for name in rows.column_names if not name.startswith("@")])
    ids, ends = rows[r.ID].to_pylist(), rows[r.END].to_pylist()
    return pa.Table.from_pylist(
        [
            {"stream": stream, "id": str(one), "time": end, "delay": latest - end, "row": row_json(row)}
            for one, end, row in zip(ids, ends, plain.to_pylist(), strict=True)
        ],
        schema=LATE_SCHEMA,
    )


def named_rows(given: Input, rows: pa.Table) -> pa.Table:
    """Stage rows of one input under the names of its source."""
    columns = {column: rows[r.key_name(place)] for place, column in enumerate(given.key)}
    columns |= {name.rsplit("|", 1)[0]: rows[name] for name in given.columns}
    about = {name: rows[name] for name in (r.ID, r.END)}
    return pa.table(columns | about)
