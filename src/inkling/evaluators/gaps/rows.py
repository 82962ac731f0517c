"""A stream with lost events as rows: recorded events, and a row for each missing number, with the borders of its gap.

Both the evaluator of worlds, which draws times for lost events, and that of relations, which sums over their orders,
read streams in this form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators.gaps.sequence_log import BEGUN, SequenceLog
from inkling.io.checks.marks import marks_in
from inkling.io.normalize import END, START, row_schema
from inkling.model.batch import FOREVER, Ints
from inkling.model.hashes import Hashes, combined, hashes_of, row_hashes
from inkling.model.roles import Roles, in_the_middle, role_of
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER


def known_columns(
    name: str, table: pa.Table, distinguished_by: Sequence[str], lost: Mapping[str, pa.Array], like: pa.Schema
) -> dict[str, pa.Array]:
    """Columns of lost events from the table of KNOWN FROM; null where the table has no row for an event.

    Rows are looked up by `distinguished_by`, number and KEY of the stream; the table need not have all of KEY.
    """
    shared = [column for column in distinguished_by if column in table.column_names]
    others = [column for column in table.column_names if column not in shared and column in like.names]
    table = table.select([*shared, *others]).combine_chunks()
    table = table.cast(pa.schema([like.field(column) for column in table.column_names]))
    codes = row_hashes((table[column] for column in shared), len(table))
    order = np.argsort(codes, kind="stable")
    _require_one(name, table, codes, order, shared, others)
    wanted = row_hashes((lost[column] for column in shared), len(lost[shared[0]]))
    place = np.searchsorted(codes[order], wanted)
    is_there = np.append(codes[order], np.uint64(0))[place] == wanted
    is_there &= place < len(order)
    rows = pa.array(np.append(order, 0)[place], mask=~is_there)
    return {column: table[column].combine_chunks().take(rows) for column in others}


def _require_one(
    name: str, table: pa.Table, codes: Hashes, order: np.ndarray, shared: Sequence[str], others: Sequence[str]
) -> None:
    """Raises `InputError` where a table has two different rows for one event."""
    whole = combined(codes, *(hashes_of(table[column].combine_chunks()) for column in others))
    again = np.flatnonzero((np.diff(codes[order]) == 0) & (np.diff(whole[order]) != 0))
    if len(again):
        row = table.select(list(shared)).slice(int(order[again[0]]), 1).to_pylist()[0]
        declared = ", ".join(f"{column} = {value!r}" for column, value in row.items())
        raise InputError.of(
            "INK0563",
            f"the table `{name}` has two rows that differ for {declared}",
            notes=("KNOWN FROM looks up lost events by number and key",),
            helps=("keep one row for each number of a key",),
        )


EVEN, ODD = "@even", "@odd"
"""Columns with the roles of events with even and with odd numbers in the whole stream."""

NO_TABLES: Mapping[str, pa.Table] = {}


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """Recorded events, then a row for every lost event; rows gaps[g]:gaps[g + 1] are lost in (low[g], high[g]).

    A gap without a border, whose events follow a rate, has low -FOREVER or high FOREVER.
    """

    rows: pa.Table
    n_recorded: int
    gaps: Ints
    low: Ints
    high: Ints
    empty: pa.Table  # one mark for each key without events

    @classmethod
    def of(
        cls,
        schema: StreamSchema,
        rows: pa.Table,
        decided: int | None = None,
        tables: Mapping[str, pa.Table] = NO_TABLES,
    ) -> NumberedRows:
        """The rows of a stream; with `decided`, gaps before the first row of a key count only after that time."""
        log = SequenceLog.of(schema, rows)
        gaps = _gaps(log, decided)
        lost = _lost_rows(rows, log, gaps, tables)
        recorded = rows.take(pa.array(log.order[log.is_event]))
        every = pa.concat_tables([recorded, lost]).combine_chunks()
        offsets = len(recorded) + np.concatenate([[0], np.cumsum(gaps.n_lost)])
        is_new = True if decided is None else log.time[log.first] > decided
        nothing = np.where(log.total == 0, log.last, log.first)[
            (log.total == 0) | ((log.total == log.uncounted) & is_new)
        ]
        empty = rows.take(pa.array(log.order[nothing])).combine_chunks()
        return cls(every, len(recorded), offsets, gaps.low, gaps.high, empty)

    def with_empty_keys(self) -> NumberedRows:
        """The same with rows for keys without events, after the recorded rows."""
        n = self.n_recorded
        rows = pa.concat_tables([self.rows.slice(0, n), self.empty, self.rows.slice(n)]).combine_chunks()
        n_empty = len(self.empty)
        return replace(self, rows=rows, n_recorded=n + n_empty, gaps=self.gaps + n_empty, empty=self.empty.slice(0, 0))


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Gaps: their key, the number before, the count of lost events, and their borders."""

    key: Ints
    before: Ints
    n_lost: Ints
    low: Ints
    high: Ints


def _gaps(log: SequenceLog, decided: int | None) -> _Gaps:
    """The gaps before, between and after the rows of each key, ordered by key and number."""
    lost = log.between
    inner = np.flatnonzero(lost > 0)
    first_time = log.time[log.first]
    since, until = np.maximum(log.since, -FOREVER), log.limit
    n_after = log.total - log.number[log.last]
    is_new = decided is None or first_time > decided
    heads = np.flatnonzero((log.before > 0) & is_new & ((since > -FOREVER) | log.has_rate))
    tails = np.flatnonzero((n_after > 0) & ((until < FOREVER) | log.has_rate))
    last = log.last[tails]
    owner = np.searchsorted(log.first, inner, side="right") - 1
    found = _Gaps(
        np.concatenate([heads, owner, tails]),
        np.concatenate([np.zeros(len(heads), np.int64), log.number[inner], log.number[last]]),
        np.concatenate([log.before[heads], lost[inner], n_after[tails]]),
        np.concatenate([since[heads], log.time[inner], log.time[last]]),
        np.concatenate([first_time[heads], log.time[inner + 1], until[tails]]),
    )
    order = np.lexsort((found.before, found.key))
    return _Gaps(found.key[order], found.before[order], found.n_lost[order], found.low[order], found.high[order])


def _lost_rows(rows: pa.Table, log: SequenceLog, gaps: _Gaps, tables: Mapping[str, pa.Table]) -> pa.Table:
    """Rows of lost events: key, number, role, and the columns of KNOWN FROM."""
    schema, uncertainty = log.schema, log.uncertainty
    n, key = gaps.n_lost, np.repeat(gaps.key, gaps.n_lost)
    like = pa.array(log.order[log.first[key]])
    number = np.repeat(gaps.before - np.cumsum(n) + n, n) + 1 + np.arange(len(key))
    columns = {name: rows[name].combine_chunks().take(like) for name in schema.key}
    columns[uncertainty.number] = pa.array(number).cast(rows.schema.field(uncertainty.number).type)
    columns[START] = columns[END] = pa.array(np.repeat(np.where(gaps.low > -FOREVER, gaps.low, gaps.high), n))
    if uncertainty.role is not None:
        is_last = (number == log.total[key]) & log.is_counted[key]
        columns[uncertainty.role] = _roles(roles_of(rows, uncertainty), number, is_last).cast(
            rows.schema.field(uncertainty.role).type
        )
    if uncertainty.known is not None:
        distinguished_by = (uncertainty.number, *schema.key)
        columns |= known_columns(uncertainty.known, tables[uncertainty.known], distinguished_by, columns, rows.schema)
    return pa.table(
        [columns.get(field.name, pa.nulls(len(key), field.type)) for field in rows.schema], schema=rows.schema
    )


def _roles(declared: Roles, number: Ints, is_last: np.ndarray) -> pa.Array:
    """Roles of lost events, by whether their number is odd, the first, or the last."""
    numbers = (2, 3, 1)  # any even, any odd, and the first
    words = pa.array([role_of(declared, one, is_last=last) for last in (False, True) for one in numbers], pa.string())
    place = np.where(number == 1, 2, number % 2)
    return words.take(pa.array(place + 3 * is_last))


def roles_of(rows: pa.Table, uncertainty: LostEvents) -> Roles:
    """The roles of even and of odd numbers, from the rows, or from columns where rows are a part of a stream."""
    if uncertainty.role is None or not len(rows):
        return None, None
    if EVEN in rows.column_names:
        return rows[EVEN][0].as_py(), rows[ODD][0].as_py()
    is_event = ~marks_in(rows, uncertainty)
    odd = rows[uncertainty.number].to_numpy() % 2 == 1
    declared = (rows[uncertainty.role].filter(pa.array(is_event & (odd == bool(parity)))) for parity in (0, 1))
    even_role, odd_role = (
        min((in_the_middle(str(word)) for word in one.drop_null().unique().to_pylist()), default=None)
        for one in declared
    )
    return even_role, odd_role


def of_whole_stream(schema: StreamSchema, rows: pa.Table, roles: Roles, begun: int) -> pa.Table:
    """Rows of a part of a numbered stream with columns that say of the whole stream: its roles, and when it began."""
    if isinstance(schema.uncertainty, LostEvents) and begun > NEVER:
        rows = rows.append_column(BEGUN, pa.repeat(begun, len(rows)))
    if isinstance(schema.uncertainty, LostEvents) and schema.uncertainty.role is not None:
        kind = rows.schema.field(schema.uncertainty.role).type
        for name, role in zip((EVEN, ODD), roles, strict=True):
            rows = rows.append_column(name, pa.repeat(pa.scalar(role, kind), len(rows)))
    return rows


@dataclass(frozen=True, slots=True)
class RolesOf:
    """The summary of a stream that workers need: the roles of lost events depend on the recorded rows of all keys."""

    uncertainty: LostEvents
    fields: list[pa.Field]

    @classmethod
    def stated(cls, schema: StreamSchema) -> RolesOf | None:
        """None where the stream has no roles."""
        if not isinstance(schema.uncertainty, LostEvents) or schema.uncertainty.role is None:
            return None
        kind = row_schema(schema).field(schema.uncertainty.role).type
        return cls(schema.uncertainty, [pa.field(EVEN, kind), pa.field(ODD, kind)])

    def of(self, rows: pa.Table) -> dict[str, object]:
        return dict(zip((EVEN, ODD), roles_of(rows, self.uncertainty), strict=True))
