"""Numbers about micro-batches: ours, Spark's own, and that they agree."""

from pathlib import Path

from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.spark.streaming.sinks.protocol import MemorySink

PROGRAM = inkling.parse("""
STREAM Reading(id STRING, room STRING, value BIGINT, t BIGINT) ID id KEY room TIME t LATENESS 2 TICKS;
EVENT high(a.value AS value) AS PATTERN Reading a[value > 5];
EVENT odd(a.value AS value) AS PATTERN Reading a[value % 2 = 1];
""")
FILES = (
    "id,room,value,t\n1,a,3,10\n2,b,6,11\n3,a,x,12\n",  # decided up to 11 - 2 - 1
    "id,room,value,t\n4,a,7,8\n5,b,8,20\n",  # 4 is late by 11 - 8; decided up to 17
    "id,room,value,t\n6,a,9,18\n",  # nothing new about time
)


def test_numbers_of_every_batch(spark: SparkSession, tmp_path: Path) -> None:
    for number, content in enumerate(FILES):
        arrive(tmp_path / "readings", f"{number}.csv", content, number)
    heard = []
    query = PROGRAM.stream(
        spark,
        {"Reading": f"{tmp_path}/readings?maxFilesPerTrigger=1"},
        checkpoint=tmp_path / "checkpoint",
        to=MemorySink(),
        settings=inkling.StreamSettings(available_now=True, buckets=3, on_tally=heard.append),
    )
    query.await_end()
    assert heard == query.tallies
    assert [tally.batch for tally in heard] == [0, 1, 2]
    assert [tally.read for tally in heard] == [{"Reading": 3}, {"Reading": 2}, {"Reading": 1}]
    assert [tally.good for tally in heard] == [{"Reading": 2}, {"Reading": 2}, {"Reading": 1}]
    assert [tally.matches for tally in heard] == [{"high": 0, "odd": 0}, {"high": 1, "odd": 1}, {"high": 0, "odd": 0}]
    assert [tally.late for tally in heard] == [0, 1, 0]
    assert [tally.rejects for tally in heard] == [1, 0, 0]
    assert [tally.watermark for tally in heard] == [8, 17, 17]
    assert [tally.latest for tally in heard] == [11, 20, 20]
    assert all(tally.state_bytes > 0 for tally in heard)
    assert [tally.state_rows > 0 for tally in heard] == [True, True, True]

    assert [tally.newest for tally in heard] == [{"Reading": 11}, {"Reading": 20}, {"Reading": 20}]
    assert [tally.reasons for tally in heard] == [((("Reading", "bad value"), 1),), (), ()]
    assert [tally.late_by_stream for tally in heard] == [{}, {"Reading": 1}, {}]

    told = {one.batchId: one.observedMetrics["inkling"].asDict() for one in query.query.recentProgress}
    for tally in heard:
        assert told[tally.batch] == {
            "read Reading": tally.read["Reading"],
            "late Reading": tally.late,
            "latest Reading": tally.latest,
            "results high": tally.matches["high"],
            "results odd": tally.matches["odd"],
            "late": tally.late,
            "rejects": tally.rejects,
            "rejects by reason": {f"{stream}: {reason}": n for (stream, reason), n in tally.reasons},
            **{f"state {word} high, odd": getattr(state, word) for state in tally.states for word in ("rows", "bytes")},
            **{f"watermark {', '.join(state.events)}": state.watermark for state in tally.states},
            "state rows": tally.state_rows,
            "state bytes": tally.state_bytes,
            "watermark": tally.watermark,
        }

    progress = query.progress()
    assert progress is not None
    assert (progress.batch, progress.rows, progress.total_rows) == (2, 1, 6)
    assert (progress.matches, progress.late, progress.rejects) == ({"high": 1, "odd": 1}, 1, 1)
    assert (progress.watermark, progress.behind_latest, progress.behind_now) == (17, 3, None)
    assert {name: (one.newest, one.watermark) for name, one in progress.streams.items()} == {"Reading": (20, 17)}
    assert [(one.events, one.watermark) for one in progress.states] == [(("high", "odd"), 17)]
    spent = dict(query.query.recentProgress[-1].durationMs)["triggerExecution"]
    assert progress.seconds == spent / 1000
    assert abs(progress.processed_rows_per_second - 1000 / spent) < 1
    assert [one.batch for one in query.progress_after(0)] == [1, 2]

    query.finish()
    progress = query.progress()
    assert progress is not None
    assert progress.is_finished
    assert progress.watermark is None
    assert progress.matches == {"high": 3, "odd": 2}
