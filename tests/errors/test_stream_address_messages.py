"""What is said about streams and places for results that cannot be used, before anything is read."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import inkling
from inkling.errors import Diagnostic, InklingError, InputError
from inkling.spark.kafka.connector import kafka_trouble
from inkling.spark.streaming.addresses import address_of
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import in_use
from inkling.spark.streaming.metrics import StreamMetrics, serve
from inkling.spark.streaming.sinks.current_files import CurrentSink, read_current
from inkling.spark.streaming.sinks.postgres import PostgresSink
from inkling.spark.streaming.sinks.protocol import FileSink, SinkStart, sink_of
from inkling.spark.streaming.sources.inputs import opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MESSAGES = Path(__file__).parent / "stream_address"
TRIPS = """
STREAM Trip(bus STRING, speed DOUBLE, t TIMESTAMP) KEY bus TIME t;
EVENT fast AS PATTERN Trip[speed > 100];
"""
NAMED_LIKE_AN_OUTPUT = """STREAM Trip(bus STRING, t TIMESTAMP) KEY bus TIME t;
EVENT late AS PATTERN Trip;
"""


def open_stream(given: object, spark: "SparkSession | None" = None) -> None:
    stream = inkling.parse(TRIPS).plan.streams[0]
    opened(spark, stream, given)  # type: ignore[arg-type]


def open_file() -> None:
    Path("trips.csv").write_text("bus,speed,t\n")
    open_stream("trips.csv")


def open_folder(address: str, *names: str) -> None:
    Path("trips").mkdir()
    for name in names:
        (Path("trips") / name).write_text("")
    open_stream(address)


def name_an_event_like_an_output() -> None:
    program = inkling.parse(NAMED_LIKE_AN_OUTPUT, name="late.ink")
    program.stream(None, {}, checkpoint="checkpoint", to="-")  # type: ignore[arg-type]


def name_withdrawn_results_like_an_output() -> None:
    text = (
        "STREAM Trip(id STRING, t INT) ID id TIME t OP op FOR 9 TICKS;\nEVENT far AS PATTERN Trip ON RETRACT Rejects;"
    )
    inkling.parse(text, name="far.ink").require_streamable()


def reach_a_database(address: str) -> None:
    with PostgresSink.at(address_of(address)).server.connected():
        pass


def name_what_is_not_there(address: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("KAFKA_LOGIN", raising=False)
        open_stream(address)


def be_rejected_by_a_broker() -> None:
    said = (
        "org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed due to invalid credentials"
    )
    raise InputError(require_trouble(f"{said} with SASL mechanism SCRAM-SHA-512\n\tat org.apache.kafka"))


def give_options_that_kafka_cannot_use() -> None:
    said = (
        "org.apache.kafka.common.KafkaException: Failed to create new KafkaAdminClient\n\tat org.apache.kafka\n"
        "Caused by: java.lang.IllegalArgumentException: Login module control flag not specified in JAAS config\n"
    )
    raise InputError(require_trouble(said))


def claim_twice() -> None:
    raise in_use("state", "process 4711 on host.example")


def require_trouble(text: str) -> Diagnostic:
    trouble = kafka_trouble(text)
    assert trouble is not None
    return trouble


def reach_a_database_without_a_driver() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "adbc_driver_postgresql", None)
        reach_a_database("postgresql://ada:secret@db.example/found")


WITHOUT_SPARK: dict[str, Callable[[], object]] = {
    "rows_in_memory": lambda: open_stream([{"bus": "a", "speed": 1.0, "t": 1}]),
    "a_file": open_file,
    "empty_folder": lambda: open_folder("trips"),
    "folder_of_two_formats": lambda: open_folder("trips", "a.csv", "b.jsonl"),
    "unknown_format": lambda: open_folder("trips?format=parket"),
    "no_such_folder": lambda: open_stream(Path("trip")),
    "no_topic": lambda: open_stream("kafka://localhost:9092"),
    "no_such_variable": lambda: name_what_is_not_there("kafka://db:9092/t?kafka.sasl.jaas.config=env:KAFKA_LOGIN"),
    "no_such_file_of_an_option": lambda: open_stream("kafka://db:9092/t?kafka.ssl.key.password=file:nowhere"),
    "checkpoint_in_use": claim_twice,
    "metrics_at_a_wrong_host": lambda: serve(StreamMetrics(), "192.0.2.1", 9464),
    "login_rejected": be_rejected_by_a_broker,
    "options_that_kafka_cannot_use": give_options_that_kafka_cannot_use,
    "no_rate": lambda: open_stream("rate://fast"),
    "output_of_unknown_format": lambda: sink_of("out?format=excel"),
    "output_to_a_rate": lambda: sink_of("rate://10"),
    "output_that_keeps_nothing": lambda: sink_of("out?keep=curent"),
    "current_matches_in_text": lambda: sink_of("out?keep=current&format=csv"),
    "no_database": lambda: sink_of("postgresql://ada:secret@db.example:5432"),
    "password_with_a_slash": lambda: sink_of("postgresql://ada:se/cret@db.example:5432/found"),
    "input_from_a_database": lambda: open_stream("postgresql://ada:secret@db.example:5432/trips"),
    "no_driver": reach_a_database_without_a_driver,
    "no_server": lambda: reach_a_database("postgresql://ada:secret@127.0.0.1:1/found"),
    "event_named_like_an_output": name_an_event_like_an_output,
    "withdrawn_results_named_like_an_output": name_withdrawn_results_like_an_output,
}


def write_over_other_results(spark: "SparkSession") -> None:
    Path("out/fast/batch=0").mkdir(parents=True)
    FileSink("out").begin(
        SinkStart(spark, ("fast", "late", "rejects"), CheckpointFolder(spark, "checkpoint"), is_new=True)
    )


def write_to_a_table_of_another_shape(spark: "SparkSession") -> None:
    def begin(columns: str) -> None:
        kinds = {"fast": spark.createDataFrame([], columns).schema}
        CurrentSink("out").begin(SinkStart(spark, ("fast",), CheckpointFolder(spark, "checkpoint"), True, kinds))

    begin("event string, bus string, speed double")
    begin("event string, bus bigint, street string")


def read_a_table_that_is_not_there(spark: "SparkSession") -> None:
    kinds = {"fast": spark.createDataFrame([], "event string").schema}
    CurrentSink("out").begin(SinkStart(spark, ("fast",), CheckpointFolder(spark, "checkpoint"), True, kinds))
    read_current(spark, "out", "fats")


def read_a_view(spark: "SparkSession") -> None:
    spark.range(1).createOrReplaceTempView("trip_view")
    open_stream("table://trip_view", spark)


WITH_SPARK: dict[str, Callable[["SparkSession"], object]] = {
    "results_of_another_run": write_over_other_results,
    "table_of_another_shape": write_to_a_table_of_another_shape,
    "no_table_of_current_matches": read_a_table_that_is_not_there,
    "static_frame": lambda spark: open_stream(spark.range(1), spark),
    "missing_column": lambda spark: open_stream("rate://1", spark),
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", WITHOUT_SPARK)
def test_message(case: str, accept: bool) -> None:
    with pytest.raises(InklingError) as caught:
        WITHOUT_SPARK[case]()
    compare(case, caught.value, accept)


@pytest.mark.parametrize("case", WITH_SPARK)
def test_message_of_spark(case: str, accept: bool, spark: "SparkSession") -> None:
    with pytest.raises(InklingError) as caught:
        WITH_SPARK[case](spark)
    compare(case, caught.value, accept)


def test_a_view_is_no_stream(spark: "SparkSession") -> None:
    with pytest.raises(InklingError, match="cannot be read as a stream"):
        read_a_view(spark)


def test_every_message_belongs_to_a_case() -> None:
    assert {*WITHOUT_SPARK, *WITH_SPARK} == {path.stem for path in MESSAGES.glob("*.txt")}


def compare(case: str, problem: InklingError, accept: bool) -> None:
    golden = MESSAGES / f"{case}.txt"
    said = f"{problem}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
