"""The worked examples of EP-SPARQL by the definition, in one run, and with each triple pushed on its own."""

from pathlib import Path

import pytest
from tests.kit.oracle import oracle
from tests.oracles.sparql_case import PROLOGUE, QueryCase, short
from tests.oracles.sparql_cases import CASES

from inkling.language import format_program
from inkling.language import parse as parse_text
from inkling.language.epsparql import EPSPARQL
from inkling.language.epsparql.reader import read_queries
from inkling.source import SourceText

_HIDDEN = {"event", "detected_at", "probability", "method", "error", "op", "lineage"}
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


@cases
def test_by_definition(case: QueryCase) -> None:
    results = oracle(case.program.plan, case.rows, case.tables)
    found = {
        name: frozenset((*map(short, result.values), result.start, result.end) for result in results[name])
        for name in case.wanted
    }
    assert found == case.wanted


def _found(case: QueryCase, runs: list[dict[str, object]]) -> dict[str, frozenset[tuple[object, ...]]]:
    return {
        name: frozenset(
            tuple(short(value) for column, value in row.items() if column not in _HIDDEN)
            for tables in runs
            for row in tables[name].to_pylist()  # type: ignore[attr-defined]
        )
        for name in case.wanted
    }


@cases
def test_in_one_run(case: QueryCase) -> None:
    assert _found(case, [case.program.run_local(case.rows, case.tables).tables]) == case.wanted


@cases
def test_pushed_one_by_one(case: QueryCase) -> None:
    stream = case.program.open(case.tables, unbounded=True)
    rows = sorted(case.rows["triple"], key=lambda row: row["ends"])  # type: ignore[arg-type,return-value]
    runs = [stream.push({"triple": [row]}).tables for row in rows]
    assert _found(case, [*runs, stream.finish().tables]) == case.wanted


@cases
def test_as_a_program(case: QueryCase) -> None:
    tree = case.program.syntax
    assert parse_text(format_program(tree), f"{case.id}.ink") == tree


@cases
def test_as_a_query(case: QueryCase) -> None:
    """A query is printed, read again unchanged, and printed the same."""
    text = case.streams + PROLOGUE + case.query
    printed = EPSPARQL.format(text)
    read = read_queries(SourceText("printed", printed))
    assert read == read_queries(SourceText("given", text))
    assert EPSPARQL.format(printed) == printed


def test_the_golden_program_is_the_translation_of_its_query() -> None:
    folder = Path(__file__).parents[1] / "golden" / "epsparql"
    query = (folder / "query.epsparql").read_text(encoding="utf-8")
    assert format_program(EPSPARQL.parse(query)) == (folder / "query.ink").read_text(encoding="utf-8")
    assert EPSPARQL.format(query) == query
