"""Relations between segments with lost ends on Spark: the same results as in one process, for any division of work."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams
from tests.kit.exact_events import relations_of
from tests.kit.lost_programs import LostCase, Row, lost_case
from tests.spark.one_job import Rows, results_in_one_job

import inkling
from inkling.errors import InputError
from inkling.evaluators.division import Share
from inkling.evaluators.relation.division import shared_keys
from inkling.evaluators.sampling import Sampling
from inkling.query import Program
from inkling.spark import shuffle

pytestmark = pytest.mark.spark

N_DECLARATIONS, N_PROGRAMS, N_DATASETS = 2, 5, 7
ROUGHLY = Sampling(epsilon=0.1, delta=0.1, seed=5)


def packed(seed: int) -> tuple[Program, Rows]:
    """Random programs as one: those over the same streams share these, and many data sets, as groups of keys."""
    rng = random.Random(f"lost on spark {seed}")
    drawn: dict[str, list[LostCase]] = {}
    while sum(len(some) >= N_DATASETS for some in drawn.values()) < N_DECLARATIONS:
        case = lost_case(rng, 2)
        drawn.setdefault(case.text.partition("\nEVENT")[0], []).append(case)
    texts: list[str] = []
    rows: Rows = {}
    alike = [(streams, some[:N_DATASETS]) for streams, some in drawn.items() if len(some) >= N_DATASETS]
    for number, (streams, cases) in enumerate(alike):
        text = streams.replace("(k STRING,", "(id STRING, k STRING,").replace(" KEY g, k", " ID id KEY g, k")
        for place, case in enumerate(cases[:N_PROGRAMS]):
            text += case.text.removeprefix(streams).replace("EVENT e", f"EVENT s{number}p{place}e")
        text = re.sub(r"(CONFIDENCE [>=]+ 0\.\d);", r"\g<1> EARLY;", text)
        texts.append(re.sub(r"\b([ST])\b", rf"\g<1>{number}", text))
        for place, case in enumerate(cases):
            for name, some in case.rows.items():
                told = ({**row, "g": f"{row['g']}{place}", "id": f"{place}/{n}"} for n, row in enumerate(some))
                rows.setdefault(f"{name}{number}", []).extend(told)
    return inkling.parse("\n".join(texts)), rows


def here(program: Program, inputs: Mapping[str, object], **more: object) -> Rows:
    return {name: table.to_pylist() for name, table in program.run_local(inputs, **more).tables.items()}  # type: ignore[arg-type]


def same(expected: Rows, found: Rows) -> None:
    assert expected.keys() == found.keys()
    for name, rows in expected.items():
        one, other = (sorted(some, key=_shown) for some in (rows, found[name]))
        assert [_shown(row) for row in one] == [_shown(row) for row in other], name
        for row, again in zip(one, other, strict=True):
            for column in ("probability", "error"):
                assert again[column] == pytest.approx(row[column], abs=1e-12), (name, row)


def _shown(row: Mapping[str, object]) -> str:
    return repr(sorted((key, value) for key, value in row.items() if key not in ("probability", "error")))


@pytest.mark.long
def test_random_relations(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    program, rows = packed(20)
    assert relations_of(program.plan).keys() == {event.name for event in program.plan.events}
    inputs = arrow_streams(program.plan, rows)
    expected = here(program, inputs, sampling=ROUGHLY)
    methods = Counter(str(row["method"]) for some in expected.values() for row in some)
    assert methods["exact"] > 500
    assert methods["bounds"] > 10
    assert methods["sampled"] > 10
    assert sum(map(bool, expected.values())) > 12
    for partitions, least in ((2, 1_000), (7, 1)):
        monkeypatch.setattr(shuffle, "ROWS_WORTH_SHARING", least)
        same(expected, results_in_one_job(program.run(spark, inputs, partitions=partitions, sampling=ROUGHLY)))


STREAMS = """
    TABLE stops(n BIGINT, stop STRING) FROM 'stops.csv';
    TABLE busy(since BIGINT, rate DOUBLE) FROM 'busy.csv';
    STREAM Bus(id STRING, line STRING, bus STRING, stop STRING, role STRING, n BIGINT, t BIGINT)
      ID id KEY line, bus TIME t NUMBERED BY n KNOWN FROM stops SEGMENTS ROLE role TIMEOUT 60 TICKS;
    STREAM Tram(id STRING, route STRING, tram STRING, n BIGINT, total BIGINT, rate DOUBLE, t BIGINT)
      ID id KEY route, tram TIME t NUMBERED BY n SEGMENTS COUNT total RATE rate;
    STREAM Door(line STRING, door DOUBLE, n BIGINT, t BIGINT)
      KEY line, door TIME t NUMBERED BY n GAPS ERLANG 2 INTENSITY busy SEGMENTS;
    STREAM Work(id STRING, line STRING, crew STRING, s BIGINT, e BIGINT) ID id KEY line, crew TIME FROM s TO e;
"""

PROGRAM = inkling.parse(f"""{STREAMS}
    EVENT together(line, x.bus AS one, y.bus AS other, k) AS
      PATTERN AT LEAST k FROM 1 TO 3 Bus x INTERSECTS SOME Bus y ON SAME stop PARTITION BY line;
    EVENT soon(line, x.bus AS one, y.bus AS other) AS PATTERN SOME Bus x INTERSECTS SOME Bus y
      HAVING x.bus < y.bus PARTITION BY line CONFIDENCE > 0.4 EARLY;
    EVENT best(x.line AS one_line, x.bus AS one, y.line AS other_line, y.bus AS other) AS
      PATTERN SOME Bus x INTERSECTS SOME Bus y TOP 9;
    EVENT openings(line, x.bus AS one, y.bus AS other) AS PATTERN SOME Bus x INTERSECTS ALL Bus y
      WHERE x.role = 'in' AND y.stop <> 'b' PARTITION BY line;
    EVENT changed(x.line AS line, x.bus AS bus, y.tram AS tram) AS PATTERN SOME Bus x {{OVERLAPS, DURING}} SOME Tram y
      HAVING x.line = y.route CONFIDENCE > 0.05;
    EVENT after(x.route AS route, x.tram AS tram, y.crew AS crew) AS PATTERN SOME Tram x PRECEDES ALL Work y
      HAVING x.route = y.line;
    EVENT doors(line, x.door AS one, y.door AS other) AS PATTERN AT LEAST 2 Door x INTERSECTS SOME Door y
      HAVING x.door < y.door PARTITION BY line EXACT;
""")

STOPS = [{"n": number, "stop": "aabbcc"[(number - 1) // 2 % 6]} for number in range(1, 13)]
BUSY = [{"since": 0, "rate": 1.0}, {"since": 20, "rate": 4.0}, {"since": 35, "rate": 0.5}]


def inputs_of(seed: int) -> Rows:
    rng = random.Random(seed)
    rows: Rows = {"Bus": [], "Tram": [], "Door": [], "Work": []}

    def kept(total: int, *, inner: bool) -> list[tuple[int, int]]:
        times = sorted(rng.sample(range(1, 50), total))
        ends = {1, total} if inner else set()
        return [(n, t) for n, t in enumerate(times, start=1) if n in ends or rng.random() < 0.7]

    for line in ("p", "q", "r"):
        for number in range(5):
            for n, t in kept(8, inner=False):
                if line == "r" and n % 2:
                    continue  # what these are called is known from other lines only
                role = "in" if n % 2 else "out"
                key = {"line": line, "bus": f"b{number}", "stop": STOPS[n - 1]["stop"], "role": role}
                rows["Bus"].append({"id": f"{line}{number}/{n}", **key, "n": n, "t": t})
            total = rng.choice((2, 4, 6))
            for n, t in kept(total, inner=False):
                key = {"route": line, "tram": f"t{number}", "total": total, "rate": 0.2}
                rows["Tram"].append({"id": f"{line}{number}.{n}", **key, "n": n, "t": t})
            # 0.0 and -0.0 are one door
            rows["Door"] += [
                {"line": line, "door": number if number else rng.choice((0.0, -0.0)), "n": n, "t": t}
                for n, t in kept(8, inner=True)
            ]
            start = rng.randrange(40)
            crew = {"id": f"{line}{number}", "line": line, "crew": f"c{number % 2}"}
            rows["Work"].append({**crew, "s": start, "e": start + rng.randrange(20)})
    # all buses begin with a mark; those of line r that come back after an hour were closed before
    rows["Bus"] += [
        {"id": f"{line}{number}/0", "line": line, "bus": f"b{number}", "stop": None, "role": "mark", "n": 0, "t": 0}
        for line in ("p", "q", "r")
        for number in range(5)
    ]
    rows["Bus"].append({"id": "late", "line": "r", "bus": "b1", "stop": "a", "role": "open", "n": 9, "t": 200})
    rows["Bus"].append({"id": "odd", "line": "p", "bus": "b9", "stop": "a", "role": "close", "n": 1, "t": 5})
    rows["Work"].append(dict(rows["Work"][0]))
    rows["Tram"].append({"id": "none", "route": "p", "tram": "t9", "n": None, "total": 2, "rate": 1.0, "t": 3})
    for some in rows.values():
        rng.shuffle(some)
    return rows


@pytest.mark.long
def test_all_that_programs_say(spark: SparkSession) -> None:
    assert relations_of(PROGRAM.plan).keys() == {event.name for event in PROGRAM.plan.events}
    inputs, tables = arrow_streams(PROGRAM.plan, inputs_of(3)), {"stops": STOPS, "busy": BUSY}
    local = PROGRAM.run_local(inputs, tables)
    expected = {name: table.to_pylist() for name, table in local.tables.items()}
    assert all(expected.values()), {name: len(some) for name, some in expected.items()}
    assert len(expected["best"]) == 9
    assert any(row["method"] == "bounds" for row in expected["soon"])
    reasons = Counter(row["reason"] for row in local.rejects.to_pylist())
    assert reasons.keys() == {"after timeout", "role mismatch", "duplicate id", "null number"}
    results = PROGRAM.run(spark, inputs, tables, partitions=7)
    rejected = results.rejects.toArrow().to_pylist()
    same(expected, results_in_one_job(results))
    assert _rejected(rejected) == _rejected(local.rejects.to_pylist())


def _rejected(rows: list[Row]) -> list[tuple[object, ...]]:
    return sorted((row["stream"], row["reason"], row["id"]) for row in rows)


@pytest.mark.long
def test_segments_that_are_events(spark: SparkSession) -> None:
    """Relations that are answered over the stream behind them, while the events themselves are in worlds."""
    program = inkling.parse("""
        STREAM Bus(id STRING, line STRING, bus STRING, role STRING, n BIGINT, t BIGINT)
          ID id KEY line, bus TIME t NUMBERED BY n SEGMENTS ROLE role;
        EVENT stay(line, bus) AS PATTERN SEQ STRICT(Bus a[role = 'open'], Bus b[role = 'close']) PARTITION BY line, bus;
        EVENT meet(line, x.bus AS one, y.bus AS other) AS PATTERN SOME stay x INTERSECTS SOME stay y
          PARTITION BY line CONFIDENCE > 0.1;
    """)
    assert relations_of(program.plan).keys() == {"meet"}
    usual = {"in": "open", "out": "close", "mark": "mark"}
    buses = [row for row in inputs_of(3)["Bus"] if row["id"] not in ("late", "odd")]
    sound = [{**row, "role": usual[str(row["role"])]} for row in buses]
    inputs = arrow_streams(program.plan, {"Bus": sound})
    expected = here(program, inputs, sampling=ROUGHLY)
    assert {row["line"] for row in expected["meet"]} == {"p", "q", "r"}
    same(expected, results_in_one_job(program.run(spark, inputs, partitions=3, sampling=ROUGHLY)))


OVERLAPPING = """
    STREAM Work(crew STRING, s BIGINT, e BIGINT) KEY crew TIME FROM s TO e;
    STREAM Bus(bus STRING, n BIGINT, t BIGINT) KEY bus TIME t NUMBERED BY n SEGMENTS;
    EVENT during(x.crew AS crew, y.bus AS bus, k) AS PATTERN AT LEAST k FROM 1 TO 2 Work x DURING SOME Bus y{demand};
"""


def overlapping() -> Rows:
    """Segments of a crew that overlap cannot be counted out; those of c0 do not, or nothing of b9 was lost."""
    spans = [("c0", 1, 2), ("c0", 5, 6), ("c1", 1, 4), ("c1", 3, 6), ("c2", 2, 9), ("c2", 3, 4), ("c2", 6, 8)]
    buses = [(f"b{number}", n, t) for number in range(6) for n, t in ((1, 0), (4, 10 + number))]
    buses += [("b9", n, t) for n, t in ((1, 0), (2, 5), (3, 6), (4, 10))]
    return {
        "Work": [{"crew": crew, "s": s, "e": e} for crew, s, e in spans],
        "Bus": [{"bus": bus, "n": n, "t": t} for bus, n, t in buses],
    }


def test_sampled_answers_do_not_depend_on_the_division(spark: SparkSession) -> None:
    program = inkling.parse(OVERLAPPING.format(demand=""))
    inputs = arrow_streams(program.plan, overlapping())
    expected = here(program, inputs, sampling=ROUGHLY)
    assert {row["method"] for row in expected["during"]} == {"exact", "sampled"}
    for partitions in (1, 4):
        same(expected, results_in_one_job(program.run(spark, inputs, partitions=partitions, sampling=ROUGHLY)))
    other_seed = Sampling(epsilon=0.1, delta=0.1, seed=6)
    again = here(program, inputs, sampling=other_seed)
    assert [row["probability"] for row in again["during"]] != [row["probability"] for row in expected["during"]]


def test_exact_is_rejected_where_answers_are_sampled(spark: SparkSession) -> None:
    """Before any result is shown, with the words of a run in this process."""
    program = inkling.parse(OVERLAPPING.format(demand=" EXACT"))
    inputs = arrow_streams(program.plan, overlapping())
    with pytest.raises(InputError, match="INK0670") as here_said:
        program.run_local(inputs)
    with pytest.raises(InputError, match="INK0670") as there_said:
        program.run(spark, inputs, partitions=3)
    assert str(there_said.value) == str(here_said.value)
    countable = {**overlapping(), "Work": [row for row in overlapping()["Work"] if row["crew"] == "c0"]}
    inputs = arrow_streams(program.plan, countable)
    same(here(program, inputs), results_in_one_job(program.run(spark, inputs, partitions=3)))


STEP = timedelta(seconds=97)


def test_times_that_are_timestamps(spark: SparkSession) -> None:
    program = inkling.parse("""
        STREAM Bus(id STRING, line BIGINT, bus STRING, n BIGINT, t TIMESTAMP, total BIGINT)
          ID id KEY line, bus TIME t NUMBERED BY n SEGMENTS COUNT total RATE 6 PER HOUR;
        EVENT both(line, x.bus AS one, y.bus AS other) AS PATTERN SOME Bus x INTERSECTS SOME Bus y
          HAVING x.bus < y.bus PARTITION BY line CONFIDENCE > 0.2 EARLY;
    """)
    rng, start = random.Random(4), datetime(2026, 3, 1, 12, tzinfo=UTC)
    bus = [
        {"id": f"{line}/{number}/{n}", "line": line, "bus": f"b{number}", "n": n, "total": 6, "t": start + t * STEP}
        for line in range(4)
        for number in range(5)
        for n, t in enumerate(sorted(rng.sample(range(60), 6)), start=1)
        if rng.random() < 0.6
    ]
    inputs = {"Bus": pa.Table.from_pylist(bus)}
    expected = here(program, inputs)
    assert {row["method"] for row in expected["both"]} == {"exact", "bounds"}
    found = program.run(spark, inputs).collect()
    same(expected, {name: table.to_pylist() for name, table in found.tables.items()})


def test_no_rows_at_all(spark: SparkSession) -> None:
    nothing = {"Bus": [], "Work": [], "Tram": [], "Door": []}
    given = arrow_streams(PROGRAM.plan, nothing)
    results = PROGRAM.run(spark, given, {"stops": STOPS, "busy": BUSY}, partitions=2)
    assert not any(results_in_one_job(results).values())


def test_a_table_that_makes_no_sense_is_told_before_anything_runs(spark: SparkSession) -> None:
    given = arrow_streams(PROGRAM.plan, inputs_of(3))
    for code, tables in (
        ("INK0563", {"stops": [*STOPS, {"n": 1, "stop": "z"}], "busy": BUSY}),
        ("INK0564", {"stops": STOPS, "busy": [{"since": 0, "rate": -1.0}]}),
    ):
        with pytest.raises(InputError, match=code):
            PROGRAM.run(spark, given, tables)


@pytest.mark.parametrize("n_shares", [1, 2, 5])
def test_shares_have_every_key_once_and_about_as_much_work(n_shares: int) -> None:
    rng = np.random.default_rng(n_shares)
    n_points, names = rng.integers(2, 300, 200), rng.integers(0, 2**63, 200).astype(np.uint64)
    parts = [shared_keys(Share(number, n_shares), n_points, names) for number in range(n_shares)]
    assert sorted(np.concatenate(parts).tolist()) == list(range(200))
    work = np.array([n_points[part].sum() for part in parts])
    assert work.max() < 1.1 * work.min()
    # the same keys, whatever order their rows come in
    order = rng.permutation(200)
    for number, part in enumerate(parts):
        again = shared_keys(Share(number, n_shares), n_points[order], names[order])
        assert set(names[order][again]) == set(names[part])
