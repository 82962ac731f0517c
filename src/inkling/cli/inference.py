"""Examples with raw readings: the streams of their programs are inferred, and put beside the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

READINGS = "Reading.parquet"
MODEL = ("movement.csv", "readers.csv", "prior.csv")
PRUNED = 1e-4
NOW, IN_THE_END = "At", "Was"


def infer_streams(folder: Path, say: Callable[[str], None]) -> None:
    """Write what is known of each second by then and in the end; and the truth and the likeliest places, as `certain`.

    A folder without a model of movement and readers is left as it is.
    """
    if not all((folder / name).exists() for name in (READINGS, *MODEL)):
        return
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from inkling.infer import Model, Options, filtered, mle, smoothed, viterbi

    say("inferring")
    readings = pq.read_table(folder / READINGS)
    model = Model.of(*(folder / name for name in MODEL))
    span = pc.min_max(readings["t"]).as_py()
    last = span["max"]
    doors = pq.read_table(folder / "Door.parquet")
    first = pc.min(doors["t"]).as_py()
    options: Options = {"key": "person", "state": "room", "start": first, "stop": last}
    true = _places(doors, first, last)
    written = {
        NOW: filtered(readings, model, **options),
        IN_THE_END: smoothed(readings, model, prune=PRUNED, **options),
        f"naive/{NOW}": mle(readings, model, **options),
        f"naive/{IN_THE_END}": viterbi(readings, model, **options),
        f"true/{NOW}": true,
        f"true/{IN_THE_END}": true,
    }
    for name, rows in written.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(rows, path)


def _places(doors: pa.Table, first: int, last: int) -> pa.Table:
    """Where everybody is at each second, from the places that they enter."""
    import numpy as np
    import pyarrow as pa

    doors = doors.sort_by([("person", "ascending"), ("t", "ascending")])
    entered = doors["t"].to_numpy()
    person = doors["person"].combine_chunks().dictionary_encode().indices.to_numpy()
    is_last = np.append(person[1:] != person[:-1], True)
    left = np.where(is_last, last + 1, np.append(entered[1:], last + 1))
    n_seconds = left - entered
    row = np.repeat(np.arange(len(doors)), n_seconds)
    second = np.arange(row.size) - np.repeat(np.cumsum(n_seconds) - n_seconds, n_seconds) + entered[row]
    assert second.min() == first
    taken = doors.take(pa.array(row))
    return pa.table({"person": taken["person"], "room": taken["room"], "t": second})
