"""Numbered rows of a stream: each must fit those of its key before it, since these are in the worlds already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import key_hashes
from inkling.io.normalize import END
from inkling.io.rejects import Reason
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.worlds.checks.findings import split
from inkling.worlds.checks.numbers import MOST_LOST


@dataclass(frozen=True, slots=True)
class Borders:
    """Up to which time rows were complete before and are now, and up to which moment worlds are decided.

    `decided` is a moment of the worlds' clock, of which `scale` make one of the stream's.
    """

    complete_before: int
    complete: int
    decided: int
    scale: int


@dataclass(frozen=True, slots=True)
class _Said:
    """What a row says, as plain numbers."""

    number: int
    time: int
    count: int | None
    since: int | None
    until: int | None


def numbered_on(
    schema: StreamSchema, doubt: LostEvents, known: pa.Table, fresh: pa.Table, borders: Borders
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Fresh rows that fit the known ones and each other, rejects, and rows before which events were lost too early.

    What was lost before the first row of a key can have happened at a time that is decided already.
    """
    latest: dict[int, _Said] = {}
    for key, said in _in_order(schema, doubt, known)[1]:
        latest[key] = said
    order, rows = _in_order(schema, doubt, fresh)
    faults: dict[int, tuple[Reason, str]] = {}
    too_late = np.zeros(len(fresh), bool)
    for place, (key, said) in zip(order, rows, strict=True):
        before = latest.get(key)
        among_others = _at_the_start(doubt, said) if before is None else _after(doubt, before, said)
        fault = _of_itself(doubt, said) or among_others
        if fault is not None:
            faults[place] = fault
        elif before is None and _starts_too_early(said, borders):
            too_late[place] = True
        else:
            latest[key] = said
    bad = np.isin(np.arange(len(fresh)), list(faults))
    late = fresh.filter(pa.array(too_late))
    _, rejects = split(schema, fresh, bad, lambda place: faults[place])
    return fresh.filter(pa.array(~bad & ~too_late)), rejects, late


def _in_order(schema: StreamSchema, doubt: LostEvents, rows: pa.Table) -> tuple[list[int], list[tuple[int, _Said]]]:
    """Places of rows by time and number, and in that order what they say, with the hash of their key."""
    time, number = rows[END].to_numpy(), rows[doubt.number].to_numpy()
    order = np.lexsort((number, time))
    since, until = doubt.bounds or (None, None)
    count, low, high = (_plain(rows, name) for name in (doubt.count, since, until))
    keys = key_hashes(schema, rows)
    said = [
        (int(keys[at]), _Said(int(number[at]), int(time[at]), count[at], low[at], high[at])) for at in order.tolist()
    ]
    return order.tolist(), said


def _plain(rows: pa.Table, name: str | None) -> list[int | None]:
    return [None] * len(rows) if name is None else rows[name].cast(pa.int64()).to_pylist()


def _starts_too_early(said: _Said, borders: Borders) -> bool:
    return said.number > 1 and said.since is not None and said.since * borders.scale < borders.decided


def _of_itself(doubt: LostEvents, said: _Said) -> tuple[Reason, str] | None:
    if said.count is not None and said.count < said.number:
        return Reason.BAD_COUNT, f"`{doubt.count}` is {said.count}, and there is an event {said.number}"
    if said.count is not None and doubt.role is not None and said.count % 2:
        return Reason.ODD_COUNT, f"`{doubt.count}` is {said.count}, and events open and close segments in turn"
    if doubt.bounds is not None and said.since is not None and said.since > said.time:
        return Reason.BAD_BOUNDS, f"`{doubt.bounds[0]}` is {said.since}, after event {said.number} at {said.time}"
    if doubt.bounds is not None and said.until is not None:
        name, lost = doubt.bounds[1], (said.count or 0) > said.number
        if said.until < said.time or (lost and said.until == said.time):
            return Reason.BAD_BOUNDS, f"`{name}` is {said.until}, and there is an event at {said.time}"
    return None


def _at_the_start(doubt: LostEvents, said: _Said) -> tuple[Reason, str] | None:
    """What can be wrong with the first row of a key."""
    lost = said.number - 1
    if not lost:
        return None
    if said.since is None:
        return Reason.MISSING_BOUND, f"{lost} lost before event {said.number}, and nothing says since when"
    if said.since == said.time:
        name = doubt.bounds[0] if doubt.bounds else ""
        return Reason.ZERO_WINDOW, f"{lost} lost before event {said.number}, and `{name}` is its time, {said.time}"
    return _too_many(lost)


def _after(doubt: LostEvents, before: _Said, said: _Said) -> tuple[Reason, str] | None:
    """What can be wrong with a row after another one of its key."""
    if said.number == before.number:
        return Reason.DUPLICATE_NUMBER, f"another event has the number {said.number}"
    if said.number < before.number:
        order = f"event {said.number} is at {said.time}"
        return Reason.NOT_INCREASING, f"{order}, not before event {before.number} at {before.time}"
    lost = said.number - before.number - 1
    if said.time > before.time:
        return _too_many(lost)
    pair = f"events {before.number} and {said.number}"
    if lost:
        return Reason.ZERO_WINDOW, f"{lost} lost between {pair}, both at {said.time}"
    if doubt.role is not None and before.number % 2:
        return Reason.ZERO_LENGTH_SEGMENT, f"{pair} open and close a segment, both at {said.time}"
    return Reason.NOT_INCREASING, f"{pair} are both at {said.time}"


def _too_many(lost: int) -> tuple[Reason, str] | None:
    if lost <= MOST_LOST:
        return None
    return Reason.RUN_TOO_LONG, f"{lost} events in a row are lost, more than {MOST_LOST}"
