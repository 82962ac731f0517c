"""Which streams are silent while others speak."""

from inkling.spark.streaming.sinks.outputs import BatchTally
from inkling.spark.streaming.sources.idle import Silence


def heard(**good: int) -> BatchTally:
    return BatchTally(0, {}, 0, 0, 0, 0, None, good=good)


def silence() -> Silence:
    return Silence(("a", "b"), limit=10, started=100)


def test_nobody_is_idle_while_nobody_speaks() -> None:
    assert silence().newly_idle(1000) == frozenset()


def test_a_stream_that_never_spoke_is_idle_after_the_limit() -> None:
    watch = silence()
    watch.take(heard(a=5, b=0), 105)
    assert watch.newly_idle(109) == frozenset()
    assert watch.newly_idle(110) == {"b"}
    assert watch.newly_idle(120) == frozenset(), "it is said once"


def test_the_last_to_speak_is_not_idle() -> None:
    watch = silence()
    watch.take(heard(a=1, b=1), 100)
    watch.take(heard(a=1, b=0), 105)
    assert watch.newly_idle(200) == {"b"}


def test_rows_bring_a_stream_back() -> None:
    watch = silence()
    watch.take(heard(a=1, b=0), 115)
    assert watch.newly_idle(115) == {"b"}
    watch.take(heard(a=0, b=1), 116)
    watch.take(heard(a=1, b=0), 120)
    assert watch.newly_idle(125) == frozenset()
    assert watch.newly_idle(126) == {"b"}


def test_rejected_rows_are_silence() -> None:
    watch = silence()
    watch.take(BatchTally(0, {}, 0, 9, 0, 0, None, read={"a": 1, "b": 9}, good={"a": 1, "b": 0}), 112)
    assert watch.newly_idle(112) == {"b"}
