"""Normalization of a stream: raw rows become typed rows, and rows that violate the declaration become rejects."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.errors import InputError, nearest
from inkling.io.casting import TARGETS, Cast, cast_column, clock_of, is_readable, plain_values
from inkling.io.moments import error_columns, moments, on_grid, outside_limits
from inkling.io.readers.rdf_lines import TERMS
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.io.rejects import AN_RDF_TERM, NO_REJECTS, Complaint, Reason, rejected_rows
from inkling.io.withdrawals import EVENT, WITHDRAWAL, no_withdrawals, withdrawals
from inkling.model.batch import in_one_array
from inkling.model.schema import Column, StreamSchema, value_columns
from inkling.model.time import EPOCHS, Clock, limits, limits_in_words
from inkling.model.types import Type
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime, LostEvents, ProbableValue

START, END, PLACE, ID = "@start", "@end", "@place", "@id"
"""Columns of normalized rows: start and end of the event, its place among simultaneous events, and its id."""

ABOUT_TIME = {
    Reason.BAD_TIME,
    Reason.NULL_TIME,
    Reason.ENDS_BEFORE_START,
    Reason.NULL_ERROR,
    Reason.BAD_ERROR,
    Reason.NULL_CLOCK,
}
"""Reasons that imply that the time of a row is invalid."""

OWN_ID = "@own_id"
"""The id of a row whose event has another id; simultaneous rows of a key are sorted by their own ids."""


@dataclass(frozen=True, slots=True)
class LatestTime:
    """The latest credible time in the column START or END, and what is wrong with later ones."""

    column: str
    latest: int
    reason: str


@dataclass(frozen=True, slots=True)
class Normalized:
    """Rows with the declared columns and the `@` columns, rejects, and the clock of times.

    For a stream with OP, `rows` are events, and `withdrawals` the rows that withdraw events.
    """

    rows: pa.Table
    rejects: pa.Table
    clock: Clock
    n_read: int
    withdrawals: pa.Table = field(default_factory=lambda: no_withdrawals(pa.int64()))


def normalize(
    raw: pa.Table,
    schema: StreamSchema,
    derived: Iterable[str] = (),
    *,
    clock: Clock | None = None,
    numbers: NDArray[np.int64] | None = None,
    limit: LatestTime | None = None,
) -> Normalized:
    """Checks and converts the rows of a stream; `derived` columns are computed later and not expected.

    Events after `limit` are rejects. Without `clock`, it is inferred from the data; without `numbers`, records are
    numbered from 1. In a stream without ID, the numbers are the ids.
    """
    wanted = stored_columns(schema, derived)
    if not raw.column_names:  # a list without rows names no columns
        raw = pa.table({column.name: pa.nulls(0) for column in wanted})
    raw = _with_null_columns(raw, schema, wanted)
    require_columns(schema, [column.name for column in wanted], raw.column_names)
    raw = raw.select([*(column.name for column in wanted), *_about_records(raw)])
    says = None if schema.op is None else _ops(raw, schema, schema.op)
    if clock is None:
        clock = clock_in(schema, times_of_events(raw, schema))
    for column in wanted:
        require_readable(schema, column, raw.schema.field(column.name).type, clock)
    if says is None and limit is None:
        plain = _plain_columns(raw, schema, wanted, clock)
        if plain is not None:
            return _without_faults(raw, schema, plain, clock, numbers)
    kept = [column for column in wanted if column.name != schema.op]
    casts = {column.name: cast_column(raw[column.name], column.type, clock, schema.epoch) for column in kept}
    complaints = _complaints(raw, schema, kept, casts, clock)
    if limit is not None:
        complaints.append(_ahead(casts, schema, limit))
    timely = None
    if says is not None:
        timely = ~_any(len(raw), [one for one in complaints if one.reason in ABOUT_TIME])
        complaints = _about_ops(schema, says, complaints)
    good = ~_any(len(raw), complaints)
    read = {name: cast.values for name, cast in casts.items()}
    columns = on_grid(read, schema)
    columns[START], columns[END] = moments(read, schema)
    columns[PLACE] = casts[schema.order_by].values if schema.order_by else pa.nulls(len(raw), pa.int64())
    columns[ID] = casts[schema.id].values if schema.id else pa.array(_numbers(raw, numbers))
    rows = pa.table(columns)
    rejects = NO_REJECTS if good.all() else rejected_rows(schema.name, raw, schema.id, complaints, numbers)
    if says is None or timely is None:
        return Normalized(rows if good.all() else rows.filter(pa.array(good)), rejects, clock, len(raw))
    taken_back = rows.select([ID, END]).set_column(1, END, pc.if_else(pa.array(timely), rows[END], None))
    taken_back = taken_back.filter(pa.array(good & says.withdrawn))
    taken = withdrawals(schema, taken_back[ID], taken_back[END])
    return Normalized(rows.filter(pa.array(good & ~says.withdrawn)), rejects, clock, len(raw), taken)


class Normalizer:
    """`normalize` for successive batches of one stream, with a fast path for batches without faults."""

    def __init__(self, schema: StreamSchema, derived: Iterable[str], clock: Clock) -> None:
        self._schema, self._derived, self._clock = schema, tuple(derived), clock
        self._wanted = [one for one in stored_columns(schema, self._derived) if one.name != schema.op]

    def __call__(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Normalized:
        if self._schema.op is None or raw.column_names.count(self._schema.op) != 1:
            return self._fast(raw, numbers)
        says = _ops(raw, self._schema, self._schema.op)
        if says.happened.all():
            return self._fast(raw)
        others = self._checked(raw.filter(pa.array(~says.happened)))
        if not says.happened.any():
            return others
        events = self._fast(raw.filter(pa.array(says.happened)))
        rejects = pa.concat_tables([events.rejects, others.rejects])
        return replace(events, rejects=rejects, n_read=len(raw), withdrawals=others.withdrawals)

    def up_to(self, limit: LatestTime, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Normalized:
        """The same with rejects for the events after a limit."""
        return normalize(raw, self._schema, self._derived, clock=self._clock, numbers=numbers, limit=limit)

    def _checked(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Normalized:
        return normalize(raw, self._schema, self._derived, clock=self._clock, numbers=numbers)

    def _fast(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Normalized:
        columns = _plain_columns(raw, self._schema, self._wanted, self._clock)
        if columns is None:
            return self._checked(raw, numbers)
        return _without_faults(raw, self._schema, columns, self._clock, numbers)


def _without_faults(
    raw: pa.Table, schema: StreamSchema, columns: dict[str, pa.Array], clock: Clock, numbers: NDArray[np.int64] | None
) -> Normalized:
    """Rows that are all good, given their converted columns."""
    columns[PLACE] = columns[schema.order_by] if schema.order_by else pa.nulls(len(raw), pa.int64())
    columns[ID] = columns[schema.id] if schema.id else pa.array(_numbers(raw, numbers))
    rows = pa.Table.from_arrays(list(columns.values()), list(columns))
    return Normalized(rows, NO_REJECTS, clock, len(raw), no_withdrawals(rows.schema.field(ID).type))


def _plain_columns(
    raw: pa.Table, schema: StreamSchema, wanted: Iterable[Column], clock: Clock
) -> dict[str, pa.Array] | None:
    """The columns if they have the declared types and no row has a fault, else None."""
    if not len(raw) or MALFORMED in raw.column_names:
        return None
    required = {*schema.key, schema.start, schema.end, schema.id, schema.order_by, *error_columns(schema)}
    columns = {}
    for column in wanted:
        place = raw.schema.get_field_index(column.name)  # -1 also if two columns have the name
        if place < 0:
            return None
        given = raw.column(place)
        if given.null_count and column.name in required:
            return None
        values = plain_values(in_one_array(given), column.type, clock, schema.epoch)
        if values is None:
            return None
        columns[column.name] = values
    if any(outside.any() for outside in outside_limits(columns, schema).values()):
        return None
    first, last = moments(columns, schema)
    columns = {**on_grid(columns, schema), START: first, END: last}
    starts, ends = first.to_numpy(), last.to_numpy()
    earliest, latest = limits(clock)
    if starts.min() < earliest or ends.max() > latest:
        return None
    if schema.is_interval and (starts > ends).any():
        return None
    return columns


def stored_columns(schema: StreamSchema, derived: Iterable[str] = ()) -> list[Column]:
    """The columns that an input must have: declared and not computed, or with a role such as key, id or time."""
    computed = set(derived)
    stored = {column.name: column for column in schema.columns if column.name not in computed}
    for name in (schema.start, schema.end):
        stored.setdefault(name, Column(name, schema.time_type))
    for role in (*schema.key, schema.id, schema.order_by):
        if role is not None:
            stored.setdefault(role, Column(role, Type.STRING))
    for column in _uncertainty_columns(schema):
        stored.setdefault(column.name, column)
    if schema.op is not None:
        stored.setdefault(schema.op, Column(schema.op, Type.STRING))
    return list(stored.values())


def row_schema(schema: StreamSchema, derived: Iterable[str] = ()) -> pa.Schema:
    """The columns of normalized rows."""
    kinds = {
        column.name: TARGETS[column.type] for column in stored_columns(schema, derived) if column.name != schema.op
    }
    place = kinds[schema.order_by] if schema.order_by else pa.int64()
    identity = kinds[schema.id] if schema.id else pa.int64()
    return pa.schema([*kinds.items(), (START, pa.int64()), (END, pa.int64()), (PLACE, place), (ID, identity)])


def _uncertainty_columns(schema: StreamSchema) -> list[Column]:
    """Columns that describe uncertainty, with their default types."""
    match schema.uncertainty:
        case None:
            return []
        case ImpreciseTime(weights=weights, error=error):
            listed = [] if weights is None else [Column(weights, Type.WEIGHTS)]
            return [*listed, Column(error.name, Type.INTEGER)] if isinstance(error, ErrorColumn) else listed
        case ProbableValue(probability=probability, given=given):
            values = (schema.column(name) for name in value_columns(schema.uncertainty, schema))
            previous = [Column(name, value.type) for name, value in zip(given, values, strict=False) if value]
            return [Column(probability, Type.DOUBLE), *previous]
        case LostEvents(number=number, role=role, count=count, bounds=bounds, rate=rate):
            kinds = {number: Type.INTEGER, role: Type.STRING, count: Type.INTEGER}
            kinds |= dict.fromkeys(bounds or (), schema.time_type)
            kinds |= {rate: Type.DOUBLE} if isinstance(rate, str) else {}
            return [Column(name, kind) for name, kind in kinds.items() if name is not None]


def declared_clock(schema: StreamSchema) -> Clock | None:
    """The clock, if the declaration determines it."""
    if schema.grid is not None or schema.stamped:
        return Clock.TIMESTAMP
    return Clock.TICKS if schema.time_type is Type.INTEGER or schema.tick is not None else None


def clock_in(schema: StreamSchema, times: pa.ChunkedArray) -> Clock:
    """The clock of a stream with these times; integers are no timestamps, unless EPOCH says what they count."""
    clock = declared_clock(schema)
    if clock is None:
        return clock_of(times)
    if clock is Clock.TIMESTAMP and schema.epoch is None and clock_of(times) is Clock.TICKS:
        raise _integers(schema, times)
    return clock


def _integers(schema: StreamSchema, times: pa.ChunkedArray) -> InputError:
    name = schema.start
    found = next((one for one in cast_column(times, Type.INTEGER, Clock.TICKS).values.to_pylist() if one), None)
    unit = None if found is None else unit_of(found)
    first = "" if found is None else f"; the first is {found}"
    ticks = f"declare `{name} INT`" if unit is None else f"if they are ticks, declare `{name} INT`"
    since = f"if they count time since 1970, write `TIME {name} EPOCH {unit or 'SECONDS'}`"
    return InputError.of(
        "INK0511",
        f"`{name}` of the input for `{schema.name}` has integers, expected timestamps",
        notes=(f"`{schema.name}` declares `{name}` as TIMESTAMP{first}",),
        helps=(since, ticks) if unit else (ticks, since),
    )


def unit_of(number: int) -> str | None:
    """The unit in which an integer is probably a time of our days, or None.

    >>> unit_of(1_772_445_600), unit_of(1_772_445_600_000), unit_of(12)
    ('SECONDS', 'MILLISECONDS', None)
    """
    years = {unit: abs(number) * length / _YEAR_US for unit, length in EPOCHS.items()}
    return next((unit for unit, n in years.items() if 5 <= n <= 500), None)


_YEAR_US = 31_557_600_000_000


def times_of_events(raw: pa.Table, schema: StreamSchema) -> pa.ChunkedArray:
    """The time column without withdrawals, whose times may be invalid."""
    times = raw[schema.start]
    if schema.op is None or schema.op not in raw.column_names:
        return times
    return times.filter(pa.array(~_ops(raw, schema, schema.op).withdrawn))


_SEPARATORS = {"\t": "tab"}


def require_columns(schema: StreamSchema, needed: Sequence[str], present: Sequence[str]) -> None:
    """Rejects an input with a missing or repeated column."""
    visible = [name for name in present if not name.startswith("@")]
    for name in needed:
        if visible.count(name) == 1:
            continue
        if name in visible:
            raise InputError.of("INK0510", f"the input for `{schema.name}` has two columns `{name}`")
        close = nearest(name, visible, n=3)
        if name in (schema.start, schema.end) and visible == [*TERMS]:
            raise InputError.of(
                "INK0504",
                f"the input for `{schema.name}` has no times",
                notes=("N-Triples, Turtle and RDF/XML have triples, but no graphs with times",),
                helps=('write N-Quads or TriG with `<graph> prov:generatedAtTime "…"^^xsd:dateTime`',),
            )
        helps = (f"rename a column, or declare `{close[0]}` instead",) if close else ()
        if len(visible) == 1 and (other := next((one for one in ";\t|" if one in visible[0]), None)):
            helps = (f"write `?sep={_SEPARATORS.get(other, other)}` after the path of the file, in quotes",)
        raise InputError.of(
            "INK0504",
            f"the input for `{schema.name}` has no column `{name}`",
            notes=(f"its columns are {', '.join(visible) or 'none'}",),
            helps=helps,
        )


def require_readable(schema: StreamSchema, column: Column, have: pa.DataType, clock: Clock) -> None:
    """Rejects a column whose type cannot be converted to the declared one."""
    if is_readable(have, column.type, clock, schema.epoch):
        return
    expected = _expected(column, clock)
    raise InputError.of(
        "INK0511",
        f"`{column.name}` of the input for `{schema.name}` has the type {have}, expected {expected}",
        notes=(f"`{schema.name}` declares `{column.name}` as {column.type}",)
        if schema.column(column.name) is not None
        else (),
        helps=(f"if its numbers count time since 1970, write `TIME {schema.start} EPOCH SECONDS`, or another unit",)
        if is_readable(have, column.type, clock, "SECONDS")
        else (),
    )


@dataclass(frozen=True, slots=True)
class _Ops:
    """Masks of rows that are events, and of rows that withdraw one; a row that is neither has an invalid OP."""

    happened: NDArray[np.bool_]
    withdrawn: NDArray[np.bool_]


def _ops(raw: pa.Table, schema: StreamSchema, name: str) -> _Ops:
    values = raw[name]
    require_readable(schema, Column(name, Type.STRING), values.type, Clock.TICKS)
    words = cast_column(values, Type.STRING, Clock.TICKS).values
    return _Ops(*(_mask(pc.fill_null(pc.equal(words, word), False)) for word in (EVENT, WITHDRAWAL)))


def _with_null_columns(raw: pa.Table, schema: StreamSchema, wanted: Sequence[Column]) -> pa.Table:
    """Adds missing columns if all rows are withdrawals, which need only an id."""
    if schema.op is None or schema.op not in raw.column_names or not len(raw):
        return raw
    missing = [column.name for column in wanted if column.name not in (*raw.column_names, schema.id)]
    if missing and _ops(raw, schema, schema.op).withdrawn.all():
        for name in missing:
            raw = raw.append_column(name, pa.nulls(len(raw)))
    return raw


def _about_ops(schema: StreamSchema, says: _Ops, complaints: Sequence[Complaint]) -> list[Complaint]:
    """The complaints about a stream with OP: those about withdrawals are dropped, except about their ids."""
    assert schema.op is not None
    unknown = Complaint(Reason.BAD_OP, schema.op, ~says.happened & ~says.withdrawn, f"'{EVENT}' or '{WITHDRAWAL}'")
    malformed = [one for one in complaints if one.reason is Reason.MALFORMED]
    others = [
        one if one.column == schema.id else replace(one, mask=one.mask & says.happened)
        for one in complaints
        if one.reason is not Reason.MALFORMED
    ]
    return [*malformed, unknown, *others]


def _any(n_rows: int, complaints: Iterable[Complaint]) -> NDArray[np.bool_]:
    """A mask of the rows with a complaint."""
    found = np.zeros(n_rows, bool)
    for complaint in complaints:
        found |= complaint.mask
    return found


def _about_records(raw: pa.Table) -> list[str]:
    return [name for name in (MALFORMED, ORIGINAL) if name in raw.column_names]


def _complaints(
    raw: pa.Table, schema: StreamSchema, wanted: Sequence[Column], casts: dict[str, Cast], clock: Clock
) -> list[Complaint]:
    found = []
    if MALFORMED in raw.column_names:
        found.append(Complaint(Reason.MALFORMED, MALFORMED, _mask(pc.is_valid(raw[MALFORMED]))))
    times = tuple(dict.fromkeys((schema.start, schema.end)))
    kinds = {column.name: _expected(column, clock) for column in wanted}
    for name in times:
        found.append(Complaint(Reason.BAD_TIME, name, _too_far(casts[name], clock), limits_in_words(clock)))
        found.append(Complaint(Reason.BAD_TIME, name, casts[name].bad, kinds[name]))
        found.append(Complaint(Reason.NULL_TIME, name, _null(casts[name])))
    if schema.is_interval:
        backward = pc.greater(casts[schema.start].values, casts[schema.end].values)
        mask = _mask(pc.fill_null(backward, False))
        found.append(Complaint(Reason.ENDS_BEFORE_START, schema.start, mask, schema.end))
    others = {name: cast for name, cast in casts.items() if name not in times}
    found += [
        Complaint(Reason.BAD_VALUE, name, cast.far, limits_in_words(clock))
        for name, cast in others.items()
        if cast.far is not None
    ]
    found += [Complaint(Reason.BAD_VALUE, name, cast.bad, kinds[name]) for name, cast in others.items()]
    found += _error_complaints(schema, casts, clock)
    found += [Complaint(Reason.NULL_KEY, name, _null(casts[name])) for name in schema.key]
    if schema.id is not None:
        found.append(Complaint(Reason.NULL_ID, schema.id, _null(casts[schema.id])))
    if schema.order_by is not None:
        found.append(Complaint(Reason.NULL_ORDER, schema.order_by, _null(casts[schema.order_by])))
    return found


def _error_complaints(schema: StreamSchema, casts: dict[str, Cast], clock: Clock) -> list[Complaint]:
    """Complaints about errors of imprecise times."""
    if not isinstance(schema.uncertainty, ImpreciseTime) or schema.uncertainty.error is None:
        return []
    by_clock = isinstance(schema.uncertainty.error, ClockErrors)
    columns = {name: cast.values for name, cast in casts.items()}
    found = [
        Complaint(Reason.NULL_CLOCK if by_clock else Reason.NULL_ERROR, name, _null(casts[name]))
        for name in error_columns(schema)
    ]
    found += [
        Complaint(Reason.BAD_ERROR, name, mask, expected)
        for name in error_columns(schema)
        for expected, mask in outside_limits(columns, schema).items()
    ]
    for times in moments(columns, schema):
        far = _too_far(Cast(times, casts[schema.start].bad), clock)
        near = f"{limits_in_words(clock)}, errors included"
        found.append(Complaint(Reason.BAD_TIME, schema.start, far, near))
    return found


def _expected(column: Column, clock: Clock) -> str:
    if column.type is Type.TIME:
        return "a timestamp" if clock is Clock.TIMESTAMP else "an integer"
    if column.type is Type.WEIGHTS:
        return "a list of numbers"
    if column.type is Type.TERM:
        return AN_RDF_TERM
    return str(column.type)


def _too_far(cast: Cast, clock: Clock) -> NDArray[np.bool_]:
    first, last = limits(clock)
    far = _mask(pc.fill_null(pc.or_(pc.less(cast.values, first), pc.greater(cast.values, last)), False))
    return far if cast.far is None else far | cast.far


def _ahead(casts: dict[str, Cast], schema: StreamSchema, limit: LatestTime) -> Complaint:
    first, last = moments({name: cast.values for name, cast in casts.items()}, schema)
    later = pc.greater(first if limit.column == START else last, limit.latest)
    shown = schema.start if limit.column == START else schema.end
    return Complaint(Reason.TOO_FAR_AHEAD, shown, _mask(pc.fill_null(later, False)), limit.reason)


def _null(cast: Cast) -> NDArray[np.bool_]:
    return _mask(pc.is_null(cast.values))


def _mask(truth: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    if isinstance(truth, pa.ChunkedArray):
        truth = in_one_array(truth)
    return np.asarray(truth.to_numpy(zero_copy_only=False), bool)


def _numbers(raw: pa.Table, numbers: NDArray[np.int64] | None) -> NDArray[np.int64]:
    return np.arange(1, len(raw) + 1) if numbers is None else numbers
