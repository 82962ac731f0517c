"""Rows that a stream cannot take although each of them is well formed: repeats, and rows without an order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers
from inkling.io.rejects import NO_REJECTS, REJECTS_SCHEMA, Reason, row_json
from inkling.physical.plan import Stage
from inkling.runtime.late import named_rows

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
