"""Programs find the times of Lahar's queries, in every possible world of the streams' values.

Lahar's `;` is SEQ NEXT, a condition on a goal stands in that part's brackets, one on a whole query is HAVING. All
worlds of a case run side by side; `P[q at t]` is the probability of the worlds with a result that ends at t.
Cases that need what the language does not run yet:

| id | needs |
|---|---|
| streams declared PROBABILITY | an evaluator for doubt; here the worlds are written out |
| L07a, L07b, L08, L11, L32, L33: `+<V, θ>` with a θ | CHECK on a repetition |
| interval tables, sampling, most probable worlds | no results of a query |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from tests.oracles.in_worlds import results_in, side_by_side
from tests.oracles.probable_values import CASES, GOAL, REPEATED, SELECTION, split, streams_of, tables_of

from inkling import parse


@dataclass
class Query:
    """Writes a query from left to right; a variable stands for the column where it came first."""

    n_parts: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    def pattern(self, text: str) -> str:
        selected = SELECTION.fullmatch(text)
        if len(split(text, " ; ")) == 1 and selected and " ; " in selected[2]:
            inner = self.pattern(selected[2])
            conditions = " AND ".join(self.condition(one, self.variables) for one in selected[1].split(" and "))
            return f"({inner} HAVING {conditions})"
        return f"SEQ NEXT({', '.join(self.part(one) for one in split(text, ' ; '))})"

    def part(self, text: str) -> str:
        repeated = REPEATED.fullmatch(text)
        if repeated:
            return self.leaf(repeated[1], set(repeated[2].split(","))) + "+"
        selected = SELECTION.fullmatch(text)
        return self.pattern(text) if selected and " ; " in selected[2] else self.leaf(text)

    def leaf(self, text: str, kept: set[str] | None = None) -> str:
        selected = SELECTION.fullmatch(text)
        goal = GOAL.fullmatch(selected[2] if selected else text)
        assert goal is not None, text
        name = f"x{self.n_parts}"
        self.n_parts += 1
        own: dict[str, str] = {}
        conditions: list[str] = []
        for place, term in enumerate(term for term in goal[2].split(",") if term):
            if term.startswith("'"):
                conditions.append(f"c{place} = {term}")
            elif term in self.variables:
                conditions.append(f"c{place} = {self.variables[term]}")
            elif kept is None:
                self.variables[term] = f"{name}.c{place}"
            elif term in kept:
                conditions.append(f"c{place} = LAST({name}).c{place}")
            own[term] = f"c{place}"
        if selected:
            conditions += [self.condition(one, {**self.variables, **own}) for one in selected[1].split(" and ")]
        tested = f"[{' AND '.join(conditions)}]" if conditions else ""
        return f"{goal[1]} {name}{tested}"

    def condition(self, text: str, names: dict[str, str]) -> str:
        def term(name: str) -> str:
            return names.get(name, name)

        atom = GOAL.fullmatch(text)
        if atom:
            return f"{atom[1]}({', '.join(term(name) for name in atom[2].split(','))})"
        left, operator, right = text.split()
        return f"{term(left)} {'<>' if operator == '!=' else operator} {term(right)}"


def program_of(case: dict[str, Any]) -> str:
    schemas, _ = streams_of(case)
    columns = {name: [column.name for column in schema.columns] for name, schema in schemas.items()}
    streams = "\n".join(
        f"STREAM {name}(id STRING, w BIGINT, t BIGINT{''.join(f', {one} STRING' for one in some)}) ID id KEY w TIME t;"
        for name, some in columns.items()
    )
    tables = "\n".join(
        f"TABLE {name}({', '.join(f'{column} STRING' for column in facts[0])}) FROM '{name}.csv';"
        for name, facts in tables_of(case).items()
    )
    return f"{streams} {tables} EVENT x(w) AS PATTERN {Query().pattern(case['query'])} PARTITION BY w PER END;"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_probability_is_that_of_the_worlds_with_a_result(case: dict[str, Any]) -> None:
    schemas, rows = streams_of(case)
    worlds = side_by_side(rows, schemas.values())
    probs = [Fraction(0)] * case["T"]
    for row in results_in(program_of(case), worlds.rows, tables_of(case)):
        probs[row["end"] - 1] += worlds.probs[row["w"]]
    assert probs == [Fraction(one) for one in case["expect"]]


def ends(program: str, **streams: list[dict[str, object]]) -> list[object]:
    return parse(program).run_local(streams).tables["x"]["end"].to_pylist()


@pytest.mark.parametrize(
    ("start", "expected"),
    [(1, [3]), (2, [3]), (3, [7]), (5, [7]), (6, [7]), (7, [11]), (10, [11]), (13, [14]), (14, [])],
)
def test_an_event_is_followed_by_the_next_one_only(start: int, expected: list[int]) -> None:
    program = """
        STREAM Q(t BIGINT) TIME t; STREAM R(t BIGINT) TIME t;
        EVENT x AS PATTERN SEQ NEXT(Q, R) PER END;
    """
    assert ends(program, Q=[{"t": start}], R=[{"t": t} for t in (3, 7, 11, 14)]) == expected
