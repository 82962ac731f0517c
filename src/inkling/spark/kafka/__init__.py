"""Topics of Kafka: the connector's jars, which topics a stream reads, and what their messages say."""

from inkling.spark.kafka.connector import kafka_settings

__all__ = ["kafka_settings"]
