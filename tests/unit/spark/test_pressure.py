"""Pressure: the share of micro-batches that took longer than the time between triggers."""

from __future__ import annotations

import pytest

from inkling.cli.terminal.live_line import parts
from inkling.model.time import Clock
from inkling.spark.streaming.progress import RECENT, BatchProgress, ProgressEntry, seconds_between, under_pressure
from inkling.spark.streaming.sinks.outputs import BatchTally


def took(seconds: float) -> BatchProgress:
    tally = BatchTally(0, {"e": 0}, late=0, rejects=0, state_rows=0, state_bytes=0, watermark=None, read={"S": 1})
    return ProgressEntry(tally, tally, seconds).joined(None, Clock.TICKS, {}, 0.0)


def pressures(seconds: list[float], interval: float) -> list[float]:
    return [one.pressure for one in under_pressure([took(one) for one in seconds], interval)]


def test_micro_batches_that_took_too_long_are_counted() -> None:
    assert pressures([1.0, 6.0, 5.0, 5.1], 5.0) == [0.0, 1 / 2, 1 / 3, 1 / 2]
    assert pressures([1.0, 6.0], 0.0) == [0.0, 0.0]
    assert pressures([], 5.0) == []


def test_what_was_long_ago_is_forgotten() -> None:
    found = pressures([9.0] * 10 + [1.0] * RECENT, 5.0)
    assert found[RECENT - 1] == 10 / RECENT
    assert found[-1] == 0.0


@pytest.mark.parametrize(
    ("trigger", "seconds"),
    [
        ({"processingTime": "0 seconds"}, 0.0),
        ({"processingTime": "5 seconds"}, 5.0),
        ({"processingTime": "1 MINUTE"}, 60.0),
        ({"processingTime": "500 milliseconds"}, 0.5),
        ({"processingTime": "1 hour 2 minutes"}, 3720.0),
        ({"availableNow": True}, 0.0),
    ],
)
def test_the_time_between_triggers(trigger: dict[str, object], seconds: float) -> None:
    assert seconds_between(trigger) == pytest.approx(seconds)


def test_pressure_is_told_where_there_is_some() -> None:
    (one,) = under_pressure([took(6.0)], 5.0)
    assert one.to_dict()["pressure"] == 1.0
    assert "100% of micro-batches took longer than the trigger" in parts(one, Clock.TICKS)
    assert not any("trigger" in part for part in parts(took(6.0), Clock.TICKS))
