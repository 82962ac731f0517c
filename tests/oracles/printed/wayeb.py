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
    _fleet("route", 5, f";({_OFF},{_at_least(1, _engine('moving'))},{_OFF})", (1, 8)),
    _fleet("parked_moving_swing", 6, f";({','.join(map(_engine, ('parked', 'moving') * 2))})", (9, 12)),
    _fleet("idle_parked_swing", 7, f";({','.join(map(_engine, ('idle', 'parked') * 2))})", (16, 19)),
    _fleet("speed_swing", 8, f";({','.join(('GT(speed,50.0)', 'EQ(speed,0.0)') * 2)})", (2, 5), (10, 13)),
    _fleet("moving_with_zero_speed", 9, _at_least(3, _MOVING_STILL), (5, 7)),
    _fleet("moving_with_bad_signal", 10, _at_least(3, "^(accelerating,EQ(satellites,0.0),GT(distance,30.0))"), (3, 5)),
    _fleet("possible_theft", 11, _at_least(3, _PARKED_STILL), (13, 15)),
    _fleet("dangerous_driving", 12, _at_least(2, "^(ice,GT(speed,50.0))"), (20, 21)),
    _fleet("refuel_opportunity", 13, _at_least(2, "^(gas,LT(fuel,0.5))"), (7, 8)),
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
