"""Which topics a stream reads, and what went wrong when Kafka's side of a query fails."""

import re
from collections.abc import Mapping
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from inkling.errors import Diagnostic, InputError
from inkling.spark.kafka import require_kafka

_OF_KAFKA = "kafka."
_TIME_LIMIT_MS = "15000"


def topic_ids(spark: SparkSession, options: Mapping[str, str]) -> dict[str, str]:
    """The id of each topic that a source with these options subscribes to; topics that are not there are left out.

    A topic that is deleted and made again has another id. Spark remembers offsets only, so it goes on in the middle of
    the new topic as if it were the old one, and does not tell.

    Parameters
    ----------
    options
        As given to Spark's Kafka source: `subscribe` names topics, and `kafka.` stands before settings of clients.
    """
    require_kafka(spark)
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    settings = jvm.java.util.Properties()
    settings.setProperty("default.api.timeout.ms", _TIME_LIMIT_MS)
    settings.setProperty("request.timeout.ms", _TIME_LIMIT_MS)
    for name, value in options.items():
        if name.startswith(_OF_KAFKA):
            settings.setProperty(name.removeprefix(_OF_KAFKA), value)
    wanted = {name.strip() for name in options["subscribe"].split(",")}
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
    try:
        listed = jvm.java.util.ArrayList(admin.listTopics().listings().get())
        return {one.name(): one.topicId().toString() for one in listed if one.name() in wanted}
    except Py4JJavaError as problem:
        told = kafka_trouble(str(problem))
        if told is None:
            raise
        raise InputError(replace(told, notes=(f"tried {options['kafka.bootstrap.servers']}",))) from None
    finally:
        admin.close(jvm.java.time.Duration.ZERO)


def kafka_trouble(text: str) -> Diagnostic | None:
    """What a failed query says of Kafka in words for people; None if Kafka is not to blame."""
    if "UnknownTopicOrPartitionException" in text or _NO_METADATA.search(text):
        return Diagnostic(
            "INK0521",
            "a Kafka topic that the query reads or writes is not there",
            notes=("it was never made, or it was deleted while the query ran",),
            helps=(
                "make a topic that never was; the query goes on from its checkpoint when it is started again",
                "one that was deleted does not come back: start with a new checkpoint and a new place for results",
            ),
        )
    if "TimeoutException" in text and _OF_CLIENTS.search(text):
        return Diagnostic(
            "INK0522",
            "no Kafka broker answers",
            helps=("check the address; the query goes on from its checkpoint when it is started again",),
        )
    return None


def no_topic(topic: str, stream: str) -> Diagnostic:
    """What to say of a topic that the broker does not know."""
    return Diagnostic(
        "INK0521",
        f"there is no Kafka topic `{topic}` for `{stream}`",
        helps=("make the topic first; nothing is read before it is there",),
    )


_NO_METADATA = re.compile(r"Topic \S+ not present in metadata")
_OF_CLIENTS = re.compile(r"node assignment|org\.apache\.kafka|Cannot fetch record for offset")
