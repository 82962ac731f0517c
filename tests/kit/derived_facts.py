"""The definition of rules: the least set of facts that the clauses derive, group by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import ne

from inkling.logical.evaluate import Bindings, ExpressionContext, Row, holds, of_one_type, value_of
from inkling.logical.expr import Literal
from inkling.logical.knowledge import VARIABLES, RuleAtom, RuleClause, RulePlan
from inkling.model.event import Value
from inkling.model.types import Type


def with_rules(rules: Sequence[RulePlan], context: ExpressionContext) -> ExpressionContext:
    """The context with the facts of every rule; those of a group grow until nothing new follows."""
    tables: dict[str, Sequence[Row]] = dict(context.tables)
    for _, members in groupby(rules, lambda rule: rule.group):
        group = list(members)
        tables |= {rule.name: () for rule in group}
        grows = True
        while grows:
            known = ExpressionContext(tables, context.unit)
            found = {rule.name: tuple(_facts(rule, known)) for rule in group}
            grows = any(len(found[name]) > len(tables[name]) for name in found)
            tables |= found
    return ExpressionContext(tables, context.unit)


def _facts(rule: RulePlan, context: ExpressionContext) -> Iterator[Row]:
    """The distinct facts that follow in one step."""
    names = [column.name for column in rule.columns]
    found: dict[tuple[Value, ...], None] = {}
    for clause in rule.clauses:
        for values in _solutions(clause, context):
            at = Bindings(facts={VARIABLES: values})
            head = [value_of(expr, at, context) for expr in clause.head]
            found[tuple(_as(column.type, value) for column, value in zip(rule.columns, head, strict=True))] = None
    yield from (dict(zip(names, fact, strict=True)) for fact in found)


def _solutions(clause: RuleClause, context: ExpressionContext) -> Iterator[Mapping[str, Value]]:
    """What the variables may stand for so that everything in the body holds."""
    solutions: list[dict[str, Value]] = [{}]
    for atom in clause.atoms:
        solutions = [
            longer
            for values in solutions
            for row in context.tables[atom.table]
            if (longer := _agreeing(values, atom, row)) is not None
        ]
    for values in solutions:
        for variable, expr in clause.named:
            values[variable.column] = value_of(expr, Bindings(facts={VARIABLES: values}), context)
        at = Bindings(facts={VARIABLES: values})
        if all(holds(condition, at, context) for condition in clause.conditions):
            yield values


def _agreeing(values: Mapping[str, Value], atom: RuleAtom, row: Row) -> dict[str, Value] | None:
    """The values with those of a fact, if both agree; null agrees with nothing."""
    longer = dict(values)
    for arg, have in zip(atom.args, row.values(), strict=True):
        if arg is None:
            continue
        if isinstance(arg, Literal):
            wanted: Value = arg.value
        elif arg.column not in longer:
            longer[arg.column] = _as(arg.type, have)
            continue
        else:
            wanted, have = longer[arg.column], _as(arg.type, have)
        if wanted is None or have is None or ne(*of_one_type(wanted, have)):
            return None
    return longer


def _as(kind: Type, value: Value) -> Value:
    return float(value) + 0.0 if kind is Type.DOUBLE and isinstance(value, int | float) else value
