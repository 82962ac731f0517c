"""The definition gives the numbers of the ETALIS thesis: SEQ, AND, OR, PAR, Allen relations, NOT and WITHIN.

Test ids are those of the oracle tables (F: drawing of the operators, O: small cases).
"""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle
from tests.kit.plans import column, compare, event, leaf, plus, program, seq, stream, table, ticks
from tests.kit.rows import intervals, points
from tests.oracles.etalis_numbers import CROSSING, DRAWING, DRAWN, NOTHING_INSIDE, POINTS

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.types import Type

P1, P2, P3 = (leaf(slot, f"P{slot}") for slot in (1, 2, 3))

a, b, c = leaf(0, "A"), leaf(1, "B"), leaf(2, "C")


def narrowed(pattern: p.Pattern, within: p.Window) -> p.Narrowed:
    return p.Narrowed(pattern, within, ())


def related(left: p.Pattern, relation: str, right: p.Pattern) -> p.Related:
    return p.Related(left, (relation,), right)


def absent_between(absent: p.Pattern, left: p.Pattern, right: p.Pattern) -> p.Sequence:
    return seq(left, p.Absent(absent), right)


def spans(pattern: p.Pattern, rows: dict[str, list[dict[str, object]]]) -> list[tuple[int, int]]:
    """The intervals of the results PER INTERVAL, which is the set reading of the thesis."""
    is_interval = any("begun" in row for one in rows.values() for row in one)
    names = sorted({source for one in p.leaves(pattern) for source in one.sources})
    plan = program(tuple(stream(name, interval=is_interval) for name in names), event("x", pattern, per=p.Per.INTERVAL))
    return sorted((result.start, result.end) for result in oracle(plan, rows)["x"])


DRAWN_PATTERNS = {
    "F01": narrowed(P1, ticks(3)),
    "F02": seq(P1, P3),
    "F03": p.Conjunction((P2, P3)),
    "F04": p.Parallel((P1, P2)),
    "F05": p.Disjunction((P2, P3)),
    "F06": related(P1, "DURING", seq(leaf(4, "Q"), leaf(5, "R"))),
    "F07": related(P3, "STARTS", P1),
    "F08": related(P1, "EQUALS", P3),
    "F09": absent_between(P3, P1, leaf(6, "P1")),
    "F10": related(P3, "FINISHES", P2),
    "F11": related(P2, "MEETS", P3),
}


@pytest.mark.parametrize("case", DRAWN)
def test_operators_of_the_drawing(case: str) -> None:
    assert spans(DRAWN_PATTERNS[case], DRAWING) == DRAWN[case]


def pure() -> p.Related:
    absent = p.Disjunction((leaf(5, "A"), leaf(6, "C")))
    return related(seq(a, b, c), "EQUALS", absent_between(absent, leaf(3, "A"), leaf(4, "C")))


def five_in_a_row() -> p.Pattern:
    pattern: p.Pattern = leaf(4, "A")
    for slot in range(4):
        pattern = absent_between(leaf(10 + slot, "A"), leaf(slot, "A"), pattern)
    return pattern


POINT_PATTERNS = {
    "O01": seq(a, seq(b, c)),
    "O02": seq(a, seq(b, c)),
    "O03": seq(a, b),
    "O04": related(a, "EQUALS", b),
    "O05": related(a, "MEETS", b),
    "O06": p.Conjunction((a, b)),
    "O07": p.Parallel((a, b)),
    "O08": p.Parallel((seq(a, b), c)),
    "O09": p.Parallel((seq(a, b), c)),
    "O10": related(seq(a, b), "DURING", seq(leaf(3, "D"), leaf(4, "E"))),
    "O11": related(b, "DURING", seq(a, c)),
    "O12": related(seq(a, b), "STARTS", seq(leaf(3, "A"), c)),
    "O13": related(seq(a, b), "STARTS", seq(leaf(3, "A"), leaf(4, "B"))),
    "O14": related(seq(b, c), "FINISHES", seq(a, leaf(3, "C"))),
    "O15": related(c, "FINISHES", seq(a, leaf(3, "C"))),
    "O16": related(seq(a, b), "MEETS", leaf(3, "B")),
    "O23": seq(a, b, c),
    "O24": seq(a, b, c),
    "O25": pure(),
    "O26": pure(),
    "O32": seq(plus(a, 5, 5)),
    "O33": five_in_a_row(),
    "O39": p.Conjunction((a, leaf(3, "A"))),
    "O48": related(seq(a, b), "FINISHES", seq(leaf(3, "A"), leaf(4, "B"))),
    "O49-three": narrowed(seq(a, b), ticks(3)),
    "O49-less-than-three": narrowed(seq(a, b), ticks(2)),
    "O50-inner": seq(narrowed(seq(a, b), ticks(2)), c),
    "O50-outer": narrowed(seq(a, b, c), ticks(2)),
}


@pytest.mark.parametrize("case", POINTS)
def test_points(case: str) -> None:
    events, expected = POINTS[case]
    assert spans(POINT_PATTERNS[case], points(events)) == expected


def test_O21_an_absence_is_checked_pair_by_pair() -> None:
    rows, expected = CROSSING
    assert spans(absent_between(P1, P2, P3), intervals(rows)) == expected


def test_O47_nothing_strictly_inside() -> None:
    rows, expected = NOTHING_INSIDE
    assert spans(related(leaf(0, "I"), "DURING", leaf(1, "O")), intervals(rows)) == expected


def test_O17_O18_a_derived_event_is_an_input_like_any_other() -> None:
    derived = event("C", seq(leaf(0, "A"), leaf(1, "B")), per=p.Per.INTERVAL)
    after = event("D", seq(leaf(0, "B"), leaf(1, "C")), per=p.Per.INTERVAL)
    beside = event("E", p.Conjunction((leaf(0, "B"), leaf(1, "C"))), per=p.Per.INTERVAL)
    results = oracle(program("AB", derived, after, beside), points("a1 b2"))
    assert [(one.start, one.end) for one in results["C"]] == [(1, 2)]
    assert results["D"] == ()
    assert [(one.start, one.end) for one in results["E"]] == [(1, 2)]


def keyed(*letters: str) -> tuple[p.StreamPlan, ...]:
    return tuple(stream(letter, {"x": Type.INTEGER}) for letter in letters)


def with_values(**streams: list[tuple[int, int]]) -> dict[str, list[dict[str, object]]]:
    """Rows of streams from pairs of time and value."""
    return {
        name: [{"id": f"{name}{time}", "t": time, "x": value} for time, value in rows] for name, rows in streams.items()
    }


x = {slot: column(slot, "x", Type.INTEGER) for slot in range(4)}


def test_O19_a_variable_of_the_absent_pattern_alone_is_existential() -> None:
    pattern = seq(leaf(0, "A"), p.Absent(leaf(1, "C")), leaf(2, "B", conditions=(compare(x[2], "=", x[0]),)))
    rows = with_values(A=[(1, 1), (3, 2)], B=[(2, 1), (5, 2)], C=[(4, 2)])
    results = oracle(program(keyed("A", "B", "C"), event("d", pattern, head={"x": x[0]})), rows)["d"]
    assert [(one.values, one.start, one.end) for one in results] == [((1,), 1, 2)]


def test_O20_a_shared_variable_narrows_the_absence() -> None:
    absent = leaf(1, "C", conditions=(compare(x[1], "=", x[0]),))
    pattern = seq(leaf(0, "A"), p.Absent(absent), leaf(2, "B", conditions=(compare(x[2], "=", x[0]),)))
    rows = with_values(A=[(1, 1), (4, 1)], B=[(3, 1), (6, 1)], C=[(2, 2), (5, 1)])
    results = oracle(program(keyed("A", "B", "C"), event("d", pattern, head={"x": x[0]}, per=p.Per.INTERVAL)), rows)[
        "d"
    ]
    assert [(one.values, one.start, one.end) for one in results] == [((1,), 1, 3)]


def test_O22_the_absent_pattern_may_be_that_of_the_border() -> None:
    same = compare(x[1], "=", x[0])
    last = leaf(2, "FL", conditions=(compare(x[2], "=", x[0]),))
    pattern = seq(leaf(0, "FR"), p.Absent(leaf(1, "FL", conditions=(same,))), last)
    rows = with_values(FR=[(1, 7)], FL=[(4, 7), (9, 7)])
    results = oracle(program(keyed("FR", "FL"), event("d", pattern)), rows)["d"]
    assert [(one.start, one.end) for one in results] == [(1, 4)]


def test_O27_a_rise_within_a_limit() -> None:
    risen = compare(x[1], ">", e.Arithmetic("*", e.Literal(1.5, Type.DOUBLE), x[0], Type.DOUBLE))
    pattern = seq(leaf(0, "P"), leaf(1, "P", conditions=(risen,)))
    rows = with_values(P=[(0, 100), (5, 160), (9, 300)])
    plan = program(keyed("P"), event("d", pattern, within=ticks(7), per=p.Per.INTERVAL))
    assert [(one.start, one.end) for one in oracle(plan, rows)["d"]] == [(0, 5), (5, 9)]


def test_O28_a_rise_by_a_tenth() -> None:
    """11 is exactly a tenth more than 10, and so not more than that; exact only in tenths."""
    tenth = e.Arithmetic("*", e.Literal(11, Type.INTEGER), x[0], Type.INTEGER)
    risen = compare(e.Arithmetic("*", e.Literal(10, Type.INTEGER), x[1], Type.INTEGER), ">", tenth)
    rows = with_values(W=[(1, 100), (2, 110), (3, 115)])
    plan = program(keyed("W"), event("d", seq(leaf(0, "W"), leaf(1, "W", conditions=(risen,))), head={"x": x[1]}))
    assert [(one.values, one.start, one.end) for one in oracle(plan, rows)["d"]] == [((115,), 1, 3)]


def test_O29_AND_joins_in_any_order() -> None:
    kinds = {"buyer": Type.STRING, "seller": Type.STRING}
    joined = compare(column(1, "seller"), "=", column(0, "buyer"))
    pattern = p.Conjunction((leaf(0, "BUYS"), leaf(1, "BUYS", conditions=(joined,))))
    head = {"x": column(1, "buyer"), "y": column(0, "seller")}
    rows = {
        "BUYS": [{"id": "1", "t": 1, "buyer": "z", "seller": "y"}, {"id": "2", "t": 2, "buyer": "x", "seller": "z"}]
    }
    results = oracle(program((stream("BUYS", kinds),), event("ia", pattern, head=head)), rows)["ia"]
    assert [(one.values, one.start, one.end, one.lineage) for one in results] == [(("x", "y"), 1, 2, ("1", "2"))]


def test_O30_a_derived_interval_contains_a_sequence() -> None:
    closes = leaf(1, "CLOSES")
    day = event("DAY", seq(leaf(0, "OPENS"), p.Absent(closes), leaf(2, "CLOSES")), per=p.Per.INTERVAL)
    inside = related(seq(leaf(0, "BANKRUPT"), leaf(1, "BANKRUPT")), "DURING", leaf(2, "DAY"))
    both = event("both", inside, head={"x": x[0], "y": x[1]}, per=p.Per.INTERVAL)
    rows = with_values(OPENS=[(1, 0)], BANKRUPT=[(2, 7), (4, 8)], CLOSES=[(6, 0)])
    results = oracle(program(keyed("OPENS", "BANKRUPT", "CLOSES"), day, both), rows)["both"]
    assert [(one.values, one.start, one.end) for one in results] == [((7, 8), 1, 6)]


def test_O40_a_table_relates_two_places() -> None:
    """The closure of 1-2-3-4 is given as a table; rules that derive it are another matter."""
    link = table("jet_link", x=Type.INTEGER, y=Type.INTEGER)
    closure = [{"x": low, "y": high} for low in (1, 2, 3) for high in (2, 3, 4) if low < high]
    linked = e.InTable("jet_link", (x[1], x[0]))
    pattern = p.Conjunction((leaf(0, "CAT"), leaf(1, "PLANE", conditions=(linked,))))
    warning = event("w", pattern, head={"c": x[0], "p": x[1]}, within=ticks(5), per=p.Per.INTERVAL)
    rows = with_values(CAT=[(0, 4), (9, 2)], PLANE=[(3, 1), (4, 4)])
    results = oracle(program(keyed("CAT", "PLANE"), warning, tables=(link,)), rows, {"jet_link": closure})["w"]
    assert [(one.values, one.start, one.end) for one in results] == [((4, 1), 0, 3)]


def test_O41_a_table_of_instances() -> None:
    """Times in half hours; the table lists the observations of wind, subclasses included."""
    places = {"place": Type.STRING, "seen": Type.STRING}
    same = compare(column(1, "place"), "=", column(0, "place"))
    windy = e.InTable("wind", (column(1, "seen"),))
    pattern = p.Conjunction((leaf(0, "FIRE"), leaf(1, "SEEN", conditions=(same, windy))))
    fire = event("fire", pattern, head={"place": column(0, "place")}, within=ticks(6), per=p.Per.INTERVAL)
    rows = {
        "FIRE": [{"id": "0", "t": 0, "place": "l"}],
        "SEEN": [
            {"id": "1", "t": 4, "place": "l", "seen": "o1"},
            {"id": "2", "t": 5, "place": "l", "seen": "rain"},
            {"id": "3", "t": 4, "place": "m", "seen": "o2"},
            {"id": "4", "t": 8, "place": "l", "seen": "o2"},
        ],
    }
    plan = program((stream("FIRE", places), stream("SEEN", places)), fire, tables=(table("wind", seen=Type.STRING),))
    results = oracle(plan, rows, {"wind": [{"seen": "o1"}, {"seen": "o2"}]})["fire"]
    assert [(one.values, one.start, one.end) for one in results] == [(("l",), 0, 4)]


def test_O43_every_row_of_a_table_that_agrees_is_a_match() -> None:
    clients = table("client", account=Type.STRING, title=Type.STRING, money=Type.INTEGER)
    atom = p.TableAtom(0, "client", clients.columns, (None, column(0, "title"), None))
    head = {
        "account": e.FactColumn(0, "account", Type.STRING),
        "title": column(0, "title"),
        "price": column(0, "price", Type.INTEGER),
        "money": e.FactColumn(0, "money", Type.INTEGER),
    }
    stock = stream("STOCK", {"title": Type.STRING, "price": Type.INTEGER})
    facts = [
        {"account": "kavx", "title": "goog", "money": 3815},
        {"account": "kblu", "title": "msft", "money": 2995},
        {"account": "kcqt", "title": "goog", "money": 1815},
    ]
    plan = program((stock,), event("offer", leaf(0, "STOCK", atoms=(atom,)), head=head), tables=(clients,))
    rows = {"STOCK": [{"id": "s", "t": 1, "title": "goog", "price": 515}]}
    results = oracle(plan, rows, {"client": facts})["offer"]
    assert {one.values for one in results} == {("kavx", "goog", 515, 3815), ("kcqt", "goog", 515, 1815)}


def test_O31_slow_readings_in_one_area() -> None:
    """Two atoms per reading: the threshold of its road, and an area whose borders are excluded."""
    threshold = table("threshold", road=Type.STRING, top=Type.INTEGER)
    borders = dict.fromkeys(("left", "right", "low", "high"), Type.INTEGER)
    area = table("area", label=Type.STRING, **borders)
    kinds = {"road": Type.STRING, "speed": Type.INTEGER, "lat": Type.INTEGER, "lon": Type.INTEGER}

    def slow(slot: int, area_name: e.Expr | None, conditions: tuple[e.Expr, ...] = ()) -> p.Leaf:
        top = p.TableAtom(2 * slot, "threshold", threshold.columns, (column(slot, "road"), None))
        where = p.TableAtom(2 * slot + 1, "area", area.columns, (area_name, None, None, None, None))
        border = {name: e.FactColumn(2 * slot + 1, name, Type.INTEGER) for name in borders}
        reading = {name: column(slot, name, kind) for name, kind in kinds.items()}
        inside = (
            compare(reading["speed"], "<", e.FactColumn(2 * slot, "top", Type.INTEGER)),
            compare(border["left"], "<", reading["lat"]),
            compare(reading["lat"], "<", border["right"]),
            compare(border["low"], "<", reading["lon"]),
            compare(reading["lon"], "<", border["high"]),
        )
        return leaf(slot, "TE", conditions=(*inside, *conditions), atoms=(top, where))

    area_name = e.FactColumn(1, "label", Type.STRING)
    same_road = compare(column(1, "road"), "=", column(0, "road"))
    pattern = seq(slow(0, None), slow(1, area_name, (same_road,)))
    jam = event("jam", pattern, head={"area": area_name}, within=ticks(30), per=p.Per.INTERVAL)
    readings = [
        (0, 35, 4043, 7359),
        (20, 30, 4044, 7360),
        (25, 45, 4044, 7360),
        (30, 20, 4046, 7362),
        (55, 20, 4043, 7360),
    ]
    rows = {
        "TE": [
            {"id": str(time), "t": time, "road": "rd1", "speed": speed, "lat": lat, "lon": lon}
            for time, speed, lat, lon in readings
        ]
    }
    facts = {
        "threshold": [{"road": road, "top": top} for road, top in (("rd1", 40), ("rd2", 30), ("rd3", 50))],
        "area": [
            {"label": label, "left": left, "right": right, "low": low, "high": high}
            for label, left, right, low, high in (
                ("a1", 4042, 4045, 7358, 7361),
                ("a2", 4045, 4048, 7361, 7363),
                ("a3", 4048, 4051, 7363, 7365),
            )
        ],
    }
    results = oracle(program((stream("TE", kinds),), jam, tables=(threshold, area)), rows, facts)["jam"]
    assert [(one.values, one.start, one.end) for one in results] == [(("a1",), 0, 20)]
