"""Sixteen events with one pattern over one batch, beside one of them: what is the same is done once."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchmarks.kernels.prepared import Prepared, prepared
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.streams import Readings

NAME = "sharing"
N_EVENTS = 16
MOST = 1.5
"""Times as long as one event."""

JOINED = """
EVENT agree{n}(a.code AS code{n}) AS
  PATTERN SEQ NEXT(Reading a[kind = 0], Reading b[kind = 1 AND code = a.code], Reading c[kind = 2 AND code = a.code])
  WITHIN 10 SECONDS
  PARTITION BY device;
"""
EXTENDED = """
EVENT agree{n}(a.code AS code) AS
  PATTERN SEQ NEXT(
    Reading a[kind = 0],
    Reading b[kind = 1 AND code = a.code],
    Reading c[kind = 2 AND code = a.code AND level > 0.{n:02}])
  WITHIN 10 SECONDS
  PARTITION BY device;
"""


def run(data: Readings, repeats: int) -> Iterator[Row]:
    table = data.table()
    few = {"kind": pa.array(table["kind"].to_numpy() % 3), "code": pa.array(table["code"].to_numpy() % 50)}
    for name, column in few.items():
        table = table.set_column(table.column_names.index(name), name, column)
    for title, event, most in (
        (f"{N_EVENTS} events, one pattern", JOINED, MOST),
        (f"{N_EVENTS} events, their first two parts alike", EXTENDED, None),
    ):
        one = prepared(event.format(n=0), table)
        all_ = "".join(event.format(n=n) for n in range(N_EVENTS))
        together, apart = prepared(all_, table), prepared(all_, table, shares=False)
        single, shared, alone = best_of(
            repeats + 1,
            lambda one=one: _found(one),
            lambda all_=together: _found(all_),
            lambda all_=apart: _found(all_),
        )
        if shared.answer != alone.answer:
            raise AssertionError(f"{shared.answer} matches together, {alone.answer} apart")
        yield Row(
            title,
            str(data),
            shared.seconds,
            shared.cpu_seconds,
            data.events,
            f"{quantity(shared.answer)} matches",
            (Baseline.of("without sharing", alone), Baseline.of("one event", single)),
            () if most is None else (Goal("times one event", shared.seconds / single.seconds, most=most),),
        )


def _found(ready: Prepared) -> int:
    return sum(map(len, ready.engine.run_batch(ready.batch).values()))
