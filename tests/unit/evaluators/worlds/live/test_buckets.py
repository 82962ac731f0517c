"""Keys in different buckets hear of each other only what everybody must know."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import inkling
from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.io.normalize import Normalizer
from inkling.logical.evaluate import ExpressionContext
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks
from inkling.runtime import uncertain
from inkling.runtime.uncertain import UncertainProgram
from inkling.spark.streaming.messages import watermarks_of, watermarks_payload

SAMPLING = Sampling(epsilon=0.15, delta=0.1, exact_up_to=0, budget=1)
PROGRAM = inkling.parse("""
STREAM Shift(id STRING, k STRING, n INT, s STRING, total INT, since INT, until INT, t INT) ID id KEY k TIME t
    NUMBERED BY n SEGMENTS ROLE s COUNT total BOUNDS since TO until;
EVENT work(k, a.s AS role) AS PATTERN Shift a PARTITION BY k;
""")


def _row(k: str, n: int, t: int) -> dict[str, object]:
    role = "open" if n % 2 else "close"
    return {"id": f"{k}{n}", "k": k, "n": n, "s": role, "total": 2, "since": 0, "until": 9, "t": t}


BUCKETS = ([_row("p", 1, 3)], [_row("q", 1, 2), _row("q", 2, 5)])
"""The end of p was lost; what it is called is known from q."""


def test_what_lost_events_are_called_is_known_to_all_buckets() -> None:
    unit = time_unit(PROGRAM.plan, {"Shift": Clock.TICKS})
    live = UncertainProgram(PROGRAM.physical, {}, ExpressionContext({}, unit), unit, SAMPLING)
    normalizer = Normalizer(PROGRAM.plan.streams[0].schema, [], Clock.TICKS)
    parts = [normalizer(pa.Table.from_pylist(rows), np.arange(len(rows))).rows for rows in BUCKETS]
    said = (uncertain.watermarks_of(live.streams, {"Shift": part}, live.scale) for part in parts)
    watermarks = Watermarks.merged([watermarks_of(watermarks_payload(one)) for one in said])
    results = []
    for part in parts:
        state, told = live.advance(live.start(), {"Shift": part}, watermarks)
        results += told.tables["work"].to_pylist() if "work" in told.tables else []
        _, told = live.advance(state, {}, Watermarks(finished=True))
        results += told.tables["work"].to_pylist()
    expected = PROGRAM.run_local({"Shift": [row for rows in BUCKETS for row in rows]}, sampling=SAMPLING)
    assert sorted(map(str, results)) == sorted(map(str, expected.tables["work"].to_pylist()))
    assert sorted((row["k"], row["role"]) for row in results) == [
        ("p", "close"),
        ("p", "open"),
        ("q", "close"),
        ("q", "open"),
    ]
