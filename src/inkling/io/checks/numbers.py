"""Numbers that show what was lost: a KEY whose numbers, times, counts, bounds and roles fit together."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.checks.ends import Ends
from inkling.io.checks.findings import Finding, Mask, Verdicts, split
from inkling.io.checks.marks import marks_in
from inkling.io.checks.recorded import Recorded
from inkling.io.checks.roles import wrong_roles
from inkling.io.checks.timeouts import before_timeouts
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

MOST_LOST = 10_000
"""How many events in a row may be lost."""


def checked_numbers(
    schema: StreamSchema, doubt: LostEvents, rows: pa.Table, most_lost: int
) -> tuple[pa.Table, pa.Table]:
    """Rows with a number are taken or set aside with all others of their KEY.

    One without is no recorded event, and one after a timeout is none of its KEY.
    """
    rows, unnumbered = with_numbers(schema, doubt, rows)
    rows, after = before_timeouts(schema, doubt, rows)
    if not len(rows):
        return rows, pa.concat_tables([unnumbered, after])
    recorded = Recorded.of(schema, doubt, rows)
    ends = Ends.of(doubt, rows, recorded)
    findings = [
        _repeated(recorded),
        *ends.counts(),
        *ends.bounds(),
        *ends.rates(),
        *_not_later(doubt, recorded),
        *ends.windows(),
        *([] if doubt.role is None else wrong_roles(doubt.role, rows, recorded, ends)),
        _long_runs(recorded, ends, most_lost),
    ]
    verdicts = Verdicts.of(recorded.n_keys, findings)
    said = cache(verdicts.said)
    of_row = recorded.key_of_row
    good, rejects = split(schema, rows, verdicts.guilty[of_row], lambda place: said(int(of_row[place])))
    return good, pa.concat_tables([unnumbered, after, rejects])


def with_numbers(schema: StreamSchema, doubt: LostEvents, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    if not len(rows):
        return rows, NO_REJECTS
    numbers = rows[doubt.number].combine_chunks()
    least = pa.array(np.where(marks_in(rows, doubt), 0, 1))
    findings = [
        Finding(Reason.NULL_NUMBER, _mask(pc.is_null(numbers)), lambda _: f"`{doubt.number}` is missing"),
        Finding(
            Reason.BAD_NUMBER,
            _mask(pc.fill_null(pc.less(numbers, least), False)),
            lambda place: f"`{doubt.number}` is {numbers[place]}, expected a number from {least[place]}",
        ),
    ]
    verdicts = Verdicts.of(len(rows), findings)
    return split(schema, rows, verdicts.guilty, verdicts.said)


def _mask(truth: pa.Array) -> Mask:
    return np.asarray(truth.to_numpy(zero_copy_only=False), bool)


def _repeated(recorded: Recorded) -> Finding:
    both = recorded.is_event[1:] & recorded.is_event[:-1]
    same = recorded.goes_on & both & (recorded.number[1:] == recorded.number[:-1])

    def detail(key: int) -> str:
        number = recorded.number[recorded.first_with(same, key)]
        mine = slice(recorded.offsets[key], recorded.offsets[key + 1])
        n_events = (recorded.is_event[mine] & (recorded.number[mine] == number)).sum()
        return f"{n_events} events have the number {number}"

    return Finding(Reason.DUPLICATE_NUMBER, recorded.keys_with(same), detail)


def _not_later(doubt: LostEvents, recorded: Recorded) -> list[Finding]:
    """Pairs of neighbors the second of which is not later than the first; a mark may be as late as its event."""
    step, lost = np.diff(recorded.number), recorded.lost_between
    tied = recorded.goes_on & (np.diff(recorded.time) == 0)
    in_no_time = tied & (lost > 0)
    both = recorded.is_event[1:] & recorded.is_event[:-1]
    is_segment = tied & (lost == 0) & both & (recorded.number[:-1] % 2 == 1) & (doubt.role is not None)
    backward = recorded.goes_on & (np.diff(recorded.time) < 0)
    out_of_order = backward | (tied & (lost == 0) & (step > 0) & ~is_segment)

    def about(reason: Reason, pairs: Mask, words: Callable[[int], str]) -> Finding:
        return Finding(reason, recorded.keys_with(pairs), lambda key: words(recorded.first_with(pairs, key)))

    def order(place: int) -> str:
        before, after = recorded.named(place), recorded.named(place + 1)
        return f"{after} is at {recorded.time[place + 1]}, not after {before} at {recorded.time[place]}"

    def segment(place: int) -> str:
        before, after = recorded.named(place), recorded.named(place + 1)
        return f"{before} opens a segment and {after} closes it, both at {recorded.time[place]}"

    def window(place: int) -> str:
        before, after = recorded.named(place), recorded.named(place + 1)
        return f"{lost[place]} lost between {before} and {after}, both at {recorded.time[place]}"

    return [
        about(Reason.NOT_INCREASING, out_of_order, order),
        about(Reason.ZERO_LENGTH_SEGMENT, is_segment, segment),
        about(Reason.ZERO_WINDOW, in_no_time, window),
    ]


def _long_runs(recorded: Recorded, ends: Ends, most_lost: int) -> Finding:
    longest = np.maximum.reduceat(np.append(recorded.lost_between, 0), recorded.first)
    longest = np.maximum(longest, np.maximum(ends.n_before, ends.n_after))
    return Finding(
        Reason.RUN_TOO_LONG,
        longest > most_lost,
        lambda key: f"{longest[key]} events in a row are lost, more than {most_lost}",
    )
