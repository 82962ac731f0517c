"""Forecasts that change while they run on Structured Streaming: models, settings, learning, and restarts between."""

from __future__ import annotations

import json
import logging
import os
import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import inkling
from inkling.cli import app
from inkling.errors import InputError
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.forecasting.models.model import ForecastModel, Learning
from inkling.query import Program
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks.outputs import BatchTally

STREAM = "STREAM V(id INT, k STRING, s STRING, t BIGINT) ID id KEY k TIME t ORDER BY id;"
EVENT = """EVENT ab(k) AS PATTERN SEQ STRICT(V[s = 'A'], V[s = 'B'] OR V[s = 'C'])
    PARTITION BY k PER END CONSUME RESTART;"""
PLAIN = "FORECAST ab WITHIN 3 EVENTS;"
SIZE = 40

Row = dict[str, object]


def rows_of(*files: int) -> list[Row]:
    rng = random.Random(5)
    rows = [{"id": n, "k": rng.choice("xyz"), "s": rng.choice("AABCD"), "t": n} for n in range(SIZE * 12)]
    return [row for number in files for row in rows[number * SIZE : (number + 1) * SIZE]]


class Place:
    """Folders of one test, and the forecasts that were delivered, by micro-batch."""

    def __init__(self, spark: SparkSession, root: Path, buckets: int = 2) -> None:
        self.spark, self.root, self.buckets = spark, root, buckets
        (root / "incoming").mkdir(parents=True)
        self.delivered: dict[int, list[Row]] = {}
        self.crashes_after: int | None = None  # a micro-batch that Spark then takes for unfinished

    def program(self, forecast: str = PLAIN) -> Program:
        return inkling.parse("\n".join([STREAM, EVENT, forecast]), folder=self.root)

    def add(self, *files: int) -> None:
        for number in files:
            hidden = self.root / "part"
            pq.write_table(pa.Table.from_pylist(rows_of(number)), hidden)
            os.utime(hidden, (number, number))
            hidden.rename(self.root / "incoming" / f"{number:03d}.parquet")

    def keep(self, name: str, frame: DataFrame, batch: int) -> None:
        if name == "ab_forecast":
            self.delivered[batch] = frame.toArrow().to_pylist()

    def crash(self, tally: BatchTally) -> None:
        if tally.batch == self.crashes_after:
            raise RuntimeError("the driver is gone")

    def start(
        self,
        *,
        now: bool,
        learn: OnlineLearning | None = None,
        control: Path | None = None,
        on_rejected: Callable[[object], None] | None = None,
    ) -> LiveQuery:
        frame = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return self.program().stream(
            self.spark,
            {"V": frame.parquet(str(self.root / "incoming"))},
            checkpoint=self.root / "checkpoint",
            to=self.keep,
            settings=inkling.StreamSettings(
                available_now=now,
                buckets=self.buckets,
                unbounded=True,
                control=control,
                on_rejected=on_rejected,
                on_tally=self.crash,
            ),
            learn=learn,
        )

    @property
    def schema(self) -> str:
        return "id bigint, k string, s string, t bigint"

    def told(self) -> list[Row]:
        found = [row for rows in self.delivered.values() for row in rows]
        return sorted(found, key=lambda row: row["lineage"][0])  # type: ignore[index]

    def fresh(self, forecast: str, model: ForecastModel, n_files: int) -> dict[object, Row]:
        """What a program that had this forecast and this model all along says, by event."""
        given = {"V": rows_of(*range(n_files))}, {"ab_model": model.to_arrow()}
        found = self.program(forecast).run_local(*given).tables["ab_forecast"].to_pylist()
        return {row["lineage"][0]: row for row in found}

    def learned(self, online: OnlineLearning, n_files: int) -> list[ForecastModel]:
        """The versions that a stream in this process makes of the same files."""
        stream = self.program().open(learn=online)
        models = [ForecastModel.from_arrow(stream.model("ab_model"))]
        for number in range(n_files):
            stream.push({"V": rows_of(number)})
            model = ForecastModel.from_arrow(stream.model("ab_model"))
            if model.version != models[-1].version:
                models.append(model)
        return models


def mixed(borders: list[tuple[int, dict[object, Row]]], until: int) -> list[Row]:
    """Of each event what is said by that in whose time it falls: those from so many rows on."""
    ends = [first for first, _ in borders[1:]] + [until]
    found = [said.get(event) for (first, said), end in zip(borders, ends, strict=True) for event in range(first, end)]
    return [row for row in found if row is not None]


def wait_for_rows(query: LiveQuery, n: int) -> None:
    for _ in range(1200):
        if sum(sum(tally.read.values()) for tally in query.tallies) >= n:
            return
        time.sleep(0.05)
    raise AssertionError("the rows did not come")


@pytest.mark.long
def test_models_and_settings_change_between_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(spark, tmp_path, buckets=1)
    online = OnlineLearning(every=100, order=3, how=Learning("tree"))
    deep = replace(place.learned(online, 8)[-1], version=1)
    flat = replace(deep, counts=deep.counts.shallower(1), learning=Learning("tree", 1), version=2)
    pq.write_table(deep.to_arrow(), tmp_path / "ab_model.parquet")
    place.add(0)
    query = place.start(now=False)
    try:
        wait_for_rows(query, SIZE)
        pq.write_table(flat.to_arrow(), tmp_path / "ab_model.parquet")
        assert query.replace(place.program()).tables == ("ab_model",)
        place.add(1)
        wait_for_rows(query, 2 * SIZE)
        with pytest.raises(InputError, match="INK0622") as rejection:
            query.control("ab_forecast", order=3)
        assert "ORDER 3" in str(rejection.value)
        assert query.control("ab_forecast", order=0, within=5, confidence=0.2).settings == ("ab_forecast",)
        place.add(2)
        wait_for_rows(query, 3 * SIZE)
        (tmp_path / "ab_model.parquet").write_bytes(b"no model")
        with pytest.raises(InputError):
            query.replace(place.program())
    finally:
        query.stop()
    deep3 = replace(deep, version=3)
    pq.write_table(deep3.to_arrow(), tmp_path / "ab_model.parquet")
    place.add(3)
    query = place.start(now=True)
    query.await_end()
    assert query.settings == {"ab_forecast": {"order": 0, "within": 5, "confidence": 0.2}}
    changed = "FORECAST ab WITHIN 5 EVENTS CONFIDENCE >= 0.2 ORDER 0;"
    # the last row of a file is open until the next one comes
    assert place.told() == mixed(
        [
            (0, place.fresh(PLAIN, deep, 4)),
            (SIZE - 1, place.fresh(PLAIN, flat, 4)),
            (2 * SIZE - 1, place.fresh(changed, flat, 4)),
            (3 * SIZE - 1, place.fresh(changed, deep3, 4)),
        ],
        4 * SIZE - 1,
    )


@pytest.mark.long
def test_learning_goes_on_after_a_crash_and_messages_are_heard(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No row is learned from twice, none is left out, and every version is that of a stream in one process.

    The crash comes when a version was made of a micro-batch that is then repeated.
    """
    place = Place(spark, tmp_path)
    messages = tmp_path / "messages.csv"
    online = OnlineLearning(every=100, order=2, how=Learning("full"))
    place.add(0, 1, 2)
    place.crashes_after = 2
    with caplog.at_level(logging.WARNING, "inkling"), pytest.raises(inkling.InklingError):
        place.start(now=True, learn=online, control=messages).await_end()
    assert "there is no file" in caplog.text
    place.crashes_after = None
    place.start(now=True, learn=online, control=messages).await_end()
    messages.write_text("forecast,parameter,value\nab_forecast,within,4\nab_forecast,order,9\nab_forecast,order,1")
    rejected: list[object] = []
    place.add(3, 4)
    query = place.start(now=True, learn=online, control=messages, on_rejected=rejected.append)
    query.await_end()
    assert [str(one) for one in rejected] == [
        "the control message (forecast = ab_forecast, parameter = order, value = 9) was rejected: "
        "`ab_forecast` has ORDER 9, but the model `ab_model` has at most order 2"
    ]
    assert query.settings == {"ab_forecast": {"within": 4}}  # the last line is not complete
    expected = place.learned(online, 5)
    folder = tmp_path / "checkpoint" / "inkling" / "models" / "ab_model"
    found = [ForecastModel.load(path) for path in sorted(folder.glob("*.parquet"))]
    assert [model.version for model in found] == [model.version for model in expected] == [0, 1]
    assert [model.to_arrow() for model in found] == [model.to_arrow() for model in expected]
    assert place.told() == mixed(
        [(0, {}), (3 * SIZE - 1, place.fresh("FORECAST ab WITHIN 4 EVENTS;", found[1], 5))], 5 * SIZE - 1
    )
    drift = query.tallies[-1].drift["ab_model"]
    assert (drift.version, drift.events) == (1, 2 * SIZE)


IN_UNCERTAINTY = STREAM.replace("t BIGINT)", "t BIGINT, p DOUBLE)").replace("ORDER BY id", "PROBABILITY p")


class UncertainPlace(Place):
    """The same over alternatives; every time has rows of one key."""

    def program(self, forecast: str = PLAIN) -> Program:
        return inkling.parse(
            "\n".join([IN_UNCERTAINTY, EVENT.replace(" CONSUME RESTART", ""), forecast]), folder=self.root
        )

    def rows(self, number: int) -> list[Row]:
        letters = random.Random(number)
        return [{**row, "s": letter, "p": 0.5} for row in rows_of(number) for letter in letters.sample("ABCD", 2)]

    def add(self, *files: int) -> None:
        for number in files:
            pq.write_table(pa.Table.from_pylist(self.rows(number)), self.root / "incoming" / f"{number:03d}.parquet")

    @property
    def schema(self) -> str:
        return "id bigint, k string, s string, t bigint, p double"

    def fresh(self, forecast: str, model: ForecastModel, n_files: int) -> dict[object, Row]:
        rows = [row for number in range(n_files) for row in self.rows(number)]
        found = self.program(forecast).run_local({"V": rows}, {"ab_model": model.to_arrow()}).tables["ab_forecast"]
        return {row["lineage"][0]: {**row, "chance": round(row["chance"], 9)} for row in found.to_pylist()}


@pytest.mark.long
def test_settings_of_a_forecast_over_an_uncertain_stream_change(spark: SparkSession, tmp_path: Path) -> None:
    place, messages = UncertainPlace(spark, tmp_path), tmp_path / "messages.csv"
    model = Place(spark, tmp_path / "certain").learned(OnlineLearning(every=100, order=1, how=Learning("tree")), 4)[-1]
    pq.write_table(model.to_arrow(), tmp_path / "ab_model.parquet")
    place.add(0)
    place.start(now=True, control=messages).await_end()
    messages.write_text("forecast,parameter,value\nab_forecast,within,5\nab_forecast,order,0\n")
    place.add(1)
    rejected: list[object] = []
    query = place.start(now=True, control=messages, on_rejected=rejected.append)
    query.await_end()
    assert query.settings == {"ab_forecast": {"within": 5}}
    assert [("the `order` of `ab_forecast` cannot be changed" in str(one)) for one in rejected] == [True]
    # what is kept depends on the order, so a forecast with another one begins anew
    changed = query.replace(place.program("FORECAST ab WITHIN 5 EVENTS ORDER 0;"))
    assert changed.restarted == ("ab_forecast",)
    # the last row of a file is open until the next one comes
    before, after = (place.fresh(one, model, 2) for one in (PLAIN, "FORECAST ab WITHIN 5 EVENTS;"))
    told = [{**row, "chance": round(row["chance"], 9)} for row in place.told()]  # type: ignore[call-overload]
    wanted = mixed([(0, before), (SIZE - 1, after)], 2 * SIZE - 1)
    assert [{**row, "probability": None} for row in told] == [{**row, "probability": None} for row in wanted]
    assert wanted != mixed([(0, before)], 2 * SIZE - 1)


def test_messages_nobody_listens_for_are_logged(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place(spark, tmp_path)
    messages = tmp_path / "messages.jsonl"
    messages.write_text('{"forecast": "soon", "parameter": "order", "value": 1}\nnonsense\n[1]\n')
    with caplog.at_level(logging.WARNING, "inkling"):
        query = place.start(now=True, learn=OnlineLearning(every=None), control=messages)
        query.await_end()
    assert query.settings == {}
    assert [record.getMessage().split(": ", 1)[1] for record in caplog.records if record.name == "inkling"] == [
        "the program has no forecast called `soon`; its forecasts are ab_forecast",
        "the field `forecast` is missing",
        "the field `forecast` is missing",
    ]


@pytest.mark.long
def test_the_command_learns_listens_and_shows_drift(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Place(spark, tmp_path)
    Path("ab.ink").write_text("\n".join([STREAM, EVENT, PLAIN]))
    Path("control.jsonl").write_text('{"forecast": "ab_forecast", "parameter": "confidence", "value": 3}\n')
    wanted = '{"forecast": "ab_forecast", "parameter": "confidence", "value": 0.25}\n'
    command = ["stream", "ab.ink", "-i", "V=incoming?maxFilesPerTrigger=1", "-o", "found", "--buckets", "2"]
    command += ["--available-now", "--learn", "30", "--forget", "0.5", "--control", "control.jsonl"]
    place.add(0)
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert "confidence must be between 0 and 1, found 3" in first.stderr
    assert "drift" not in first.stderr
    Path("control.jsonl").write_text(wanted)
    place.add(1)
    second = CliRunner().invoke(app, [*command, "--metrics", "numbers.jsonl"])
    assert second.exit_code == 0, second.output
    assert re.search(r"^ab_forecast: confidence 0.25 from batch \d+ on$", second.stderr, re.MULTILINE)
    assert re.search(r"drift: ab_model v1 \d\.\d\d bits/event \([+-]\d\.\d\d\)", second.stderr)
    (numbers,) = [json.loads(line) for line in Path("numbers.jsonl").read_text().splitlines()]
    assert (numbers["drift"]["ab_model"]["version"], numbers["drift"]["ab_model"]["events"]) == (1, SIZE)
    assert set(pq.read_table("found/ab_forecast")["model"].to_pylist()) == {1}
    assert not Path("found/ab_model@counts").exists()
