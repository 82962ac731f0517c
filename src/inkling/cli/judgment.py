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


def judgment_table(judgments: Sequence[Judgment]) -> Table:
    """Claims of certain processing that were wrong, what it missed, and both Brier scores."""
    from rich.table import Table

    table = Table(title="Taken for certain, and with its doubt", title_justify="left")
    table.add_column("event", no_wrap=True)
    for column in ("true", "claimed", "wrong", "missed", "Brier certain", "Brier in doubt"):
        table.add_column(column, justify="right")
    for one in judgments:
        n_happened = one.n_claimed - one.n_wrong + one.naive.n_missed
        counts = (n_happened, one.n_claimed, one.n_wrong, one.naive.n_missed)
        scores = (one.naive.brier_score, one.ours.brier_score)
        table.add_row(one.event, *(f"{count:,}" for count in counts), *(f"{score:.3f}" for score in scores))
    return table
