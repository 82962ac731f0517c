"""Numbers that show what was lost: a KEY whose numbers, times, counts, bounds and roles fit together."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.checks.ends import Ends
from inkling.io.checks.findings import Finding, Mask, Verdicts, numbered, split
from inkling.io.checks.marks import marks_in
from inkling.io.checks.recorded import Recorded
from inkling.io.normalize import START
from inkling.io.rejects import NO_REJECTS, Reason, shown
from inkling.model.roles import CLOSING, OPENING
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
    rows, after = _before_timeouts(schema, doubt, rows)
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
        *([] if doubt.role is None else _wrong_roles(doubt.role, rows, recorded, ends)),
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


def _wrong_roles(column: str, rows: pa.Table, recorded: Recorded, ends: Ends) -> list[Finding]:
    """A word that every stream knows says what it says; any other says the same in all events of a KEY."""
    roles = rows[column].combine_chunks().take(pa.array(recorded.order)).cast(pa.string())
    words = pc.utf8_lower(roles)
    is_known = np.asarray(pc.is_valid(words).to_numpy(zero_copy_only=False), bool) & recorded.is_event
    opens, closes = (_among(words, meant) for meant in (OPENING, CLOSING))
    is_odd = recorded.number % 2 == 1
    word = numbered([recorded.key, words], len(words))
    first = np.unique(word, return_index=True)[1]  # of each word in a KEY
    means_opening = np.where(opens, True, np.where(closes, False, is_odd[first][word]))

    def wrong(is_wrong: Mask, about: str) -> Finding:
        def detail(key: int) -> str:
            begin = int(recorded.offsets[key])
            place = begin + int(np.argmax(is_wrong[begin : recorded.offsets[key + 1]]))
            does = about or ("opens a segment" if is_odd[place] else "closes a segment")
            return f"event {recorded.number[place]} {does}, and its `{column}` is {shown(roles[place].as_py())}"

        mask = np.bincount(recorded.key[is_wrong], minlength=recorded.n_keys) > 0
        return Finding(Reason.ROLE_MISMATCH, mask, detail)

    number, key = recorded.number, recorded.key
    is_followed = number[recorded.last][key] > number
    is_last = ends.count.known[key] & (ends.count.least[key] == number)
    may_be_last = ~is_followed & (is_last | ~ends.count.known[key])
    return [
        wrong(is_known & (means_opening != is_odd), ""),
        wrong(is_known & _among(words, {"start"}) & (number != 1), "is not the first"),
        wrong(is_known & _among(words, {"resume"}) & (number == 1), "is the first"),
        wrong(is_known & _among(words, {"suspend"}) & is_last, "is the last"),
        wrong(is_known & _among(words, {"end"}) & ~may_be_last, "is not the last"),
    ]


def _among(words: pa.Array, meant: frozenset[str] | set[str]) -> Mask:
    return np.asarray(pc.is_in(words, pa.array(sorted(meant), pa.string())).to_numpy(zero_copy_only=False), bool)


def _before_timeouts(schema: StreamSchema, doubt: LostEvents, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows up to the first time that their KEY is silent for too long, and rejects for those after it."""
    if doubt.timeout is None or not len(rows):
        return rows, NO_REJECTS
    most = schema.units(doubt.timeout)
    key, time = numbered([rows[name] for name in schema.key], len(rows)), rows[START].to_numpy()
    order = np.lexsort((time, key))
    begins = np.append(True, np.diff(key[order]) != 0)
    silent = np.append(False, np.diff(time[order]) > most) & ~begins
    n_silent = np.cumsum(silent)
    of_key = np.maximum.accumulate(np.where(begins, n_silent, 0))
    after = n_silent > of_key
    last = np.maximum.accumulate(np.where(~after, np.arange(len(order)), 0))  # the row before the silence
    bad, closed = np.zeros(len(rows), bool), np.zeros(len(rows), np.int64)
    bad[order] = after
    closed[order] = time[order][last] + most
    return split(schema, rows, bad, lambda place: (Reason.AFTER_TIMEOUT, after_timeout(time[place], closed[place])))


def after_timeout(time: int, closed: int) -> str:
    """Why a row comes too late."""
    return f"it is at {time}, and its key was closed at {closed}"
