"""Patterns printed in the fleet paper (Ntoulias et al.), in the prefix notation of the public Wayeb engine.

`R·S` is `;(R,S)`, `R+S` is `+(R,S)`, and `Rx+` is x times `R`, then `*(R)`. The engine counts without overlap.
Its own pattern files are not printed; `tests/unit/cli/test_wayeb_files.py` has files like them.
"""

from collections.abc import Mapping, Sequence

from tests.oracles.printed.printed_text import PrintedText
from tests.oracles.wayeb_numbers import FLEET_COLUMNS, fleet_rows

_TYPES = {str: "STRING", int: "DOUBLE", float: "DOUBLE", bool: "BOOLEAN"}
_FLEET = ", ".join(f"{name} {_TYPES[type]}" for name, type in FLEET_COLUMNS.items())
_SPEEDS = "STREAM V(speed DOUBLE, t BIGINT) TIME t ORDER BY t;"
_LETTERS = "STREAM V(type STRING, t BIGINT) TIME t ORDER BY t;"


def _at_least(count: int, one: str) -> str:
    return f";({','.join([one] * count)},*({one}))"


def _rows(column: str, values: Sequence[object]) -> Mapping[str, Sequence[Mapping[str, object]]]:
    return {"V": [{column: value, "t": t} for t, value in enumerate(values, 1)]}


def _engine(status: str) -> str:
    return f"EQStr(engine,{status})"


def _fleet(id: str, number: int, pattern: str, *found: tuple[int, int]) -> PrintedText:
    return PrintedText(
        id,
        f"5.1, definition {number}",
        f"{pattern}{{name:{id}}}",
        ".sre",
        setting=f"STREAM V({_FLEET}, t BIGINT, seq BIGINT) TIME t ORDER BY seq;",
        rows=fleet_rows(),
        found={id: found},
    )


def _vessels(
    id: str, number: int, columns: str, pattern: str, rows: Sequence[tuple[object, ...]], *found: tuple[int, int]
) -> PrintedText:
    """The columns of the stream are as in a declaration; `t` numbers the rows."""
    names = [column.split()[0] for column in columns.partition(")")[0].split(", ")]
    return PrintedText(
        id,
        f"5.2, definition {number}",
        f"{pattern}{{name:{id}}}",
        ".sre",
        setting=f"STREAM V({columns.replace(')', ', t BIGINT) TIME t ORDER BY t', 1)};",
        rows={"V": [{**dict(zip(names, row, strict=True)), "t": t} for t, row in enumerate(rows, 1)]},
        found={id: found},
    )


def _letters(id: str, place: str, pattern: str, word: str, *found: tuple[int, int]) -> PrintedText:
    return PrintedText(
        id,
        place,
        f"{pattern}{{name:{id}}}{{counting:overlap}}",
        ".sre",
        setting=_LETTERS,
        rows=_rows("type", word),
        found={id: found},
    )


_A, _B, _C = (f"IsEventTypePredicate({letter})" for letter in "abc")
_PARKED_STILL = f"^({_engine('parked')},EQ(speed,0.0),GT(distance,30.0))"
_MOVING_STILL = f"^({_engine('moving')},EQ(speed,0.0),GT(distance,30.0))"
_OFF = f"^({_engine('off')},GT(duration,30.0))"
_INSIDE = "WithinCirclePredicate(-4.47530,48.38273,5.0)"
_LON_LAT = "STREAM V(lon DOUBLE, lat DOUBLE, t BIGINT) TIME t ORDER BY t;"
# a degree of longitude is 73.9 km here: 9.2, 5.5, 1.8 and 1.9 km from the port
_COURSE = {"V": [{"lon": lon, "lat": 48.38, "t": t} for t, lon in enumerate((-4.60, -4.55, -4.50, -4.45), 1)]}
_DRIFTING = "^(GT(turn,30.0),GT(speed,0.5))"
_TRAWLING = "^(EQStr(kind,fishing),in_fishing_area,GT(speed,1.0),LT(speed,9.0))"

TEXTS = [
    PrintedText(
        "speed-violation",
        "3.1, figure 1 and table 1",
        ";(GT(speed,100.0),GT(speed,100.0)){name:violation}",
        ".sre",
        setting=_SPEEDS,
        rows=_rows("speed", (85.0, 93.0, 99.0, 104.0, 111.0)),
        found={"violation": [(4, 5)]},
    ),
    _letters("sequence", "3.1", f";({_A},{_B})", "abcabc", (1, 2), (4, 5)),
    _letters("union", "3.1", f"+({_A},{_B})", "cab", (2, 2), (3, 3)),
    _letters("complement", "3.1", f";({_A},!(;(*(TruePredicate),{_B},*(TruePredicate))),{_C})", "acabc", (1, 2)),
    _letters("any", "3.1", f"#(;({_A},{_C}))", "abc", (1, 3)),
    _letters("next", "3.1", f"@(;({_A},{_C}))", "acc", (1, 2)),
    _letters("waiting", "3.2, figure 3", f";({_A},{_B},{_B},{_B})", "abbbabbabbb", (1, 4), (8, 11)),
    PrintedText(
        "inside_port",
        "3.2, pattern (1)",
        f"{_INSIDE}{{name:inside_port}}",
        ".sre",
        setting=_LON_LAT,
        rows=_COURSE,
        found={"inside_port": [(3, 3), (4, 4)]},
        misprint="the predicate is called `Inside`, and its radius is not given",
    ),
    PrintedText(
        "entering_port",
        "3.2, pattern (2)",
        f";(-{_INSIDE},{_INSIDE}){{name:entering_port}}",
        ".sre",
        setting=_LON_LAT,
        rows=_COURSE,
        found={"entering_port": [(2, 3)]},
        misprint="the predicate is called `Inside`, and its radius is not given",
    ),
    _fleet("route", 5, f";({_OFF},{_at_least(1, _engine('moving'))},{_OFF})", (1, 8)),
    _fleet("parked_moving_swing", 6, f";({','.join(map(_engine, ('parked', 'moving') * 2))})", (9, 12)),
    _fleet("idle_parked_swing", 7, f";({','.join(map(_engine, ('idle', 'parked') * 2))})", (16, 19)),
    _fleet("speed_swing", 8, f";({','.join(('GT(speed,50.0)', 'EQ(speed,0.0)') * 2)})", (2, 5), (10, 13)),
    _fleet("moving_with_zero_speed", 9, _at_least(3, _MOVING_STILL), (5, 7)),
    _fleet("moving_with_bad_signal", 10, _at_least(3, "^(accelerating,EQ(satellites,0.0),GT(distance,30.0))"), (3, 5)),
    _fleet("possible_theft", 11, _at_least(3, _PARKED_STILL), (13, 15)),
    _fleet("dangerous_driving", 12, _at_least(2, "^(ice,GT(speed,50.0))"), (20, 21)),
    _fleet("refuel_opportunity", 13, _at_least(2, "^(gas,LT(fuel,0.5))"), (7, 8)),
    _vessels(
        "high_speed_near_coast",
        14,
        "near_coast BOOLEAN, speed DOUBLE)",
        _at_least(1, "^(near_coast,GT(speed,5.0))"),
        [(True, 5.0), (True, 5.1), (False, 9.0), (True, 6.0), (True, 7.0)],
        (2, 2),
        (4, 4),
        (5, 5),
    ),
    _vessels(
        "anchored",
        15,
        "near_port BOOLEAN, in_anchorage BOOLEAN, speed DOUBLE)",
        _at_least(3, "^(|(near_port,in_anchorage),LT(speed,0.5))"),
        [(True, False, 0.4), (False, True, 0.3), (True, True, 0.2), (False, False, 0.1), (True, True, 0.5)],
        (1, 3),
    ),
    _vessels(
        "drifting",
        16,
        "heading DOUBLE, cog DOUBLE, speed DOUBLE) DERIVE turn = abs(heading - cog)",
        _at_least(3, _DRIFTING),
        [
            (10.0, 50.0, 5.0),
            (90.0, 50.0, 0.6),
            (10.0, 41.0, 5.0),
            (10.0, 50.0, 0.5),
            (10.0, 50.0, 5.0),
            (0.0, 30.0, 5.0),
        ],
        (1, 3),
    ),
    _vessels(
        "trawling",
        17,
        "kind STRING, in_fishing_area BOOLEAN, speed DOUBLE)",
        _at_least(3, _TRAWLING),
        [("fishing", True, speed) for speed in (1.0, 1.1, 5.0, 8.9, 9.0, 4.0)] + [("ferry", True, 4.0)],
        (2, 4),
    ),
    _vessels(
        "search_and_rescue",
        18,
        "change_in_heading BOOLEAN, kind STRING, speed DOUBLE)",
        _at_least(3, "^(change_in_heading,EQStr(kind,SAR),GT(speed,2.7))"),
        [(True, "SAR", 3.0), (True, "SAR", 2.7), *[(True, "SAR", 2.8)] * 3, (False, "SAR", 9.0), (True, "tug", 9.0)],
        (3, 5),
    ),
    _vessels(
        "loitering",
        19,
        "near_port BOOLEAN, near_coast BOOLEAN, speed DOUBLE)",
        _at_least(3, "^(-near_port,-near_coast,LT(speed,0.5))"),
        [*[(False, False, 0.4)] * 3, (True, False, 0.1), (False, True, 0.1), *[(False, False, 0.0)] * 4],
        (1, 3),
        (6, 8),
    ),
    PrintedText(
        "port",
        "5.2, definition 20",
        f";(BT(km,7.0,10.0),{_at_least(1, 'BT(km,5.0,7.0)')},LT(km,5.0)){{name:port}}",
        ".sre",
        setting="STREAM V(km DOUBLE, t BIGINT) TIME t ORDER BY t;",
        rows=_rows("km", (12.0, 6.0, 4.0, 8.0, 6.5, 5.5, 4.9, 4.0, 6.0, 8.0, 7.5, 4.5)),
        found={"port": [(4, 7)]},
    ),
]
