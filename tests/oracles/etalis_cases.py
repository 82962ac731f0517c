"""The ETALIS thesis as programs: its operators, joins, absences and background tables, by the ids of its tables."""

from __future__ import annotations

from tests.kit.rows import Rows, intervals, points
from tests.oracles.etalis_numbers import CROSSING, DRAWING, DRAWN, NOTHING_INSIDE, POINTS
from tests.oracles.ink_case import Case

from inkling.model.event import Value

LETTERS = "\n".join(f"STREAM {name}(id STRING, w STRING, t BIGINT) ID id KEY w TIME t;" for name in "ABCDE")
LASTING = "\n".join(
    f"STREAM {name}(id STRING, w STRING, begun BIGINT, ended BIGINT) ID id KEY w TIME FROM begun TO ended;"
    for name in ("P1", "P2", "P3", "Q", "R", "I", "O")
)

DRAWN_PATTERNS = {
    "F01": "P1 WITHIN 3 TICKS",
    "F02": "SEQ(P1, P3)",
    "F03": "P2 AND P3",
    "F04": "P1 PAR P2",
    "F05": "P2 OR P3",
    "F06": "P1 DURING SEQ(Q, R)",
    "F07": "P3 STARTS P1",
    "F08": "P1 EQUALS P3",
    "F09": "NOT P3 BETWEEN P1 AND P1",
    "F10": "P3 FINISHES P2",
    "F11": "P2 MEETS P3",
}

PURE = "SEQ(A, B, C) EQUALS (NOT (A OR C) BETWEEN A AND C)"
POINT_PATTERNS = {
    "O01": "SEQ(A, SEQ(B, C))",
    "O02": "SEQ(A, SEQ(B, C))",
    "O03": "SEQ(A, B)",
    "O04": "A EQUALS B",
    "O05": "A MEETS B",
    "O06": "A AND B",
    "O07": "A PAR B",
    "O08": "SEQ(A, B) PAR C",
    "O09": "SEQ(A, B) PAR C",
    "O10": "SEQ(A, B) DURING SEQ(D, E)",
    "O11": "B DURING SEQ(A, C)",
    "O12": "SEQ(A, B) STARTS SEQ(A, C)",
    "O13": "SEQ(A, B) STARTS SEQ(A, B)",
    "O14": "SEQ(B, C) FINISHES SEQ(A, C)",
    "O15": "C FINISHES SEQ(A, C)",
    "O16": "SEQ(A, B) MEETS B",
    "O23": "SEQ(A, B, C)",
    "O24": "SEQ(A, B, C)",
    "O25": PURE,
    "O26": PURE,
    "O32": "SEQ(A{5})",
    "O33": "NOT A BETWEEN A AND (NOT A BETWEEN A AND (NOT A BETWEEN A AND (NOT A BETWEEN A AND A)))",
    "O39": "A AND A",
    "O48": "SEQ(A, B) FINISHES SEQ(A, B)",
    "O49-three": "SEQ(A, B) WITHIN 3 TICKS",
    "O49-less-than-three": "SEQ(A, B) WITHIN 2 TICKS",
    "O50-inner": "SEQ((SEQ(A, B) WITHIN 2 TICKS), C)",
    "O50-outer": "SEQ(A, B, C) WITHIN 2 TICKS",
}

OPERATORS = [
    *(Case(id, LASTING, f"{pattern} PER INTERVAL", DRAWING, DRAWN[id]) for id, pattern in DRAWN_PATTERNS.items()),
    *(
        Case(id, LETTERS, f"{pattern} PER INTERVAL", points(POINTS[id][0]), POINTS[id][1])
        for id, pattern in POINT_PATTERNS.items()
    ),
    Case("F06-moments", LASTING, "P1 DURING SEQ(AT 0, AT 6) PER INTERVAL", DRAWING, DRAWN["F06"]),
    Case("O21-intervals", LASTING, "SEQ(P2, P3) EXCEPT SEQ(P2, P1, P3) PER INTERVAL", intervals(CROSSING[0]), []),
    Case("O21", LASTING, "NOT P1 BETWEEN P2 AND P3 PER INTERVAL", intervals(CROSSING[0]), CROSSING[1]),
    Case("O47", LASTING, "I DURING O PER INTERVAL", intervals(NOTHING_INSIDE[0]), NOTHING_INSIDE[1]),
]

MATCHES = [
    Case(
        "C01-unrestricted",
        LETTERS,
        "SEQ(A a, B b)",
        points("a1 a2 a3 b4 b5 c6"),
        [("a1 b4",), ("a2 b4",), ("a3 b4",), ("a1 b5",), ("a2 b5",), ("a3 b5",)],
        ("lineage",),
    ),
    Case(
        "C01-whole",
        LETTERS,
        "SEQ(SEQ(A a, B b), C c)",
        points("a1 a2 a3 b4 b5 c6"),
        [(f"{a} {b} c6",) for a in ("a1", "a2", "a3") for b in ("b4", "b5")],
        ("lineage",),
    ),
    Case(
        "C11",
        LETTERS,
        "SEQ(A a, B b)",
        points("a1 a2 b3 b4"),
        [("a1 b3",), ("a2 b3",), ("a1 b4",), ("a2 b4",)],
        ("lineage",),
    ),
    Case("X01-late", LETTERS, "SEQ(A a, B b)", {"B": points("b2")["B"], "A": points("a1")["A"]}, [(1, 2)]),
]
"""Results in the bag reading: one per choice of events."""


def rows(**streams: list[tuple[object, ...]]) -> Rows:
    """Rows of streams from tuples of a time and the values of columns `x`, `y`, `z`."""
    return {
        name: [_row(f"{name}{number}", one) for number, one in enumerate(some, start=1)]
        for name, some in streams.items()
    }


def _row(id: str, values: tuple[object, ...]) -> dict[str, Value]:
    return {"id": id, **dict(zip(("t", "x", "y", "z"), values, strict=False))}  # type: ignore[dict-item]


def stream(name: str, **columns: str) -> str:
    listed = "".join(f", {column} {kind}" for column, kind in columns.items())
    return f"STREAM {name}(id STRING, w STRING, t BIGINT{listed}) ID id KEY w TIME t;"


NUMBERED = "\n".join(stream(name, x="BIGINT") for name in ("A", "B", "C", "P"))
PRICES = "\n".join([stream("Price", x="STRING", y="DOUBLE"), stream("Acquired", x="STRING")])
JOINED = ("x", "start", "end")

JOINS = [
    Case(
        "O19",
        NUMBERED,
        "SEQ(A a, NOT C, B b[x = a.x]) PER INTERVAL",
        rows(A=[(1, 1), (3, 2)], B=[(2, 1), (5, 2)], C=[(4, 2)]),
        [(1, 1, 2)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "O20",
        NUMBERED,
        "NOT C[x = a.x] BETWEEN A a AND B[x = a.x] PER INTERVAL",
        rows(A=[(1, 1), (4, 1)], B=[(3, 1), (6, 1)], C=[(2, 2), (5, 1)]),
        [(1, 1, 3)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "O22",
        NUMBERED,
        "SEQ(A a, NOT B[x = a.x], B b[x = a.x]) PER INTERVAL",
        rows(A=[(1, 7)], B=[(4, 7), (9, 7)]),
        [(7, 1, 4)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "O27",
        PRICES,
        "SEQ(Price a, Price b) WHERE b.x = a.x AND b.y > 1.5 * a.y WITHIN 7 TICKS PER INTERVAL",
        rows(Price=[(0, "x", 100.0), (5, "x", 160.0), (9, "x", 300.0)]),
        [("x", 0, 5), ("x", 5, 9)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "O28",  # in tenths: 11 is exactly a tenth more than 10, and so not more than that
        NUMBERED,
        "SEQ(P a, P b[10 * x > 11 * a.x]) PER INTERVAL",
        rows(P=[(1, 100), (2, 110), (3, 115)]),
        [(115, 1, 3)],
        JOINED,
        head="b.x AS x",
    ),
    Case(
        "O29",
        stream("Buys", x="STRING", y="STRING"),
        "Buys first AND Buys then[y = first.x] PER INTERVAL",
        rows(Buys=[(1, "z", "y"), (2, "x", "z")]),
        [("x", "y", 1, 2)],
        ("x", "y", "start", "end"),
        head="then.x AS x, first.y AS y",
    ),
    Case(
        "O34-as-a-repetition",
        NUMBERED,
        "SEQ(P p[x > LAST(p).x]+) HAVING LAST(p).x > 100 PER INTERVAL",
        rows(P=[(1, 70), (2, 65), (3, 90), (4, 101)]),
        [(101, 1, 4), (101, 2, 4), (101, 3, 4), (101, 4, 4)],
        JOINED,
        head="LAST(p).x AS x",
    ),
    Case(
        "O37-as-a-repetition",
        stream("Edge", x="BIGINT", y="BIGINT"),
        "SEQ(Edge e[x = LAST(e).y]+) PER INTERVAL",
        rows(Edge=[(1, 1, 2), (2, 2, 3), (3, 3, 4)]),
        [(1, 2, 1, 1), (1, 3, 1, 2), (1, 4, 1, 3), (2, 3, 2, 2), (2, 4, 2, 3), (3, 4, 3, 3)],
        ("x", "y", "start", "end"),
        head="FIRST(e).x AS x, LAST(e).y AS y",
    ),
    Case(
        "O44-as-a-repetition",
        NUMBERED,
        "SEQ(P p[x > 35]+) HAVING COUNT(p) > 4 AND LAST(p).t - FIRST(p).t > 180 PER INTERVAL",
        rows(P=[(30 * n, wind) for n, wind in enumerate((40, 38, 20, 45, 37, 36, 41, 50))]),
        [(0, 210)],
    ),
    Case(
        "S01",
        PRICES,
        "SEQ(Price a, Price b[x = a.x AND y < 0.7 * a.y], Price c[x = a.x AND y > 1.05 * a.y]) WITHIN 30 TICKS",
        rows(
            Price=[
                *((0, "c1", 100.0), (10, "c1", 60.0), (20, "c1", 110.0)),
                *((0, "c2", 100.0), (10, "c2", 60.0), (40, "c2", 110.0)),
                *((0, "c3", 100.0), (5, "c3", 80.0), (9, "c3", 110.0)),
            ]
        ),
        [("c1", 0, 20)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "S03",  # an acquisition before the rise kills it too, however long ago it was
        PRICES,
        "SEQ(AT START, NOT Acquired[x = a.x], (SEQ(Price a, NOT Acquired[x = a.x], Price b[x = a.x AND y > 1.5 * a.y])"
        " WITHIN 14 TICKS))",
        rows(
            Price=[
                (1, "c1", 10.0),
                (5, "c1", 16.0),
                (1, "c2", 10.0),
                (5, "c2", 16.0),
                (1, "c3", 10.0),
                (5, "c3", 16.0),
            ],
            Acquired=[(3, "c2"), (0, "c3")],
        ),
        [("c1", 1, 5)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "S04",
        stream("Rating", x="STRING", y="STRING", z="BIGINT"),
        "SEQ(Rating a, Rating b[x = a.x AND y = a.y AND z < a.z])",
        rows(Rating=[(1, "mdy", "acme", 7), (4, "mdy", "acme", 5)]),
        [("acme", "mdy", 1, 4)],
        ("company", "agency", "start", "end"),
        head="a.y AS company, a.x AS agency",
    ),
    Case(
        "S10",
        "\n".join([stream("X", x="STRING", y="BIGINT"), stream("Y", x="STRING", y="BIGINT")]),
        "X p AND Y q[x = p.x]",
        rows(X=[(2, "x", 1)], Y=[(7, "x", 2)]),
        [("x", 1, 2, 2, 7)],
        ("x", "p", "q", "start", "end"),
        head="p.x AS x, p.y AS p, q.y AS q",
    ),
    Case(
        "S12",
        PRICES,
        "SEQ(Price a, Price b) WHERE b.x = a.x AND a.y < b.y",
        rows(Price=[(1, "company1", 1.0), (2, "company1", 2.0)]),
        [("company1", 1, 2)],
        JOINED,
        head="a.x AS x",
    ),
    Case(
        "S08",
        "\n".join(
            f"STREAM {name}(id STRING, w STRING, begun BIGINT, ended BIGINT, x STRING, y BIGINT) ID id KEY w"
            " TIME FROM begun TO ended;"
            for name in ("X", "Y")
        ),
        "X p EQUALS Y q[x = p.x]",
        {
            "X": [{"id": "p1", "begun": 2, "ended": 5, "x": "x", "y": 1}],
            "Y": [
                {"id": "q1", "begun": 2, "ended": 5, "x": "x", "y": 2},
                {"id": "q2", "begun": 2, "ended": 6, "x": "x", "y": 3},
            ],
        },
        [("x", 1, 2, 2, 5)],
        ("x", "p", "q", "start", "end"),
        head="p.x AS x, p.y AS p, q.y AS q",
    ),
]

JET = "\n".join(
    [stream("Cat", x="BIGINT"), stream("Plane", x="BIGINT"), "TABLE jet_link(x BIGINT, y BIGINT) FROM 'jet_link.csv';"]
)
FIRE = "\n".join(
    [stream("Fire", x="STRING"), stream("Seen", x="STRING", y="STRING"), "TABLE wind(seen STRING) FROM 'wind.csv';"]
)
TRAFFIC = """
STREAM Te(id STRING, w STRING, t BIGINT, road STRING, speed BIGINT, lat BIGINT, lon BIGINT) ID id KEY w TIME t;
TABLE threshold(road STRING, top BIGINT) FROM 'threshold.csv';
TABLE area(label STRING, "left" BIGINT, "right" BIGINT, low BIGINT, high BIGINT) FROM 'area.csv';
"""
SLOW = (
    "threshold(road, {top}) AND speed < {top} AND area(a, {l}, {r}, {lo}, {hi})"
    " AND {l} < lat AND lat < {r} AND {lo} < lon AND lon < {hi}"
)
FIRST = SLOW.format(top="top1", l="l1", r="r1", lo="lo1", hi="hi1")
SECOND = SLOW.format(top="top2", l="l2", r="r2", lo="lo2", hi="hi2")
READINGS = ((0, 35, 4043, 7359), (20, 30, 4044, 7360), (25, 45, 4044, 7360), (30, 20, 4046, 7362), (55, 20, 4043, 7360))

KNOWLEDGE = [
    Case(
        "O40",  # the closure of 1-2-3-4 is given: rules that derive it are another matter
        JET,
        "Cat c AND Plane p WHERE jet_link(p.x, c.x) WITHIN 5 TICKS PER INTERVAL",
        rows(Cat=[(0, 4), (9, 2)], Plane=[(3, 1), (4, 4)]),
        [(4, 1, 0, 3)],
        ("c", "p", "start", "end"),
        head="c.x AS c, p.x AS p",
        tables={"jet_link": [{"x": low, "y": high} for low in (1, 2, 3) for high in (2, 3, 4) if low < high]},
    ),
    Case(
        "O41",  # in half hours; the table lists the observations of wind, subclasses included
        FIRE,
        "Fire f AND Seen s[x = f.x AND wind(y)] WITHIN 6 TICKS PER INTERVAL",
        rows(Fire=[(0, "l")], Seen=[(4, "l", "o1"), (5, "l", "rain"), (4, "m", "o2"), (8, "l", "o2")]),
        [("l", 0, 4)],
        JOINED,
        head="f.x AS x",
        tables={"wind": [{"seen": "o1"}, {"seen": "o2"}]},
    ),
    Case(
        "O42",
        f"{stream('Heat', x='DOUBLE')} TABLE class(name STRING, low DOUBLE, high DOUBLE) FROM 'class.csv';",
        "Heat h WHERE class(name, low, high) AND low <= h.x AND h.x < high",
        rows(Heat=list(enumerate((79.9, 80.0, 89.9, 90.0, 105.0, 129.0, 130.0)))),
        [
            (80.0, "Caution"),
            (89.9, "Caution"),
            (90.0, "ExtremeCaution"),
            (105.0, "Danger"),
            (129.0, "Danger"),
            (130.0, "ExtremeDanger"),
        ],
        ("x", "name"),
        head="h.x AS x, name",
        tables={
            "class": [
                {"name": name, "low": low, "high": high}
                for name, low, high in (
                    ("Caution", 80.0, 90.0),
                    ("ExtremeCaution", 90.0, 105.0),
                    ("Danger", 105.0, 130.0),
                    ("ExtremeDanger", 130.0, 1e9),
                )
            ]
        },
    ),
    Case(
        "O43",
        f"{stream('Stock', x='STRING', y='BIGINT')}"
        " TABLE client(account STRING, title STRING, money BIGINT) FROM 'client.csv';",
        "Stock s WHERE client(account, s.x, money)",
        rows(Stock=[(1, "goog", 515)]),
        [("kavx", "goog", 515, 3815), ("kcqt", "goog", 515, 1815)],
        ("account", "title", "price", "money"),
        head="account, s.x AS title, s.y AS price, money",
        tables={
            "client": [
                {"account": account, "title": title, "money": money}
                for account, title, money in (("kavx", "goog", 3815), ("kblu", "msft", 2995), ("kcqt", "goog", 1815))
            ]
        },
    ),
    Case(
        "O31",  # two look-ups per reading; `a` is the same area for both, and its borders are excluded
        TRAFFIC,
        f"SEQ(Te x[{FIRST}], Te y[road = x.road AND {SECOND}]) WITHIN 30 TICKS PER INTERVAL",
        {
            "Te": [
                {"id": str(t), "t": t, "road": "rd1", "speed": speed, "lat": lat, "lon": lon}
                for t, speed, lat, lon in READINGS
            ]
        },
        [("a1", 0, 20)],
        ("a", "start", "end"),
        head="a",
        tables={
            "threshold": [{"road": road, "top": top} for road, top in (("rd1", 40), ("rd2", 30), ("rd3", 50))],
            "area": [
                {"label": label, "left": left, "right": right, "low": low, "high": high}
                for label, left, right, low, high in (
                    ("a1", 4042, 4045, 7358, 7361),
                    ("a2", 4045, 4048, 7361, 7363),
                    ("a3", 4048, 4051, 7363, 7365),
                )
            ],
        },
    ),
]

CASES = [*OPERATORS, *MATCHES, *JOINS, *KNOWLEDGE]
