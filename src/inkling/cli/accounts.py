"""Accounts of events as lines of text: a table of how far a pattern got, a tree of what a result rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from inkling.cli.messages import counted
from inkling.why.account import Derivation, Fact, Shown
from inkling.why.progress import Progress, Step

WIDEST = 72
"""Characters of a part that are shown in the table."""


def progress_lines(progress: Progress) -> list[str]:
    """The steps below each other, then what stood in the way."""
    has_limit = any(step.too_long is not None for step in progress.steps)
    headings = ("", "rows", "candidates", "matches", *(["too long"] if has_limit else []))
    grid: list[tuple[str, ...] | str] = [headings]
    way: str | None = None
    for step in progress.steps:
        if step.way != way and step.way is not None:
            grid.append(f"{step.way}:")
        way = step.way
        grid.append(_cells(step)[: len(headings)])
    rows = [row for row in grid if not isinstance(row, str)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    lines = [row if isinstance(row, str) else _aligned(row, widths) for row in grid]
    found = f"{progress.event}: {counted(progress.n_results, 'result')}"
    if not progress.obstacles:
        return [*lines, "", found]
    return [*lines, "", *([found] if progress.n_results else []), *progress.obstacles]


def _cells(step: Step) -> tuple[str, ...]:
    numbers = (step.rows, step.candidates, step.matches, step.too_long)
    what = step.what if len(step.what) <= WIDEST else f"{step.what[: WIDEST - 1]}…"
    return (what, *("" if number is None else f"{number:,}" for number in numbers))


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    first, *numbers = row
    cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))]
    return "  ".join(cells).rstrip()


def tree_lines(tree: Derivation) -> list[str]:
    """A result, and below it what it rests on."""
    return [_said(None, tree), *_below(tree, "")]


def _below(tree: Derivation, indent: str) -> Iterator[str]:
    inside: list[tuple[str | None, Derivation] | Fact] = [*tree.parts, *tree.facts]
    for place, one in enumerate(inside, start=1):
        is_last = place == len(inside)
        branch = f"{indent}{'└─ ' if is_last else '├─ '}"
        if isinstance(one, Fact):
            yield f"{branch}with {one.table}{listed(one.values)}"
            continue
        yield branch + _said(*one)
        yield from _below(one[1], indent + ("   " if is_last else "│  "))


def _said(name: str | None, tree: Derivation) -> str:
    called = "" if name is None else f"{name}: "
    own = "" if not tree.is_row else " (lost)" if tree.ids[0] is None else f" #{tree.ids[0]}"
    when = text_of(tree.start) if tree.start == tree.end else f"{text_of(tree.start)} to {text_of(tree.end)}"
    return f"{called}{tree.source}{own}{listed(tree.values)} at {when}"


def listed(values: Mapping[str, Shown]) -> str:
    """Names and values in parentheses."""
    return f"({', '.join(f'{name}={text_of(value)}' for name, value in values.items())})"


def text_of(value: Shown) -> str:
    """A value as programs write it, a timestamp in ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return repr(value) if isinstance(value, str) else str(value)
