"""Whether results are those that the definition gives, and a readable list of what differs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.meaning.semantics import Result
from inkling.meaning.streams import plain
from inkling.model.event import Value
from inkling.model.types import Type

Expected = Mapping[str, Iterable[Result]]
Actual = Mapping[str, Iterable[Mapping[str, object]]]

INEXACT_AGGREGATES = ("STDDEV",)
MOST_LINES = 20


def same_results(plan: p.ProgramPlan, expected: Expected, actual: Actual) -> None:
    """Fail with a list of differences unless every event has exactly the expected results."""
    found = differences(plan, expected, actual)
    assert not found, "\n".join(["results differ from the definition", *found])


def differences(plan: p.ProgramPlan, expected: Expected, actual: Actual) -> list[str]:
    """Results that are missing (`-`) or unexpected (`+`), one line each, by event."""
    lines: list[str] = []
    for event in plan.events:
        wanted = [_from_result(event, result) for result in expected.get(event.name, ())]
        found = [_from_row(event, row) for row in actual.get(event.name, ())]
        missing, unexpected = _unpaired(wanted, found)
        if missing or unexpected:
            lines.append(f"{event.name}: {len(wanted)} expected, {len(found)} found")
            lines.extend(_listed("-", missing, event))
            lines.extend(_listed("+", unexpected, event))
    return lines


@dataclass(frozen=True, slots=True)
class _Row:
    """A result cut into what must be equal and what rounding may change."""

    exact: tuple[object, ...]
    rounded: tuple[Value, ...]
    shown: tuple[Value, ...]
    start: Value
    end: Value
    detected_at: Value
    lineage: tuple[Value, ...]

    def is_like(self, other: _Row) -> bool:
        pairs = zip(self.rounded, other.rounded, strict=True)
        return self.exact == other.exact and all(_close(one, two) for one, two in pairs)


def _from_result(event: p.EventPlan, result: Result) -> _Row:
    return _row(event, result.values, (result.start, result.end, result.detected_at), result.lineage)


def _from_row(event: p.EventPlan, row: Mapping[str, object]) -> _Row:
    values = tuple(plain(row[output.name]) for output in (*event.head, *event.returns))
    times = tuple(plain(row[name]) for name in ("start", "end", "detected_at"))
    lineage = row["lineage"]
    assert isinstance(lineage, Iterable), f"{lineage!r} is no list of ids"
    return _row(event, values, times, tuple(plain(number) for number in lineage))


def _row(event: p.EventPlan, values: Sequence[Value], times: tuple[Value, ...], lineage: tuple[Value, ...]) -> _Row:
    outputs = (*event.head, *event.returns)
    inexact = [_may_round(output.expr) for output in outputs]
    same = tuple(value for value, rounds in zip(values, inexact, strict=True) if not rounds)
    rounded = tuple(value for value, rounds in zip(values, inexact, strict=True) if rounds)
    start, end, detected_at = times
    return _Row((same, times, lineage), rounded, tuple(values), start, end, detected_at, lineage)


def _may_round(expr: e.Expr) -> bool:
    """Whether a value depends on the order in which doubles are summed, or on a library of functions."""
    return any(
        isinstance(part, e.FunctionCall) or (isinstance(part, e.Aggregate) and part.function in INEXACT_AGGREGATES)
        for part in e.walk(expr)
    ) and expr.type in (Type.DOUBLE, Type.BOOLEAN)


def _close(one: Value, other: Value) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def _unpaired(wanted: list[_Row], found: list[_Row]) -> tuple[list[_Row], list[_Row]]:
    """What is left on either side after pairing equal results."""
    left: dict[tuple[object, ...], list[_Row]] = {}
    for row in found:
        left.setdefault(row.exact, []).append(row)
    missing = []
    for row in wanted:
        like = next((one for one in left.get(row.exact, ()) if row.is_like(one)), None)
        if like is None:
            missing.append(row)
        else:
            left[row.exact].remove(like)
    return missing, [row for rows in left.values() for row in rows]


def _listed(sign: str, rows: list[_Row], event: p.EventPlan) -> list[str]:
    names = [output.name for output in (*event.head, *event.returns)]
    lines = []
    for row in rows[:MOST_LINES]:
        values = ", ".join(f"{name}={value!r}" for name, value in zip(names, row.shown, strict=True))
        times = f"[{row.start}, {row.end}] detected {row.detected_at}"
        lines.append(f"  {sign} ({values}) {times} lineage {list(row.lineage)}")
    if len(rows) > MOST_LINES:
        lines.append(f"  {sign} … and {len(rows) - MOST_LINES} more")
    return lines
