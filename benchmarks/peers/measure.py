"""An engine in Python, in a process of its own: ``python -m benchmarks.peers.measure ENGINE EVENTS TASK…``.

A task is ``WORKLOAD:EVENTS:REPEATS``, as for engines in Java.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from functools import cache

MARK = "@row "


def main() -> None:
    engine, n_all, *wanted = sys.argv[1:]
    # read by polars when it is loaded
    os.environ["POLARS_MAX_THREADS"] = "1"
    import pyarrow as pa

    import inkling
    from benchmarks.meter import on_one_core
    from benchmarks.peers.workloads import BY_KEY, Workload, readings

    @cache
    def program(workload: Workload) -> inkling.Program:
        return inkling.parse(workload.text)

    def by_inkling(table: pa.Table, workload: Workload) -> int:
        return sum(map(len, program(workload).run_local({"Reading": table}).tables.values()))

    def answer(table: pa.Table, workload: Workload) -> int:
        from benchmarks.peers import queries

        return {"inkling": by_inkling, "polars": queries.by_polars, "duckdb": queries.by_duckdb}[engine](
            table, workload
        )

    table = readings(int(n_all))

    def measure() -> None:
        for one in wanted:
            key, events, repeats = one.split(":")
            given = table.slice(0, int(events))
            answer(given, BY_KEY[key])
            seconds, processor, matches = [], [], 0
            for _ in range(int(repeats)):
                gc.collect()
                spent, started = time.process_time(), time.perf_counter()
                matches = answer(given, BY_KEY[key])
                seconds.append(time.perf_counter() - started)
                processor.append(time.process_time() - spent)
            _say(workload=key, matches=matches, seconds=min(seconds), cpu_seconds=min(processor))
        if engine == "inkling":
            p50, p99 = _latency(table, BY_KEY["sequence"].text)
            _say(workload="latency", p50_us=p50, p99_us=p99)

    on_one_core(measure)


def _latency(table: object, text: str) -> tuple[float, float]:
    """Microseconds of pushes of one row, after as many to warm up."""
    import numpy as np
    import pyarrow as pa

    import inkling

    assert isinstance(table, pa.Table)
    n = min(5_000, len(table) // 2)
    rows, stream, times = table.slice(0, 2 * n).to_pylist(), inkling.parse(text).open(), []
    for row in rows:
        started = time.perf_counter()
        stream.push_event("Reading", row)
        times.append(time.perf_counter() - started)
    p50, p99 = np.quantile(times[n:], [0.5, 0.99]) * 1e6
    return float(p50), float(p99)


def _say(**figures: object) -> None:
    print(MARK + json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
