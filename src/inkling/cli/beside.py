"""Results of another run, read from the file that it wrote, to be shown beside those of this one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from inkling.cli.execution import Execution
from inkling.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def beside(path: Path | None, found: Execution) -> dict[str, pa.Table] | None:
    """The results in a file by event; times are of the type that this run's have."""
    if path is None:
        return None
    import pyarrow.compute as pc

    from inkling.io import read_table

    rows = read_table(path, what="results")
    missing = [name for name in ("event", "end", "probability") if name not in rows.column_names]
    if missing:
        raise InputError.of(
            "INK0558",
            f"`{path}` has no column `{missing[0]}`",
            helps=("give a file of results, such as `inkling run` writes",),
        )
    tables = {}
    for name, table in found.tables.items():
        mine = rows.filter(pc.field("event") == name)
        absent = [column for column in table.column_names if column not in mine.column_names]
        if mine.num_rows and not absent:
            mine = mine.set_column(mine.column_names.index("end"), "end", mine["end"].cast(table["end"].type))
            tables[name] = mine
        else:
            tables[name] = table.slice(0, 0)
    return tables
