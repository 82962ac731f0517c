"""Programs whose streams can withdraw events, tables of changes for them, and what these tables come to."""

from __future__ import annotations

import random
import re

from tests.kit.rows import Rows

from inkling.model.event import Value

OP = "op"
_TIMES = ("t", "begun", "ended")
_STREAM = re.compile(r"^(STREAM [^;)]*\))( ID id)?([^;]*);", re.MULTILINE)

Row = dict[str, Value]


def revisable(text: str, options: str = "OP op FOR 100 TICKS") -> str:
    """The same program over streams with ids and more options.

    >>> revisable("STREAM A(id STRING) TIME t;")
    'STREAM A(id STRING) ID id TIME t OP op FOR 100 TICKS;'
    """
    return _STREAM.sub(lambda found: f"{found[1]} ID id{found[3]} {options};", text)


def named(text: str) -> str:
    """The same program over streams with ids."""
    return _STREAM.sub(lambda found: f"{found[1]} ID id{found[3]};", text)


def with_withdrawals(rng: random.Random, rows: Rows) -> Rows:
    """Changes in any order: events, some told twice at different times, withdrawals that need and need not be there."""
    return {name: _changes(rng, name, some) for name, some in rows.items()}


def corrected(rows: Rows) -> Rows:
    """What changes come to: the least row of each id that nobody withdraws."""
    return {name: _corrected(some) for name, some in rows.items()}


def _changes(rng: random.Random, name: str, rows: list[Row]) -> list[Row]:
    changes = [{**row, OP: "+"} for row in rows]
    for row in rows:
        if rng.random() < 0.15:
            changes.append({**_moved(rng, row), OP: "+"})
        if rng.random() < 0.3:
            changes += [_withdrawal(rng, row)] * rng.choice((1, 1, 2))
    if rows and rng.random() < 0.3:
        changes.append({**_withdrawal(rng, rows[0]), "id": f"{name.lower()} unknown"})
    rng.shuffle(changes)
    return changes


def _moved(rng: random.Random, row: Row) -> Row:
    """Another row of that id: later or earlier, with other values, or just the same."""
    by = rng.randint(-1, 1)
    times: Row = {name: value + by for name in _TIMES if isinstance(value := row.get(name), int)}
    return {**row, **times, "x": rng.choice((row["x"], 1, None))}


def _withdrawal(rng: random.Random, row: Row) -> Row:
    """Needs nothing but the id; the rest may be there, missing or wrong."""
    kept = {name: value if rng.random() < 0.5 else None for name, value in row.items()}
    return {**kept, "id": row["id"], OP: "-"}


def _corrected(rows: list[Row]) -> list[Row]:
    withdrawn = {row["id"] for row in rows if row[OP] == "-"}
    least: dict[Value, Row] = {}
    for row in sorted((row for row in rows if row[OP] == "+"), key=_rank):
        least.setdefault(row["id"], {name: value for name, value in row.items() if name != OP})
    return [row for name, row in least.items() if name not in withdrawn]


def _rank(row: Row) -> tuple[object, ...]:
    times = [row[name] for name in _TIMES if name in row]
    return (*times, *((value is None, value) for name, value in row.items() if name != OP))
