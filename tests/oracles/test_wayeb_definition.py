"""The definition gives the detections of the fleet paper and of the public Wayeb engine.

Streams are totally ordered (`ORDER BY seq`); results are PER END unless matches are counted. "Restart" is the
engine's counting without overlap.
"""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle
from tests.kit.plans import column, compare, event, leaf, nearest, plus, program, seq, stream, strict
from tests.kit.rows import Rows, word
from tests.oracles import wayeb_numbers as numbers
from tests.oracles.wayeb_numbers import DEMO, WORDS

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.meaning.semantics import Result
from inkling.model.event import Value
from inkling.model.types import Type

LETTERS = stream("V", {"s": Type.STRING, "v": Type.INTEGER}, order_by="seq")

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


def test_O2_two_speeds_above_the_limit() -> None:
    speed = {slot: compare(column(slot, "v", Type.INTEGER), ">", 100) for slot in (0, 1)}
    fast = strict(leaf(0, "V", conditions=(speed[0],)), leaf(1, "V", conditions=(speed[1],)))
    rows = {"V": [{"id": str(t), "t": t, "seq": t, "v": v} for t, v in enumerate((85, 93, 99, 104, 111), 1)]}
    assert [one.end for one in results(fast, rows)] == [5]


@pytest.mark.parametrize(
    ("case", "pattern"),
    [
        ("O1", strict(a, b)),
        ("O3-pair", strict(symbol(0, "H"), symbol(1, "H"))),
        ("O3-run", strict(plus(symbol(0, "H"), 3))),
    ],
)
def test_O1_O3_overlap_and_restart(case: str, pattern: p.Pattern) -> None:
    symbols, overlapping, restarting = numbers.ENDS[case]
    assert ends(pattern, symbols) == overlapping
    assert ends(pattern, symbols, restart=True) == restarting


SMALL_PATTERNS = {
    "a;b": strict(a, b),
    "any(a,b)": seq(a, b),
    "next(a,b)": nearest(a, b),
    "any(a,b,c)": seq(a, b, c),
    "next(a,b,c)": nearest(a, b, c),
    "a;!b;c": strict(a, no_b, c),
    "a;b+;c": strict(a, plus(b), c),
    "any(a;b,c)": seq(strict(a, b), c),
    "next(a|b,c)": nearest(p.Disjunction((a, b)), c),
}


@pytest.mark.parametrize("case", numbers.SMALL_WORDS)
def test_O4_small_words(case: str) -> None:
    overlapping, restarting = numbers.SMALL_WORDS[case]
    assert tuple(ends(SMALL_PATTERNS[case], one) for one in WORDS) == overlapping
    assert tuple(ends(SMALL_PATTERNS[case], one, restart=True) for one in WORDS) == restarting


@pytest.mark.parametrize(
    ("case", "pattern"),
    [("a*", strict(plus(a, 0))), ("!a", strict(p.OtherRun(a))), ("(a;b)*", strict(plus(strict(a, b), 0)))],
)
def test_O5_the_empty_word_is_no_match(case: str, pattern: p.Pattern) -> None:
    assert tuple(ends(pattern, one) for one in WORDS) == numbers.EMPTY_WORDS[case]


@pytest.mark.parametrize(
    ("partition", "expected"),
    [({"k": Type.INTEGER}, numbers.KEYED_APART), ({}, numbers.KEYED_TOGETHER)],
    ids=["by key", "all together"],
)
def test_O7_keys(partition: dict[str, Type], expected: list[int]) -> None:
    """All together, the key plays no part: `b` at 3 follows the `a` of another key."""
    keyed = stream("V", {"s": Type.STRING, "k": Type.INTEGER}, key=("k",), order_by="seq")
    rows = {"V": [{"id": str(t), "t": t, "seq": t, "k": k, "s": s} for t, (k, s) in enumerate(numbers.KEYED, 1)]}
    pair = event("x", strict(a, b), partition=partition, per=p.Per.END)
    assert [one.end for one in oracle(program((keyed,), pair), rows)["x"]] == expected


B_or_C = p.Disjunction((B, C))
A_or_B = p.Disjunction((A, B))


def other_than(slot: int, letter: str) -> p.Leaf:
    return leaf(slot, "V", conditions=(e.Not(compare(column(slot, "s"), "=", letter)),))


DEMO_PATTERNS = {
    "A;(B|C)": strict(A, B_or_C),
    "A;B;C": strict(A, B, C),
    "any(A,B)": seq(A, B),
    "next(A,B)": nearest(A, B),
    "A;B+;C": strict(A, plus(B), C),
    "C{3,}": strict(plus(C, 3)),
    "(A|B);C;(A|B)": strict(A_or_B, C, p.Disjunction((symbol(3, "A"), symbol(4, "B")))),
    "(A or B);not C;C": strict(A_or_B, other_than(3, "C"), C),
}
"""The others of the table take the definition too long."""


@pytest.mark.parametrize("case", DEMO_PATTERNS)
def test_O8_the_demo_stream(case: str) -> None:
    for restart, expected in zip((False, True), numbers.DEMO_COUNTS[case], strict=True):
        found = ends(DEMO_PATTERNS[case], DEMO, restart=restart)
        assert (len(found), sum(found)) == expected


def test_O8_where_a_pair_and_a_run_are_detected() -> None:
    assert ends(strict(A, B_or_C), DEMO) == numbers.DEMO_PAIRS
    overlapping, restarting = numbers.DEMO_RUNS
    assert ends(strict(plus(C, 3)), DEMO) == overlapping
    assert ends(strict(plus(C, 3)), DEMO, restart=True) == restarting


@pytest.mark.parametrize(
    ("case", "pattern"),
    [
        ("any(A,B)", seq(A, B)),
        ("any(A,B,C)", seq(A, B, C)),
        ("next(A,B)", nearest(A, B)),
        ("A;B+;C", strict(A, plus(B), C)),
    ],
)
def test_O9_matches_within_a_number_of_events(case: str, pattern: p.Pattern) -> None:
    count, n_matches, n_ends = numbers.DEMO_MATCHES[case]
    found = results(pattern, word(DEMO), within=p.EventCount(count), per=p.Per.MATCH)
    assert len(found) == n_matches
    if n_ends is not None:
        assert len({one.end for one in found}) == n_ends


def test_O9_first_pairs_and_the_same_count_by_time() -> None:
    """The engine's time window is strict (`< 5`); inclusively that is 5 points, as ticks are whole."""
    by_count = results(seq(A, B), word(DEMO), within=p.EventCount(5), per=p.Per.MATCH)
    assert [" ".join(map(str, one.lineage)) for one in by_count[:3]] == numbers.FIRST_PAIRS
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


KINDS = {str: Type.STRING, int: Type.INTEGER, float: Type.DOUBLE, bool: Type.BOOLEAN}
FLEET_COLUMNS = {name: KINDS[kind] for name, kind in numbers.FLEET_COLUMNS.items()}


def vehicle(slot: int, **tests: tuple[str, Value] | Value) -> p.Leaf:
    """An event of the fleet table; `speed=(">", 50)` compares, `engine="off"` asks for equality."""
    conditions = []
    for name, test in tests.items():
        operator, value = test if isinstance(test, tuple) else ("=", test)
        conditions.append(compare(column(slot, name, FLEET_COLUMNS[name]), operator, value))
    return leaf(slot, "V", conditions=tuple(conditions))


def engines(*states: str) -> p.Sequence:
    return strict(*(vehicle(slot, engine=state) for slot, state in enumerate(states)))


FLEET_PATTERNS = {
    "F1 Route": strict(
        vehicle(0, engine="off", duration=(">", 30)),
        plus(vehicle(1, engine="moving")),
        vehicle(2, engine="off", duration=(">", 30)),
    ),
    "F2 ParkedMovingSwing": engines("parked", "moving", "parked", "moving"),
    "F3 IdleParkedSwing": engines("idle", "parked", "idle", "parked"),
    "F4 SpeedSwing": strict(
        vehicle(0, speed=(">", 50)), vehicle(1, speed=0), vehicle(2, speed=(">", 50)), vehicle(3, speed=0)
    ),
    "F5 MovingWithZeroSpeed": strict(plus(vehicle(0, engine="moving", speed=0, distance=(">", 30)), 3)),
    "F6 MovingWithBadSignal": strict(plus(vehicle(0, accelerating=True, satellites=0, distance=(">", 30)), 3)),
    "F7 PossibleTheft": strict(plus(vehicle(0, engine="parked", speed=0, distance=(">", 30)), 3)),
    "F8 DangerousDriving": strict(plus(vehicle(0, ice=True, speed=(">", 50)), 2)),
    "F9 RefuelOpportunity": strict(plus(vehicle(0, gas=True, fuel=("<", 0.5)), 2)),
}


@pytest.mark.parametrize("case", numbers.FLEET_ENDS)
def test_O11_fleet(case: str) -> None:
    streams = (stream("V", FLEET_COLUMNS, order_by="seq"),)
    for restart, expected in zip((False, True), numbers.FLEET_ENDS[case], strict=True):
        found = results(FLEET_PATTERNS[case], numbers.fleet_rows(), restart=restart, streams=streams)
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


def test_O12_drifting() -> None:
    columns = dict.fromkeys(("heading", "cog", "speed"), Type.DOUBLE)
    heading, cog, speed = (column(0, name, Type.DOUBLE) for name in columns)
    underway = compare(speed, ">", 0.5)
    minus = e.Arithmetic("-", heading, cog, Type.DOUBLE)
    plain = compare(e.FunctionCall("abs", (minus,), Type.DOUBLE), ">", 30.0)
    circular = compare(e.FunctionCall("angle_difference", (heading, cog), Type.DOUBLE), ">", 30.0)
    for angle, (overlapping, restarting) in ((plain, numbers.PLAIN_DRIFT), (circular, numbers.CIRCULAR_DRIFT)):
        assert vessel_ends((angle, underway), columns, numbers.HEADINGS) == overlapping
        assert vessel_ends((angle, underway), columns, numbers.HEADINGS, restart=True) == restarting


BANDS = {
    "open bands": (((">", 7), ("<", 10)), ((">", 5), ("<", 7))),
    "more than 7": (((">", 7),), ((">", 5), ("<", 7))),
    "half-open bands": (((">=", 7), ("<", 10)), ((">=", 5), ("<", 7))),
}


@pytest.mark.parametrize("case", BANDS)
def test_O12_approaching_a_port(case: str) -> None:
    def band(slot: int, tests: tuple[tuple[str, int], ...]) -> p.Leaf:
        km = column(slot, "km", Type.DOUBLE)
        return leaf(slot, "V", conditions=tuple(compare(km, operator, limit) for operator, limit in tests))

    far, near = BANDS[case]
    pattern = strict(band(0, far), plus(band(1, near)), band(2, (("<", 5),)))
    rows = {"V": [{"id": str(t), "t": t, "seq": t, "km": km} for t, km in enumerate(numbers.DISTANCES, 1)]}
    streams = (stream("V", {"km": Type.DOUBLE}, order_by="seq"),)
    assert [one.end for one in results(pattern, rows, streams=streams)] == numbers.APPROACHES[case]


def test_O12_trawling() -> None:
    columns = {"kind": Type.STRING, "in_area": Type.BOOLEAN, "speed": Type.DOUBLE}
    speed = column(0, "speed", Type.DOUBLE)
    conditions = (
        compare(column(0, "kind"), "=", "fishing"),
        compare(column(0, "in_area", Type.BOOLEAN), "=", True),
        compare(speed, ">", 1.0),
        compare(speed, "<", 9.0),
    )
    table = [("fishing", in_area, value) for value, in_area in numbers.TRAWLING]
    assert vessel_ends(conditions, columns, table) == numbers.TRAWLING_ENDS


def test_O12_search_and_rescue() -> None:
    columns = {"turned": Type.BOOLEAN, "speed": Type.DOUBLE}
    conditions = (
        compare(column(0, "turned", Type.BOOLEAN), "=", True),
        compare(column(0, "speed", Type.DOUBLE), ">", 2.7),
    )
    assert vessel_ends(conditions, columns, numbers.RESCUE) == numbers.RESCUE_ENDS


def test_O12_anchored() -> None:
    columns = {"near_port": Type.BOOLEAN, "anchorage": Type.BOOLEAN, "speed": Type.DOUBLE}
    conditions = (
        e.AnyOf((column(0, "near_port", Type.BOOLEAN), column(0, "anchorage", Type.BOOLEAN))),
        compare(column(0, "speed", Type.DOUBLE), "<", 0.5),
    )
    assert vessel_ends(conditions, columns, numbers.ANCHORED) == numbers.ANCHORED_ENDS
