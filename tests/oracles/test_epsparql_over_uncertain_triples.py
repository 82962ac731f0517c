"""EP-SPARQL queries over uncertain triples, with probabilities worked out by hand."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from tests.conformance.runners import Inputs, LocalBatch, Pushed

from inkling.query import parse

EX = "http://example.org/"
PROLOGUE = f"PREFIX : <{EX}>\n"
Row = Mapping[str, object]


def triple(subject: str, predicate: str, object: str, **times: object) -> dict[str, object]:
    return {"s": f"<{EX}{subject}>", "p": f"<{EX}{predicate}>", "o": object, **times}


def found(text: str, rows: Sequence[Row], tables: Mapping[str, list[Row]] | None = None) -> list[Row]:
    program = parse(text, name="query.rq")
    return program.run_local({"triple": rows}, tables).tables["query1"].to_pylist()


def test_alternatives_and_an_optional_triple() -> None:
    """x :q 2 has the probability 0.4, otherwise it is 1; x :p before it has 0.5: with it 0.2, without it 0.2."""
    text = f"""STREAM triple(s TERM, p TERM, o TERM, t BIGINT) KEY s TIME t TICK 1 SECONDS PROBABILITY prob;
    {PROLOGUE} SELECT ?a ?b {{ ?a :p ?b }} OPTIONALSEQ {{ ?a :q ?c FILTER (?c > 1) }} WITHIN 10"""
    rows = [
        triple("x", "p", "1", t=1, prob=0.5),
        triple("x", "q", "2", t=2, prob=0.4),
        triple("x", "q", "1", t=2, prob=0.6),
    ]
    results = {(row["b"] is None, row["start"], row["end"]): row["probability"] for row in found(text, rows)}
    assert results == {(False, 1, 2): pytest.approx(0.2), (True, 2, 2): pytest.approx(0.2)}


def test_imprecise_times() -> None:
    """:p is at 1 or 2, :q at 2 or 3: of four cases three are in order."""
    text = f"""STREAM triple(s TERM, p TERM, o TERM, lo BIGINT, hi BIGINT) TIME BETWEEN lo AND hi TICK 1 SECONDS;
    {PROLOGUE} SELECT ?a {{ ?a :p ?b }} SEQ {{ ?a :q ?c }} WITHIN 10"""
    rows = [triple("x", "p", "1", lo=1, hi=2), triple("x", "q", "2", lo=2, hi=3)]
    results = {(row["start"], row["end"]): row["probability"] for row in found(text, rows)}
    assert results == {times: pytest.approx(0.25) for times in [(1, 2), (1, 3), (2, 3)]}


def test_lost_triples() -> None:
    """The second triple of x was lost between 1 and 5, all times equally likely: it is before 3 with one half."""
    text = f"""STREAM triple(s TERM, p TERM, o TERM, n INT, t BIGINT) KEY s TIME t TICK 1 SECONDS
      NUMBERED BY n KNOWN FROM planned;
    TABLE planned(s TERM, n INT, p TERM, o TERM) FROM 'planned.csv';
    {PROLOGUE} SELECT ?a {{ ?a :p ?b }} SEQ {{ ?a :q ?c }} SEQ {{ ?y :w ?z }} WITHIN 10"""
    rows = [triple("x", "p", "1", n=1, t=1), triple("x", "r", "1", n=3, t=5), triple("y", "w", "1", n=1, t=3)]
    (result,) = found(text, rows, {"planned": [triple("x", "q", "7", n=2)]})
    assert result["probability"] == pytest.approx(0.5, abs=0.02)


def test_a_withdrawn_triple() -> None:
    """The optional :q is withdrawn, so the result with it is, too: what is left is the result without it."""
    text = f"""STREAM triple(id STRING, s TERM, p TERM, o TERM, t BIGINT, op STRING)
      ID id TIME t TICK 1 SECONDS OP op FOR 100 SECONDS;
    {PROLOGUE} SELECT ?a ?c {{ ?a :p ?b }} OPTIONAL {{ ?a :q ?c }} WITHIN 10"""
    rows = [
        triple("x", "q", "2", id="1", t=1, op="+"),
        triple("x", "p", "1", id="2", t=2, op="+"),
        triple("x", "q", "2", id="1", t=1, op="-"),
    ]
    inputs = Inputs({"triple": pa.Table.from_pylist(rows)})
    for runner in (LocalBatch(), Pushed(1)):
        results = runner.run(parse(text, name="query.rq"), inputs)["query1"]
        assert [(row["a"], row["c"], row["start"], row["end"]) for row in results] == [(f"<{EX}x>", None, 2, 2)]
