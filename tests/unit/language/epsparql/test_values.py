"""Functions and conversions of SPARQL, with their values by its definition (SPARQL 1.1, section 17)."""

import pyarrow as pa
import pytest
from tests.conformance.runners import Inputs, LocalBatch, Pushed

import inkling
from inkling.errors import InputError, ProgramError

XSD = "http://www.w3.org/2001/XMLSchema#"
PROLOGUE = f"PREFIX : <http://example.org/>\nPREFIX xsd: <{XSD}>\n"


def value_of(expression: str, term: str) -> object:
    """What an expression of ?b is for a term; ?c is unbound."""
    query = f"SELECT ({expression} AS ?x) WHERE {{ ?a :p ?b }} OPTIONAL {{ ?a :q ?c }}"
    rows = [{"s": "<http://example.org/a>", "p": "<http://example.org/p>", "o": term, "t": 0}]
    (found,) = inkling.parse(PROLOGUE + query, name="q.rq").run_local({"triple": rows}).tables["query1"].to_pylist()
    return found["x"]


@pytest.mark.parametrize(
    ("expression", "term", "value"),
    [
        ("STR(?b)", '"x"@en', '"x"'),
        ("LANG(?b)", '"x"@en', '"en"'),
        ("DATATYPE(?b)", "1", f"<{XSD}integer>"),
        ("?b + 1", "1.5", f'"2.5"^^<{XSD}decimal>'),
        ("?b / 2", "1", f'"0.5"^^<{XSD}decimal>'),
        ("-?b", "1", f'"-1"^^<{XSD}integer>'),
        ("?b + 1", '"x"', None),
        ("?b > 1", "2", f'"true"^^<{XSD}boolean>'),
        ("?b > 1", '"x"', None),
        ('?b > 1 || ?b = "x"', '"x"', f'"true"^^<{XSD}boolean>'),
        ("!(?b = 1)", '"x"', f'"true"^^<{XSD}boolean>'),
        ("COALESCE(?c, ?b + 1, 7)", '"x"', f'"7"^^<{XSD}integer>'),
        ('IF(BOUND(?c), "yes", "no")', "1", '"no"'),
        ('IF(?b > 1, "yes", "no")', '"x"', None),
        ("xsd:integer(?b)", "2.7", f'"2"^^<{XSD}integer>'),
        ("xsd:integer(?b)", '"12"', f'"12"^^<{XSD}integer>'),
        ("xsd:integer(?b)", '"x"', None),
        ("xsd:boolean(?b)", "0", f'"false"^^<{XSD}boolean>'),
        ("xsd:string(?b)", "<http://example.org/x>", '"http://example.org/x"'),
        ("xsd:double(?b)", "true", f'"1.0E0"^^<{XSD}double>'),
        ("isIRI(?b)", "1", f'"false"^^<{XSD}boolean>'),
        ('REGEX(?b, "^A", "i")', '"abc"', f'"true"^^<{XSD}boolean>'),
        ('REGEX(?b, "1")', "1", None),
        ('LANGMATCHES(LANG(?b), "EN")', '"x"@en-GB', f'"true"^^<{XSD}boolean>'),
        ("sameTERM(?b, 1)", "1.0", f'"false"^^<{XSD}boolean>'),
        ("?b = 1", "1.0", f'"true"^^<{XSD}boolean>'),
    ],
)
def test_value(expression: str, term: str, value: object) -> None:
    assert value_of(expression, term) == value


DAYS = "STREAM triple(s TERM, p TERM, o TERM, t BIGINT) TIME t TICK 1 DAYS;\n"
TICKS = DAYS.replace(" TICK 1 DAYS", "")
NO_TYPE = "STREAM triple(s TERM, p TERM, o TERM) TIME t;\n"
PAIR = "{ ?s :p ?a } SEQ { ?s :q ?b }"


def pairs(query: str, streams: str) -> list[dict[str, object]]:
    """The rows of a query over x with :p at 1 and :q at 3, and y with :p at 1 and :q at 2; both may last 36 hours."""
    at = [("x", "p", "1", 1), ("y", "p", "1", 1), ("y", "q", "1", 2), ("x", "q", "1", 3)]
    limit = f'"P1DT12H"^^<{XSD}duration>'
    triples = [*at[:2], ("x", "most", limit, 1), ("y", "most", limit, 1), *at[2:]]
    ns = "http://example.org/"
    rows = [{"s": f"<{ns}{s}>", "p": f"<{ns}{p}>", "o": o, "t": time} for s, p, o, time in triples]
    program = inkling.parse(streams + PROLOGUE + query, name="q.rq")
    inputs = Inputs({"triple": pa.Table.from_pylist(rows)})
    found = LocalBatch().run(program, inputs)["query1"]
    pushed = Pushed(1).run(program, inputs)["query1"]
    assert sorted(map(str, pushed)) == sorted(map(str, found))
    return found


@pytest.mark.parametrize("streams", [DAYS, TICKS], ids=["days", "ticks"])
def test_times_of_ticks_are_integers(streams: str) -> None:
    found = pairs(f"SELECT ?s (getSTARTTIME() AS ?from) (getENDTIME() AS ?to) {PAIR}", streams)
    assert sorted((row["from"], row["to"]) for row in found) == [
        (f'"1"^^<{XSD}integer>', f'"2"^^<{XSD}integer>'),
        (f'"1"^^<{XSD}integer>', f'"3"^^<{XSD}integer>'),
    ]


@pytest.mark.parametrize(
    ("streams", "lengths"),
    [
        (DAYS, [f'"P1D"^^<{XSD}dayTimeDuration>', f'"P2D"^^<{XSD}dayTimeDuration>']),
        (TICKS, [f'"1"^^<{XSD}integer>', f'"2"^^<{XSD}integer>']),
    ],
    ids=["days", "ticks"],
)
def test_a_length_of_time_counts_ticks_or_what_they_last(streams: str, lengths: list[str]) -> None:
    found = pairs(f"SELECT (getDURATION() AS ?length) {PAIR}", streams)
    assert sorted(str(row["length"]) for row in found) == lengths


@pytest.mark.parametrize(
    ("condition", "streams", "subjects"),
    [
        ("getENDTIME() > 2", DAYS, "x"),
        ("getENDTIME() > 2", NO_TYPE, "x"),
        ("getSTARTTIME() = ?a", DAYS, "xy"),
        ("getDURATION() < 2", TICKS, "y"),
        ('getDURATION() <= "P1D"^^xsd:duration', DAYS, "y"),
        ('getDURATION() > "P1D"^^xsd:duration', DAYS, "x"),
        ("getSTARTTIME() < getENDTIME()", TICKS, "xy"),
    ],
)
def test_a_filter_on_ticks(condition: str, streams: str, subjects: str) -> None:
    found = pairs(f"SELECT ?s {PAIR} FILTER ({condition})", streams)
    assert sorted(str(row["s"])[-2] for row in found) == list(subjects)


@pytest.mark.parametrize(("op", "subject"), [("<", "y"), (">", "x")])
def test_a_filter_on_a_length_of_time_in_the_data(op: str, subject: str) -> None:
    """A day is less than 36 hours, two days are more."""
    query = f"SELECT ?s {{ {{ {PAIR} }} {{ ?s :most ?most }} FILTER (getDURATION() {op} ?most) }}"
    assert [str(row["s"])[-2] for row in pairs(query, DAYS)] == [subject]


@pytest.mark.parametrize(
    "query",
    [
        f'SELECT ?s {PAIR} FILTER (getENDTIME() > "2026-01-01T00:00:00Z"^^xsd:dateTime)',
        f"SELECT (getENDTIME() AS ?to) {PAIR}",
        f"SELECT ?s {PAIR} FILTER (getENDTIME() > ?a)",
    ],
)
def test_dates_of_integers_without_a_type_are_an_error(query: str) -> None:
    with pytest.raises(InputError, match="INK0506"):
        pairs(query, NO_TYPE)


def test_dates_of_ticks_are_an_error() -> None:
    query = f'SELECT ?s {PAIR} FILTER (getENDTIME() > "2026-01-01T00:00:00Z"^^xsd:dateTime)'
    with pytest.raises(ProgramError, match="INK0304"):
        pairs(query, DAYS)
