"""Relations between segments have the truth, and over all orders of lost events the probability, that SimpMatch gives.

It is asked twice. Once, lost events are put in their places by the definition of possible worlds: each world is a
partition of one certain program, and a probability is that of the worlds in which the relation holds. Once, the
uncertain stream itself is run. O5, O7 and O16 lose every event of a key, which no row could tell of; O18-O28 ask for
more than a relation between two keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import lcm

import pytest

from inkling import parse
from inkling.meaning.worlds import worlds
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

Times = list[int | None]
Bounds = tuple[int, int]
Expected = dict[str, str | int]

STREAM = "STREAM E(w BIGINT, k STRING, t BIGINT) KEY k TIME t SEGMENTS;"
UNCERTAIN = """
STREAM E(k STRING, n BIGINT, t BIGINT, c BIGINT, lo BIGINT, hi BIGINT) KEY k TIME t
  NUMBERED BY n SEGMENTS COUNT c BOUNDS lo TO hi;
"""
LOSING = StreamSchema("E", (), None, ("k",), "t", "t", uncertainty=LostEvents("n", count="c", bounds=("lo", "hi")))

RELATIONS = (
    "PRECEDES", "MEETS", "OVERLAPS", "FINISHED_BY", "CONTAINS", "STARTS", "EQUALS", "STARTED_BY", "DURING",
    "FINISHES", "OVERLAPPED_BY", "MET_BY", "PRECEDED_BY",
)  # fmt: skip


def probabilities(
    queries: list[str], a: Times, b: Times, *, within: Bounds = (0, 100)
) -> tuple[dict[str, Fraction], int]:
    """The probability of every query about the keys A and B, and the number of worlds; None is a lost event."""
    possible = list(worlds(recorded(a, b, within), LOSING))
    assert sum(prob for prob, _ in possible) == 1
    scale = lcm(*(Fraction(str(row["t"])).denominator for _, rows in possible for row in rows))
    everywhere = [
        {"w": world, "k": row["k"], "t": int(Fraction(str(row["t"])) * scale)}
        for world, (_, rows) in enumerate(possible)
        for row in rows
    ]
    found = truths(queries, everywhere)
    return {query: sum((possible[w][0] for w in found[query]), Fraction(0)) for query in queries}, len(possible)


def recorded(a: Times, b: Times, within: Bounds) -> list[dict[str, object]]:
    return [
        {"k": key, "n": number, "t": time, "c": len(times), "lo": within[0], "hi": within[1]}
        for key, times in (("A", a), ("B", b))
        for number, time in enumerate(times, start=1)
        if time is not None
    ]


def truths(queries: list[str], rows: list[dict[str, object]]) -> dict[str, set[int]]:
    """The worlds in which each query is true; in a query, A and B are the keys of those names."""
    events = "\n".join(f"EVENT e{number}(w) AS PATTERN {_pattern(query)};" for number, query in enumerate(queries))
    tables = parse(f"{STREAM} {events}").run_local({"E": rows}).tables
    return {query: set(tables[f"e{number}"]["w"].to_pylist()) for number, query in enumerate(queries)}


def _pattern(query: str, by: str = "PARTITION BY w") -> str:
    """`ALL A INTERSECTS SOME B` as a pattern over the stream of both."""
    words = query.split()
    first, second = (place for place, word in enumerate(words) if word in ("A", "B"))
    left, right = words[first], words[second]
    words[first], words[second] = "E x", "E y"
    return f"{' '.join(words)} HAVING x.k = '{left}' AND y.k = '{right}' {by}"


def sharing(count: int, left: str = "A", right: str = "B") -> str:
    return f"AT LEAST {count} {left} INTERSECTS SOME {right}"


def check(expected: Mapping[str, str | int], n_worlds: int, a: Times, b: Times, within: Bounds = (0, 100)) -> None:
    found, n_found = probabilities(list(expected), a, b, within=within)
    assert found == {query: Fraction(value) for query, value in expected.items()}
    assert n_found == n_worlds
    for query, value in estimates(list(expected), recorded(a, b, within)).items():
        assert value == pytest.approx(float(Fraction(expected[query])), abs=1e-12), query


def estimates(queries: list[str], rows: list[dict[str, object]]) -> dict[str, float]:
    """The same from the runner for uncertain streams, which must count the worlds out."""
    events = "\n".join(f"EVENT e{n}() AS PATTERN {_pattern(query, by='')};" for n, query in enumerate(queries))
    tables = parse(f"{UNCERTAIN} {events}").run_local({"E": rows}).tables
    found = {}
    for number, query in enumerate(queries):
        results = tables[f"e{number}"].to_pylist()
        assert [row["method"] for row in results] in ([], ["exact"])
        found[query] = sum(row["probability"] for row in results)
    return found


def test_O1_two_lost_between_recorded_ones() -> None:
    expected: Expected = {sharing(1): 1, sharing(2): "19/27", sharing(2, "B", "A"): "25/81"}
    check(expected, 10, [0, 2, 4, 6], [1, None, None, 10])


def test_O2_further_questions_about_the_same_data() -> None:
    expected: Expected = {
        "SOME A INTERSECTS AT LEAST 2 B": "5/81",
        "ALL A INTERSECTS SOME B": "19/27",
        "ALL A INTERSECTS ALL B": 0,
        "AT LEAST 2 A PRECEDES SOME B": "56/81",
        "AT LEAST 2 A OVERLAPS SOME B": "4/27",
        "ALL B DURING SOME A": 0,
        "SOME B DURING SOME A": "17/81",
        "ALL B INTERSECTS SOME A": "25/81",
    }
    single = {
        "PRECEDES": "80/81", "OVERLAPS": "23/27", "CONTAINS": "17/81", "DURING": "25/81", "OVERLAPPED_BY": "20/81",
        "PRECEDED_BY": "5/9",
    }  # fmt: skip
    expected |= {f"SOME A {name} SOME B": single.get(name, 0) for name in RELATIONS}
    check(expected, 10, [0, 2, 4, 6], [1, None, None, 10])


def test_O8_the_last_of_one_and_the_first_of_the_other_are_lost() -> None:
    sixth = dict.fromkeys(("PRECEDES", "OVERLAPS", "DURING", "OVERLAPPED_BY"), "1/6")
    expected = {f"SOME A {name} SOME B": p for name, p in {**sixth, "CONTAINS": "1/3", "PRECEDED_BY": "0"}.items()}
    found, _ = probabilities(list(expected), [2, None], [None, 6], within=(0, 10))
    assert found == {query: Fraction(p) for query, p in expected.items()}
    thirds = [f"SOME A {name} SOME B" for name in ("CONTAINS", "OVERLAPPED_BY", "PRECEDED_BY")]
    found, _ = probabilities(thirds, [None, 5], [3, 4], within=(2, 5))
    assert found == dict.fromkeys(thirds, Fraction(1, 3))


def test_O9_windows_that_overlap_in_part() -> None:
    expected: Expected = {
        sharing(1): 1,
        sharing(2): "5/6",
        sharing(2, "B", "A"): "5/6",
        "ALL A INTERSECTS ALL B": 0,
        "SOME A INTERSECTS AT LEAST 2 B": "2/9",
        "SOME A PRECEDES ALL B": 0,
    }
    check(expected, 7, [0, 3, None, 9], [1, None, 7, 8])


def test_O10_three_segments() -> None:
    expected = {sharing(1): "2176/2187", sharing(2): "46835/52488", sharing(3): "21829/52488"}
    check(expected, 186, [0, None, None, 6, 8, 11], [1, 3, None, None, None, 12])


def test_O11_containment() -> None:
    check({"ALL B DURING SOME A": "19/50"}, 15, [0, None, None, 10], [1, 2, 8, 9])
    check({"ALL B DURING SOME A": "11/60"}, 15, [0, None, None, 10], [1, None, 8, 9])


def test_O12_recorded_ties() -> None:
    expected: Expected = {
        "SOME A MEETS SOME B": 1,
        "SOME A MET_BY SOME B": 1,
        "SOME A {PRECEDES, PRECEDED_BY} SOME B": 0,
        sharing(2): 1,
        sharing(3): 0,
    }
    check(expected, 1, [0, 4, 6, 8], [4, 6])
    check({"SOME A INTERSECTS SOME B": 1, "SOME A PRECEDES SOME B": 0}, 1, [0, 2], [2, 4])


def test_O13_ties_beside_lost_events() -> None:
    expected: Expected = {"MEETS": 1, "FINISHES": "1/3", "FINISHED_BY": "2/3", "OVERLAPPED_BY": "1/3", "EQUALS": 0}
    named = {f"SOME A {name} SOME B": p for name, p in expected.items()}
    check({**named, sharing(2): 1}, 3, [0, 4, None, 8], [4, None, None, 8])
    expected = {"STARTS": 1, "OVERLAPS": "1/3", "CONTAINS": "1/3"}
    named = {f"SOME A {name} SOME B": p for name, p in expected.items()}
    check({**named, sharing(1): 1, sharing(2): "2/3"}, 3, [0, None, 3, 5], [1, None, 3, 6])


def test_O14_quantities_without_loss() -> None:
    true = [sharing(3), "ALL A INTERSECTS SOME B", "AT LEAST 2 A PRECEDES SOME B", "SOME A OVERLAPS SOME B"]
    false = [
        "SOME A INTERSECTS AT LEAST 2 B",
        "ALL A INTERSECTS ALL B",
        "AT LEAST 3 A PRECEDES SOME B",
        "AT LEAST 2 A OVERLAPS SOME B",
        *(f"{x} A {{DURING, CONTAINS}} {y} B" for x in ("ALL", "SOME") for y in ("ALL", "SOME")),
    ]
    expected = {**dict.fromkeys(true, 1), **dict.fromkeys(false, 0)}
    check(expected, 1, [0, 2, 4, 6, 8, 10], [1, 5, 7, 9])


def test_O15_sharing_is_not_symmetric() -> None:
    expected = {sharing(2): 0, sharing(2, "B", "A"): 1, "SOME A INTERSECTS AT LEAST 2 B": 1}
    check(expected, 1, [0, 10], [1, 2, 4, 5])


def test_O17_the_last_event_is_only_known_to_have_been_before_some_time() -> None:
    check({sharing(2): "980/1331"}, 20, [0, 2, 4, 6], [1, None, None, None], within=(0, 12))


@pytest.mark.parametrize(
    ("n_segments", "expected"),
    [
        (1, {0: 2, 1: 4}),
        (2, {0: 6, 1: 32, 2: 32}),
        (3, {0: 20, 1: 180, 2: 408, 3: 316}),
        (4, {0: 70, 1: 896, 2: 3360, 3: 5184, 4: 3360}),
    ],
)
def test_O4_interleavings_by_how_many_segments_share_time(n_segments: int, expected: dict[int, int]) -> None:
    n_events = 2 * n_segments
    orders = list(combinations(range(2 * n_events), n_events))
    rows: list[dict[str, object]] = [
        {"w": world, "k": "A" if time in places else "B", "t": time}
        for world, places in enumerate(orders)
        for time in range(2 * n_events)
    ]
    at_least = [sharing(count) for count in range(1, n_segments + 1)]
    found = truths(at_least, rows)
    shared = Counter(sum(world in found[query] for query in at_least) for world in range(len(orders)))
    assert shared == expected


EDGES = [
    ("AT LEAST 0 A PRECEDES ALL B", True),
    ("AT LEAST 3 A PRECEDES SOME B", False),
    ("ALL A PRECEDES AT LEAST 0 B", True),
    ("ALL A PRECEDES AT LEAST 3 B", False),
]


@pytest.mark.parametrize(("query", "expected"), EDGES)
def test_numbers_beyond_the_segments_there_are(query: str, expected: bool) -> None:
    rows: list[dict[str, object]] = [{"w": 0, "k": "A", "t": t} for t in (0, 1, 2, 3)]
    rows += [{"w": 0, "k": "B", "t": t} for t in (4, 5)]
    assert truths([query], rows)[query] == ({0} if expected else set())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ALL A PRECEDES SOME B", True),
        ("SOME A PRECEDES ALL B", False),
        ("ALL B PRECEDES SOME A", False),
        ("SOME B PRECEDES ALL A", True),
        ("AT LEAST 0 A PRECEDES SOME B", True),
    ],
)
def test_a_key_without_segments(query: str, expected: bool) -> None:
    """A only ever opens; a key that never occurs is compared with nothing."""
    rows: list[dict[str, object]] = [{"w": 0, "k": "A", "t": 0}, {"w": 0, "k": "B", "t": 1}, {"w": 0, "k": "B", "t": 2}]
    rows += [{"w": 1, "k": "B", "t": 1}, {"w": 1, "k": "B", "t": 2}]
    assert truths([query], rows)[query] == ({0} if expected else set())


def test_example_22_of_the_language() -> None:
    """y closes at -3, opens at a lost time and closes at 6; x lasts from 0 to 4."""
    found, _ = probabilities([sharing(1)], [0, 4], [-4, -3, None, 6], within=(-9, 9))
    assert found == {sharing(1): Fraction(7, 9)}
    text = f"{UNCERTAIN} EVENT share(x.k AS x, y.k AS y) AS PATTERN {{}} CONFIDENCE > 0.5;"
    rows = recorded([0, 4], [-4, -3, None, 6], (-9, 9))
    one = parse(text.format("AT LEAST 1 E x INTERSECTS SOME E y")).run_local({"E": rows}).tables["share"]
    assert sorted((row["x"], row["y"], row["probability"]) for row in one.to_pylist()) == [
        ("A", "B", pytest.approx(7 / 9)),
        ("B", "A", pytest.approx(7 / 9)),
    ]
    two = parse(text.format("AT LEAST 2 E x INTERSECTS SOME E y")).run_local({"E": rows}).tables["share"]
    assert two.to_pylist() == []


LASTING = "STREAM {name}(k STRING, site STRING, s BIGINT, e BIGINT) KEY k TIME FROM s TO e;"


def lasting(**segments: tuple[int, int]) -> list[dict[str, object]]:
    return [{"k": key, "site": "dock", "s": s, "e": e} for key, (s, e) in segments.items()]


@pytest.mark.parametrize(
    ("pattern", "rows", "expected"),
    [
        ("ALL Duty x {DURING, EQUALS} SOME Shift y ON SAME site", {"Duty": (2, 3), "Shift": (1, 4)}, [("a", "a")]),
        ("SOME Bus x INTERSECTS SOME Bus y ON SAME site", {"Bus": [(0, 2), (2, 3)]}, [("a", "b"), ("b", "a")]),
        ("ALL Bus x STARTS_BEFORE ALL Bus y", {"Bus": [(0, 2), (1, 3)]}, [("a", "b")]),
        ("AT LEAST 1 Bus x INTERSECTS SOME Bus y", {"Bus": [(0, 4), (5, 6)]}, []),
        ("AT LEAST 1 Bus x INTERSECTS SOME Bus y", {"Bus": [(0, 4), (3, 6)]}, [("a", "b"), ("b", "a")]),
    ],
    ids=["23", "24", "25", "22 apart", "22 together"],
)
def test_examples_of_the_language(pattern: str, rows: Mapping[str, object], expected: list[tuple[str, str]]) -> None:
    inputs = {
        name: lasting(**dict(zip("ab", some if isinstance(some, list) else [some], strict=False)))
        for name, some in rows.items()
    }
    streams = "\n".join(LASTING.format(name=name) for name in rows)
    text = f"{streams} EVENT e(x.k AS x, y.k AS y) AS PATTERN {pattern};"
    found = parse(text).run_local(inputs).tables["e"].to_pylist()
    assert sorted((row["x"], row["y"]) for row in found) == expected
