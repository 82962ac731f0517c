"""What declarations say about lost events counts on Spark as it does in this process: in worlds, and in rejects."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import inkling
from inkling.evaluators.sampling import Sampling

Row = dict[str, object]
SAMPLING = Sampling(epsilon=0.1, delta=0.1, seed=3, exact_up_to=40)
KEYS = [f"k{number}" for number in range(6)]

STREAMS = """
    TABLE plan(n BIGINT, k STRING, stop STRING) FROM 'plan.csv';
    TABLE busy(since BIGINT, rate DOUBLE) FROM 'busy.csv';
    STREAM Marked(k STRING, n BIGINT, role STRING, stop STRING, t BIGINT) KEY k TIME t
        NUMBERED BY n KNOWN FROM plan SEGMENTS ROLE role;
    STREAM Even(k STRING, n BIGINT, role STRING, t BIGINT) KEY k TIME t
        NUMBERED BY n GAPS ERLANG 3 INTENSITY busy SEGMENTS ROLE role;
    STREAM Silent(k STRING, n BIGINT, role STRING, t BIGINT) KEY k TIME t
        NUMBERED BY n SEGMENTS ROLE role COUNT total RATE rate TIMEOUT 30 TICKS;
"""
BY_KEY = """
    EVENT stops(k, a.stop AS stop) AS PATTERN SEQ(Marked a, Even b[n = 2]) PARTITION BY k;
    EVENT closed(b.n AS n) AS PATTERN SEQ STRICT(Silent a[role = 'up'], Silent b[role = 'down']) PARTITION BY k;
"""
WITHOUT_KEY = """
    EVENT ends(a.k AS one, b.k AS other) AS PATTERN SEQ(Marked a[stop = 's2'], Silent b[n = 2]) PER VALUES;
"""


def inputs() -> dict[str, list[Row]]:
    rng = random.Random(4)
    marked: list[Row] = []
    even: list[Row] = []
    silent: list[Row] = []
    for key in KEYS:
        kept = sorted(rng.sample(range(1, 5), 2))
        marked += [{"k": key, "n": n, "t": 10 * n, "role": "up" if n % 2 else "down", "stop": f"own {n}"} for n in kept]
        marked += [{"k": key, "n": n, "t": t, "role": "mark", "stop": None} for n, t in ((0, 1), (4, 50))]
        even += [{"k": key, "n": n, "t": 9 * n + rng.randrange(4), "role": "up"} for n in (1, 3)]
        said = {"total": rng.choice((2, 4)), "rate": rng.choice((0.1, 0.5))}
        silent += [
            {"k": key, "n": n, "t": 5 + 10 * n, "role": "up" if n % 2 else "down", **said}
            for n in rng.choice(((1,), (1, 2), (2,)))
        ]
        if rng.random() < 0.6:
            silent.append({"k": key, "n": 2, "t": 90, "role": "mark", **said})
    marked += [{"k": "wrong", "n": 3, "t": 5, "role": "mark", "stop": None}]
    return {"Marked": marked, "Even": even, "Silent": silent}


TABLES: dict[str, list[Row]] = {
    "plan": [{"n": n, "k": key, "stop": f"s{n}"} for n in range(1, 5) for key in KEYS[1:]],
    "busy": [{"since": 0, "rate": 1.0}, {"since": 20, "rate": 4.0}],
}


def told(tables: Mapping[str, pa.Table]) -> list[str]:
    return sorted(
        repr({**row, "probability": round(row["probability"], 12)})
        for table in tables.values()
        for row in table.to_pylist()
    )


@pytest.mark.parametrize("events", [BY_KEY, WITHOUT_KEY], ids=["by key", "without a key"])
def test_the_same_results_and_rejects(events: str, spark: SparkSession) -> None:
    program = inkling.parse(STREAMS + events)
    read = {source for event in program.plan.events for source in event.sources}
    given = {name: rows for name, rows in inputs().items() if name in read}
    expected = program.run_local(given, TABLES, sampling=SAMPLING)
    assert {"after timeout", "missing bound"} <= set(expected.rejects["reason"].to_pylist())
    assert all(len(table) for table in expected.tables.values())
    results = program.run(spark, given, TABLES, partitions=3, sampling=SAMPLING)
    found = results.collect()
    assert told(found.tables) == told(expected.tables)
    rejects = (
        sorted((row["stream"], row["reason"], row["row"]) for row in one.rejects.to_pylist())
        for one in (found, expected)
    )
    assert len({repr(some) for some in rejects}) == 1
    results.close()
