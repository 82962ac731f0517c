"""Results of several events as rows of one table, for transport between workers.

Times are integers. Values of head and RETURN have one column per name and type, null for events without it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.rows import format as r
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.physical.naming import physical_name
from inkling.results import Matches, Values, shown_values

EVENT, LINEAGE, DETECTED = "@event", "@lineage", "@detected"
PROBABILITY, METHOD, ERROR = "@probability", "@method", "@error"

TIMES = {"start": r.START, "end": r.END, "detected_at": DETECTED}
ESTIMATES = {"probability": PROBABILITY, "method": METHOD, "error": ERROR}

ESTIMATED = (pa.field(PROBABILITY, pa.float64()), pa.field(METHOD, pa.string()), pa.field(ERROR, pa.float64()))
"""Fields of results that are not certain."""

ROWS_PER_BATCH = 100_000

Columns = dict[str, pa.Array | pa.ChunkedArray]


def results_schema(
    events: Iterable[EventPlan], ids: pa.DataType | Mapping[str, pa.DataType], further: Sequence[pa.Field] = ESTIMATED
) -> pa.Schema:
    """The schema of such a table; `ids` is the type of ids in lineage, of all events or by event."""
    kinds = dict.fromkeys(ids.values()) if isinstance(ids, Mapping) else {ids: None}
    lineage = [pa.field(name, pa.list_(kind)) for name, kind in sorted((lineage_name(ids, one), one) for one in kinds)]
    return pa.schema([*leading_fields(), *further, *lineage, *value_fields(events)])


def lineage_name(ids: pa.DataType | Mapping[str, pa.DataType], kind: pa.DataType) -> str:
    """The column for lineage with ids of a type: some events may have texts, others integers."""
    return f"{LINEAGE} {kind}" if isinstance(ids, Mapping) and len(set(ids.values())) > 1 else LINEAGE


def leading_fields() -> list[pa.Field]:
    """The number of the event, and the times of a result."""
    return [pa.field(EVENT, pa.int32()), *(pa.field(name, pa.int64()) for name in TIMES.values())]


def value_fields(events: Iterable[EventPlan]) -> list[pa.Field]:
    """Values of head and RETURN of some events, distinguished by name and type."""
    kinds = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type]
        for event in events
        for output in (*event.head, *event.returns)
    }
    return [pa.field(name, kind) for name, kind in sorted(kinds.items())]


def result_columns(number: int, event: EventPlan, matches: MatchBatch | Matches, lineage: str = LINEAGE) -> Columns:
    """Matches of one event under internal names, with probabilities if they have any."""
    estimated = matches.estimated() if isinstance(matches, Matches) else {}
    return {
        EVENT: event_column(number, len(matches)),
        r.START: pa.array(matches.start),
        r.END: pa.array(matches.end),
        DETECTED: pa.array(matches.detected_at),
        **{ESTIMATES[name]: column for name, column in estimated.items()},
        lineage: matches.lineage,
        **value_columns(event, matches.values),
    }


def event_column(number: int, n: int) -> pa.Array:
    """The number by which rows name their event."""
    return pa.array(np.full(n, number, np.int32))


def value_columns(event: EventPlan, values: Values) -> Columns:
    """Values of head and RETURN under their physical names."""
    shown = shown_values(event, values)
    return {physical_name(one.name, one.type): shown[one.name] for one in (*event.head, *event.returns)}


def filled(columns: Columns, schema: pa.Schema) -> pa.Table:
    """A table of a schema; missing columns are null."""
    n = len(columns[EVENT])
    given = [columns[f.name].cast(f.type) if f.name in columns else pa.nulls(n, f.type) for f in schema]
    return pa.table(given, schema=schema)


def in_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """A table as record batches of limited size."""
    yield from table.to_batches(max_chunksize=ROWS_PER_BATCH)


def best(tables: Iterable[pa.Table], n: int, schema: pa.Schema) -> pa.Table:
    """The n most probable results, and all that are as probable as the last of them."""
    found = schema.empty_table()
    for table in tables:
        found = pa.concat_tables([found, table])
        if len(found) > n:
            chance = found[PROBABILITY].to_numpy()
            found = found.filter(pa.array(chance >= np.partition(chance, len(chance) - n)[len(chance) - n]))
    return found
