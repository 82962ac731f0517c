"""Spark's Kafka connector: its jars, which pip does not install; the ids of topics; and errors of Kafka.

>>> from inkling.spark.session import spark_session
>>> spark = spark_session(config=kafka_settings())  # doctest: +SKIP
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from inkling.errors import Diagnostic, InklingError, InputError
from inkling.masking import masked
from inkling.spark.jvm.jars import fetched, read_jars

_LONGEST_VALUE = 1 << 24  # bytes of an Avro text, or items of a list; messages are far shorter


class NoKafkaError(InklingError):
    """The Spark session cannot read or write topics."""


def kafka_jars() -> list[Path]:
    """The jars of Spark's connectors for Kafka and Avro, fetched if they are missing."""
    return fetched(
        read_jars(files("inkling.spark.kafka").joinpath("kafka.jars").read_text()), "Spark's Kafka connector"
    )


def kafka_settings() -> dict[str, str]:
    """Settings of a session that reads and writes topics.

    They must be given to the first session of a process: a running virtual machine does not load further jars.
    """
    # with a damaged length, Avro would allocate gigabytes before it reaches the end of the message
    limits = " ".join(
        f"-Dorg.apache.avro.limits.{what}.maxLength={_LONGEST_VALUE}" for what in ("bytes", "string", "collectionItems")
    )
    return {
        "spark.jars": ",".join(str(jar) for jar in kafka_jars()),
        "spark.driver.extraJavaOptions": limits,
        "spark.executor.extraJavaOptions": limits,
    }


def require_kafka(spark: SparkSession) -> None:
    """Raise an error for a session that was started without the connector."""
    _require(spark, "org.apache.spark.sql.kafka010.KafkaSourceProvider", "Spark's Kafka connector")


def require_avro(spark: SparkSession) -> None:
    """Raise an error for a session that was started without the Avro package."""
    _require(spark, "org.apache.spark.sql.avro.AvroDataToCatalyst", "Spark's Avro package")


def _require(spark: SparkSession, class_name: str, what: str) -> None:
    if _has_class(spark, class_name):
        return
    raise NoKafkaError.of(
        "INK0604",
        f"this Spark session was started without {what}",
        notes=("jars are loaded only when the first session of a process starts",),
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


VALUE, WHERE = "@value", "@where"
"""Columns of every message: its bytes; and its topic, partition and offset as text, empty if unknown."""

NO_VALUE = "no value"


_CLIENT_PREFIX = "kafka."
_TIME_LIMIT_MS = "15000"


def topic_ids(spark: SparkSession, options: Mapping[str, str]) -> dict[str, str]:
    """The id of each topic that a source with these options subscribes to; missing topics are left out.

    A topic that is deleted and created again has a new id. Spark stores offsets only, so it continues in the middle of
    the new topic as if it were the old one, without a warning.

    Parameters
    ----------
    options
        Options of Spark's Kafka source: `subscribe` names topics, and settings of clients begin with `kafka.`.
    """
    require_kafka(spark)
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    settings = jvm.java.util.Properties()
    settings.setProperty("default.api.timeout.ms", _TIME_LIMIT_MS)
    settings.setProperty("request.timeout.ms", _TIME_LIMIT_MS)
    for name, value in options.items():
        if name.startswith(_CLIENT_PREFIX):
            settings.setProperty(name.removeprefix(_CLIENT_PREFIX), value)
    wanted = {name.strip() for name in options["subscribe"].split(",")}
    admin = None
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
        listed = jvm.java.util.ArrayList(admin.listTopics().listings().get())
        return {one.name(): one.topicId().toString() for one in listed if one.name() in wanted}
    except Py4JJavaError as problem:
        trouble = kafka_trouble(str(problem))
        if trouble is None:
            raise
        notes = (*trouble.notes, f"tried {options['kafka.bootstrap.servers']}")
        raise InputError(replace(trouble, notes=notes)) from None
    finally:
        if admin is not None:
            admin.close(jvm.java.time.Duration.ZERO)


def kafka_trouble(text: str) -> Diagnostic | None:
    """The diagnostic of a query that failed because of Kafka; None for other failures."""
    if "UnknownTopicOrPartitionException" in text or _NO_METADATA.search(text):
        return Diagnostic(
            "INK0521",
            "a Kafka topic that the query reads or writes does not exist",
            notes=("it was never created, or deleted while the query ran",),
            helps=(
                "create a missing topic; the query resumes from its checkpoint when it is started again",
                "after a deleted topic, start with a new checkpoint and a new output",
            ),
        )
    if rejected := _REJECTED.search(text):
        return Diagnostic(
            "INK0523",
            "a Kafka broker rejects the login",
            notes=(rejected["reason"].strip(),),
            helps=(
                "check `kafka.security.protocol`, `kafka.sasl.mechanism`, user, password and certificates; "
                "`kafka.sasl.jaas.config=env:NAME` reads the login from the environment",
            ),
        )
    if "TimeoutException" in text and _OF_CLIENTS.search(text):
        return Diagnostic(
            "INK0522",
            "no Kafka broker answers",
            helps=("check the address; the query resumes from its checkpoint when it is started again",),
        )
    if _NO_CLIENT.search(text):
        *_, reason = _REASON.findall(text)
        return Diagnostic(
            "INK0517",
            "Kafka cannot use the options of an address",
            notes=(masked(reason.strip()),),
            helps=("check the options that begin with `kafka.`; they are the settings of Kafka's clients",),
        )
    return None


def no_topic(topic: str, stream: str) -> Diagnostic:
    """The diagnostic of a missing topic."""
    return Diagnostic("INK0521", f"there is no Kafka topic `{topic}` for `{stream}`", helps=("create the topic first",))


_REJECTED = re.compile(
    r"(?:SaslAuthentication|SslAuthentication|TopicAuthorization|GroupAuthorization|ClusterAuthorization)Exception"
    r": (?P<reason>[^\n]+)"
)
_NO_METADATA = re.compile(r"Topic \S+ not present in metadata")
_NO_CLIENT = re.compile(
    r"KafkaException: Failed to (?:create new Kafka|construct kafka )|common\.config\.ConfigException: "
)
_REASON = re.compile(r"\w+(?:Exception|Error): ([^\n]+)")
_OF_CLIENTS = re.compile(r"node assignment|org\.apache\.kafka|Cannot fetch record for offset")
