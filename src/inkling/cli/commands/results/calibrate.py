"""`inkling calibrate`: compares the probabilities of results with the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli.options import Debug
from inkling.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from inkling.forecasting.calibration import Calibration


def calibrate(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results with their probability.")],
    truth: Annotated[str, typer.Argument(metavar="TRUTH", help="Ground truth; without --on, a column of RESULTS.")],
    on: Annotated[str | None, typer.Option(metavar="COLUMN,…", help="Columns that identify a result.")] = None,
    event: Annotated[str | None, typer.Option(metavar="NAME", help="Compare only results of this event.")] = None,
    against: Annotated[Path | None, typer.Option(metavar="RESULTS", help="Other results to compare with.")] = None,
    bins: Annotated[int, typer.Option(min=1, metavar="N", help="Bins of the reliability curve.")] = 10,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.html", help="Write a page with a plot.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Compare the probabilities of results with the ground truth."""
    from inkling.forecasting.calibration import calibrate as calibrated
    from inkling.forecasting.calibration import compare

    columns = None if on is None else [name.strip() for name in on.split(",")]
    real = truth if columns is None else _rows(truth, event, what="truth")
    given = {
        name: _rows(path, event, what="results")
        for name, path in ({results.stem: results} if against is None else _distinguished(results, against)).items()
    }
    found = {
        name: calibrated(rows, real, on=columns, among=_candidates(given.values(), columns), bins=bins)
        for name, rows in given.items()
    }
    _print(found)
    if output is not None:
        title = "Calibration" if event is None else f"Calibration of {event}"
        comparison = compare(found) if against is not None else next(iter(found.values()))
        typer.echo(f"page: {comparison.to_html(output, title=title)}", err=True)


def _distinguished(results: Path, against: Path) -> dict[str, Path]:
    """Both by file name, or by path if the names are the same."""
    if results.stem != against.stem:
        return {results.stem: results, against.stem: against}
    return {str(results): results, str(against): against}


def _candidates(results: Iterable[pa.Table], on: list[str] | None) -> list[dict[str, object]] | None:
    """The candidates of all results, so that all are scored on the same ones."""
    if on is None:
        return None
    known = [rows for rows in results if set(on) <= set(rows.column_names)]
    return [row for rows in known for row in rows.select(on).to_pylist()] or None


def _rows(path: str | Path, event: str | None, *, what: str) -> pa.Table:
    import pyarrow.compute as pc

    from inkling.io import read_table

    rows = read_table(path, what=what)
    if event is None or "event" not in rows.column_names:
        return rows
    found = rows.filter(pc.equal(rows["event"], event))
    if not len(found) and len(rows):
        raise InputError.of(
            "INK0558",
            f"the {what} have no event `{event}`",
            notes=(f"their events are {', '.join(sorted(map(str, rows['event'].unique().to_pylist())))}",),
        )
    return found


def _print(calibrations: Mapping[str, Calibration]) -> None:
    from rich.console import Console

    console = Console()
    for name, calibration in calibrations.items():
        console.print(_curve(name, calibration))
    console.print(_scores(calibrations))


def _curve(name: str, calibration: Calibration) -> Table:
    from rich.table import Table

    table = Table(title=name, title_justify="left")
    for column in ("probability", "results", "mean", "happened", "95 % interval"):
        table.add_column(column, justify="right")
    for one in calibration.bins:
        lo, hi = one.interval
        between = f"{one.lo:.2f} to {one.hi:.2f}"
        table.add_row(between, f"{one.n:,}", f"{one.mean_probability:.3f}", f"{one.share:.3f}", f"{lo:.3f} to {hi:.3f}")
    return table


def _scores(calibrations: Mapping[str, Calibration]) -> Table:
    """A column per calibration."""
    from rich.table import Table

    table = Table("score", *calibrations)
    every = list(calibrations.values())
    table.add_row("results and candidates", *(f"{one.n:,}" for one in every))
    table.add_row("happened without a result", *(f"{one.n_missed:,}" for one in every))
    table.add_row("mean probability", *(_number(one.mean_probability) for one in every))
    table.add_row("base rate", *(_number(one.base_rate) for one in every))
    table.add_row("Brier score", *(_number(one.brier_score) for one in every))
    table.add_row("Brier skill", *(_number(one.brier_skill) for one in every))
    table.add_row("expected calibration error", *(_number(one.expected_calibration_error) for one in every))
    table.add_row("log loss", *(_number(one.log_loss) for one in every))
    table.add_row("p-value of the diagonal", *(_number(one.diagonal.p_value) for one in every))
    table.add_row("certainties that failed", *(f"{one.diagonal.n_refuted:,}" for one in every))
    table.add_row("verdict", *("on the diagonal" if one.lies_on_diagonal() else "off the diagonal" for one in every))
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
