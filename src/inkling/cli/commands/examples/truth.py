"""The probabilistic and the deterministic results of an example, compared with the ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inkling.analysis.choice import Evaluator
from inkling.analysis.uncertainty import streams_of
from inkling.cli.execution import Execution
from inkling.cli.inputs import given_paths
from inkling.logical.plan import Per
from inkling.model.uncertainty import ProbableValue
from inkling.query import Program, load

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from inkling.forecasting.calibration import Calibration
    from inkling.report.data import ReportTable


@dataclass(frozen=True, slots=True)
class TruthComparison:
    """The results of one event compared with the truth: with probabilities, and of deterministic processing."""

    event: str
    ours: Calibration
    naive: Calibration
    n_claimed: int  # by deterministic processing
    n_certain: int  # of the probabilistic results
    n_expected: float  # the sum of probabilities
    page: Path
    happened: pa.Table
    claimed: pa.Table

    @property
    def n_wrong(self) -> int:
        return self.naive.diagonal.n_refuted - self.naive.n_missed


def evaluate(found: Execution, example: Path, folder: Path) -> list[TruthComparison]:
    """Compare results with the ground truth in the folder, if it holds one, and write a page per event."""
    if not (folder / "true").is_dir():
        return []
    from inkling.forecasting.calibration import calibrate, compare

    certain = load(example.with_name("certain.ink"))
    declared = {table.name for table in certain.plan.tables}
    tables = {name: data for name, data in found.given.tables.items() if name in declared}
    true, naive = (
        certain.run_local(given_paths(certain, [str(folder / view)], []).streams, tables).tables
        for view in ("true", "naive")
    )
    evaluations = []
    for event in found.program.plan.shown:
        name, on = event.name, [output.name for output in event.head]
        emitted, happened, claimed = (tables[name] for tables in (found.tables, true, naive))
        if event.per is Per.MATCH:
            emitted, happened, claimed = (_with_match(table) for table in (emitted, happened, claimed))
            on = [MATCH]
        elif event.per is Per.END:
            on.append("end")
        ours = calibrate(emitted, happened, on=on)
        theirs = calibrate(claimed, happened, on=on, among=emitted)
        both = compare({"probabilistic": ours, "deterministic": theirs})
        page = both.to_html(folder / "calibration" / f"{name}.html", title=f"Calibration of {name}")
        n_certain, n_expected = found.results.n_certain(name) or 0, sum(emitted["probability"].to_pylist())
        evaluations.append(
            TruthComparison(name, ours, theirs, claimed.num_rows, n_certain, n_expected, page, happened, claimed)
        )
    return evaluations


MATCH = "match"


def _with_match(table: pa.Table) -> pa.Table:
    """A match is identified by the events that it depends on, whatever columns it returns."""
    import pyarrow as pa

    ids = [" ".join(map(str, row)) for row in table["lineage"].to_pylist()]
    return table.append_column(MATCH, pa.array(ids, pa.string()))


COLUMNS = ("event", "true", "claimed", "wrong", "missed", "Brier claimed", "Brier probable")
TITLE = "Deterministic and probabilistic results compared"
NOTE = (
    "True: events that happened. Claimed: results of deterministic processing; wrong and missed are its false "
    "positives and false negatives. Certain and possible: results of this report with probability 1, and below 1; "
    "expected is the sum of their probabilities. Brier: mean squared error of the claims, and of the probabilities."
)
PROBABILISTIC = ("certain", "possible", "expected")
PROBABILISTIC_TITLE = "Results compared with the truth"
N_CLAIMS = 5
"""The number of columns before the probabilistic ones in a report, which has both tables in one."""


def notes_on_sums(program: Program, evaluations: Sequence[TruthComparison]) -> tuple[str, ...]:
    """Why expected counts of sequences over readings that are independent of each other are not true counts."""
    plan = program.plan
    without_given = {
        stream.schema.name
        for stream in plan.streams
        if isinstance(stream.schema.uncertainty, ProbableValue) and not stream.schema.uncertainty.given
    }
    queries = {one.event for one in evaluations} & program.physical.answered_by(Evaluator.QUERY).keys()
    about = [
        event.name
        for event in plan.shown
        if event.name in queries and {stream.schema.name for stream in streams_of(event, plan)} & without_given
    ]
    if not about:
        return ()
    return (
        f"Expected is no estimate of true for {' and '.join(about)}: without GIVEN, the times of a stream are "
        "independent, so a value that stays uncertain is drawn again each time. Changes are counted too often, and "
        "stays too rarely.",
    )


def report_tables(program: Program, evaluations: Sequence[TruthComparison]) -> tuple[ReportTable, ...]:
    """The comparison as a table for a report; none without truth."""
    from inkling.report.data import ReportTable

    if not evaluations:
        return ()
    columns = (*COLUMNS[:N_CLAIMS], *PROBABILISTIC, *COLUMNS[N_CLAIMS:])
    note = " ".join((NOTE, *notes_on_sums(program, evaluations)))
    return (ReportTable(TITLE, columns, tuple(_long_row(one) for one in evaluations), note),)


def claims_table(evaluations: Sequence[TruthComparison]) -> Table:
    """Claims of deterministic processing that were wrong, what it missed, and both Brier scores."""
    return _table(TITLE, COLUMNS, [_row(one) for one in evaluations])


def certainty_table(evaluations: Sequence[TruthComparison]) -> Table:
    """What deterministic processing claims, and the certain and possible results, next to the truth."""
    rows = [(*_row(one)[:3], *_probabilistic(one)) for one in evaluations]
    return _table(PROBABILISTIC_TITLE, (*COLUMNS[:3], *PROBABILISTIC), rows)


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[str | int | float, ...]]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for event, *numbers in rows:
        table.add_row(str(event), *(f"{number:,}" for number in numbers))
    return table


def _long_row(one: TruthComparison) -> tuple[str | int | float, ...]:
    row = _row(one)
    return *row[:N_CLAIMS], *_probabilistic(one), *row[N_CLAIMS:]


def _probabilistic(one: TruthComparison) -> tuple[int, int, float]:
    n_results = one.ours.n - one.ours.n_missed
    return one.n_certain, n_results - one.n_certain, round(one.n_expected, 1)


def _row(one: TruthComparison) -> tuple[str | int | float, ...]:
    n_happened = one.n_claimed - one.n_wrong + one.naive.n_missed
    scores = (round(one.naive.brier_score, 3), round(one.ours.brier_score, 3))
    return one.event, n_happened, one.n_claimed, one.n_wrong, one.naive.n_missed, *scores
