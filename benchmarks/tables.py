"""A report for people: colored in a terminal, as Markdown in the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.results import Baseline, Goal, Report, Row, quantity
from benchmarks.suites import SUITES

COLUMNS = (
    "benchmark",
    "events/s",
    "wall s",
    "CPU s",
    "baseline",
    "its wall s",
    "its CPU s",
    "wall ×",
    "CPU ×",
    "goals",
)
COMMAND = "make bench"


def show(report: Report, console: Console) -> None:
    for name, rows in report.suites.items():
        table = Table(*COLUMNS, title=f"{name}: {_title(name)}", title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for row in rows:
            goals = "\n".join(f"[{'green' if goal.met else 'red'}]{goal}[/]" for goal in _goals(report, row))
            for number, cells in enumerate(_lines(row)):
                table.add_row(*cells, "" if number else goals, end_section=number == len(row.baselines) - 1)
        console.print(table)


def markdown(report: Report) -> str:
    """The page of the reference that holds the latest figures."""
    machine = report.machine
    versions = ", ".join(f"{name} {machine[name]}" for name in machine if name not in ("date", "processor", "memory"))
    size = " at a size that says little" if report.quick else ""
    parts = [
        "# Benchmarks",
        f"Written by `{COMMAND}`, which measures this machine{size} and fills in the tables below; "
        "`benchmarks/results/latest.json` has the same figures for programs. `python -m benchmarks.compare OLD NEW` "
        "measures two source trees in turns and reports the ratio of processor times for each row.",
        f"{machine['date']}; {machine['processor']}, {machine['memory']}; {versions}.",
        "Every row is the best of several runs that took turns with its baseline, and every baseline found the same "
        "matches. *CPU* is the processor time of the whole family of processes. *×* says how many times as long the "
        "baseline took; under growth and at the prompt, how many times as long as the baseline the row took. *Load* "
        "is how many processes wanted to run in the minute before, the benchmark included: above the number of "
        "cores, wall times say more about the neighbors than about the program.",
    ]
    for name, rows in report.suites.items():
        parts.append(f"## {_title(name)}")
        if SUITES[name].note:
            parts.append(SUITES[name].note)
        data = dict.fromkeys(row.data for row in rows)
        parts.append("Data: " + "; ".join(data) + ".")
        parts.append("\n".join(_markdown_table(rows)))
    return "\n\n".join(parts) + "\n"


def _markdown_table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join((*COLUMNS[:-1], 'found', 'load', 'goals'))} |"
    yield f"|---|{'---:|' * (len(COLUMNS) - 2)}---|---:|---|"
    for row in rows:
        for number, cells in enumerate(_lines(row)):
            goals = "<br>".join(_marked(goal) for goal in row.goals)
            last = ("", "", "") if number else (row.found, f"{row.load:.1f}", goals)
            yield f"| {' | '.join((*cells, *last))} |"


def _goals(report: Report, row: Row) -> tuple[Goal, ...]:
    """Small sizes decide nothing."""
    return () if report.quick else row.goals


def _marked(goal: Goal) -> str:
    return str(goal) if goal.met else f"**{goal}**"


def _lines(row: Row) -> Iterator[tuple[str, ...]]:
    """A line for the row with its first baseline, and one for each other baseline."""
    own = (row.name, "" if row.rate is None else quantity(row.rate), _seconds(row.seconds), _seconds(row.cpu_seconds))
    if not row.baselines:
        yield (*own, "", "", "", "", "")
    for number, baseline in enumerate(row.baselines):
        yield (*(("", "", "", "") if number else own), *_against(row, baseline))


def _against(row: Row, baseline: Baseline) -> tuple[str, ...]:
    costs = (row.seconds, row.cpu_seconds)
    theirs = (baseline.seconds, baseline.cpu_seconds)
    grows = any(goal.most is not None for goal in row.goals)
    ratios = [
        "" if not own or not other else f"{own / other if grows else other / own:.2f}"
        for own, other in zip(costs, theirs, strict=True)
    ]
    return (baseline.name, *map(_seconds, theirs), *ratios)


def _seconds(number: float) -> str:
    """Nothing where nothing was measured."""
    if not number:
        return ""
    return f"{number:.3f}" if number < 1 else f"{number:.2f}"


def _title(suite: str) -> str:
    return SUITES[suite].title
