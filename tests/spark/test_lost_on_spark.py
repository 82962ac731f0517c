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
from tests.spark.one_job import Rows, results_in_one_job

import inkling
from inkling.analysis.lost import relations_of
from inkling.errors import InputError
from inkling.query import Program
from inkling.spark.lost import shares
from inkling.spark.lost.shares import Share
from inkling.testing.arrow import arrow_streams
from inkling.testing.lost_programs import LostCase, Row, lost_case
from inkling.worlds.settings import Sampling

pytestmark = pytest.mark.spark

N_PROGRAMS = 9
N_DATASETS = 6
ROUGHLY = Sampling(epsilon=0.1, delta=0.1, seed=5)


def packed(seed: int) -> tuple[Program, Rows]:
    """Random programs as one, each over streams of its own, with many random data sets as groups of keys."""
    rng = random.Random(f"lost on spark {seed}")
    drawn: dict[str, list[LostCase]] = {}
    while sum(len(some) >= N_DATASETS for some in drawn.values()) < N_PROGRAMS:
        case = lost_case(rng, 3)
        drawn.setdefault(case.text.partition("\nEVENT")[0], []).append(case)
    texts: list[str] = []
    rows: Rows = {}
    for number, cases in enumerate(some[:N_DATASETS] for some in drawn.values() if len(some) >= N_DATASETS):
        text = re.sub(r"\b([ST])\b", rf"\g<1>{number}", cases[0].text).replace("> 0.3;", "> 0.3 EARLY;")
        texts.append(text.replace("EVENT e", f"EVENT p{number}e"))
        for place, case in enumerate(cases):
            for name, some in case.rows.items():
                rows.setdefault(f"{name}{number}", []).extend({**row, "g": f"{row['g']}{place}"} for row in some)
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


def test_random_relations(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    program, rows = packed(1)
    assert relations_of(program.plan).keys() == {event.name for event in program.plan.events}
    inputs = arrow_streams(program.plan, rows)
    expected = here(program, inputs, sampling=ROUGHLY)
    methods = Counter(str(row["method"]) for some in expected.values() for row in some)
    assert methods["exact"] > 300
    assert methods["bounds"] > 30
    assert sum(map(bool, expected.values())) > 2 * N_PROGRAMS
    for partitions, least in ((1, 1_000), (2, 1_000), (7, 1)):
        monkeypatch.setattr(shares, "ROWS_WORTH_SHARING", least)
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
      WHERE x.role = 'open' AND y.stop <> 'b' PARTITION BY line;
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
                role = "open" if n % 2 else "close"
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
    rows["Bus"].append(
        {"id": "late", "line": "r", "bus": "b1", "stop": "a", "role": "open", "n": 9, "t": 200},
    )
    rows["Bus"].append({"id": "odd", "line": "p", "bus": "b9", "stop": "a", "role": "close", "n": 1, "t": 5})
    rows["Work"].append({**rows["Work"][0], "e": 60})
    rows["Tram"].append({"id": "none", "route": "p", "tram": "t9", "n": None, "total": 2, "rate": 1.0, "t": 3})
    for some in rows.values():
        rng.shuffle(some)
    return rows


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
    results = PROGRAM.run(spark, inputs, tables, partitions=3)
    refused = results.rejects.toArrow().to_pylist()
    same(expected, results_in_one_job(results))
    assert _refused(refused) == _refused(local.rejects.to_pylist())


def _refused(rows: list[Row]) -> list[tuple[object, ...]]:
    return sorted((row["stream"], row["reason"], row["id"], row["detail"]) for row in rows)
