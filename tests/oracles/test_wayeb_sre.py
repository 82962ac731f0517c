"""Pattern files give the detections of the fleet paper and of the public Wayeb engine.

O13 is a file that is not ours to ship.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product

import pytest
from tests.oracles import wayeb_numbers as numbers

from inkling import Program, parse

Rows = list[dict[str, object]]


def is_(letter: str) -> str:
    return f"IsEventTypePredicate({letter})"


def anything_but(letter: str) -> str:
    return f"!(;(*(TruePredicate),{is_(letter)},*(TruePredicate)))"


def at_least(count: int, pattern: str) -> str:
    return f";({','.join([pattern] * count)},*({pattern}))"


a, b, c, A, B, C, H = (is_(letter) for letter in "abcABCH")

SMALL = {
    "a;b": f";({a},{b})",
    "any(a,b)": f"#(;({a},{b}))",
    "next(a,b)": f"@(;({a},{b}))",
    "any(a,b,c)": f"#(;({a},{b},{c}))",
    "next(a,b,c)": f"@(;({a},{b},{c}))",
    "a;!b;c": f";({a},{anything_but('b')},{c})",
    "a;b+;c": f";({a},{at_least(1, b)},{c})",
    "any(a;b,c)": f"#(;(;({a},{b}),{c}))",
    "next(a|b,c)": f"@(;(+({a},{b}),{c}))",
}
DEMO = {
    "A;(B|C)": f";({A},+({B},{C}))",
    "A;B;C": f";({A},{B},{C})",
    "any(A,B)": f"#(;({A},{B}))",
    "next(A,B)": f"@(;({A},{B}))",
    "any(A,B,C)": f"#(;({A},{B},{C}))",
    "next(A,B,C)": f"@(;({A},{B},{C}))",
    "A;B+;C": f";({A},{at_least(1, B)},{C})",
    "C{3,}": at_least(3, C),
    "A;!B;C": f";({A},{anything_but('B')},{C})",
    "(A|B);C;(A|B)": f";(+({A},{B}),{C},+({A},{B}))",
    "(A or B);not C;C": f";(|({A},{B}),-{C},{C})",
    "A;any(B*);C": f";({A},#(*({B})),{C})",
    "A;next(B*);C": f";({A},@(*({B})),{C})",
}


def events(letters: Iterable[str], **columns: Iterable[object]) -> Rows:
    """Events of these types at times 1, 2, …"""
    names = list(columns)
    rows = zip(letters, *columns.values(), strict=True)
    return [
        {"ts": ts, "type": type, **dict(zip(names, values, strict=True))} for ts, (type, *values) in enumerate(rows, 1)
    ]


def in_both_ways(patterns: Iterable[str]) -> Program:
    """Each pattern with overlap, then as the engine counts; all in one file."""
    return parse(
        " & ".join(one for pattern in patterns for one in (f"{pattern}{{counting:overlap}}", pattern)), name="x.sre"
    )


def ends(program: Program, rows: Rows) -> list[list[int]]:
    """Where each pattern is detected, in the order of the file."""
    tables: Mapping[str, object] = program.run_local({"events": rows}).tables
    return [sorted(tables[name].column("end").to_pylist()) for name in tables]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("id", "pattern"), [("O1", f";({a},{b})"), ("O3-pair", f";({H},{H})"), ("O3-run", at_least(3, H))]
)
def test_O1_O3_words(id: str, pattern: str) -> None:
    symbols, *expected = numbers.ENDS[id]
    assert ends(in_both_ways([pattern]), events(symbols)) == expected


def test_O2_two_speeds() -> None:
    rows: Rows = [{"ts": ts, "speed": float(speed)} for ts, speed in enumerate((85, 93, 99, 104, 111), 1)]
    assert ends(in_both_ways([";(GT(speed,100.0),GT(speed,100.0))"]), rows) == [[5], [5]]


@pytest.mark.parametrize("place", range(len(numbers.WORDS)), ids=numbers.WORDS)
def test_O4_small_words(place: int) -> None:
    expected = [counted[place] for id in SMALL for counted in numbers.SMALL_WORDS[id]]
    assert ends(in_both_ways(SMALL.values()), events(numbers.WORDS[place])) == expected


@pytest.mark.parametrize("place", range(len(numbers.WORDS)), ids=numbers.WORDS)
def test_O5_patterns_that_may_be_empty(place: int) -> None:
    patterns = {"a*": f"*({a})", "!a": f"!({a})", "(a;b)*": f"*(;({a},{b}))"}
    program = parse(" & ".join(f"{one}{{counting:overlap}}" for one in patterns.values()), name="x.sre")
    expected = [numbers.EMPTY_WORDS[id][place] for id in patterns]
    assert ends(program, events(numbers.WORDS[place])) == expected


@pytest.mark.parametrize("low", [1, 2, 3])
def test_C23_detections_in_a_row_are_one_episode(low: int) -> None:
    """The longest runs with a later event, of all words of eight events."""
    program = parse(f"{at_least(low, H)}{{counting:episodes}}{{partitionBy:word}}", name="x.sre")
    words = ["".join(letters) for letters in product("HL", repeat=8)]
    rows: Rows = [{"word": word, "ts": ts, "type": type} for word in words for ts, type in enumerate(word, 1)]
    found = program.run_local({"events": rows}).tables["p1"]
    expected = {
        (word, run.start() + 1, run.end(), run.end() - run.start(), run.end() + 1)
        for word in words
        for run in re.finditer(r"H+(?=L)", word)
        if run.end() - run.start() >= low
    }
    columns = (found[name].to_pylist() for name in ("word", "start", "last", "events", "end"))
    assert sorted(zip(*columns, strict=True)) == sorted(expected)


def test_O7_partitions() -> None:
    program = parse(f";({a},{b}){{partitionBy:key}} & ;({a},{b})", name="x.sre")
    keys, letters = zip(*numbers.KEYED, strict=True)
    rows = events(letters, key=[str(key) for key in keys])
    assert ends(program, rows) == [numbers.KEYED_APART, numbers.KEYED_TOGETHER]


def test_O8_the_demo_stream() -> None:
    found = [(len(one), sum(one)) for one in ends(in_both_ways(DEMO.values()), events(numbers.DEMO))]
    assert found == [counted for id in DEMO for counted in numbers.DEMO_COUNTS[id]]


def test_O8_where_pairs_and_runs_are() -> None:
    found = ends(in_both_ways([DEMO["A;(B|C)"], DEMO["C{3,}"]]), events(numbers.DEMO))
    assert found == [numbers.DEMO_PAIRS, numbers.DEMO_PAIRS, *numbers.DEMO_RUNS]


def test_O9_matches_in_windows() -> None:
    """All matches, within a number of events and, as time is the place of an event, within a time."""
    for type in ("count", "time"):
        windows = [(DEMO[id], *numbers.DEMO_MATCHES[id]) for id in numbers.DEMO_MATCHES]
        patterns = [f"{one}{{window:{size}}}{{windowType:{type}}}{{counting:matches}}" for one, size, _, _ in windows]
        found = ends(parse("&".join(patterns), name="x.sre"), events(numbers.DEMO))
        assert [len(one) for one in found] == [n_matches for _, _, n_matches, _ in windows]
        for one, (_, _, _, n_ends) in zip(found, windows, strict=True):
            assert n_ends is None or len(set(one)) == n_ends


@pytest.mark.parametrize(("second", "expected"), [(3.0, [2]), (4.0, [])])
def test_O10_same_value_as_in_a_register(second: float, expected: list[int]) -> None:
    program = parse(f';({A}["x"],^({B},EQAttr(attr,"x")))', name="x.sre")
    assert ends(program, events("AB", attr=[3.0, second])) == [expected]


def test_O10_a_register_that_is_not_set_equals_nothing() -> None:
    program = parse(f';(^({B},EQAttr(attr,"x")),{A}["x"])', name="x.sre")
    assert ends(program, events("BABA", attr=[3.0] * 4)) == [[]]


def test_O10_a_register_read_again_and_again() -> None:
    program = parse(f';({A}["y"],*(EQAttr(attr,"y"))){{window:3}}{{counting:overlap}}', name="x.sre")
    rows = events("ACBABB", attr=[2.0, 2.0, 1.0, 2.0, 2.0, 2.0])
    assert ends(program, rows) == [[1, 2, 4, 5, 6]]


def test_O10_registers_on_the_demo_stream() -> None:
    apart = f'#(;({A}["x"],EQAttrStr(type,"x"))){{window:4}}'
    between = f';({A}["x"],+({B},{C}),EQAttrStr(type,"x")){{window:4}}'
    results = parse(f"{apart} & {between}", name="x.sre").run_local({"events": events(numbers.DEMO)}).tables
    found = results["p1"].column("end").to_pylist()
    assert (len(found), len(set(found))) == (32, 22)
    assert sorted(results["p2"].column("start").to_pylist()) == [2, 19, 25, 69]
