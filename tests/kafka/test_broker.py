"""The broker of the tests is a real one: it keeps what it was sent when it is killed, and forgets deleted topics."""

from pathlib import Path

import pytest
from tests.kafka.broker import Broker, running_broker

pytestmark = pytest.mark.kafka


def test_messages_survive_a_kill_and_a_restart(tmp_path: Path) -> None:
    with running_broker(tmp_path) as broker:
        broker.create_topic("kept", partitions=2)
        broker.produce("kept", ["a", None], partition=0)
        broker.produce("kept", ["b"], partition=1)
        first, address = broker.pid, broker.address
        broker.kill()
        broker.start()
        assert (broker.pid != first, broker.address) == (True, address)
        assert broker.values("kept") == [b"a", None, b"b"]
        broker.restart()
        broker.produce("kept", ["c"], partition=1)
        assert broker.values("kept") == [b"a", None, b"b", b"c"]


def test_a_deleted_topic_is_gone_and_can_come_back_empty(broker: Broker) -> None:
    broker.create_topic("gone")
    broker.produce("gone", ["a"])
    broker.delete_topic("gone")
    assert "gone" not in broker.topics()
    broker.create_topic("gone")
    assert broker.values("gone") == []


def test_a_broker_that_cannot_be_set_up_says_why(tmp_path: Path) -> None:
    broker = Broker.in_folder(tmp_path, num_network_threads="none")
    with pytest.raises(RuntimeError, match=r"num\.network\.threads"):
        broker.start()


def test_two_brokers_do_not_share_an_address(tmp_path: Path, broker: Broker) -> None:
    second = Broker.in_folder(tmp_path, port=broker.port)
    with pytest.raises(OSError, match="Address already in use"):
        second.start()
    assert second.process is None
