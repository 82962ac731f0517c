"""Data of one program put one after the other in time, as streams that continue."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from tests.kit.context import declared_tables
from tests.kit.rows import Rows
from tests.kit.uncertain import UncertainCase

from inkling.analysis.bounds.window import horizon_of
from inkling.logical import plan as p
from inkling.meaning.worlds import joint_worlds
from inkling.model.event import Value
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

Row = dict[str, Value]

TIMES = ("t", "begun", "ended", "lo", "hi", "since", "until")
PAUSES = (2, 5, 20)
PLACES = 400
"""More than there are places in the order of one dataset."""
MOST_TO_CHOOSE_FROM = 12
"""Events of one world of which a match may have any: every further one doubles the number of matches."""


def that_fit_together(cases: Sequence[UncertainCase]) -> Sequence[UncertainCase]:
    """As many of the first cases, which share a program, as it can be asked to take one after the other."""
    if not any(_has_any_of_all_time(event) for event in cases[0].plan.events):
        return cases
    n_events = accumulate(map(_most_events, cases))
    return cases[: max(1, sum(n <= MOST_TO_CHOOSE_FROM for n in n_events))]


def _has_any_of_all_time(event: p.EventPlan) -> bool:
    """Whether a repetition takes any number of events and may leave out others, however long that takes."""
    if horizon_of(event).conclusion is not None:
        return False
    parts = list(p.parts_of(event.pattern))
    sequences = [part for part in parts if isinstance(part, p.Sequence) and part.policy is not p.Policy.ANY]
    in_turn = {id(part) for sequence in sequences for part in sequence.parts}
    return any(isinstance(part, p.Repetition) and part.high is None and id(part) not in in_turn for part in parts)


def _most_events(case: UncertainCase) -> int:
    """How many events a world of a case has at most."""
    known = declared_tables(case.plan, case.tables)
    worlds = joint_worlds(case.rows, (stream.schema for stream in case.plan.streams), known)
    return max(sum(map(len, rows.values())) for _, rows in worlds)


def one_after_the_other(rng: random.Random, cases: Sequence[UncertainCase]) -> UncertainCase:
    """The data of all cases, which share a program; numbers of lost events continue, or belong to further keys."""
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
    if isinstance(schema.uncertainty, LostEvents) and episode:
        if (
            schema.uncertainty.count is not None or schema.uncertainty.timeout is not None
        ):  # what is closed does not continue
            moved["k"] = f"{row['k']}{episode}"
        elif isinstance(number := row["n"], int):
            moved["n"] = number + last.get(row["k"], 0)
    return moved


def _last_numbers(schema: StreamSchema, rows: Sequence[Row]) -> dict[Value, int]:
    last: dict[Value, int] = {}
    if isinstance(schema.uncertainty, LostEvents):
        for row in rows:
            if isinstance(number := row["n"], int):
                last[row["k"]] = max(number, last.get(row["k"], 0))
    return last


def _latest(rows: Rows) -> int:
    times = (row.get(name) for some in rows.values() for row in some for name in TIMES)
    return max(time for time in times if isinstance(time, int))
