"""`inkling demo`: an example from its data to its report."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.commands.examples import data
from inkling.cli.commands.examples.truth import (
    TruthComparison,
    certainty_table,
    claims_table,
    evaluate,
    notes_on_sums,
    report_tables,
)
from inkling.cli.commands.examples.withdrawals import withdrawals
from inkling.cli.execution import Execution, execute
from inkling.cli.inputs import given_paths
from inkling.cli.terminal.messages import counting, working
from inkling.cli.terminal.scores import print_scores
from inkling.query import load

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

USUAL_EVENTS = 200_000
SHOWN_ROWS = 3
SHOWN_EVENTS = 4
HIDDEN_COLUMNS = ("event", "detected_at", "op")
ONLY_OF_UNCERTAIN = ("probability", "method", "error")
NOT_OF_FORECASTS = ("start", "probability", "method", "error", "margin", "model")


def demo(
    *,
    name: o.Example = "fleet",
    events: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rows of the main stream.", show_default="200000; fewer for some"),
    ] = None,
    seed: o.DataSeed = o.SEED,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for data and report.", show_default="out/demo/NAME"
        ),
    ] = None,
    runner: o.RunnerOptions,
    precision: o.SamplingOptions,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Generate the data of an example, run it and write a report."""
    data.require_scenario(name)
    sampling = precision.sampling(seed)
    from inkling.scenarios import write

    folder = folder or Path("out") / "demo" / name
    events = data.n_events(name, events, USUAL_EVENTS)
    example = data.example_program(name)
    program = load(example)
    with counting(f"generating {name}", quiet=quiet) as progress:
        write(name, folder, events=events, seed=seed, progress=progress)
    report = folder / "report.html"
    with working(quiet) as say:
        data.infer_streams(folder, say)
        data.learn_models(program, folder, say)
        given = given_paths(program, [str(folder)], [])
        found = execute(program, given, runner, sampling, quick=True, quiet=quiet, say=say, debug=debug)
        evaluations = evaluate(found, example, folder)
        scores = data.score_forecasts(program, given, folder, say)
        say("writing the report")
        truth, decided = ({one.event: getattr(one, what) for one in evaluations} for what in ("happened", "claimed"))
        taken_back = withdrawals(program, name, events=events, seed=seed)
        found.write_report(report, (*report_tables(found.program, evaluations), *taken_back), truth, decided)
    if not quiet:
        _print(found, report, evaluations)
        print_scores(scores)
        if scores:
            typer.echo(f"scores: {folder / data.SCORES_PAGE}")


def _print(found: Execution, report: Path, evaluations: list[TruthComparison]) -> None:
    from rich.console import Console

    console = Console()
    with_results = [name for name, table in found.tables.items() if table.num_rows]
    for name in with_results[:SHOWN_EVENTS]:
        console.print(_shown(name, found.tables[name]))
    if len(with_results) > SHOWN_EVENTS:
        console.print(f"… and {len(with_results) - SHOWN_EVENTS} more events with results\n", highlight=False)
    if evaluations:
        console.print(claims_table(evaluations))
        console.print(certainty_table(evaluations))
        for note in notes_on_sums(found.program, evaluations):
            console.print(note, highlight=False)
    for line in found.summary():
        console.print(line, highlight=False)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)
    for evaluation in evaluations:
        console.print(f"calibration: {evaluation.page}", highlight=False, soft_wrap=True)


def _shown(name: str, results: pa.Table) -> Table:
    """The first results of an event as a table for the terminal."""
    from rich.table import Table

    from inkling.results import FORECAST

    left_out = results.num_rows - SHOWN_ROWS
    caption = f"… and {left_out:,} more" if left_out > 0 else None
    table = Table(title=f"{name}: {results.num_rows:,}", caption=caption, title_justify="left")
    is_certain = results.num_rows == 0 or set(results["probability"].unique().to_pylist()) == {1.0}
    hidden = {*HIDDEN_COLUMNS, *(ONLY_OF_UNCERTAIN if is_certain else ())}
    if results.num_rows and results["method"][0].as_py() == FORECAST:
        hidden |= {*NOT_OF_FORECASTS}
    columns = [column for column in results.column_names if column not in hidden]
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in ("start", "end"))
    for row in results.slice(0, SHOWN_ROWS).select(columns).to_pylist():
        cells = {column: _cell(value) for column, value in row.items()}
        if isinstance(row.get("end"), datetime) and "start" in row and row["start"].date() == row["end"].date():
            cells["end"] = cells["end"].split(" ")[-1]  # the same day
        table.add_row(*cells.values())
    return table


def _cell(value: object) -> str:
    if isinstance(value, list):
        ids = [str(item) for item in value]
        return " ".join(ids if len(ids) <= 6 else [*ids[:3], "…", *ids[-2:]])
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
