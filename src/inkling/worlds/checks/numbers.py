"""Numbers that show what was lost: a KEY whose numbers, times, counts, bounds and roles fit together."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.rejects import NO_REJECTS, Reason
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.worlds.checks.ends import Ends
from inkling.worlds.checks.findings import Finding, Mask, Verdicts, split
from inkling.worlds.checks.recorded import Recorded
from inkling.worlds.checks.roles import wrong_roles

MOST_LOST = 10_000
"""How many events in a row may be lost."""


def checked_numbers(
    schema: StreamSchema, doubt: LostEvents, rows: pa.Table, most_lost: int
) -> tuple[pa.Table, pa.Table]:
    """Rows with a number are taken or set aside with all others of their KEY; one without is no recorded event."""
    rows, unnumbered = with_numbers(schema, doubt, rows)
    if not len(rows):
        return rows, unnumbered
    recorded = Recorded.of(schema, doubt, rows)
    ends = Ends.of(doubt, rows, recorded)
    findings = [
        _repeated(recorded),
        *ends.counts(),
        *ends.bounds(),
        *_not_later(doubt, recorded),
        *ends.windows(),
        *([] if doubt.role is None else [wrong_roles(doubt.role, rows, recorded)]),
        _long_runs(recorded, ends, most_lost),
    ]
    verdicts = Verdicts.of(recorded.n_keys, findings)
    said = cache(verdicts.said)
    of_row = recorded.key_of_row
    good, rejects = split(schema, rows, verdicts.guilty[of_row], lambda place: said(int(of_row[place])))
    return good, pa.concat_tables([unnumbered, rejects])


def with_numbers(schema: StreamSchema, doubt: LostEvents, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    if not len(rows):
        return rows, NO_REJECTS
    numbers = rows[doubt.number].combine_chunks()
    findings = [
        Finding(Reason.NULL_NUMBER, _mask(pc.is_null(numbers)), lambda _: f"`{doubt.number}` is missing"),
        Finding(
            Reason.BAD_NUMBER,
            _mask(pc.fill_null(pc.less(numbers, 1), False)),
            lambda place: f"`{doubt.number}` is {numbers[place]}, expected a number from 1",
        ),
    ]
    verdicts = Verdicts.of(len(rows), findings)
    return split(schema, rows, verdicts.guilty, verdicts.said)


def _mask(truth: pa.Array) -> Mask:
    return np.asarray(truth.to_numpy(zero_copy_only=False), bool)


def _repeated(recorded: Recorded) -> Finding:
    same = recorded.goes_on & (recorded.number[1:] == recorded.number[:-1])

    def detail(key: int) -> str:
        number = recorded.number[recorded.first_with(same, key)]
        numbers = recorded.number[recorded.offsets[key] : recorded.offsets[key + 1]]
        return f"{(numbers == number).sum()} events have the number {number}"

    return Finding(Reason.DUPLICATE_NUMBER, recorded.keys_with(same), detail)


def _not_later(doubt: LostEvents, recorded: Recorded) -> list[Finding]:
    """Pairs of neighbors the second of which is not later than the first."""
    later, tied = np.diff(recorded.time) > 0, np.diff(recorded.time) == 0
    loses = np.diff(recorded.number) > 1
    in_no_time = recorded.goes_on & tied & loses
    is_segment = recorded.goes_on & tied & ~loses & (recorded.number[:-1] % 2 == 1) & (doubt.role is not None)
    out_of_order = recorded.goes_on & ~later & ~in_no_time & ~is_segment

    def about(reason: Reason, pairs: Mask, words: str) -> Finding:
        def detail(key: int) -> str:
            place = recorded.first_with(pairs, key)
            (before, after), (since, until) = recorded.number[place : place + 2], recorded.time[place : place + 2]
            return words.format(before=before, after=after, lost=after - before - 1, since=since, until=until)

        return Finding(reason, recorded.keys_with(pairs), detail)

    return [
        about(Reason.NOT_INCREASING, out_of_order, "event {after} is at {until}, not after event {before} at {since}"),
        about(
            Reason.ZERO_LENGTH_SEGMENT,
            is_segment,
            "event {before} opens a segment and event {after} closes it, both at {since}",
        ),
        about(Reason.ZERO_WINDOW, in_no_time, "{lost} lost between events {before} and {after}, both at {since}"),
    ]


def _long_runs(recorded: Recorded, ends: Ends, most_lost: int) -> Finding:
    between = np.append(np.where(recorded.goes_on, np.diff(recorded.number) - 1, 0), 0)
    longest = np.maximum.reduceat(between, recorded.first)
    longest = np.maximum(longest, np.maximum(ends.n_before, ends.n_after))
    return Finding(
        Reason.RUN_TOO_LONG,
        longest > most_lost,
        lambda key: f"{longest[key]} events in a row are lost, more than {most_lost}",
    )
