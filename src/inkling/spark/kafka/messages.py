"""Messages that are sent to a topic from this process, such as the rows of a replay."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from inkling.errors import InputError
from inkling.spark.kafka.connector import kafka_trouble, require_kafka
from inkling.spark.streaming.addresses import Address, servers_and_topic

KEY = "key"
"""The option that names the column whose values are the keys of messages."""


@dataclass(frozen=True, slots=True)
class TopicWriter:
    """Sends messages to `kafka://HOST:PORT/TOPIC`; those of one key arrive in order."""

    spark: SparkSession
    servers: str
    topic: str
    options: dict[str, str] = field(repr=False)

    @classmethod
    def of(cls, spark: SparkSession, address: Address) -> "TopicWriter":
        require_kafka(spark)
        _, options = address.taken(KEY)
        return cls(spark, *servers_and_topic(address), options)

    def send(self, messages: Iterable[tuple[str | None, str]]) -> None:
        frame = self.spark.createDataFrame([*messages], "key string, value string").coalesce(1)
        writer = frame.write.format("kafka").options(**{"kafka.bootstrap.servers": self.servers, **self.options})
        try:
            writer.option("topic", self.topic).save()
        except (PySparkException, Py4JJavaError) as problem:
            trouble = kafka_trouble(str(problem))
            if trouble is None:
                raise
            raise InputError(trouble) from None
