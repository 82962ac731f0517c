"""`inkling demo`: an example from nothing to a report: data, program, results, page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli.examples import SCORES_PAGE, example_program, infer_streams, learn_models, n_events, try_forecasts
from inkling.cli.execution import Execution, execute
from inkling.cli.generate import require_scenario
from inkling.cli.inputs import given_paths
from inkling.cli.judgment import Judgment, doubt_table, judge, judgment_table, report_tables
from inkling.cli.options import (
    Budget,
    Debug,
    Delta,
    Epsilon,
    ExactUpTo,
    Example,
    Master,
    Quiet,
    Runner,
    RunnerChoice,
    Seed,
    sampling_of,
)
from inkling.cli.progress import counting, working
from inkling.cli.score import print_scores
from inkling.query import load

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

USUAL_EVENTS = 200_000
SHOWN_ROWS = 3
HIDDEN_COLUMNS = ("event", "detected_at", "op")
ONLY_IN_DOUBT = ("method", "error")
NOT_OF_FORECASTS = ("start", "probability", "method", "error", "margin", "model")


def demo(
    name: Example = "fleet",
    events: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rows of the main stream.", show_default="200000; fewer for some"),
    ] = None,
    seed: Seed = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Where data and report go.", show_default="out/demo/NAME"
        ),
    ] = None,
    runner: RunnerChoice = Runner.SPARK,
    master: Master = "local[*]",
    epsilon: Epsilon = 0.01,
    delta: Delta = 0.01,
    exact_up_to: ExactUpTo = 1024,
    budget: Budget = 4,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Generate the data of an example, find its events and write a report."""
    require_scenario(name)
    sampling = sampling_of(epsilon, delta, seed, exact_up_to, budget)
    from inkling.generate import write

    folder = folder or Path("out") / "demo" / name
    events = n_events(name, events, USUAL_EVENTS)
    example = example_program(name)
    program = load(example)
    with counting(f"generating {name}", quiet=quiet) as progress:
        write(name, folder, events=events, seed=seed, progress=progress)
    report = folder / "report.html"
    with working(quiet) as say:
        infer_streams(folder, say)
        learn_models(program, folder, say)
        given = given_paths(program, [str(folder)], [])
        found = execute(program, given, runner, sampling, master=master, quick=True, say=say, debug=debug)
        judgments = judge(found, example, folder)
        scores = try_forecasts(program, given, folder, say)
        say("writing the report")
        truth, decided = ({one.event: getattr(one, what) for one in judgments} for what in ("happened", "claimed"))
        found.write_report(report, report_tables(judgments), truth, decided)
    if not quiet:
        _print(found, report, judgments)
        print_scores(scores)
        if scores:
            typer.echo(f"scores: {folder / SCORES_PAGE}")


def _print(found: Execution, report: Path, judgments: list[Judgment]) -> None:
    from rich.console import Console

    console = Console()
    for name, table in found.tables.items():
        console.print(_shown(name, table))
    if judgments:
        console.print(judgment_table(judgments))
        console.print(doubt_table(judgments))
    for line in found.summary():
        console.print(line, highlight=False)
    console.print(f"report: {report}", highlight=False, soft_wrap=True)
    for judgment in judgments:
        console.print(f"calibration: {judgment.page}", highlight=False, soft_wrap=True)


def _shown(name: str, results: pa.Table) -> Table:
    """The first results of an event as a table for the terminal."""
    from rich.table import Table

    from inkling.results import FORECAST

    left_out = results.num_rows - SHOWN_ROWS
    caption = f"… and {left_out:,} more" if left_out > 0 else None
    table = Table(title=f"{name}: {results.num_rows:,}", caption=caption, title_justify="left")
    is_certain = results.num_rows == 0 or set(results["probability"].unique().to_pylist()) == {1.0}
    hidden = {*HIDDEN_COLUMNS, *(ONLY_IN_DOUBT if is_certain else ())}
    if results.num_rows and results["method"][0].as_py() == FORECAST:
        hidden |= {*NOT_OF_FORECASTS}
    columns = [column for column in results.column_names if column not in hidden]
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in results.slice(0, SHOWN_ROWS).select(columns).to_pylist():
        table.add_row(*(_cell(value) for value in row.values()))
    return table


def _cell(value: object) -> str:
    if isinstance(value, list):
        ids = [str(item) for item in value]
        return " ".join(ids if len(ids) <= 6 else [*ids[:3], "…", *ids[-2:]])
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
