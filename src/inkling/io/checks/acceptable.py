"""Events of a stream: its normalized rows without duplicates and without violations of its kind of uncertainty.

Checks of imprecise times: no interval is too wide; weights are one number per tick, none negative, not all zero.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.checks.alternatives import checked_alternatives
from inkling.io.checks.findings import Finding, Verdicts, counted, number_words, split
from inkling.io.checks.numbers import MOST_LOST, checked_numbers
from inkling.io.duplicates import without_duplicates
from inkling.io.normalize import END, START
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.model.schema import StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue


def checked(schema: StreamSchema, rows: pa.Table, *, most_lost: int = MOST_LOST) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects of the normalized rows of some KEYs, all rows of each.

    If rows of an event contradict each other, all of them are rejected; in a chain, also all later rows; in a stream
    with sequence numbers, the whole KEY. So the good rows are valid by themselves. `most_lost` is the maximum
    number of consecutive lost events.
    """
    match schema.uncertainty:
        case None:
            return rows, NO_REJECTS
        case ImpreciseTime():
            return checked_times(schema, schema.uncertainty, rows)
        case ProbableValue():
            return checked_alternatives(schema, schema.uncertainty, rows)
        case LostEvents():
            return checked_numbers(schema, schema.uncertainty, rows, most_lost)


def acceptable(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, list[pa.Table]]:
    """Good rows and rejects; duplicates of ids are rejected unless rows are alternatives or have sequence numbers."""
    if schema.uncertainty is None or isinstance(schema.uncertainty, ImpreciseTime):
        rows, repeated = without_duplicates(schema, rows)
        good, rejected = checked(schema, rows)
        return good, [repeated, rejected]
    good, rejected = checked(schema, rows)
    return good, [rejected]


def checked_times(schema: StreamSchema, uncertainty: ImpreciseTime, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects of imprecise times; a row without weights is valid, and uniform over its ticks."""
    if not len(rows):
        return rows, NO_REJECTS
    findings = [*_widths(schema, uncertainty, rows), *_weights(uncertainty, rows)]
    if not findings:
        return rows, NO_REJECTS
    verdicts = Verdicts.of(len(rows), findings)
    return split(schema, rows, verdicts.guilty, verdicts.fault)


def _widths(schema: StreamSchema, uncertainty: ImpreciseTime, rows: pa.Table) -> list[Finding]:
    if uncertainty.widest is None:
        return []
    most = schema.units(uncertainty.widest)
    widths = rows[END].to_numpy() - rows[START].to_numpy()
    counts_ticks = schema.tick is not None or schema.time_type is Type.INTEGER or uncertainty.widest.unit == "TICKS"
    unit = "tick" if counts_ticks else "microsecond"

    def too_wide(place: int) -> str:
        wide, allowed = (counted(int(one) // uncertainty.step, unit) for one in (widths[place], most))
        ends = (
            f"`{uncertainty.lo}` and `{uncertainty.hi}`"
            if uncertainty.error is None
            else f"the first and last moment of `{uncertainty.lo}`"
        )
        return f"{ends} are {wide} apart, more than {allowed}"

    return [Finding(Reason.TOO_WIDE, widths > most, too_wide)]


def _weights(uncertainty: ImpreciseTime, rows: pa.Table) -> list[Finding]:
    if uncertainty.weights is None:
        return []
    lists = rows[uncertainty.weights].combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    weights = pc.list_flatten(lists).to_numpy(zero_copy_only=False).astype(np.float64)
    owner, ends = np.repeat(np.arange(len(rows)), lengths), np.cumsum(lengths)
    ticks = (rows[END].to_numpy() - rows[START].to_numpy()) // uncertainty.step + 1
    given = pc.is_valid(lists).to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        totals = np.bincount(owner, weights, minlength=len(rows))
    has_negative = np.bincount(owner, weights < 0, minlength=len(rows)) > 0

    def listed(place: int) -> list[float]:
        return [float(weight) for weight in weights[ends[place] - lengths[place] : ends[place]]]

    def wrong_count(place: int) -> str:
        return f"`{uncertainty.weights}` has {counted(lengths[place], 'weight')} for {counted(ticks[place], 'tick')}"

    def not_finite(place: int) -> str:
        odd = [number for number, weight in enumerate(listed(place), start=1) if not np.isfinite(weight)]
        return (
            f"weight {odd[0]} of {lengths[place]} in `{uncertainty.weights}` is not a finite number"
            if odd
            else f"the weights in `{uncertainty.weights}` sum to more than a number can hold"
        )

    def negative(place: int) -> str:
        number, weight = next((n, one) for n, one in enumerate(listed(place), start=1) if one < 0)
        return f"weight {number} of {lengths[place]} in `{uncertainty.weights}` is {number_words(weight)}"

    def all_zero(place: int) -> str:
        return f"all {lengths[place]} weights in `{uncertainty.weights}` are 0"

    return [
        Finding(Reason.WEIGHT_COUNT, given & (lengths != ticks), wrong_count),
        Finding(Reason.WEIGHT_NOT_FINITE, given & ~np.isfinite(totals), not_finite),
        Finding(Reason.NEGATIVE_WEIGHT, given & has_negative, negative),
        Finding(Reason.ZERO_WEIGHTS, given & (totals == 0), all_zero),
    ]
