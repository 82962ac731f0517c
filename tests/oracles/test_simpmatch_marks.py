"""Programs over streams of which more is known than numbers: marks, Erlang gaps, a changing rate, rates at the ends.

Every probability is found twice: as the program is run, and by counting out all worlds.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from inkling import Sampling, parse
from inkling.analysis.clock import time_unit
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.io import normalize, read_table
from inkling.io.checks.acceptable import acceptable
from inkling.io.tables import typed_table
from inkling.knowledge.materialize import expression_context, known

Row = dict[str, object]
MARKS = (
    "STREAM S(k STRING, t BIGINT, n BIGINT, role STRING, stop STRING) KEY k TIME t NUMBERED BY n SEGMENTS ROLE role;"
)


def rows_of(key: str, text: str, stops: tuple[str, ...] = ()) -> list[Row]:
    """`mark 0 at 2, _, 5`: the first of two events was lost after 2; segments may have stops."""
    rows: list[Row] = []
    number = 0
    for part in text.split(", "):
        match part.split():
            case ["mark", happened, "at", time]:
                rows.append({"k": key, "n": int(happened), "t": int(time), "role": "mark", "stop": None})
            case ["_"]:
                number += 1
            case [time]:
                number += 1
                stop = stops[(number - 1) // 2] if stops else None
                role = "open" if number % 2 else "close"
                rows.append({"k": key, "n": number, "t": int(time), "role": role, "stop": stop})
    return rows


def chances(text: str, rows: list[Row], tables: dict[str, list[Row]] | None = None) -> dict[str, float]:
    """Of the events of a program that has one result or none for each."""
    program = parse(text)
    results = program.run_local({"S": rows}, tables, sampling=Sampling(exact_up_to=20_000))
    assert not len(results.rejects)
    assert {one for table in results.tables.values() for one in table["method"].to_pylist()} <= {"exact"}
    told = {name: sum(table["probability"].to_pylist()) for name, table in results.tables.items()}
    assert told == pytest.approx(counted_out(text, rows, tables or {}), abs=1e-12)
    return told


def counted_out(text: str, rows: list[Row], tables: dict[str, list[Row]]) -> dict[str, float]:
    """The same from the worlds."""
    program = parse(text)
    (stream,) = program.plan.streams
    normalized = normalize(read_table(rows, what="S"), stream.schema)
    good, _ = acceptable(stream.schema, normalized.rows)
    unit = time_unit(program.plan, {"S": normalized.clock})
    given = {one.name: typed_table(one, read_table(tables[one.name], what=one.name)) for one in program.plan.tables}
    facts = known(program.plan, given, unit)
    worlds = WorldProgram.of(program.physical, expression_context(facts, unit), unit, with_chains=True)
    data = WorldData.of(worlds, {"S": good}, facts, 20_000)
    assert not data.is_sampled.any()
    return {name: float(sum(found.weight)) for name, found in data.enumerated().items()}


def relations(*texts: str, stream: str = MARKS) -> str:
    """A program that relates `a` to `b` in several ways, called e0, e1 and so on."""
    events = []
    for number, text in enumerate(texts):
        pattern = text.replace(" a ", " S x ").replace(" b", " S y", 1)
        events.append(f"EVENT e{number}(x.k AS x, y.k AS y) AS PATTERN {pattern} HAVING x.k = 'a' AND y.k = 'b';")
    return "\n".join([stream, *events])


def assert_chances(text: str, rows: list[Row], *expected: str, tables: dict[str, list[Row]] | None = None) -> None:
    found = chances(text, rows, tables)
    wanted = {f"e{number}": float(Fraction(prob)) for number, prob in enumerate(expected)}
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, ["2/3"]),
        (2, ["32/35", "16/35"]),
        (3, ["226/231", "181/231", "79/231"]),
        pytest.param(4, ["1280/1287", "5952/6435", "4272/6435", "112/429"], marks=pytest.mark.long),
    ],
)
def test_O5_everything_was_lost_in_a_common_window(n: int, expected: list[str]) -> None:
    rows = [row for key in "ab" for row in rows_of(key, f"mark 0 at 0, mark {2 * n} at 1")]
    text = relations(*(f"AT LEAST {k} a INTERSECTS SOME b" for k in range(1, n + 1)))
    assert_chances(text, rows, *expected)


def test_O5_single_relations() -> None:
    names = ("PRECEDES", "OVERLAPS", "CONTAINS", "DURING", "OVERLAPPED_BY", "PRECEDED_BY")
    rows = [row for key in "ab" for row in rows_of(key, "mark 0 at 0, mark 2 at 1")]
    assert_chances(relations(*(f"SOME a {name} SOME b" for name in names)), rows, *["1/6"] * 6)


def test_O7_one_around_a_recorded_one() -> None:
    names = ("PRECEDES", "OVERLAPS", "CONTAINS", "DURING", "OVERLAPPED_BY", "PRECEDED_BY")
    rows = [*rows_of("a", "mark 0 at 0, mark 2 at 10"), *rows_of("b", "4, 6")]
    text = relations(*(f"SOME a {name} SOME b" for name in names))
    assert_chances(text, rows, "4/25", "4/25", "8/25", "1/25", "4/25", "4/25")


def test_O8_marks_in_place_of_bounds() -> None:
    rows = [*rows_of("a", "2, _, mark 2 at 10"), *rows_of("b", "mark 0 at 0, _, 6")]
    names = ("PRECEDES", "OVERLAPS", "CONTAINS", "DURING", "OVERLAPPED_BY", "PRECEDED_BY")
    text = relations(*(f"SOME a {name} SOME b" for name in names))
    assert_chances(text, rows, "1/6", "1/6", "1/3", "1/6", "1/6", "0")


def test_O16_labels_that_a_table_knows() -> None:
    stream = (
        "STREAM S(k STRING, t BIGINT, n BIGINT, role STRING, stop STRING) KEY k TIME t"
        " NUMBERED BY n KNOWN FROM schedule SEGMENTS ROLE role;\n"
        "TABLE schedule(n BIGINT, stop STRING) FROM 'schedule.csv';"
    )
    text = relations(
        "SOME a INTERSECTS SOME b ON SAME stop",
        "AT LEAST 2 a INTERSECTS SOME b ON SAME stop",
        "SOME a INTERSECTS SOME b",
        stream=stream,
    )
    rows = [*rows_of("a", "mark 0 at 0, mark 4 at 12"), *rows_of("b", "2, 4, 6, 10", ("north", "south"))]
    schedule: list[Row] = [{"n": n, "stop": "north" if n < 3 else "south"} for n in range(1, 5)]
    assert_chances(text, rows, "1189/1296", "181/324", "425/432", tables={"schedule": schedule})


def test_O17_a_timeout() -> None:
    """Of `b` three events are missing, all of which were lost in the eleven ticks after the first."""
    stream = (
        "STREAM S(k STRING, t BIGINT, n BIGINT, role STRING, total BIGINT) KEY k TIME t"
        " NUMBERED BY n SEGMENTS ROLE role COUNT total TIMEOUT 11 TICKS;"
    )
    rows = [{**row, "total": 4} for row in (*rows_of("a", "0, 2, 4, 6"), *rows_of("b", "1"))]
    assert_chances(relations("AT LEAST 2 a INTERSECTS SOME b", stream=stream), rows, "980/1331")


def test_O21_gaps_of_two_parts() -> None:
    stream = MARKS.replace("NUMBERED BY n", "NUMBERED BY n GAPS ERLANG 2")
    rows = [*rows_of("a", "0, 2, 4, 6"), *rows_of("b", "1, _, _, 10")]
    assert_chances(relations("AT LEAST 2 a INTERSECTS SOME b", stream=stream), rows, "4481/6561")
    before = f"{stream} EVENT e0 AS PATTERN SEQ(S l[k = 'a' AND n = 2], S o[k = 'b' AND n = 1]);"
    assert_chances(before, [*rows_of("a", "0, _, 3"), *rows_of("b", "1, 2")], "7/27")


def test_O22_a_rate_that_grows_with_time() -> None:
    """Its steps add up to squares."""
    stream = MARKS.replace("NUMBERED BY n", "NUMBERED BY n INTENSITY busy")
    stream += "\nTABLE busy(since BIGINT, rate DOUBLE) FROM 'busy.csv';"
    rows = [*rows_of("a", "0, 2, 4, 6"), *rows_of("b", "1, _, _, 10")]
    busy: list[Row] = [{"since": time, "rate": 2.0 * time + 1} for time in range(10)]
    text = relations("AT LEAST 2 a INTERSECTS SOME b", stream=stream)
    assert_chances(text, rows, "2627/3267", tables={"busy": busy})


EPSILON = 0.02


def sampled(text: str, rows: list[Row]) -> dict[str, float]:
    """Probabilities that are sampled to within EPSILON."""
    results = parse(text).run_local({"S": rows}, sampling=Sampling(epsilon=EPSILON, delta=1e-6, seed=5))
    assert not len(results.rejects)
    return {name: sum(table["probability"].to_pylist()) for name, table in results.tables.items()}


RATES = (
    "STREAM S(k STRING, t BIGINT, n BIGINT, role STRING, total BIGINT, rate DOUBLE) KEY k TIME t"
    " NUMBERED BY n SEGMENTS ROLE role COUNT total RATE rate;"
)


def with_rate(rows: list[Row], total: int | None, rate: float | None) -> list[Row]:
    return [{**row, "total": total, "rate": rate} for row in rows]


def test_O19_one_event_at_a_rate() -> None:
    rows = [*with_rate(rows_of("a", "0"), 2, 0.2), *with_rate(rows_of("b", "1, 3"), None, None)]
    order = "EVENT {} AS PATTERN SEQ({});"
    lost, first, last = "S l[k = 'a' AND n = 2]", "S f[k = 'b' AND n = 1]", "S m[k = 'b' AND n = 2]"
    asked = {
        "precedes": f"{lost}, {first}, {last}",
        "overlaps": f"{first}, {lost}, {last}",
        "contains": f"{last}, {lost}",
    }
    found = sampled("\n".join([RATES, *(order.format(name, inside) for name, inside in asked.items())]), rows)
    exact = {"precedes": 1 - exp(-0.2), "overlaps": exp(-0.2) - exp(-0.6), "contains": exp(-0.6)}
    assert found == pytest.approx(exact, abs=EPSILON)


def test_O19_beside_one_that_a_mark_limits() -> None:
    rows = [*with_rate(rows_of("a", "0"), 2, 0.2), *with_rate(rows_of("b", "mark 0 at 0, _, 10"), None, None)]
    text = f"{RATES} EVENT precedes AS PATTERN SEQ(S l[k = 'a' AND n = 2], S f[k = 'b' AND n = 1]);"
    assert sampled(text, rows) == pytest.approx({"precedes": 1 - (1 - exp(-2)) / 2}, abs=EPSILON)


def test_O19_a_head_is_the_mirror_image() -> None:
    rows = [*with_rate(rows_of("a", "_, 0"), None, 0.2), *with_rate(rows_of("b", "-3, -1"), None, None)]
    text = f"{RATES} EVENT preceded AS PATTERN SEQ(S f[k = 'b' AND n = 2], S l[k = 'a' AND n = 1]);"
    assert sampled(text, rows) == pytest.approx({"preceded": 1 - exp(-0.2)}, abs=EPSILON)


def test_O20_two_events_at_a_rate() -> None:
    rows = [
        *with_rate(rows_of("a", "mark 0 at 0"), 2, 0.2),
        *with_rate(rows_of("b", "mark 0 at 0, _, mark 1 at 10"), None, None),
    ]
    one, two, lost = "S c[k = 'a' AND n = 1]", "S d[k = 'a' AND n = 2]", "S l[k = 'b' AND n = 1]"
    text = f"{RATES} EVENT between AS PATTERN SEQ({one}, {lost}, {two});"
    assert sampled(text, rows) == pytest.approx({"between": (1 - 3 * exp(-2)) / 2}, abs=EPSILON)


def test_O20_two_tails() -> None:
    rows = [*with_rate(rows_of("a", "mark 0 at 0"), 2, 0.2), *with_rate(rows_of("b", "0"), 2, 0.1)]
    one, two, lost = "S c[k = 'a' AND n = 1]", "S d[k = 'a' AND n = 2]", "S l[k = 'b' AND n = 2]"
    asked = {"AAB": f"{one}, {two}, {lost}", "ABA": f"{one}, {lost}, {two}", "BAA": f"{lost}, {one}, {two}"}
    text = "\n".join([RATES, *(f"EVENT {name} AS PATTERN SEQ({inside});" for name, inside in asked.items())])
    assert sampled(text, rows) == pytest.approx({"AAB": 4 / 9, "ABA": 2 / 9, "BAA": 1 / 3}, abs=EPSILON)


def test_a_key_without_events_is_there() -> None:
    """ALL of nothing is true, SOME of nothing is false."""
    text = relations("ALL a INTERSECTS SOME b", "SOME a INTERSECTS SOME b", "ALL a PRECEDES ALL b")
    empty = rows_of("a", "mark 0 at 1, mark 0 at 9")
    assert_chances(text, [*empty, *rows_of("b", "2, _, mark 2 at 6")], "1", "0", "1")
    assert_chances(text, [*empty, *rows_of("b", "mark 0 at 3")], "1", "0", "1")
