"""Serves a Kafka broker at 127.0.0.1:9092 until it is interrupted, and keeps what it is sent in a folder."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.kafka.broker import broker_jars, running_broker

from inkling.errors import InklingError
from inkling.spark.kafka.connector import kafka_jars


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make kafka-broker", description=__doc__)
    parser.add_argument("--fetch", action="store_true", help="fetch the jars that are needed, and no more")
    parser.add_argument("--port", type=int, default=9092)
    parser.add_argument("--folder", type=Path, default=Path("out/kafka"), help="where messages are kept")
    chosen = parser.parse_args(arguments)
    kafka_jars()
    broker_jars()
    if chosen.fetch:
        return 0
    # topics that are written to come into being, as with any broker that is not set up for tests
    with running_broker(chosen.folder.resolve(), port=chosen.port, auto_create_topics_enable="true") as broker:
        print(f"a Kafka broker serves at {broker.address} and keeps its messages in {chosen.folder}; Ctrl-C ends it")
        assert broker.process is not None
        try:
            return broker.process.wait()
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    # a request to end is an interrupt too, so that the broker does not outlive this program
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except (InklingError, OSError, RuntimeError) as problem:
        sys.exit(str(problem))
