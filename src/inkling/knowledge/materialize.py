"""All facts of all rules: group after group, each round from what the round before it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import pyarrow as pa

from inkling.errors import InputError
from inkling.knowledge.clauses import DELTA, derived
from inkling.knowledge.relations import HOLDS, new_rows, refuse_too_many
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.knowledge import Clause, RulePlan
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.clock import Measure
from inkling.model.facts import Facts

MAX_ROUNDS = 2_000
"""Rounds in which a rule that makes new values may use itself."""


def known(program: ProgramPlan, tables: Mapping[str, pa.Table], measure: Measure) -> dict[str, pa.Table]:
    """The tables, and those that rules derive from them."""
    facts = dict(tables)
    for _, members in groupby(program.rules, lambda rule: rule.group):
        facts |= _fixpoint(list(members), facts, measure)
    return facts


def surroundings(tables: Mapping[str, pa.Table], measure: Measure) -> Surroundings:
    """What expressions need besides the match."""
    return Surroundings({name: Facts(table) for name, table in tables.items()}, measure)


def _fixpoint(group: Sequence[RulePlan], tables: Mapping[str, pa.Table], measure: Measure) -> dict[str, pa.Table]:
    """The facts of rules that use each other."""
    names = {rule.name for rule in group}
    around = surroundings(tables, measure)
    total = {rule.name: _empty(rule) for rule in group}
    found = {
        rule.name: [derived(rule, one, tables, around) for one in rule.clauses if not _own(one, names)]
        for rule in group
    }
    makes_values = any(_makes_values(one) for rule in group for one in rule.clauses if _own(one, names))
    n_rounds = 0
    while True:
        fresh = {name: new_rows(_united(total[name], some), total[name]) for name, some in found.items()}
        total = {name: pa.concat_tables([total[name], fresh[name]]).combine_chunks() for name in names}
        for name in names:
            refuse_too_many(len(total[name]), name)
        if not any(map(len, fresh.values())) or not any(_own(one, names) for rule in group for one in rule.clauses):
            return total
        n_rounds += 1
        if makes_values and n_rounds > MAX_ROUNDS:
            raise _endless(group[0].name)
        here = {**tables, **total, **{DELTA + name: table for name, table in fresh.items()}}
        found = {
            rule.name: [
                derived(rule, one, here, around, place)
                for one in rule.clauses
                for place in _own(one, names)
                if len(fresh[one.atoms[place].table])
            ]
            for rule in group
        }


def _own(clause: Clause, names: set[str]) -> list[int]:
    """The atoms of a clause that look up rules of its own group."""
    return [place for place, atom in enumerate(clause.atoms) if atom.table in names]


def _makes_values(clause: Clause) -> bool:
    """Whether a fact may hold a value that no fact before it had."""
    return bool(clause.named) or any(not isinstance(value, e.FactColumn | e.Literal) for value in clause.head)


def _united(like: pa.Table, found: list[pa.Table]) -> pa.Table:
    return pa.concat_tables([like.slice(0, 0), *found])


def _empty(rule: RulePlan) -> pa.Table:
    fields = [(column.name, ARROW_TYPES[column.type]) for column in rule.columns]
    return pa.schema(fields or [(HOLDS, pa.bool_())]).empty_table()


def _endless(rule: str) -> InputError:
    return InputError.of(
        "INK0349",
        f"rule `{rule}` still finds new facts after {MAX_ROUNDS:,} rounds",
        notes=("it uses itself and computes a value in each round, so it may never end",),
        helps=("bound that value with a condition such as `n < 100`, or take it from a table",),
    )
