"""What an example in doubt said, beside what really happened and what certain processing would have claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inkling.cli.execution import Execution
from inkling.cli.inputs import given_paths
from inkling.query import load

if TYPE_CHECKING:
    from rich.table import Table

    from inkling.calibrate import Calibration
    from inkling.report.data import ReportTable


@dataclass(frozen=True, slots=True)
class Judgment:
    """How one event fared: with its doubt, and with its streams taken for certain."""

    event: str
    ours: Calibration
    naive: Calibration
    n_claimed: int  # by certain processing
    page: Path

    @property
    def n_wrong(self) -> int:
        return self.naive.diagonal.n_refuted - self.naive.n_missed


def judge(found: Execution, example: Path, folder: Path) -> list[Judgment]:
    """Compare results with the truth in the folder, if it holds any; writes a page per event."""
    if not (folder / "true").is_dir():
        return []
    from inkling.calibrate import calibrate, compare

    certain = load(example.with_name("certain.ink"))
    true, naive = (
        certain.run_local(given_paths(certain, [str(folder / view)], []).streams).tables for view in ("true", "naive")
    )
    judgments = []
    for event in found.program.plan.events:
        name, on = event.name, [output.name for output in event.head]
        ours = calibrate(found.tables[name], true[name], on=on)
        theirs = calibrate(naive[name], true[name], on=on, among=found.tables[name])
        both = compare({"with its doubt": ours, "taken for certain": theirs})
        page = both.to_html(folder / "calibration" / f"{name}.html", title=f"Calibration of {name}")
        judgments.append(Judgment(name, ours, theirs, naive[name].num_rows, page))
    return judgments


COLUMNS = ("event", "true", "claimed", "wrong", "missed", "Brier certain", "Brier in doubt")
TITLE = "Taken for certain, and with its doubt"
NOTE = (
    "What really happened; what certain processing would have claimed, how much of that was wrong and what it missed; "
    "and the mean squared error of its claims and of the probabilities in this report."
)


def report_tables(judgments: Sequence[Judgment]) -> tuple[ReportTable, ...]:
    """The same for a report; none without truth."""
    from inkling.report.data import ReportTable

    if not judgments:
        return ()
    return (ReportTable(TITLE, COLUMNS, tuple(_row(one) for one in judgments), NOTE),)


def judgment_table(judgments: Sequence[Judgment]) -> Table:
    """Claims of certain processing that were wrong, what it missed, and both Brier scores."""
    from rich.table import Table

    table = Table(title=TITLE, title_justify="left")
    table.add_column(COLUMNS[0], no_wrap=True)
    for column in COLUMNS[1:]:
        table.add_column(column, justify="right")
    for one in judgments:
        event, *numbers = _row(one)
        table.add_row(str(event), *(f"{number:,}" for number in numbers))
    return table


def _row(one: Judgment) -> tuple[str | int | float, ...]:
    n_happened = one.n_claimed - one.n_wrong + one.naive.n_missed
    scores = (round(one.naive.brier_score, 3), round(one.ours.brier_score, 3))
    return one.event, n_happened, one.n_claimed, one.n_wrong, one.naive.n_missed, *scores
