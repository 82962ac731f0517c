"""How the work of an evaluator may be divided, and what of its streams travels to where the work is done.

An evaluator states parts: events whose rows travel together. A runner brings rows together as the division of a part
says, hands them to the part piece by piece, and finishes what the pieces give. Nothing here knows what runs it.
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
"""By stream, columns in the same order."""

Conditions: TypeAlias = Sequence[Sequence[Expr]]
"""Of rows on which all of one of these hold."""


@dataclass(frozen=True, slots=True)
class ByKey:
    """Rows that have the same values in these columns are together; all rows are, where there are none."""

    columns: Columns
    tasks_per_core: int = 1  # more where keys differ much in how much work they are


@dataclass(frozen=True, slots=True)
class ByTime:
    """Overlapping slices of time: a match belongs to the slice in which its first event may begin, at the earliest.

    In ticks of `grid` units: the longest window, and how long before their first event matches look.
    """

    window: int
    before: int
    grid: int
    length: int | None = None  # of slices, if it is not left to the data


@dataclass(frozen=True, slots=True)
class ByPairs:
    """Pairs of keys: those that agree in these columns are together, and large groups of them in several shares."""

    columns: Columns


@dataclass(frozen=True, slots=True)
class ByWorlds:
    """Every piece has all rows, and a share of the worlds, which are so many."""

    n_worlds: int
    tasks_per_core: int = 1


Division: TypeAlias = ByKey | ByTime | ByPairs | ByWorlds


@dataclass(frozen=True, slots=True)
class Slice:
    """From when to before when first events of matches begin."""

    begins: int
    ends: int


@dataclass(frozen=True, slots=True)
class Share:
    """Which of how many shares of the work is to be done."""

    number: int = 0
    count: int = 1


Piece: TypeAlias = Slice | Share


class Summary(Protocol):
    """Something that depends on all rows of a stream: the least of what is found where a KEY is together."""

    @property
    def fields(self) -> list[pa.Field]: ...

    def of(self, rows: pa.Table) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class Packing:
    """Rows of one KEY and time as one row, because a shuffle costs as much for a number as for all of them."""

    schema: pa.Schema  # of packed rows
    hashed: Sequence[str]  # columns whose values become one number, never 0
    chance: str  # the column with a probability
    predicates: Sequence[Sequence[tuple[Sequence[Expr], int]]]  # per bit of a mask, the first case that holds
    given: Sequence[str]  # columns whose values become a further number, 0 if all are null
    packed: Callable[[pa.RecordBatch], pa.RecordBatch]  # of rows with KEY, time, the numbers and id


@dataclass(frozen=True, slots=True)
class Carried:
    """What of a stream travels: which rows, and which of their columns."""

    stream: StreamPlan
    schema: pa.Schema  # of what travels
    copies: Mapping[str, str] = field(default_factory=dict)  # columns that do not, because others hold the same
    useful: Conditions | None = None  # of the rows that travel, if these are not all
    widest: int | None = None  # the longest time between the ends of rows that travel
    is_distinct: bool = False  # rows with one id may lie apart, so one of them travels
    is_derived: bool = False  # with the columns of DERIVE
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
        """With all columns, or those that somebody needs; places among simultaneous rows only if they are `in_order`.

        Which of several rows with one id is the event depends on all columns.
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
        """The column that travels and holds the values of a column."""
        return self.copies.get(column, column)

    def ready(self, rows: pa.Table) -> pa.Table:
        """Rows that pass all checks, with the columns that stayed behind; what does not pass is reported elsewhere."""
        if self.packing is not None:
            return rows
        for name, original in self.copies.items():
            rows = rows.append_column(name, rows[original])
        if PLACE not in rows.column_names:
            rows = rows.append_column(PLACE, pa.nulls(len(rows), self.nothing[PLACE].type))
        good, _ = acceptable(self.stream.schema, rows.combine_chunks())
        return good


def _copies(stream: StreamPlan, kinds: Mapping[str, pa.DataType]) -> dict[str, str]:
    """Columns that repeat a time or the id of their row."""
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
    """Matches of one event, and further columns that finishing them needs."""

    event: str
    matches: Matches
    further: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a piece has to say besides its results."""

    content: Any


@dataclass(frozen=True, slots=True)
class Finish:
    """What is left to do with the results of an event when all pieces are there.

    Rows that agree `by` some columns are independent ways to one result, with `SURVIVAL` and `COUNT`. Below an error
    that is `negligible`, probabilities are exact; None where methods and CONFIDENCE are settled already.
    """

    by: tuple[str, ...] | None = None
    negligible: float | None = None
    not_exact: NotExact | None = None  # the error for answers that must not be sampled
    is_ranked: bool = True  # TOP counts


SURVIVAL, COUNT = "@survival", "@count"
"""The logarithm of the chance that none of the ways to a result is there, and how many they are."""


class Notes(Protocol):
    """What the notes of all pieces come to."""

    def text(self, notes: Sequence[Any]) -> str: ...

    def rejection(self, notes: Sequence[Any]) -> InputError | None:
        """Why results cannot be as they are demanded."""
        ...

    @property
    def demands(self) -> bool:
        """Whether some event demands EXACT, which may be impossible."""
        ...


@dataclass(frozen=True, kw_only=True)
class EvaluatorPart(ABC):
    """Some events of an evaluator whose rows travel together."""

    events: tuple[EventPlan, ...]
    ids: Mapping[str, pa.DataType]  # of what lineage names, by event
    carried: tuple[Carried, ...]
    division: Division
    finishes: Mapping[str, Finish] = field(default_factory=dict)  # of events that need it
    further: tuple[pa.Field, ...] = ()  # columns of what is found
    notes: Notes | None = None  # what becomes of notes, where there are some

    @abstractmethod
    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches | Note | pa.Table]:
        """Results over the rows of a piece, or sums; None is all the work with these rows."""

    def finish(self, event: EventPlan) -> Finish:
        return self.finishes.get(event.name, Finish())


IDENTITY = "@identity"
"""Column of sums: those with the same number are of the same result."""


@dataclass(frozen=True, kw_only=True)
class SummedPart(EvaluatorPart):
    """A part whose pieces give sums, tables with `EVENT` and `IDENTITY`, to be added up before there are results."""

    sums_schema: pa.Schema
    may_sample_again: bool  # at results that are still undecided

    @abstractmethod
    def added(self, sums: pa.Table) -> Iterator[EventMatches]:
        """Results from all sums of some identities."""

    @abstractmethod
    def again(self, undecided: pa.Table) -> SummedPart | None:
        """The part that gives further sums for undecided results, of which their event and the further columns."""


def parts_of(evaluator: StreamEvaluator[Any], ids: Mapping[str, pa.DataType]) -> Sequence[EvaluatorPart]:
    """How work is divided: as the evaluator states, or by its key."""
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
