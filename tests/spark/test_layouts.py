"""Keys, patterns or both shared out among tasks, and any number of them: the results are those of this process."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.properties import test_near_facts, test_resets
from tests.spark.one_job import rows_by_stage

from inkling import Program, parse

FLEET = """
EVENT swing(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b'], V[s = 'a']) PARTITION BY k PER END;
EVENT swing_again(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b'], V[s = 'a']) PARTITION BY k PER END;
EVENT high(k) AS PATTERN SEQ STRICT(V[x > 0]{2,}) PARTITION BY k PER END;
EVENT twice(k) AS PATTERN SEQ(high h, high i) WITHIN 5 TICKS PARTITION BY k;
EVENT anyone AS PATTERN SEQ(high h, W w[s = 'b']) WITHIN 4 TICKS;
"""
TEXT, SHIPS, PORTS = test_near_facts.cases(3)
OTHER = {"event", "probability", "method", "error", "op"}
PROGRAM = parse(f"{test_resets.PROGRAM} {FLEET} {TEXT}")


def inputs() -> dict[str, list[dict[str, object]]]:
    rows: dict[str, list[dict[str, object]]] = {"V": [], "W": []}
    for seed in range(12):
        for name, some in test_resets.some_rows(seed, ties=False).items():
            shifted = [{**row, "id": 100 * seed + int(str(row["id"])), "k": f"{row['k']}{seed}"} for row in some]
            rows[name] += [{**row, "place": row["id"]} for row in shifted]
    return {**rows, **SHIPS}


def listed(results: dict[str, list[dict[str, object]]]) -> dict[str, list[str]]:
    def text(row: dict[str, object]) -> str:
        return repr([value for name, value in row.items() if name not in OTHER])

    return {name: sorted(map(text, rows)) for name, rows in results.items()}


@pytest.fixture(scope="module")
def wanted() -> dict[str, list[str]]:
    found = PROGRAM.run_local(inputs(), {"ports": PORTS}).tables
    assert all(len(table) for name, table in found.items() if name not in ("on_moon",)), "every event has results"
    return listed({name: table.to_pylist() for name, table in found.items()})


@pytest.mark.long
@pytest.mark.parametrize(
    ("layout", "partitions"),
    [
        ("key", 1),
        ("pattern", 2),
        ("both", 4),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (("key", 2), ("key", 4), ("pattern", 1), ("pattern", 4), ("both", 1), ("both", 2))
        ),
    ],
)
def test_results_do_not_depend_on_the_layout(
    layout: str, partitions: int, wanted: dict[str, list[str]], spark: SparkSession
) -> None:
    results = PROGRAM.run(spark, inputs(), {"ports": PORTS}, partitions=partitions, layout=layout)
    found = rows_by_stage(results)
    results.close()
    assert listed(found) == wanted


def test_an_unknown_layout_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="expected layout to be one of key, pattern, both, found 'pairs'"):
        PROGRAM.run(spark, inputs(), {"ports": PORTS}, layout="pairs")


def some_program() -> Program:
    return parse(f"{test_resets.PROGRAM} {FLEET}")


def test_explain_says_who_does_what() -> None:
    lines = [line for line in some_program().explain("physical", layout="both").splitlines() if "layout" in line]
    assert lines[0].startswith("layout: tasks split keys and patterns: ")
    shared = lines[0].split(": ", 2)[2].split("; ")
    assert "swing, swing_again" in shared
    assert "layout" not in some_program().explain("physical")
