"""CSV files of the public Wayeb engine, which have no header: events of a type, and positions of vessels.

A row at time -1 is not an event: it resets its key.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.io.readers.csv_text import parse_csv

VESSELS = ("ts", "mmsi", "lon", "lat", "speed", "heading", "cog", "annotation")
LAYOUTS: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {2: ("type", "ts"), len(VESSELS): VESSELS, len(VESSELS) + 1: (*VESSELS, "nextCETimestamp")}
)
"""The columns of a file, by their number."""

POSITION, RESET = "SampledCritical", "RESET"
"""The types that the engine gives to positions of vessels, and to rows that reset their key."""

AT_RESETS = -1


def layout_of(path: Path) -> tuple[str, ...] | None:
    """The columns of a file of the engine; None for other files, such as those with a header."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return None
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        first = next((line for line in lines if line.strip()), "").strip().split(",")
    columns = LAYOUTS.get(len(first))
    if columns is None:
        return None
    time = first[columns.index("ts")].strip()
    return columns if time.removeprefix("-").isdecimal() else None


def read_wayeb(path: str | Path) -> pa.Table:
    """The rows of a file of the engine, with the columns `type` and `seq`, their number.

    A reset has the type RESET and the time of the row before it.
    """
    path = Path(path)
    columns = layout_of(path)
    if columns is None:
        raise InputError.of(
            "INK0502",
            f"`{path}` is not a file of the Wayeb engine",
            notes=tuple(f"a row has {len(names)} fields: {', '.join(names)}" for names in LAYOUTS.values()),
        )
    rows = parse_csv(pa.py_buffer(path.read_bytes()), columns).select(columns).combine_chunks()
    try:
        times = rows["ts"].cast(pa.int64())
    except pa.ArrowInvalid as problem:
        raise InputError.of("INK0503", f"a time in `{path}` is not a whole number", notes=(str(problem),)) from None
    resets = pc.equal(times, AT_RESETS)
    known = pc.if_else(resets, pa.scalar(None, pa.int64()), times)
    times = pc.fill_null_backward(pc.fill_null_forward(known))
    type = rows["type"] if "type" in columns else pa.repeat(POSITION, len(rows))
    rows = rows.set_column(columns.index("ts"), "ts", times)
    rows = rows.drop_columns(["type"] if "type" in columns else [])
    rows = rows.append_column("type", pc.if_else(resets, RESET, type)).append_column(
        "seq", pa.array(np.arange(1, len(rows) + 1))
    )
    _require_order(path, rows)
    return rows


def _require_order(path: Path, rows: pa.Table) -> None:
    """The engine reads rows in the order of the file, which must be that of their times for each vessel."""
    keys = np.zeros(len(rows), np.int64)
    if "mmsi" in rows.column_names:
        keys = pc.rank(rows["mmsi"], tiebreaker="dense").to_numpy().astype(np.int64)
    order = np.argsort(keys, kind="stable")
    times = rows["ts"].to_numpy()[order]
    back = (np.diff(times) < 0) & (np.diff(keys[order]) == 0)
    if back.any():
        number = int(order[int(np.argmax(back)) + 1]) + 1
        raise InputError.of(
            "INK0503",
            f"row {number} of `{path}` is earlier than a row before it",
            notes=("rows are read in the order of their times",),
        )
