"""The context of expressions in a test: the facts of tables, and the length of a duration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.kit.derived_facts import with_rules

from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.meaning.streams import RawRow, plain
from inkling.model.event import Value
from inkling.model.time import Clock, Duration

Tables = Mapping[str, Iterable[RawRow]]


def expression_context(plan: p.ProgramPlan, tables: Tables, clock: Clock) -> ExpressionContext:
    """Tables with the columns in their declared order, and the length of durations on the clock."""
    tick = next((stream.schema.tick for stream in plan.streams if stream.schema.tick is not None), None)

    def unit(span: Duration) -> int:
        return span.units(clock, tick)

    facts = {name: tuple(rows) for name, rows in declared_tables(plan, tables).items()}
    return with_rules(plan.rules, ExpressionContext(facts, unit))


def declared_tables(plan: p.ProgramPlan, tables: Tables) -> dict[str, list[dict[str, Value]]]:
    """Rows of the declared tables that are given, with the columns in their declared order."""
    return {
        table.name: [
            {column.name: plain(row.get(column.name)) for column in table.columns} for row in tables.get(table.name, ())
        ]
        for table in plan.tables
    }
