"""Spark's own Kafka source and sink, which pip does not install: jars to fetch once and to start a session with.

>>> from inkling.spark.session import spark_session
>>> spark = spark_session(config=kafka_settings())  # doctest: +SKIP
"""

from importlib.resources import files
from pathlib import Path

from pyspark.sql import SparkSession

from inkling.errors import InklingError
from inkling.spark.jars import fetched, read_jars

_LONGEST_VALUE = 1 << 24  # of an Avro text in bytes, or list in items; topics hold messages far shorter


class NoKafkaError(InklingError):
    """The Spark session cannot read or write topics."""


def kafka_jars() -> list[Path]:
    """Kafka's and Avro's connectors for Spark, fetched if this machine has never had them."""
    return fetched(read_jars(files("inkling.spark").joinpath("kafka.jars").read_text()), "Spark's Kafka connector")


def kafka_settings() -> dict[str, str]:
    """Settings of a session that reads and writes topics.

    They work for the first session of a process: a virtual machine that runs already does not load jars any more.
    """
    # a damaged length would have Avro reserve gigabytes before it finds that the message ends
    limits = " ".join(
        f"-Dorg.apache.avro.limits.{what}.maxLength={_LONGEST_VALUE}" for what in ("bytes", "string", "collectionItems")
    )
    return {
        "spark.jars": ",".join(str(jar) for jar in kafka_jars()),
        "spark.driver.extraJavaOptions": limits,
        "spark.executor.extraJavaOptions": limits,
    }


def require_kafka(spark: SparkSession) -> None:
    """Refuses a session that was started without the connector."""
    _require(spark, "org.apache.spark.sql.kafka010.KafkaSourceProvider", "Spark's Kafka connector")


def require_avro(spark: SparkSession) -> None:
    """Refuses a session that was started without what reads Avro."""
    _require(spark, "org.apache.spark.sql.avro.AvroDataToCatalyst", "what Spark reads Avro with")


def _require(spark: SparkSession, class_name: str, what: str) -> None:
    if _has_class(spark, class_name):
        return
    raise NoKafkaError.of(
        "INK0604",
        f"this Spark session was started without {what}",
        notes=("jars are loaded when the first session of a process starts, and not later",),
        helps=(
            "start it with `spark_session(config=kafka_settings())`",
            "or add the packages spark-sql-kafka-0-10 and spark-avro to its `spark.jars.packages`",
        ),
    )


def _has_class(spark: SparkSession, name: str) -> bool:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return loader.getResource(name.replace(".", "/") + ".class") is not None
