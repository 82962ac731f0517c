"""Data of one program put one after the other in time, as streams that go on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from inkling.model.event import Value
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.testing.rows import Rows
from inkling.testing.uncertain import UncertainCase

Row = dict[str, Value]

TIMES = ("t", "begun", "ended", "lo", "hi", "since", "until")
PAUSES = (2, 5, 20)
PLACES = 400
"""More than there are places in the order of one dataset."""


def one_after_the_other(rng: random.Random, cases: Sequence[UncertainCase]) -> UncertainCase:
    """The data of all cases, which share a program; numbers of lost events go on, or belong to further keys."""
    first = cases[0]
    rows: Rows = {name: [] for name in first.rows}
    begins = 0
    for episode, case in enumerate(cases):
        for stream in first.plan.streams:
            here = rows[stream.schema.name]
            last = _last_numbers(stream.schema, here)
            here += [_moved(stream.schema, row, episode, begins, last) for row in case.rows[stream.schema.name]]
        begins = _latest(rows) + rng.choice(PAUSES)
    return replace(first, rows=rows)


def _moved(schema: StreamSchema, row: Row, episode: int, by: int, last: dict[Value, int]) -> Row:
    moved = {**row, "id": f"{row['id']}.{episode}"}
    for name in TIMES:
        if isinstance(time := moved.get(name), int):
            moved[name] = time + by
    if isinstance(place := moved.get("seq"), int):
        moved["seq"] = place + PLACES * episode
    if isinstance(schema.doubt, LostEvents) and episode:
        if schema.doubt.count is not None:  # what is counted does not go on
            moved["k"] = f"{row['k']}{episode}"
        elif isinstance(number := row["n"], int):
            moved["n"] = number + last.get(row["k"], 0)
    return moved


def _last_numbers(schema: StreamSchema, rows: Sequence[Row]) -> dict[Value, int]:
    last: dict[Value, int] = {}
    if isinstance(schema.doubt, LostEvents):
        for row in rows:
            if isinstance(number := row["n"], int):
                last[row["k"]] = max(number, last.get(row["k"], 0))
    return last


def _latest(rows: Rows) -> int:
    times = (row.get(name) for some in rows.values() for row in some for name in TIMES)
    return max(time for time in times if isinstance(time, int))
