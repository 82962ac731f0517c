"""Functions and conversions of SPARQL, with their values by its definition (SPARQL 1.1, section 17)."""

import pytest

import inkling

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
