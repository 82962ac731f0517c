"""Kafka: the jars of Spark's connector, the topics that a stream reads, and the decoding of messages."""

from inkling.spark.kafka.connector import kafka_settings

__all__ = ["kafka_settings"]
