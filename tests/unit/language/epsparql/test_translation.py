"""Queries are these programs: limits of time that streams need, and names that results can have."""

import pytest

import inkling
from inkling.errors import ProgramError
from inkling.language import format_program
from inkling.language.epsparql import EPSPARQL

PROLOGUE = """
PREFIX : <http://example.org/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
LASTING = "STREAM triple(s TERM, p TERM, o TERM) TIME FROM began TO ended;\n"
HOUR = 'FILTER (getDURATION() < "PT1H"^^xsd:duration)'


def program_of(query: str, streams: str = "") -> str:
    return format_program(EPSPARQL.parse(streams + PROLOGUE + query))


def errors_on_a_stream(query: str) -> list[str]:
    """Why an unbounded stream rejects a query."""
    try:
        inkling.parse(PROLOGUE + query, name="query.rq").open()
    except ProgramError as error:
        return [one.code for one in error.diagnostics]
    return []


@pytest.mark.parametrize(
    ("query", "bounded"),
    [
        (f"SELECT ?a {{ ?a :p ?b }} SEQ {{ ?a :q ?c }} {HOUR}", True),
        ("SELECT ?a { ?a :p ?b } SEQ { ?a :q ?c } WITHIN 60", True),
        ("SELECT ?a { ?a :p ?b } SEQ { ?a :q ?c }", False),
        (f"SELECT ?a {{ ?a :p ?b }} OPTIONAL {{ ?a :q ?c {HOUR} }}", True),
        (f"SELECT ?a {{ ?a :q ?c {HOUR} }} OPTIONALSEQ {{ ?a :p ?b }}", True),
        (f"SELECT ?a {{ ?a :q ?c }} OPTIONALSEQ {{ ?a :p ?b }} {HOUR}", False),
        ("SELECT ?a { ?a :p ?b } EQUALSOPTIONAL { ?a :q ?c }", False),
    ],
)
def test_a_limit_of_a_filter_bounds_what_a_stream_keeps(query: str, bounded: bool) -> None:
    assert errors_on_a_stream(query) == ([] if bounded else ["INK0605"])


def test_an_optional_part_of_a_row_that_lasts_longer_has_no_limit() -> None:
    query = f"SELECT ?a {{ ?a :q ?c {HOUR} }} OPTIONALSEQ {{ ?a :p ?b }}"
    assert "WITHIN 1 HOURS" in program_of(query)
    assert "WITHIN" not in program_of(query, LASTING)


def test_columns_of_results_keep_their_names() -> None:
    program = program_of("SELECT ?start ?x { ?start :p ?x }")
    assert "EVENT query1(t1.s AS start_, t1.o AS x)" in program


def test_queries_read_what_others_construct() -> None:
    program = program_of(
        "REGISTER QUERY made AS CONSTRUCT { ?a :q ?b } { ?a :p ?b };"
        "SELECT ?a { ?a :q ?b }; SELECT ?a { ?a :r ?b }; SELECT ?a ?p { ?a ?p :x }"
    )
    assert program.count("triple | made t1") == 2
    assert "PATTERN triple t1[sameterm(p, iri('http://example.org/r'))]" in program
