"""Every golden case gives the accepted matches on Spark, too."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kit.expressions import same_value

import inkling
from inkling.logical.streams import plain

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/query.ink"))


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_matches_on_spark_are_the_accepted_ones(case: str, spark: SparkSession) -> None:
    folder = GOLDEN / case
    program = inkling.load(folder / "query.ink")
    inputs = {stream.schema.name: folder / f"{stream.schema.name}.csv" for stream in program.plan.streams}
    found = program.run(spark, inputs)
    expected = [json.loads(line) for line in (folder / "matches.jsonl").read_text().splitlines()]
    for event in program.plan.events:
        rows = [row.asDict() for row in found.frames[event.name].collect()]
        wanted = [match for match in expected if match["event"] == event.name]
        assert sorted(map(place, rows)) == sorted(map(place, wanted))
        for row, match in zip(sorted(rows, key=place), sorted(wanted, key=place), strict=True):
            for name, value in match["values"].items():
                assert same_value(plain(row[name]), value, ulps=4), name
    found.close()


def place(row: dict[str, object]) -> tuple[str, ...]:
    times = [str(plain(row[name])) for name in ("end", "start", "detected_at")]
    values = row.get("values", row)
    assert isinstance(values, dict)
    return (*times, repr(row["lineage"]), repr(values.get("area")))
