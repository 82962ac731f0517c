"""A mistake in a recursive event is reported with the message that it has in any other event."""

import pytest

from inkling.errors import Diagnostic, ProgramError, render
from inkling.language import parse
from inkling.logical import bind
from inkling.source import SourceText

DECLARED = """
STREAM Car(id STRING, road STRING, speed DOUBLE) ID id TIME t;
STREAM Light(road STRING, color STRING) TIME t;
TABLE joins(road STRING, next STRING) FROM 'roads.csv';
RULE linked(one, other) IF joins(one, other) OR joins(other, one);
EVENT trip(a.road, a.speed) AS PATTERN Car a PER INTERVAL;
"""
REST = "EVENT rest(r.road, r.speed) AS PATTERN SEQ(trip r, Light l) PER INTERVAL;"
ALONE, RECURSIVE = "ride", "trip"  # names of one length, so that places are the same too

PAIR = "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b)"
MISTAKES = {
    "rule in WHERE": f"{PAIR} WHERE linkd(a.road, b.road)",
    "rule under NOT in WHERE": f"{PAIR} WHERE NOT linkd(a.road, b.road)",
    "rule as a value": "(b.road, v AS speed) AS PATTERN SEQ(trip a, Car b) WHERE v = linkd(b.road)",
    "column in WHERE": f"{PAIR} WHERE a.sped > 3",
    "variable in WHERE": f"{PAIR} WHERE c.speed > 3",
    "function in WHERE": f"{PAIR} WHERE b.speed > sqroot(a.speed)",
    "value as a condition": f"{PAIR} WHERE b.speed",
    "comparison with NULL": f"{PAIR} WHERE b.speed = NULL",
    "FIRST of a single event": f"{PAIR} WHERE FIRST(a).speed > 1",
    "WHERE of a part": "(b.road, b.speed) AS PATTERN SEQ(trip a, (Car b WHERE b.sped > 3))",
    "rule in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[linkd(road, a.road)])",
    "column in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a[rod = 'A1'], Car b)",
    "function in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[lenght(road) > 3])",
    "types in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a[speed > 'fast'], Car b)",
    "later variable in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a[speed > b.speed], Car b)",
    "arguments of a table": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[joins(road)])",
    "arguments of a rule": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[linked(road)])",
    "type of an argument": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[joins(speed, a.road)])",
    "PREV in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[speed > PREV(speed)])",
    "column in HAVING": f"{PAIR} HAVING a.sped > 3",
    "rule in HAVING": f"{PAIR} HAVING linkd(a.road, b.road)",
    "variable in HAVING": f"{PAIR} HAVING ID(c) <> ID(b)",
    "aggregate of a single event": f"{PAIR} HAVING COUNT(a) > 1",
    "column in an aggregate": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car b+) HAVING SUM(b.sped) > 1",
    "sum of texts": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car b+) HAVING SUM(b.road) > 1",
    "stream under NOT": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT Lihgt, Car b)",
    "column under NOT": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT Light[colour = 'red'], Car b)",
    "rule under NOT": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT Light[linkd(road, a.road)], Car b)",
    "stream in NOT BETWEEN": "(a.road, b.speed) AS PATTERN NOT Lihgt BETWEEN trip a AND Car b",
    "variable of NOT in the head": "(l.road, b.speed) AS PATTERN SEQ(trip a, NOT Light l, Car b)",
    "NOT first without a limit": "(b.road, b.speed) AS PATTERN SEQ(NOT Light, trip a, Car b)",
    "OPTIONAL last without a limit": "(a.road, a.speed) AS PATTERN SEQ(trip a, OPTIONAL Car b)",
    "stream in OVER": "(b.road, b.speed) AS PATTERN SEQ STRICT(trip a, Car b) OVER (trip, Car, Lihgt)",
    "stream in a sequence": "(b.road, b.speed) AS PATTERN SEQ(trip a, Cra b)",
    "stream among several": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car | Truck b)",
    "column of several": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car | Light b)",
    "stream in AND": "(b.road, b.speed) AS PATTERN trip a AND Cra b",
    "stream in a relation": "(a.road, a.speed) AS PATTERN trip a DURING Cra b",
    "stream in EXCEPT": "(a.road, a.speed) AS PATTERN trip a EXCEPT Cra b",
    "COMPLEMENT without STRICT": "(b.road, b.speed) AS PATTERN SEQ(trip a, COMPLEMENT(Car), Car b)",
    "EAGER without NEXT": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car b+ EAGER, Car c)",
    "rule in CHECK": "(a.road, a.speed) AS PATTERN SEQ NEXT(trip a, Car b+ CHECK (linkd(b.road, a.road)))",
    "variable twice": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car a)",
    "column in the head": "(b.rod, b.speed) AS PATTERN SEQ(trip a, Car b)",
    "variable in the head": "(c.road, b.speed) AS PATTERN SEQ(trip a, Car b)",
    "function in the head": "(b.road, sqroot(b.speed) AS speed) AS PATTERN SEQ(trip a, Car b)",
    "arguments of a function in the head": "(b.road, greatest() AS speed) AS PATTERN SEQ(trip a, Car b)",
    "aggregate in the head": "(b.road, MAX(a.speed) AS speed) AS PATTERN SEQ(trip a, Car b)",
    "arithmetic in the head": "(b.road, b.road + 1 AS speed) AS PATTERN SEQ(trip a, Car b)",
    "list in the head": "(b.road, a.speed) AS PATTERN SEQ(trip a, Car b+)",
    "AT no time": "(b.road, b.speed) AS PATTERN SEQ(trip a, AT 'noon', Car b)",
    "AFTER in the middle": "(b.road, b.speed) AS PATTERN SEQ(trip a, AFTER 3 MINUTES, Car b)",
    "CONFIDENCE above 1": f"{PAIR} CONFIDENCE > 1",
    "TOP of certain results": f"{PAIR} TOP 3",
    "no arguments in WHERE": f"{PAIR} WHERE linked()",
    "arguments of a table in WHERE": f"{PAIR} WHERE joins(a.road, b.road, 3)",
    "type of an argument in WHERE": f"{PAIR} WHERE joins(a.speed, b.road)",
    "text compared with a number": f"{PAIR} WHERE a.road > 3",
    "arguments of an event in WHERE": f"{PAIR} WHERE trip(b.road, 3, 4)",
    "types of an event in WHERE": f"{PAIR} WHERE trip(3, b.road)",
    "misspelled event in WHERE": f"{PAIR} WHERE tripp(b.road, 3)",
    "event as a value in WHERE": f"{PAIR} WHERE b.speed = trip(b.road)",
    "event under NOT NOT in WHERE": f"{PAIR} WHERE NOT NOT trip(b.road, b.speed)",
    "unbound variable under NOT event": f"{PAIR} WHERE NOT trip(x, y) AND x = y",
    "table column in WHERE": f"{PAIR} WHERE joins.next = b.road",
    "aggregate in WHERE": f"{PAIR} WHERE SUM(b.speed) > 3",
    "PREV in WHERE": f"{PAIR} WHERE b.speed > PREV(b.speed)",
    "IN with mixed types": f"{PAIR} WHERE b.road IN ('A', 3)",
    "IN with an unknown name": f"{PAIR} WHERE b.road IN (a.rod)",
    "IS NULL of an unknown": f"{PAIR} WHERE b.sped IS NULL",
    "NOT of a number": f"{PAIR} WHERE NOT b.speed",
    "arithmetic on a text": f"{PAIR} WHERE b.road * 2 > 3",
    "division of times": f"{PAIR} WHERE START(a) / 2 > 3",
    "variable of START": f"{PAIR} WHERE START(c) < END(b)",
    "START with two arguments": f"{PAIR} WHERE START(a, b) < END(b)",
    "ID compared with a number": f"{PAIR} WHERE ID(b) > 3",
    "variable alone": f"{PAIR} WHERE a",
    "variable compared": f"{PAIR} WHERE a = b",
    "column without a variable": f"{PAIR} WHERE speed > 3",
    "function with a wrong type": f"{PAIR} WHERE lower(b.speed) = 'a'",
    "arguments of a function in WHERE": f"{PAIR} WHERE abs(b.speed, 3) > 1",
    "event in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[trip(road, speed)])",
    "column of the own variable in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[b.sped > 3])",
    "aggregate in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[COUNT(a) > 3])",
    "value in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[speed])",
    "NULL in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[road = NULL])",
    "FIRST in brackets": "(b.road, b.speed) AS PATTERN SEQ(trip a, Car b[FIRST(a).speed > 3])",
    "later repetition in brackets": "(a.road, a.speed) AS PATTERN SEQ(trip a[speed > LAST(b).speed], Car b{1,3})",
    "type of a recursive column": "(b.road, b.speed) AS PATTERN SEQ(trip a[road > 3], Car b)",
    "list in HAVING": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car b{1,3}) HAVING b.speed > 3",
    "MAX of a missing column": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car b{1,3}) HAVING MAX(b.sped) > 3",
    "nested aggregate in HAVING": "(a.road, a.speed) AS PATTERN SEQ(trip a, Car b{1,3}) HAVING MAX(SUM(b.speed)) > 3",
    "variable of NOT in HAVING": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT Light l, Car b) HAVING l.road = a.road",
    "NOT last without limit": "(a.road, a.speed) AS PATTERN SEQ(trip a, NOT Light)",
    "NOT of a rule": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT linked, Car b)",
    "NOT of a table": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT joins, Car b)",
    "NOT of a sequence with unknown": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT SEQ(Light, Cra), Car b)",
    "NOT NOT": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT NOT Light, Car b)",
    "NOT types": "(b.road, b.speed) AS PATTERN SEQ(trip a, NOT Light[road = a.speed], Car b)",
    "PREV in head": "(b.road, PREV(b.speed) AS speed) AS PATTERN SEQ(trip a, Car b)",
    "sum of text in head": "(b.road, SUM(c.road) AS speed) AS PATTERN SEQ(trip a, Car b, Car c{1,3})",
    "minus a text in the head": "(b.road, -b.road AS speed) AS PATTERN SEQ(trip a, Car b)",
    "stream in COMPLEMENT": "(b.road, b.speed) AS PATTERN SEQ STRICT(trip a, COMPLEMENT(Cra), Car b)",
}
DIFFERING = {
    "column in RETURN": f"{PAIR} RETURN b.sped AS last",
    "column in PREFER": f"{PAIR} CONSUME RECENT PREFER b.sped",
    "text in PREFER": f"{PAIR} CONSUME RECENT PREFER b.road",
    "CONSUME over NEXT": "(b.road, b.speed) AS PATTERN SEQ NEXT(trip a, Car b) CONSUME RECENT",
    "column in PARTITION BY": "(b.road, b.speed) AS PATTERN SEQ(trip a, Light l, Car b) PARTITION BY speed",
    "rule in WHERE, and a column more": "(b.road, b.speed, b.id) AS PATTERN SEQ(trip a, Car b) WHERE linkd(a.road)",
}
"""Clauses that the first declaration of `trip` does not have, which is a mistake of its own in a recursive event."""


def findings(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(ProgramError) as raised:
        bind(parse(text, "trips.ink"), SourceText("trips.ink", text))
    return raised.value.diagnostics


def said(name: str, event: str, declared: str = DECLARED) -> list[str]:
    """The message of each mistake in an event of this name, as if it were the recursive one."""
    found = findings(f"{declared}EVENT {name}{event} PER INTERVAL;\n")
    return [render([one]).replace(ALONE, RECURSIVE) for one in found]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_in_an_event_that_uses_itself(mistake: str) -> None:
    found = said(RECURSIVE, MISTAKES[mistake])
    assert found
    assert found == said(ALONE, MISTAKES[mistake])


@pytest.mark.parametrize("mistake", MISTAKES)
def test_in_events_that_use_each_other(mistake: str) -> None:
    text, declared = MISTAKES[mistake].replace("trip", "rest"), f"{DECLARED}{REST}\n"
    assert said(RECURSIVE, text, declared) == said(ALONE, text, declared)


@pytest.mark.parametrize("mistake", DIFFERING)
def test_in_clauses_that_the_other_declarations_lack(mistake: str) -> None:
    alone, found = said(ALONE, DIFFERING[mistake]), said(RECURSIVE, DIFFERING[mistake])
    assert [one for one in found if "INK0334" not in one] == alone
    assert len(found) > len(alone)


def test_there_are_enough_mistakes() -> None:
    assert len(MISTAKES) + len(DIFFERING) >= 100
