"""Programs give the intervals of the ETALIS thesis: operators, joins, absences, background tables, derived events.

Cases that need what the language does not run yet:

| id | needs |
|---|---|
| C01-C21 | a file of their own, `test_etalis_policies.py` |
| O35, O36, O38, S14, and the rules of O34, O37, O44 | events that use themselves; the last three run as repetitions |
| rules of O40, O41 | RULE; their closures are given as tables |
| O45, O46, S13 | no pattern: a formula with another Earth radius, a sum, a query that is not printed in full |
| A01-A08 | WINDOW … LAST |
| S06, S07, S09 | OPTIONAL outside of a sequence |
| X04, X05, R01-R08 | results over time: arrival order, late events, retraction |
"""

from __future__ import annotations

import pytest
from tests.oracles.etalis_cases import CASES, LETTERS, NUMBERED, rows, stream
from tests.oracles.ink_case import Case, Together, run_alone, together

from inkling import parse

Spans = list[tuple[object, ...]]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_alone(case: Case) -> None:
    assert run_alone(case) == case.wanted()


@pytest.mark.parametrize("group", together(CASES), ids=lambda group: group.cases[0].id)
def test_in_one_program(group: Together) -> None:
    results = parse(group.program).run_local(group.inputs(), group.tables)
    assert group.found(results) == group.wanted()


def results(program: str, inputs: dict[str, list[dict[str, object]]]) -> dict[str, Spans]:
    """Start and end of every result, after the values of the head, by event."""
    anywhere = {name: [{"w": "w", **row} for row in some] for name, some in inputs.items()}
    tables = parse(program).run_local(anywhere).tables
    hidden = {"event", "detected_at", "probability", "method", "error", "op", "lineage"}
    return {
        name: sorted(tuple(row[column] for column in row if column not in hidden) for row in table.to_pylist())
        for name, table in tables.items()
    }


def test_O17_O18_a_derived_event_is_an_input_like_any_other() -> None:
    program = f"""{LETTERS}
        EVENT c AS PATTERN SEQ(A, B) PER INTERVAL;
        EVENT d AS PATTERN SEQ(B, c) PER INTERVAL;
        EVENT e AS PATTERN B AND c PER INTERVAL;
    """
    found = results(program, rows(A=[(1,)], B=[(2,)]))
    assert found == {"c": [(1, 2)], "d": [], "e": [(1, 2)]}


def test_O30_a_derived_interval_contains_a_sequence() -> None:
    program = f"""{stream("Opens")} {stream("Closes")} {stream("Bankrupt", x="STRING")}
        EVENT day AS PATTERN NOT Closes BETWEEN Opens AND Closes PER INTERVAL;
        EVENT both(a.x AS x, b.x AS y) AS PATTERN SEQ(Bankrupt a, Bankrupt b) DURING day PER INTERVAL;
    """
    found = results(program, rows(Opens=[(1,)], Bankrupt=[(2, "p"), (4, "q")], Closes=[(6,)]))
    assert found["both"] == [("p", "q", 1, 6)]


def test_S02_a_fall_with_the_earlier_rating_if_any() -> None:
    program = f"""{stream("Price", x="STRING", y="DOUBLE")} {stream("Downrated", x="STRING", y="STRING")}
        EVENT fall(a.x AS company) AS PATTERN SEQ(Price a, Price b[x = a.x AND y < 0.5 * a.y]);
        EVENT rated(f.company AS company, d.y AS agency) AS PATTERN SEQ(Downrated d, fall f[company = d.x]);
        EVENT unrated(f.company AS company) AS PATTERN SEQ(AT START, NOT Downrated[x = f.company], fall f);
    """
    prices = [
        (2, "acme", 100.0),
        (5, "acme", 40.0),
        (3, "foo", 10.0),
        (6, "foo", 4.0),
        (7, "bar", 10.0),
        (9, "bar", 4.0),
    ]
    found = results(program, rows(Price=prices, Downrated=[(1, "acme", "mdy"), (8, "bar", "sp")]))
    assert found["rated"] == [("acme", "mdy", 1, 5)]
    assert found["unrated"] == [("bar", 7, 9), ("foo", 3, 6)]


def test_S05_a_derived_rating_counts_like_a_given_one() -> None:
    program = f"""{stream("Rating", x="STRING", y="STRING", z="BIGINT")} {stream("Price", x="STRING", y="DOUBLE")}
        EVENT downrated(a.y AS company, a.x AS agency) AS
          PATTERN SEQ(Rating a, Rating b[x = a.x AND y = a.y AND z < a.z]);
        EVENT fall(a.x AS company) AS PATTERN SEQ(Price a, Price b[x = a.x AND y < 0.5 * a.y]);
        EVENT rated(f.company AS company, d.agency AS agency) AS
          PATTERN SEQ(downrated d, fall f[company = d.company]);
    """
    ratings = [(1, "mdy", "acme", 7), (4, "mdy", "acme", 5)]
    found = results(program, rows(Rating=ratings, Price=[(6, "acme", 100.0), (9, "acme", 40.0)]))
    assert found["downrated"] == [("acme", "mdy", 1, 4)]
    assert found["rated"] == [("acme", "mdy", 1, 9)]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 0, 3, 2), (2, 0, 3, 1)])
def test_X02_X03_the_order_of_arrival_does_not_matter(order: tuple[int, ...]) -> None:
    program = f"""{stream("Stock", x="STRING", y="DOUBLE")}
        EVENT ce1 AS PATTERN SEQ(Stock a[x = 'G'], Stock b[x = 'G' AND y > 1.2 * a.y]);
        EVENT ce2 AS PATTERN SEQ(Stock a[x = 'M'], Stock b[x = 'M' AND y > 1.2 * a.y]);
        EVENT ce3 AS PATTERN SEQ(ce1, ce2);
    """
    stock = rows(Stock=[(4, "G", 125.0), (2, "G", 100.0), (8, "M", 100.0), (6, "M", 125.0)])["Stock"]
    found = results(program, {"Stock": [stock[place] for place in order]})
    assert found == {"ce1": [(2, 4)], "ce2": [], "ce3": []}


def test_one_program_keeps_the_rows_of_its_cases_apart() -> None:
    """Without the partition, events would pair up across cases: the packing is not vacuous."""
    one = Case("one", NUMBERED, "SEQ(A a, B b)", rows(A=[(1, 1)]), [])
    other = Case("other", NUMBERED, "SEQ(A a, B b)", rows(B=[(2, 1)]), [])
    (group,) = together([one, other])
    assert group.found(parse(group.program).run_local(group.inputs())) == {"one": [], "other": []}
    apart = group.program.replace("PARTITION BY w", "").replace("(w)", "('one' AS w)")
    assert group.found(parse(apart).run_local(group.inputs()))["one"] == [(1, 2)]
