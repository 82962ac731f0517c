"""Which topics a stream reads, and what went wrong when Kafka's side of a query fails."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from inkling.errors import Diagnostic
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
    finally:
        admin.close()


def kafka_trouble(text: str) -> Diagnostic | None:
    """What a failed query says of Kafka in words for people; None if Kafka is not to blame."""
    if "UnknownTopicOrPartitionException" in text:
        return Diagnostic(
            "INK0521",
            "a Kafka topic that the query reads is not there",
            notes=("it was never made, or it was deleted while the query ran",),
            helps=("make the topic; the query goes on from its checkpoint when it is started again",),
        )
    if "TimeoutException" in text and ("node assignment" in text or "org.apache.kafka" in text):
        return Diagnostic(
            "INK0522",
            "no Kafka broker answers",
            helps=("check the address; the query goes on from its checkpoint when it is started again",),
        )
    return None
