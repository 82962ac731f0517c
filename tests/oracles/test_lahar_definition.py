"""The definition gives `P[q at t]` of Lahar's queries over probable values, in exact fractions.

Each line of `probable_values.jsonl` holds a query in Lahar's notation, its streams and the answer at every
time. Its `;` is SEQ NEXT, a condition on a goal is a condition of that part, one on a whole query is HAVING.
Queries whose repetition breaks on a condition (`CHECK`) are left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.schema import Column, StreamSchema, TableSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ProbableValue
from inkling.model.worlds import joint_worlds
from inkling.testing.oracle import probable_oracle
from inkling.testing.plans import column, compare, event, nearest, program

CASES = [json.loads(line) for line in Path(__file__).with_name("probable_values.jsonl").read_text().splitlines()]

SELECTION = re.compile(r"sigma\[(.*?)\]\((.*)\)")
REPEATED = re.compile(r"\((.*)\)\+<\{(.*?)\}, true>")
GOAL = re.compile(r"(\w+)\((.*)\)")


@dataclass
class Query:
    """Reads a query from left to right; a variable stands for the column where it came first."""

    n_slots: int = 0
    variables: dict[str, tuple[int, str]] = field(default_factory=dict)

    def pattern(self, text: str) -> p.Pattern:
        parts = _split(text, " ; ")
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


def _split(text: str, separator: str) -> list[str]:
    """Parts of the text between separators that stand outside of all parentheses."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and text.startswith(separator, index):
            parts.append(text[start:index])
            start = index + len(separator)
    return [*parts, text[start:]]


def schema_of(kind: str, case: dict) -> StreamSchema:
    streams = [stream for stream in case["streams"] if stream["type"] == kind]
    n_values = max(len(value) for stream in streams for _, value in _values(stream))
    n_keys = case["keys"][kind]
    names = [f"c{place}" for place in range(n_keys + n_values)]
    given = tuple(f"previous_{name}" for name in names[n_keys:]) if "init" in streams[0] else ()
    return StreamSchema(
        kind,
        tuple(Column(name, Type.STRING) for name in names),
        id=None,
        key=tuple(names[:n_keys]),
        start="t",
        end="t",
        time_type=Type.INTEGER,
        doubt=ProbableValue("p", given),
    )


def _values(stream: dict) -> list[tuple[int, tuple[str, ...]]]:
    """Every time and value that a stream mentions; a tuple without values is `()`."""
    if "init" in stream:
        mentioned = [
            *stream["init"],
            *(target for step in stream["cpt"].values() for row in step.values() for target in row),
        ]
        return [(1, tuple(value.split(","))) for value in mentioned if value != "_"]
    return [(time, value) for time, value, _ in _alternatives(stream)]


def _alternatives(stream: dict) -> list[tuple[int, tuple[str, ...], str]]:
    found = []
    for span, values in stream["rows"].items():
        first, _, last = span.partition("-")
        for time in range(int(first), int(last or first) + 1):
            if isinstance(values, str):
                found.append((time, (), values))
            else:
                found.extend((time, tuple(value.split(",")), prob) for value, prob in values.items())
    return found


def rows_of(stream: dict, schema: StreamSchema, n_times: int) -> list[dict[str, object]]:
    names = [one.name for one in schema.columns][len(schema.key) :]
    key = dict(zip(schema.key, stream["key"], strict=True))

    def row(time: int, value: tuple[str, ...], prob: str, previous: str | None = None) -> dict[str, object]:
        before = [None] * len(names) if previous in (None, "_") else previous.split(",")
        given = {f"previous_{name}": one for name, one in zip(names, before, strict=True)}
        return {**key, "t": time, "p": prob, **dict(zip(names, value, strict=True)), **given}

    if "init" not in stream:
        return [row(time, value, prob) for time, value, prob in _alternatives(stream)]
    rows = [row(1, tuple(v.split(",")), prob) for v, prob in stream["init"].items() if v != "_"]
    for time in range(1, n_times):
        step = stream["cpt"].get(str(time), stream["cpt"].get("*", {}))
        for source, targets in step.items():
            rows += [row(time + 1, tuple(v.split(",")), prob, source) for v, prob in targets.items() if v != "_"]
    return rows


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_probability_at_every_time(case: dict) -> None:
    kinds = sorted({stream["type"] for stream in case["streams"]})
    schemas = {kind: schema_of(kind, case) for kind in kinds}
    rows = {
        kind: [
            row
            for stream in case["streams"]
            if stream["type"] == kind
            for row in rows_of(stream, schemas[kind], case["T"])
        ]
        for kind in kinds
    }
    relations = case.get("relations", {})
    tables = {
        name: [{f"c{place}": value for place, value in enumerate(fact)} for fact in facts]
        for name, facts in relations.items()
    }
    declared = tuple(
        TableSchema(name, tuple(Column(one, Type.STRING) for one in facts[0]), f"{name}.csv")
        for name, facts in tables.items()
    )
    query = event("q", Query().pattern(case["query"]), per=p.Per.END)
    plan = program(tuple(p.StreamPlan(schema) for schema in schemas.values()), query, tables=declared)
    assert sum(prob for prob, _ in joint_worlds(rows, schemas.values())) == 1
    found = {one.end: one.probability for one in probable_oracle(plan, rows, tables)["q"]}
    assert [found.get(time, 0) for time in range(1, case["T"] + 1)] == [Fraction(x) for x in case["expect"]]
