"""The definition of rules: the least set of facts that the clauses derive, group by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from inkling.logical.evaluate import Bindings, Row, Surroundings, holds, value_of
from inkling.logical.expr import Literal
from inkling.logical.knowledge import VARIABLES, Clause, RuleAtom, RulePlan
from inkling.model.event import Value
from inkling.model.types import Type


def with_rules(rules: Sequence[RulePlan], around: Surroundings) -> Surroundings:
    """The surroundings with the facts of every rule; those of a group grow until nothing new follows."""
    tables: dict[str, Sequence[Row]] = dict(around.tables)
    for _, members in groupby(rules, lambda rule: rule.group):
        group = list(members)
        tables |= {rule.name: () for rule in group}
        grows = True
        while grows:
            known = Surroundings(tables, around.measure)
            found = {rule.name: tuple(_facts(rule, known)) for rule in group}
            grows = any(len(found[name]) > len(tables[name]) for name in found)
            tables |= found
    return Surroundings(tables, around.measure)


def _facts(rule: RulePlan, around: Surroundings) -> Iterator[Row]:
    """The distinct facts that follow in one step."""
    names = [column.name for column in rule.columns]
    found: dict[tuple[Value, ...], None] = {}
    for clause in rule.clauses:
        for values in _solutions(clause, around):
            at = Bindings(facts={VARIABLES: values})
            head = [value_of(expr, at, around) for expr in clause.head]
            found[tuple(_as(column.type, value) for column, value in zip(rule.columns, head, strict=True))] = None
    yield from (dict(zip(names, fact, strict=True)) for fact in found)


def _solutions(clause: Clause, around: Surroundings) -> Iterator[Mapping[str, Value]]:
    """What the variables may stand for so that everything in the body holds."""
    solutions: list[dict[str, Value]] = [{}]
    for atom in clause.atoms:
        solutions = [
            longer
            for values in solutions
            for row in around.tables[atom.table]
            if (longer := _agreeing(values, atom, row)) is not None
        ]
    for values in solutions:
        for variable, expr in clause.named:
            values[variable.column] = value_of(expr, Bindings(facts={VARIABLES: values}), around)
        at = Bindings(facts={VARIABLES: values})
        if all(holds(condition, at, around) for condition in clause.conditions):
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
            longer[arg.column] = have
            continue
        else:
            wanted = longer[arg.column]
        if wanted is None or have is None or wanted != have:
            return None
    return longer


def _as(kind: Type, value: Value) -> Value:
    return float(value) + 0.0 if kind is Type.DOUBLE and isinstance(value, int | float) else value
