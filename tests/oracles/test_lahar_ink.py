"""Programs find `P[q at t]` of Lahar's queries at every time t.

Lahar's `;` is SEQ NEXT, a condition on a goal stands in that part's brackets, one on a whole query is HAVING; streams
are declared PROBABILITY, those with a table of transitions GIVEN the value before, and all worlds are counted out.
Cases that need what the language does not run yet:

| id | needs |
|---|---|
| L07a, L07b, L08, L11, L32, L33: `+<V, θ>` with a θ | CHECK on a repetition |
| interval tables, most probable worlds | no results of a query |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from tests.oracles.probable_values import CASES, GOAL, REPEATED, SELECTION, split, streams_of, tables_of

from inkling import Sampling, parse
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ProbableValue


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
    streams = "\n".join(_declared(name, schema) for name, schema in schemas.items())
    tables = "\n".join(
        f"TABLE {name}({', '.join(f'{column} STRING' for column in facts[0])}) FROM '{name}.csv';"
        for name, facts in tables_of(case).items()
    )
    return f"{streams} {tables} EVENT x AS PATTERN {Query().pattern(case['query'])} PER END;"


def _declared(name: str, schema: StreamSchema) -> str:
    assert isinstance(schema.doubt, ProbableValue)
    columns = "".join(f", {column.name} STRING" for column in schema.columns)
    key = f" KEY {', '.join(schema.key)}" if schema.key else ""
    given = f" GIVEN {', '.join(schema.doubt.given)}" if schema.doubt.given else ""
    return f"STREAM {name}(t BIGINT{columns}){key} TIME t PROBABILITY p{given};"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_probability_at_every_time(case: dict[str, Any]) -> None:
    _, written = streams_of(case)
    rows = {name: [{**row, "p": float(Fraction(str(row["p"])))} for row in some] for name, some in written.items()}
    results = parse(program_of(case)).run_local(rows, tables_of(case), sampling=Sampling(exact_up_to=1_000_000))
    assert not len(results.rejects)
    found = results.tables["x"]
    assert set(found["method"].to_pylist()) <= {"exact"}
    at = dict(zip(found["end"].to_pylist(), found["probability"].to_pylist(), strict=True))
    assert len(at) == len(found)
    wanted = [float(Fraction(one)) for one in case["expect"]]
    assert [at.get(time, 0.0) for time in range(1, case["T"] + 1)] == pytest.approx(wanted, abs=1e-12)


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
