"""Interval rules that ask background knowledge: results that were worked out elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from tests.kit.oracle import oracle

import inkling

Rows = Sequence[Mapping[str, object]]


def found(text: str, rows: Mapping[str, Rows], tables: Mapping[str, Rows] | None = None) -> list[tuple[object, ...]]:
    """Values, start and end of every result of the last event; the definition says the same."""
    program = inkling.parse(text)
    event = program.plan.events[-1]
    names = [output.name for output in (*event.head, *event.returns)]
    results = program.run_local(rows, tables).tables[event.name].to_pylist()
    defined = oracle(program.plan, rows, tables)[event.name]
    got = sorted((*(row[name] for name in names), row["start"], row["end"]) for row in results)
    assert got == sorted((*result.values, result.start, result.end) for result in defined)
    return got


def events(*values: tuple[object, ...], names: str) -> Rows:
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def test_price_that_rises_by_half_within_seven() -> None:
    text = """STREAM Price(x STRING, y DOUBLE) TIME t;
    EVENT rise(x) AS PATTERN SEQ(Price a, Price b) WHERE x = a.x AND b.x = a.x AND b.y > 1.5 * a.y WITHIN 7 TICKS;"""
    rows = events(("x", 100.0, 0), ("x", 160.0, 5), ("x", 300.0, 9), names="x y t")
    assert found(text, {"Price": rows}) == [("x", 0, 5), ("x", 5, 9)]


def test_wind_that_rises_by_more_than_a_tenth() -> None:
    text = """STREAM Wind(k STRING, w DOUBLE) TIME t;
    RULE stronger(before, after) IF after > 1.1 * before;
    EVENT up(b.k, b.w) AS PATTERN SEQ(Wind a, Wind b) WHERE a.k = b.k AND stronger(a.w, b.w);"""
    rows = events(("k", 10.0, 1), ("k", 11.0, 2), ("k", 11.5, 3), names="k w t")
    assert found(text, {"Wind": rows}) == [("k", 11.5, 1, 3)]


def test_company_that_buys_a_buyer() -> None:
    text = """STREAM Buys(a STRING, b STRING) TIME t;
    EVENT ia(q.a, p.b) AS PATTERN Buys p AND Buys q WHERE q.b = p.a;"""
    rows = events(("z", "y", 1), ("x", "z", 2), names="a b t")
    assert found(text, {"Buys": rows}) == [("x", "y", 1, 2)]


def test_two_bankruptcies_on_one_day() -> None:
    text = """STREAM Opens(d INTEGER) TIME t; STREAM Closes(d INTEGER) TIME t; STREAM Bankrupt(c STRING) TIME t;
    EVENT day AS PATTERN NOT Closes BETWEEN Opens AND Closes;
    EVENT both(x.c, y.c) AS PATTERN SEQ(Bankrupt x, Bankrupt y) DURING day;"""
    rows = {
        "Opens": events((1, 1), names="d t"),
        "Closes": events((1, 6), names="d t"),
        "Bankrupt": events(("p", 2), ("q", 4), names="c t"),
    }
    assert found(text, rows) == [("p", "q", 1, 6)]


AREAS = """TABLE threshold(road STRING, top DOUBLE) FROM 'threshold.csv';
TABLE corners(area STRING, x1 DOUBLE, x2 DOUBLE, y1 DOUBLE, y2 DOUBLE) FROM 'corners.csv';
TABLE outline(area STRING, shape STRING) FROM 'outline.csv';
RULE slow(road, speed) IF threshold(road, top) AND speed < top;
RULE in_corners(area, x, y) IF corners(area, x1, x2, y1, y2) AND x1 < x AND x < x2 AND y1 < y AND y < y2;
RULE in_outline(area, x, y) IF outline(area, shape) AND contains(shape, x, y);
STREAM Te(road STRING, speed DOUBLE, x DOUBLE, y DOUBLE) TIME t;
"""
CORNERS = [("a1", 4042, 4045, 7358, 7361), ("a2", 4045, 4048, 7361, 7363), ("a3", 4048, 4051, 7363, 7365)]


@pytest.mark.parametrize("area", ["in_corners", "in_outline"])
def test_bottleneck_in_an_area(area: str) -> None:
    text = f"""{AREAS}
    EVENT bottleneck(area) AS PATTERN SEQ(Te a, Te b)
    WHERE slow(a.road, a.speed) AND slow(b.road, b.speed) AND a.road = b.road
      AND {area}(area, a.x, a.y) AND {area}(area, b.x, b.y)
    WITHIN 30 TICKS;"""
    rows = events(
        ("rd1", 35.0, 4043.0, 7359.0, 0),
        ("rd1", 30.0, 4044.0, 7360.0, 20),
        ("rd1", 45.0, 4044.0, 7360.0, 25),
        ("rd1", 20.0, 4046.0, 7362.0, 30),
        ("rd1", 20.0, 4043.0, 7360.0, 55),
        names="road speed x y t",
    )
    shapes = [
        (name, f"POLYGON(({x1} {y1}, {x2} {y1}, {x2} {y2}, {x1} {y2}, {x1} {y1}))") for name, x1, x2, y1, y2 in CORNERS
    ]
    tables = {
        "threshold": events(("rd1", 40.0), ("rd2", 30.0), ("rd3", 50.0), names="road top"),
        "corners": events(*[(c[0], *map(float, c[1:])) for c in CORNERS], names="area x1 x2 y1 y2"),
        "outline": events(*shapes, names="area shape"),
    }
    assert found(text, {"Te": rows}, tables) == [("a1", 0, 20)]


@pytest.mark.parametrize("area", ["in_corners", "in_outline"])
def test_borders_of_areas_are_outside(area: str) -> None:
    text = f"{AREAS} EVENT near(area) AS PATTERN Te a WHERE {area}(area, a.x, a.y);"
    places = [(4042.0, 7359.0), (4043.0, 7358.0), (4042.5, 7358.5), (4045.0, 7361.0)]
    rows = [{"road": "r", "speed": 1.0, "x": x, "y": y, "t": t} for t, (x, y) in enumerate(places)]
    tables = {
        "threshold": events(("rd1", 40.0), names="road top"),
        "corners": events(*[(c[0], *map(float, c[1:])) for c in CORNERS], names="area x1 x2 y1 y2"),
        "outline": [{"area": "a1", "shape": "POLYGON((4042 7358, 4045 7358, 4045 7361, 4042 7361, 4042 7358))"}],
    }
    program = inkling.parse(text)
    results = program.run_local({"Te": rows}, tables).tables["near"].to_pylist()
    assert [(row["area"], row["start"]) for row in results] == [("a1", 2)]


def test_jet_stream_warning_along_linked_places() -> None:
    text = """STREAM Cat(l INTEGER) TIME t; STREAM Plane(l INTEGER) TIME t;
    RULE linked(1, 2); RULE linked(2, 3); RULE linked(3, 4);
    RULE jet_link(a, b) IF linked(a, b);
    RULE jet_link(a, c) IF jet_link(a, b) AND linked(b, c);
    EVENT warning(c.l AS at, p.l AS plane) AS PATTERN Cat c AND Plane p WHERE jet_link(p.l, c.l) WITHIN 5 TICKS;"""
    rows = {"Cat": events((4, 0), (2, 9), names="l t"), "Plane": events((1, 3), (4, 4), names="l t")}
    assert found(text, rows) == [(4, 1, 0, 3)]


SUBCLASSES = """RULE subclass('diablo', 'wind'); RULE subclass('sundowner', 'wind'); RULE subclass('wind', 'weather');
RULE observed('o1', 'diablo'); RULE observed('o2', 'sundowner'); RULE observed('rain', 'rainfall');
RULE type(a, x) IF observed(a, x);
RULE type(a, y) IF subclass(x, y) AND type(a, x);
"""


def test_enhanced_fire_by_subclasses() -> None:
    text = f"""STREAM Fire(l STRING) TIME t; STREAM Seen(l STRING, o STRING) TIME t;
    {SUBCLASSES}
    EVENT enhanced(f.l) AS PATTERN Fire f AND Seen s WHERE f.l = s.l AND type(s.o, 'wind') WITHIN 30 TICKS;"""
    seen = events(("l", "o1", 20), ("l", "rain", 25), ("m", "o2", 20), ("l", "o2", 40), names="l o t")
    assert found(text, {"Fire": events(("l", 0), names="l t"), "Seen": seen}) == [("l", 0, 20)]


def test_heat_index_falls_into_one_class() -> None:
    text = """STREAM Heat(h DOUBLE) TIME t;
    RULE class(h, 'Caution') IF h >= 80 AND h < 90;
    RULE class(h, 'ExtremeCaution') IF h >= 90 AND h < 105;
    RULE class(h, 'Danger') IF h >= 105 AND h < 130;
    RULE class(h, 'ExtremeDanger') IF h >= 130;
    EVENT warn(c) AS PATTERN Heat a WHERE class(a.h, c);"""
    rows = events((79.9, 0), (80.0, 1), (89.9, 2), (90.0, 3), (105.0, 4), (129.0, 5), (130.0, 6), names="h t")
    named = sorted(found(text, {"Heat": rows}), key=lambda result: result[1])  # type: ignore[arg-type, return-value]
    assert [(result[0], result[1]) for result in named] == [
        ("Caution", 1), ("Caution", 2), ("ExtremeCaution", 3), ("Danger", 4), ("Danger", 5), ("ExtremeDanger", 6),
    ]  # fmt: skip


def test_one_result_per_client() -> None:
    text = """STREAM Stock(name STRING, price DOUBLE) TIME t;
    TABLE client(id STRING, stock STRING, amount INTEGER) FROM 'client.csv';
    EVENT told(id, s.name, s.price, amount) AS PATTERN Stock s WHERE client(id, s.name, amount);"""
    clients = events(("kavx", "goog", 3815), ("kblu", "msft", 2995), ("kcqt", "goog", 1815), names="id stock amount")
    assert found(text, {"Stock": events(("goog", 515.0, 1), names="name price t")}, {"client": clients}) == [
        ("kavx", "goog", 515.0, 3815, 1, 1),
        ("kcqt", "goog", 515.0, 1815, 1, 1),
    ]


def test_great_circles() -> None:
    text = """STREAM Fix(a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE) TIME t;
    RULE apart(a, b, c, d, km) IF km = great_circle(a, b, c, d, 6378.137);
    EVENT far(km) AS PATTERN Fix f WHERE apart(f.a, f.b, f.c, f.d, km);"""
    rows = events((37.61896, -122.37489, 36.935, -121.789, 0), (0.0, 0.0, 0.0, 1.0, 1), names="a b c d t")
    assert [result[0] for result in found(text, {"Fix": rows})] == pytest.approx([92.143, 111.319], abs=5e-4)


def test_cyclic_links_come_to_an_end() -> None:
    text = """STREAM Go(a INTEGER, b INTEGER) TIME t;
    TABLE linked(a INTEGER, b INTEGER) FROM 'linked.csv';
    RULE reach(a, b) IF linked(a, b);
    RULE reach(a, c) IF reach(a, b) AND reach(b, c);
    EVENT there(x) AS PATTERN Go g WHERE reach(g.a, x) AND NOT reach(g.b, x);"""
    links = events((1, 2), (2, 3), (3, 1), (3, 4), names="a b")
    rows = {"Go": events((1, 4, 0), (4, 1, 1), (2, 2, 2), names="a b t")}
    assert found(text, rows, {"linked": links}) == [(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)]


def test_what_is_denied_is_complete_first() -> None:
    text = """STREAM Go(a INTEGER) TIME t;
    TABLE linked(a INTEGER, b INTEGER) FROM 'linked.csv';
    RULE place(a) IF linked(a, _); RULE place(b) IF linked(_, b);
    RULE reach(a, b) IF linked(a, b); RULE reach(a, c) IF reach(a, b) AND linked(b, c);
    RULE apart(a, b) IF place(a) AND place(b) AND NOT reach(a, b);
    RULE lonely(a) IF place(a) AND NOT apart(_, a);
    EVENT alone(x) AS PATTERN Go g WHERE apart(g.a, x) AND NOT lonely(x);"""
    links = events((1, 2), (2, 3), (3, 2), names="a b")
    assert found(text, {"Go": events((1, 0), (2, 1), names="a t")}, {"linked": links}) == [(1, 0, 0), (1, 1, 1)]
