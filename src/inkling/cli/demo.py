"""`inkling demo`: an example from nothing to a report: data, program, results, page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.examples import SCORES_PAGE, example_program, infer_streams, learn_models, n_events, try_forecasts
from inkling.cli.execution import Execution, execute
from inkling.cli.generate import require_scenario
from inkling.cli.inputs import given_paths
from inkling.cli.messages import counting, working
from inkling.cli.score import print_scores
from inkling.query import load

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inkling.logical.plan import Per

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from inkling.calibrate import Calibration
    from inkling.report.data import ReportTable


USUAL_EVENTS = 200_000
SHOWN_ROWS = 3
HIDDEN_COLUMNS = ("event", "detected_at", "op")
ONLY_IN_DOUBT = ("method", "error")
NOT_OF_FORECASTS = ("start", "probability", "method", "error", "margin", "model")


def demo(
    name: o.Example = "fleet",
    events: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rows of the main stream.", show_default="200000; fewer for some"),
    ] = None,
    seed: o.Seed = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Where data and report go.", show_default="out/demo/NAME"
        ),
    ] = None,
    runner: o.RunnerChoice = o.Runner.SPARK,
    master: o.Master = "local[*]",
    epsilon: o.Epsilon = 0.01,
    delta: o.Delta = 0.01,
    exact_up_to: o.ExactUpTo = 1024,
    budget: o.Budget = 4,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Generate the data of an example, find its events and write a report."""
    require_scenario(name)
    sampling = o.sampling_of(epsilon, delta, seed, exact_up_to, budget)
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


@dataclass(frozen=True, slots=True)
class Judgment:
    """How one event fared: with its doubt, and with its streams taken for certain."""

    event: str
    ours: Calibration
    naive: Calibration
    n_claimed: int  # by certain processing
    n_certain: int  # of our results
    n_expected: float  # the sum of our probabilities
    page: Path
    happened: pa.Table
    claimed: pa.Table

    @property
    def n_wrong(self) -> int:
        return self.naive.diagonal.n_refuted - self.naive.n_missed


def judge(found: Execution, example: Path, folder: Path) -> list[Judgment]:
    """Compare results with the truth in the folder, if it holds any; writes a page per event."""
    if not (folder / "true").is_dir():
        return []
    from inkling.calibrate import calibrate, compare

    certain = load(example.with_name("certain.ink"))
    declared = {table.name for table in certain.plan.tables}
    tables = {name: data for name, data in found.given.tables.items() if name in declared}
    true, naive = (
        certain.run_local(given_paths(certain, [str(folder / view)], []).streams, tables).tables
        for view in ("true", "naive")
    )
    judgments = []
    for event in found.program.plan.events:
        name, on = event.name, [output.name for output in event.head]
        said, happened, claimed = (tables[name] for tables in (found.tables, true, naive))
        if event.per is Per.MATCH:
            said, happened, claimed = (_with_match(table) for table in (said, happened, claimed))
            on = [MATCH]
        elif event.per is Per.END:
            on.append("end")
        ours = calibrate(said, happened, on=on)
        theirs = calibrate(claimed, happened, on=on, among=said)
        both = compare({"with its doubt": ours, "taken for certain": theirs})
        page = both.to_html(folder / "calibration" / f"{name}.html", title=f"Calibration of {name}")
        n_certain, n_expected = found.results.n_certain(name) or 0, sum(said["probability"].to_pylist())
        judgments.append(Judgment(name, ours, theirs, claimed.num_rows, n_certain, n_expected, page, happened, claimed))
    return judgments


MATCH = "match"


def _with_match(table: pa.Table) -> pa.Table:
    """A match is the events that it rests on, whatever it returns of them."""
    import pyarrow as pa

    ids = [" ".join(map(str, row)) for row in table["lineage"].to_pylist()]
    return table.append_column(MATCH, pa.array(ids, pa.string()))


COLUMNS = ("event", "true", "claimed", "wrong", "missed", "Brier certain", "Brier in doubt")
TITLE = "Deterministic and probabilistic results compared"
NOTE = (
    "What really happened; what certain processing would have claimed, how much of that was wrong and what it missed; "
    "what this report calls certain, what it calls possible, and the sum of its probabilities; "
    "and the mean squared error of the claims and of the probabilities."
)
IN_DOUBT = ("certain", "possible", "expected")
IN_DOUBT_TITLE = "Beside the truth"
N_CLAIMS = 5
"""A report has room for both tables in one; these columns come first."""


def report_tables(judgments: Sequence[Judgment]) -> tuple[ReportTable, ...]:
    """The same for a report; none without truth."""
    from inkling.report.data import ReportTable

    if not judgments:
        return ()
    columns = (*COLUMNS[:N_CLAIMS], *IN_DOUBT, *COLUMNS[N_CLAIMS:])
    return (ReportTable(TITLE, columns, tuple(_long_row(one) for one in judgments), NOTE),)


def judgment_table(judgments: Sequence[Judgment]) -> Table:
    """Claims of certain processing that were wrong, what it missed, and both Brier scores."""
    return _table(TITLE, COLUMNS, [_row(one) for one in judgments])


def doubt_table(judgments: Sequence[Judgment]) -> Table:
    """What certain processing would have claimed, what is certain and what is possible, beside the truth."""
    rows = [(*_row(one)[:3], *_in_doubt(one)) for one in judgments]
    return _table(IN_DOUBT_TITLE, (*COLUMNS[:3], *IN_DOUBT), rows)


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[str | int | float, ...]]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for event, *numbers in rows:
        table.add_row(str(event), *(f"{number:,}" for number in numbers))
    return table


def _long_row(one: Judgment) -> tuple[str | int | float, ...]:
    row = _row(one)
    return *row[:N_CLAIMS], *_in_doubt(one), *row[N_CLAIMS:]


def _in_doubt(one: Judgment) -> tuple[int, int, float]:
    n_results = one.ours.n - one.ours.n_missed
    return one.n_certain, n_results - one.n_certain, round(one.n_expected, 1)


def _row(one: Judgment) -> tuple[str | int | float, ...]:
    n_happened = one.n_claimed - one.n_wrong + one.naive.n_missed
    scores = (round(one.naive.brier_score, 3), round(one.ours.brier_score, 3))
    return one.event, n_happened, one.n_claimed, one.n_wrong, one.naive.n_missed, *scores
