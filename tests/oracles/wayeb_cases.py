"""The fleet paper and the Wayeb engine as programs: totally ordered streams, one result per end.

Every pattern stands twice, with overlap and with CONSUME RESTART.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.kit.rows import Rows, word
from tests.oracles import wayeb_numbers as numbers
from tests.oracles.ink_case import Case

from inkling.model.event import Value

LETTERS = """
STREAM V(id STRING, w STRING, t BIGINT, seq BIGINT, s STRING, v BIGINT, k BIGINT) ID id KEY w TIME t ORDER BY seq;
"""
VEHICLES = """
STREAM V(id STRING, w STRING, t BIGINT, seq BIGINT, engine STRING, speed BIGINT, distance BIGINT, accelerating BOOLEAN,
         satellites BIGINT, duration BIGINT, ice BOOLEAN, gas BOOLEAN, fuel DOUBLE)
  ID id KEY w TIME t ORDER BY seq;
"""
VESSELS = """
STREAM V(id STRING, w STRING, t BIGINT, seq BIGINT, speed DOUBLE, heading DOUBLE, cog DOUBLE, km DOUBLE, kind STRING,
         near_coast BOOLEAN, near_port BOOLEAN, in_anchorage BOOLEAN, in_fishing_area BOOLEAN,
         change_in_heading BOOLEAN)
  ID id KEY w TIME t ORDER BY seq;
"""


def strict(*parts: str) -> str:
    return f"SEQ STRICT({', '.join(parts)})"


def is_(letter: str) -> str:
    return f"V[s = '{letter}']"


def without(letter: str) -> str:
    return f"COMPLEMENT(SEQ STRICT(_*, {is_(letter)}, _*))"


def both(
    id: str, streams: str, pattern: str, rows: Rows, overlapping: Iterable[int], restarting: Iterable[int]
) -> list[Case]:
    return [
        Case(id, streams, f"{pattern} PER END", rows, [(end,) for end in overlapping], ("end",)),
        Case(
            f"{id} restart",
            streams,
            f"{pattern} CONSUME RESTART PER END",
            rows,
            [(end,) for end in restarting],
            ("end",),
        ),
    ]


a, b, c, A, B, C, H = (is_(letter) for letter in "abcABCH")
NUMBERED = {"V": [{"id": str(t), "t": t, "seq": t, "v": v} for t, v in enumerate((85, 93, 99, 104, 111), 1)]}

ENDS = [
    case
    for id, pattern in {"O1": strict(a, b), "O3-pair": strict(H, H), "O3-run": strict(f"{H}{{3,}}")}.items()
    for symbols, overlapping, restarting in [numbers.ENDS[id]]
    for case in both(id, LETTERS, pattern, word(symbols), overlapping, restarting)
] + both("O2", LETTERS, strict("V[v > 100]", "V[v > 100]"), NUMBERED, [5], [5])

SMALL_PATTERNS = {
    "a;b": strict(a, b),
    "any(a,b)": f"SEQ({a}, {b})",
    "next(a,b)": f"SEQ NEXT({a}, {b})",
    "any(a,b,c)": f"SEQ ANY({a}, {b}, {c})",
    "next(a,b,c)": f"SEQ NEXT({a}, {b}, {c})",
    "a;!b;c": strict(a, without("b"), c),
    "a;b+;c": strict(a, f"{b}+", c),
    "any(a;b,c)": f"SEQ({strict(a, b)}, {c})",
    "next(a|b,c)": f"SEQ NEXT({a} OR {b}, {c})",
}
SMALL = [
    case
    for id, pattern in SMALL_PATTERNS.items()
    for symbols, overlapping, restarting in zip(numbers.WORDS, *numbers.SMALL_WORDS[id], strict=True)
    for case in both(f"O4 {id} on {symbols}", LETTERS, pattern, word(symbols), overlapping, restarting)
]

EMPTY = [
    Case(f"O5 {id} on {symbols}", LETTERS, f"{pattern} PER END", word(symbols), [(end,) for end in ends], ("end",))
    for id, pattern in {
        "a*": strict(f"{a}*"),
        "!a": strict(f"COMPLEMENT({a})"),
        "(a;b)*": strict(f"{strict(a, b)}*"),
    }.items()
    for symbols, ends in zip(numbers.WORDS, numbers.EMPTY_WORDS[id], strict=True)
]

KEYED: Rows = {"V": [{"id": str(t), "t": t, "seq": t, "k": k, "s": s} for t, (k, s) in enumerate(numbers.KEYED, 1)]}
KEYS = [
    Case("O7 apart", LETTERS, f"{strict(a, b)} PER END", KEYED, [(t,) for t in numbers.KEYED_APART], ("end",), by="k"),
    Case("O7 together", LETTERS, f"{strict(a, b)} PER END", KEYED, [(t,) for t in numbers.KEYED_TOGETHER], ("end",)),
]

A_OR_B = "V[s = 'A' OR s = 'B']"
DEMO_PATTERNS = {
    "A;(B|C)": strict(A, f"{B} OR {C}"),
    "A;B;C": strict(A, B, C),
    "any(A,B)": f"SEQ({A}, {B})",
    "next(A,B)": f"SEQ NEXT({A}, {B})",
    "any(A,B,C)": f"SEQ({A}, {B}, {C})",
    "next(A,B,C)": f"SEQ NEXT({A}, {B}, {C})",
    "A;B+;C": strict(A, f"{B}+", C),
    "C{3,}": strict(f"{C}{{3,}}"),
    "A;!B;C": strict(A, without("B"), C),
    "(A|B);C;(A|B)": strict(f"{A} OR {B}", C, f"{A} OR {B}"),
    "(A or B);not C;C": strict(A_OR_B, "V[NOT s = 'C']", C),
    "A;any(B*);C": strict(A, f"SEQ ANY({B}*)", C),
    "A;next(B*);C": strict(A, f"SEQ NEXT({B}*)", C),
}
RUNS = [
    *both("O8 pairs", LETTERS, DEMO_PATTERNS["A;(B|C)"], word(numbers.DEMO), numbers.DEMO_PAIRS, numbers.DEMO_PAIRS),
    *both("O8 runs", LETTERS, DEMO_PATTERNS["C{3,}"], word(numbers.DEMO), *numbers.DEMO_RUNS),
]

MATCHED_PATTERNS = {
    "any(A,B)": f"SEQ({A}, {B})",
    "any(A,B,C)": f"SEQ({A}, {B}, {C})",
    "next(A,B)": f"SEQ NEXT({A}, {B})",
    "A;B+;C": strict(A, f"{B}+", C),
}

SAME_VALUE = strict("V x[s = 'A']", "V y[s = 'B' AND v = x.v]")


def valued(*events: tuple[str, int]) -> Rows:
    """Events of a letter and a number, at times 1, 2, …"""
    rows: list[dict[str, Value]] = [
        {"id": str(t), "t": t, "seq": t, "s": s, "v": v} for t, (s, v) in enumerate(events, 1)
    ]
    return {"V": rows}


REGISTERS = [
    Case("O10 same", LETTERS, f"{SAME_VALUE} PER END", valued(("A", 3), ("B", 3)), [(2,)], ("end",)),
    Case("O10 other", LETTERS, f"{SAME_VALUE} PER END", valued(("A", 3), ("B", 4)), [], ("end",)),
    Case(
        "O10 repeated",
        LETTERS,
        "SEQ STRICT(V y[s = 'A'], V z[v = y.v]*) WITHIN 3 EVENTS PER END",
        valued(("A", 2), ("C", 2), ("B", 1), ("A", 2), ("B", 2), ("B", 2)),
        [(1,), (2,), (4,), (5,), (6,)],
        ("end",),
    ),
    Case(
        "O10 around",
        LETTERS,
        "SEQ STRICT(V x[s = 'A'], V[s = 'B'] OR V[s = 'C'], V y[s = x.s]) WITHIN 4 EVENTS",
        word(numbers.DEMO),
        [(2,), (19,), (25,), (69,)],
        ("start",),
    ),
]

FLEET_PATTERNS = {
    "F1 Route": strict(
        "V[engine = 'off' AND duration > 30]", "V[engine = 'moving']+", "V[engine = 'off' AND duration > 30]"
    ),
    "F2 ParkedMovingSwing": strict(*(f"V[engine = '{state}']" for state in ("parked", "moving") * 2)),
    "F3 IdleParkedSwing": strict(*(f"V[engine = '{state}']" for state in ("idle", "parked") * 2)),
    "F4 SpeedSwing": strict("V[speed > 50]", "V[speed = 0]", "V[speed > 50]", "V[speed = 0]"),
    "F5 MovingWithZeroSpeed": strict("V[engine = 'moving' AND speed = 0 AND distance > 30]{3,}"),
    "F6 MovingWithBadSignal": strict("V[accelerating AND satellites = 0 AND distance > 30]{3,}"),
    "F7 PossibleTheft": strict("V[engine = 'parked' AND speed = 0 AND distance > 30]{3,}"),
    "F8 DangerousDriving": strict("V[ice AND speed > 50]{2,}"),
    "F9 RefuelOpportunity": strict("V[gas AND fuel < 0.5]{2,}"),
}
FLEET = [
    case
    for id, pattern in FLEET_PATTERNS.items()
    for case in both(f"O11 {id}", VEHICLES, pattern, numbers.fleet_rows(), *numbers.FLEET_ENDS[id])
]


def readings(table: Iterable[tuple[Value, ...]], *columns: str, **fixed: Value) -> Rows:
    return {
        "V": [
            {"id": str(t), "t": t, "seq": t, **fixed, **dict(zip(columns, values, strict=True))}
            for t, values in enumerate(table, start=1)
        ]
    }


HEADINGS = readings(numbers.HEADINGS, "heading", "cog", "speed")
DISTANCES = readings(((float(km),) for km in numbers.DISTANCES), "km")
BANDS = {
    "open bands": strict("V[km > 7 AND km < 10]", "V[km > 5 AND km < 7]+", "V[km < 5]"),
    "more than 7": strict("V[km > 7]", "V[km > 5 AND km < 7]+", "V[km < 5]"),
    "half-open bands": strict("V[km >= 7 AND km < 10]", "V[km >= 5 AND km < 7]+", "V[km < 5]"),
}
COAST = readings([(True, 5.0), (True, 5.1), (False, 9.0), (True, 6.0), (True, 7.0)], "near_coast", "speed")
AT_SEA = (False, False, 0.4)
LOITERING = readings(
    [
        *[(False, False, 0.4)] * 3,
        (True, False, 0.1),
        (False, True, 0.1),
        *[(False, False, 0.0)] * 4,
        (False, False, 0.5),
    ],
    "near_port",
    "near_coast",
    "speed",
)

MARITIME = [
    *both("M1 HighSpeedNearCoast", VESSELS, strict("V[near_coast AND speed > 5]+"), COAST, [2, 4, 5], [2, 4, 5]),
    *both(
        "O12 M2 Anchored",
        VESSELS,
        strict("V[(near_port OR in_anchorage) AND speed < 0.5]{3,}"),
        readings(numbers.ANCHORED, "near_port", "in_anchorage", "speed"),
        numbers.ANCHORED_ENDS,
        numbers.ANCHORED_ENDS,
    ),
    *both(
        "O12 M3 Drifting, plain",
        VESSELS,
        strict("V[abs(heading - cog) > 30 AND speed > 0.5]{3,}"),
        HEADINGS,
        *numbers.PLAIN_DRIFT,
    ),
    *both(
        "O12 M3 Drifting, circular",
        VESSELS,
        strict("V[angle_difference(heading, cog) > 30 AND speed > 0.5]{3,}"),
        HEADINGS,
        *numbers.CIRCULAR_DRIFT,
    ),
    *both(
        "O12 M4 Trawling",
        VESSELS,
        strict("V[kind = 'fishing' AND in_fishing_area AND speed > 1 AND speed < 9]{3,}"),
        readings(numbers.TRAWLING, "speed", "in_fishing_area", kind="fishing"),
        numbers.TRAWLING_ENDS,
        numbers.TRAWLING_ENDS,
    ),
    *both(
        "O12 M5 SearchAndRescue",
        VESSELS,
        strict("V[change_in_heading AND kind = 'SAR' AND speed > 2.7]{3,}"),
        readings(numbers.RESCUE, "change_in_heading", "speed", kind="SAR"),
        numbers.RESCUE_ENDS,
        numbers.RESCUE_ENDS,
    ),
    *both(
        "M6 Loitering",
        VESSELS,
        strict("V[NOT near_port AND NOT near_coast AND speed < 0.5]{3,}"),
        LOITERING,
        [3, 8, 9],
        [3, 8],
    ),
    *(
        case
        for id, pattern in BANDS.items()
        for case in both(
            f"O12 M7 ApproachingPort, {id}", VESSELS, pattern, DISTANCES, numbers.APPROACHES[id], numbers.APPROACHES[id]
        )
    ),
]
"""M1 and M6 have no table in the paper; theirs is worked by hand from the pattern."""

CASES = [*ENDS, *SMALL, *EMPTY, *KEYS, *RUNS, *REGISTERS, *FLEET, *MARITIME]
