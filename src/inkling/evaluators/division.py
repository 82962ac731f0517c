"""How the work of an evaluator may be divided among workers, and which columns of its streams are shuffled.

An evaluator declares parts: sets of events whose rows are shuffled together. A runner partitions the rows of a part by
its `Division`, calls `found` on each piece, and combines the outputs of all pieces. This module does not depend on any
runner; `inkling.spark.shuffle` and `inkling.spark.parts` use it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators.protocol import Rows, StreamEvaluator
from inkling.io.checks.acceptable import acceptable
from inkling.io.normalize import END, ID, PLACE, START, row_schema
from inkling.logical.expr import Expr
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.uncertainty import ImpreciseTime
from inkling.results import Matches, NotExact

Columns: TypeAlias = Mapping[str, tuple[str, ...]]
"""By stream, the columns of a key; the n-th columns of all streams correspond to each other."""

Conditions: TypeAlias = Sequence[Sequence[Expr]]
"""A disjunction of conjunctions of conditions on a row."""


@dataclass(frozen=True, slots=True)
class ByKey:
    """Rows with equal values in these columns are in one piece; without columns, all rows are."""

    columns: Columns
    tasks_per_core: int = 1  # more than 1 if keys differ much in their work


@dataclass(frozen=True, slots=True)
class ByTime:
    """Overlapping slices of time. A match belongs to the slice with the earliest possible start of its first event."""

    window: int  # the longest window, in ticks
    before: int  # how long before their first event matches read rows, in ticks
    grid: int  # units of the clock per tick
    length: int | None = None  # of a slice; None: chosen by the data


@dataclass(frozen=True, slots=True)
class ByPairs:
    """Pairs of keys: keys with equal values in these columns are in one piece, large groups in several shares."""

    columns: Columns


@dataclass(frozen=True, slots=True)
class ByWorlds:
    """Each piece has all rows and a share of `n_worlds` possible worlds."""

    n_worlds: int
    tasks_per_core: int = 1


Division: TypeAlias = ByKey | ByTime | ByPairs | ByWorlds


@dataclass(frozen=True, slots=True)
class Slice:
    """First events of matches start at `begins` or later, and before `ends`."""

    begins: int
    ends: int


@dataclass(frozen=True, slots=True)
class Share:
    """Share `number` of `count` shares of the work."""

    number: int = 0
    count: int = 1


Piece: TypeAlias = Slice | Share


class Summary(Protocol):
    """A value that depends on all rows of a stream: the minimum over the values of all KEYs."""

    @property
    def fields(self) -> list[pa.Field]: ...

    def of(self, rows: pa.Table) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class Packing:
    """Rows of one KEY and time as one row: a shuffle costs per row, not per value."""

    schema: pa.Schema  # of packed rows
    hashed: Sequence[str]  # columns whose values become one number, never 0
    chance: str  # the column with a probability
    predicates: Sequence[Sequence[tuple[Sequence[Expr], int]]]  # per bit of a mask, the first case that holds
    given: Sequence[str]  # columns whose values become a further number, 0 if all are null
    packed: Callable[[pa.RecordBatch], pa.RecordBatch]  # of rows with KEY, time, the numbers and id


@dataclass(frozen=True, slots=True)
class Carried:
    """The rows and columns of a stream that are shuffled."""

    stream: StreamPlan
    schema: pa.Schema  # of the shuffled columns
    copies: Mapping[str, str] = field(default_factory=dict)  # columns that equal a shuffled column
    useful: Conditions | None = None  # of the rows that are shuffled; None: all rows
    widest: int | None = None  # the longest time between the ends of a shuffled row
    is_distinct: bool = False  # of rows with one id, which may be in several partitions, one is shuffled
    is_derived: bool = False  # whether columns of DERIVE are shuffled
    summary: Summary | None = None
    packing: Packing | None = None

    @classmethod
    def of(
        cls,
        stream: StreamPlan,
        needed: Iterable[str] | None = None,
        *,
        in_order: bool = False,
        is_derived: bool = False,
        summary: Summary | None = None,
    ) -> Carried:
        """All columns, or only those `needed`; the place of ORDER BY only if `in_order`.

        Streams with ids keep all columns, because they decide which of several rows with one id is the event.
        """
        schema, every = stream.schema, row_schema(stream.schema, [column.name for column in stream.derived])
        fields = [*every, *(pa.field(one.name, ARROW_TYPES[one.expr.type]) for one in stream.derived if is_derived)]
        if needed is not None and (schema.id is None or not isinstance(schema.uncertainty, ImpreciseTime | None)):
            wanted = {START, END, ID, PLACE, *schema.key, *needed}
            fields = [one for one in fields if one.name in wanted]
        copies = _copies(stream, {one.name: one.type for one in fields})
        left = {*copies, *([] if in_order else [PLACE])}
        kept = [one for one in fields if one.name not in left]
        extra = [] if summary is None else summary.fields
        return cls(stream, pa.schema([*kept, *extra]), copies, is_derived=is_derived, summary=summary)

    @property
    def name(self) -> str:
        return self.stream.schema.name

    @property
    def nothing(self) -> pa.Table:
        """No rows."""
        return row_schema(self.stream.schema, [column.name for column in self.stream.derived]).empty_table()

    def holder(self, column: str) -> str:
        """The shuffled column that holds the values of a column."""
        return self.copies.get(column, column)

    def ready(self, rows: pa.Table) -> pa.Table:
        """Shuffled rows with all columns, without rows that fail checks; other code reports those."""
        if self.packing is not None:
            return rows
        for name, original in self.copies.items():
            rows = rows.append_column(name, rows[original])
        if PLACE not in rows.column_names:
            rows = rows.append_column(PLACE, pa.nulls(len(rows), self.nothing[PLACE].type))
        good, _ = acceptable(self.stream.schema, rows.combine_chunks())
        return good


def _copies(stream: StreamPlan, kinds: Mapping[str, pa.DataType]) -> dict[str, str]:
    """Columns that equal a time or the id of their row."""
    schema, same = stream.schema, {}
    if not isinstance(schema.uncertainty, ImpreciseTime) or schema.uncertainty.error is None:
        ends = START if schema.start == schema.end else END
        same = {schema.start: START, schema.end: ends, END: ends}
        same = {name: other for name, other in same.items() if name != other}
    if schema.id is not None:
        same[schema.id] = ID
    return {name: other for name, other in same.items() if name in kinds and kinds[name] == kinds[other]}


@dataclass(frozen=True, slots=True)
class EventMatches:
    """Matches of one event, and further columns for the combination of pieces."""

    event: str
    matches: Matches
    further: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """Information about a piece besides its results."""

    content: Any


@dataclass(frozen=True, slots=True)
class Finish:
    """How the results of an event are combined when all pieces are done."""

    by: tuple[str, ...] | None = None  # rows with equal values are independent derivations of one result
    negligible: float | None = None  # below this error a probability is exact; None: methods are final already
    not_exact: NotExact | None = None  # the error if EXACT is demanded and a result is not exact
    is_ranked: bool = True  # whether TOP applies


SURVIVAL, COUNT = "@survival", "@count"
"""Columns: the log probability that no derivation of a result holds, and the number of derivations."""


class Notes(Protocol):
    """Combines the notes of all pieces."""

    def text(self, notes: Sequence[Any]) -> str: ...

    def rejection(self, notes: Sequence[Any]) -> InputError | None:
        """The error if results cannot be as demanded."""
        ...

    @property
    def demands(self) -> bool:
        """Whether some event demands EXACT."""
        ...


@dataclass(frozen=True, kw_only=True)
class EvaluatorPart(ABC):
    """Some events of an evaluator whose rows are shuffled together."""

    events: tuple[EventPlan, ...]
    ids: Mapping[str, pa.DataType]  # by event: the type of ids in its lineage
    carried: tuple[Carried, ...]
    division: Division
    finishes: Mapping[str, Finish] = field(default_factory=dict)  # by event, unless it is the default
    further: tuple[pa.Field, ...] = ()  # of `EventMatches.further`
    notes: Notes | None = None

    @abstractmethod
    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches | Note | pa.Table]:
        """The results, or sums, of a piece; None: the rows are all there are."""

    def finish(self, event: EventPlan) -> Finish:
        return self.finishes.get(event.name, Finish())


IDENTITY = "@identity"
"""Column of sums: equal numbers belong to the same result."""


@dataclass(frozen=True, kw_only=True)
class SummedPart(EvaluatorPart):
    """A part whose pieces return sums, tables with `EVENT` and `IDENTITY`, which are added up over pieces."""

    sums_schema: pa.Schema
    may_sample_again: bool  # whether undecided results are sampled further

    @abstractmethod
    def added(self, sums: pa.Table) -> Iterator[EventMatches]:
        """Results from the sums of all pieces for some identities."""

    @abstractmethod
    def again(self, undecided: pa.Table) -> SummedPart | None:
        """The part with further sums for undecided results, given as `EVENT` and the further columns.

        None if not needed.
        """


def parts_of(evaluator: StreamEvaluator[Any], ids: Mapping[str, pa.DataType]) -> Sequence[EvaluatorPart]:
    """The parts that an evaluator declares, or one part divided by its key."""
    stated = getattr(evaluator, "parts", None)
    if stated is not None:
        found: Sequence[EvaluatorPart] = stated()
        return found
    carried = tuple(Carried.of(one, in_order=True) for one in evaluator.streams)
    mine = {one.name: ids[one.name] for one in evaluator.events}
    division = ByKey(dict.fromkeys((one.name for one in carried), getattr(evaluator, "key", ())))
    return [WholePart(events=evaluator.events, ids=mine, carried=carried, division=division, evaluator=evaluator)]


@dataclass(frozen=True, kw_only=True)
class WholePart(EvaluatorPart):
    """All events of an evaluator, over the rows of whole keys."""

    evaluator: StreamEvaluator[Any]

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches]:
        for name, table in self.evaluator.answer(rows).tables.items():
            start, end, detected = (table[one].cast(pa.int64()).to_numpy() for one in ("start", "end", "detected_at"))
            method = np.array(table["method"].to_pylist(), object)
            estimated = table["probability"], table["error"], method
            yield EventMatches(name, Matches(start, end, detected, table, table["lineage"], *estimated))
