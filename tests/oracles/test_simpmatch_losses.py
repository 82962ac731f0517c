"""Programs relate segments of which some ends were lost, with the probabilities that SimpMatch's definition gives.

A stream is a list of times at which a segment opens or closes in turn; `_` is a lost event. The lists are those of
oracles O1, O2, O8-O13, O17 and O18. Those without any recorded event (O5, O7, O16) need marks, see
`test_simpmatch_marks.py`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby

import pytest

from inkling import Sampling, parse

STREAM = """
    STREAM S(k STRING, t BIGINT, n BIGINT) KEY k TIME t
      NUMBERED BY n SEGMENTS COUNT total BOUNDS since TO until;
"""

O1 = ("0 2 4 6", "1 _ _ 10")
O8_TAIL = ("2 _ until 10", "since 0 _ 6")
O8_HEAD = ("since 2 _ 5", "3 4")
O9 = ("0 3 _ 9", "1 _ 7 8")
O10 = ("0 _ _ 6 8 11", "1 3 _ _ _ 12")
O11_RECORDED = ("0 _ _ 10", "1 2 8 9")
O11_LOST = ("0 _ _ 10", "1 _ 8 9")
O12 = ("0 4 6 8", "4 6")
O13_FIRST = ("0 4 _ 8", "4 _ _ 8")
O13_SECOND = ("0 _ 3 5", "1 _ 3 6")
O14 = ("0 2 4 6 8 10", "1 5 7 9")
O15 = ("0 10", "1 2 4 5")
O17 = ("0 2 4 6", "1 _ _ _ until 12")

CASES: list[tuple[tuple[str, str], str, str]] = [
    (O1, "AT LEAST 1 a INTERSECTS SOME b", "1"),
    (O1, "AT LEAST 2 a INTERSECTS SOME b", "19/27"),
    (O1, "AT LEAST 2 b INTERSECTS SOME a", "25/81"),
    (O1, "SOME a INTERSECTS AT LEAST 2 b", "5/81"),
    (O1, "ALL a INTERSECTS SOME b", "19/27"),
    (O1, "ALL a INTERSECTS ALL b", "0"),
    (O1, "SOME a PRECEDES SOME b", "80/81"),
    (O1, "SOME a OVERLAPS SOME b", "23/27"),
    (O1, "SOME a CONTAINS SOME b", "17/81"),
    (O1, "SOME a DURING SOME b", "25/81"),
    (O1, "SOME a OVERLAPPED_BY SOME b", "20/81"),
    (O1, "SOME a PRECEDED_BY SOME b", "5/9"),
    *(
        (O1, f"SOME a {relation} SOME b", "0")
        for relation in ("MEETS", "MET_BY", "STARTS", "STARTED_BY", "FINISHES", "FINISHED_BY", "EQUALS")
    ),
    (O1, "AT LEAST 2 a PRECEDES SOME b", "56/81"),
    (O1, "AT LEAST 2 a OVERLAPS SOME b", "4/27"),
    (O1, "ALL b DURING SOME a", "0"),
    (O1, "SOME b DURING SOME a", "17/81"),
    (O1, "ALL b INTERSECTS SOME a", "25/81"),
    (O8_TAIL, "SOME a PRECEDES SOME b", "1/6"),
    (O8_TAIL, "SOME a OVERLAPS SOME b", "1/6"),
    (O8_TAIL, "SOME a CONTAINS SOME b", "1/3"),
    (O8_TAIL, "SOME a DURING SOME b", "1/6"),
    (O8_TAIL, "SOME a OVERLAPPED_BY SOME b", "1/6"),
    (O8_TAIL, "SOME a PRECEDED_BY SOME b", "0"),
    (O8_HEAD, "SOME a CONTAINS SOME b", "1/3"),
    (O8_HEAD, "SOME a OVERLAPPED_BY SOME b", "1/3"),
    (O8_HEAD, "SOME a PRECEDED_BY SOME b", "1/3"),
    (O9, "AT LEAST 1 a INTERSECTS SOME b", "1"),
    (O9, "AT LEAST 2 a INTERSECTS SOME b", "5/6"),
    (O9, "AT LEAST 2 b INTERSECTS SOME a", "5/6"),
    (O9, "ALL a INTERSECTS ALL b", "0"),
    (O9, "SOME a INTERSECTS AT LEAST 2 b", "2/9"),
    (O9, "SOME a PRECEDES ALL b", "0"),
    (O10, "AT LEAST 1 a INTERSECTS SOME b", "2176/2187"),
    (O10, "AT LEAST 2 a INTERSECTS SOME b", "46835/52488"),
    (O10, "AT LEAST 3 a INTERSECTS SOME b", "21829/52488"),
    (O11_RECORDED, "ALL b DURING SOME a", "19/50"),
    (O11_LOST, "ALL b DURING SOME a", "11/60"),
    (O12, "SOME a MEETS SOME b", "1"),
    (O12, "SOME a MET_BY SOME b", "1"),
    (O12, "SOME a {PRECEDES, PRECEDED_BY} SOME b", "0"),
    (O12, "AT LEAST 2 a INTERSECTS SOME b", "1"),
    (O13_FIRST, "SOME a MEETS SOME b", "1"),
    (O13_FIRST, "SOME a FINISHES SOME b", "1/3"),
    (O13_FIRST, "SOME a FINISHED_BY SOME b", "2/3"),
    (O13_FIRST, "SOME a OVERLAPPED_BY SOME b", "1/3"),
    (O13_FIRST, "SOME a EQUALS SOME b", "0"),
    (O13_FIRST, "AT LEAST 2 a INTERSECTS SOME b", "1"),
    (O13_SECOND, "AT LEAST 1 a INTERSECTS SOME b", "1"),
    (O13_SECOND, "AT LEAST 2 a INTERSECTS SOME b", "2/3"),
    (O13_SECOND, "SOME a STARTS SOME b", "1"),
    (O13_SECOND, "SOME a OVERLAPS SOME b", "1/3"),
    (O13_SECOND, "SOME a CONTAINS SOME b", "1/3"),
    (O14, "AT LEAST 3 a INTERSECTS SOME b", "1"),
    (O14, "SOME a INTERSECTS AT LEAST 2 b", "0"),
    (O14, "ALL a INTERSECTS SOME b", "1"),
    (O14, "ALL a INTERSECTS ALL b", "0"),
    (O14, "AT LEAST 2 a PRECEDES SOME b", "1"),
    (O14, "AT LEAST 3 a PRECEDES SOME b", "0"),
    (O15, "AT LEAST 2 a INTERSECTS SOME b", "0"),
    (O15, "AT LEAST 2 b INTERSECTS SOME a", "1"),
    (O15, "SOME a INTERSECTS AT LEAST 2 b", "1"),
    (O17, "AT LEAST 2 a INTERSECTS SOME b", "980/1331"),
]


def rows_of(key: str, text: str) -> list[dict[str, object]]:
    """`since 0 _ 6`: two events of which the first was lost after 0."""
    words = text.split()
    bounds: dict[str, int | None] = {"since": None, "until": None}
    for name in bounds:
        if name in words:
            place = words.index(name)
            bounds[name] = int(words[place + 1])
            del words[place : place + 2]
    return [
        {"k": key, "t": int(word), "n": number, "total": len(words), **bounds}
        for number, word in enumerate(words, start=1)
        if word != "_"
    ]


def probabilities(lists: tuple[str, str], relations: list[str]) -> list[float]:
    """Of relations between `a` and `b`, all from one program."""
    events = []
    for number, text in enumerate(relations):
        left, right = ("a", "b") if text.index(" a") < text.index(" b") else ("b", "a")
        pattern = text.replace(f" {left} ", " S x ").removesuffix(f" {right}") + " S y"
        events.append(f"EVENT e{number}(x.k AS x, y.k AS y) AS PATTERN {pattern} HAVING x.k = '{left}';")
    rows = [*rows_of("a", lists[0]), *rows_of("b", lists[1])]
    results = parse(STREAM + "\n".join(events)).run_local({"S": rows}, sampling=Sampling(exact_up_to=10_000))
    assert not len(results.rejects)
    found = []
    for number in range(len(relations)):
        table = results.tables[f"e{number}"]
        assert len(table) <= 1
        assert set(table["method"].to_pylist()) <= {"exact"}
        found.append(sum(table["probability"].to_pylist()))
    return found


GROUPS = [(lists, list(group)) for lists, group in groupby(CASES, key=lambda case: case[0])]


@pytest.mark.parametrize(("lists", "group"), GROUPS, ids=[f"{a} and {b}" for (a, b), _ in GROUPS])
def test_probability(lists: tuple[str, str], group: list[tuple[tuple[str, str], str, str]]) -> None:
    found = probabilities(lists, [relation for _, relation, _ in group])
    for (_, relation, wanted), prob in zip(group, found, strict=True):
        assert prob == pytest.approx(float(Fraction(wanted)), abs=1e-12), relation


def test_22_of_the_language_reference() -> None:
    """x is [0, 4]. y closes at -3 and at 6, and the opening between them was lost: it was before 4 in 7 of 9 parts."""
    assert probabilities(("0 4", "-5 -3 _ 6"), ["AT LEAST 1 a INTERSECTS SOME b"]) == [pytest.approx(7 / 9, abs=1e-12)]


def test_O3_lost_events_of_one_run_are_not_independent() -> None:
    """Multiplying per cell, with a factorial each, would give 41/81 in place of 19/27."""
    (prob,) = probabilities(O1, ["AT LEAST 2 a INTERSECTS SOME b"])
    assert abs(prob - 41 / 81) > 0.1


def test_O18_three_streams_that_lost_one_event_each() -> None:
    names = {"A": (0, 6), "B": (2, 8), "C": (4, 10)}
    streams = "\n".join(f"STREAM {name}(t BIGINT, n BIGINT) TIME t NUMBERED BY n;" for name in names)
    program = f"{streams} EVENT x AS PATTERN SEQ(A a[n = 2], B b[n = 2], C c[n = 2]);"
    rows = {name: [{"t": first, "n": 1}, {"t": last, "n": 3}] for name, (first, last) in names.items()}
    (result,) = parse(program).run_local(rows).tables["x"].to_pylist()
    assert result["probability"] == pytest.approx(91 / 162, abs=1e-12)
    assert (result["method"], result["lineage"]) == ("exact", [None, None, None])
