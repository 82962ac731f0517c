"""The definition gives the detections of the fleet paper and of the public Wayeb engine.

Streams are totally ordered (`ORDER BY seq`); results are PER END unless matches are counted. "Restart" is the
engine's counting without overlap.
"""

from __future__ import annotations

import pytest

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.semantics import Result
from inkling.model.event import Value
from inkling.model.types import Type
from inkling.testing.oracle import oracle
from inkling.testing.plans import column, compare, event, leaf, nearest, plus, program, seq, stream, strict
from inkling.testing.rows import Rows, word

LETTERS = stream("V", {"s": Type.STRING, "v": Type.INTEGER}, order_by="seq")

DEMO = "AABAAACCCBBCCCCAAAACABCAACAABBCABBCACBBCCCACBCACCBABCBBAAACCACCAACCCABACBBBBBCBCCCBABBBAABCAABCCABBA"

anything = plus(leaf(90, *()), 0)


def symbol(slot: int, letter: str) -> p.Leaf:
    return leaf(slot, "V", s=letter)


a, b, c = symbol(0, "a"), symbol(1, "b"), symbol(2, "c")
A, B, C = symbol(0, "A"), symbol(1, "B"), symbol(2, "C")
no_b = p.OtherRun(strict(anything, symbol(91, "b"), anything))


def results(
    pattern: p.Pattern,
    rows: Rows,
    *,
    restart: bool = False,
    within: p.Window | None = None,
    per: p.Per = p.Per.END,
    streams: tuple[p.StreamPlan, ...] = (LETTERS,),
) -> tuple[Result, ...]:
    wanted = event("x", pattern, restart=restart, within=within, per=per, over=("V",))
    return oracle(program(streams, wanted), rows)["x"]


def ends(pattern: p.Pattern, symbols: str, *, restart: bool = False) -> list[int]:
    return [one.end for one in results(pattern, word(symbols), restart=restart)]


def test_O1_two_in_a_row() -> None:
    assert ends(strict(a, b), "abcabc") == [2, 5]


def test_O2_two_speeds_above_the_limit() -> None:
    speed = {slot: compare(column(slot, "v", Type.INTEGER), ">", 100) for slot in (0, 1)}
    fast = strict(leaf(0, "V", conditions=(speed[0],)), leaf(1, "V", conditions=(speed[1],)))
    rows = {"V": [{"id": str(t), "t": t, "seq": t, "v": v} for t, v in enumerate((85, 93, 99, 104, 111), 1)]}
    assert [one.end for one in results(fast, rows)] == [5]


@pytest.mark.parametrize(
    ("pattern", "symbols", "overlapping", "restarting"),
    [
        (strict(symbol(0, "H"), symbol(1, "H")), "HHHHH", [2, 3, 4, 5], [2, 4]),
        (strict(plus(symbol(0, "H"), 3)), "HHHHHLHHHHHH", [3, 4, 5, 9, 10, 11, 12], [3, 9, 12]),
    ],
)
def test_O3_overlap_and_restart(
    pattern: p.Pattern, symbols: str, overlapping: list[int], restarting: list[int]
) -> None:
    assert ends(pattern, symbols) == overlapping
    assert ends(pattern, symbols, restart=True) == restarting


WORDS = ("acbb", "abcacbcab", "aabbcc")
TABLE = [
    ("a;b", strict(a, b), ([], [2, 9], [3]), ([], [2, 9], [3])),
    ("any(a,b)", seq(a, b), ([3, 4], [2, 6, 9], [3, 4]), ([3], [2, 6, 9], [3])),
    ("next(a,b)", nearest(a, b), ([3], [2, 6, 9], [3]), ([3], [2, 6, 9], [3])),
    ("any(a,b,c)", seq(a, b, c), ([], [3, 5, 7], [5, 6]), ([], [3, 7], [5])),
    ("next(a,b,c)", nearest(a, b, c), ([], [3, 7], [5]), ([], [3, 7], [5])),
    ("a;!b;c", strict(a, no_b, c), ([2], [5], []), ([2], [5], [])),
    ("a;b+;c", strict(a, plus(b), c), ([], [3], [5]), ([], [3], [5])),
    ("any(a;b,c)", seq(strict(a, b), c), ([], [3, 5, 7], [5, 6]), ([], [3], [5])),
    ("next(a|b,c)", nearest(p.Disjunction((a, b)), c), ([2], [3, 5, 7], [5]), ([2], [3, 5, 7], [5])),
]


@pytest.mark.parametrize(
    ("pattern", "overlapping", "restarting"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_O4_small_words(
    pattern: p.Pattern, overlapping: tuple[list[int], ...], restarting: tuple[list[int], ...]
) -> None:
    assert tuple(ends(pattern, one) for one in WORDS) == overlapping
    assert tuple(ends(pattern, one, restart=True) for one in WORDS) == restarting


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param(strict(plus(a, 0)), ([1], [1, 4, 8], [1, 2]), id="a*"),
        pytest.param(strict(p.OtherRun(a)), ([2, 3, 4], [2, 3, 4, 5, 6, 7, 8, 9], [2, 3, 4, 5, 6]), id="!a"),
        pytest.param(strict(plus(strict(a, b), 0)), ([], [2, 9], [3]), id="(a;b)*"),
    ],
)
def test_O5_the_empty_word_is_no_match(pattern: p.Pattern, expected: tuple[list[int], ...]) -> None:
    assert tuple(ends(pattern, one) for one in WORDS) == expected


KEYED = [(1, "a"), (2, "a"), (1, "b"), (2, "c"), (2, "a"), (1, "a"), (2, "b"), (1, "b")]


@pytest.mark.parametrize(
    ("partition", "expected"),
    [({"k": Type.INTEGER}, [3, 7, 8]), ({}, [3, 7])],
    ids=["by key", "all together"],
)
def test_O7_keys(partition: dict[str, Type], expected: list[int]) -> None:
    """All together, the key plays no part: `b` at 3 follows the `a` of another key."""
    keyed = stream("V", {"s": Type.STRING, "k": Type.INTEGER}, key=("k",), order_by="seq")
    rows = {"V": [{"id": str(t), "t": t, "seq": t, "k": k, "s": s} for t, (k, s) in enumerate(KEYED, 1)]}
    pair = event("x", strict(a, b), partition=partition, per=p.Per.END)
    assert [one.end for one in oracle(program((keyed,), pair), rows)["x"]] == expected


B_or_C = p.Disjunction((B, C))
A_or_B = p.Disjunction((A, B))


def other_than(slot: int, letter: str) -> p.Leaf:
    return leaf(slot, "V", conditions=(e.Not(compare(column(slot, "s"), "=", letter)),))


DEMO_TABLE = [
    ("A;(B|C)", strict(A, B_or_C), (20, 1017), (20, 1017)),
    ("A;B;C", strict(A, B, C), (4, 262), (4, 262)),
    ("any(A,B)", seq(A, B), (30, 1751), (15, 792)),
    ("next(A,B)", nearest(A, B), (15, 792), (15, 792)),
    ("A;B+;C", strict(A, plus(B), C), (6, 328), (6, 328)),
    ("C{3,}", strict(plus(C, 3)), (6, 230), (5, 215)),
    (
        "(A|B);C;(A|B)",
        strict(A_or_B, C, p.Disjunction((symbol(3, "A"), symbol(4, "B")))),
        (12, 568),
        (10, 483),
    ),
    ("(A or B);not C;C", strict(A_or_B, other_than(3, "C"), C), (15, 708), (15, 708)),
]


@pytest.mark.parametrize(
    ("pattern", "overlapping", "restarting"),
    [row[1:] for row in DEMO_TABLE],
    ids=[row[0] for row in DEMO_TABLE],
)
def test_O8_the_demo_stream(pattern: p.Pattern, overlapping: tuple[int, int], restarting: tuple[int, int]) -> None:
    for restart, expected in ((False, overlapping), (True, restarting)):
        found = ends(pattern, DEMO, restart=restart)
        assert (len(found), sum(found)) == expected


def test_O8_where_a_pair_and_a_run_are_detected() -> None:
    pairs = [3, 7, 20, 22, 26, 29, 33, 37, 44, 48, 52, 59, 62, 66, 70, 72, 85, 90, 94, 98]
    assert ends(strict(A, B_or_C), DEMO) == pairs
    assert ends(strict(plus(C, 3)), DEMO) == [9, 14, 15, 42, 68, 82]
    assert ends(strict(plus(C, 3)), DEMO, restart=True) == [9, 14, 42, 68, 82]


@pytest.mark.parametrize(
    ("pattern", "count", "n_matches", "n_ends"),
    [
        pytest.param(seq(A, B), 5, 34, 25, id="any(A,B)"),
        pytest.param(seq(A, B, C), 6, 27, 15, id="any(A,B,C)"),
        pytest.param(nearest(A, B), 5, 22, None, id="next(A,B)"),
        pytest.param(strict(A, plus(B), C), 10, 6, None, id="A;B+;C"),
    ],
)
def test_O9_matches_within_a_number_of_events(
    pattern: p.Pattern, count: int, n_matches: int, n_ends: int | None
) -> None:
    found = results(pattern, word(DEMO), within=p.EventCount(count), per=p.Per.MATCH)
    assert len(found) == n_matches
    if n_ends is not None:
        assert len({one.end for one in found}) == n_ends


def test_O9_first_pairs_and_the_same_count_by_time() -> None:
    """The engine's time window is strict (`< 5`); inclusively that is 5 points, as ticks are whole."""
    by_count = results(seq(A, B), word(DEMO), within=p.EventCount(5), per=p.Per.MATCH)
    assert [one.lineage for one in by_count[:3]] == [("1", "3"), ("2", "3"), ("6", "10")]
    by_time = results(seq(A, B), word(DEMO), within=p.Points(5), per=p.Per.MATCH)
    assert len(by_time) == 34


def valued(*events: tuple[str, int]) -> Rows:
    """Events of a letter and a number, at times 1, 2, …"""
    rows: list[dict[str, Value]] = [
        {"id": str(t), "t": t, "seq": t, "s": s, "v": v} for t, (s, v) in enumerate(events, 1)
    ]
    return {"V": rows}


def same(slot: int, name: str, other: int, kind: Type) -> e.Compare:
    return compare(column(slot, name, kind), "=", column(other, name, kind))


def test_O10_a_register_compares_with_an_earlier_event() -> None:
    second = leaf(1, "V", s="B", conditions=(same(1, "v", 0, Type.INTEGER),))
    assert [one.end for one in results(strict(A, second), valued(("A", 3), ("B", 3)))] == [2]
    assert results(strict(A, second), valued(("A", 3), ("B", 4))) == ()


def test_O10_an_unset_register_makes_its_condition_false() -> None:
    first = leaf(1, "V", s="B", conditions=(same(1, "v", 0, Type.INTEGER),))
    for events in ([("B", 3), ("A", 3)], [("B", 3), ("A", 4)]):
        assert results(strict(first, A), valued(*events)) == ()


def test_O10_a_register_and_a_repetition_within_three_events() -> None:
    repeated = plus(leaf(1, "V", conditions=(same(1, "v", 0, Type.INTEGER),)), 0)
    rows = valued(("A", 2), ("C", 2), ("B", 1), ("A", 2), ("B", 2), ("B", 2))
    found = results(strict(A, repeated), rows, within=p.EventCount(3))
    assert [one.end for one in found] == [1, 2, 4, 5, 6]


def test_O10_registers_on_the_demo_stream() -> None:
    again = leaf(1, "V", conditions=(same(1, "s", 0, Type.STRING),))
    found = results(seq(A, again), word(DEMO), within=p.EventCount(4), per=p.Per.MATCH)
    assert len(found) == 32
    assert len({one.end for one in found}) == 22
    last = leaf(3, "V", conditions=(same(3, "s", 0, Type.STRING),))
    found = results(strict(A, B_or_C, last), word(DEMO), within=p.EventCount(4), per=p.Per.MATCH)
    assert [one.start for one in found] == [2, 19, 25, 69]


FLEET = """
off 0 0 F 9 31 F F .90|moving 60 500 T 9 1 F F .90|moving 0 40 T 0 1 F F .80|moving 55 40 T 0 1 T F .80
moving 0 40 T 0 1 T F .70|moving 0 40 F 8 1 F F .70|moving 0 45 F 8 1 F T .45|off 0 0 F 9 45 F T .45
parked 0 50 F 9 2 F T .40|moving 70 50 T 9 2 T F .40|parked 0 50 F 9 2 T F .40|moving 80 50 T 9 2 T F .40
parked 0 31 F 9 2 F F .40|parked 0 31 F 9 2 F F .40|parked 0 31 F 9 2 F F .40|idle 0 0 F 9 2 F F .40
parked 0 0 F 9 2 F F .40|idle 0 0 F 9 2 F F .40|parked 0 0 F 9 2 F F .40|moving 61 900 T 9 1 T F .40
moving 65 900 T 9 1 T F .40|moving 66 900 T 9 1 T F .40
"""
FLEET_COLUMNS = {
    "engine": Type.STRING,
    "speed": Type.INTEGER,
    "distance": Type.INTEGER,
    "accelerating": Type.BOOLEAN,
    "satellites": Type.INTEGER,
    "duration": Type.INTEGER,
    "ice": Type.BOOLEAN,
    "gas": Type.BOOLEAN,
    "fuel": Type.DOUBLE,
}
READERS = {
    Type.STRING: str,
    Type.INTEGER: int,
    Type.DOUBLE: float,
    Type.BOOLEAN: lambda text: text == "T",
}


def fleet_rows() -> Rows:
    rows: list[dict[str, Value]] = []
    for t, line in enumerate(FLEET.strip().replace("\n", "|").split("|"), start=1):
        row: dict[str, Value] = {"id": str(t), "t": t, "seq": t}
        for text, (name, kind) in zip(line.split(), FLEET_COLUMNS.items(), strict=True):
            row[name] = READERS[kind](text)
        rows.append(row)
    return {"V": rows}


def vehicle(slot: int, **tests: tuple[str, Value] | Value) -> p.Leaf:
    """An event of the fleet table; `speed=(">", 50)` compares, `engine="off"` asks for equality."""
    conditions = []
    for name, test in tests.items():
        operator, value = test if isinstance(test, tuple) else ("=", test)
        conditions.append(compare(column(slot, name, FLEET_COLUMNS[name]), operator, value))
    return leaf(slot, "V", conditions=tuple(conditions))


def engines(*states: str) -> p.Sequence:
    return strict(*(vehicle(slot, engine=state) for slot, state in enumerate(states)))


FLEET_TABLE = [
    (
        "Route",
        strict(
            vehicle(0, engine="off", duration=(">", 30)),
            plus(vehicle(1, engine="moving")),
            vehicle(2, engine="off", duration=(">", 30)),
        ),
        [8],
        [8],
    ),
    ("ParkedMovingSwing", engines("parked", "moving", "parked", "moving"), [12], [12]),
    ("IdleParkedSwing", engines("idle", "parked", "idle", "parked"), [19], [19]),
    (
        "SpeedSwing",
        strict(vehicle(0, speed=(">", 50)), vehicle(1, speed=0), vehicle(2, speed=(">", 50)), vehicle(3, speed=0)),
        [5, 13],
        [5, 13],
    ),
    (
        "MovingWithZeroSpeed",
        strict(plus(vehicle(0, engine="moving", speed=0, distance=(">", 30)), 3)),
        [7],
        [7],
    ),
    (
        "MovingWithBadSignal",
        strict(plus(vehicle(0, accelerating=True, satellites=0, distance=(">", 30)), 3)),
        [5],
        [5],
    ),
    ("PossibleTheft", strict(plus(vehicle(0, engine="parked", speed=0, distance=(">", 30)), 3)), [15], [15]),
    ("DangerousDriving", strict(plus(vehicle(0, ice=True, speed=(">", 50)), 2)), [21, 22], [21]),
    ("RefuelOpportunity", strict(plus(vehicle(0, gas=True, fuel=("<", 0.5)), 2)), [8, 9], [8]),
]


@pytest.mark.parametrize(
    ("pattern", "overlapping", "restarting"),
    [row[1:] for row in FLEET_TABLE],
    ids=[row[0] for row in FLEET_TABLE],
)
def test_O11_fleet(pattern: p.Pattern, overlapping: list[int], restarting: list[int]) -> None:
    streams = (stream("V", FLEET_COLUMNS, order_by="seq"),)
    for restart, expected in ((False, overlapping), (True, restarting)):
        found = results(pattern, fleet_rows(), restart=restart, streams=streams)
        assert [one.end for one in found] == expected


def vessel_ends(
    leaf_conditions: tuple[e.Expr, ...],
    columns: dict[str, Type],
    table: list[tuple[Value, ...]],
    *,
    restart: bool = False,
) -> list[int]:
    """Ends of three or more messages in a row that pass the conditions on slot 0."""
    rows: Rows = {
        "V": [
            {"id": str(t), "t": t, "seq": t, **dict(zip(columns, values, strict=True))}
            for t, values in enumerate(table, start=1)
        ]
    }
    pattern = strict(plus(leaf(0, "V", conditions=leaf_conditions), 3))
    found = results(pattern, rows, restart=restart, streams=(stream("V", columns, order_by="seq"),))
    return [one.end for one in found]


HEADINGS = [
    (359.0, 1.0, 5.0), (355.0, 5.0, 5.0), (2.0, 358.0, 5.0), (10.0, 50.0, 5.0),
    (10.0, 50.0, 0.5), (10.0, 50.0, 5.0), (10.0, 41.0, 5.0), (350.0, 25.0, 5.0),
]  # fmt: skip


def test_O12_drifting() -> None:
    columns = dict.fromkeys(("heading", "cog", "speed"), Type.DOUBLE)
    heading, cog, speed = (column(0, name, Type.DOUBLE) for name in columns)
    underway = compare(speed, ">", 0.5)
    minus = e.Arithmetic("-", heading, cog, Type.DOUBLE)
    plain = compare(e.FunctionCall("abs", (minus,), Type.DOUBLE), ">", 30.0)
    circular = compare(e.FunctionCall("angle_difference", (heading, cog), Type.DOUBLE), ">", 30.0)
    assert vessel_ends((plain, underway), columns, HEADINGS) == [3, 4, 8]
    assert vessel_ends((plain, underway), columns, HEADINGS, restart=True) == [3, 8]
    assert vessel_ends((circular, underway), columns, HEADINGS) == [8]


DISTANCES = (12, 6, 4, 8, 6.5, 5.5, 4.9, 4, 6, 8, 7.5, 4.5, 9, 6, 7, 6.9, 4.99, 9.9, 5.0, 4)


@pytest.mark.parametrize(
    ("far", "near", "arrived", "expected"),
    [
        pytest.param(((">", 7), ("<", 10)), ((">", 5), ("<", 7)), (("<", 5),), [7], id="open bands"),
        pytest.param(((">", 7),), ((">", 5), ("<", 7)), (("<", 5),), [3, 7], id="more than 7"),
        pytest.param(((">=", 7), ("<", 10)), ((">=", 5), ("<", 7)), (("<", 5),), [7, 17, 20], id="half-open bands"),
    ],
)
def test_O12_approaching_a_port(
    far: tuple[tuple[str, int], ...],
    near: tuple[tuple[str, int], ...],
    arrived: tuple[tuple[str, int], ...],
    expected: list[int],
) -> None:
    def band(slot: int, tests: tuple[tuple[str, int], ...]) -> p.Leaf:
        km = column(slot, "km", Type.DOUBLE)
        return leaf(slot, "V", conditions=tuple(compare(km, operator, limit) for operator, limit in tests))

    pattern = strict(band(0, far), plus(band(1, near)), band(2, arrived))
    rows = {"V": [{"id": str(t), "t": t, "seq": t, "km": km} for t, km in enumerate(DISTANCES, 1)]}
    streams = (stream("V", {"km": Type.DOUBLE}, order_by="seq"),)
    assert [one.end for one in results(pattern, rows, streams=streams)] == expected


def test_O12_trawling() -> None:
    columns = {"kind": Type.STRING, "in_area": Type.BOOLEAN, "speed": Type.DOUBLE}
    speed = column(0, "speed", Type.DOUBLE)
    conditions = (
        compare(column(0, "kind"), "=", "fishing"),
        compare(column(0, "in_area", Type.BOOLEAN), "=", True),
        compare(speed, ">", 1.0),
        compare(speed, "<", 9.0),
    )
    speeds = [(1.0, True), (1.1, True), (5.0, True), (8.9, True), (9.0, True), (4.0, True), (4.0, False)]
    table = [("fishing", in_area, value) for value, in_area in speeds]
    assert vessel_ends(conditions, columns, table) == [4]


def test_O12_search_and_rescue() -> None:
    columns = {"turned": Type.BOOLEAN, "speed": Type.DOUBLE}
    conditions = (
        compare(column(0, "turned", Type.BOOLEAN), "=", True),
        compare(column(0, "speed", Type.DOUBLE), ">", 2.7),
    )
    table = [(True, 3.0), (True, 2.7), (True, 2.8), (True, 9.0), (True, 9.0), (False, 9.0)]
    assert vessel_ends(conditions, columns, table) == [5]


def test_O12_anchored() -> None:
    columns = {"near_port": Type.BOOLEAN, "anchorage": Type.BOOLEAN, "speed": Type.DOUBLE}
    conditions = (
        e.AnyOf((column(0, "near_port", Type.BOOLEAN), column(0, "anchorage", Type.BOOLEAN))),
        compare(column(0, "speed", Type.DOUBLE), "<", 0.5),
    )
    table = [(True, False, 0.4), (False, True, 0.3), (True, True, 0.2)]
    assert vessel_ends(conditions, columns, table) == [3]
