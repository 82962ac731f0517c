"""Forecasts in a report: there is one after nearly every event, so they are summed up and not listed."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.report.data import ReportTable, Scalar

TITLE = "Forecasts"
COLUMNS = ("forecast", "of", "made", "least chance", "mean chance", "largest chance", "versions of the model")
NOTE = "Forecasts are not among the matches: they are made after nearly every event. The output of the run has each."
DIGITS = 4


def forecast_tables(program: ProgramPlan, tables: Mapping[str, pa.Table]) -> tuple[ReportTable, ...]:
    """What was forecast, a row per forecast; none for a program without them."""
    rows = tuple(_row(event, tables[event.name]) for event in program.events if event.forecast is not None)
    return (ReportTable(TITLE, COLUMNS, rows, NOTE),) if rows else ()


def _row(event: EventPlan, table: pa.Table) -> tuple[Scalar, ...]:
    assert event.forecast is not None
    chances = table["probability"]
    told = (function(chances).as_py() for function in (pc.min, pc.mean, pc.max))
    versions = sorted(set(table["model"].to_pylist()))
    return (
        event.name,
        event.forecast.of,
        table.num_rows,
        *(None if one is None else round(one, DIGITS) for one in told),
        ", ".join(map(str, versions)),
    )
