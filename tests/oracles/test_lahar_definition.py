"""The definition gives `P[q at t]` of Lahar's queries over probable values, in exact fractions.

Each line of `probable_values.jsonl` holds a query in Lahar's notation, its streams and the answer at every
time. Its `;` is SEQ NEXT, a condition on a goal is a condition of that part, one on a whole query is HAVING.
Queries whose repetition breaks on a condition (`CHECK`) are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from tests.oracles.probable_values import CASES, GOAL, REPEATED, SELECTION, split, streams_of, tables_of

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.schema import Column, TableSchema
from inkling.model.types import Type
from inkling.model.worlds import joint_worlds
from inkling.testing.oracle import probable_oracle
from inkling.testing.plans import column, compare, event, nearest, program


@dataclass
class Query:
    """Reads a query from left to right; a variable stands for the column where it came first."""

    n_slots: int = 0
    variables: dict[str, tuple[int, str]] = field(default_factory=dict)

    def pattern(self, text: str) -> p.Pattern:
        parts = split(text, " ; ")
        selected = SELECTION.fullmatch(text)
        if len(parts) == 1 and selected and " ; " in selected[2]:
            inner = self.pattern(selected[2])
            return p.Narrowed(inner, None, tuple(self.condition(one) for one in selected[1].split(" and ")))
        return nearest(*(self.part(one) for one in parts))

    def part(self, text: str) -> p.Pattern:
        repeated = REPEATED.fullmatch(text)
        if repeated:
            kept = set(repeated[2].split(","))
            return p.Repetition(self.leaf(repeated[1], kept), 1, None)
        selected = SELECTION.fullmatch(text)
        return self.pattern(text) if selected and " ; " in selected[2] else self.leaf(text)

    def leaf(self, text: str, kept: set[str] | None = None) -> p.Leaf:
        selected = SELECTION.fullmatch(text)
        goal = GOAL.fullmatch(selected[2] if selected else text)
        assert goal is not None, text
        slot = self.n_slots
        self.n_slots += 1
        conditions: list[e.Expr] = []
        terms = [term for term in goal[2].split(",") if term]
        for place, term in enumerate(terms):
            here = column(slot, f"c{place}")
            if term.startswith("'"):
                conditions.append(compare(here, "=", term.strip("'")))
            elif term in self.variables:
                conditions.append(compare(here, "=", self.variable(term)))
            elif kept is None:
                self.variables[term] = (slot, f"c{place}")
            elif term in kept:
                previous = e.ListColumn(e.Which.LAST, slot, f"c{place}", Type.STRING, own=True)
                conditions.append(compare(here, "=", previous))
        if selected:
            own = {term: column(slot, f"c{place}") for place, term in enumerate(terms)}
            conditions.extend(self.condition(one, own) for one in selected[1].split(" and "))
        return p.Leaf(slot, (goal[1],), tuple(conditions))

    def condition(self, text: str, own: dict[str, e.ColumnOf] | None = None) -> e.Expr:
        def term(name: str) -> e.Expr:
            if name.startswith("'"):
                return e.Literal(name.strip("'"), Type.STRING)
            return own[name] if own and name in own else self.variable(name)

        atom = GOAL.fullmatch(text)
        if atom:
            return e.InTable(atom[1], tuple(term(name) for name in atom[2].split(",")))
        left, operator, right = text.split()
        return e.Compare({"!=": "<>"}.get(operator, operator), term(left), term(right))

    def variable(self, name: str) -> e.ColumnOf:
        slot, place = self.variables[name]
        return column(slot, place)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_probability_at_every_time(case: dict) -> None:
    schemas, rows = streams_of(case)
    tables = tables_of(case)
    declared = tuple(
        TableSchema(name, tuple(Column(one, Type.STRING) for one in facts[0]), f"{name}.csv")
        for name, facts in tables.items()
    )
    query = event("q", Query().pattern(case["query"]), per=p.Per.END)
    plan = program(tuple(p.StreamPlan(schema) for schema in schemas.values()), query, tables=declared)
    assert sum(prob for prob, _ in joint_worlds(rows, schemas.values())) == 1
    found = {one.end: one.probability for one in probable_oracle(plan, rows, tables)["q"]}
    assert [found.get(time, 0) for time in range(1, case["T"] + 1)] == [Fraction(x) for x in case["expect"]]
