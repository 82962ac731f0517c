"""Queries over probable streams, ready to be answered, and what the definition says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tests.kit.context import Tables
from tests.kit.oracle import expression_context

from inkling.analysis.query.normal_form import query_of
from inkling.analysis.query.query import Query
from inkling.evaluators.query.answers import Answers
from inkling.evaluators.query.event import predicates_of
from inkling.evaluators.query.probable_events import ProbableEvents, equality_codes, probable_events_of
from inkling.io.normalize import START, normalize
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.meaning.streams import RawRow
from inkling.model.batch import Ints
from inkling.model.event import Value
from inkling.model.hashes import combined
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of complete times."""

    events: ProbableEvents
    predicates: Ints
    tables: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Ready:
    """A query and the rows of its streams."""

    query: Query
    context: ExpressionContext
    schemas: Mapping[str, StreamSchema]
    tables: Mapping[str, pa.Table]

    @property
    def times(self) -> list[int]:
        return sorted({time for rows in self.tables.values() for time in rows[START].to_pylist()})

    def block(self, *, exactly: bool = True, after: int | None = None, until: int | None = None) -> Block:
        """The rows after one time and up to another."""
        tables = {name: _between(rows, after, until) for name, rows in self.tables.items()}
        events = probable_events_of(self.query, self.schemas, tables, exact_numbers=exactly)
        return Block(events, predicates_of(self.query, events, tables, self.context), tables)

    def blocks(self, cuts: Sequence[int], *, exactly: bool = True) -> Iterator[Block]:
        borders = [None, *cuts, None]
        for after, until in pairwise(borders):
            yield self.block(exactly=exactly, after=after, until=until)


def ready(
    plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]], tables: Tables | None = None, event: str | None = None
) -> Ready | None:
    """An event of a program as a query; None if it asks for more."""
    asked = next(one for one in plan.events if event in (None, one.name))
    query = query_of(asked, plan).conclusion
    if query is None:
        return None
    schemas = {one.schema.name: one.schema for one in plan.streams}
    read = {}
    for name in query.sources:
        found = normalize(_raw(schemas[name], rows.get(name, ())), schemas[name])
        assert not len(found.rejects), found.rejects.to_pylist()
        read[name] = found.rows
    return Ready(query, expression_context(plan, tables or {}, Clock.TICKS), schemas, read)


def _raw(schema: StreamSchema, rows: Sequence[RawRow]) -> pa.Table:
    if rows:
        names = dict.fromkeys(name for row in rows for name in row)
        listed = [{name: row.get(name) for name in names} for row in rows]
        return pa.Table.from_pylist(
            [{k: float(v) if isinstance(v, Fraction) else v for k, v in r.items()} for r in listed]
        )
    return pa.table({})


def _between(rows: pa.Table, after: int | None, until: int | None) -> pa.Table:
    if after is not None:
        rows = rows.filter(pc.greater(rows[START], after))
    return rows if until is None else rows.filter(pc.less_equal(rows[START], until))


def unit_of(values: Sequence[Value], kind: pa.DataType | None = None) -> int:
    """The unit in which variables have these values."""
    codes = [equality_codes(pa.array([value], kind)) for value in values]
    return int(combined(np.zeros(1, np.uint64), *codes)[0]) if codes else 0


def combined_answers(answers: Answers, *, once: bool) -> dict[int, Fraction | float]:
    """The chance that any of the units has a match that ends at a time; `once`, that has had any by then."""
    by_unit: dict[int, dict[int, Fraction | float]] = {}
    for unit, time, chance in zip(
        answers.grounding.tolist(), answers.time.tolist(), answers.chance.tolist(), strict=True
    ):
        by_unit.setdefault(unit, {})[time] = chance
    times = sorted({time for some in by_unit.values() for time in some})
    found: dict[int, Fraction | float] = {}
    for time in times:
        none: Fraction | float = Fraction(1)
        for some in by_unit.values():
            here = sum(chance for at, chance in some.items() if at <= time) if once else some.get(time, Fraction(0))
            none *= 1 - here
        found[time] = 1 - none
    return found
