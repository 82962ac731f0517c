"""The rule sets of the ETALIS thesis as programs of several events: recursion, second readings, formulas, by their ids.

All events partition by `w`, the name of the case, and no two cases share an event, so that all of them are one program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.kit.rows import Rows, intervals, points
from tests.oracles.etalis_numbers import CROSSING, DRAWING, POINTS

from inkling.model.event import Value

BY_CASE = "PARTITION BY w PER INTERVAL;"
COLUMNS = {
    **dict.fromkeys("ABC", ("x",)),
    **dict.fromkeys(("Begin", "Close"), ()),
    **dict.fromkeys(("Temp", "Price", "Weight"), ("v",)),
    "Edge": ("x", "y"),
    "Bid": ("x", "y"),
    "Place": ("lat1", "lon1", "lat2", "lon2"),
}
LASTING = ("P1", "P2", "P3")


def _declared(name: str, columns: Sequence[str]) -> str:
    listed = "".join(f", {column} {'BIGINT' if column in 'xy' else 'DOUBLE'}" for column in columns)
    return f"STREAM {name}(id STRING, w STRING, t BIGINT{listed}) ID id KEY w TIME t;"


STREAMS = "\n".join(
    [
        *(_declared(name, columns) for name, columns in COLUMNS.items()),
        *(
            f"STREAM {name}(id STRING, w STRING, begun BIGINT, ended BIGINT, v DOUBLE) ID id KEY w"
            " TIME FROM begun TO ended;"
            for name in LASTING
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class RuleSetCase:
    """Events, rows of streams, and every result of some events: the values of the head but `w`, start and end."""

    id: str
    events: str
    rows: Rows
    expected: Mapping[str, Sequence[tuple[object, ...]]]

    @property
    def program(self) -> str:
        return f"{STREAMS}\n{self.events}"

    def inputs(self) -> Rows:
        given = {name: ("t", *columns) for name, columns in COLUMNS.items()}
        given |= dict.fromkeys(LASTING, ("begun", "ended", "v"))
        return {
            name: [
                {**dict.fromkeys(columns), **row, "w": self.id, "id": f"{self.id}/{name}{number}"}
                for number, row in enumerate(self.rows.get(name, ()))
            ]
            for name, columns in given.items()
        }

    def wanted(self) -> dict[str, list[tuple[object, ...]]]:
        return {name: sorted(some, key=repr) for name, some in self.expected.items()}


def _at(name: str, *rows: tuple[Value, ...]) -> Rows:
    """Rows of one stream: a time and the values of its columns."""
    return {name: [dict(zip(("t", *COLUMNS[name]), row, strict=False)) for row in rows]}


SEVEN = points(POINTS["O32"][0])
STEADY = "NOT Price BETWEEN"
TICKS = _at("Price", *enumerate((10.0, 12.0, 9.0, 8.0, 9.5, 13.0), start=1))
WINDS = _at("Temp", *((30 * n, v) for n, v in enumerate((40.0, 38.0, 20.0, 45.0, 37.0, 36.0, 41.0, 50.0))))
BIDS = ((2, 2, 4), (3, 29, 4), (4, 33, 3), (5, 66, 4))


def _tick_shape(id: str, before: str) -> str:
    """A fall, a rise that stays below the price before the fall, and the next price that exceeds it."""
    return f"""
    EVENT fall{id}(a.v AS top, b.v AS low, w) AS PATTERN {STEADY} Price a AND Price b[a.v {before} v] {BY_CASE}
    EVENT fall{id}(f.top AS top, b.v AS low, w) AS PATTERN {STEADY} fall{id} f AND Price b[v < f.low] {BY_CASE}
    EVENT rise{id}(f.top AS top, b.v AS low, w) AS
      PATTERN {STEADY} fall{id} f AND Price b[v > f.low AND v <= f.top] {BY_CASE}
    EVENT rise{id}(r.top AS top, b.v AS low, w) AS
      PATTERN {STEADY} rise{id} r AND Price b[v > r.low AND v <= r.top] {BY_CASE}
    EVENT tick{id}(w) AS
      PATTERN {STEADY} fall{id} | rise{id} f[low <= top] AND Price b[v > f.top] {BY_CASE}
    """


def _auction(id: str) -> str:
    """Bids one after the other, each above the best so far; `CONSUME RECENT` forgets whom a better one has beaten."""
    recent = "PARTITION BY w CONSUME RECENT PER INTERVAL;"
    return f"""
    EVENT best{id}(-1 AS who, -1 AS price, w) AS PATTERN Begin b {recent}
    EVENT best{id}(b.x AS who, b.y AS price, w) AS PATTERN SEQ(best{id} a, Bid b[y > a.price]) {recent}
    EVENT winner{id}(a.who AS who, a.price AS price, w) AS PATTERN SEQ(best{id} a, Close c) {recent}
    """


def _state(id: str, start: str, steps: Mapping[str, str]) -> str:
    """A value that begins with an event and moves with every `A` after it, without leaving one out."""
    moved = "\n".join(
        f"EVENT state{id}({value} AS n, w) AS PATTERN NOT A BETWEEN state{id} s AND A a[{when}] {BY_CASE}"
        for value, when in steps.items()
    )
    return f"EVENT state{id}({start} AS n, w) AS PATTERN Begin b {BY_CASE}\n{moved}"


COUNTED = {**_at("Begin", (0,)), **_at("A", (1, 1), (2, 2), (3, 3))}


def _states(*values: int) -> list[tuple[int, int, int]]:
    return [(value, 0, time) for time, value in enumerate(values)]


RECURSION = [
    RuleSetCase(
        "O32",
        f"""
        EVENT chosen(1 AS n, w) AS PATTERN A a {BY_CASE}
        EVENT chosen(r.n + 1 AS n, w) AS PATTERN SEQ(A a, chosen r[n < 5]) {BY_CASE}
        EVENT five(w) AS PATTERN chosen r[n = 5] {BY_CASE}
        """,
        SEVEN,
        {"five": POINTS["O32"][1]},
    ),
    RuleSetCase(
        "O33",
        f"""
        EVENT run(1 AS n, w) AS PATTERN A a {BY_CASE}
        EVENT run(r.n + 1 AS n, w) AS PATTERN NOT A BETWEEN A a AND run r[n < 5] {BY_CASE}
        EVENT five_in_a_row(w) AS PATTERN run r[n = 5] {BY_CASE}
        """,
        SEVEN,
        {"five_in_a_row": POINTS["O33"][1]},
    ),
    RuleSetCase(
        "O34",
        f"""
        EVENT most(p.v AS v, w) AS PATTERN Temp p {BY_CASE}
        EVENT most(p.v AS v, w) AS PATTERN SEQ(most m, Temp p[v > m.v]) {BY_CASE}
        EVENT alarm(m.v AS v, w) AS PATTERN most m[v > 100] {BY_CASE}
        """,
        _at("Temp", (1, 70.0), (2, 65.0), (3, 90.0), (4, 101.0)),
        {"alarm": [(101.0, start, 4) for start in (1, 2, 3, 4)]},
    ),
    RuleSetCase("O35", _tick_shape("35", ">"), TICKS, {"tick35": [(2, 6), (3, 5)]}),
    RuleSetCase("O36", _tick_shape("36", "<"), TICKS, {"tick36": [(1, 6)]}),
    RuleSetCase(
        "O37",
        f"""
        EVENT path(e.x AS x, e.y AS y, w) AS PATTERN Edge e {BY_CASE}
        EVENT path(p.x AS x, e.y AS y, w) AS PATTERN SEQ(path p, Edge e[x = p.y]) {BY_CASE}
        """,
        _at("Edge", (1, 1, 2), (2, 2, 3), (3, 3, 4)),
        {"path": [(1, 2, 1, 1), (1, 3, 1, 2), (1, 4, 1, 3), (2, 3, 2, 2), (2, 4, 2, 3), (3, 4, 3, 3)]},
    ),
    RuleSetCase(
        "O38",
        f"""
        EVENT joined(a.x AS x, w) AS PATTERN A a AND B b[x = a.x] {BY_CASE}
        EVENT joined(d.x AS x, w) AS PATTERN joined d AND C c[x = d.x] {BY_CASE}
        """,
        {**_at("A", (1, 1)), **_at("B", (2, 1)), **_at("C", (3, 1))},
        {"joined": [(1, 1, 2), (1, 1, 3)]},
    ),
    RuleSetCase(
        "O44",
        f"""
        EVENT settled(1 AS n, w) AS PATTERN Temp p[v > 35] {BY_CASE}
        EVENT settled(s.n + 1 AS n, w) AS PATTERN SEQ(settled s, Temp p[v > 35]) {BY_CASE}
        EVENT warning(w) AS PATTERN settled s[n > 4] HAVING END(s) - START(s) > 180 {BY_CASE}
        """,
        WINDS,
        {"warning": [(0, 210)]},
    ),
    RuleSetCase(
        "A08-count", _state("_count", "0", {"s.n + 1": "t >= 0"}), COUNTED, {"state_count": _states(0, 1, 2, 3)}
    ),
    RuleSetCase("A08-sum", _state("_sum", "0", {"s.n + a.x": "t >= 0"}), COUNTED, {"state_sum": _states(0, 1, 3, 6)}),
    RuleSetCase(
        "A08-max",
        _state("_max", "-99", {"a.x": "x > s.n", "s.n": "x <= s.n"}),
        COUNTED,
        {"state_max": _states(-99, 1, 2, 3)},
    ),
    RuleSetCase(
        "A08-min",
        _state("_min", "99", {"a.x": "x < s.n", "s.n": "x >= s.n"}),
        COUNTED,
        {"state_min": _states(99, 1, 1, 1)},
    ),
]

ORDER = [
    RuleSetCase(
        f"O17-O18-{name}",
        "\n".join(texts),
        points("a1 b2"),
        {f"c_{name}": [(1, 2)], f"d_{name}": [], f"e_{name}": [(1, 2)]},
    )
    for name, texts in (
        (
            name,
            [
                text
                for place in order
                for text in [
                    (
                        f"EVENT c_{name}(w) AS PATTERN SEQ(A, B) {BY_CASE}",
                        f"EVENT d_{name}(w) AS PATTERN SEQ(B, c_{name}) {BY_CASE}",
                        f"EVENT e_{name}(w) AS PATTERN B AND c_{name} {BY_CASE}",
                    )[place]
                ]
            ],
        )
        for name, order in (("forth", (0, 1, 2)), ("back", (2, 1, 0)))
    )
]
"""The order of rules makes no difference."""

AUCTIONS = [
    RuleSetCase(
        "C30",
        _auction("30"),
        {**_at("Begin", (1,)), **_at("Bid", *BIDS, (6, 56, 5)), **_at("Close", (7,))},
        {"winner30": [(56, 5, 1, 7)]},
    ),
    RuleSetCase(
        "C31",
        _auction("31"),
        {**_at("Begin", (1,)), **_at("Bid", *BIDS, (7, 56, 5)), **_at("Close", (6,))},
        {"winner31": [(2, 4, 1, 6)]},
    ),
]

RECENT, CHRONOLOGICAL = "CONSUME RECENT", "CONSUME CHRONOLOGICAL"
THREE_PARTS = {
    "C02": (RECENT, [(3, 6)]),
    "C03": (f"{RECENT} KEEPING", [(2, 6)]),
    "C04": (CHRONOLOGICAL, [(1, 6)]),
    "C05": (f"{CHRONOLOGICAL} KEEPING", [(1, 6)]),
}
TWO_PARTS = {
    "C10": (RECENT, [(2, 3)]),
    "C11": ("", [(1, 3), (2, 3), (1, 4), (2, 4)]),
    "C12": (f"{RECENT} KEEPING", [(2, 3), (1, 4)]),
    "C13": (f"{CHRONOLOGICAL} KEEPING", [(1, 3), (2, 4)]),
    "C14": (CHRONOLOGICAL, [(1, 3)]),
}
PREFERENCES = {
    "C20": (RECENT, {"LONGER": 1, "SHORTER": 15, "a.v": 15}, ((1, 30, 1000.0), (15, 30, 10000.0))),
    "C21": (CHRONOLOGICAL, {"LONGER": 30, "SHORTER": 10}, ((1, 10, 0.0), (1, 30, 0.0))),
}


def _lasting(name: str, *rows: tuple[Value, ...]) -> Rows:
    return {name: [dict(zip(("begun", "ended", "v"), row, strict=True)) for row in rows]}


def _preferring(id: str, prefer: str, place: int) -> RuleSetCase:
    """Which of two that compete is taken, told by where it starts (same end) or ends (same start)."""
    policy, chosen, rivals = PREFERENCES[id]
    name = f"{id.lower()}_{place}"
    edge = "START" if id == "C20" else "END"
    return RuleSetCase(
        f"{id}-{prefer}",
        f"EVENT {name}({edge}(a) AS edge, w) AS PATTERN SEQ(P1 a, P2 b) PARTITION BY w {policy} PREFER {prefer}"
        " PER INTERVAL;",
        {**_lasting("P1", *rivals), **_lasting("P2", (35, 50, 0.0))},
        {name: [(chosen[prefer], chosen[prefer] if edge == "START" else 1, 50)]},
    )


POLICIES = [
    *(
        RuleSetCase(
            id,
            f"EVENT {id.lower()}(w) AS PATTERN SEQ({parts}) PARTITION BY w {policy} PER INTERVAL;",
            points(rows),
            {id.lower(): expected},
        )
        for parts, rows, cases in (
            ("A a, B b, C c", "a1 a2 a3 b4 b5 c6", THREE_PARTS),
            ("A a, B b", "a1 a2 b3 b4", TWO_PARTS),
        )
        for id, (policy, expected) in cases.items()
    ),
    *(_preferring(id, prefer, n) for id in PREFERENCES for n, prefer in enumerate(PREFERENCES[id][1])),
]

SEVEN_VALUES = (5.0, 1.0, 4.0, 9.0, 2.0, 2.0, 7.0)
NUMBERS = tuple(float(n) for n in range(1, 13))
SLIDING = {
    "A01": ("SUM(p.v)", "5 EVENTS", NUMBERS, (1, 3, 6, 10, 15, 20, 25, 30, 35, 40, 45, 50)),
    "A02": ("SUM(p.v)", "3 EVENTS", SEVEN_VALUES, (5, 6, 10, 14, 15, 13, 11)),
    "A03": ("MAX(p.v)", "3 EVENTS", SEVEN_VALUES, (5, 5, 5, 9, 9, 9, 7)),
    "A04": ("MIN(p.v)", "3 EVENTS", SEVEN_VALUES, (5, 1, 1, 1, 2, 2, 2)),
    "A05": ("AVG(p.v)", "3 EVENTS", SEVEN_VALUES, (5, 3, 10 / 3, 14 / 3, 5, 13 / 3, 11 / 3)),
}
PAUSES = (0, 1, 3, 4, 7)

WINDOWS = [
    *(
        RuleSetCase(
            id,
            f"EVENT {id.lower()}(v, w) AS PATTERN WINDOW Temp p LAST {last} WHERE v = {value} {BY_CASE}",
            _at("Temp", *enumerate(given, start=1)),
            {id.lower(): [(float(one), max(1, n + 1 - int(last[0])), n) for n, one in enumerate(expected, start=1)]},
        )
        for id, (value, last, given, expected) in SLIDING.items()
    ),
    *(
        RuleSetCase(
            id,
            f"EVENT {id.lower()}(n, w) AS PATTERN WINDOW Temp p LAST {length} TICKS WHERE n = COUNT(p) {BY_CASE}",
            _at("Temp", *((time, 1.0) for time in PAUSES)),
            {id.lower(): [(n, start, time) for n, start, time in zip(counts, starts, PAUSES, strict=True)]},
        )
        for id, length, counts, starts in (
            ("A06", 3, (1, 2, 3, 3, 2), (0, 0, 0, 1, 4)),
            ("A07", 2, (1, 2, 2, 2, 1), (0, 0, 1, 3, 7)),
        )
    ),
]
"""A07 leaves out what happened exactly three ticks ago: the window is half open, or a tick shorter."""

READINGS = [
    RuleSetCase(
        "F06-time-points",
        f"EVENT around(w) AS PATTERN P1 DURING SEQ(AT 0, AT 6) {BY_CASE}",
        {name: DRAWING[name] for name in LASTING},
        {"around": [(0, 6)]},
    ),
    RuleSetCase(
        "F06-as-drawn",
        f"EVENT within(START(p) AS since, END(p) AS until, w) AS PATTERN P1 p DURING SEQ(AT 0, AT 6) {BY_CASE}",
        {name: DRAWING[name] for name in LASTING},
        {"within": [(3, 5, 0, 6)]},
    ),
    RuleSetCase(
        "O08-strict",
        f"EVENT overlap(w) AS PATTERN SEQ(A, B) PAR C c HAVING START(c) < END(c) {BY_CASE}",
        points(POINTS["O08"][0]),
        {"overlap": []},
    ),
    RuleSetCase(
        "O11-strict",
        f"EVENT inside(w) AS PATTERN B b DURING SEQ(A, C) HAVING START(b) < END(b) {BY_CASE}",
        points(POINTS["O11"][0]),
        {"inside": []},
    ),
    RuleSetCase(
        "O21-of-intervals",
        f"EVENT lacking(w) AS PATTERN SEQ(P2, P3) EXCEPT SEQ(P2, P1, P3) {BY_CASE}",
        intervals(CROSSING[0]),
        {"lacking": []},
    ),
    RuleSetCase(
        "O39-distinct",
        f"EVENT twice(w) AS PATTERN A a AND A b HAVING ID(a) <> ID(b) {BY_CASE}",
        points("a1"),
        {"twice": []},
    ),
    RuleSetCase(
        "C01-as-a-set",
        f"EVENT thrice(w) AS PATTERN SEQ(A, B, C) {BY_CASE}",
        points("a1 a2 a3 b4 b5 c6"),
        {"thrice": [(1, 6), (2, 6), (3, 6)]},
    ),
]
"""Where two readings exist, the one that was not chosen."""

FORMULAS = [
    RuleSetCase(
        "O45",
        "EVENT apart(km, w) AS PATTERN Place p"
        f" WHERE km = floor(1000 * great_circle(p.lat1, p.lon1, p.lat2, p.lon2, 6378.137) + 0.5) / 1000 {BY_CASE}",
        _at("Place", (1, 37.61896, -122.37489, 36.935, -121.789), (2, 0.0, 0.0, 0.0, 1.0)),
        {"apart": [(92.143, 1, 1), (111.319, 2, 2)]},
    ),
    RuleSetCase(
        "O46",
        f"EVENT total(v, w) AS PATTERN WINDOW Weight p LAST 4 EVENTS WHERE v = SUM(p.v) HAVING COUNT(p) = 4 {BY_CASE}",
        _at("Weight", (1, 1.1681845703125), (2, -0.2819755859375), (3, 0.1468974609375), (4, -0.0331064453125)),
        {"total": [(1.0, 1, 4)]},
    ),
]

CASES = [*RECURSION, *ORDER, *AUCTIONS, *POLICIES, *WINDOWS, *READINGS, *FORMULAS]
