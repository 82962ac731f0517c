"""What an example emits and withdraws while the first of its rows arrive: results over files are final."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inkling.query import Program
    from inkling.report.data import ReportTable

REPLAYED_EVENTS = 200
KEYS = 3
ROWS_AT_ONCE = 20
SHOWN_OF_EVENT = 8

COUNTS_TITLE = "Emitted and withdrawn on a stream"
COUNTS = ("event", "emitted", "withdrawn", "left")
WITHDRAWN_TITLE = "Withdrawn results"
WITHDRAWN = ("event", "start", "end", "values", "depended on")


def withdrawals(program: Program, name: str, *, events: int, seed: int) -> tuple[ReportTable, ...]:
    """Two tables for a report, from a short stream of the same example; none if its streams never change."""
    if not any(stream.schema.op is not None for stream in program.plan.streams):
        return ()
    import pyarrow as pa

    from inkling.report.data import ReportTable
    from inkling.results import LEADING, TRAILING
    from inkling.scenarios import generate

    stream = program.open()
    n_events = min(events, REPLAYED_EVENTS)
    parts = generate(name, events=n_events, keys=KEYS, seed=seed, chunk_rows=ROWS_AT_ONCE)
    found = [*(stream.push(rows) for rows in parts), stream.finish()]
    emitted = {event: pa.concat_tables([step[event] for step in found]) for event in found[0]}
    counts, withdrawn, n_withdrawn = [], [], 0
    for event, table in emitted.items():
        rows = [row for row in table.to_pylist() if row["op"] == "-"]
        n_emitted = table.num_rows - len(rows)
        counts.append((event, n_emitted, len(rows), n_emitted - len(rows)))
        n_withdrawn += len(rows)
        for row in rows[:SHOWN_OF_EVENT]:
            values = ", ".join(f"{one} {_short(row[one])}" for one in row if one not in (*LEADING, *TRAILING))
            start, end = (str(row[one]).removesuffix("+00:00") for one in ("start", "end"))
            withdrawn.append((event, start, end, values, " ".join(map(str, row["lineage"]))))
    note = (
        f"The first {n_events:,} rows of `{program.plan.streams[0].schema.name}` for {KEYS} keys, "
        f"{ROWS_AT_ONCE} rows at a time: results are emitted at once, and withdrawn with a row that they depend on. "
        "Over files, withdrawn results never appear."
    )
    left_out = "" if len(withdrawn) == n_withdrawn else f"The first of {n_withdrawn:,}."
    tables = (ReportTable(COUNTS_TITLE, COUNTS, tuple(counts), note),)
    return (*tables, ReportTable(WITHDRAWN_TITLE, WITHDRAWN, tuple(withdrawn), left_out)) if withdrawn else tables


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
