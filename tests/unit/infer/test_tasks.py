"""A task on Spark gets its rows in batches, and works on whole keys wherever batches are cut."""

import pyarrow as pa
import pytest
from inkling.examples.building import corridor

from inkling import infer
from inkling.infer.estimates import EstimateKind, InferenceTask
from inkling.infer.model import Model
from inkling.infer.on_spark import Task
from inkling.infer.settings import Grid, Names
from inkling.model.time import Clock

MODEL = Model.of(corridor.movement(), corridor.readers(), corridor.prior())


@pytest.mark.parametrize("rows", [1, 3, 50, 10_000])
def test_batches_cut_anywhere(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inkling.infer.on_spark.TASK_ROWS", 20)
    readings = corridor.walk(people=6, seconds=25, seed=1).readings
    by_key = readings.sort_by([("person", "descending")])
    question = InferenceTask(MODEL, EstimateKind.FILTERED, Names(("person",)))
    expected = infer.filtered(readings, MODEL, key="person")
    task = Task(question, Grid(Clock.TICKS, 1, None, None), ("person", "t", "reader"), expected.schema)
    batches = by_key.rename_columns(["c0", "c1", "c2"]).to_batches(max_chunksize=rows)
    found = pa.Table.from_batches(list(task(iter(batches))), expected.schema)
    assert found.sort_by([("person", "ascending"), ("t", "ascending")]).equals(expected)
