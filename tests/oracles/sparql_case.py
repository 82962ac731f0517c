"""A worked example as a query over triples, in a short notation, and its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.query import Program, parse

DAYS = "STREAM triple(s TERM, p TERM, o TERM, begins BIGINT, ends BIGINT) TIME FROM begins TO ends TICK 1 DAYS;\n"
MINUTES = DAYS.replace("DAYS", "MINUTES")
PROLOGUE = """
BASE <http://example.org/>
PREFIX : <http://example.org/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
_TRIPLE = re.compile(r"(\S+) (\S+) (\S+?)(?:@(-?\d+)|\[(-?\d+),(-?\d+)\])(?:\s|$)")
_SHORT = {"a": "rdf:type"}
_NAMES = {
    "rdf:type": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
    "rdfs:subClassOf": "http://www.w3.org/2000/01/rdf-schema#subClassOf",
    "rdfs:subPropertyOf": "http://www.w3.org/2000/01/rdf-schema#subPropertyOf",
}

Rows = frozenset[tuple[object, ...]]


def term(text: str) -> str:
    """`40` is an integer, `40.0` a decimal, anything else a name."""
    if re.fullmatch(r"-?\d+\.\d+", text):
        return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    if re.fullmatch(r"-?\d+", text):
        return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    text = _SHORT.get(text, text)
    return f"<{_NAMES.get(text) or 'http://example.org/' + text}>"


def short(value: object) -> object:
    """The short notation of a term in results; other values as they are."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"<http://example.org/(.*)>|\"(-?\d+)\"\^\^<.*integer>", value)
    return (found[1] or found[2]) if found else value


@dataclass(frozen=True, slots=True)
class QueryCase:
    """A query, triples such as `c1 price 100@0` or `x p 1[2,5]`, and the rows of each query with start and end."""

    id: str
    query: str
    triples: str
    expected: Mapping[str, str]  # `acme mdy [1,5]; bar - [7,9]` by the name of the query
    background: Mapping[str, str] = field(default_factory=dict)  # `Snow rdfs:subClassOf BadWeather; …` by table
    streams: str = DAYS

    @property
    def program(self) -> Program:
        return parse(self.streams + PROLOGUE + self.query, name=f"{self.id}.epsparql")

    @property
    def rows(self) -> dict[str, list[dict[str, object]]]:
        found = [
            {"s": term(s), "p": term(p), "o": term(o), "begins": int(at or start), "ends": int(at or end)}
            for s, p, o, at, start, end in _TRIPLE.findall(self.triples)
        ]
        assert len(found) == self.triples.count("@") + self.triples.count("[")
        return {"triple": found}

    @property
    def tables(self) -> dict[str, list[dict[str, object]]]:
        return {
            name: [dict(zip("spo", map(term, triple.split()), strict=True)) for triple in text.split(";")]
            for name, text in self.background.items()
        }

    @property
    def wanted(self) -> dict[str, Rows]:
        return {name: frozenset(map(_row, text.split(";") if text else [])) for name, text in self.expected.items()}


def _row(text: str) -> tuple[object, ...]:
    *values, times = text.split()
    start, end = times.strip("[]").split(",")
    return (*(None if value == "-" else value for value in values), int(start), int(end))
