"""``python -m benchmarks.compare OLD NEW``: the same benchmarks at two times, as files that ``--json`` wrote."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results import Report


def compared(old: Report, new: Report) -> Table:
    """How many times as long, in wall and processor time, each benchmark takes now."""
    table = Table("benchmark", "wall s before", "now", "×", "CPU s before", "now", "×")
    for column in table.columns[1:]:
        column.justify = "right"
    for suite, rows in new.suites.items():
        before = {(row.name, row.data): row for row in old.suites.get(suite, ())}
        for row in rows:
            was = before.get((row.name, row.data))
            if was is not None:
                table.add_row(
                    row.name,
                    f"{was.seconds:.2f}",
                    f"{row.seconds:.2f}",
                    f"{row.seconds / was.seconds:.2f}",
                    f"{was.cpu_seconds:.2f}",
                    f"{row.cpu_seconds:.2f}",
                    f"{row.cpu_seconds / was.cpu_seconds:.2f}" if was.cpu_seconds else "",
                )
    return table


def main() -> None:
    old, new = (Report.read(Path(argument)) for argument in sys.argv[1:])
    Console().print(compared(old, new))


if __name__ == "__main__":
    main()
