"""The examples of the language reference that depend on certain streams, by their numbers."""

from __future__ import annotations

from dataclasses import replace

from tests.kit.rows import Rows, points, word
from tests.oracles.etalis_cases import LETTERS
from tests.oracles.ink_case import Case

KEYED = "\n".join(f"STREAM {name}(id STRING, w STRING, k STRING, t BIGINT) ID id KEY k TIME t;" for name in "ABC")
REQUESTS = "\n".join(
    f"STREAM {name}(id STRING, w STRING, n BIGINT, t BIGINT) ID id KEY n TIME t;" for name in ("Req", "Rep")
)
FIXES = """
STREAM Fix(id STRING, w STRING, spot STRING, t BIGINT) ID id KEY spot TIME t;
TABLE area_of(z STRING, spot STRING) FROM 'areas.csv';
"""
ORDERED = """
STREAM V(id STRING, w STRING, t BIGINT, seq BIGINT, s STRING, k STRING, n BIGINT) ID id KEY k TIME t ORDER BY seq;
"""
TEMPERATURES = "STREAM Temp(id STRING, w STRING, t BIGINT, v BIGINT) ID id KEY w TIME t;"
ROOMS = "STREAM At(id STRING, w STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;"
LAPTOPS = "\n".join(
    [
        "STREAM Carries(id STRING, w STRING, person STRING, object STRING, t BIGINT) ID id KEY person, object TIME t;",
        ROOMS,
    ]
)

Times = list[tuple[object, ...]]


def lineages(id: str, pattern: str, rows: Rows, *expected: str, streams: str = LETTERS, by: str = "") -> Case:
    return Case(id, streams, pattern, rows, [(one,) for one in expected], ("lineage",), by=by)


def spans(id: str, pattern: str, rows: Rows, *expected: tuple[int, int]) -> Case:
    return Case(id, LETTERS, pattern, rows, expected)


SIX = points("a1 a2 a3 b4 b5 c6")


def alarm(id: str, replies: list[int], expected: Times) -> Case:
    rows: Rows = {"Req": [{"id": "q", "n": 7, "t": 0}], "Rep": [{"id": f"p{t}", "n": 7, "t": t} for t in replies]}
    pattern = "SEQ(Req r, NOT Rep[n = r.n], AFTER 10 TICKS)"
    return Case(id, REQUESTS, pattern, rows, expected, ("n", "start", "end", "detected_at", "lineage"), head="r.n AS n")


PURE = "SEQ(A, B, C) EQUALS (NOT (A OR C) BETWEEN A AND C) PER INTERVAL"

ETALIS = [
    lineages("1", "SEQ(A a, B b, C c)", SIX, *(f"{a} {b} c6" for a in ("a1", "a2", "a3") for b in ("b4", "b5"))),
    spans("1 PER INTERVAL", "SEQ(A a, B b, C c) PER INTERVAL", SIX, (1, 6), (2, 6), (3, 6)),
    alarm("2 reply at 9", [9], []),
    alarm("2 reply at 10", [10], [(7, 0, 10, 10, "q")]),
    alarm("2 no reply", [], [(7, 0, 10, 10, "q")]),
    Case(
        "3 as a repetition",
        TEMPERATURES,
        "SEQ(Temp t[v > LAST(t).v]+) PER INTERVAL",
        {"Temp": [{"id": str(t), "t": t, "v": v} for t, v in ((1, 5), (2, 3), (3, 7))]},
        [(5, 1, 1), (3, 2, 2), (7, 3, 3), (7, 1, 3), (7, 2, 3)],
        ("v", "start", "end"),
        head="LAST(t).v AS v",
    ),
    spans("4", PURE, points("a1 b2 a3 c4")),
    spans("4 with a match", PURE, points("a1 b2 c4"), (1, 4)),
    Case(
        "5",
        FIXES,
        "Fix f WHERE area_of(z, f.spot)",
        {"Fix": [{"id": "f", "spot": "p", "t": 1}]},
        [("harbor",), ("north",)],
        ("z",),
        head="z",
        tables={"area_of": [{"z": z, "spot": spot} for z, spot in (("north", "p"), ("harbor", "p"), ("south", "q"))]},
    ),
]


def ends(id: str, pattern: str, symbols: str, *expected: int) -> Case:
    rows: Rows = {"V": [{**row, "k": "k"} for row in word(symbols)["V"]]}
    return Case(id, ORDERED, f"{pattern} PER END", rows, [(end,) for end in expected], ("end",), by="k")


THEFT = "SEQ STRICT(V[s = 'P']{3,})"
GAPLESS = "SEQ STRICT(V[s='A'], COMPLEMENT(SEQ STRICT(_*, V[s='B'], _*)), V[s='C'])"


def faster(id: str, speeds: tuple[int, ...], *expected: int) -> Case:
    rows: Rows = {
        "V": [
            {"id": str(t), "t": t, "seq": t, "k": "k", "s": "A" if t == 1 else "B", "n": n}
            for t, n in enumerate(speeds, start=1)
        ]
    }
    pattern = "SEQ STRICT(V x[s='A'], _*, V y[n > x.n]) WITHIN 4 EVENTS PER END"
    return Case(id, ORDERED, pattern, rows, [(end,) for end in expected], ("end",), by="k")


WAYEB = [
    ends("7", THEFT, "PPPPP", 3, 4, 5),
    ends("7 restart", f"{THEFT} CONSUME RESTART", "PPPPP", 3),
    ends("8 gap without B", GAPLESS, "AXC", 3),
    ends("8 gap with B", GAPLESS, "ABC"),
    ends("9", "SEQ NEXT(V[s='A'], SEQ STRICT(V[s='B'], V[s='C']), V[s='D'])", "ABXBCD", 6),
    faster("10 the fourth event", (5, 4, 4, 6), 4),
    faster("10 one event too many", (5, 4, 4, 4, 6)),
    faster("10 at once", (5, 6), 2),
    faster("10 not faster", (5, 5)),
]

AFTER = "SEQ(A a, B b, NOT C) WITHIN 5 POINTS"


def contiguous(id: str, key: str, *expected: str) -> Case:
    rows: Rows = {
        "A": [{"id": "a", "k": "k", "t": 1}],
        "B": [{"id": "b", "k": key, "t": 2}],
        "C": [{"id": "c", "k": "k", "t": 3}],
    }
    return lineages(id, "SEQ STRICT(A a, C c) OVER (A, B, C)", rows, *expected, streams=KEYED, by="k")


FOUR = points("a1 b2 b3 c4 d5")

SASE = [
    lineages("12 any", "SEQ ANY(A a, B b, C c, D d)", FOUR, "a1 b2 c4 d5", "a1 b3 c4 d5"),
    lineages("12 next", "SEQ NEXT(A a, B b, C c, D d)", FOUR, "a1 b2 c4 d5"),
    *(
        lineages(f"14 c{time}", AFTER, points(f"a1 b2 c{time}"), *([] if 3 <= time <= 5 else ["a1 b2"]))
        for time in (2, 3, 4, 5, 6)
    ),
    Case("14 known later", LETTERS, AFTER, points("a1 b2"), [(1, 2, 5)], ("start", "end", "detected_at")),
    lineages("15", "SEQ NEXT(A a, B b+ EAGER, C c)", points("a1 b2 b3 c4"), "a1 b2 b3 c4"),
    lineages("15 without EAGER", "SEQ NEXT(A a, B b+, C c)", points("a1 b2 b3 c4"), "a1 b2 b3 c4", "a1 b2 c4"),
    contiguous("16 other key", "other", "a c"),
    contiguous("16 same key", "k"),
]


def times(id: str, pattern: str, rooms: str, *expected: int) -> Case:
    rows: Rows = {
        "At": [{"id": str(t), "person": "joe", "room": room, "t": t} for t, room in enumerate(rooms, start=1)]
    }
    found = [("joe", end) for end in expected]
    return Case(id, ROOMS, f"{pattern} PER END", rows, found, ("person", "end"), head="person", by="person")


def corridor(id: str, rooms: str, *expected: int) -> Case:
    """Rooms h and i are hallways."""
    case = times(id, HALL, rooms, *expected)
    hallways: Rows = {"hallway": [{"room": "h"}, {"room": "i"}]}
    return replace(case, streams=f"{ROOMS}\nTABLE hallway(room STRING) FROM 'hallways.csv';", tables=hallways)


PRE = "SEQ NEXT(At a[room='a'], At c[room='c'])"
POST = "SEQ NEXT(At a[room='a'], At c) HAVING c.room='c'"
HALL = "SEQ NEXT(At a[room='a'], At h+ CHECK (hallway(h.room)), At c) HAVING c.room='c'"

LAHAR = [
    times("17", PRE, "abc", 3),
    times("18", POST, "abc"),
    times("18 at once", POST, "acc", 2),
    corridor("19", "ahhc", 4),
    corridor("19 broken off", "ahxc"),
    corridor("19 both hallways", "ahicc", 4),
    corridor("19 no hallway", "ac"),
    Case(
        "20",  # joe carries the laptop twice and then shows up; sue is a different person, and mug another object
        LAPTOPS,
        "SEQ NEXT(Carries x, Carries y[person=x.person AND object=x.object]+, At u[person=x.person]) PER END",
        {
            "Carries": [
                {"id": "1", "person": "joe", "object": "laptop", "t": 1},
                {"id": "2", "person": "joe", "object": "mug", "t": 2},
                {"id": "3", "person": "joe", "object": "laptop", "t": 3},
            ],
            "At": [
                {"id": "4", "person": "joe", "room": "a", "t": 2},
                {"id": "5", "person": "sue", "room": "a", "t": 4},
                {"id": "6", "person": "joe", "room": "a", "t": 5},
                {"id": "7", "person": "joe", "room": "a", "t": 6},
            ],
        },
        [(1, 5)],
    ),
    lineages(
        "21",
        "SEQ NEXT(A x, B y, C z[k = x.k])",
        {
            "A": [{"id": "a1", "k": "k", "t": 1}],
            "B": [{"id": "b2", "k": "other", "t": 2}, {"id": "b4", "k": "k", "t": 4}],
            "C": [{"id": "c3", "k": "other", "t": 3}, {"id": "c5", "k": "k", "t": 5}],
        },
        "a1 b2 c5",
        streams=KEYED,
    ),
]
"""20 and 21 come without numbers; theirs are worked by hand from the meaning of SEQ NEXT."""

CASES = [*ETALIS, *WAYEB, *SASE, *LAHAR]
